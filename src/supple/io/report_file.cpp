#include "supple/io/report_file.h"

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/version.h"

namespace supple {
namespace {

// Frames before `first` of the report that is there already; none when it cannot be read.
Json earlier_frames(const std::filesystem::path& path, int first) {
  Json frames = Json::array();
  try {
    const Json earlier = parse_json(read_file(path), path.string());
    for (const Json& frame : earlier.at("frames"))
      if (frame.at("frame").get<int>() < first) frames.push_back(frame);
  } catch (const std::exception&) {
    frames = Json::array();
  }
  return frames;
}

}  // namespace

Json frame_report_json(const FrameReport& frame) {
  Json stages = Json::object();
  for (const auto& [name, seconds] : frame.stages.stages()) stages[name] = seconds;
  Json json = {{"frame", frame.frame},       {"seconds", frame.seconds},
               {"stages", stages},           {"iterations", frame.iterations},
               {"residual", frame.residual}, {"volume", frame.volume},
               {"warnings", frame.warnings}};
  if (frame.time_step > 0) json["time_step"] = frame.time_step;
  return json;
}

void write_report(const std::filesystem::path& path, const RunReport& report, const Json& settings,
                  const std::vector<std::string>& notes, const std::string& status) {
  const MachineFacts machine = machine_facts();
  Json frames = report.resumed ? earlier_frames(path, report.resumed_from) : Json::array();
  for (const FrameReport& frame : report.frames) frames.push_back(frame_report_json(frame));
  const Json json = {{"supple", version},
                     {"status", status},
                     {"seconds", report.seconds},
                     {"resumed_from", report.resumed ? Json(report.resumed_from) : Json(nullptr)},
                     {"machine",
                      {{"processor", machine.processor},
                       {"cores", machine.cores},
                       {"threads", machine.threads},
                       {"simd", machine.simd},
                       {"memory_gib", machine.memory_gib},
                       {"peak_memory_bytes", peak_memory_bytes()}}},
                     {"settings", settings},
                     {"notes", notes},
                     {"frames", frames}};
  write_file(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string report_status(const std::filesystem::path& path) {
  try {
    return parse_json(read_file(path), path.string()).at("status").get<std::string>();
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace supple
