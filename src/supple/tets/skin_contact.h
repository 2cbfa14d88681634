// Contact of the fine skin of tetrahedral flesh: penalties and dry friction at its vertices, taken
// to the nodes by the transposed embedding [Kim 2011, eq. 13], and given back to what was touched.
//
// Which vertices are near a collider is found now and then, by a tree over the skin; until
// something has moved as far as they were near, those alone are tested. Colliders answer in a time
// that does not depend on how many triangles they have: shapes by formulas, meshes by level sets.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "supple/contact/penalty.h"
#include "supple/contact/point_tree.h"
#include "supple/math/spatial.h"
#include "supple/tets/tet_flesh.h"

namespace supple {

/// A skin vertex in its element.
struct TetTie {
  std::array<int32_t, 4> nodes{};
  std::array<double, 4> weights{};

  /// Its value of a field of vectors at the nodes.
  Vec3d of(std::span<const Vec3d> field) const {
    const auto at = [&](size_t c) -> const Vec3d& { return field[static_cast<size_t>(nodes[c])]; };
    return weights[0] * at(0) + weights[1] * at(1) + weights[2] * at(2) + weights[3] * at(3);
  }
};

/// Ties of the skin, and how hard each vertex is pushed.
struct SkinContactModel {
  std::vector<TetTie> ties;
  std::vector<double> stiffness;  ///< of every vertex, N/m
  double damping_ratio = 0.3;     ///< of critical damping, of the stiffest node in contact
  /// Only the deepest vertex of every element is pushed, as hard as all of the element's together:
  /// coarse elements cannot obey more.
  bool deepest_only = false;
  std::vector<int32_t> element_of;  ///< of every vertex; needed for `deepest_only`
};

/// Finds and resolves contacts of a skin.
class SkinContact {
 public:
  /// For flesh whose nodes have these masses (kg).
  SkinContact(SkinContactModel model, const TetFlesh& flesh);

  /// Adds contact forces to the flesh's, and what they do to the colliders to `reactions` (per
  /// collider: torque about the world's origin, and force; may be empty). `h` is the step that
  /// follows, in seconds.
  void add_forces(std::span<const Collider* const> colliders, double h, TetFlesh& flesh,
                  std::span<Wrench> reactions);

  /// The square of the highest frequency that contacts everywhere would add, 1/s², at most.
  double highest_frequency() const { return m_highest; }

  /// Makes contacts softer where they alone would have frequencies above this, 1/s² (squared), so
  /// that they do not need shorter steps.
  void limit_frequency(double highest);

  /// How hard every vertex is pushed now, N/m: part of the state, once limited.
  const std::vector<double>& stiffness() const { return m_model.stiffness; }

  /// How many vertices touched something last time.
  size_t touching() const { return m_touching; }

  /// How deep every vertex was last time, m.
  std::span<const float> depths() const { return m_depths; }

  /// What the vertices hold on to: part of the state.
  std::vector<Grip> grips;

  /// Begins anew after the flesh was moved from outside.
  void forget() { m_slack = -1; }

 private:
  void find_rows();
  void find_near(std::span<const Collider* const> colliders, const TetFlesh& flesh);
  double moved(std::span<const Collider* const> colliders) const;
  void push(size_t vertex, const Collider& collider, int32_t number, const RigidContact& contact,
            double scale, TetFlesh& flesh, std::span<Wrench> reactions);

  struct Near {
    int32_t vertex, collider;
    bool operator<(const Near& b) const {
      return vertex != b.vertex ? vertex < b.vertex : collider < b.collider;
    }
  };

  SkinContactModel m_model;
  std::vector<double> m_rows, m_inverse;  // of the nodes: frequency by contacts, 1/√mass
  PointTree m_tree;                       // of the vertices
  std::vector<Vec3d> m_points;            // where they were when those near something were found
  std::vector<int32_t> m_found;
  std::vector<Near> m_near;  // in rising order
  std::vector<float> m_depths;
  std::vector<double> m_element_stiffness;  // of all vertices of an element
  struct Deepest {
    int32_t vertex = -1, collider = -1;
    RigidContact contact;
  };
  std::vector<Deepest> m_deepest;  // of every element
  std::vector<Affine> m_placed;    // colliders when vertices near them were found
  double m_slack = -1;             // how far things may still move until they are found again
  double m_highest = 0;
  double m_damping_time = 0;   // damping over stiffness, s
  double m_near_distance = 0;  // m
  double m_lever = 1;          // how much faster skin moves than the nodes around it, at most
  size_t m_touching = 0;
};

}  // namespace supple
