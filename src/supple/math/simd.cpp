#include "supple/math/simd.h"

#include "supple/core/error.h"

#define SUPPLE_KERNEL_FILE "supple/math/simd.cpp"
#include "supple/math/for_each_target.h"
#include "supple/math/wide.h"

SUPPLE_KERNELS_BEGIN

int64_t this_target() { return HWY_TARGET; }

size_t this_target_lanes() { return WideFloat::lanes; }

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {
namespace {

SUPPLE_KERNEL(this_target);
SUPPLE_KERNEL(this_target_lanes);

// All compiled targets this machine has, as a mask in which lower bits are wider; asked before any
// limit is set.
int64_t available_targets() {
  static const int64_t mask = hwy::SupportedTargets() & HWY_TARGETS;
  return mask;
}

std::vector<int64_t> target_list() {
  std::vector<int64_t> list;
  for (int64_t rest = available_targets(); rest != 0; rest &= rest - 1)
    list.push_back(rest & ~(rest - 1));
  return list;
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const int64_t target : target_list()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void set_widest_target(std::string_view name) {
  int64_t wider = 0;
  if (!name.empty()) {
    int64_t limit = 0;
    for (const int64_t target : target_list())
      if (name == hwy::TargetName(target)) limit = target;
    if (limit == 0)
      throw Error(ErrorKind::usage, fmt::format("SIMD target: '{}' is not one of {}",
                                                printable(name), fmt::join(simd_targets(), ", ")));
    wider = limit - 1;
  }
  available_targets();
  hwy::DisableTargets(wider);
}

const char* simd_target_name() { return hwy::TargetName(SUPPLE_DISPATCH(this_target)()); }

size_t simd_lanes() { return SUPPLE_DISPATCH(this_target_lanes)(); }

}  // namespace supple
#endif
