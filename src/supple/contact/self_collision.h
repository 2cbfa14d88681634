// Collisions of a body with itself [McAdams 2011, section 7]: contact points that have got into
// flesh elsewhere, and where on the surface they should be.
//
// For every contact point the deformed cells that contain it are found, those around its own cell
// left out. Each is split into six tetrahedra about its diagonal, the same in all cells, so that
// neighbours fit; one that holds the point gives its place at rest, X. Where X lies inside the
// body at rest, the closest point of the surface at rest, carried to where it is now, is where the
// point should be. Of several places the one least deep is taken.
//
// Deviations: tetrahedra that are turned inside out are passed over, since flesh that is inside out
// has no inside; and so is a place whose closest point of the surface lies around the contact
// point's own cell, as in flesh that is squashed flat, which is no collision.
//
// Not handled: sheets are found in flesh but nothing is found in them; they have no inside.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "supple/contact/box_tree.h"
#include "supple/contact/contact_points.h"
#include "supple/mesh/lattice_mesh.h"

namespace supple {

/// A contact point in flesh elsewhere.
struct SelfContact {
  int32_t point = -1;                  ///< the contact point
  int32_t cell = -1;                   ///< the cell it is in
  Vec3d rest = Vec3d::Zero();          ///< where in the flesh at rest, X
  double rest_depth = 0;               ///< how deep at rest, in metres
  Vec3d rest_surface = Vec3d::Zero();  ///< the closest point of the surface at rest
  int32_t triangle = -1;               ///< of the skin's mesh that it lies in
  LatticeTie tie;                      ///< of the closest point
  Vec3d surface = Vec3d::Zero();       ///< where the closest point is now, x_s
  Vec3d position = Vec3d::Zero();      ///< where the contact point is now, x_p
  double depth = 0;                    ///< |x_s - x_p|, in metres
  Vec3d normal = Vec3d::UnitZ();       ///< the way out, of unit length
};

/// How a body collides with itself.
struct SelfCollisionOptions {
  int ring = 1;  ///< cells around a point's own in which nothing is found, along each axis
};

/// Finds the collisions of one body with itself; solid, mesh and skin must outlive it.
class SelfCollision {
 public:
  /// For a solid, its numbered nodes and cells, its skin and the contact points on it. Throws an
  /// input error for points that are not finite and a negative ring.
  SelfCollision(const SolidLattice& solid, const LatticeMesh& mesh, const SkinSurface& skin,
                std::vector<ContactPoint> points, const SelfCollisionOptions& options = {});

  /// Finds all contacts when the nodes are at `nodes` (in metres, one per node of the mesh), by
  /// contact point, at most one for each. Never throws; nodes that are not finite have no contacts.
  void find(std::span<const Vec3d> nodes, std::vector<SelfContact>& out);

  /// The contact points.
  std::span<const ContactPoint> points() const { return m_points; }
  /// Their ties to the lattice.
  std::span<const LatticeTie> ties() const { return m_ties; }

 private:
  void fit_boxes(std::span<const Vec3d> nodes);
  bool test_point(std::span<const Vec3d> nodes, size_t point, std::vector<int32_t>& cells,
                  SelfContact& best) const;
  void consider(int32_t cell, const Vec3d& rest, SelfContact& best) const;
  void finish(std::span<const Vec3d> nodes, SelfContact& contact) const;
  bool near(int32_t cell, int32_t other) const;

  const SolidLattice& m_solid;
  const LatticeMesh& m_mesh;
  const SkinSurface& m_skin;
  std::vector<ContactPoint> m_points;
  SelfCollisionOptions m_options;
  std::vector<Vec3i> m_places;     // coordinates of cells
  std::vector<LatticeTie> m_ties;  // of contact points
  std::vector<int32_t> m_own;      // cells of contact points
  std::vector<int32_t> m_blocks;   // first cell of every block of the lattice, and the total
  std::vector<Box3d> m_boxes;      // of deformed cells
  BoxTree m_tree;                  // of deformed blocks
  std::vector<std::vector<SelfContact>> m_found;  // by block of contact points
};

}  // namespace supple
