// Scenes of toys: volumes are kept where they are meant to be, and heaps come to no harm.
#include "actors/toy_scenes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "supple/sim/session.h"
#include "supple/sim/surface_body.h"

namespace supple::test {
namespace {

// Volumes of objects over those at rest, after the last step.
std::vector<double> volumes(const SurfaceBody& body) {
  std::vector<double> result;
  for (const PackedObject& object : body.model().objects) {
    const std::span<const Vec3i> triangles(body.model().triangles.data() + object.first_triangle,
                                           object.last_triangle - object.first_triangle);
    result.push_back(signed_volume(body.state().positions, triangles) /
                     body.model().volume.shells[object.first_shell].rest_volume);
  }
  return result;
}

// Runs the first frames of a scene; gives the smallest and the largest volume of every object.
std::vector<std::pair<double, double>> extremes(const std::string& name, int frames) {
  actors::StagedToys staged = actors::stage_toys(name);
  staged.scene.frames.last = frames;
  Session session(staged.character, staged.scene, nullptr, name);
  const auto& body = dynamic_cast<const SurfaceBody&>(session.body());
  std::vector<std::pair<double, double>> result(body.model().objects.size(), {1, 1});
  FrameRecord record;
  session.advance(record);
  while (!session.done()) {
    session.advance(record);
    const std::vector<double> now = volumes(body);
    for (size_t o = 0; o < now.size(); ++o)
      result[o] = {std::min(result[o].first, now[o]), std::max(result[o].second, now[o])};
  }
  for (const Vec3f& p : record.body.positions) EXPECT_TRUE(p.allFinite());
  return result;
}

TEST(ToyScenes, CanAllBeStaged) {
  for (const actors::ToyScene& scene : actors::toy_scenes()) {
    if (scene.name == "duck" || scene.name == "creatures" || scene.name == "recover") continue;
    const actors::StagedToys staged = actors::stage_toys(scene.name);
    EXPECT_EQ(staged.scene.name, scene.name);
    EXPECT_FALSE(staged.scene.placed.empty()) << scene.name;
  }
  EXPECT_EQ(actors::stage_toys("ducks").scene.placed.size(), 40u);
}

// [Diziol 2011, figure 7]: 0.6 to 0.7 % with, 40 % without.
TEST(ToyScenes, PressedBallsKeepTheirVolume) {
  const auto found = extremes("press", 50);
  for (size_t o = 0; o < 3; ++o) EXPECT_GT(found[o].first, 0.997) << o;
  EXPECT_LT(found[3].first, 0.75);
}

// [Diziol 2011, figure 6]
TEST(ToyScenes, ATwirledBarKeepsItsVolume) {
  const auto found = extremes("twirl", 80);
  EXPECT_GT(found[0].first, 0.999);
  EXPECT_LT(found[1].first, 0.9);
}

// [Diziol 2011, table 1]: at most half of 0.2 %.
TEST(ToyScenes, BallsInAGlassKeepTheirVolume) {
  for (const auto& [least, most] : extremes("balls", 40)) {
    EXPECT_GT(least, 0.999);
    EXPECT_LT(most, 1.001);
  }
}

}  // namespace
}  // namespace supple::test
