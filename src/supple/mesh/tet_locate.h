// Where points lie in a tetrahedral mesh: a tree of boxes over its tetrahedra.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/tet_mesh.h"

namespace supple {

/// A place in a tetrahedral mesh: a tetrahedron and the weights of its four corners, whose sum is
/// 1. Outside the mesh some weights are negative: the nearest tetrahedron is continued.
struct TetLocation {
  int32_t tet = -1;
  Eigen::Vector4d weights = Eigen::Vector4d::Zero();
};

/// Points with weights of at least this lie inside, to rounding.
inline constexpr double least_inside_weight = -1e-9;

/// The weights of the corners of a tetrahedron at a point.
Eigen::Vector4d tet_weights(const TetMesh& mesh, const Vec4i& tet, const Vec3d& point);

/// A tree of boxes over the tetrahedra of a mesh, which must outlive it; const calls may be made
/// from many threads.
class TetTree {
 public:
  explicit TetTree(const TetMesh& mesh);

  /// The tetrahedron that holds a point, or else the nearest one, and the weights there; tet is -1
  /// in a mesh without tetrahedra.
  TetLocation locate(const Vec3d& point) const;

  /// Calls visit(tet) for every tetrahedron whose box overlaps or touches `box`.
  template <class Visit>
  void for_overlaps(const Box3d& box, const Visit& visit) const {
    std::vector<int32_t> stack;
    if (!m_nodes.empty()) stack.push_back(0);
    while (!stack.empty()) {
      const int32_t index = stack.back();
      stack.pop_back();
      const Node& node = m_nodes[index];
      if (!node.box.intersects(box)) continue;
      if (node.second < 0) {
        for (int32_t i = node.begin; i < node.end; ++i)
          if (tet_box(m_order[i]).intersects(box)) visit(m_order[i]);
      } else {
        stack.push_back(node.second);
        stack.push_back(index + 1);
      }
    }
  }

 private:
  struct Node {
    Box3d box;
    int32_t begin = 0, end = 0;  // tetrahedra, in the order of the tree
    int32_t second = -1;         // second child, the first is the next node; -1 for a leaf
  };

  struct Search;
  int32_t build(int32_t begin, int32_t end, std::span<const Vec3d> middles);
  void search(int32_t index, Search& search) const;
  Box3d tet_box(int32_t tet) const;

  const TetMesh& m_mesh;
  std::vector<int32_t> m_order;
  std::vector<Node> m_nodes;
};

/// Where every point lies in the mesh, on all threads.
std::vector<TetLocation> locate_points(const TetMesh& mesh, std::span<const Vec3d> points);

}  // namespace supple
