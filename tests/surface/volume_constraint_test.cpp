#include "supple/surface/volume_constraint.h"

#include <gtest/gtest.h>

#include <numeric>

#include "surface/meshes.h"

namespace supple {
namespace {

using test::ball;
using test::cube;
using test::disturb;
using test::model_of;
using test::rod;

// A surface in the order of its mesh; one entry more of positions, as asked for.
struct Case {
  explicit Case(const TriangleMesh& from) : mesh(from), order(from.positions.size()) {
    std::iota(order.begin(), order.end(), 0);
    surface = VolumeSurface(mesh.positions, mesh.triangles, order);
    positions = mesh.positions;
    positions.emplace_back(0, 0, 0);
    weights.assign(order.size(), 1.0f);
  }
  double volume() const { return signed_volume(positions, mesh.triangles); }

  TriangleMesh mesh;
  std::vector<int32_t> order;
  VolumeSurface surface;
  std::vector<Vec3f> positions;
  std::vector<float> weights;
};

TEST(VolumeConstraint, GradientIsThatOfThreeVolumes) {
  Case c(ball(200));
  disturb(std::span(c.positions).first(c.order.size()), 0.1f, 1);
  VolumeConstraint constraint(c.surface);
  constraint.correct_positions(c.positions, c.weights, {.tolerance = 10});
  // Finite differences, in doubles: the volume is linear in every coordinate.
  const auto volume = [&](const std::vector<Vec3d>& at) {
    double sum = 0;
    for (const Vec3i& t : c.mesh.triangles)
      sum += at[static_cast<size_t>(t[0])].dot(
                 at[static_cast<size_t>(t[1])].cross(at[static_cast<size_t>(t[2])])) /
             6;
    return sum;
  };
  std::vector<Vec3d> at;
  for (const Vec3f& p : c.positions) at.push_back(p.cast<double>());
  for (size_t v = 0; v < c.order.size(); v += 7)
    for (int k = 0; k < 3; ++k) {
      at[v][k] += 0.1;
      const double more = volume(at);
      at[v][k] -= 0.2;
      const double less = volume(at);
      at[v][k] += 0.1;
      EXPECT_NEAR(static_cast<double>(constraint.gradients()[v][k]), 3 * (more - less) / 0.2, 1e-5);
    }
  EXPECT_NEAR(constraint.volumes()[0], volume(at), 1e-5);
}

TEST(VolumeConstraint, RestoresVolumesInAFewCorrections) {
  for (const TriangleMesh& mesh : {cube(800), ball(800), rod(0.1)})
    for (const float size : {0.8f, 0.97f, 1.02f, 1.3f}) {
      Case c(mesh);
      const double rest = c.volume();
      for (Vec3f& p : c.positions) p = size * p + Vec3f(3, 0, -8);
      VolumeConstraint constraint(c.surface);
      const VolumeReport report = constraint.correct_positions(c.positions, c.weights, {});
      EXPECT_NEAR(report.before, std::abs(std::pow(static_cast<double>(size), 3) - 1), 1e-3);
      EXPECT_LT(report.error, 1e-4);
      EXPECT_LE(report.iterations, 4);
      EXPECT_NEAR(c.volume() / rest, 1, 1.2e-4);
    }
}

TEST(VolumeConstraint, WeightsOfZeroHoldVerticesStill) {
  Case c(ball(800));
  for (Vec3f& p : c.positions) p *= 0.9f;
  for (size_t v = 0; v < c.order.size(); ++v)
    if (c.positions[v][1] < 0) c.weights[v] = 0;
  const std::vector<Vec3f> before = c.positions;
  VolumeConstraint constraint(c.surface);
  const VolumeReport report = constraint.correct_positions(c.positions, c.weights, {});
  EXPECT_LT(report.error, 1e-4);
  for (size_t v = 0; v < c.order.size(); ++v)
    if (before[v][1] < 0) {
      ASSERT_EQ(before[v], c.positions[v]);
    }
}

TEST(VolumeConstraint, NothingToMoveIsReportedAndLeftAlone) {
  Case c(ball(300));
  for (Vec3f& p : c.positions) p *= 0.5f;
  std::ranges::fill(c.weights, 0.0f);
  VolumeConstraint constraint(c.surface);
  const std::vector<Vec3f> before = c.positions;
  const VolumeReport report = constraint.correct_positions(c.positions, c.weights, {});
  EXPECT_NEAR(report.error, 0.875, 1e-3);
  EXPECT_EQ(before, c.positions);
}

TEST(VolumeConstraint, VelocitiesKeepTheVolume) {
  Case c(rod(0.1));
  VolumeConstraint constraint(c.surface);
  constraint.correct_positions(c.positions, c.weights, {});
  std::vector<Vec3f> velocities;
  for (const Vec3f& p : c.positions) velocities.push_back(Vec3f(1, 2, 3) + p + Vec3f(0, p[0], 0));
  // Of v = x + ..., dV/dt = 3 V.
  EXPECT_NEAR(constraint.correct_velocities(velocities, c.weights), 3, 1e-3);
  double rate = 0;
  for (size_t v = 0; v < c.order.size(); ++v)
    rate += static_cast<double>(velocities[v].dot(constraint.gradients()[v])) / 3;
  EXPECT_LT(std::abs(rate / c.volume()), 1e-5);
}

// Two balls, one of them with a hole, a sheet over an edge of a third, and a lone vertex.
TEST(VolumeConstraint, IsPerClosedShell) {
  TriangleMesh mesh = ball(300);
  const auto add = [&](const TriangleMesh& more, const Vec3f& at, size_t skip) {
    const auto base = static_cast<int32_t>(mesh.positions.size());
    for (const Vec3f& p : more.positions) mesh.positions.push_back(p + at);
    for (size_t t = skip; t < more.triangles.size(); ++t)
      mesh.triangles.push_back(more.triangles[t] + Vec3i::Constant(base));
    return base;
  };
  add(ball(300), {5, 0, 0}, 1);
  const int32_t third = add(ball(300), {0, 5, 0}, 0);
  const Vec3i edge = mesh.triangles.back();
  mesh.positions.emplace_back(0, 9, 0);
  mesh.triangles.emplace_back(edge[0], edge[1], static_cast<int32_t>(mesh.positions.size() - 1));
  mesh.positions.emplace_back(20, 20, 20);
  ASSERT_GT(third, 0);
  const SurfaceModel model = model_of(mesh);
  int closed = 0;
  for (const VolumeShell& shell : model.volume.shells) closed += shell.closed ? 1 : 0;
  EXPECT_EQ(model.volume.shells.size(), 4u);
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(model.objects[0].open_shells, 2);
  EXPECT_EQ(model.objects[0].loose_vertices, 1);
  ASSERT_EQ(model.remarks().size(), 2u);
  EXPECT_EQ(model.remarks()[0], "surface 0: 2 of 3 shells are not closed and cannot keep a volume");
  EXPECT_EQ(model.remarks()[1], "surface 0: 1 vertices belong to no triangle");

  SurfaceState state(model);
  disturb(std::span(state.positions).first(model.size()), 0.05f, 6);
  SurfaceSolver solver(model);
  for (int step = 0; step < 50; ++step)
    EXPECT_LT(solver.step(state, 0.005, {0, -9.81, 0}).error, 1e-4);
  for (size_t i = 0; i < model.size(); ++i) ASSERT_TRUE(state.positions[i].allFinite());
}

TEST(VolumeConstraint, ClosedButEmptyOrInsideOutShells) {
  // A triangle with its back: closed, without a volume.
  const std::vector<Vec3f> positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<Vec3i> triangles{{0, 1, 2}, {2, 1, 0}};
  EXPECT_FALSE(model_of({positions, triangles}).volume.shells[0].closed);
  // Facing inwards, the volume is negative and kept as such.
  TriangleMesh mesh = ball(300);
  for (Vec3i& t : mesh.triangles) std::swap(t[0], t[1]);
  Case c(mesh);
  EXPECT_TRUE(c.surface.shells[0].closed);
  EXPECT_LT(c.surface.shells[0].rest_volume, 0);
  for (Vec3f& p : c.positions) p *= 1.05f;
  VolumeConstraint constraint(c.surface);
  EXPECT_LT(constraint.correct_positions(c.positions, c.weights, {}).error, 1e-4);
}

// Twice the kinetic energy per mass.
double energy(const SurfaceModel& model, const SurfaceState& state) {
  double sum = 0;
  for (size_t i = 0; i < model.size(); ++i)
    sum += static_cast<double>(state.velocities[i].squaredNorm());
  return sum / static_cast<double>(model.size());
}

// A squeezed body comes to rest; where position corrections are velocities as well and these are
// not made free of divergence, it does not [Diziol 2011, section 3].
TEST(VolumeConstraint, DoesNotOscillate) {
  const auto energy_after = [](bool correct_velocities, double seconds) {
    const SurfaceModel model =
        model_of(ball(800), {.region_width = 2, .stiffness = 0.5, .damping = 0.1});
    SurfaceState state(model);
    for (size_t i = 0; i < model.size(); ++i) state.positions[i] *= 0.97f;
    SurfaceSolver solver(model);
    constexpr double dt = 0.005;
    for (double t = 0; t < seconds; t += dt) {
      solver.predict(state, dt, Vec3d::Zero());
      solver.match(state, dt);
      const std::vector<Vec3f> before = state.positions;
      solver.keep_volume(state, {});
      if (correct_velocities)
        solver.keep_volume_velocity(state);
      else
        for (size_t i = 0; i < model.size(); ++i)
          state.velocities[i] += (state.positions[i] - before[i]) / static_cast<float>(dt);
    }
    return energy(model, state);
  };
  const double early = energy_after(true, 0.25), middle = energy_after(true, 1),
               late = energy_after(true, 4);
  EXPECT_LT(middle, early / 5);
  EXPECT_LT(late, middle / 5);
  EXPECT_GT(energy_after(false, 1), 5 * early);
  EXPECT_GT(energy_after(false, 4), 100 * late);
}

// A bar whose ends are turned against each other and held loses a third of its volume if it can.
// With local corrections no place may give way ever more, and what moves comes to rest.
TEST(VolumeConstraint, TwirledBarsGetNoBubbles) {
  for (const double spread : {0.0, 0.2, 1.0}) {
    const SurfaceModel model =
        model_of(test::welded(box_surface({1, 4, 1}, 0.2)), {.region_width = 3, .spread = spread});
    SurfaceState state(model);
    std::vector<Vec3f> targets(model.rest);
    std::vector<float> held;
    for (const Vec3f& p : model.rest) held.push_back(std::abs(p[1]) > 1.7f ? 1.0f : 0.0f);
    SurfaceSolver solver(model);
    std::vector<Vec3f> before;
    for (int step = 0; step < 1000; ++step) {
      const Eigen::AngleAxisf turn(3.1f * std::min(1.0f, static_cast<float>(step) / 500),
                                   Vec3f::UnitY());
      for (size_t i = 0; i < model.size(); ++i)
        if (model.rest[i][1] > 1.7f) targets[i] = turn * model.rest[i];
      solver.set_pulls({targets, held});
      ASSERT_LT(solver.step(state, 0.005, Vec3d::Zero()).error, 1.01e-4) << step;
      if (step == 980) before = state.positions;
    }
    for (size_t i = 0; i < model.size(); ++i)
      ASSERT_LT((state.positions[i] - before[i]).norm(), 0.02f) << spread << ": " << i;
    for (const Vec3i& t : model.triangles)
      for (int k = 0; k < 3; ++k) {
        const auto a = static_cast<size_t>(t[k]), b = static_cast<size_t>(t[(k + 1) % 3]);
        ASSERT_LT((state.positions[a] - state.positions[b]).norm(),
                  2 * (model.rest[a] - model.rest[b]).norm())
            << spread;
      }
  }
}

}  // namespace
}  // namespace supple
