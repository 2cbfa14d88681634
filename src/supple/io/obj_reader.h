// Wavefront OBJ: a mesh without a rig.
// Every `v` line is one skin vertex, in the file's order, so that positions can go back to the
// program they came from vertex by vertex. Not read: normals, smoothing groups, groups, material
// files, free-form curves and surfaces.
#pragma once

#include <filesystem>
#include <string>

#include "supple/core/bytes.h"
#include "supple/rig/character.h"

namespace supple {

/// Reads an OBJ file as a character with one root joint that carries the whole skin; lengths stay
/// in the file's units.
///
/// Polygons become fans of triangles around a corner from which all triangles face the same way,
/// where the polygon has one (a dented quad is split along its inner diagonal). Triangles without
/// area are kept. Objects (`o`) become parts when each uses only its own run of vertices; otherwise
/// the file is one part. COLOR_0 (three values) is kept when every vertex has a colour, TEXCOORD_0
/// when no vertex has two; its second value is 1 - v, as in glTF, and vertices without a face get
/// zeros. What is left out is said in the character's notes.
Character read_obj(const std::filesystem::path& path);

/// Reads an OBJ file from memory; `file` names it in errors.
Character parse_obj(ByteView bytes, const std::string& file);

}  // namespace supple
