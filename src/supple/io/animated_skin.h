// What every export writes: a skin and its positions, frame by frame, one frame in memory at a
// time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "supple/rig/character.h"

namespace supple {

/// The skin at one frame: positions, and one value per vertex for every map.
struct SkinFrame {
  std::vector<Vec3f> positions;
  std::vector<std::vector<float>> maps;  ///< as many as AnimatedSkin::map_names
};

/// A skin in motion, read frame by frame.
struct AnimatedSkin {
  std::string name;
  std::vector<Vec3f> rest;  ///< bind pose, in metres, Y up
  std::vector<Vec3i> triangles;
  std::vector<Part> parts;
  std::vector<VertexAttribute> attributes;
  SplitMap split_map;                  ///< from the input file's skin; empty when it is that
  std::vector<std::string> map_names;  ///< per-vertex scalar maps that change with the frame
  double rate = 24;                    ///< frames per second
  int first_frame = 0;                 ///< number of the first frame
  int frame_count = 0;
  std::function<SkinFrame(int index)> frame;  ///< the frame numbered first_frame + index
};

/// Which axis points up in the written file.
enum class UpAxis { y, z };

/// Choices that apply to every export.
struct ExportOptions {
  UpAxis up = UpAxis::y;
  std::function<void(int done, int total)> progress;  ///< called after every frame, where given
};

/// A position or direction of ours (Y up) in a file's axes; Z up turns (x, y, z) into (x, -z, y).
inline Vec3f to_file_axes(const Vec3f& v, UpAxis up) {
  return up == UpAxis::y ? v : Vec3f(v[0], -v[2], v[1]);
}

/// A position or direction of a file in our axes (Y up): undoes to_file_axes() to the bit.
inline Vec3f from_file_axes(const Vec3f& v, UpAxis up) {
  return up == UpAxis::y ? v : Vec3f(v[0], v[2], -v[1]);
}

}  // namespace supple
