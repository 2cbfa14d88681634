// Which triangles of a skin run through which tetrahedra of a mesh.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/skin_solid.h"
#include "supple/mesh/tet_mesh.h"

namespace supple {

/// The triangles that overlap or touch each tetrahedron, in ascending order.
struct TetCrossings {
  std::vector<size_t> begin;  ///< into `triangles`, one per tetrahedron and one more
  std::vector<int32_t> triangles;

  /// The triangles of one tetrahedron.
  std::span<const int32_t> of(size_t tet) const {
    return std::span(triangles).subspan(begin[tet], begin[tet + 1] - begin[tet]);
  }
};

/// Finds the triangles in every tetrahedron; those outside the mesh are in none.
TetCrossings triangles_in_tets(const TetMesh& mesh, const TriangleMesh& skin);

/// Which tetrahedra hold something of the skin or of the solid under it (1), and which are empty
/// (0).
std::vector<uint8_t> tets_with_matter(const TetMesh& mesh, const TriangleMesh& skin,
                                      const SkinSolid& solid);

/// The chosen tetrahedra and their nodes, in their order; `nodes`, where given, receives the new
/// number of every node, -1 for those that are gone.
TetMesh chosen_tets(const TetMesh& mesh, std::span<const uint8_t> chosen,
                    std::vector<int32_t>* nodes = nullptr);

}  // namespace supple
