#include "supple/core/thread_team.h"

#include <tbb/info.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "supple/core/cache_line.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace supple {
namespace {

constexpr uint64_t open_bit = uint64_t{1} << 31, helpers_mask = 0xFFFF;
constexpr size_t most_blocks = 0xFFFFFFFF;
// A share is taken in pieces of this part of what is left of it: few for many small blocks, and a
// block at a time at the end.
constexpr size_t pieces = 16;
// What bodies read first of their context, on their caller's stack.
constexpr size_t context_lines = 2;

uint64_t loop_number(uint64_t state) { return state >> 32; }
size_t loop_threads(uint64_t state) { return (state >> 16) & 0x7FFF; }

uint64_t packed(size_t begin, size_t end) { return uint64_t{begin} << 32 | end; }
size_t begin_of(uint64_t range) { return range >> 32; }
size_t end_of(uint64_t range) { return range & 0xFFFFFFFF; }
size_t left_of(uint64_t range) {
  return end_of(range) > begin_of(range) ? end_of(range) - begin_of(range) : 0;
}
size_t piece_of(size_t count) { return std::max<size_t>(1, count / pieces); }

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

// Rounding, flushing and masked exceptions of this thread.
unsigned floating_settings() {
#if defined(__x86_64__) || defined(_M_X64)
  return _mm_getcsr() & ~unsigned{_MM_EXCEPT_MASK};
#else
  return 0;
#endif
}

void set_floating(unsigned settings) {
#if defined(__x86_64__) || defined(_M_X64)
  if (floating_settings() != settings) _mm_setcsr(settings);
#else
  static_cast<void>(settings);
#endif
}

// Waiting without sleep: at first for what will come at once, then leaving the core to others that
// can use it.
class Patience {
 public:
  void wait() {
    pause();
    if (m_waited > std::chrono::microseconds(20)) std::this_thread::yield();
    if (++m_turns % 64 == 0) m_waited = std::chrono::steady_clock::now() - m_start;
  }

  std::chrono::nanoseconds waited() const { return m_waited; }

 private:
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  std::chrono::nanoseconds m_waited{0};
  size_t m_turns = 0;
};

// Clears a flag at the end.
struct Clearing {
  std::atomic_flag& flag;
  ~Clearing() { flag.clear(std::memory_order_release); }
};

// The threads that help with loops.
class ThreadTeam {
 public:
  // Never destroyed: its threads wait for loops until the process ends.
  static ThreadTeam& instance();

  void run(size_t blocks, size_t threads, BlockBody body, const void* context);

 private:
  // Blocks [begin, end), as one number: begin in the upper half.
  struct alignas(cache_line) Share {
    std::atomic<uint64_t> range{0};
  };
  struct Blocks {
    size_t begin = 0, end = 0;
  };

  static constexpr size_t most_threads = 1024;

  bool begin(size_t threads);
  void share_out(size_t blocks, size_t threads);
  void work(size_t number) noexcept;
  Blocks take(size_t number);
  void serve(size_t number);
  uint64_t wait_for_loop(size_t number, uint64_t seen);
  void wake(size_t threads);
  void wait_for_helpers() const;

  // The loop: written by its caller before m_state says that it is open. One line of the cache, as
  // helpers fetch it from the caller's.
  struct alignas(cache_line) Loop {
    BlockBody body = nullptr;
    const void* context = nullptr;
    size_t threads = 0;
    unsigned floating = 0;
    std::atomic<bool> stops{false};
  };
  Loop m_loop;
  // From the highest bit: the loop's number (32), whether it is open (1), its threads (15), and how
  // many helpers are at it (16).
  alignas(cache_line) std::atomic<uint64_t> m_state{0};
  std::array<Share, most_threads> m_shares{};

  // For callers alone, but for exceptions.
  alignas(cache_line) std::atomic_flag m_busy;  // whether a loop runs
  size_t m_helpers = 0;
  std::mutex m_exception_guard;
  std::exception_ptr m_exception;

  // Which helpers are asleep, and what they wait for to change.
  alignas(cache_line) std::array<std::atomic<bool>, most_threads> m_asleep{};
  std::atomic<uint32_t> m_bell{0};
};

ThreadTeam& ThreadTeam::instance() {
  static auto* team = new ThreadTeam;
  return *team;
}

void ThreadTeam::run(size_t blocks, size_t threads, BlockBody body, const void* context) {
  threads = std::min({threads, blocks, most_threads});
  // Loops of more blocks than a share can name, if there is such a thing, are done here too.
  if (threads <= 1 || blocks > most_blocks || !begin(threads)) {
    for (size_t b = 0; b < blocks; ++b) body(context, b);
    return;
  }
  const Clearing clearing{m_busy};
  m_loop.body = body;
  m_loop.context = context;
  m_loop.threads = threads;
  m_loop.floating = floating_settings();
  m_loop.stops.store(false, std::memory_order_relaxed);
  share_out(blocks, threads);
  const uint64_t before = m_state.load(std::memory_order_relaxed);
  // In one order with who goes to sleep.
  m_state.store((loop_number(before) + 1) << 32 | open_bit | uint64_t{threads} << 16,
                std::memory_order_seq_cst);
  wake(threads);
  work(0);
  m_state.fetch_and(~open_bit, std::memory_order_acquire);
  wait_for_helpers();
  if (m_exception) std::rethrow_exception(std::exchange(m_exception, nullptr));
}

// Begins a loop, unless one runs. Asks for all that its caller will write and helpers have looked
// at before the first of it is waited for: one after the other would take a multiple of the time.
bool ThreadTeam::begin(size_t threads) {
  if (m_busy.test(std::memory_order_relaxed)) return false;
  prefetch_to_write(&m_loop);
  prefetch_to_write(&m_state);
  for (size_t t = 0; t < threads; ++t) prefetch_to_write(&m_shares[t]);
  return !m_busy.test_and_set(std::memory_order_acquire);
}

void ThreadTeam::share_out(size_t blocks, size_t threads) {
  for (size_t t = 0; t < threads; ++t)
    m_shares[t].range.store(packed(blocks * t / threads, blocks * (t + 1) / threads),
                            std::memory_order_relaxed);
  try {
    for (; m_helpers + 1 < threads; ++m_helpers)
      std::thread([this, number = m_helpers + 1] { serve(number); }).detach();
  } catch (const std::system_error&) {
    // No more threads to be had: those there are share the work.
  }
}

void ThreadTeam::wake(size_t threads) {
  const auto end = m_asleep.begin() + static_cast<ptrdiff_t>(threads);
  if (std::none_of(m_asleep.begin() + 1, end,
                   [](const auto& asleep) { return asleep.load(std::memory_order_seq_cst); }))
    return;
  m_bell.fetch_add(1, std::memory_order_seq_cst);
  m_bell.notify_all();
}

void ThreadTeam::work(size_t number) noexcept {
  try {
    for (Blocks b; (b = take(number)).begin < b.end;)
      for (size_t i = b.begin; i < b.end && !m_loop.stops.load(std::memory_order_relaxed); ++i)
        m_loop.body(m_loop.context, i);
  } catch (...) {
    const std::lock_guard lock(m_exception_guard);
    if (!m_exception) m_exception = std::current_exception();
    m_loop.stops.store(true, std::memory_order_relaxed);
  }
}

// All relaxed: taking a block must not order it after the blocks taken before it, or races between
// blocks would look synchronised.
ThreadTeam::Blocks ThreadTeam::take(size_t number) {
  std::atomic<uint64_t>& own = m_shares[number].range;
  uint64_t range = own.load(std::memory_order_relaxed);
  while (left_of(range) > 0) {
    const size_t begin = begin_of(range), next = begin + piece_of(left_of(range));
    if (!own.compare_exchange_weak(range, packed(next, end_of(range)), std::memory_order_relaxed))
      continue;
    // What it will look at once it is through.
    if (next == end_of(range)) prefetch_to_read(&m_shares[(number + 1) % m_loop.threads]);
    return {begin, next};
  }
  for (size_t i = 1; i < m_loop.threads; ++i) {
    std::atomic<uint64_t>& other = m_shares[(number + i) % m_loop.threads].range;
    range = other.load(std::memory_order_relaxed);
    while (left_of(range) > 0) {
      const size_t end = end_of(range), begin = end - (left_of(range) + 1) / 2;
      if (!other.compare_exchange_weak(range, packed(begin_of(range), begin),
                                       std::memory_order_relaxed))
        continue;
      const size_t next = begin + piece_of(end - begin);
      own.store(packed(next, end), std::memory_order_relaxed);
      return {begin, next};
    }
  }
  return {};
}

void ThreadTeam::serve(size_t number) {
  uint64_t seen = 0;
  for (;;) {
    uint64_t state = wait_for_loop(number, seen);
    // All that is needed to begin, at once: each line of the cache takes its time on the way here.
    prefetch_to_read(&m_loop);
    prefetch_to_write(&m_shares[number]);
    if (!m_state.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      continue;
    seen = loop_number(state);
    for (size_t line = 0; line < context_lines; ++line)
      prefetch_to_read(static_cast<const char*>(m_loop.context) + line * cache_line);
    set_floating(m_loop.floating);
    work(number);
    m_state.fetch_sub(1, std::memory_order_release);
  }
}

uint64_t ThreadTeam::wait_for_loop(size_t number, uint64_t seen) {
  const auto is_wanted = [&](uint64_t state) {
    return (state & open_bit) != 0 && loop_number(state) != seen && number < loop_threads(state);
  };
  // Loops often follow each other closely. Threads that have no core of their own must not wait so.
  const std::chrono::microseconds awake(number < static_cast<size_t>(core_count()) ? 200 : 0);
  for (Patience patience; patience.waited() <= awake; patience.wait())
    if (const uint64_t state = m_state.load(std::memory_order_relaxed); is_wanted(state))
      return state;
  // The bell is rung for others too.
  for (;;) {
    const uint32_t bell = m_bell.load(std::memory_order_relaxed);
    m_asleep[number].store(true, std::memory_order_seq_cst);
    const uint64_t state = m_state.load(std::memory_order_seq_cst);
    if (!is_wanted(state)) m_bell.wait(bell, std::memory_order_seq_cst);
    m_asleep[number].store(false, std::memory_order_relaxed);
    if (is_wanted(state)) return state;
    if (const uint64_t now = m_state.load(std::memory_order_relaxed); is_wanted(now)) return now;
  }
}

void ThreadTeam::wait_for_helpers() const {
  for (Patience patience; (m_state.load(std::memory_order_acquire) & helpers_mask) != 0;)
    patience.wait();
}

}  // namespace

int core_count() {
  static const int count = tbb::info::default_concurrency();
  return count;
}

void run_on_team(size_t blocks, size_t threads, BlockBody body, const void* context) {
  ThreadTeam::instance().run(blocks, threads, body, context);
}

void prepare_team() {
  core_count();
  ThreadTeam::instance();
}

}  // namespace supple
