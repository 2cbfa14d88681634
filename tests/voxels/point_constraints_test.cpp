// Points of the skin that are put somewhere, against dense least squares.
#include "supple/voxels/point_constraints.h"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <random>

#include "supple/mesh/primitives.h"
#include "supple/voxels/voxel_system.h"

namespace supple {
namespace {

struct Body {
  explicit Body(int cells) {
    const TriangleMesh ball = sphere_surface(0.5, 0.1);
    solid = voxelise_solid(ball.positions, ball.triangles, {.cells = cells, .levels = 1});
    for (const LatticePlace& node : solid.mesh.nodes)
      rest.push_back(solid.solid.position(solid.solid.lattice.coordinates(node.block, node.local)));
  }
  LatticeTie tie(const Vec3d& at) const {
    return tie_to_cell(solid.solid, solid.mesh, nearest_cell(solid.solid, solid.mesh, at), at);
  }
  VoxelSolid solid;
  std::vector<Vec3d> rest;
};

Eigen::MatrixXd dense(std::span<const LatticeTie> ties, size_t nodes) {
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(ties.size()),
                                            static_cast<Eigen::Index>(nodes));
  for (size_t r = 0; r < ties.size(); ++r)
    for (size_t c = 0; c < 8; ++c)
      h(static_cast<Eigen::Index>(r), ties[r].nodes[c]) += ties[r].weights[c];
  return h;
}

TEST(PointConstraints, FewPointsAreMetByTheSmallestDisplacement) {
  const Body body(3);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-0.45, 0.45);
  std::vector<LatticeTie> ties;
  std::vector<Vec3d> targets;
  for (int i = 0; i < 6; ++i) {
    const Vec3d at(uniform(random), uniform(random), uniform(random));
    ties.push_back(body.tie(at));
    targets.emplace_back(at + 0.3 * Vec3d(uniform(random), uniform(random), uniform(random)));
  }
  const PointConstraints constraints(ties, body.rest.size());
  std::vector<Vec3d> x = body.rest;
  constraints.satisfy(targets, x);
  EXPECT_LT(constraints.error(targets, x), 1e-12);
  // Hᵀ (H Hᵀ)⁻¹ c, as there are fewer points than nodes.
  const Eigen::MatrixXd h = dense(ties, body.rest.size());
  Eigen::MatrixXd c(ties.size(), 3), u(x.size(), 3);
  for (size_t i = 0; i < ties.size(); ++i)
    c.row(static_cast<Eigen::Index>(i)) = targets[i] - ties[i].position(body.rest);
  for (size_t n = 0; n < x.size(); ++n) u.row(static_cast<Eigen::Index>(n)) = x[n] - body.rest[n];
  const Eigen::MatrixXd expected = h.transpose() * (h * h.transpose()).inverse() * c;
  EXPECT_LT((u - expected).norm(), 1e-9 * expected.norm());
}

TEST(PointConstraints, MorePointsThanNodesAreMetInTheSenseOfLeastSquares) {
  const Body body(1);
  ASSERT_EQ(body.rest.size(), 8u);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-0.45, 0.45);
  std::vector<LatticeTie> ties;
  std::vector<Vec3d> targets;
  for (int i = 0; i < 30; ++i) {
    const Vec3d at(uniform(random), uniform(random), uniform(random));
    ties.push_back(body.tie(at));
    targets.emplace_back(uniform(random), uniform(random), uniform(random));
  }
  const PointConstraints constraints(ties, body.rest.size());
  std::vector<Vec3d> x = body.rest;
  constraints.satisfy(targets, x);
  // (Hᵀ H)⁻¹ Hᵀ c.
  const Eigen::MatrixXd h = dense(ties, 8);
  Eigen::MatrixXd c(30, 3);
  for (int i = 0; i < 30; ++i) c.row(i) = targets[static_cast<size_t>(i)];
  const Eigen::MatrixXd expected = (h.transpose() * h).ldlt().solve(h.transpose() * c);
  for (int n = 0; n < 8; ++n)
    EXPECT_LT((x[static_cast<size_t>(n)] - expected.row(n).transpose()).norm(), 1e-8);
}

TEST(PointConstraints, PointsTwiceAndHeldNodesAreNoTrouble) {
  const Body body(3);
  std::vector<uint8_t> held(body.rest.size(), 0);
  const LatticeTie tie = body.tie({0.3, 0.1, 0.2});
  held[static_cast<size_t>(tie.nodes[0])] = held[static_cast<size_t>(tie.nodes[5])] = 1;
  const std::vector<LatticeTie> ties{tie, tie};
  const PointConstraints constraints(ties, body.rest.size(), held);
  const std::vector<Vec3d> targets(2, Vec3d(0.5, 0.5, 0.5));
  std::vector<Vec3d> x = body.rest;
  constraints.satisfy(targets, x);
  EXPECT_LT(constraints.error(targets, x), 1e-12);
  for (const size_t corner : {0, 5}) {
    const auto n = static_cast<size_t>(tie.nodes[corner]);
    EXPECT_EQ(x[n], body.rest[n]);
  }
}

TEST(PointConstraints, ProjectedVectorsMoveNoPoint) {
  const Body body(3);
  const std::vector<LatticeTie> ties{body.tie({0.3, 0.1, 0.2}), body.tie({0.25, 0.12, 0.2}),
                                     body.tie({-0.3, 0.3, 0})};
  PointConstraints constraints(ties, body.rest.size());
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> v(3 * body.rest.size());
  for (float& x : v) x = normal(random);
  constraints.project(v);
  std::vector<Vec3d> moves;
  for (size_t n = 0; n < body.rest.size(); ++n)
    moves.emplace_back(Vec3f(v[3 * n], v[3 * n + 1], v[3 * n + 2]).cast<double>());
  for (const LatticeTie& tie : ties) EXPECT_LT(tie.position(moves).norm(), 1e-5);
  const std::vector<float> once = v;
  constraints.project(v);
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], once[i], 1e-5f);
}

TEST(PointConstraints, HoldInASolve) {
  const Body body(4);
  const std::vector<VoxelMaterial> material{{lame_moduli(2e4, 0.4), 1000}};
  std::vector<CellMatrices> cells;
  for (size_t c = 0; c < body.solid.mesh.cells.size(); ++c)
    cells.push_back(gather_cell(body.solid, c, StiffnessLaw::nonuniform, material));
  VoxelSystem system(body.solid.mesh, body.solid.solid.spacing, cells);
  const std::vector<LatticeTie> ties{body.tie({0.3, 0.1, 0.2}), body.tie({0.35, 0.12, 0.2}),
                                     body.tie({-0.3, 0.3, 0})};
  system.hold({}, PointConstraints(ties, body.rest.size()));
  std::vector<double> pulls;
  std::vector<Vec3d> forces;
  for (const double m : system.masses()) {
    pulls.push_back(m * 100);
    forces.emplace_back(0, -9.81 * m, 0);
  }
  system.set_pulls(pulls);
  std::vector<Vec3d> x = body.rest;
  std::vector<Vec3d> targets;
  for (const LatticeTie& tie : ties) targets.push_back(tie.position(body.rest));
  for (int i = 0; i < 20; ++i) system.solve({body.rest, body.rest, forces}, {1e-4, 20}, x);
  EXPECT_LT(system.constraints().error(targets, x), 1e-5);
  double largest = 0;
  for (size_t n = 0; n < x.size(); ++n) largest = std::max(largest, (x[n] - body.rest[n]).norm());
  EXPECT_GT(largest, 1e-3);
}

}  // namespace
}  // namespace supple
