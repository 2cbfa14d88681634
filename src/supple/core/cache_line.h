// Lines of the cache, which threads take from each other as a whole.
#pragma once

#include <cstddef>

namespace supple {

/// Bytes of a line of the cache.
inline constexpr std::size_t cache_line = 64;

/// Asks for the line of an address that will soon be read.
inline void prefetch_to_read(const void* address) {
#if defined(__x86_64__)
  // GCC leaves out calls of functions that do nothing else where it is told by its builtin.
  __asm__ volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address);
#endif
}

/// Asks for the line of an address that will soon be written, to be taken away from other threads.
inline void prefetch_to_write(const void* address) {
#if defined(__x86_64__)
  // Compilers use it only where they are told of processors that all have it; the others ignore it.
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace supple
