// One cube of a voxel body that is made of smaller ones, and the motion of least energy of these.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "supple/voxels/cell_matrices.h"

namespace supple {

/// What is known of a cube of matter; sides are x low, x high, y low, ...
struct MatterCube {
  bool empty = true;
  Matrix24 stiffness;
  Matrix8 mass;
  double firmness = 0;                   ///< modulus times volume of the matter, in newton metres
  std::array<Eigen::Matrix4d, 6> areas;  ///< where matter goes on, against bilinear functions
};

/// The corners of a side, its lower axis first.
constexpr int corner_of_side(int side, int k) {
  const int axis = side / 2, u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
  return (side % 2) << axis | (k & 1) << u | (k >> 1) << v;
}

/// Cubes that fill a larger one, and how they move with its corners. Kept from cube to cube, as
/// room to work in.
class CubeRelaxation {
 public:
  /// Begins a cube with sides of `side` metres, cut into `parts` along each axis.
  void begin(int parts, double side);

  /// Adds a cube that is not empty, `at` in parts; it has to stay where it is.
  void add(const Vec3i& at, const MatterCube& cube);

  /// Masses and areas of the whole, which move trilinearly.
  void gather(MatterCube& whole) const;

  /// Stiffness of the whole with its parts moving trilinearly.
  void stay(MatterCube& whole) const;

  /// Stiffness of the whole with its parts moving as it costs least. Corners in `held` (as bits)
  /// carry the nodes that is_held(place in the unit cube) names. Needs gather() before it.
  template <class IsHeld>
  void relax(unsigned held, const IsHeld& is_held, MatterCube& whole) {
    m_held_nodes.assign(m_places.size(), 0);
    m_rigid.reset();
    if (held != 0) m_rigid = rigid_motion(held);
    for (size_t i = 0; i < m_places.size() && m_rigid; ++i)
      m_held_nodes[i] = is_held(m_places[i]) ? 1 : 0;
    relax(m_rigid ? held : 0u, whole);
  }

 private:
  struct Part {
    std::array<int, 8> nodes;
    const MatterCube* cube;
    Vec3i at;
    bool is_outer(int side, int parts) const {
      return at[side / 2] == (side % 2 != 0 ? parts - 1 : 0);
    }
  };
  // Rigid motion with some corners: where they are in the mean, and how each turns the whole.
  struct RigidMotion {
    unsigned corners = 0;
    Vec3d centre = Vec3d::Zero();
    std::array<Mat3d, 8> turns;
    Eigen::Matrix<double, 3, 24> at(const Vec3d& place) const;
  };

  static std::optional<RigidMotion> rigid_motion(unsigned held);
  double* row(int r) { return m_rows.data() + static_cast<size_t>(r) * m_places.size(); }
  Matrix8 weights_of(const Part& part) const;
  void relax(unsigned held, MatterCube& whole);
  void agree(unsigned held, const MatterCube& whole);
  void add_moments();
  void follow_matter(int corner);
  void add_forces(MatterCube& whole);
  void hold_nodes(MatterCube& whole);
  void eliminate_dense(double scale, MatterCube& whole);
  void eliminate_sparse(double scale, MatterCube& whole) const;

  int m_parts = 0;
  double m_side = 0;
  std::vector<int> m_number;  // of the nodes with matter, by place; -1 for others
  std::vector<Vec3d> m_places;
  std::vector<std::array<double, 8>> m_weights;  // of the corners, per node
  std::vector<Part> m_cubes;
  std::vector<uint8_t> m_held_nodes;
  std::optional<RigidMotion> m_rigid;

  // Of relax(): moments of sides by their corners, and what has to agree, both row by row with one
  // weight per node; what pulls single nodes; the forces of trilinear motion, with what holds.
  std::vector<double> m_moments, m_rows, m_pulls, m_masses;
  Eigen::Matrix<double, Eigen::Dynamic, 24, Eigen::RowMajor> m_forces;
  std::vector<double> m_system;
};

}  // namespace supple
