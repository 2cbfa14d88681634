// Nodes of a tetrahedral mesh put where they are wanted, without bad tetrahedra: the nearest node
// moves to the point and the free ones around it make room (each to where its worst tetrahedron is
// best, by pattern search); where that fails, tetrahedra around the point are replaced by ones that
// end in it. What makes tetrahedra worse than allowed is undone.
//
// The outer boundary of the mesh stays as it is.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "supple/mesh/tet_mesh.h"

namespace supple {

/// Moves and adds nodes of a mesh.
class TetPlacing {
 public:
  /// For a mesh with nodes about `spacing` apart whose tetrahedra keep angles of at least
  /// `smallest_angle` (in degrees) between their sides.
  TetPlacing(TetMesh mesh, double spacing, double smallest_angle);

  /// Puts a node at a point and holds it there; returns it, or -1 where none can be. Points nearer
  /// than a quarter of the spacing to a held node are not tried.
  int32_t place(const Vec3d& point);

  /// Holds a node where it is.
  void hold(int32_t node) { m_held[node] = 1; }

  /// Whether a node is held, or on the boundary.
  bool held(int32_t node) const { return m_held[node] != 0; }

  /// Makes angles below `goal` (in degrees) larger, at most `sweeps` times: joins nodes to other
  /// tetrahedra, and moves free ones.
  void smooth(double goal, int sweeps);

  /// Lets `smooth` look at these tetrahedra only (one entry each).
  void choose(std::vector<uint8_t> tets) { m_chosen = std::move(tets); }

  /// The mesh as it is now, without the tetrahedra that were replaced.
  TetMesh mesh() const;

 private:
  using Undo = std::vector<std::pair<int32_t, Vec3d>>;  // nodes and where they were

  double quality(const Vec4i& tet) const;
  double worst_around(int32_t node) const;
  double worst_among(std::span<const int32_t> nodes) const;
  bool improve(int32_t node, double goal, Undo& undo);
  void relax(std::span<const int32_t> nodes, double goal, int sweeps, Undo& undo);
  std::vector<int32_t> nodes_near(int32_t node, int rings) const;
  bool move(int32_t node, const Vec3d& point);
  int32_t insert(const Vec3d& point);
  std::vector<int32_t> tets_holding(const Vec3d& point) const;
  std::vector<int32_t> ring(int32_t a, int32_t b) const;
  std::vector<int32_t> sphere_cavity(int32_t first, const Vec3d& point) const;
  std::vector<Vec4i> star(std::span<const int32_t> cavity, int32_t node) const;
  bool swallows(std::span<const int32_t> cavity) const;
  bool reconnect(double goal);
  bool remove_edge(int32_t a, int32_t b);
  bool remove_side(int32_t tet, int corner);
  bool replace_if_better(std::span<const int32_t> old, std::span<const Vec4i> added);
  void add(const Vec4i& tet);
  void link(int32_t tet);
  void unlink(int32_t tet);

  TetMesh m_mesh;
  double m_spacing, m_smallest, m_goal;
  std::vector<uint8_t> m_held;
  std::vector<uint8_t> m_gone;                  // tetrahedra that were replaced
  std::vector<uint8_t> m_chosen;                // tetrahedra to look at; empty for all
  std::vector<std::vector<int32_t>> m_of_node;  // tetrahedra around each node
};

}  // namespace supple
