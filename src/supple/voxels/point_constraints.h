// Points of the skin that are put somewhere, as constraints on the nodes around them [Nesme 2006,
// section 4.3]: H x = c, where each row of H has the weights of the nodes of one point. Of all
// displacements of the nodes that put the points there the smallest is taken, H⁺ c; where there are
// more points than the nodes can follow, that with the least squared error. What is left free is
// the null space of H.
//
// H⁺ and the projections are dense for each set of points that share nodes: made for points in some
// hundred cells, not for all of a fine lattice.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "supple/mesh/lattice_mesh.h"

namespace supple {

/// Constraints on the places of points.
class PointConstraints {
 public:
  PointConstraints() = default;

  /// For points tied to cells of a body with `nodes` nodes, of which those with `held` not 0 do not
  /// take part (empty: all do).
  PointConstraints(std::span<const LatticeTie> points, size_t nodes,
                   std::span<const uint8_t> held = {});

  /// Number of points.
  size_t size() const { return m_points.size(); }

  /// Moves the nodes by the smallest displacement that brings the points to `targets`, or as near
  /// as they can get.
  void satisfy(std::span<const Vec3d> targets, std::span<Vec3d> nodes) const;

  /// Removes from vectors of the nodes, three numbers each, what would move the points.
  void project(std::span<float> vectors);

  /// How far the points are from `targets`, at most, in metres.
  double error(std::span<const Vec3d> targets, std::span<const Vec3d> nodes) const;

 private:
  // Points that share nodes, directly or through others.
  struct Group {
    std::vector<int32_t> points, nodes;
    Eigen::MatrixXd inverse;      // H⁺: nodes x points
    Eigen::MatrixXf directions;   // orthonormal basis of what moves the points: nodes x rank
    Eigen::MatrixXf part, along;  // of a projection
  };

  std::vector<LatticeTie> m_points;
  std::vector<Group> m_groups;
};

}  // namespace supple
