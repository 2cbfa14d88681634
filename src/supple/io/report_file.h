// report.json: what a run was, and how it went.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supple/io/json_field.h"
#include "supple/sim/report.h"

namespace supple {

/// One frame's object of report.json.
Json frame_report_json(const FrameReport& frame);

/// Writes report.json of a run; frames of an earlier report in the same place that this run did not
/// simulate again are kept. `status` is "running", "done", "interrupted" or "failed: …".
void write_report(const std::filesystem::path& path, const RunReport& report, const Json& settings,
                  const std::vector<std::string>& notes, const std::string& status);

/// The status a report.json tells; empty when there is none or it cannot be read.
std::string report_status(const std::filesystem::path& path);

}  // namespace supple
