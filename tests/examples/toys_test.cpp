// The toys: closed skins that face outwards, about as many vertices as asked for, on the ground.
#include "actors/toys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "examples/exact_intersections.h"
#include "modelling/surface.h"
#include "supple/mesh/topology.h"

namespace supple::test {
namespace {

class Toys : public ::testing::TestWithParam<const char*> {};

TEST_P(Toys, AreClosedAndStandOnTheGround) {
  const actors::Toy* toy = actors::find_toy(GetParam());
  ASSERT_NE(toy, nullptr);
  const Character character = toy->make(toy->vertices);
  const TriangleMesh& mesh = character.skin;
  const Topology topology = analyse_topology(mesh.positions.size(), mesh.triangles);
  EXPECT_TRUE(topology.closed());
  EXPECT_EQ(topology.shells, 1);
  EXPECT_GT(signed_volume(mesh.positions, mesh.triangles), 0);
  const Box3f box = bounding_box(mesh.positions);
  EXPECT_NEAR(box.min()[1], 0, 0.03);
  EXPECT_NEAR(box.center()[0], 0, 0.01);
  // Every vertex is one of a triangle, and no triangle is a needle.
  std::vector<int> used(mesh.positions.size(), 0);
  double least = 1;
  for (const Vec3i& t : mesh.triangles) {
    Vec3d at[3];
    for (int c = 0; c < 3; ++c) {
      used[static_cast<size_t>(t[c])] = 1;
      at[c] = mesh.positions[static_cast<size_t>(t[c])].cast<double>();
    }
    least = std::min(least, modelling::roundness(at[0], at[1], at[2]));
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0);
  EXPECT_GT(least, 0.01);
  EXPECT_EQ(IntersectionFinder(mesh).find().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Toys,
                         ::testing::Values("duck", "torus", "ball", "bar", "gnarl", "glass",
                                           "plate"));

// The counts of [Diziol 2011, table 1 and figure 7], within 5 %.
TEST(Toys, HaveAboutAsManyVerticesAsAsked) {
  const auto count = [](const char* name, int vertices) {
    return static_cast<double>(actors::find_toy(name)->make(vertices).skin.positions.size());
  };
  EXPECT_NEAR(count("duck", 532) + count("torus", 532), 1064, 53);
  EXPECT_NEAR(count("ball", 382), 382, 19);
  EXPECT_NEAR(count("ball", 1562), 1562, 78);
  EXPECT_NEAR(count("gnarl", 16221), 16221, 811);
  EXPECT_NEAR(count("duck", 5000), 5000, 250);
  EXPECT_NEAR(count("bar", 2402), 2402, 120);
}

}  // namespace
}  // namespace supple::test
