#include "supple/sim/report.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <fstream>
#include <thread>

#include "supple/core/parallel.h"
#include "supple/math/simd.h"

namespace supple {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const size_t colon = line.find(": ");
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  return "unknown";
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  facts.processor = processor_name();
  facts.cores = static_cast<int>(std::thread::hardware_concurrency());
  facts.threads = thread_count();
  facts.simd = simd_target_name();
  struct sysinfo info {};
  if (::sysinfo(&info) == 0)
    facts.memory_gib = static_cast<double>(info.totalram) * info.mem_unit / (1024.0 * 1024 * 1024);
  return facts;
}

double peak_memory_bytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace supple
