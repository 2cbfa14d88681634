// Split skins of voxel bodies: how well they follow the cells, and that the body is the same.
#include "supple/sim/voxel_split.h"

#include <gtest/gtest.h>

#include "mesh/shapes.h"
#include "sim/solids.h"
#include "supple/contact/closest_point.h"
#include "supple/core/error.h"
#include "supple/sim/voxel_body.h"

namespace supple {
namespace {

// A box of twelve triangles, 4 by 0.9 by 0.9: four cells in a row.
Character plain_box() {
  Character character;
  character.name = "box";
  character.skin = test::make_box({4, 0.9f, 0.9f});
  Part part;
  part.vertices = {0, 8};
  part.triangles = {0, 12};
  character.parts = {part};
  bind_rigidly(character);
  return character;
}

// Four cells, bent by a quarter turn of the right end about the left one's z axis.
BodySettings bent() {
  BodySettings settings;
  settings.type = "voxels";
  settings.cells = 4;
  settings.young = 1e5;
  settings.poisson = 0.3;
  settings.gravity.acceleration = {0, 0, 0};
  settings.dynamic = false;
  settings.fixed = {{test::side({0.5, 0, 0}, {-1, 0, 0}), {}},
                    {test::side({3.5, 0, 0}, {1, 0, 0}), {}}};
  ScriptSettings turn;
  turn.rotate = {{0, 0, 1}, 90, {2, 2, 0}};
  turn.keys = {{1, 0}, {6, 1}};
  turn.unit = TimeUnit::frames;
  settings.fixed[1].motion = {turn};
  return settings;
}

struct Bent {
  std::unique_ptr<VoxelBody> body;
  std::vector<Vec3f> skin;
};

Bent bend(const Character& character) {
  Bent result;
  result.body = std::make_unique<VoxelBody>(character, bent(), test::frames(6), "s.json");
  for (int frame = 1; frame <= 6; ++frame) {
    Drive drive;
    drive.frame = frame;
    drive.time = (frame - 1) / 24.0;
    result.body->step(drive, 1.0 / 24);
  }
  BodyFrame shown;
  result.body->skin(shown);
  result.skin = shown.positions;
  return result;
}

double distance_to(const Vec3d& p, const std::vector<Vec3i>& triangles,
                   const std::vector<Vec3f>& positions) {
  double least = INFINITY;
  for (const Vec3i& t : triangles) {
    TriangleCorners corners;
    for (size_t k = 0; k < 3; ++k)
      corners[k] = positions[static_cast<size_t>(t[static_cast<Eigen::Index>(k)])].cast<double>();
    least = std::min(least, (at_weights(corners, closest_weights(corners, p)) - p).norm());
  }
  return least;
}

// Largest distance from the skin of where the cells carry points all over the box.
double distance_from_cells(const Character& character, const Bent& bent) {
  constexpr int n = 48;
  double largest = 0;
  const VoxelModel& model = bent.body->model();
  const Character box = plain_box();
  for (const Vec3i& t : box.skin.triangles)
    for (int i = 0; i <= n; ++i)
      for (int j = 0; i + j <= n; ++j) {
        const Vec3d share = Vec3d(i, j, n - i - j) / n;
        Vec3d rest = Vec3d::Zero(), carried = Vec3d::Zero();
        for (int k = 0; k < 3; ++k)
          rest += share[k] * box.skin.positions[static_cast<size_t>(t[k])].cast<double>();
        const LatticeTie tie = model.tie(rest);
        for (size_t c = 0; c < 8; ++c)
          carried += static_cast<double>(tie.weights[c]) *
                     bent.body->node_positions()[static_cast<size_t>(tie.nodes[c])];
        largest = std::max(largest, distance_to(carried, character.skin.triangles, bent.skin));
      }
  return largest;
}

TEST(VoxelSplit, ABoxOfTwelveTrianglesFollowsItsCells) {
  const Character plain = plain_box();
  Character split = plain;
  split_for_voxels(split, bent(), "s.json");
  const double without = distance_from_cells(plain, bend(plain));
  const double with = distance_from_cells(split, bend(split));
  EXPECT_GT(without, 0.4);
  EXPECT_LT(with, 0.02);
}

TEST(VoxelSplit, CellsAreThoseOfTheUnsplitSkin) {
  const Character plain = plain_box();
  Character split = plain;
  split_for_voxels(split, bent(), "s.json");
  const Bent a = bend(plain), b = bend(split);
  const auto &from = a.body->node_positions(), &to = b.body->node_positions();
  ASSERT_EQ(from.size(), to.size());
  EXPECT_EQ(a.body->model().solid.origin, b.body->model().solid.origin);
  EXPECT_EQ(a.body->model().solid.spacing, b.body->model().solid.spacing);
  EXPECT_EQ(a.body->model().leaves, b.body->model().leaves);
  for (size_t n = 0; n < from.size(); ++n) EXPECT_LT((from[n] - to[n]).norm(), 1e-5);
  // Vertices of the input are where they would be.
  for (size_t v = 0; v < plain.skin.positions.size(); ++v)
    EXPECT_LT((a.skin[v] - b.skin[v]).norm(), 1e-5f);
}

TEST(VoxelSplit, EveryTriangleLiesInOneCell) {
  Character split = plain_box();
  split_for_voxels(split, bent(), "s.json");
  const Bent result = bend(split);
  const SolidLattice& solid = result.body->model().solid;
  for (const Vec3i& t : split.skin.triangles) {
    Box3d box;
    for (int k = 0; k < 3; ++k)
      box.extend(
          Vec3d((split.skin.positions[static_cast<size_t>(t[k])].cast<double>() - solid.origin) /
                solid.spacing));
    const Eigen::Array3d cell = (box.min().array() + 0.011).floor();
    EXPECT_TRUE((box.max().array() <= cell + 1.011).all());
  }
}

TEST(VoxelSplit, SaysWhatIsWrong) {
  Character empty;
  try {
    split_for_voxels(empty, bent(), "s.json");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("body.voxels.split"), std::string::npos);
  }
}

}  // namespace
}  // namespace supple
