// Points that move with cells without kinks.
#include "supple/mesh/smooth_embedding.h"

#include <gtest/gtest.h>

#include <random>

#include "supple/mesh/primitives.h"

namespace supple {
namespace {

struct Body {
  Body() {
    const TriangleMesh tube = tube_surface({.ring = 0.6, .radius = 0.25, .angle = 2}, 0.05);
    solid = fill_lattice(tube.positions, tube.triangles, {.cells = 8});
    mesh = LatticeMesh(solid.lattice);
    points = tube.positions;
    for (const LatticePlace& node : mesh.nodes)
      nodes.push_back(solid.position(solid.lattice.coordinates(node.block, node.local)));
  }

  // What moves of the nodes do to a point.
  template <class Embedding>
  Vec3d displacement(const Vec3d& at, std::span<const Vec3d> moves) const {
    const std::vector<Vec3f> point{at.cast<float>()};
    std::vector<Vec3f> out(1);
    Embedding(solid, mesh, point).interpolate(moves, out);
    return out[0].cast<double>();
  }

  SolidLattice solid;
  LatticeMesh mesh;
  std::vector<Vec3f> points;
  std::vector<Vec3d> nodes;
};

TEST(SmoothEmbedding, KeepsAffineMotions) {
  const Body body;
  Mat3d m;
  m << 1.2, 0.3, -0.1, 0.2, 0.8, 0.4, -0.5, 0.1, 1.1;
  const Vec3d shift(3, -1, 2);
  std::vector<Vec3d> nodes;
  for (const Vec3d& p : body.nodes) nodes.emplace_back(m * p + shift);
  std::vector<Vec3f> points = body.points;
  points.emplace_back(2.0f, 2.0f, 2.0f);  // far outside
  std::vector<Vec3f> out(points.size());
  SmoothEmbedding(body.solid, body.mesh, points).interpolate(nodes, out);
  for (size_t i = 0; i < points.size(); ++i)
    EXPECT_LT((out[i].cast<double>() - m * points[i].cast<double>() - shift).norm(), 1e-5) << i;
}

// The gradient of the displacement just on both sides of cells' sides, across and along them.
TEST(SmoothEmbedding, HasContinuousDerivativesWhereTrilinearHasNot) {
  const Body body;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<Vec3d> moves;
  for (size_t n = 0; n < body.nodes.size(); ++n)
    moves.emplace_back(normal(random), normal(random), normal(random));
  const double h = body.solid.spacing, step = 0.004 * h;
  double smooth_jump = 0, linear_jump = 0;
  int sides = 0;
  for (const LatticePlace& cell : body.mesh.cells) {
    const Vec3i low = body.solid.lattice.coordinates(cell.block, cell.local);
    if (!body.solid.lattice.has_cell(low + Vec3i(1, 0, 0)) || sides == 30) continue;
    ++sides;
    const Vec3d at = body.solid.position(low) + h * Vec3d(1, 0.3, 0.6);
    const auto jump = [&](auto embedding) {
      using Embedding = decltype(embedding);
      const auto slope = [&](double from, double to) -> Vec3d {
        return (body.displacement<Embedding>(at + Vec3d(to, 0, 0), moves) -
                body.displacement<Embedding>(at + Vec3d(from, 0, 0), moves)) /
               (to - from);
      };
      return (slope(0, step) - slope(-step, 0)).norm() * h;
    };
    smooth_jump = std::max(smooth_jump, jump(SmoothEmbedding()));
    linear_jump = std::max(linear_jump, jump(LatticeEmbedding()));
  }
  EXPECT_EQ(sides, 30);
  EXPECT_GT(linear_jump, 1);
  EXPECT_LT(smooth_jump,
            0.1 * linear_jump);  // what is left is the second derivative times the step
}

}  // namespace
}  // namespace supple
