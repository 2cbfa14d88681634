// Stores past the cache, which other threads see only after a fence.
#pragma once

namespace supple {

/// Lets other threads see what this thread has stored past the cache.
void flush_streamed();

}  // namespace supple
