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

// How a heap ends.
struct Rest {
  double speed = 0;   // root of the mean squared way of vertices in the last frame, m/s
  double spread = 0;  // farthest middle of an object from the axis, m
  double top = 0;     // highest vertex, m
  double above = 0;   // how much higher the middle of the highest object is than the lowest one's
  double lost = 0;    // largest error of a volume in any step
};

Rest at_the_end(const std::string& name) {
  const actors::StagedToys staged = actors::stage_toys(name);
  Session session(staged.character, staged.scene, nullptr, name);
  const auto& body = dynamic_cast<const SurfaceBody&>(session.body());
  FrameRecord record;
  session.advance(record);
  Rest rest;
  std::vector<Vec3f> before;
  while (!session.done()) {
    before = body.state().positions;
    rest.lost = std::max(rest.lost, session.advance(record).residual);
  }
  const auto count = static_cast<double>(body.model().size());
  for (size_t i = 0; i < body.model().size(); ++i) {
    const Vec3f& p = body.state().positions[i];
    rest.speed += static_cast<double>((p - before[i]).squaredNorm()) / count;
    rest.top = std::max(rest.top, static_cast<double>(p[1]));
  }
  rest.speed = std::sqrt(rest.speed) * session.range().rate;
  double lowest = 1e9, highest = -1e9;
  for (const PackedObject& object : body.model().objects) {
    Vec3d middle = Vec3d::Zero();
    for (size_t i = object.begin; i < object.end; ++i)
      middle += body.state().positions[i].cast<double>() / (object.end - object.begin);
    rest.spread = std::max(rest.spread, std::hypot(middle[0], middle[2]));
    lowest = std::min(lowest, middle[1]);
    highest = std::max(highest, middle[1]);
  }
  rest.above = highest - lowest;
  return rest;
}

// Under their full weight heaps come to rest, where they fell, with their volumes: at most half of
// what [Diziol 2011, table 1] loses.
TEST(ToyScenes, BallsComeToRestInTheGlass) {
  const Rest rest = at_the_end("balls");
  EXPECT_LT(rest.speed, 0.02);
  EXPECT_LT(rest.spread, 0.3);
  EXPECT_LT(rest.top, 0.8);
  EXPECT_LT(rest.lost, 0.001);
}

TEST(ToyScenes, DucksComeToRestInAHeap) {
  const Rest rest = at_the_end("ducks");
  EXPECT_LT(rest.speed, 0.03);
  EXPECT_LT(rest.spread, 2.5);
  EXPECT_LT(rest.lost, 0.0025);
}

TEST(ToyScenes, CreaturesComeToRestInAHeap) {
  const Rest rest = at_the_end("creatures");
  EXPECT_LT(rest.speed, 0.02);
  EXPECT_LT(rest.spread, 1);
  EXPECT_GT(rest.above, 0.1);
  EXPECT_LT(rest.lost, 0.0005);
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
