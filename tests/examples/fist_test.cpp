// The forearm's hand in motion: a thumb that closes beside the fingers, not through them.
#include <gtest/gtest.h>

#include <string>

#include "actors/forearm.h"
#include "examples/exact_intersections.h"
#include "supple/rig/skinning.h"

namespace supple::test {
namespace {

enum class Part { other, thumb, finger };

// The part of the hand whose joint has the largest weight at a vertex.
std::vector<Part> parts_of(const Character& hand) {
  std::vector<Part> parts;
  for (size_t v = 0; v < hand.skin.positions.size(); ++v) {
    Influence strongest{0, 0};
    for (const Influence& i : hand.weights.of(v))
      if (i.weight > strongest.weight) strongest = i;
    const int joint = hand.binds[static_cast<size_t>(strongest.bind)].joint;
    const std::string& name = hand.skeleton.joints[static_cast<size_t>(joint)].name;
    parts.push_back(name.starts_with("thumb") ? Part::thumb : Part::other);
    for (const char* finger : {"index", "middle", "ring", "little"})
      if (name.starts_with(finger)) parts.back() = Part::finger;
  }
  return parts;
}

TEST(Fist, TheThumbPassesThroughNoFinger) {
  const Character hand = modelling::build(actors::forearm(), 9000);
  const std::vector<Part> parts = parts_of(hand);
  ASSERT_EQ(hand.clips.size(), 1u);
  TriangleMesh mesh;
  std::vector<Part> part_of_triangle;
  for (const Vec3i& t : hand.skin.triangles) {
    if (parts[static_cast<size_t>(t[0])] == Part::other) continue;
    mesh.triangles.push_back(t);
    part_of_triangle.push_back(parts[static_cast<size_t>(t[0])]);
  }
  mesh.positions = hand.skin.positions;
  const Skinner skinner(hand.weights, hand.binds);
  for (double time = 0; time < hand.clips[0].end(); time += 1 / 24.0) {
    Pose pose = rest_pose(hand);
    apply_clip(hand.clips[0], time, pose);
    skinner.skin(SkinningMethod::linear, global_matrices(hand.skeleton, pose), hand.skin.positions,
                 mesh.positions);
    int through = 0;
    for (const auto& [a, b] : IntersectionFinder(mesh).find())
      through +=
          part_of_triangle[static_cast<size_t>(a)] != part_of_triangle[static_cast<size_t>(b)];
    EXPECT_EQ(through, 0) << "at " << time << " s";
  }
}

}  // namespace
}  // namespace supple::test
