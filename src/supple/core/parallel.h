// Parallel loops whose results do not depend on the number of threads: work is cut into blocks of a
// fixed size, and partial results are combined in block order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "supple/core/thread_team.h"

#if defined(__SANITIZE_THREAD__)
#define SUPPLE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SUPPLE_THREAD_SANITIZER
#endif
#endif

namespace supple {

/// Limits the threads used by all parallel loops; 0 means one per core.
void set_thread_count(int threads);

/// The number of threads parallel loops may use.
int thread_count();

/// Calls `body(begin, end)` over [0, count) in blocks of `block` items, in any order, on all
/// threads. Inside a parallel loop, and while another thread runs one, on this thread alone.
template <class Body>
void parallel_for(size_t count, size_t block, const Body& body) {
  if (count == 0) return;
  const size_t blocks = (count + block - 1) / block;
  if (blocks == 1) return body(size_t{0}, count);
  const auto run = [&body, block, count](size_t b) {
    body(b * block, std::min(count, (b + 1) * block));
  };
  using Run = decltype(run);
  run_on_team(
      blocks, static_cast<size_t>(thread_count()),
      [](const void* context, size_t b) { (*static_cast<const Run*>(context))(b); }, &run);
}

/// Reduces [0, count): `map(begin, end)` gives a partial result per block of `block` items, and
/// `combine(a, b)` joins them in block order, so that every thread count gives the same bits.
template <class T, class Map, class Combine>
T parallel_reduce(size_t count, size_t block, T initial, const Map& map, const Combine& combine) {
  static_assert(!std::is_same_v<T, bool>,
                "the bits of std::vector<bool> share bytes: reduce to int");
  const size_t blocks = (count + block - 1) / block;
  const auto reduce = [&](T* partial) {
    parallel_for(count, block,
                 [&](size_t begin, size_t end) { partial[begin / block] = map(begin, end); });
    T result = std::move(initial);
    for (size_t b = 0; b < blocks; ++b) result = combine(std::move(result), std::move(partial[b]));
    return result;
  };
  // Few numbers need no memory of their own.
  if constexpr (std::is_arithmetic_v<T>) {
    constexpr size_t few = 32;
    T partial[few];
    if (blocks <= few) return reduce(partial);
  }
  std::vector<T> partial(blocks, initial);
  return reduce(partial.data());
}

}  // namespace supple
