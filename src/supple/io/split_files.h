// What lies beside exports that can hold positions only, when the skin was split: the mesh they are
// to be played on, which is no longer the input's, and the map from its vertices to the input's.
#pragma once

#include <filesystem>
#include <string>

#include "supple/io/animated_skin.h"

namespace supple {

/// The mesh that belongs to a point cache of a split skin: "walk.split.obj" for "walk.pc2".
std::filesystem::path split_mesh_beside(const std::filesystem::path& path);

/// A map as a table with one line per vertex: its number, the numbers of three vertices of the
/// input, and their weights.
std::string split_table(const SplitMap& map);

/// Writes the mesh, NAME.split.obj, and the map, NAME.split.csv, beside a point cache; returns what
/// to tell the user, to be added to a line about that.
std::string write_split_files(const std::filesystem::path& path, const AnimatedSkin& skin,
                              const ExportOptions& options);

}  // namespace supple
