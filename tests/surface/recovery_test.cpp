// Bodies that were turned inside out, flattened, collapsed or scrambled find back.
#include <gtest/gtest.h>

#include "supple/math/polar.h"
#include "surface/meshes.h"

namespace supple {
namespace {

using test::ball;
using test::cube;
using test::model_of;
using test::rod;

// Root of the mean squared distance from the rest shape, placed as well as can be, as a part of its
// box.
double distance_from_rest(const SurfaceModel& model, std::span<const Vec3f> positions) {
  const auto count = static_cast<double>(model.size());
  Vec3d centre = Vec3d::Zero(), rest_centre = centre;
  for (size_t i = 0; i < model.size(); ++i) {
    centre += positions[i].cast<double>() / count;
    rest_centre += model.rest[i].cast<double>() / count;
  }
  Mat3d shape = Mat3d::Zero();
  for (size_t i = 0; i < model.size(); ++i)
    shape += (positions[i].cast<double>() - centre) *
             (model.rest[i].cast<double>() - rest_centre).transpose();
  const Mat3d turn = nearest_rotation(shape);
  double sum = 0;
  for (size_t i = 0; i < model.size(); ++i)
    sum +=
        (positions[i].cast<double>() - centre - turn * (model.rest[i].cast<double>() - rest_centre))
            .squaredNorm();
  return std::sqrt(sum / count) / static_cast<double>(bounding_box(model.rest).sizes().maxCoeff());
}

using Spoil = void (*)(Vec3f& p);

double after_five_seconds(const SurfaceModel& model, Spoil spoil) {
  SurfaceState state(model);
  std::srand(5);
  for (size_t i = 0; i < model.size(); ++i) spoil(state.positions[i]);
  SurfaceSolver solver(model);
  for (int step = 0; step < 1000; ++step) {
    solver.step(state, 0.005, Vec3d::Zero());
    if (step % 50 == 0)
      for (size_t i = 0; i < model.size(); ++i) {
        EXPECT_TRUE(state.positions[i].allFinite() && state.velocities[i].allFinite());
        if (!state.positions[i].allFinite()) return 1;
      }
  }
  return distance_from_rest(model, state.positions);
}

TEST(SurfaceRecovery, SpoiltBodiesFindBack) {
  const std::pair<const char*, Spoil> ways[] = {
      {"mirrored", [](Vec3f& p) { p[0] = -p[0]; }},
      {"inverted", [](Vec3f& p) { p = -p; }},
      {"flattened", [](Vec3f& p) { p[1] = 0; }},
      {"drawn out to a line", [](Vec3f& p) { p[1] = p[2] = 0; }},
      {"collapsed", [](Vec3f& p) { p = Vec3f(1, 2, 3); }},
      {"scrambled", [](Vec3f& p) { p = Vec3f::Random(); }},
  };
  for (const TriangleMesh& mesh : {cube(500), ball(500), rod(0.15)})
    for (const int width : {1, 2, 4}) {
      const SurfaceModel model = model_of(mesh, {.region_width = width});
      for (const auto& [name, spoil] : ways)
        EXPECT_LT(after_five_seconds(model, spoil), 0.01)
            << name << ", " << model.size() << " particles, width " << width;
    }
}

// At the size of the examples.
TEST(SurfaceRecovery, LargeBodiesFindBack) {
  const std::pair<const char*, Spoil> ways[] = {
      {"inverted", [](Vec3f& p) { p = -p; }},
      {"flattened", [](Vec3f& p) { p[1] = 0; }},
      {"collapsed", [](Vec3f& p) { p = Vec3f(1, 2, 3); }},
      {"scrambled", [](Vec3f& p) { p = Vec3f::Random(); }},
  };
  const SurfaceModel model = model_of(cube(30000), {.region_width = 3, .support = 0.3});
  EXPECT_GT(model.size(), 29000u);
  for (const auto& [name, spoil] : ways) EXPECT_LT(after_five_seconds(model, spoil), 0.01) << name;
}

// Wide regions alone, without being led back: what is flat or in a heap unfolds.
TEST(SurfaceRecovery, WideRegionsFindBackAlone) {
  const std::pair<const char*, Spoil> ways[] = {
      {"flattened", [](Vec3f& p) { p[1] *= 0.001f; }},
      {"scrambled", [](Vec3f& p) { p = Vec3f::Random(); }},
  };
  for (const TriangleMesh& mesh : {cube(500), ball(500)}) {
    const SurfaceModel model =
        model_of(mesh, {.region_width = 2, .support = 0.5, .recover = false});
    for (const auto& [name, spoil] : ways)
      EXPECT_LT(after_five_seconds(model, spoil), 0.01) << name << ", " << model.size();
  }
}

TEST(SurfaceRecovery, BodiesWithoutAVolumeFindBackToo) {
  const SurfaceModel model = model_of(ball(500), {.region_width = 2, .keep_volume = false});
  EXPECT_LT(after_five_seconds(model, [](Vec3f& p) { p = -p; }), 0.01);
  EXPECT_LT(after_five_seconds(model, [](Vec3f& p) { p = Vec3f::Random(); }), 0.01);
}

TEST(SurfaceRecovery, BentBodiesAreNotLedBack) {
  // A rod wound up the other way round is bent, not spoilt: nothing but its regions may act.
  const SurfaceModel model = model_of(rod(0.15), {.region_width = 1, .stiffness = 0.1});
  SurfaceState state(model);
  for (size_t i = 0; i < model.size(); ++i) {
    const Vec3f p = model.rest[i];
    const float angle = 0.5f * std::atan2(p[1], p[0]), radius = std::hypot(p[0], p[1]);
    state.positions[i] = {radius * std::cos(angle), radius * std::sin(angle), p[2]};
  }
  SurfaceSolver solver(model);
  for (int step = 0; step < 20; ++step) {
    solver.step(state, 0.005, Vec3d::Zero());
    ASSERT_EQ(state.recovering[0], 0) << step;
  }
}

TEST(SurfaceRecovery, NumbersThatAreNotFiniteComeToRest) {
  const SurfaceModel model = model_of(ball(500));
  SurfaceState state(model);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  state.positions[3][1] = nan;
  state.velocities[70] = Vec3f::Constant(infinite);
  state.positions[100] = Vec3f::Constant(3e38f);
  state.velocities[200][0] = nan;
  SurfaceSolver solver(model);
  for (int step = 0; step < 400; ++step) {
    solver.step(state, 0.005, Vec3d::Zero());
    for (size_t i = 0; i < model.size(); ++i)
      ASSERT_TRUE(state.positions[i].allFinite() && state.velocities[i].allFinite())
          << step << ": " << i;
  }
  EXPECT_LT(distance_from_rest(model, state.positions), 0.01);
}

}  // namespace
}  // namespace supple
