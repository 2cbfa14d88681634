// Lattices with dials in scenes: driven, adjusted, tuned, resumed, touched, refused.
#include "supple/sim/implicit_lattice_body.h"

#include <gtest/gtest.h>

#include "sim/jerked_post.h"
#include "sim/two_bones.h"
#include "supple/core/error.h"
#include "supple/sim/session.h"
#include "supple/sim/tune.h"
#include "support/skin_overlap.h"

namespace supple {
namespace {

using test::expect_same_bits;
using test::jerk_foot;
using test::jerked_post;
using test::refusal;
using test::run_scene;
using test::top_of;

// `strength` of the jerk and of the weight: small ones leave the corotated law linear.
Scene jerked(int frames, double strength = 1) {
  Scene scene;
  scene.body.type = "lattice";
  scene.body.size = 0.8;
  scene.body.spacing = 0.08;
  scene.body.young = 4e5;
  scene.body.poisson = 0.3;
  scene.body.gravity.acceleration = {3 * strength, -9 * strength, 0};
  scene.body.lattice.integrator = LatticeSteps::tr_bdf2;
  scene.body.lattice.stiffness_damping = 0.01;
  jerk_foot(scene, 0.3 * strength, frames);
  return scene;
}

TEST(ImplicitLatticeBody, GoesOnWithTheSameBits) {
  for (const int substeps : {1, 3}) {
    Scene scene = jerked(10);
    scene.body.adjust.inertia = 0.5;
    scene.body.substeps = substeps;
    expect_same_bits(scene);
  }
}

TEST(ImplicitLatticeBody, InertiaOfOneChangesNothing) {
  Scene scene = jerked(8);
  const auto plain = run_scene(jerked_post(), scene);
  scene.body.adjust.inertia = 1;
  EXPECT_EQ(run_scene(jerked_post(), scene), plain);
}

TEST(ImplicitLatticeBody, RegionsSwingLess) {
  Scene scene = jerked(16);
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

TEST(ImplicitLatticeBody, KeysChangeDialsOverTime) {
  Scene scene = jerked(84);
  scene.body.lattice.stiffness_damping = 0.1;
  scene.body.adjust.keys = {{0.1, 1, 1, 1, 1}, {0.2, 1, 1, 0, 1}};
  Scene weightless = jerked(2);
  weightless.body.gravity.acceleration = {0, 0, 0};
  weightless.body.fixed[0].motion.clear();
  const double upright = top_of(run_scene(jerked_post(), weightless))[0].x();
  const auto keyed = top_of(run_scene(jerked_post(), scene));
  // Without sag it ends upright.
  EXPECT_GT(std::abs(keyed[0].x() - upright), 0.01);
  double mean = 0;
  for (size_t f = 74; f < 84; ++f) mean += (keyed[f].x() - 0.3) / 10;
  EXPECT_LT(std::abs(mean - upright), 0.01);
}

TEST(ImplicitLatticeBody, RefusesWhatItCannotDo) {
  Scene scene = jerked(3);
  scene.body.fixed.clear();
  EXPECT_NE(refusal(jerked_post(), scene).find("nothing holds"), std::string::npos);
  scene.body.gravity.acceleration = {0, 0, 0};
  EXPECT_NE(refusal(jerked_post(), scene).find("nothing holds"), std::string::npos);
  scene = jerked(3);
  scene.body.adjust.frequency = -1;
  EXPECT_NE(refusal(jerked_post(), scene).find("frequency"), std::string::npos);
  scene = jerked(3);
  scene.body.gravity.acceleration = {0, 0, 0};
  scene.body.adjust.sag = 2;
  EXPECT_NE(refusal(jerked_post(), scene).find("does not sag"), std::string::npos);
  scene = jerked(3);
  scene.body.adjust.half_life = 50;
  scene.body.lattice.integrator = LatticeSteps::backward_euler;
  EXPECT_NE(refusal(jerked_post(), scene).find("substeps"), std::string::npos);
  scene = jerked(3);
  scene.body.lattice.integrator = LatticeSteps::plain;
  scene.body.adjust.frequency = 2;
  EXPECT_NE(refusal(jerked_post(), scene).find("body.adjust"), std::string::npos);
  scene = jerked(3);
  scene.body.dynamic = false;
  EXPECT_NE(refusal(jerked_post(), scene).find("body.dynamic"), std::string::npos);
  scene = jerked(3);
  scene.body.velocity = {1, 0, 0};
  EXPECT_NE(refusal(jerked_post(), scene).find("body.velocity"), std::string::npos);
}

TEST(TuneLattice, RefusesAnAmplitudeWithoutMotion) {
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

// Every dial on its own: small swings, for which the law is linear, and large ones.
TEST(TuneLattice, MakesAPostSwingAsAsked) {
  for (const double strength : {0.02, 0.5}) {
    const double others = strength < 0.1 ? 0.02 : 0.1, amplitude = strength < 0.1 ? 0.02 : 0.03;
    for (const DialRatios& asked : {DialRatios{.frequency = 0.6}, DialRatios{.amplitude = 1.5},
                                    DialRatios{.sag = 0.5}, DialRatios{.half_life = 0.6},
                                    DialRatios{.frequency = 0.7, .sag = 0.5, .half_life = 0.8}}) {
      SCOPED_TRACE(fmt::format("{} {} {} {} at {}", asked.frequency, asked.amplitude, asked.sag,
                               asked.half_life, strength));
      Scene scene = jerked(160, strength);
      scene.body.adjust.frequency = asked.frequency;
      scene.body.adjust.amplitude = asked.amplitude;
      scene.body.adjust.sag = asked.sag;
      scene.body.adjust.half_life = asked.half_life;
      const auto character = std::make_shared<Character>(jerked_post());
      const TuneReport report = tune(character, scene, nullptr, "test", {});
      EXPECT_TRUE(report.before.from_trajectory);
      EXPECT_TRUE(report.after.from_trajectory);
      EXPECT_LE(report.passes.size(), 4U);
      EXPECT_NEAR(report.after.frequency / report.before.frequency / asked.frequency, 1, others);
      EXPECT_NEAR(report.after.sag / report.before.sag / asked.sag, 1, others);
      EXPECT_NEAR(report.after.half_life / report.before.half_life / asked.half_life, 1, others);
      EXPECT_NEAR(report.after.amplitude / report.before.amplitude / asked.amplitude, 1, amplitude);
    }
  }
}

// How deep flesh that a rig folds is in itself: its skin, and its contact points, in metres.
struct Folded {
  double deepest = 0, deepest_contact = 0;
  double seen = 0;     // mean depth of the skin over all frames
  double settled = 0;  // mean of the last frames: what is left when nothing swings any more
  int touching = 0;    // frames
};

Folded fold(double inertia) {
  const Character bar = test::two_bones(1, 0.24);
  BodySettings settings;
  settings.type = "lattice";
  settings.cells = 24;
  settings.size = 1;
  settings.substeps = 2;
  settings.lattice.integrator = LatticeSteps::tr_bdf2;
  settings.adjust.inertia = inertia;
  FrameRange range;
  range.last = 100;
  ImplicitLatticeBody body(bar, settings, range, "test");
  const test::OverlapMeter meter(bar.skin, 0.15);
  Folded result;
  constexpr int frames = 48, last = 24;
  for (int frame = 1; frame <= frames; ++frame) {
    const StepReport report =
        body.step(test::pose(bar, frame, std::min(110.0, 11.0 * (frame - 1))), 1.0 / 24);
    EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
    BodyFrame out;
    body.skin(out);
    const double depth = meter.measure(out.positions, 0.01).deepest;
    result.deepest = std::max(result.deepest, depth);
    result.seen += depth / frames;
    const auto depths = body.contact()->depths();
    const auto deep = static_cast<double>(*std::max_element(depths.begin(), depths.end()));
    result.deepest_contact = std::max(result.deepest_contact, deep);
    if (frame > frames - last) result.settled += deep / last;
    result.touching += deep > 0;
  }
  return result;
}

// Equilibria pass through themselves, as they have no contact; what is seen does not.
TEST(ImplicitLatticeBody, TouchesItselfAsItDoesWithoutDials) {
  constexpr double cell = 1.0 / 24;
  const Folded plain = fold(1);
  EXPECT_GE(plain.touching, 12);
  for (const double inertia : {0.0, 0.4, 2.0}) {
    const Folded adjusted = fold(inertia);
    SCOPED_TRACE(inertia);
    // Which points touch changes from frame to frame at rest too, and depths with them by 3 % of a
    // cell; what they are on average does not depend on dials.
    EXPECT_NEAR(adjusted.settled, plain.settled, 0.005 * cell);
    // On the way flesh without inertia meets itself a frame sooner, while the rig still turns. What
    // is thrown twice as hard gets deeper, and bounces.
    if (inertia > 1) continue;
    EXPECT_LT(adjusted.deepest_contact, plain.deepest_contact + 0.06 * cell);
    // The skin is out of itself but for single frames, a few of 48, in which vertices in the crease
    // are up to 0.4 cells deep. Rounding decides in which, with any dials: SIMD targets differ.
    EXPECT_LT(adjusted.seen, plain.seen + 0.04 * cell);
    EXPECT_LT(adjusted.deepest, 0.5 * cell);
    EXPECT_GE(adjusted.touching, plain.touching);
  }
}

}  // namespace
}  // namespace supple
