// Rigged characters written as glTF and read back.
#include "supple/io/character_writer.h"

#include "supple/io/gltf_reader.h"
#include "support/gltf_reference.h"
#include "support/gltf_samples.h"
#include "support/posed.h"
#include "support/test_support.h"

namespace supple {
namespace {

TEST(CharacterWriter, RoundTripsRigAndClips) {
  for (const test::GltfSample& sample :
       {test::rigged_tube(), test::eight_influences(), test::rest_differs_from_bind(),
        test::split_seams(), test::many_parts()}) {
    SCOPED_TRACE(sample.name);
    const Character before =
        character_from_gltf(parse_gltf_document(sample.bytes, "before.glb", ""));
    const Bytes written = serialise_glb(gltf_from_character(before), "after.glb");
    const Character after = character_from_gltf(parse_gltf_document(written, "after.glb", ""));
    const test::GltfReference reference(written);
    ASSERT_EQ(after.skin.positions.size(), before.skin.positions.size());
    EXPECT_EQ(after.skin.triangles.size(), before.skin.triangles.size());
    ASSERT_EQ(after.clips.size(), before.clips.size());
    const double size = static_cast<double>(bounding_box(before.skin.positions).diagonal().norm());
    for (size_t c = 0; c < before.clips.size(); ++c)
      for (int i = 0; i <= 7; ++i) {
        const double time =
            before.clips[c].start() + (before.clips[c].end() - before.clips[c].start()) * i / 7;
        const std::vector<Vec3f> expected = test::posed(before, &before.clips[c], time);
        const std::vector<Vec3f> found = test::posed(after, &after.clips[c], time);
        const std::vector<test::Part> independent = reference.evaluate(static_cast<int>(c), time);
        size_t v = 0;
        for (const test::Part& part : independent)
          for (const Eigen::Vector3d& p : part.positions) {
            EXPECT_LT((p - expected[v].cast<double>()).norm(), 1e-5 * size) << "vertex " << v;
            EXPECT_LT((found[v] - expected[v]).norm(), 1e-5 * size) << "vertex " << v;
            ++v;
          }
        ASSERT_EQ(v, expected.size());
      }
  }
}

TEST(CharacterWriter, KeepsShapesAndTheirWeights) {
  Character character =
      character_from_gltf(parse_gltf_document(test::split_seams().bytes, "cube.glb", ""));
  character.shapes = {{"bulge", {0, 5}, {Vec3f(1, 0, 0), Vec3f(0, 2, 0)}, 0.25},
                      {"dent", {3}, {Vec3f(0, 0, -1)}, 0}};
  Channel weights;
  weights.target = ChannelTarget::shape_weights;
  weights.width = 2;
  weights.times = {0, 1};
  weights.values = {0.25, 0, 1, 0.5};
  character.clips = {Clip{"swell", {weights}, 0}};
  const Bytes written = serialise_glb(gltf_from_character(character), "cube.glb");
  const Character after = character_from_gltf(parse_gltf_document(written, "cube.glb", ""));
  ASSERT_EQ(after.shapes.size(), 2u);
  EXPECT_EQ(after.shapes[0].name, "bulge");
  EXPECT_EQ(after.shapes[0].rest_weight, 0.25);
  const std::vector<Vec3f> a = test::posed(character, &character.clips[0], 0.5),
                           b = test::posed(after, &after.clips[0], 0.5);
  for (size_t v = 0; v < a.size(); ++v) EXPECT_LT((a[v] - b[v]).norm(), 1e-6f);
}

}  // namespace
}  // namespace supple
