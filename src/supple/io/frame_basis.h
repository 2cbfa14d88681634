// A motion as a base shape plus weighted shapes: exact for few frames, principal components for
// many.
#pragma once

#include <vector>

#include "supple/io/animated_skin.h"

namespace supple {

/// Frames written as base + Σ weight · shape.
struct FrameBasis {
  std::vector<Vec3f> base;
  std::vector<std::vector<Vec3f>> shapes;   ///< offsets of every vertex
  std::vector<std::vector<float>> weights;  ///< one list of shape weights per frame
  /// Shapes from frames, row by row: shape = Σ projection(shape, frame) · (frame − base). Whatever
  /// else moves with the skin (normals) is projected alike.
  Eigen::MatrixXf projection;
  bool compressed = false;   ///< principal components rather than the frames themselves
  double largest_error = 0;  ///< of any vertex in any frame, in metres
};

/// Finds the basis of a motion with at most `most_shapes` shapes. Up to most_shapes + 1 frames, the
/// shapes are the frames themselves.
FrameBasis find_frame_basis(const AnimatedSkin& skin, int most_shapes,
                            const std::function<void(int, int)>& progress);

}  // namespace supple
