// Nodes that bones take along.
#include "supple/sim/tet_carry.h"

#include <gtest/gtest.h>

#include "support/tet_boxes.h"

namespace supple {
namespace {

TetVector places(const TetMesh& mesh) {
  TetVector x;
  x.setZero(static_cast<Eigen::Index>(3 * mesh.positions.size()));
  for (size_t n = 0; n < mesh.positions.size(); ++n) x.node(n) = mesh.positions[n];
  return x;
}

Affine turned(double angle) {
  Affine motion = Affine::Identity();
  motion.rotate(Eigen::AngleAxisd(angle, Vec3d::UnitZ()));
  motion.pretranslate(Vec3d(0.1, 0.2, 0.3));
  return motion;
}

// The lower half is one bone's, the upper the other's.
std::vector<int32_t> halves(const TetMesh& mesh) {
  std::vector<int32_t> reference;
  for (const Vec3d& p : mesh.positions) reference.push_back(p.y() < 0.5 ? 0 : 1);
  return reference;
}

TEST(TetCarry, BonesThatMoveAlikeMoveAllRigidly) {
  const TetMesh mesh = box_of_tets(2, 10, 2, 0.1, 0.1);
  TetVector x = places(mesh);
  const Affine motion = turned(0.8);
  TetCarry(mesh, halves(mesh)).move(std::vector<Affine>{motion, motion}, x);
  for (size_t n = 0; n < mesh.positions.size(); ++n)
    EXPECT_LT((Vec3d(x.node(n)) - motion * mesh.positions[n]).norm(), 1e-12);
}

// Far from where bones meet nodes go with their own; between them edges stretch less than they do
// when every node goes with the nearest.
TEST(TetCarry, BlendsWhereBonesMeet) {
  const TetMesh mesh = box_of_tets(2, 10, 2, 0.1, 0.1);
  const std::vector<int32_t> reference = halves(mesh);
  const std::vector<Affine> bones{Affine::Identity(), turned(0.4)};
  TetVector smooth = places(mesh), torn = smooth;
  TetCarry(mesh, reference).move(bones, smooth);
  for (size_t n = 0; n < reference.size(); ++n)
    torn.node(n) = bones[static_cast<size_t>(reference[n])] * mesh.positions[n];
  const auto longest = [&](const TetVector& x) {
    double most = 0;
    for (const Vec4i& tet : mesh.tets)
      for (int a = 0; a < 4; ++a)
        for (int b = a + 1; b < 4; ++b) {
          const auto i = static_cast<size_t>(tet[a]), j = static_cast<size_t>(tet[b]);
          most = std::max(most, (Vec3d(x.node(i)) - Vec3d(x.node(j))).norm() /
                                    (mesh.positions[i] - mesh.positions[j]).norm());
        }
    return most;
  };
  EXPECT_LT(longest(smooth), 0.6 * longest(torn));
  for (size_t n = 0; n < reference.size(); ++n) {
    const double y = mesh.positions[n].y();
    if (y < 0.05 || y > 0.95) {
      EXPECT_LT((Vec3d(smooth.node(n)) - Vec3d(torn.node(n))).norm(), 1e-12);
    }
  }
}

TEST(TetCarry, NodesWithoutABoneStay) {
  const TetMesh mesh = box_of_tets(1, 1, 1, 0.1, 0);
  TetVector x = places(mesh);
  const TetVector before = x;
  TetCarry(mesh, std::vector<int32_t>(mesh.positions.size(), -1)).move({}, x);
  EXPECT_EQ((x - before).norm(), 0);
}

}  // namespace
}  // namespace supple
