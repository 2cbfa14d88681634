// The equations of voxel bodies: forces and products against dense references, momentum, rest,
// recovery, on every instruction set and for any number of threads.
#include "supple/voxels/voxel_system.h"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <random>

#include "supple/core/parallel.h"
#include "supple/math/polar.h"
#include "supple/math/simd.h"
#include "supple/mesh/primitives.h"
#include "support/test_support.h"

namespace supple {
namespace {

// A body of a shape's voxels, and what tests ask of it.
struct Voxels {
  Voxels(const TriangleMesh& shape, int cells, int levels = 2,
         StiffnessLaw law = StiffnessLaw::nonuniform)
      : solid(
            voxelise_solid(shape.positions, shape.triangles, {.cells = cells, .levels = levels})) {
    const std::vector<VoxelMaterial> material{{lame_moduli(2e4, 0.4), 1000}};
    for (size_t c = 0; c < solid.mesh.cells.size(); ++c)
      matrices.push_back(gather_cell(solid, c, law, material));
    for (const LatticePlace& node : solid.mesh.nodes)
      rest.push_back(solid.solid.position(solid.solid.lattice.coordinates(node.block, node.local)));
    system = std::make_unique<VoxelSystem>(solid.mesh, solid.solid.spacing, matrices);
  }

  double mass() const {
    double sum = 0;
    for (const double m : system->masses()) sum += m;
    return sum;
  }

  // Stiffness and pulls of all nodes at rest.
  Eigen::MatrixXd dense(double pull_per_mass) const {
    const auto n = static_cast<Eigen::Index>(3 * rest.size());
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
    for (size_t c = 0; c < matrices.size(); ++c)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
          a.block<3, 3>(3 * solid.mesh.corners[c][static_cast<size_t>(i)],
                        3 * solid.mesh.corners[c][static_cast<size_t>(j)]) +=
              matrices[c].stiffness.block<3, 3>(3 * i, 3 * j);
    for (size_t i = 0; i < rest.size(); ++i)
      for (int k = 0; k < 3; ++k)
        a(static_cast<Eigen::Index>(3 * i) + k, static_cast<Eigen::Index>(3 * i) + k) +=
            pull_per_mass * system->masses()[i];
    return a;
  }

  void pull(double per_mass) const {
    std::vector<double> pulls;
    for (const double m : system->masses()) pulls.push_back(per_mass * m);
    system->set_pulls(pulls);
  }

  // Moves freely for a number of steps.
  void move(std::vector<Vec3d>& x, std::vector<Vec3d>& v, double dt, int steps,
            int iterations) const {
    pull(1 / (dt * dt));
    std::vector<Vec3d> goals(x.size());
    for (int s = 0; s < steps; ++s) {
      const std::vector<Vec3d> before = x;
      for (size_t n = 0; n < x.size(); ++n) x[n] = goals[n] = before[n] + dt * v[n];
      system->solve({before, goals, {}}, {1e-5, iterations}, x);
      for (size_t n = 0; n < x.size(); ++n) v[n] = (x[n] - before[n]) / dt;
    }
  }

  Vec3d momentum(std::span<const Vec3d> v) const {
    Vec3d sum = Vec3d::Zero();
    for (size_t n = 0; n < v.size(); ++n) sum += system->masses()[n] * v[n];
    return sum;
  }

  Vec3d angular_momentum(std::span<const Vec3d> x, std::span<const Vec3d> v) const {
    Vec3d sum = Vec3d::Zero();
    for (size_t n = 0; n < v.size(); ++n) sum += system->masses()[n] * x[n].cross(v[n]);
    return sum;
  }

  // How far the matter is from its rest shape, but for a rigid motion: root of the mean square, in
  // metres.
  double misfit(std::span<const Vec3d> x) const {
    Vec3d a = Vec3d::Zero(), b = Vec3d::Zero();
    for (size_t n = 0; n < x.size(); ++n) {
      a += system->masses()[n] * x[n] / mass();
      b += system->masses()[n] * rest[n] / mass();
    }
    Mat3d moments = Mat3d::Zero();
    for (size_t n = 0; n < x.size(); ++n)
      moments += system->masses()[n] * (x[n] - a) * (rest[n] - b).transpose();
    const Mat3d r = nearest_rotation(moments);
    double sum = 0;
    for (size_t n = 0; n < x.size(); ++n)
      sum += system->masses()[n] * (x[n] - a - r * (rest[n] - b)).squaredNorm();
    return std::sqrt(sum / mass());
  }

  VoxelSolid solid;
  std::vector<CellMatrices> matrices;
  std::vector<Vec3d> rest;
  std::unique_ptr<VoxelSystem> system;
};

std::vector<Vec3d> moved(std::span<const Vec3d> x, const Affine& by) {
  std::vector<Vec3d> result;
  for (const Vec3d& p : x) result.push_back(by * p);
  return result;
}

Affine some_motion() {
  return Eigen::Translation3d(3, -2, 1) *
         Affine(Eigen::AngleAxisd(1.9, Vec3d(1, -2, 0.5).normalized()));
}

class VoxelsOnTargets : public testing::TestWithParam<std::string> {
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target(""); }
};

TEST_P(VoxelsOnTargets, RigidMotionsMeetNoForce) {
  const Voxels body(sphere_surface(0.5, 0.1), 5);
  const std::vector<Vec3d> x = moved(body.rest, some_motion());
  std::vector<Vec3d> forces(x.size());
  body.system->elastic_forces(x, forces);
  for (const Vec3d& f : forces) EXPECT_LT(f.norm(), 2e4 * 1e-5);
}

TEST_P(VoxelsOnTargets, ForcesAreThoseOfTurnedStiffness) {
  const Voxels body(tube_surface({.ring = 0.6, .radius = 0.2, .angle = 2}, 0.1), 6);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<Vec3d> x = moved(body.rest, some_motion());
  const double h = body.solid.solid.spacing;
  for (Vec3d& p : x) p += 0.05 * h * Vec3d(normal(random), normal(random), normal(random));
  std::vector<Vec3d> found(x.size()), expected(x.size(), Vec3d::Zero());
  body.system->elastic_forces(x, found);
  double scale = 0;
  for (size_t c = 0; c < body.matrices.size(); ++c) {
    const auto& corners = body.solid.mesh.corners[c];
    const auto at = [&](int i) { return x[static_cast<size_t>(corners[static_cast<size_t>(i)])]; };
    Mat3d gradient = Mat3d::Zero();
    for (int axis = 0; axis < 3; ++axis)
      for (int e = 0; e < 4; ++e) {
        const int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
        const int low = (e & 1) << u | (e >> 1) << v;
        gradient.col(axis) += body.matrices[c].edges(axis, e) * (at(low | 1 << axis) - at(low));
      }
    const Mat3d r = nearest_rotation(gradient);
    Eigen::Matrix<double, 24, 1> strain;
    for (int i = 0; i < 8; ++i)
      strain.segment<3>(3 * i) =
          r.transpose() * (at(i) - at(0)) - h * Vec3d(i & 1, i >> 1 & 1, i >> 2);
    const Eigen::Matrix<double, 24, 1> force = body.matrices[c].stiffness * strain;
    for (int i = 0; i < 8; ++i) {
      expected[static_cast<size_t>(corners[static_cast<size_t>(i)])] -= r * force.segment<3>(3 * i);
      scale = std::max(scale, force.segment<3>(3 * i).norm());
    }
  }
  for (size_t n = 0; n < x.size(); ++n)
    EXPECT_LT((found[n] - expected[n]).norm(), 1e-4 * scale) << n;
}

TEST_P(VoxelsOnTargets, SolvesTheEquations) {
  const Voxels body(sphere_surface(0.5, 0.1), 4);
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<Vec3d> forces;
  Eigen::VectorXd b(static_cast<Eigen::Index>(3 * body.rest.size()));
  for (size_t n = 0; n < body.rest.size(); ++n) {
    forces.emplace_back(body.system->masses()[n] *
                        Vec3d(normal(random), normal(random), normal(random)));
    b.segment<3>(static_cast<Eigen::Index>(3 * n)) = forces.back();
  }
  body.pull(400);
  const Eigen::VectorXd expected = body.dense(400).llt().solve(b);
  std::vector<Vec3d> x = body.rest;
  const LinearReport report = body.system->solve({body.rest, body.rest, forces}, {1e-6, 500}, x);
  EXPECT_LT(report.residual, 2e-6);
  for (size_t n = 0; n < x.size(); ++n)
    EXPECT_LT((x[n] - body.rest[n] - expected.segment<3>(static_cast<Eigen::Index>(3 * n))).norm(),
              2e-4 * expected.norm());
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, VoxelsOnTargets, testing::ValuesIn(simd_targets()));

TEST(VoxelSystem, FreeBodiesKeepTheirMomenta) {
  for (const StiffnessLaw law : {StiffnessLaw::nonuniform, StiffnessLaw::bending}) {
    const Voxels body(tube_surface({.ring = 0.6, .radius = 0.2, .angle = 4}, 0.1), 5, 2, law);
    std::vector<Vec3d> x = body.rest, v(x.size());
    for (size_t n = 0; n < x.size(); ++n)
      v[n] = Vec3d(1, 0.5, -2) + Vec3d(0.5, 3, 1).cross(x[n]) + Vec3d(0, std::sin(5 * x[n][0]), 0);
    const Vec3d momentum = body.momentum(v), spin = body.angular_momentum(x, v);
    // Few iterations: what is lost then is not to be lost to the whole.
    body.move(x, v, 1.0 / 24, 100, 10);
    EXPECT_LT((body.momentum(v) - momentum).norm(), 1e-6 * momentum.norm());
    EXPECT_LT((body.angular_momentum(x, v) - spin).norm(), 1e-4 * spin.norm());
  }
}

// 40 starts per body, 10,000 in all with SUPPLE_SOAK=84. Bodies of several cells all come back; a
// single cell may stay twisted [Nesme 2006, section 4.1], so those are counted.
class VoxelStarts : public testing::TestWithParam<StiffnessLaw> {};

TEST_P(VoxelStarts, RandomFlatAndInvertedOnesComeBackToRest) {
  for (const int cells : {1, 2, 4}) {
    const Voxels body(cells == 4 ? sphere_surface(0.5, 0.1) : box_surface({1, 1, 1}, 0.5), cells, 2,
                      GetParam());
    const int starts = 40 * test::soak_factor();
    int stuck = 0;
    for (int start = 0; start < starts; ++start) {
      std::mt19937 random(static_cast<unsigned>(start));
      std::normal_distribution<double> normal;
      const auto vector = [&] { return Vec3d(normal(random), normal(random), normal(random)); };
      std::vector<Vec3d> x = body.rest, v(x.size(), Vec3d::Zero());
      const Vec3d axis = vector().normalized();
      for (Vec3d& p : x) {
        if (start % 4 == 0) p += body.solid.solid.spacing * vector();              // torn about
        if (start % 4 == 1) p = 0.5 * vector();                                    // anywhere
        if (start % 4 == 2) p -= axis.dot(p) * axis;                               // flat
        if (start % 4 == 3) p -= (2 * axis.dot(p) + 0.1 * normal(random)) * axis;  // inside out
      }
      body.move(x, v, 1.0 / 24, cells == 1 ? 600 : 300, 10);
      const double misfit = body.misfit(x);
      ASSERT_TRUE(std::isfinite(misfit)) << cells << " cells, start " << start;
      if (cells > 1)
        EXPECT_LT(misfit, 0.01) << cells << " cells, start " << start;
      else
        stuck += misfit < 0.01 ? 0 : 1;
    }
    EXPECT_LE(stuck, starts / 100);
    if (cells == 1) RecordProperty("twisted", stuck);
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, VoxelStarts,
                         testing::Values(StiffnessLaw::nonuniform, StiffnessLaw::bending));

TEST(VoxelSystem, HeldNodesStay) {
  const Voxels body(sphere_surface(0.5, 0.1), 4);
  std::vector<uint8_t> held;
  for (const Vec3d& p : body.rest) held.push_back(p[1] < -0.3 ? 1 : 0);
  body.system->hold(held, {});
  body.pull(400);
  std::vector<Vec3d> forces(body.rest.size());
  for (size_t n = 0; n < forces.size(); ++n)
    forces[n] = Vec3d(0, -9.81, 3) * body.system->masses()[n];
  std::vector<Vec3d> x = body.rest;
  body.system->solve({body.rest, body.rest, forces}, {1e-4, 100}, x);
  double largest = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    if (held[n] != 0)
      EXPECT_EQ(x[n], body.rest[n]);
    else
      largest = std::max(largest, (x[n] - body.rest[n]).norm());
  }
  EXPECT_GT(largest, 1e-3);
}

TEST(VoxelSystem, SpringsPullTheirPoint) {
  const Voxels body(sphere_surface(0.5, 0.1), 4);
  const Vec3d at(0.2, 0.3, 0.1), target(0.4, 0.5, 0.1);
  const LatticeTie tie = tie_to_cell(body.solid.solid, body.solid.mesh,
                                     nearest_cell(body.solid.solid, body.solid.mesh, at), at);
  const std::vector<PointPull> springs{{tie, 1e7 * Mat3d::Identity(), target}};
  body.system->set_springs(springs);
  body.pull(1);
  std::vector<Vec3d> x = body.rest;
  body.system->solve({body.rest, body.rest, {}}, {1e-6, 1000}, x);
  EXPECT_LT((tie.position(x) - target).norm(), 0.01);
}

TEST(VoxelSystem, IsTheSameForAnyNumberOfThreads) {
  const Voxels body(sphere_surface(0.5, 0.05), 12, 1);
  std::vector<std::vector<Vec3d>> results;
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    std::vector<Vec3d> x = moved(body.rest, Affine(Eigen::Scaling(1.2, 0.9, 1.0))),
                       v(x.size(), Vec3d::Zero());
    body.move(x, v, 1.0 / 24, 5, 10);
    results.push_back(x);
  }
  set_thread_count(0);
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

// Nodes at the far end of nearly empty cells are what other solvers stall at. A thin ring, thrown
// about in a step of 1/24 s, and held at one end under its weight.
TEST(VoxelSystem, NearlyEmptyCellsDoNotStallIt) {
  const TriangleMesh tube = tube_surface({.ring = 0.47, .radius = 0.11, .angle = 5}, 0.03);
  const auto iterations = [&](int cells, int levels, StiffnessLaw law, bool held) {
    const Voxels body(tube, cells, levels, law);
    std::vector<uint8_t> hold;
    if (held)
      for (const Vec3d& p : body.rest) hold.push_back(p[0] > 0.3 && p[1] < 0.1 ? 1 : 0);
    body.system->hold(hold, {});
    std::vector<Vec3d> forces(body.rest.size()), x = body.rest;
    for (size_t n = 0; n < forces.size(); ++n)
      forces[n] = Vec3d(std::sin(9 * x[n][1]), -9.81, 0) * body.system->masses()[n];
    body.pull(held ? 0 : 24 * 24);
    const LinearReport report = body.system->solve({body.rest, body.rest, forces}, {1e-3, 3000}, x);
    EXPECT_LE(report.residual, 1e-3) << cells << " cells, " << levels << " levels";
    return report.iterations;
  };
  const int deepest = test::slowness > 1 ? 2 : 4;
  for (const int cells : {5, 10})
    for (int levels = 1; levels <= deepest; ++levels) {
      for (const bool held : {false, true})
        for (const StiffnessLaw law : {StiffnessLaw::nonuniform, StiffnessLaw::bending})
          EXPECT_LE(iterations(cells, levels, law, held),
                    2 * iterations(cells, levels, StiffnessLaw::uniform, held))
              << cells << " cells, " << levels << " levels, " << held;
    }
}

}  // namespace
}  // namespace supple
