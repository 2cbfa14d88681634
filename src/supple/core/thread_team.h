// Threads that stand ready for loops of a few microseconds, which schedulers of tasks take as long
// to begin as to do.
#pragma once

#include <cstddef>

namespace supple {

/// The number of cores this process may use.
int core_count();

/// What to do with a block of a loop.
using BlockBody = void (*)(const void* context, size_t block);

/// Calls body(context, b) for every b in [0, blocks), in any order, on this thread and up to
/// threads - 1 others, which take over its rounding and flushing of floating-point numbers.
/// Rethrows the first exception; the blocks not begun by then are left out. Inside a loop, and
/// while another thread runs one, all blocks are done here.
///
/// Each thread begins with a share of the blocks of its own, the same one in loops of equal length,
/// so that what it reads is in its cache; who is through takes half of what another has left.
/// Nobody waits for a thread that has not begun: the caller does what is left, alone if need be, as
/// in a process that was forked.
void run_on_team(size_t blocks, size_t threads, BlockBody body, const void* context);

/// Sets up what loops share. A process that is forked while that is first done could not use it.
void prepare_team();

}  // namespace supple
