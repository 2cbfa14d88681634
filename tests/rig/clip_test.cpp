// Clips against hand-evaluated interpolation.
#include "supple/rig/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace supple {
namespace {

constexpr double pi = std::numbers::pi;

Channel channel(ChannelTarget target, Interpolation interpolation, int width,
                std::vector<double> times, std::vector<double> values) {
  Channel c;
  c.target = target;
  c.interpolation = interpolation;
  c.joint = target == ChannelTarget::shape_weights ? -1 : 0;
  c.width = width;
  c.times = std::move(times);
  c.values = std::move(values);
  return c;
}

Pose one_joint(size_t shapes = 0) {
  Pose pose;
  pose.local.resize(1);
  pose.shape_weights.assign(shapes, 7);
  return pose;
}

Pose sample(const Channel& c, double time, size_t shapes = 0) {
  Pose pose = one_joint(shapes);
  apply_clip(Clip{"", {c}, 0}, time, pose);
  return pose;
}

Quatd sample_rotation(const Channel& c, double time) { return sample(c, time).local[0].rotation; }

std::vector<double> xyzw(const std::vector<Quatd>& rotations) {
  std::vector<double> values;
  for (const Quatd& q : rotations) values.insert(values.end(), {q.x(), q.y(), q.z(), q.w()});
  return values;
}

double angle_between(const Quatd& a, const Quatd& b) {
  const Quatd d = a.conjugate() * b;
  return 2 * std::atan2(d.vec().norm(), std::abs(d.w()));
}

TEST(Clip, ClampsAtBothEnds) {
  for (const Interpolation kind : {Interpolation::step, Interpolation::linear}) {
    const Channel c = channel(ChannelTarget::translation, kind, 3, {1, 2}, {1, 2, 3, 4, 5, 6});
    for (const double t : {-1e9, 0.0, 0.999, 1.0})
      EXPECT_EQ(sample(c, t).local[0].translation, Vec3d(1, 2, 3));
    for (const double t : {2.0, 2.001, 1e9})
      EXPECT_EQ(sample(c, t).local[0].translation, Vec3d(4, 5, 6));
  }
  const Channel single = channel(ChannelTarget::scale, Interpolation::linear, 3, {5}, {2, 3, 4});
  EXPECT_EQ(sample(single, 0).local[0].scale, Vec3d(2, 3, 4));
  EXPECT_EQ(sample(single, 9).local[0].scale, Vec3d(2, 3, 4));
}

TEST(Clip, StepHoldsUntilTheNextKey) {
  const Channel c =
      channel(ChannelTarget::scale, Interpolation::step, 3, {0, 1, 3}, {1, 1, 1, 2, 2, 2, 3, 3, 3});
  EXPECT_EQ(sample(c, 0.999999).local[0].scale[0], 1);
  EXPECT_EQ(sample(c, 1).local[0].scale[0], 2);
  EXPECT_EQ(sample(c, 2.999999).local[0].scale[0], 2);
}

// Every segment of a long channel, so that a wrong search shows.
TEST(Clip, LinearRunsStraightBetweenRandomKeys) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> times, values;
  double t = -3;
  for (int k = 0; k < 100; ++k) {
    times.push_back(t += 0.01 + unit(random));
    for (int c = 0; c < 3; ++c) values.push_back(unit(random));
  }
  const Channel c = channel(ChannelTarget::translation, Interpolation::linear, 3, times, values);
  for (int k = 0; k + 1 < 100; ++k) {
    const double f = unit(random);
    const Pose pose = sample(c, times[k] + f * (times[k + 1] - times[k]));
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(pose.local[0].translation[i],
                  (1 - f) * values[3 * k + i] + f * values[3 * (k + 1) + i], 1e-9);
  }
}

TEST(Clip, RotationsTakeTheShortArcAtConstantSpeed) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    const Quatd a =
        Quatd(normal(random), normal(random), normal(random), normal(random)).normalized();
    const Vec3d axis = Vec3d(normal(random), normal(random), normal(random)).normalized();
    const double angle = trial == 0 ? 0 : std::uniform_real_distribution<double>(0, 3.1)(random);
    const Quatd b = a * Quatd(Eigen::AngleAxisd(angle, axis));
    // Keys of any length and either sign mean the same rotation.
    std::vector<double> values = xyzw({a, b});
    const double stretch = trial % 2 ? 3.5 : -0.02;
    for (int i = 4; i < 8; ++i) values[i] *= stretch;
    const Channel c = channel(ChannelTarget::rotation, Interpolation::linear, 4, {0, 2}, values);
    for (const double f : {0.0, 0.1, 0.5, 0.75, 1.0}) {
      const Quatd q = sample_rotation(c, 2 * f);
      EXPECT_NEAR(q.norm(), 1, 1e-12);
      EXPECT_LT(angle_between(q, a * Quatd(Eigen::AngleAxisd(f * angle, axis))), 1e-9) << trial;
    }
  }
}

TEST(Clip, HalfTurnsAndTinyTurns) {
  const Quatd half(Eigen::AngleAxisd(pi, Vec3d::UnitY()));
  const Channel c = channel(ChannelTarget::rotation, Interpolation::linear, 4, {0, 1},
                            xyzw({Quatd::Identity(), half}));
  EXPECT_NEAR(angle_between(sample_rotation(c, 0.5), Quatd::Identity()), pi / 2, 1e-12);
  EXPECT_NEAR(std::abs(sample_rotation(c, 0.5).y()), std::sqrt(0.5), 1e-12);

  const Quatd same_negated(-1, 0, 0, 0);
  const Channel still = channel(ChannelTarget::rotation, Interpolation::linear, 4, {0, 1},
                                xyzw({Quatd::Identity(), same_negated}));
  EXPECT_LT(angle_between(sample_rotation(still, 0.3), Quatd::Identity()), 1e-12);

  for (const double tiny : {1e-3, 1e-6, 1e-9, 1e-13}) {
    const Quatd turned(Eigen::AngleAxisd(tiny, Vec3d::UnitX()));
    const Channel near = channel(ChannelTarget::rotation, Interpolation::linear, 4, {0, 1},
                                 xyzw({Quatd::Identity(), turned}));
    EXPECT_NEAR(sample_rotation(near, 0.25).x(), tiny / 8, 1e-6 * tiny);
  }

  const Channel zero =
      channel(ChannelTarget::rotation, Interpolation::linear, 4, {0, 1}, {0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_TRUE(sample_rotation(zero, 0.5).coeffs().allFinite());
}

// p(1/4) of the segment from 1 s to 5 s, by the Hermite polynomials at 1/4:
// h00 = 27/32, h10 = 9/64, h01 = 5/32, h11 = -3/64; tangents times the length of 4 s.
TEST(Clip, CubicSplineMatchesHermiteByHand) {
  const Channel c = channel(ChannelTarget::shape_weights, Interpolation::cubic_spline, 2, {1, 5},
                            {99, 99, 2, 10, 3, -1, 0.5, 4, 6, 20, 99, 99});
  const Pose pose = sample(c, 2, 2);
  EXPECT_NEAR(pose.shape_weights[0],
              27. / 32 * 2 + 4 * 9. / 64 * 3 + 5. / 32 * 6 - 4 * 3. / 64 * 0.5, 1e-12);
  EXPECT_NEAR(pose.shape_weights[1],
              27. / 32 * 10 + 4 * 9. / 64 * -1 + 5. / 32 * 20 - 4 * 3. / 64 * 4, 1e-12);
  EXPECT_EQ(sample(c, 1, 2).shape_weights, (std::vector<double>{2, 10}));
  EXPECT_EQ(sample(c, 0, 2).shape_weights, (std::vector<double>{2, 10}));
  EXPECT_EQ(sample(c, 9, 2).shape_weights, (std::vector<double>{6, 20}));
}

// A cubic sampled with its own derivatives as tangents comes back exactly, whatever the key times.
TEST(Clip, CubicSplineReproducesCubics) {
  const auto p = [](double t) { return 2 - t + 3 * t * t - 0.5 * t * t * t; };
  const auto dp = [](double t) { return -1 + 6 * t - 1.5 * t * t; };
  std::vector<double> times{0.5, 1.25, 4}, values;
  for (const double t : times)
    for (const double v : {dp(t), p(t), dp(t)}) values.insert(values.end(), {v, 2 * v, -v});
  const Channel c =
      channel(ChannelTarget::translation, Interpolation::cubic_spline, 3, times, values);
  for (double t = 0.5; t <= 4; t += 0.125)
    EXPECT_LT((sample(c, t).local[0].translation - p(t) * Vec3d(1, 2, -1)).norm(), 1e-12) << t;
}

TEST(Clip, CubicSplineRotationsAreNormalised) {
  const Channel c = channel(ChannelTarget::rotation, Interpolation::cubic_spline, 4, {0, 1},
                            {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0,  //
                             0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0});
  const Quatd q = sample_rotation(c, 0.5);
  EXPECT_NEAR(q.norm(), 1, 1e-12);
  EXPECT_NEAR(q.x(), std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(q.w(), std::sqrt(0.5), 1e-12);
}

TEST(Clip, LeavesOtherPropertiesAlone) {
  Channel weights =
      channel(ChannelTarget::shape_weights, Interpolation::linear, 3, {0, 2}, {0, 0, 0, 1, 2, 4});
  weights.first_shape = 1;
  const Pose pose = sample(weights, 1, 3);  // the third value has no shape
  EXPECT_EQ(pose.shape_weights, (std::vector<double>{7, 0.5, 1}));
  EXPECT_EQ(pose.local[0].scale, Vec3d::Ones());

  Channel elsewhere = channel(ChannelTarget::scale, Interpolation::linear, 3, {0}, {2, 2, 2});
  elsewhere.joint = 5;
  Channel keyless = channel(ChannelTarget::scale, Interpolation::linear, 3, {}, {});
  Channel cut = channel(ChannelTarget::scale, Interpolation::linear, 3, {0, 1}, {2, 2, 2});
  Pose untouched = one_joint();
  apply_clip(Clip{"", {elsewhere, keyless, cut}, 0}, 0.5, untouched);
  EXPECT_EQ(untouched.local[0].scale, Vec3d::Ones());
}

TEST(Clip, StartAndEndSpanAllChannels) {
  const Channel a = channel(ChannelTarget::scale, Interpolation::step, 3, {1, 4}, {});
  const Channel b = channel(ChannelTarget::scale, Interpolation::step, 3, {-2, 3}, {});
  const Clip clip{"", {a, Channel{}, b}, 0};
  EXPECT_EQ(clip.start(), -2);
  EXPECT_EQ(clip.end(), 4);
  EXPECT_EQ(Clip{}.start(), 0);
  EXPECT_EQ(Clip{}.end(), 0);
}

TEST(ClipRate, FoundFromFloatKeys) {
  for (const double rate : {24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 120.0}) {
    std::vector<double> times;
    for (int k = 0; k <= 2000; ++k) times.push_back(static_cast<float>(k / rate));
    const Clip clip{"", {channel(ChannelTarget::scale, Interpolation::step, 3, times, {})}, 0};
    EXPECT_EQ(clip_rate(clip, 11), rate);
  }
}

TEST(ClipRate, StatedRateThenFallback) {
  Clip clip{"", {channel(ChannelTarget::scale, Interpolation::step, 3, {0, 0.0137, 1}, {})}, 0};
  EXPECT_EQ(clip_rate(clip, 11), 11);
  EXPECT_EQ(clip_rate(Clip{}, 12), 12);
  clip.rate = 29.97;
  EXPECT_EQ(clip_rate(clip, 11), 29.97);
}

}  // namespace
}  // namespace supple
