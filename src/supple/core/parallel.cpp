#include "supple/core/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace supple {
namespace {

std::unique_ptr<tbb::global_control>& limit() {
  static std::unique_ptr<tbb::global_control> instance;
  return instance;
}

}  // namespace

void set_thread_count(int threads) {
  limit().reset();
  if (threads > 0)
    limit() = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    static_cast<size_t>(threads));
}

int thread_count() {
  return static_cast<int>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

#ifdef SUPPLE_PLAIN_THREADS
void run_on_plain_threads(size_t blocks, const std::function<void(size_t)>& run) {
  std::atomic<size_t> next{0};
  std::mutex guard;
  std::exception_ptr problem;
  const auto work = [&] {
    try {
      // Relaxed: taking a block must not order it after the blocks taken before it, or races
      // between blocks would look synchronised.
      for (size_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) run(b);
    } catch (...) {
      next.store(blocks, std::memory_order_relaxed);
      const std::lock_guard lock(guard);
      if (!problem) problem = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const size_t threads = std::min(blocks, static_cast<size_t>(thread_count()));
  for (size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (problem) std::rethrow_exception(problem);
}
#endif

}  // namespace supple
