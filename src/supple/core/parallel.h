// Parallel loops whose results do not depend on the number of threads: work is cut into blocks of a
// fixed size, and partial results are combined in block order. Built on oneTBB; under
// ThreadSanitizer on std::thread, because it does not see how oneTBB synchronises and would have to
// overlook every race below it.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define SUPPLE_PLAIN_THREADS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SUPPLE_PLAIN_THREADS
#endif
#endif

namespace supple {

/// Limits the threads used by all parallel loops; 0 means one per core.
void set_thread_count(int threads);

/// The number of threads parallel loops may use.
int thread_count();

#ifdef SUPPLE_PLAIN_THREADS
/// Calls `run(b)` for every b in [0, blocks), in any order, on thread_count() threads of its own.
void run_on_plain_threads(size_t blocks, const std::function<void(size_t)>& run);
#endif

/// Calls `body(begin, end)` over [0, count) in blocks of `block` items, in any order, on all
/// threads.
template <class Body>
void parallel_for(size_t count, size_t block, const Body& body) {
  if (count == 0) return;
  const size_t blocks = (count + block - 1) / block;
  if (blocks == 1) return body(size_t{0}, count);
  const auto run = [&](size_t b) { body(b * block, std::min(count, (b + 1) * block)); };
#ifdef SUPPLE_PLAIN_THREADS
  run_on_plain_threads(blocks, run);
#else
  tbb::parallel_for(tbb::blocked_range<size_t>(0, blocks), [&](const auto& range) {
    for (size_t b = range.begin(); b != range.end(); ++b) run(b);
  });
#endif
}

/// Reduces [0, count): `map(begin, end)` gives a partial result per block of `block` items, and
/// `combine(a, b)` joins them in block order, so that every thread count gives the same bits.
template <class T, class Map, class Combine>
T parallel_reduce(size_t count, size_t block, T initial, const Map& map, const Combine& combine) {
  static_assert(!std::is_same_v<T, bool>,
                "the bits of std::vector<bool> share bytes: reduce to int");
  const size_t blocks = (count + block - 1) / block;
  std::vector<T> partial(blocks, initial);
  parallel_for(count, block,
               [&](size_t begin, size_t end) { partial[begin / block] = map(begin, end); });
  T result = std::move(initial);
  for (T& value : partial) result = combine(std::move(result), std::move(value));
  return result;
}

}  // namespace supple
