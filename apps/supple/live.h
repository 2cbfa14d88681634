// simulate --live: a run that can be watched while it goes on. Nothing here makes the run wait: it
// writes its cache, and the server reads that.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "serving.h"
#include "supple/sim/report.h"
#include "viewer/cache_exhibit.h"

namespace supple::app {

/// The page of a run.
class LiveView {
 public:
  /// Serves the cache a run has just begun, and says where.
  LiveView(const std::filesystem::path& cache, const ServingOptions& options);

  /// Tells pages that a frame is in the cache.
  void frame(const FrameReport& report);

  /// Tells pages what the run has come to: "done", "interrupted", "failed: ...".
  void finish(const std::string& status);

  /// Keeps the page alive until it is closed or a signal arrives.
  void wait(const InterruptGuard& guard) const;

 private:
  std::shared_ptr<viewer::LiveReport> m_report;
  viewer::Server m_server;
};

}  // namespace supple::app
