// The examples' scenes with flesh, at the moments that matter, beside plain skinning: overlap that
// goes, a ball that dents, skin that does not follow a sliding bone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "actors/cast.h"
#include "supple/io/json_field.h"
#include "supple/io/scene_file.h"
#include "supple/sim/lattice_body.h"
#include "supple/sim/session.h"
#include "support/skin_overlap.h"
#include "support/test_support.h"

namespace supple {
namespace {

// A scene of an actor from `start` seconds on, frame by frame.
class Stage {
 public:
  Stage(const std::string& actor, const std::string& name, double start, int frames,
        int vertices = 9000)
      : m_scene(scene_of(actor, name)), m_character(made(actor, vertices)) {
    m_scene.frames.start = start;
    m_scene.frames.last = frames;
    for (const Clip& clip : m_character->clips)
      if (clip.name == m_scene.character.clip) m_clip = &clip;
    m_session = std::make_unique<Session>(m_character, m_scene, m_clip, "scene");
  }

  // Simulates all frames; the skin's points at the end, with flesh and by skinning alone.
  void play() {
    FrameRecord record;
    while (!m_session->done())
      for (const std::string& warning : m_session->advance(record).warnings)
        // A scene that is entered in the middle comes from the bind pose in a few large parts,
        // which squashes more than playing it from its start does.
        if (warning.find("inside out") == std::string::npos) ADD_FAILURE() << warning;
    std::vector<Vec3f> skinned = m_character->skin.positions;
    Skinner(m_character->weights, m_character->binds)
        .skin(SkinningMethod::linear, record.joints, skinned, skinned);
    joints = record.joints;
    for (const int32_t v : body().model().skin.vertex_of_point) {
      flesh.push_back(record.body.positions[static_cast<size_t>(v)]);
      plain.push_back(skinned[static_cast<size_t>(v)]);
    }
  }

  const LatticeBody& body() const { return dynamic_cast<const LatticeBody&>(m_session->body()); }
  double cell() const { return body().model().solid.spacing; }
  const Character& character() const { return *m_character; }

  // What is deeper than half a cell in another part of the skin.
  std::array<test::SkinOverlap, 2> overlaps() const {
    const test::OverlapMeter meter(body().model().skin.mesh, 2 * cell());
    const std::array<test::SkinOverlap, 2> both = {meter.measure(plain, cell() / 2),
                                                   meter.measure(flesh, cell() / 2)};
    fmt::print("{} of {} vertices deep by skinning, {} with flesh; depths {:.3g} and {:.3g} m\n",
               both[0].deep, meter.vertices(), both[1].deep, both[0].depth, both[1].depth);
    return both;
  }

  std::vector<Vec3f> flesh, plain;
  std::vector<Affine> joints;

 private:
  static const actors::CastMember& member(const std::string& name) {
    for (const actors::CastMember& m : actors::cast())
      if (m.name == name) return m;
    throw std::out_of_range(name);
  }
  static std::shared_ptr<const Character> made(const std::string& actor, int vertices) {
    return std::make_shared<Character>(member(actor).make(vertices));
  }
  static Scene scene_of(const std::string& actor, const std::string& name) {
    for (const actors::ActorScene& scene : member(actor).scenes) {
      if (scene.name != name) continue;
      Json text = {{"character", {{"file", "x.glb"}, {"clip", scene.clip}}},
                   {"body", {{"type", "lattice"}, {"budget", 10000}}},
                   {"frames", {{"rate", scene.rate}}}};
      text["body"].update(Json::parse(scene.body));
      const std::string written = text.dump();
      return parse_scene(Bytes(as_bytes(written).begin(), as_bytes(written).end()), "scene");
    }
    throw std::out_of_range(name);
  }

  Scene m_scene;
  std::shared_ptr<const Character> m_character;
  const Clip* m_clip = nullptr;
  std::unique_ptr<Session> m_session;
};

// Of the vertices that are deep by skinning, at least nine of ten are not with flesh.
void expect_parted(const std::array<test::SkinOverlap, 2>& overlaps) {
  EXPECT_LE(overlaps[1].deep * 10, overlaps[0].deep);
}

TEST(FleshScenes, BellyLiesOnTheThighs) {
  Stage stage("pomelo", "crouch", 1.2, 6);
  stage.play();
  const auto overlaps = stage.overlaps();
  EXPECT_GT(overlaps[0].deep, 20u);
  expect_parted(overlaps);
  // Feet stay on the ground.
  for (const Vec3f& p : stage.flesh) EXPECT_GT(p[1], -0.5 * stage.cell());
}

TEST(FleshScenes, FingersCloseIntoThePalm) {
  Stage stage("forearm", "forearm", 1.2, 6);
  stage.play();
  expect_parted(stage.overlaps());
}

TEST(FleshScenes, AFistInOneFrame) {
  Stage stage("forearm", "sudden", 0, 2);
  stage.play();
  expect_parted(stage.overlaps());
}

TEST(FleshScenes, ABallDentsTheBelly) {
  Stage stage("pomelo", "ball", 0.5, 8);  // to 0.79 s, when the ball is furthest in
  stage.play();
  const Vec3f centre(0, 0.47f, 1.1f - 0.81f);
  double plain = 0, flesh = 0;
  for (size_t p = 0; p < stage.flesh.size(); ++p) {
    plain = std::max(plain, 0.12 - static_cast<double>((stage.plain[p] - centre).norm()));
    flesh = std::max(flesh, 0.12 - static_cast<double>((stage.flesh[p] - centre).norm()));
  }
  fmt::print("deepest in the ball: {:.3g} m by skinning, {:.3g} m with flesh\n", plain, flesh);
  EXPECT_GT(plain, 0.03);
  EXPECT_LT(flesh, 0.5 * stage.cell());
}

// The skin on the collarbone stays behind as the bone slips along under it.
TEST(FleshScenes, CollarbonesSlideUnderTheSkin) {
  Stage stage("shoulder", "shoulder", 0.5, 8);
  stage.play();
  const LatticeModel& model = stage.body().model();
  double with = 0, slipped = 0;
  int points = 0;
  for (const FleshBone& bone : model.rig->bones()) {
    if (bone.hold != BoneHold::sliding) continue;
    const Affine motion =
        stage.joints[static_cast<size_t>(bone.shape.joint)] *
        stage.character().binds[static_cast<size_t>(bone.shape.bind)].rest_to_joint;
    const Vec3d middle = (bone.shape.from + bone.shape.to) / 2;
    with += (motion * middle - middle).norm();
    for (size_t p = 0; p < stage.flesh.size(); ++p) {
      const Vec3d rest = model.skin.mesh.positions[p].cast<double>();
      if (bone.distance(rest) > 2 * bone.shape.radius || (rest - middle).norm() > 0.05) continue;
      slipped += (stage.flesh[p].cast<double>() - motion * rest).norm();
      ++points;
    }
  }
  fmt::print("collarbones move {:.3g} m, the skin on them slips by {:.3g} m ({} points)\n",
             with / 2, slipped / points, points);
  EXPECT_GT(points, 10);
  EXPECT_GT(with / 2, 0.01);
  EXPECT_GT(slipped / points, 0.1 * with / 2);
}

}  // namespace
}  // namespace supple
