// Compiles a kernel file once per instruction set (Highway's foreach_target). A kernel file reads:
//
//   #define SUPPLE_KERNEL_FILE "supple/rig/some_kernels.cpp"
//   #include "supple/math/for_each_target.h"
//   #include "supple/math/wide.h"
//   SUPPLE_KERNELS_BEGIN
//   void some_kernel(...) { ... WideFloat ... }
//   SUPPLE_KERNELS_END
//   #if SUPPLE_KERNELS_ONCE
//   namespace supple {
//   SUPPLE_KERNEL(some_kernel);
//   void run_some_kernel(...) { SUPPLE_DISPATCH(some_kernel)(...); }
//   }
//   #endif
//
// Element code shared by kernels goes into headers of the same form as wide.h (a guard that flips
// per target), as functions compiled for the baseline cannot hold wide values. Kernel files include
// no headers with code after this one: it would be compiled for the wrong instruction set. Scalable
// vectors (SVE) are left out: their types cannot be members. So is SSSE3: x86 begins with SSE4, and
// what is older runs scalar code.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
#endif

#define SUPPLE_KERNELS_BEGIN \
  HWY_BEFORE_NAMESPACE();    \
  namespace supple {         \
  namespace HWY_NAMESPACE {

#define SUPPLE_KERNELS_END \
  }                        \
  }                        \
  HWY_AFTER_NAMESPACE();

#define SUPPLE_KERNELS_ONCE HWY_ONCE
#define SUPPLE_KERNEL(name) HWY_EXPORT(name)
#define SUPPLE_DISPATCH(name) HWY_DYNAMIC_DISPATCH(name)

// Last, as it includes the kernel file again and again.
#ifdef SUPPLE_KERNEL_FILE
#define HWY_TARGET_INCLUDE SUPPLE_KERNEL_FILE
#include "hwy/foreach_target.h"
#endif
