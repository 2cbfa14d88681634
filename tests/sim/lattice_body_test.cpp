// The elastic body: what scenes say about it, what physics says, and that frames never depend on
// how a run got there.
#include "supple/sim/lattice_body.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "sim/solids.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

using test::box;
using test::frames;
using test::side;

// A bar along y whose upper end is held.
BodySettings hanging() {
  BodySettings settings;
  settings.type = "lattice";
  settings.cells = 8;
  settings.young = 1e4;
  settings.poisson = 0;
  settings.fixed = {{side({0, 0.5, 0}, {0, 1, 0}), {}}};
  settings.solver.tolerance = 1e-6;
  return settings;
}

// Steps a body through the frames from `first` to `last`, 24 per second.
StepReport run(LatticeBody& body, int first, int last) {
  StepReport report;
  Drive drive;
  for (int frame = first; frame <= last; ++frame) {
    drive.frame = frame;
    drive.time = (frame - 1) / 24.0;
    report = body.step(drive, 1.0 / 24);
  }
  return report;
}

std::string refusal(const Character& character, const BodySettings& settings) {
  try {
    const LatticeBody body(character, settings, frames(10), "s.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "was built";
}

double lowest(const LatticeBody& body) {
  double y = 1e9;
  for (const Vec3d& p : body.node_positions()) y = std::min(y, p[1]);
  return y;
}

TEST(LatticeBody, AHangingBarStretchesAsTheFormulaSays) {
  // Small strain without sideways contraction: the lower end sinks by rho g L² / (2 E). A node's
  // share of the weight makes the discrete sum exact too.
  BodySettings settings = hanging();
  settings.young = 1e6;
  const double expected = 1000 * 9.81 / (2 * 1e6);
  for (const int cells : {4, 8, 16}) {
    settings.cells = cells;
    LatticeBody body(box({0.25, 1, 0.25}), settings, frames(1), "s.json");
    const StepReport report = run(body, 1, 1);
    EXPECT_LE(report.residual, 1e-6);
    EXPECT_NEAR(-0.5 - lowest(body), expected, 0.01 * expected) << cells;
  }
}

// A step that the clock has cut short says so, once; one that ends in time does not.
TEST(LatticeBody, SaysWhenTheClockCutItShort) {
  const Character bar = box({0.125, 1, 0.125}, 0.125);
  BodySettings settings = hanging();
  settings.young = 2e3;
  settings.poisson = 0.3;
  settings.solver.seconds = 1e-9;
  LatticeBody hurried(bar, settings, frames(2), "s.json");
  const StepReport report = run(hurried, 1, 1);
  EXPECT_EQ(report.iterations, 1);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("solver.seconds"), std::string::npos) << report.warnings[0];
  settings.young = 1e4;
  settings.solver.seconds = 1000;
  LatticeBody easy(bar, settings, frames(2), "s.json");
  for (const std::string& warning : run(easy, 1, 1).warnings) ADD_FAILURE() << warning;
}

TEST(LatticeBody, CoverageScalesStiffnessAndMassAlike) {
  // A bar that fills its outer cells by half stretches as one that fills its cells.
  BodySettings settings = hanging();
  settings.young = 1e5;
  settings.spacing = 0.125;
  settings.gravity = {0, -1, 0};
  settings.fixed = {{side({0, 0.4999, 0}, {0, 1, 0}), {}}};
  LatticeBody whole(box({0.25, 1, 0.25}), settings, frames(1), "s.json");
  LatticeBody thin(box({0.1875, 1, 0.1875}), settings, frames(1), "s.json");
  run(whole, 1, 1);
  run(thin, 1, 1);
  EXPECT_EQ(whole.model().mesh.cells.size(), thin.model().mesh.cells.size());
  EXPECT_NEAR(lowest(whole), lowest(thin), 0.02 * (-0.5 - lowest(whole)));
}

TEST(LatticeBody, DynamicSettlesToTheEquilibrium) {
  BodySettings settings = hanging();
  settings.young = 2e4;
  settings.poisson = 0.4;
  LatticeBody still(box({0.25, 1, 0.25}), settings, frames(1), "s.json");
  run(still, 1, 1);
  settings.dynamic = true;
  LatticeBody moving(box({0.25, 1, 0.25}), settings, frames(400), "s.json");
  run(moving, 1, 10);
  EXPECT_GT(std::abs(lowest(moving) - lowest(still)), 0.01);
  run(moving, 11, 400);
  const std::vector<Vec3d> a = still.node_positions(), b = moving.node_positions();
  for (size_t n = 0; n < a.size(); ++n) EXPECT_LT((a[n] - b[n]).norm(), 2e-4) << n;
  // One that begins in equilibrium stays there.
  settings.start = StartState::equilibrium;
  LatticeBody sagged(box({0.25, 1, 0.25}), settings, frames(9), "s.json");
  run(sagged, 1, 9);
  const std::vector<Vec3d> c = sagged.node_positions();
  for (size_t n = 0; n < a.size(); ++n) EXPECT_LT((a[n] - c[n]).norm(), 2e-4) << n;
}

TEST(LatticeBody, FreeBodiesKeepTheirMomentum) {
  BodySettings settings;
  settings.cells = 6;
  settings.dynamic = true;
  settings.gravity = {0, 0, 0};
  settings.velocity = {1, 2, -0.5};
  settings.spin = {0, 200, 90};
  settings.substeps = 2;
  LatticeBody body(box({0.6, 0.3, 0.4}), settings, frames(20), "s.json");
  const auto momentum = [&] {
    Vec3d sum = Vec3d::Zero();
    const std::vector<Vec3d> v = body.node_velocities();
    for (size_t n = 0; n < v.size(); ++n) sum += body.model().masses[n] * v[n];
    return sum;
  };
  run(body, 1, 1);
  const Vec3d before = momentum();
  EXPECT_TRUE(before.isApprox(72 * Vec3d(1, 2, -0.5), 1e-6)) << before.transpose();
  run(body, 2, 20);
  EXPECT_LT((momentum() - before).norm(), 1e-5 * before.norm());
  // It has flown as far as its speed says, and turned.
  Vec3d centre = Vec3d::Zero();
  const std::vector<Vec3d> x = body.node_positions();
  for (size_t n = 0; n < x.size(); ++n) centre += body.model().masses[n] / 72 * x[n];
  EXPECT_LT((centre - 19.0 / 24 * Vec3d(1, 2, -0.5)).norm(), 1e-4);
}

TEST(LatticeBody, FreeFallIsWhatBackwardEulerMakesOfIt) {
  BodySettings settings;
  settings.cells = 3;
  settings.dynamic = true;
  LatticeBody body(box({1, 1, 1}), settings, frames(20), "s.json");
  run(body, 1, 13);
  // 12 steps after the start: v = 12 g dt, x = g dt² (1 + 2 + ... + 12).
  const double dt = 1.0 / 24;
  EXPECT_NEAR(lowest(body), -0.5 - 9.81 * dt * dt * 78, 1e-6);
  for (const Vec3d& v : body.node_velocities()) EXPECT_NEAR(v[1], -9.81 * dt * 12, 1e-5);
}

TEST(LatticeBody, HeldNodesGoWhereTheScriptSays) {
  BodySettings settings = hanging();
  settings.gravity = {0, 0, 0};
  settings.substeps = 2;
  ScriptSettings twist;
  twist.rotate = {{0, 1, 0}, 90, {0, 0, 0}};
  twist.keys = {{1, 0}, {5, 1}};
  twist.unit = TimeUnit::frames;
  settings.fixed.push_back({side({0, -0.5, 0}, {0, -1, 0}), {twist}});
  LatticeBody body(box({0.25, 1, 0.25}), settings, frames(5), "s.json");
  const StepReport report = run(body, 1, 5);
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  const std::vector<Vec3d> x = body.node_positions();
  int ends = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    const Vec3d& p = body.model().rest[n];
    if (p[1] < -0.49) {
      ++ends;
      EXPECT_LT((x[n] - Vec3d(p[2], p[1], -p[0])).norm(), 1e-12);
    }
    if (p[1] > 0.49) {
      EXPECT_LT((x[n] - p).norm(), 1e-12);
    }
    // Half way the twist is half done.
    if (std::abs(p[1]) < 1e-9 && p[0] == 0 && p[2] > 0.1) {
      EXPECT_NEAR(std::atan2(x[n][0], x[n][2]), 0.7854, 0.02);
    }
  }
  EXPECT_EQ(ends, 9);
}

TEST(LatticeBody, SpringsPullWithTheirWholeStiffness) {
  // A body on springs alone sinks by its weight over their stiffness.
  BodySettings settings;
  settings.cells = 4;
  settings.young = 1e7;
  settings.solver.tolerance = 1e-6;
  settings.pulled = {{side({0, 0.5, 0}, {0, 1, 0}), 5000, {}}};
  LatticeBody body(box({1, 1, 1}), settings, frames(1), "s.json");
  run(body, 1, 1);
  Vec3d centre = Vec3d::Zero();
  const std::vector<Vec3d> x = body.node_positions();
  for (size_t n = 0; n < x.size(); ++n) centre += body.model().masses[n] / 1000 * x[n];
  EXPECT_NEAR(centre[1], -1000 * 9.81 / 5000, 0.01);
  EXPECT_NEAR(centre[0], 0, 1e-3);
}

TEST(LatticeBody, MaterialsByRegion) {
  // The lower half a hundred times stiffer: nearly all stretch is in the upper half.
  BodySettings settings = hanging();
  RegionSettings stiff;
  stiff.select = side({0, 0, 0}, {0, -1, 0});
  stiff.young = 1e6;
  settings.materials = {stiff};
  LatticeBody body(box({0.25, 1, 0.25}), settings, frames(1), "s.json");
  run(body, 1, 1);
  double middle = 0;
  const std::vector<Vec3d> x = body.node_positions();
  for (size_t n = 0; n < x.size(); ++n)
    if (std::abs(body.model().rest[n][1]) < 1e-9) middle = x[n][1];
  EXPECT_LT(middle, -0.2);
  EXPECT_NEAR(lowest(body) - middle, -0.5, 0.01);
  EXPECT_NEAR(body.model().stiffness, 505000, 1);
}

TEST(LatticeBody, MistakesAreNamed) {
  const Character bar = box({0.25, 1, 0.25});
  BodySettings settings = hanging();
  const std::string reach = "the body reaches from -0.125 -0.5 -0.125 to 0.125 0.5 0.125";
  settings.fixed.push_back({side({0, 7, 0}, {0, 1, 0}), {}});
  EXPECT_EQ(refusal(bar, settings), "s.json: body.fixed[1].select: catches no node; " + reach);
  settings = hanging();
  settings.fixed[0].select = {};
  EXPECT_EQ(refusal(bar, settings),
            "s.json: body.fixed[0].select: is missing: give a box, sphere or plane");
  settings = hanging();
  settings.pulled = {{settings.fixed[0].select, 10, {}}};
  EXPECT_EQ(refusal(bar, settings),
            "s.json: body.pulled[0].select: catches no node that is not held; " + reach);
  settings = hanging();
  settings.materials.resize(1);
  settings.materials[0].select = side({0, -7, 0}, {0, -1, 0});
  settings.materials[0].young = 1e5;
  EXPECT_EQ(refusal(bar, settings), "s.json: body.materials[0]: catches no cell; " + reach);
  settings = hanging();
  settings.spacing = 1e-5;
  EXPECT_NE(refusal(bar, settings).find("s.json: body: lattice: spacing: 1e-05 m gives"),
            std::string::npos)
      << refusal(bar, settings);
  settings = hanging();
  settings.fixed.clear();
  EXPECT_EQ(refusal(bar, settings),
            "s.json: body.fixed: nothing holds the piece of 81 nodes around 0 0 0 against gravity: "
            "fix or pull some, or set 'dynamic'");
  settings.gravity = {0, 0, 0};
  EXPECT_EQ(refusal(bar, settings), "was built");
}

BodySettings wobbling() {
  BodySettings settings = hanging();
  settings.dynamic = true;
  settings.cells = 12;
  settings.poisson = 0.45;
  settings.substeps = 2;
  settings.solver.tolerance = 1e-3;
  settings.pulled = {{side({0, -0.5, 0}, {0, -1, 0}), 20, {}}};
  ScriptSettings shake;
  shake.translate = {0.2, 0, 0.05};
  shake.keys = {{0, 0}, {0.1, 1}, {0.3, -1}};
  settings.fixed[0].motion = settings.pulled[0].motion = {shake};
  return settings;
}

TEST(LatticeBody, SameBitsAfterACheckpointAndForAnyThreads) {
  for (const bool dynamic : {true, false}) {
    BodySettings settings = wobbling();
    settings.dynamic = dynamic;
    const Character bar = box({0.25, 1, 0.25});
    std::vector<Vec3d> expected;
    for (const int threads : {1, 2, 8}) {
      set_thread_count(threads);
      LatticeBody whole(bar, settings, frames(10), "s.json");
      run(whole, 1, 10);
      LatticeBody first(bar, settings, frames(10), "s.json");
      run(first, 1, 4);
      Chunk state;
      first.save(state);
      LatticeBody second(bar, settings, frames(10), "s.json");
      second.load(Chunk::parse(state.serialise(), "c"), "c");
      run(second, 5, 10);
      if (expected.empty()) expected = whole.node_positions();
      EXPECT_EQ(whole.node_positions(), expected) << threads;
      EXPECT_EQ(second.node_positions(), expected) << threads;
      EXPECT_EQ(second.node_velocities(), whole.node_velocities());
      BodyFrame a, b;
      whole.skin(a);
      second.skin(b);
      EXPECT_EQ(a.positions, b.positions);
    }
  }
  set_thread_count(0);
}

TEST(LatticeBody, CheckpointsOfOtherBodiesAreRefused) {
  const LatticeBody small(box({1, 1, 1}), wobbling(), frames(2), "s.json");
  LatticeBody other(box({0.25, 1, 0.25}), wobbling(), frames(2), "s.json");
  Chunk state;
  small.save(state);
  EXPECT_THROW(other.load(state, "c"), Error);
  EXPECT_THROW(other.load(Chunk(), "c"), Error);
  Chunk bad;
  const std::vector<double> nan(3 * other.model().rest.size(), std::nan(""));
  bad.add<double>("lattice/positions", nan, 3);
  bad.add<double>("lattice/velocities", nan, 3);
  bad.add<double>("lattice/moment", std::vector<double>{0, 1});
  EXPECT_THROW(other.load(bad, "c"), Error);
  // As many nodes, but in an order that a lattice laid out otherwise would have.
  LatticeBody same(box({1, 1, 1}), wobbling(), frames(2), "s.json");
  same.load(state, "c");
  Chunk moved;
  for (ChunkArray array : state.arrays()) {
    if (array.name == "lattice/order") array.data[0] ^= std::byte{1};
    moved.add(array);
  }
  EXPECT_THROW(same.load(moved, "c"), Error);
}

TEST(LatticeBody, ShowsSkinCellsAndStretch) {
  BodySettings settings = hanging();
  settings.gravity = {0, 0, 0};
  ScriptSettings pull;
  pull.translate = {0, -0.5, 0};
  settings.fixed.push_back({side({0, -0.5, 0}, {0, -1, 0}), {pull}});
  const Character bar = box({0.25, 1, 0.25});
  LatticeBody body(bar, settings, frames(2), "s.json");
  BodyFrame frame;
  run(body, 1, 1);
  body.skin(frame);
  ASSERT_EQ(frame.positions.size(), bar.skin.positions.size());
  for (size_t i = 0; i < frame.positions.size(); ++i)
    EXPECT_LT((frame.positions[i] - bar.skin.positions[i]).norm(), 1e-6f);
  run(body, 2, 2);
  frame.extras.clear();
  body.skin(frame);
  // Without contraction the bar is one half longer everywhere.
  for (size_t i = 0; i < frame.positions.size(); ++i)
    EXPECT_NEAR(frame.positions[i][1], 0.5f + 1.5f * (bar.skin.positions[i][1] - 0.5f), 1e-3f);
  ASSERT_EQ(frame.extras.size(), 2u);
  Chunk extras;
  for (const ChunkArray& array : frame.extras) extras.add(array);
  for (const float s :
       extras.get<float>("map/stretch", 1, static_cast<int64_t>(frame.positions.size()), "c"))
    EXPECT_NEAR(s, 0.5f, 1e-3f);
  EXPECT_EQ(extras.find("mesh/nodes")->rows(), body.model().rest.size());
  ASSERT_EQ(body.shown_once().size(), 1u);
  EXPECT_EQ(body.shown_once()[0].rows(), body.model().mesh.cells.size());
  EXPECT_EQ(body.facts()[0].value, 2 * 8 * 2);
}

void expect_every_solver_to_agree(Quadrature quadrature) {
  BodySettings settings = hanging();
  settings.solver.quadrature = quadrature;
  settings.poisson = 0.4;
  settings.solver.linear_tolerance = 1e-3;
  settings.solver.linear_iterations = 2000;
  settings.solver.tolerance = 1e-5;
  settings.solver.iterations = 200;
  const Character bar = box({0.25, 1, 0.25});
  std::vector<Vec3d> expected;
  const auto check = [&](const char* name) {
    LatticeBody body(bar, settings, frames(1), "s.json");
    const StepReport report = run(body, 1, 1);
    EXPECT_TRUE(report.warnings.empty()) << name << report.warnings[0];
    if (expected.empty()) expected = body.node_positions();
    for (size_t n = 0; n < expected.size(); ++n)
      EXPECT_LT((body.node_positions()[n] - expected[n]).norm(), 1e-4) << name;
  };
  check("usual");
  for (const SolverMethod method :
       {SolverMethod::v_cycle, SolverMethod::jacobi_cg, SolverMethod::plain_cg}) {
    settings.solver.method = method;
    check("method");
  }
  settings.solver.method = SolverMethod::multigrid_cg;
  for (const SolverDifferential differential :
       {SolverDifferential::projected, SolverDifferential::exact, SolverDifferential::warped,
        SolverDifferential::zhu}) {
    settings.solver.differential = differential;
    check("differential");
  }
}

TEST(LatticeBody, EverySolverFindsTheSameEquilibrium) {
  expect_every_solver_to_agree(Quadrature::stabilised);
}

TEST(LatticeBody, EverySolverFindsTheSameEquilibriumWithEightPoints) {
  expect_every_solver_to_agree(Quadrature::eight_point);
}

// Every quadrature is exact where strain does not vary in a cell, and near the others in motion.
TEST(LatticeBody, QuadraturesAgreeOnABarThatHangsAndSwings) {
  BodySettings settings = hanging();
  settings.young = 1e6;
  const double sag = 1000 * 9.81 / (2 * 1e6);
  const Character bar = box({0.25, 1, 0.25});
  for (const Quadrature quadrature : {Quadrature::stabilised, Quadrature::eight_point}) {
    settings.solver.quadrature = quadrature;
    settings.dynamic = false;
    LatticeBody still(bar, settings, frames(1), "s.json");
    EXPECT_TRUE(run(still, 1, 1).warnings.empty());
    EXPECT_NEAR(-0.5 - lowest(still), sag, 0.01 * sag);
    // Let go at rest, its end sinks through the equilibrium and comes to it as steps take energy.
    settings.dynamic = true;
    LatticeBody moving(bar, settings, frames(100), "s.json");
    run(moving, 1, 2);
    EXPECT_LT(-0.5 - lowest(moving), 0.99 * 2 * sag);
    EXPECT_GT(-0.5 - lowest(moving), 0.1 * sag);
    EXPECT_TRUE(run(moving, 3, 100).warnings.empty());
    EXPECT_NEAR(-0.5 - lowest(moving), sag, 0.02 * sag);
  }
}

TEST(LatticeBody, EightPointsHaveAMostOfCells) {
  BodySettings settings = hanging();
  settings.cells = 127;
  settings.solver.quadrature = Quadrature::eight_point;
  EXPECT_EQ(refusal(box({1, 1, 1}, 1), settings),
            "s.json: body.solver.quadrature: 'eight_point' takes at most 2000000 cells of 2320 "
            "bytes each, not 2048383");
}

}  // namespace
}  // namespace supple
