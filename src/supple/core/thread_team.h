// Threads that stand ready for loops of a few microseconds, which schedulers of tasks take as long
// to begin as to do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

namespace supple {

/// The number of cores this process may use.
int core_count();

/// The threads that help with parallel loops. Each begins with a share of the blocks of its own,
/// the same one in loops of equal length, so that what it reads is in its cache; who is through
/// takes half of what another has left. Nobody waits for a thread that has not begun: the caller
/// does what is left, alone if need be, as in a process that was forked.
class ThreadTeam {
 public:
  /// What to do with a block.
  using Body = void (*)(const void* context, size_t block);

  /// The team of this process, which lives until it ends.
  static ThreadTeam& instance();

  /// Calls body(context, b) for every b in [0, blocks), in any order, on this thread and up to
  /// threads - 1 others, which take over its rounding and flushing of floating-point numbers.
  /// Rethrows the first exception; the blocks not begun by then are left out. Inside a loop, and
  /// while another thread runs one, all blocks are done here.
  void run(size_t blocks, size_t threads, Body body, const void* context);

  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

 private:
  // Blocks [begin, end), as one number: begin in the upper half.
  struct alignas(64) Share {
    std::atomic<uint64_t> range{0};
  };
  struct Blocks {
    size_t begin = 0, end = 0;
  };

  ThreadTeam();

  void share_out(size_t blocks, size_t threads);
  void work(size_t number) noexcept;
  Blocks take(size_t number);
  void serve(size_t number);
  uint64_t wait_for_loop(size_t number, uint64_t seen);
  void wait_for_helpers() const;

  // The loop: written by its caller before m_state says that it is open.
  Body m_body = nullptr;
  const void* m_context = nullptr;
  size_t m_threads = 0;
  unsigned m_floating = 0;
  std::unique_ptr<Share[]> m_shares;
  size_t m_share_count = 0, m_helpers = 0;
  std::mutex m_exception_guard;
  std::exception_ptr m_exception;
  std::atomic<bool> m_stops{false};

  std::atomic_flag m_busy;  // whether a loop runs
  // From the highest bit: the loop's number (32), whether it is open (1), its threads (15), and how
  // many helpers are at it (16).
  alignas(64) std::atomic<uint64_t> m_state{0};
  // Helpers asleep, and what they wait for to change.
  alignas(64) std::atomic<uint32_t> m_sleepers{0};
  std::atomic<uint32_t> m_bell{0};
};

}  // namespace supple
