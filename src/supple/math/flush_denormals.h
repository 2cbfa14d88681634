// Subnormal numbers, taken and given as zero while an object lives: on x86 they cost a hundred
// cycles each, and numerical loops make them from what has long converged. A no-op elsewhere.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace supple {

/// Flushes subnormal results and operands to zero on this thread until destroyed, then restores
/// what was before. The setting belongs to the thread: for the same bits on any number of threads,
/// make one inside the body of a parallel loop, never around the loop. Compilers know nothing of
/// it and may move arithmetic past it: keep the arithmetic in a function of its own that is not
/// inlined (dispatched kernels are not).
class FlushDenormals {
 public:
#if defined(__x86_64__) || defined(_M_X64)
  FlushDenormals() : m_before(_mm_getcsr() & both) { _mm_setcsr(_mm_getcsr() | both); }
  ~FlushDenormals() { _mm_setcsr((_mm_getcsr() & ~both) | m_before); }
#else
  FlushDenormals() = default;
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

#if defined(__x86_64__) || defined(_M_X64)
 private:
  static constexpr unsigned both = 0x8040;  // results (FTZ), operands (DAZ)

  unsigned m_before;
#endif
};

}  // namespace supple
