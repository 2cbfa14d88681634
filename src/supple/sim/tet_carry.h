// Where bones take the nodes of a body of tetrahedra along: the bone nearest to each, blended over
// the nodes around it, so that elements between two bones are not torn. A guess, nothing more.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "supple/mesh/tet_mesh.h"
#include "supple/tets/tet_vector.h"

namespace supple {

/// Nodes with shares of the bones that take them along.
class TetCarry {
 public:
  /// `reference` is the bone of every node of a mesh, or -1 for nodes that stay.
  TetCarry(const TetMesh& mesh, std::span<const int32_t> reference);

  /// Moves nodes (m) with the motions of the bones.
  void move(std::span<const Affine> bones, TetVector& nodes) const;

 private:
  std::vector<uint32_t> m_offsets;
  std::vector<std::pair<int32_t, double>> m_shares;  // of a bone, -1 where nothing moves
};

}  // namespace supple
