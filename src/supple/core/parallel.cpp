#include "supple/core/parallel.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <memory>

namespace supple {
namespace {

// Of loops of our own; 0 for one per core.
std::atomic<int> thread_limit{0};

// Of libraries that have loops of their own on oneTBB.
std::unique_ptr<tbb::global_control>& library_limit() {
  static std::unique_ptr<tbb::global_control> instance;
  return instance;
}

}  // namespace

void set_thread_count(int threads) {
  thread_limit = std::max(0, threads);
  library_limit().reset();
  if (threads > 0)
    library_limit() = std::make_unique<tbb::global_control>(
        tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
}

int thread_count() {
  const int limit = thread_limit.load(std::memory_order_relaxed);
  return limit > 0 ? limit : core_count();
}

}  // namespace supple
