// The generalised winding number [Jacobson 2013]: how often a surface goes round a point. It is a
// whole number for closed surfaces (1 inside, 0 outside, 2 where two solids overlap, -1 inside a
// surface that faces inwards) and degrades gracefully for holes and loose pieces.
//
// Far groups of triangles are replaced by one dipole each [Barill 2018]. Not kept: the higher terms
// of that expansion.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// The winding number around `point`, by summing the signed solid angles of all triangles
/// [Van Oosterom 1983]; degenerate triangles count nothing. The reference for WindingNumber.
double winding_number(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                      const Vec3d& point);

/// Winding numbers around many points, in time that grows with the logarithm of the triangles.
class WindingNumber {
 public:
  /// Builds the tree of dipoles. A group of triangles is replaced when the point is further than
  /// `accuracy` times its radius: 3 errs by about 0.01, 6 by about 0.001.
  WindingNumber(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                double accuracy = 3);

  /// Takes over where the vertices are now, as many as at first. Triangles stay in the groups they
  /// are in, so that this takes far less time than building anew.
  void refit(std::span<const Vec3f> positions);

  /// The winding number around `point`.
  double at(const Vec3d& point) const;

 private:
  struct Node {
    Vec3d centre = Vec3d::Zero();  // of area
    Vec3d normal = Vec3d::Zero();  // sum of area vectors
    double area = 0;               // of all triangles
    double radius = 0;             // around `centre`, holds all corners
    int32_t begin = 0, end = 0;    // triangles
    int32_t second = -1;           // second child, the first is the next node; -1 for a leaf
  };

  int32_t build(int32_t begin, int32_t end);
  int32_t halve(int32_t begin, int32_t end);
  void gather(Node& node) const;
  void gather_children(int32_t index);

  std::vector<Vec3i> m_triangles;               // in the order of the tree
  std::vector<std::array<Vec3d, 3>> m_corners;  // in the same order
  std::vector<Node> m_nodes;
  double m_accuracy;
};

}  // namespace supple
