// Actors in motion: parts that must not pass through each other do not.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "actors/forearm.h"
#include "actors/pomelo.h"
#include "examples/exact_intersections.h"
#include "supple/rig/skinning.h"

namespace supple::test {
namespace {

// Which part of the body a vertex belongs to, by the name of its strongest joint and of its piece;
// -1 for none that matters.
using Sorting = std::function<int(const std::string& joint, const std::string& piece)>;

std::vector<int> sort_vertices(const Character& character, const Sorting& sorting) {
  std::vector<int> groups;
  for (const Part& part : character.parts)
    for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v) {
      Influence strongest{0, 0};
      for (const Influence& i : character.weights.of(static_cast<size_t>(v)))
        if (i.weight > strongest.weight) strongest = i;
      const int joint = character.binds[static_cast<size_t>(strongest.bind)].joint;
      groups.push_back(
          sorting(character.skeleton.joints[static_cast<size_t>(joint)].name, part.name));
    }
  return groups;
}

// Expects that triangles of different groups never meet, at any frame of any clip.
void expect_apart(const Character& character, const Sorting& sorting) {
  const std::vector<int> groups = sort_vertices(character, sorting);
  TriangleMesh mesh{character.skin.positions, {}};
  std::vector<int> group_of_triangle;
  for (const Vec3i& t : character.skin.triangles) {
    const int group = groups[static_cast<size_t>(t[0])];
    if (group < 0) continue;
    mesh.triangles.push_back(t);
    group_of_triangle.push_back(group);
  }
  const Skinner skinner(character.weights, character.binds);
  for (const Clip& clip : character.clips)
    for (double time = 0; time < clip.end(); time += 1 / 24.0) {
      Pose pose = rest_pose(character);
      apply_clip(clip, time, pose);
      skinner.skin(SkinningMethod::linear, global_matrices(character.skeleton, pose),
                   character.skin.positions, mesh.positions);
      int through = 0;
      for (const auto& [a, b] : IntersectionFinder(mesh).find())
        through +=
            group_of_triangle[static_cast<size_t>(a)] != group_of_triangle[static_cast<size_t>(b)];
      EXPECT_EQ(through, 0) << clip.name << " at " << time << " s";
    }
}

TEST(Fist, TheThumbPassesThroughNoFinger) {
  expect_apart(modelling::build(actors::forearm(), 9000),
               [](const std::string& joint, const std::string& /*piece*/) {
                 for (const char* finger : {"index", "middle", "ring", "little"})
                   if (joint.starts_with(finger)) return 0;
                 return joint.starts_with("thumb") ? 1 : -1;
               });
}

TEST(Pomelo, HandsAndEyesPassThroughNothing) {
  expect_apart(modelling::build(actors::pomelo(), 9000),
               [](const std::string& joint, const std::string& piece) {
                 if (piece == "eyes") return 0;
                 for (const char* part : {"wrist", "index", "middle", "little", "thumb"})
                   if (joint.find(part) != std::string::npos)
                     return joint.starts_with("left") ? 1 : 2;
                 for (const char* part : {"shoulder", "elbow", "clavicle"})
                   if (joint.find(part) != std::string::npos) return -1;
                 return 3;
               });
}

}  // namespace
}  // namespace supple::test
