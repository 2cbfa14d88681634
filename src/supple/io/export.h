// Writing any file a user may name, by its extension.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supple/io/animated_skin.h"
#include "supple/io/cache.h"

namespace supple {

/// Where the results of a run go.
struct OutputPlan {
  std::filesystem::path cache;                 ///< the native cache
  std::vector<std::filesystem::path> exports;  ///< every other file
};

/// Sorts the outputs a user asked for: at most one cache (NAME.supple), the rest exports. Without a
/// cache among them, it is named after the first export, or `name`.supple in the working folder.
/// Throws a usage error for extensions that cannot be written.
OutputPlan plan_outputs(const std::vector<std::string>& files, const std::string& name);

/// Throws when a file could not be exported to `path`: a usage error when its kind is unknown or it
/// is one of the `inputs`, an output error when its place cannot be written. Leaves nothing behind.
void check_export(const std::filesystem::path& path, const std::vector<std::string>& inputs);

/// Exports a cache to one file; returns one line about it for the user.
std::string export_cache(const CacheReader& cache, const std::filesystem::path& path,
                         const ExportOptions& options);

}  // namespace supple
