// What models of surfaces are built from, and what their parameters do.
#include "supple/surface/surface_model.h"

#include <gtest/gtest.h>

#include "supple/core/error.h"
#include "surface/meshes.h"

namespace supple {
namespace {

using test::ball;
using test::cube;
using test::disturb;
using test::model_of;
using test::rod;

std::string complaint(const TriangleMesh& mesh, const SurfaceParameters& parameters) {
  try {
    model_of(mesh, parameters);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SurfaceModel, RefusesBadParametersByName) {
  const TriangleMesh mesh = ball(100);
  EXPECT_EQ(complaint(mesh, {.region_width = 0}),
            "surface 0: region_width: 0 is out of range, must be from 1 to 32");
  EXPECT_EQ(complaint(mesh, {.stiffness = 1.5}),
            "surface 0: stiffness: 1.5 is out of range, must be from 0 to 1");
  EXPECT_EQ(complaint(mesh, {.damping = -0.1}),
            "surface 0: damping: -0.1 is out of range, must be from 0 to 1");
  EXPECT_NE(complaint(mesh, {.spread = std::nan("")}), "");
  EXPECT_NE(complaint(mesh, {.inner = 2}), "");
  EXPECT_NE(complaint(mesh, {.volume_tolerance = 0}), "");
  EXPECT_NE(complaint(mesh, {.plastic_limit = -1}), "");
  EXPECT_EQ(complaint(mesh, {}), "");
}

TEST(SurfaceModel, RefusesBadMeshes) {
  TriangleMesh mesh = ball(100);
  mesh.triangles[3][1] = 100000;
  EXPECT_EQ(complaint(mesh, {}), "surface 0: triangles: a corner is not a vertex of the mesh");
  mesh = ball(100);
  mesh.positions[3][1] = std::nanf("");
  EXPECT_EQ(complaint(mesh, {}), "surface 0: positions: a number is not finite");
}

TEST(SurfaceModel, KeepsTheOrderOfVertices) {
  const TriangleMesh mesh = rod(0.15);
  const SurfaceModel model = model_of(mesh);
  std::vector<Vec3f> out(model.size()), back(model.size());
  model.to_vertices(model.rest, out);
  EXPECT_EQ(out, mesh.positions);
  model.to_particles(out, back);
  EXPECT_EQ(back, model.rest);
  ASSERT_EQ(model.triangles.size(), mesh.triangles.size());
  for (size_t t = 0; t < mesh.triangles.size(); ++t)
    for (int k = 0; k < 3; ++k)
      ASSERT_EQ(model.vertex_of_particle[static_cast<size_t>(model.triangles[t][k])],
                mesh.triangles[t][k]);
}

TEST(SurfaceModel, InnerDistancesGoThroughTheBody) {
  const SurfaceModel model = model_of(ball(2000), {.thick_stiffness = 0.01, .thin_stiffness = 0.1});
  for (size_t i = 0; i < model.size(); ++i) {
    // From every point of a ball to the other side.
    ASSERT_GE(model.inner_partners[i], 0);
    const Vec3f other = model.rest[static_cast<size_t>(model.inner_partners[i])];
    EXPECT_LT((other + model.rest[i]).norm(), 0.15f);
    EXPECT_NEAR(model.inner_lengths[i], 2, 0.05);
    EXPECT_TRUE(model.inner_stiffness[i] >= 0.0099f && model.inner_stiffness[i] <= 0.1001f);
  }
  // The thinnest place of a slab is its thickness; that is stiffest.
  const TriangleMesh slab = test::welded(box_surface({2, 0.4, 2}, 0.1));
  const SurfaceModel thin = model_of(slab);
  for (size_t i = 0; i < thin.size(); ++i)
    if (std::abs(thin.rest[i][0]) < 0.8f && std::abs(thin.rest[i][2]) < 0.8f) {
      EXPECT_NEAR(thin.inner_lengths[i], 0.4, 0.02);
      EXPECT_GT(thin.inner_stiffness[i], 0.095f);
    }
}

// Objects do not know of each other: packed together they move as they do alone, to the bit.
TEST(SurfaceModel, PackedObjectsMoveAsAlone) {
  const TriangleMesh meshes[] = {cube(1500), ball(700), rod(0.2)};
  const SurfaceParameters parameters[] = {{.region_width = 3, .damping = 0.5},
                                          {.region_width = 1, .stiffness = 0.5},
                                          {.region_width = 2, .keep_volume = false}};
  std::vector<SurfaceObject> objects;
  for (size_t o = 0; o < 3; ++o)
    objects.push_back({meshes[o].positions, meshes[o].triangles, {}, parameters[o]});
  const auto run = [](const SurfaceModel& model) {
    SurfaceState state(model);
    for (size_t i = 0; i < model.size(); ++i)
      state.velocities[i] = Vec3f(std::sin(5 * model.rest[i][1]), 0, model.rest[i][0]);
    SurfaceSolver solver(model);
    for (int step = 0; step < 20; ++step) solver.step(state, 0.005, {0, -9.81, 0});
    return state.positions;
  };
  const std::vector<Vec3f> together = run(SurfaceModel(objects));
  size_t at = 0;
  for (size_t o = 0; o < 3; ++o) {
    const SurfaceModel alone{std::span(&objects[o], 1)};
    const std::vector<Vec3f> positions = run(alone);
    for (size_t i = 0; i < alone.size(); ++i, ++at) ASSERT_EQ(positions[i], together[at]) << o;
  }
}

TEST(SurfaceModel, PullsHoldAndLead) {
  const SurfaceModel model = model_of(rod(0.15), {.region_width = 2});
  SurfaceState state(model);
  std::vector<Vec3f> targets(model.rest);
  std::vector<float> weights(model.size(), 0.0f);
  for (size_t i = 0; i < model.size(); ++i)
    if (model.rest[i][1] < -0.5f) {
      weights[i] = 1;
      targets[i] += Vec3f(0, 0, 0.2f);
    } else if (model.rest[i][1] < 0) {
      weights[i] = 0.1f;
    }
  SurfaceSolver solver(model);
  solver.set_pulls({targets, weights});
  for (int step = 0; step < 100; ++step) {
    solver.step(state, 0.005, {0, -9.81, 0});
    for (size_t i = 0; i < model.size(); ++i)
      if (weights[i] == 1) {
        ASSERT_LT((state.positions[i] - targets[i]).norm(), 1e-6f) << step << ": " << i;
      }
  }
}

// Squashed for a while beyond what it takes elastically, a ball stays flat; without plasticity not.
TEST(SurfaceModel, PlasticBodiesStaySquashed) {
  const auto height_after = [](double limit) {
    const SurfaceModel model = model_of(ball(600), {.region_width = 3,
                                                    .damping = 0.3,
                                                    .plastic_yield = 0.05,
                                                    .plastic_creep = 20,
                                                    .plastic_limit = limit});
    SurfaceState state(model);
    const float wide = std::sqrt(1 / 0.7f);
    std::vector<Vec3f> targets;
    for (const Vec3f& p : model.rest) targets.emplace_back(p.cwiseProduct(Vec3f(wide, 0.7f, wide)));
    SurfaceSolver solver(model);
    const std::vector<float> held(model.size(), 1.0f);
    solver.set_pulls({targets, held});
    for (int step = 0; step < 100; ++step) solver.step(state, 0.005, Vec3d::Zero());
    solver.set_pulls({});
    for (int step = 0; step < 600; ++step) solver.step(state, 0.005, Vec3d::Zero());
    float height = 0;
    for (size_t i = 0; i < model.size(); ++i) {
      EXPECT_TRUE(state.positions[i].allFinite());
      height = std::max(height, state.positions[i][1]);
    }
    return height;
  };
  EXPECT_NEAR(height_after(0), 1, 0.02);
  EXPECT_LT(height_after(1), 0.85f);
  // The stretch that stays has a limit.
  EXPECT_GT(height_after(0.05), height_after(1) + 0.05f);
}

TEST(SurfaceModel, MassesCount) {
  // Heavy ends of a light rod hardly move when it contracts.
  const TriangleMesh mesh = test::welded(box_surface({2, 0.5, 0.5}, 0.25));
  std::vector<float> masses;
  for (const Vec3f& p : mesh.positions) masses.push_back(p[0] > 0.6f ? 1000.0f : 1.0f);
  const SurfaceObject object{mesh.positions, mesh.triangles, masses, {.region_width = 3}};
  const SurfaceModel model{std::span(&object, 1)};
  SurfaceState state(model);
  for (size_t i = 0; i < model.size(); ++i) state.positions[i][0] *= 1.2f;
  const SurfaceState before = state;
  SurfaceSolver solver(model);
  solver.predict(state, 0.005, Vec3d::Zero());
  solver.match(state, 0.005);
  float heavy = 0, light = 0;
  for (size_t i = 0; i < model.size(); ++i) {
    const float moved = std::abs(state.positions[i][0] - before.positions[i][0]);
    (model.masses[i] > 1 ? heavy : light) = std::max(model.masses[i] > 1 ? heavy : light, moved);
  }
  EXPECT_LT(heavy, light / 2);
}

TEST(SurfaceModel, NothingAtAllIsFine) {
  const SurfaceModel none{std::span<const SurfaceObject>()};
  SurfaceState state(none);
  SurfaceSolver(none).step(state, 0.005, {0, -9.81, 0});
  // A single vertex, and a triangle.
  const std::vector<Vec3f> point{{1, 2, 3}}, three{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<Vec3i> triangle{{0, 1, 2}};
  const SurfaceObject objects[] = {
      {point, {}, {}, {}}, {three, triangle, {}, {}}, {{}, {}, {}, {}}};
  const SurfaceModel few(objects);
  SurfaceState small(few);
  SurfaceSolver solver(few);
  for (int step = 0; step < 10; ++step) solver.step(small, 0.01, {0, -10, 0});
  for (size_t i = 0; i < few.size(); ++i) {
    // Falling freely: g dt² (1 + 2 + ... + 10).
    EXPECT_NEAR(small.positions[i][1] - few.rest[i][1], -0.055, 1e-5) << i;
  }
}

}  // namespace
}  // namespace supple
