// Hard constraints on material points of tetrahedra, C u = S x(t) [Wang 2020, eq. 2], by
// elimination: every held point makes one node depend on the others and on the place it is held at,
// so that free nodes are all that is left to solve for, and the constraints hold to the last digit.
// Points that say nothing new, as those before hold their elements already, are left out.
#pragma once

#include <span>
#include <vector>

#include "supple/tets/skin_contact.h"
#include "supple/tets/tet_vector.h"

namespace supple {

/// Held points of a body.
class PointHolds {
 public:
  /// Holds these points; nodes are points with one weight of 1. Points of which less than
  /// `least_new` is not held by others already are left out: clouds of many points that do not move
  /// as their elements can need more than the usual, which is just above rounding.
  PointHolds(size_t nodes, std::span<const TetTie> points, double least_new = 1e-4);

  /// Whether a node depends on others or on held places.
  bool is_dependent(size_t node) const { return m_row_of[node] >= 0; }

  /// How many nodes are free.
  size_t free_nodes() const { return m_row_of.size() - m_rows.size(); }

  /// How many points are held.
  size_t size() const { return m_points; }

  /// How many points were left out, as others say the same.
  size_t redundant() const { return m_points - m_rows.size(); }

  /// Puts dependent nodes where the points' places (m) and the free nodes have them.
  void place(std::span<const Vec3d> places, TetVector& x) const;

  /// Sets what a motion of the free nodes makes of the dependent ones, the places being still.
  void extend(TetVector& dx) const;

  /// Gives forces on dependent nodes to the free ones they depend on.
  void reduce(TetVector& force) const;

  /// A free node and its part.
  struct Share {
    int32_t node;
    double weight;
  };

  /// What a node is made of: itself, or the free nodes it depends on.
  std::span<const Share> shares_of(size_t node, Share& self) const;

 private:
  struct Row {
    int32_t node = 0;
    std::vector<Share> free, places;
  };
  std::vector<Row> m_rows;
  std::vector<int32_t> m_row_of;  // of the nodes, or -1
  size_t m_points = 0;
};

}  // namespace supple
