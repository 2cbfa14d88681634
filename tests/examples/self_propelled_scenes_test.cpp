// The self-propelled animals do what their scenes promise, by their joints alone: no pull from
// outside but weight and the ground's contact.
#include <gtest/gtest.h>

#include <numbers>

#include "actors/glass_cage.h"
#include "actors/self_propelled.h"
#include "supple/core/bytes.h"
#include "supple/io/character_writer.h"
#include "supple/io/load.h"
#include "supple/io/scene_file.h"
#include "supple/sim/session.h"
#include "supple/sim/tet_body.h"
#include "support/test_support.h"

namespace supple {
namespace {

struct Performance {
  std::vector<std::vector<Vec3f>> frames;
  int warnings = 0;
  std::vector<Affine> cage;               // the first free body's placement
  std::vector<std::vector<Vec3d>> bones;  // origins
  int reaching = -1;                      // bone of the arm that is led
};

Performance perform(const std::string& name, const std::string& more_control = "") {
  for (const actors::CastMember& member : actors::self_propelled())
    for (const actors::ActorScene& acted : member.scenes) {
      if (acted.name != name) continue;
      std::string text = fmt::format(R"({{"character": "x.glb", "body": {}}})", acted.body);
      const std::string direct = R"("type": "direct")";
      if (!more_control.empty())
        text.replace(text.find(direct), direct.size(), direct + ", " + more_control);
      Scene scene = parse_scene(as_bytes(text), "scene");
      scene.frames.rate = acted.rate;
      scene.frames.last = static_cast<int>(acted.rate * acted.seconds);
      // As users have it: from a file.
      const test::TemporaryFolder folder;
      write_character(folder.path() / "animal.glb", member.make(member.vertices));
      const auto character =
          std::make_shared<Character>(read_character(folder.path() / "animal.glb"));
      Session session(character, scene, character->clip(acted.clip), "scene");
      Performance performance;
      FrameRecord record;
      while (!session.done()) {
        performance.warnings += static_cast<int>(session.advance(record).warnings.size());
        performance.frames.push_back(record.body.positions);
        const TetCharacter& body = dynamic_cast<const TetBody&>(session.body()).simulated();
        performance.reaching = body.skeleton().find("arm1_tip");
        std::vector<Vec3d>& origins = performance.bones.emplace_back();
        for (const BoneMotion& bone : bone_motions(body.skeleton(), body.joints))
          origins.push_back(bone.position);
        if (!body.free_bodies.empty())
          performance.cage.push_back(body.free_bodies[0].body.placed());
      }
      return performance;
    }
  ADD_FAILURE() << "there is no scene " << name;
  return {};
}

Vec3d centre(const std::vector<Vec3f>& skin) {
  Vec3d sum = Vec3d::Zero();
  for (const Vec3f& p : skin) sum += p.cast<double>();
  return sum / static_cast<double>(skin.size());
}

double lowest(const std::vector<Vec3f>& skin) {
  double low = 1e9;
  for (const Vec3f& p : skin) low = std::min(low, static_cast<double>(p[1]));
  return low;
}

// How far a skin has turned about y from one frame to the next, in degrees.
double turn(const std::vector<Vec3f>& a, const std::vector<Vec3f>& b) {
  const Vec3d from = centre(a), to = centre(b);
  double along = 0, across = 0;
  for (size_t v = 0; v < a.size(); ++v) {
    const Vec3d p = a[v].cast<double>() - from, q = b[v].cast<double>() - to;
    along += p[0] * q[0] + p[2] * q[2];
    across += p[2] * q[0] - p[0] * q[2];
  }
  return std::atan2(across, along) * 180 / std::numbers::pi;
}

// Nobody sinks into the ground, or blows up.
void expect_sound(const Performance& performance, double size) {
  EXPECT_EQ(performance.warnings, 0);
  for (const std::vector<Vec3f>& skin : performance.frames) {
    EXPECT_GT(lowest(skin), -0.05 * size);
    Box3d box;
    for (const Vec3f& p : skin) box.extend(p.cast<double>());
    EXPECT_LT(box.diagonal().norm(), 1.6 * size);
  }
}

TEST(SelfPropelledScenes, WormRollsByMoreThanItsLength) {
  const Performance worm = perform("worm");
  expect_sound(worm, 0.4);
  const double way = (centre(worm.frames.back()) - centre(worm.frames.front()))[0];
  RecordProperty("metres", std::to_string(way));
  EXPECT_GT(way, 0.4);
}

TEST(SelfPropelledScenes, FishLeapsByHalfItsLength) {
  const Performance fish = perform("fish");
  expect_sound(fish, 0.4);
  double rest = 1, most = 0, air = 0;
  for (size_t f = 6; f < fish.frames.size(); ++f) {
    const double y = centre(fish.frames[f])[1];
    if (f < 18) rest = std::min(rest, y);
    most = std::max(most, y);
    if (f > 12) air = std::max(air, lowest(fish.frames[f]));
  }
  RecordProperty("rise", std::to_string(most - rest));
  EXPECT_GT(most - rest, 0.2);
  EXPECT_GT(air, 0.05);
}

TEST(SelfPropelledScenes, StarfishJumpsAndTurns) {
  const Performance star = perform("starfish");
  expect_sound(star, 0.335);
  double turned = 0, air = 0;
  for (size_t f = 1; f < star.frames.size(); ++f) {
    turned += turn(star.frames[f - 1], star.frames[f]);
    if (f > 3) air = std::max(air, lowest(star.frames[f]));
  }
  RecordProperty("degrees", std::to_string(turned));
  EXPECT_GT(std::abs(turned), 60);
  EXPECT_GT(air, 0.01);
}

// [Kim 2011, section 7]: led by the end of an arm, it follows, and stays where it lies.
TEST(SelfPropelledScenes, StarfishReachesWhereItsArmIsLed) {
  for (const char* how : {"", R"("torque": true)"}) {
    const Performance star = perform("reach", how);
    expect_sound(star, 0.335);
    const auto arm = static_cast<size_t>(star.reaching);
    const auto off = [&](size_t frame, const Vec3d& goal) {
      return (star.bones[frame][arm] - star.bones[5][arm] - goal).norm();
    };
    // Up at 0.75 s, aside at 1.5 s, each with some time to close in; keys take it back until 2.6 s.
    EXPECT_LT(off(23, {-0.035, 0.06, 0}), 0.005) << how;
    EXPECT_LT(off(47, {-0.04, 0.06, 0.03}), 0.005) << how;
    EXPECT_LT(off(71, {0, 0, 0}), 0.005) << how;
    for (const std::vector<Vec3d>& bones : star.bones)
      EXPECT_LT((bones[0] - star.bones[5][0]).norm(), 0.02) << how;
  }
}

// [Kim 2011, fig. 2]: the cage is only ever moved by the starfish.
TEST(SelfPropelledScenes, StarfishGetsAnArmOutOfTheCage) {
  const Performance star = perform("escape");
  EXPECT_EQ(star.warnings, 0);
  const actors::GlassCage cage = actors::glass_cage();
  const double outside = cage.width / 2 + cage.thickness;
  double lifted = 0, out = -1;
  for (size_t f = 0; f < star.frames.size(); ++f) {
    lifted = std::max(lifted, star.cage[f].translation()[1]);
    out = -1;
    const Affine to_cage = star.cage[f].inverse();
    for (const Vec3f& p : star.frames[f]) {
      const Vec3d q = to_cage * p.cast<double>();
      out = std::max(out, std::max(std::abs(q[0]), std::abs(q[2])) - outside);
    }
  }
  RecordProperty("lifted", std::to_string(lifted));
  RecordProperty("out", std::to_string(out));
  EXPECT_GT(lifted, 0.015);
  EXPECT_GT(out, 0.01);  // in the end
  // The rim lies on the arm: it does not go through it.
  EXPECT_GT(star.cage.back().translation()[1], 0.005);
}

}  // namespace
}  // namespace supple
