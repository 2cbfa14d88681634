// The cases that tests and benchmarks of the lattice share: unit domain, N cells along it, fixed
// and moved nodes. Named SHAPE_POISSON (stretch_030, tube_045, ...).
#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <string>

#include "supple/lattice/lattice_system.h"

namespace supple::testing {

/// A case ready to be solved.
struct LatticeCase {
  std::unique_ptr<LatticeSystem> system;
  BlockVector<double> interpolated;  ///< every node at the formula's position
  BlockVector<double> jump;          ///< fixed nodes at theirs, all others at rest
};

/// A case's motion: where a material point goes, and whether it is held there.
class CaseShape {
 public:
  explicit CaseShape(std::string name) : m_name(std::move(name)) {}

  /// Whether the point of the unit domain holds matter.
  bool inside(const Vec3d& p) const {
    if (m_name == "sphere") return (p - sphere_centre()).norm() < 0.44;
    if (m_name == "tube") {
      const Vec3d q = p - tube_centre();
      const double ring = std::hypot(q[0], q[1]) - 0.62, off = std::hypot(ring, q[2]);
      return q[0] > 0 && q[1] > 0 && off < 0.17 && off > 0.06;
    }
    return true;
  }

  /// Whether a whole cell is held, given its centre.
  bool holds_cell(const Vec3d& centre) const {
    if (m_name == "sphere") return std::abs(centre[0] - sphere_centre()[0]) > 0.3;
    if (m_name == "tube") {
      const double a = tube_angle(centre);
      return a < 0.12 || a > std::numbers::pi / 2 - 0.12;
    }
    return false;
  }

  /// Whether a node is held by itself.
  bool holds_node(const Vec3d& p) const {
    return m_name != "sphere" && m_name != "tube" && (p[0] < 1e-9 || p[0] > 1 - 1e-9);
  }

  /// Where a material point goes.
  Vec3d moved(const Vec3d& p) const {
    if (m_name == "stretch") return {1.5 * p[0], p[1], p[2]};
    if (m_name == "compress") return {0.7 * p[0], p[1], p[2]};
    if (m_name == "sphere") {
      const double t = std::clamp((p[0] - sphere_centre()[0] + 0.3) / 0.6, 0.0, 1.0);
      return turned_x(p, sphere_centre(), std::numbers::pi / 3 * t) + Vec3d(0.15 * t, 0, 0);
    }
    if (m_name == "tube") {
      const double t = std::clamp((tube_angle(p) - 0.12) / (std::numbers::pi / 2 - 0.24), 0.0, 1.0);
      const Vec3d q = p - tube_centre();
      const double c = std::cos(-0.6 * t), s = std::sin(-0.6 * t);
      return tube_centre() + Vec3d(c * q[0] - s * q[1], s * q[0] + c * q[1], q[2]);
    }
    return turned_x(p, {0, 0.5, 0.5}, std::numbers::pi / 2 * p[0]);  // twist, springs
  }

 private:
  static Vec3d sphere_centre() { return {0.503, 0.511, 0.497}; }
  static Vec3d tube_centre() { return {0.06, 0.06, 0.5}; }
  static double tube_angle(const Vec3d& p) {
    return std::atan2(p[1] - tube_centre()[1], p[0] - tube_centre()[0]);
  }
  static Vec3d turned_x(const Vec3d& p, const Vec3d& centre, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    const Vec3d q = p - centre;
    return centre + Vec3d(q[0], c * q[1] - s * q[2], s * q[1] + c * q[2]);
  }

  std::string m_name;
};

/// Springs at points around the cube's axis that follow the twist.
inline std::vector<TargetSpring> axis_springs(int n, double stiffness, const CaseShape& shape) {
  std::mt19937 random(2011);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<TargetSpring> springs;
  for (int i = 0; i < 2000; ++i) {
    const double angle = 2 * std::numbers::pi * part(random);
    const Vec3d p(0.999 * part(random), 0.5 + 0.15 * std::cos(angle), 0.5 + 0.15 * std::sin(angle));
    const auto k = static_cast<float>(stiffness);
    springs.push_back({{p * n, {k, k, k, 0, 0, 0}}, shape.moved(p)});
  }
  return springs;
}

/// Makes a case by its name with n cells along the unit domain.
inline LatticeCase make_case(const std::string& name, int n, size_t coarsest_nodes = 200) {
  const size_t split = name.rfind('_');
  const std::string kind = name.substr(0, split), number = name.substr(split + 1);
  const CaseShape shape(kind);
  const double poisson = kind == "springs" ? 0.3 : std::stod(number) / 100, h = 1.0 / n;
  const CellMaterial material = lame_moduli(1, poisson);
  std::vector<Vec3i> cells;
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        if (shape.inside((Vec3d(x, y, z) + Vec3d::Constant(0.5)) * h)) cells.emplace_back(x, y, z);
  SparseLattice lattice(cells);
  const auto is_fixed = [&](const Vec3i& node) {
    if (shape.holds_node(node.cast<double>() * h)) return true;
    for (int c = 0; c < 8; ++c) {
      const Vec3i cell = node - Vec3i(c & 1, (c >> 1) & 1, c >> 2);
      if (lattice.has_cell(cell) &&
          shape.holds_cell((cell.cast<double>() + Vec3d::Constant(0.5)) * h))
        return true;
    }
    return false;
  };
  LatticeCase result;
  SparseLattice copy = lattice;
  result.system = std::make_unique<LatticeSystem>(
      std::move(copy), h, [&](const Vec3i&) { return material; }, is_fixed, coarsest_nodes);
  if (kind == "springs")
    result.system->set_springs(axis_springs(n, std::stod(number) * material.mu * h, shape));
  result.interpolated = result.system->rest();
  result.jump = result.interpolated;
  const Level& finest = result.system->hierarchy().finest();
  for (size_t b = 0; b < lattice.block_count(); ++b)
    for (int32_t i = 0; i < 64; ++i) {
      const LatticePlace at{static_cast<int32_t>(b), i};
      const Vec3d target = shape.moved(result.interpolated.at(at));
      result.interpolated.set(at, target);
      if ((lattice.nodes[b] >> i & 1) && !(finest.free[b] >> i & 1)) result.jump.set(at, target);
    }
  return result;
}

}  // namespace supple::testing
