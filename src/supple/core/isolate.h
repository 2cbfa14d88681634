// Runs untrustworthy work in a child process, so that a crash, an endless loop or a flood of memory
// in it (third-party file importers are known for all three) ends as a message and not as the end
// of the program. POSIX only. It protects against accidents, not against malice: the child keeps
// the rights and the open files of its parent.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "supple/core/bytes.h"

namespace supple {

/// What isolated work may use.
struct IsolationLimits {
  double seconds = 60;                        ///< wall-clock time
  uint64_t memory_bytes = uint64_t{8} << 30;  ///< address space beyond what the parent has mapped
};

/// How isolated work ended.
enum class IsolationEnding { finished, failed, crashed, timed_out, out_of_memory };

/// What came out of isolated work: its bytes, or in a few words what went wrong.
struct IsolationResult {
  IsolationEnding ending = IsolationEnding::finished;
  Bytes bytes;
  std::string problem;  ///< empty when the work finished
};

/// True where `memory_bytes` is enforced; sanitizers reserve too much address space to limit it.
bool isolation_limits_memory();

/// Runs `work` in a forked child and reports how it ended. A supple::Error thrown by the work is
/// thrown here again, same kind and message; throws a simulation error when no child can be made.
/// Other threads do not exist in the child, so the work must neither log nor run parallel loops.
IsolationResult try_isolated(const std::function<Bytes()>& work, const IsolationLimits& limits);

/// Runs `work` as try_isolated() does and returns its bytes; every ending but the good one becomes
/// an input error naming `file`.
Bytes run_isolated(const std::function<Bytes()>& work, const IsolationLimits& limits,
                   std::string_view file);

}  // namespace supple
