// From the files a user names to what the page shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viewer/exhibit.h"

namespace supple::viewer {

/// What a user says about the files.
struct ExhibitOptions {
  std::string clip;  ///< show this clip only; empty for all
  std::string mesh;  ///< file with the triangles of point caches
};

/// Opens caches, characters, scenes, meshes, motions and exported animations, in the order given; a
/// character gives one exhibit per clip. A file that cannot be opened becomes an exhibit that says
/// why, unless none can: then the first error is thrown.
std::vector<std::unique_ptr<Exhibit>> open_exhibits(const std::vector<std::string>& files,
                                                    const ExhibitOptions& options);

}  // namespace supple::viewer
