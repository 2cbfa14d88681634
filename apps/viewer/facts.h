// The parts of exhibits.json that every kind of exhibit has.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supple/io/json_field.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/rig/character.h"

namespace supple::viewer {

/// Title, file name and kind; no error.
Json basic_facts(const std::string& title, const std::filesystem::path& file, const char* kind);

/// Adds the counts of vertices and triangles, the parts and the joints.
void add_shape_facts(Json& facts, const TriangleMesh& skin, const std::vector<Part>& parts,
                     const std::vector<Joint>& joints);

/// The `frames` object; `rate` in frames per second.
Json frames_json(int first, int last, double rate);

}  // namespace supple::viewer
