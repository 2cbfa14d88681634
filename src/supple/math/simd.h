// Which instruction set the wide kernels run on: chosen at run time, listed and forced for tests
// and reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace supple {

/// Names of the instruction sets that are compiled in and that this machine has, widest first; the
/// last one is the plain scalar code.
std::vector<std::string> simd_targets();

/// Keeps kernels from using anything wider than the named target; an empty name lifts the limit.
/// Not to be called while kernels run. Throws a usage error for a name not in simd_targets().
void set_widest_target(std::string_view name);

/// Name of the instruction set kernels run on now.
const char* simd_target_name();

/// Number of floats processed together on that instruction set.
size_t simd_lanes();

}  // namespace supple
