// Reads FBX files (binary and text, 7.1 and newer) through Assimp, as far as they carry rig and
// clips: node tree, skins with any number of weights, rigid meshes, blend shapes, animations,
// texture coordinates and colours.
//
// - Vertices: Assimp loses the file's own vertex order and gives one vertex per polygon corner.
//   Corners of one part that agree in position, texture coordinate, colour, weights and shape
//   offsets, bit by bit, become one vertex, numbered by first appearance; normals do not split.
//   Polygons are triangulated. Coincident vertices of the file that agree in all of this are one.
// - Units and axes: the root joint carries the scale to metres and the turn to Y up, as the file's
//   UnitScaleFactor and axis settings state them.
// - Times: seconds from the start of each animation stack; rates come from the file, 24 frames per
//   second where it states none. Assimp joins keys by straight lines, whatever the curves of the
//   file: animation should be baked on export. On nodes with pivots it takes 0 for x, y or z where
//   only the others of a rotation or translation have curves.
//
// Not handled: textures, cameras, lights, constraints, NURBS, rest weights of blend shapes (taken
// as 0), in-between shapes (each becomes a shape of its own, without animation), FBX before 7.1.
#pragma once

#include <filesystem>

#include "supple/core/isolate.h"
#include "supple/rig/character.h"

namespace supple {

/// Reads a character from an FBX file, in metres and Y up, in a child process of its own under
/// `limits`; throws an input error naming the file when it is no FBX file, damaged or too large.
Character read_fbx(const std::filesystem::path& path, const IsolationLimits& limits = {});

}  // namespace supple
