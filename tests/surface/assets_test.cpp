// Surfaces of real meshes: few intervals a region, and fast sums that are the naive ones.
#include <gtest/gtest.h>

#include "supple/io/load.h"
#include "support/test_support.h"
#include "surface/meshes.h"

namespace supple {
namespace {

TEST(SurfaceAssets, FastSumsAreTheNaiveOnes) {
  SUPPLE_NEEDS_ASSETS();
  for (const char* name : {"armadillo", "bunny", "fish", "spot"}) {
    const Character character =
        read_character(*test::assets() / "mesh" / (std::string(name) + ".obj"));
    const TriangleMesh mesh = test::welded({character.skin.positions, character.skin.triangles});
    const SurfaceModel model = test::model_of(mesh, {.region_width = 3});
    EXPECT_TRUE(model.remarks().empty()) << name;
    EXPECT_LT(static_cast<double>(model.regions.intervals.size()),
              1.1 * 7 * static_cast<double>(model.size()))
        << name;
    const float size = bounding_box(mesh.positions).sizes().maxCoeff();
    SurfaceState fast(model);
    test::disturb(std::span(fast.positions).first(model.size()), 0.003f * size, 1);
    SurfaceState naive = fast;
    SurfaceSolver a(model), b(model);
    b.use(RegionSums::naive);
    a.keep_goals(true);
    b.keep_goals(true);
    for (int step = 0; step < 3; ++step) {
      EXPECT_LT(a.step(fast, 0.005, {0, -9.81, 0}).error, 1e-4) << name;
      b.step(naive, 0.005, {0, -9.81, 0});
      for (size_t i = 0; i < model.size(); ++i) ASSERT_EQ(a.goals()[i], b.goals()[i]) << name;
    }
  }
}

}  // namespace
}  // namespace supple
