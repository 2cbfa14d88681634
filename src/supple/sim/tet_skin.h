// Skins that move with tetrahedra without creases: where barycentric weights bend a skin at the
// sides of elements, here every node carries the mean deformation of the elements around it, and
// places blend the nodes near them by smooth weights. Motions that are linear in space are kept
// exactly.
#pragma once

#include <span>
#include <vector>

#include "supple/mesh/tet_locate.h"
#include "supple/mesh/tet_mesh.h"

namespace supple {

/// Points embedded smoothly in a tetrahedral mesh.
class SmoothTetSkin {
 public:
  /// Points at rest, in metres, and their places in a mesh at rest, whose elements have these
  /// volumes of matter.
  SmoothTetSkin(const TetMesh& mesh, std::span<const double> volumes, std::span<const Vec3f> points,
                std::span<const TetLocation> located);

  /// Where the points are with the nodes at `nodes`, in metres.
  void interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const;

 private:
  struct Weight {
    int32_t node;
    float weight;
  };
  TetMesh m_mesh;
  std::vector<Mat3d> m_inverse;  // of the elements' edges at rest
  std::vector<double> m_volumes;
  std::vector<Vec3f> m_points;
  std::vector<uint32_t> m_offsets;
  std::vector<Weight> m_weights;
};

}  // namespace supple
