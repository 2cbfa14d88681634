#include "supple/core/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <memory>

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

}  // namespace supple
