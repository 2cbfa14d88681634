// Which points a skin winds round, whatever it is like: several shells, holes, surfaces that run
// through each other. Points are inside that the closed shells wind round more than half, or those
// with holes by more than `least_open` [Jacobson 2013]; flat sheets, which reach one half, have no
// inside.
//
// Not resolved: shells that face inwards and overlap others that face outwards; air that shells
// enclose only together. contact/inside_test.h does more, for bodies that meet others.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/mesh/triangle_mesh.h"
#include "supple/mesh/winding_number.h"

namespace supple {

/// The solid under a skin; const calls may be made from many threads.
class SkinSolid {
 public:
  /// The winding number of shells with holes from which on a point is inside.
  static constexpr double least_open = 0.52;

  explicit SkinSolid(const TriangleMesh& skin);

  /// Whether a point is inside.
  bool inside(const Vec3d& point) const { return inside(winding(point)); }

  /// Whether a tetrahedron that no triangle runs through holds points that are inside. Next to
  /// holes, where the inside fades out, its corners are looked at too.
  bool reaches_into(const std::array<Vec3d, 4>& corners) const;

  /// How often the closed shells, and those with holes, wind round a point.
  std::array<double, 2> winding(const Vec3d& point) const;

  /// How often the shells with holes wind round a point.
  double open_winding(const Vec3d& point) const { return m_any[1] ? m_layers[1].at(point) : 0; }

  /// Whether a point with these winding numbers is inside.
  static bool inside(const std::array<double, 2>& winding) {
    return std::abs(winding[0]) > 0.5 || std::abs(winding[1]) > least_open;
  }

  /// Whether no shell has holes: then points that no triangle is between are all inside or all
  /// outside.
  bool closed() const { return !m_any[1]; }

  /// 1 for triangles of shells with holes, one entry per triangle.
  std::span<const uint8_t> open() const { return m_open; }

 private:
  std::vector<uint8_t> m_open;
  std::array<bool, 2> m_any;  // whether there are closed shells, shells with holes
  std::array<WindingNumber, 2> m_layers;
};

}  // namespace supple
