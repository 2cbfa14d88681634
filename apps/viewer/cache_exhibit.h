// A cache as the page sees it: finished, growing in another program, or being made by this one.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>

#include "supple/io/cache.h"
#include "supple/sim/report.h"
#include "viewer/exhibit.h"

namespace supple::viewer {

/// The report of a run this program is making, for pages that watch it; safe from any thread.
class LiveReport {
 public:
  /// Adds a frame that is in the cache now.
  void add(const FrameReport& frame);

  /// Sets what the run has come to: "running", "done", ...
  void set_status(const std::string& status);

  /// What the run has come to.
  std::string status() const;

  /// The report so far, frames from number `from_frame` on.
  Json json(int from_frame) const;

 private:
  mutable std::mutex m_mutex;
  std::string m_status = "running";
  std::vector<FrameReport> m_frames;
};

/// A cache to look at.
class CacheExhibit final : public Exhibit {
 public:
  /// Opens a cache; `live` is the report of the run that is making it in this program, or null.
  explicit CacheExhibit(const std::filesystem::path& folder,
                        std::shared_ptr<const LiveReport> live = nullptr);

  Json facts() const override;
  Availability availability() const override;
  Bytes static_chunk() const override;
  Bytes frame_chunk(int frame) const override;
  Json report(int from_frame) const override;

 private:
  void reopen_if_replaced() const;

  std::filesystem::path m_folder;
  std::shared_ptr<const LiveReport> m_live;
  // What was read last; a cache may be made anew while it is looked at.
  mutable std::optional<CacheReader> m_cache;
  mutable std::filesystem::file_time_type m_index_time;
  mutable int m_frame_count = 0;
  mutable std::filesystem::file_time_type m_report_time;
  mutable std::string m_report_status;
};

}  // namespace supple::viewer
