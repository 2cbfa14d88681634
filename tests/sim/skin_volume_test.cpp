// Bodies of all kinds whose skin keeps its volume when the scene asks for it.
#include "supple/sim/skin_volume.h"

#include <gtest/gtest.h>

#include "sim/solids.h"

namespace supple {
namespace {

using test::box;
using test::side;

// The largest change of volume of a bar that is pulled to one and a half times its length in half
// a second, as a part of the volume.
double change_when_pulled(const std::string& type, bool keep) {
  const auto bar = std::make_shared<Character>(box({1, 0.3, 0.3}, 0.1));
  Scene scene;
  scene.body.type = type;
  scene.body.young = 5e4;
  scene.body.poisson = 0.2;
  scene.body.volume = keep;
  scene.body.dynamic = true;
  scene.body.gravity.acceleration = {0, 0, 0};
  scene.body.tets.elements = 300;
  if (type != "tets") scene.body.cells = 10;
  ScriptSettings away;
  away.translate = {0.5, 0, 0};
  away.keys = {{0, 0}, {0.5, 1}};
  scene.body.fixed = {{side({0.42, 0, 0}, {1, 0, 0}), {away}},
                      {side({-0.42, 0, 0}, {-1, 0, 0}), {}}};
  scene.frames.last = 18;
  scene.frames.rate = 24;
  Session session(bar, scene, nullptr, "test");
  const double rest = signed_volume(bar->skin.positions, bar->skin.triangles);
  double worst = 0;
  FrameRecord record;
  while (!session.done()) {
    session.advance(record);
    const double volume = signed_volume(record.body.positions, bar->skin.triangles);
    worst = std::max(worst, std::abs(volume / rest - 1));
  }
  return worst;
}

TEST(SkinVolume, IsKeptByLattices) {
  EXPECT_GT(change_when_pulled("lattice", false), 0.1);
  EXPECT_LT(change_when_pulled("lattice", true), 2e-4);
}

TEST(SkinVolume, IsKeptByVoxels) {
  EXPECT_GT(change_when_pulled("voxels", false), 0.1);
  EXPECT_LT(change_when_pulled("voxels", true), 2e-4);
}

TEST(SkinVolume, IsKeptByTetrahedra) {
  EXPECT_GT(change_when_pulled("tets", false), 0.1);
  EXPECT_LT(change_when_pulled("tets", true), 2e-4);
}

TEST(SkinVolume, OpenSkinsAreLeftAlone) {
  const std::vector<Vec3f> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<Vec3i> triangles{{0, 1, 2}};
  NodeShares shares;
  for (int v = 0; v < 3; ++v) shares.add(std::array{v}, std::array{1.0});
  EmbeddedVolume volume(points, triangles, shares, 3);
  EXPECT_TRUE(volume.empty());
  std::vector<Vec3d> nodes(3, Vec3d::Ones());
  EXPECT_EQ(volume.correct_positions(nodes, {}, {}).error, 0);
  EXPECT_EQ(nodes[2], Vec3d::Ones());
}

}  // namespace
}  // namespace supple
