// Reading animated meshes back, whatever program made them: the files our exports write. What a
// format leaves out (triangles, the axis that is up, the rate) comes from a mesh the caller names,
// or from the cache that exports leave beside their files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "supple/io/animated_skin.h"

namespace supple {

/// What a caller knows about a file better than the file.
struct AnimationHints {
  std::filesystem::path mesh;  ///< triangles: a file read_character() reads, or a cache
  std::optional<UpAxis> up;    ///< the axis that is up in the file
  std::optional<double> rate;  ///< frames per second
};

/// True when `path` is, by its name, a .pc2, .mdd, .usda, .pvd or .vtu file, or a folder of
/// numbered OBJ files (FOLDER, or FOLDER/NAME.obj for NAME.0001.obj, ...) that is no cache.
bool is_animation(const std::filesystem::path& path);

/// Reads an animated mesh: .pc2, .mdd, .usda, .pvd, .vtu (one frame), or a folder of numbered OBJ
/// files. The result is in metres and Y up; its `frame` reads one frame at a time from the file,
/// may be called by several threads at once, and throws an input error when the file is damaged or
/// has been cut off since.
///
/// Point caches (.pc2, .mdd) get triangles, rest shape, parts and attributes from `mesh`, which
/// must have as many vertices, or else from the cache beside the file (walk.supple for walk.pc2),
/// or else have no triangles. Other formats have triangles of their own; the cache beside them adds
/// rest shape, parts and attributes when it has the same ones. Without a rest shape the first frame
/// is taken for it.
///
/// Only USD says which axis is up. For all others the first frame is compared with the same frame
/// of the cache, or with the rest shape of cache or mesh, both ways, and the nearer way taken; Y up
/// without any of these. `notes` gets what the user should know, in plain words.
AnimatedSkin read_animation(const std::filesystem::path& path, const AnimationHints& hints,
                            std::vector<std::string>* notes = nullptr);

/// Reads an animated mesh as above, with triangles from `mesh` unless it is empty, and with `up` as
/// the file's axis where given.
AnimatedSkin read_animation(const std::filesystem::path& path,
                            const std::filesystem::path& mesh = {},
                            std::optional<UpAxis> up = std::nullopt);

}  // namespace supple
