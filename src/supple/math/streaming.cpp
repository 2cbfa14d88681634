#include "supple/math/streaming.h"

#include <hwy/cache_control.h>

namespace supple {

void flush_streamed() { hwy::FlushStream(); }

}  // namespace supple
