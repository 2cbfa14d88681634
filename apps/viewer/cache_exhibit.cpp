#include "viewer/cache_exhibit.h"

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/report_file.h"
#include "viewer/facts.h"

namespace supple::viewer {
namespace {

namespace fs = std::filesystem;

fs::file_time_type time_of(const fs::path& path) {
  std::error_code code;
  const fs::file_time_type time = fs::last_write_time(path, code);
  return code ? fs::file_time_type::min() : time;
}

// A text of the settings at two levels, "" when it is not there.
std::string setting(const Json& settings, const char* group, const char* name) {
  const auto found = settings.find(group);
  return found != settings.end() && found->is_object() ? found->value(name, std::string())
                                                       : std::string();
}

}  // namespace

void LiveReport::add(const FrameReport& frame) {
  const std::lock_guard lock(m_mutex);
  m_frames.push_back(frame);
}

void LiveReport::set_status(const std::string& status) {
  const std::lock_guard lock(m_mutex);
  m_status = status;
}

std::string LiveReport::status() const {
  const std::lock_guard lock(m_mutex);
  return m_status;
}

Json LiveReport::json(int from_frame) const {
  const std::lock_guard lock(m_mutex);
  Json frames = Json::array();
  for (const FrameReport& frame : m_frames)
    if (frame.frame >= from_frame) frames.push_back(frame_report_json(frame));
  return {{"status", m_status}, {"frames", frames}};
}

CacheExhibit::CacheExhibit(const fs::path& folder, std::shared_ptr<const LiveReport> live)
    : m_folder(folder), m_live(std::move(live)) {
  reopen_if_replaced();
}

void CacheExhibit::reopen_if_replaced() const {
  const fs::file_time_type time = time_of(m_folder / "index.json");
  if (m_cache && time == m_index_time) return;
  m_cache.reset();
  m_frame_count = 0;
  m_cache.emplace(m_folder);
  m_index_time = time;
}

Json CacheExhibit::facts() const {
  reopen_if_replaced();
  const CacheInfo& info = m_cache->info();
  Json facts = basic_facts(info.name, m_folder, "cache");
  add_shape_facts(facts, info.skin, info.parts, info.joints);
  facts["clip"] = setting(info.settings, "character", "clip");
  facts["body"] = setting(info.settings, "body", "type");
  facts["frames"] = frames_json(info.range.first, info.range.last, info.range.rate);
  facts["maps"] = Json::array();
  if (m_cache->frame_count() > 0) {
    try {
      facts["maps"] = m_cache->map_names(m_cache->read_frame(info.range.first));
    } catch (const Error&) {
      // A damaged first frame is reported when it is asked for.
    }
  }
  return facts;
}

Availability CacheExhibit::availability() const {
  Availability result;
  try {
    reopen_if_replaced();
    std::error_code code;
    const bool emptied = !fs::exists(m_folder / "frames", code);
    m_frame_count = m_cache->frame_count(emptied ? 0 : m_frame_count);
    result.frames = m_frame_count;
    if (m_live) {
      result.status = m_live->status();
      return result;
    }
    const fs::path report = m_folder / "report.json";
    if (const fs::file_time_type time = time_of(report); time != m_report_time) {
      m_report_time = time;
      m_report_status = report_status(report);
    }
    result.status = m_report_status;
    if (result.status.empty() || result.status == "running")
      result.status = is_being_written(m_folder)                       ? "running"
                      : m_frame_count == m_cache->info().range.count() ? "done"
                                                                       : "interrupted";
  } catch (const std::exception& error) {
    result.status = std::string("failed: ") + error.what();
  }
  return result;
}

Bytes CacheExhibit::static_chunk() const {
  reopen_if_replaced();
  return read_file(m_folder / "static.chunk");
}

Bytes CacheExhibit::frame_chunk(int frame) const {
  reopen_if_replaced();
  const FrameRange& range = m_cache->info().range;
  if (frame < range.first || frame > range.last)
    throw_input_error(
        m_folder.string(), "",
        fmt::format("frame {} is not one of the frames {} to {}", frame, range.first, range.last));
  return m_cache->read_frame_bytes(frame);
}

Json CacheExhibit::report(int from_frame) const {
  if (m_live) return m_live->json(from_frame);
  const fs::path path = m_folder / "report.json";
  std::error_code code;
  if (!fs::exists(path, code)) return nullptr;
  Json report = parse_json(read_file(path), path.string());
  const auto frames = report.find("frames");
  if (frames == report.end() || !frames->is_array())
    throw_input_error(path.string(), "frames", "must be a list");
  Json kept = Json::array();
  for (const Json& frame : *frames)
    if (frame.is_object() && frame.contains("frame") && frame["frame"].is_number() &&
        frame["frame"].get<double>() >= from_frame)
      kept.push_back(frame);
  *frames = std::move(kept);
  return report;
}

}  // namespace supple::viewer
