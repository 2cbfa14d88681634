// What the scenes of bodies of tetrahedra without motors promise.
#include <gtest/gtest.h>

#include "actors/cast.h"
#include "actors/props.h"
#include "supple/core/bytes.h"
#include "supple/io/character_writer.h"
#include "supple/io/load.h"
#include "supple/io/scene_file.h"
#include "supple/sim/session.h"
#include "supple/sim/tet_body.h"
#include "support/test_support.h"

namespace supple {
namespace {

Scene scene_of(const std::string& body, double seconds) {
  const std::string text = fmt::format(R"({{"character": "x.glb", "body": {}}})", body);
  Scene scene = parse_scene(as_bytes(text), "scene");
  scene.frames.rate = 24;
  scene.frames.last = static_cast<int>(24 * seconds);
  return scene;
}

// [Kim 2011, fig. 1 and table IV]: a character of about 8,600 elements and 34,000 vertices dances,
// and its flesh follows without crumpling.
TEST(TetScenes, PomeloJigglesAsItDances) {
  const actors::CastMember& pomelo = actors::cast().front();
  for (const actors::ActorScene& acted : pomelo.scenes) {
    if (acted.name != "jiggle") continue;
    const auto character = std::make_shared<Character>(pomelo.make(pomelo.vertices));
    Scene scene = scene_of(acted.body, 2);
    Session session(character, scene, character->clip(acted.clip), "scene");
    scene.body.type = "skinning";
    Session plain(character, scene, character->clip(acted.clip), "scene");
    FrameRecord flesh, rig;
    double least = 1e9, most = 0, whole = 0, farthest = 0;
    while (!session.done()) {
      EXPECT_TRUE(session.advance(flesh).warnings.empty());
      plain.advance(rig);
      const double volume = signed_volume(flesh.body.positions, character->skin.triangles);
      if (whole == 0) whole = volume;
      least = std::min(least, volume);
      most = std::max(most, volume);
      for (size_t v = 0; v < flesh.body.positions.size(); ++v)
        farthest =
            std::max(farthest,
                     static_cast<double>((flesh.body.positions[v] - rig.body.positions[v]).norm()));
    }
    const TetCharacter& body = dynamic_cast<const TetBody&>(session.body()).simulated();
    EXPECT_NEAR(static_cast<double>(body.flesh.element_count()), 8600, 860);
    EXPECT_GT(least, 0.93 * whole);
    EXPECT_LT(most, 1.05 * whole);
    // Ears swing by some of their length, and stay on.
    EXPECT_GT(farthest, 0.05);
    EXPECT_LT(farthest, 0.35);
    return;
  }
  ADD_FAILURE() << "there is no such scene";
}

// [Kim 2011, fig. 8]: the less matter in the same outline, the lower the load comes to rest.
TEST(TetScenes, LoadsSinkByHowMuchMatterIsUnderThem) {
  for (const actors::Prop& prop : actors::props()) {
    if (prop.name != "blocks") continue;
    // As users have it: from a file.
    const test::TemporaryFolder folder;
    write_character(folder.path() / "blocks.glb", prop.make(prop.vertices));
    const auto character =
        std::make_shared<Character>(read_character(folder.path() / "blocks.glb"));
    Session session(character, scene_of(prop.scenes.front().body, 4), nullptr, "scene");
    FrameRecord record;
    while (!session.done()) EXPECT_TRUE(session.advance(record).warnings.empty());
    const TetCharacter& body = dynamic_cast<const TetBody&>(session.body()).simulated();
    ASSERT_EQ(body.free_bodies.size(), 3u);
    std::vector<double> heights;
    for (const FreeBody& load : body.free_bodies) {
      heights.push_back(load.body.position[1]);
      EXPECT_LT(load.body.velocity.norm(), 0.05);
    }
    EXPECT_LT(heights[0], 0.135);
    EXPECT_GT(heights[0], heights[1] + 0.002);
    EXPECT_GT(heights[1], heights[2] + 0.002);
    EXPECT_GT(heights[2], 0.06);
    return;
  }
  ADD_FAILURE() << "there is no such prop";
}

}  // namespace
}  // namespace supple
