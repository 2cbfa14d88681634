// Bodies of tetrahedra with implicit steps in scenes: driven, adjusted, tuned, resumed, refused.
#include "supple/sim/implicit_tet_body.h"

#include <gtest/gtest.h>

#include "sim/jerked_post.h"
#include "supple/core/error.h"
#include "supple/mesh/primitives.h"
#include "supple/sim/session.h"
#include "supple/sim/tune.h"

namespace supple {
namespace {

using test::box_character;
using test::expect_same_bits;
using test::jerk_foot;
using test::jerked_post;
using test::refusal;
using test::rigged_bar;
using test::run_scene;
using test::top_of;

Scene jerked(int frames, Law law = Law::linear) {
  Scene scene;
  scene.body.type = "tets";
  scene.body.size = 0.8;
  scene.body.young = 4e5;
  scene.body.poisson = 0.3;
  scene.body.gravity.acceleration = {3, -9, 0};
  scene.body.tets.elements = 150;
  scene.body.tets.law = law;
  scene.body.tets.dynamics = TetDynamics::implicit_steps;
  scene.body.tets.stiffness_damping = 0.01;
  jerk_foot(scene, 0.3, frames);
  return scene;
}

TEST(ImplicitTetBody, GoesOnWithTheSameBits) {
  Scene scene = jerked(10, Law::stvk_volume);
  scene.body.adjust.inertia = 0.5;
  expect_same_bits(scene);
}

// Five points need what drives the body two frames ahead, and go on from a checkpoint. Without
// inertia they leave a swing that the steps' own differences do not, less in shorter steps.
TEST(ImplicitTetBody, DerivativesCanBeOfFivePoints) {
  double apart[2] = {0, 0};
  for (const int fine : {0, 1}) {
    Scene scene = jerked(10, Law::stvk_volume);
    scene.body.fixed[0].motion[0].keys = {{0.04, 0}, {0.2, 1}};
    scene.body.fixed[0].motion[0].ramp = Ramp::smooth;
    scene.body.substeps = fine ? 3 : 1;
    scene.body.tets.integrator = StepMethod::backward_euler;
    scene.body.adjust.inertia = 0;
    const auto own = top_of(run_scene(jerked_post(), scene));
    scene.body.adjust.derivatives = AdjustDerivatives::five_point;
    const auto five = top_of(run_scene(jerked_post(), scene));
    ASSERT_EQ(own.size(), five.size());
    for (size_t f = 0; f < own.size(); ++f)
      apart[fine] = std::max(apart[fine], (own[f] - five[f]).norm());
    expect_same_bits(scene);
  }
  EXPECT_GT(apart[0], 0.005);  // of a foot that goes 0.3 m in 0.16 s
  EXPECT_LT(apart[0], 0.1);
  EXPECT_NEAR(apart[1] / apart[0], 1.0 / 3, 0.1);
}

TEST(ImplicitTetBody, InertiaOfOneChangesNothing) {
  Scene scene = jerked(8, Law::neo_hookean);
  const auto plain = run_scene(jerked_post(), scene);
  scene.body.adjust.inertia = 1;
  EXPECT_EQ(run_scene(jerked_post(), scene), plain);
}

TEST(ImplicitTetBody, RegionsSwingLess) {
  Scene scene = jerked(16, Law::stvk_volume);
  const auto plain = top_of(run_scene(jerked_post(), scene));
  scene.body.adjust.regions.resize(1);
  scene.body.adjust.regions[0].select.plane = PlaneSelection{{0, 0.3, 0}, {0, 1, 0}};
  scene.body.adjust.regions[0].amplitude = 0;
  const auto calm = top_of(run_scene(jerked_post(), scene));
  double before = 0, after = 0;
  for (size_t f = 0; f < 12; ++f) {
    const double moved = 0.3 * static_cast<double>(f) / 12;
    before = std::max(before, std::abs(plain[f].x() - plain[0].x() - moved));
    after = std::max(after, std::abs(calm[f].x() - calm[0].x() - moved));
  }
  EXPECT_GT(before, 0.02);
  EXPECT_LT(after, 0.3 * before);
}

// How far the end of a bar is at most from where its jerked root carries it, with a region calmed.
double swing_of_bar(const Character& bar, const std::vector<AdjustRegionSettings>& regions) {
  Scene scene = jerked(16, Law::stvk_volume);
  scene.body.attach.hold = BoneHold::none;
  scene.body.gravity.acceleration = {0, 0, 0};
  scene.body.fixed[0].select.plane = PlaneSelection{{0.12, 0, 0}, {-1, 0, 0}};
  scene.body.fixed[0].motion[0].translate = {0, 0, 0.3};
  scene.body.adjust.regions = regions;
  const auto skins = run_scene(bar, scene);
  size_t end = 0;
  for (size_t v = 0; v < skins[0].size(); ++v)
    if (bar.skin.positions[v].x() > bar.skin.positions[end].x()) end = v;
  float most = 0;
  for (size_t f = 0; f < 12; ++f)
    most = std::max(
        most, std::abs(skins[f][end].z() - skins[0][end].z() - 0.3f * static_cast<float>(f) / 12));
  return static_cast<double>(most);
}

// A region is where its bones' flesh is, or where paint is; paint by halves calms by halves.
TEST(ImplicitTetBody, DialsFollowBonesAndPaint) {
  Character bar = rigged_bar();
  VertexAttribute all{"_CALM", 1, {}}, half{"_HALF", 1, {}};
  for (const Vec3f& p : bar.skin.positions) {
    all.values.push_back(p.x() > 0.4f ? 1.0f : 0.0f);
    half.values.push_back(p.x() > 0.4f ? 0.5f : 0.0f);
  }
  bar.attributes = {all, half};
  AdjustRegionSettings calm;
  calm.amplitude = 0;
  AdjustRegionSettings bone = calm, paint = calm, thin = calm;
  bone.bones = {"tip"};
  paint.attribute = "_CALM";
  thin.attribute = "_HALF";
  const double plain = swing_of_bar(bar, {});
  EXPECT_GT(plain, 0.02);
  EXPECT_LT(swing_of_bar(bar, {bone}), 0.3 * plain);
  EXPECT_LT(swing_of_bar(bar, {paint}), 0.3 * plain);
  EXPECT_NEAR(swing_of_bar(bar, {thin}), 0.55 * plain, 0.15 * plain);
}

TEST(ImplicitTetBody, KeysChangeDialsOverTime) {
  Scene scene = jerked(48, Law::stvk_volume);
  scene.body.tets.stiffness_damping = 0.1;
  scene.body.adjust.keys = {{0.1, 1, 1, 1, 1}, {0.2, 1, 1, 0, 1}};
  Scene weightless = jerked(24, Law::stvk_volume);
  weightless.body.gravity.acceleration = {0, 0, 0};
  weightless.body.fixed[0].motion.clear();
  const auto keyed = top_of(run_scene(jerked_post(), scene));
  // Without sag it ends upright.
  EXPECT_GT(std::abs(keyed[0].x() - top_of(run_scene(jerked_post(), weightless))[0].x()), 0.01);
  double mean = 0;
  for (size_t f = 38; f < 48; ++f) mean += (keyed[f].x() - 0.3) / 10;
  EXPECT_LT(std::abs(mean - top_of(run_scene(jerked_post(), weightless))[0].x()), 0.01);
}

// A bar that is held by the skin of its end alone.
Scene scene_of_proxy() {
  Scene scene;
  scene.body.type = "tets";
  scene.body.size = 0.8;
  scene.body.young = 1e5;
  scene.body.tets.elements = 200;
  scene.body.tets.dynamics = TetDynamics::implicit_steps;
  scene.body.attach.hold = BoneHold::none;
  scene.body.proxies.resize(1);
  scene.body.proxies[0].select.plane = PlaneSelection{{0.2, 0, 0}, {-1, 0, 0}};
  return scene;
}

TEST(ImplicitTetBody, ProxiesOfTheSkinDriveIt) {
  Scene scene = scene_of_proxy();
  scene.frames.last = 4;
  scene.frames.rate = 24;
  for (const bool soft : {false, true}) {
    scene.body.proxies[0].soft = soft;
    scene.body.proxies[0].stiffness = 1e6;
    const auto character = std::make_shared<Character>(rigged_bar());
    Session session(character, scene, nullptr, "test");
    FrameRecord record;
    while (!session.done()) session.advance(record);
    for (size_t v = 0; v < record.body.positions.size(); ++v)
      if (character->skin.positions[v].x() < 0.1f) {
        EXPECT_LT((record.body.positions[v] - character->skin.positions[v]).norm(), 2e-3f);
      }
  }
}

// Dials of a region that is all of the body are those of the body, soft proxies included.
TEST(ImplicitTetBody, ARegionOfAllIsTheBody) {
  Scene scene = jerked(10, Law::neo_hookean);
  scene.body.fixed.clear();
  scene.body.attach.hold = BoneHold::none;
  scene.body.proxies.resize(1);
  scene.body.proxies[0].select.plane = PlaneSelection{{0.2, 0, 0}, {-1, 0, 0}};
  scene.body.proxies[0].soft = true;
  scene.body.proxies[0].stiffness = 1e5;
  scene.body.gravity.compensate = false;
  Scene parts = scene;
  scene.body.adjust.frequency = 0.5;
  parts.body.adjust.regions.resize(1);
  parts.body.adjust.regions[0].select.plane = PlaneSelection{{9, 0, 0}, {-1, 0, 0}};
  parts.body.adjust.regions[0].frequency = 0.5;
  scene.body.adjust.keys = parts.body.adjust.keys = {{0, 1, 1, 1, 1}, {0.1, 1, 1, 0.5, 1}};
  const auto whole = run_scene(rigged_bar(), scene), all = run_scene(rigged_bar(), parts);
  float moved = 0;
  for (size_t v = 0; v < whole[0].size(); ++v) {
    moved = std::max(moved, (whole.back()[v] - whole[0][v]).norm());
    EXPECT_LT((whole.back()[v] - all.back()[v]).norm(), 1e-4f);
  }
  EXPECT_GT(moved, 0.01f);
}

// What poses correct is part of where skinning takes proxies: here a shape that lifts the root, on
// where the other joint is bent.
TEST(ImplicitTetBody, PosesCorrectProxies) {
  Character bar = rigged_bar();
  const Quatd bent(Eigen::AngleAxisd(0.7, Vec3d::UnitZ()));
  bar.skeleton.joints[1].rest.rotation = bent;
  BlendShape lift;
  lift.name = "lift";
  for (size_t v = 0; v < bar.skin.positions.size(); ++v)
    if (bar.skin.positions[v].x() < 0.25f) {
      lift.vertices.push_back(static_cast<int32_t>(v));
      lift.offsets.emplace_back(0.0f, 0.03f, 0.01f);
    }
  bar.shapes.push_back(lift);
  Scene scene = scene_of_proxy();
  scene.body.gravity.acceleration = {0, 0, 0};
  scene.frames.last = 2;
  scene.character.pose_space.push_back(
      {{"tip"}, 0, {{{{0, 0, 0, 1}}, ""}, {{{bent.x(), bent.y(), bent.z(), bent.w()}}, "lift"}}});
  const auto skins = run_scene(bar, scene);
  for (size_t v = 0; v < skins[0].size(); ++v)
    if (bar.skin.positions[v].x() < 0.2f) {
      const Vec3f corrected = bar.skin.positions[v] + Vec3f(0, 0.03f, 0.01f);
      EXPECT_LT((skins.back()[v] - corrected).norm(), 1e-5f);
    }
}

// A box beside the bar, which no bone reaches, goes where its bone goes and does not fall.
TEST(ImplicitTetBody, BonesCarryLoosePieces) {
  Character character = rigged_bar();
  const Character box = box_character({0.16, 0.16, 0.16}, {0.6, 0.6, 0});
  const auto before = static_cast<int32_t>(character.skin.positions.size());
  for (const Vec3f& p : box.skin.positions) {
    character.skin.positions.push_back(p);
    const Influence own{1, 1};
    character.weights.add_vertex({&own, 1}, 0);
  }
  for (const Vec3i& t : box.skin.triangles)
    character.skin.triangles.emplace_back(t + Vec3i::Constant(before));
  character.parts[0].vertices.count = static_cast<int32_t>(character.skin.positions.size());
  character.parts[0].triangles.count = static_cast<int32_t>(character.skin.triangles.size());
  Scene scene;
  scene.body.type = "tets";
  scene.body.size = 0.8;
  scene.body.young = 1e5;
  scene.body.tets.elements = 300;
  scene.body.tets.dynamics = TetDynamics::implicit_steps;
  scene.body.gravity.compensate = false;
  scene.body.adjust.inertia = 0.5;  // which needs natural frequencies, and equilibria
  scene.frames.last = 6;
  scene.frames.rate = 24;
  const auto skins = run_scene(character, scene);
  for (size_t v = static_cast<size_t>(before); v < skins.back().size(); ++v)
    EXPECT_LT((skins.back()[v] - character.skin.positions[v]).norm(), 1e-3f);
}

TEST(ImplicitTetBody, RefusesWhatItCannotDo) {
  Scene scene = jerked(3);
  scene.body.contact.colliders.resize(1);
  scene.body.contact.colliders[0].free = "ball";
  EXPECT_NE(refusal(jerked_post(), scene).find("body.contact.colliders[0].free"),
            std::string::npos);
  scene = jerked(3);
  scene.body.fixed.clear();
  EXPECT_NE(refusal(jerked_post(), scene).find("nothing holds"), std::string::npos);
  scene = jerked(3);
  scene.body.adjust.frequency = -1;
  EXPECT_NE(refusal(jerked_post(), scene).find("frequency"), std::string::npos);
  scene = jerked(3);
  scene.body.adjust.derivatives = AdjustDerivatives::five_point;
  EXPECT_NE(refusal(jerked_post(), scene).find("body.adjust.derivatives"), std::string::npos);
  scene = jerked(3);
  scene.body.adjust.keys = {{0, 1, 1}};
  EXPECT_NE(refusal(jerked_post(), scene).find("body.adjust.keys[0]"), std::string::npos);
  scene = jerked(3);
  scene.body.gravity.acceleration = {0, 0, 0};
  scene.body.adjust.sag = 2;
  EXPECT_NE(refusal(jerked_post(), scene).find("does not sag"), std::string::npos);
  scene = jerked(3);
  scene.body.type = "voxels";
  scene.body.adjust.frequency = 2;
  EXPECT_NE(refusal(jerked_post(), scene).find("body.adjust"), std::string::npos);
}

TEST(Tune, MakesAPostSwingAsAsked) {
  Scene scene = jerked(110);
  scene.body.adjust.frequency = 0.7;
  scene.body.adjust.sag = 0.5;
  scene.body.adjust.half_life = 0.8;
  const auto character = std::make_shared<Character>(jerked_post());
  const TuneReport report = tune(character, scene, nullptr, "test", {});
  EXPECT_TRUE(report.close_enough);
  EXPECT_TRUE(report.before.from_trajectory);
  EXPECT_NEAR(report.after.frequency / report.before.frequency, 0.7, 0.014);
  EXPECT_NEAR(report.after.amplitude / report.before.amplitude, 1, 0.02);
  EXPECT_NEAR(report.after.sag / report.before.sag, 0.5, 0.01);
  EXPECT_NEAR(report.after.half_life / report.before.half_life, 0.8, 0.016);
  // Equilibria were solved for twice: as it is, and with half the sag.
  EXPECT_EQ(report.solved, 2);
  EXPECT_EQ(scene.body.adjust.inertia, report.factors.inertia);
}

TEST(Tune, RefusesAnAmplitudeWithoutMotion) {
  Scene scene = jerked(5);
  scene.body.fixed[0].motion.clear();
  scene.body.adjust.amplitude = 2;
  const auto character = std::make_shared<Character>(jerked_post());
  try {
    tune(character, scene, nullptr, "test", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("does not move"), std::string::npos);
  }
}

// Where nothing is asked for there is one run, that of the scene as it is.
TEST(Tune, MeasuresWhereNothingIsAsked) {
  Scene scene = jerked(60);
  TuneOptions options;
  std::vector<TuneProgress> told;
  options.progressed = [&](const TuneProgress& at) { told.push_back(at); };
  const auto character = std::make_shared<Character>(jerked_post());
  const TuneReport report = tune(character, scene, nullptr, "test", options);
  ASSERT_EQ(told.size(), 60U);
  EXPECT_EQ(told.back().run, 1);
  EXPECT_EQ(told.back().runs, 5);
  EXPECT_EQ(told.back().frame, 60);
  EXPECT_EQ(told.back().frames, 60);
  EXPECT_TRUE(report.passes.empty());
  EXPECT_EQ(report.after.frequency, report.before.frequency);
  EXPECT_GT(report.before.frequency, 0);
  EXPECT_FALSE(scene.body.adjust.inertia);
}

// A factor of inertia that is given is taken as it is, in one more run; a linear body swings as
// many times as far.
TEST(Tune, TakesTheInertiaItIsGiven) {
  Scene scene = jerked(60);
  TuneOptions options;
  options.inertia = 2;
  int runs = 0;
  options.progressed = [&](const TuneProgress& at) { runs = std::max(runs, at.run); };
  const auto character = std::make_shared<Character>(jerked_post());
  const TuneReport report = tune(character, scene, nullptr, "test", options);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(report.solved, 1);
  EXPECT_EQ(report.factors.inertia, 2);
  EXPECT_EQ(scene.body.adjust.inertia, 2.0);
  EXPECT_NEAR(report.after.amplitude / report.before.amplitude, 2, 0.02);
  EXPECT_NEAR(report.after.frequency / report.before.frequency, 1, 0.01);
}

// What never rests is plucked instead.
TEST(Tune, PlucksWhatNeverRests) {
  Scene scene = jerked(20, Law::stvk_volume);
  scene.body.fixed[0].motion[0].keys = {{0, 0}, {2, 1}};
  const auto character = std::make_shared<Character>(jerked_post());
  const AdjustRun run = measure(character, scene, nullptr, "test", {});
  EXPECT_FALSE(run.reading.from_trajectory);
  EXPECT_NEAR(run.reading.frequency, run.body.omega / 6.283185, 0.3 * run.reading.frequency);
  EXPECT_GT(run.reading.sag, 0.01);
}

}  // namespace
}  // namespace supple
