// Writing any file a user may name, by its extension.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supple/io/animated_skin.h"
#include "supple/io/cache.h"
#include "supple/io/gltf_document.h"

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

/// The cache that belongs to an export: "walk.supple" for "walk.pc2" and for the folder "walk/",
/// and `name`.supple inside folders without a name of their own, such as ".".
std::filesystem::path cache_beside(std::filesystem::path output, const std::string& name);

/// Throws when a file could not be exported to `path`: a usage error when its kind is unknown or it
/// is one of the `inputs` (or among the OBJ files of one that is a folder), an output error when
/// its place cannot be written. Leaves nothing behind.
void check_export(const std::filesystem::path& path, const std::vector<std::string>& inputs);

/// Exports a skin in motion to one file; returns one line about it for the user. `source` is the
/// glTF document the skin was read from, of which a .glb keeps materials and hierarchy. Throws a
/// usage error for a cache, which only a simulation can make.
std::string export_skin(const AnimatedSkin& skin, const std::filesystem::path& path,
                        const ExportOptions& options, const GltfDocument* source = nullptr);

/// True when a file of that kind is of no use without triangles.
bool needs_triangles(const std::filesystem::path& path);

/// Exports a cache to one file; returns one line about it for the user.
std::string export_cache(const CacheReader& cache, const std::filesystem::path& path,
                         const ExportOptions& options);

}  // namespace supple
