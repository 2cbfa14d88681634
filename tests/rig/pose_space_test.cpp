// Pose-space deformation: examples come back exactly, signs of quaternions do not matter.
#include "supple/rig/pose_space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "supple/core/error.h"

namespace supple {
namespace {

Quatd random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Quatd(normal(random), normal(random), normal(random), normal(random)).normalized();
}

struct Examples {
  std::vector<int> joints;
  std::vector<PoseSample> samples;
};

Examples random_setup(int joint_count, int sample_count, unsigned seed) {
  std::mt19937 random(seed);
  Examples setup;
  for (int j = 0; j < joint_count; ++j) setup.joints.push_back(2 * j + 1);
  for (int s = 0; s < sample_count; ++s) {
    PoseSample sample;
    sample.shape = s - 1;
    for (int j = 0; j < joint_count; ++j) sample.rotations.push_back(random_rotation(random));
    setup.samples.push_back(sample);
  }
  return setup;
}

Pose pose_of(const Examples& setup, const std::vector<Quatd>& rotations, size_t shapes = 0) {
  Pose pose;
  pose.local.resize(static_cast<size_t>(setup.joints.back()) + 1);
  pose.shape_weights.assign(shapes, 0.5);
  for (size_t j = 0; j < rotations.size(); ++j) pose.local[setup.joints[j]].rotation = rotations[j];
  return pose;
}

TEST(PoseSpace, ReproducesEverySample) {
  for (int joints = 1; joints <= 3; ++joints)
    for (int samples = 1; samples <= 12; ++samples) {
      const Examples setup = random_setup(joints, samples, static_cast<unsigned>(samples));
      const PoseSpace space(setup.joints, setup.samples);
      for (int s = 0; s < samples; ++s) {
        Pose pose = pose_of(setup, setup.samples[s].rotations, static_cast<size_t>(samples));
        const std::vector<double> weights = space.weights(pose);
        ASSERT_EQ(weights.size(), setup.samples.size());
        for (int k = 0; k < samples; ++k) EXPECT_NEAR(weights[k], k == s, 1e-8);
        // The first sample has no shape; the others add theirs to what is there.
        space.apply(pose);
        for (int k = 0; k < samples; ++k)
          EXPECT_NEAR(pose.shape_weights[k], 0.5 + (k == s - 1 ? 1 : 0), 1e-8);
      }
    }
}

TEST(PoseSpace, SignsAndLengthsOfQuaternionsDoNotMatter) {
  std::mt19937 random(3);
  const Examples setup = random_setup(2, 6, 4);
  Examples flipped = setup;
  for (PoseSample& sample : flipped.samples)
    for (Quatd& q : sample.rotations)
      if (random() % 2) q.coeffs() *= -1;
  const PoseSpace a(setup.joints, setup.samples), b(flipped.joints, flipped.samples);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Quatd> rotations{random_rotation(random), random_rotation(random)};
    const std::vector<double> expected = a.weights(pose_of(setup, rotations));
    rotations[trial % 2].coeffs() *= -1;
    rotations[0].coeffs() *= 2;
    const std::vector<double> weights = b.weights(pose_of(setup, rotations));
    for (size_t s = 0; s < weights.size(); ++s) EXPECT_NEAR(weights[s], expected[s], 1e-9);
  }
}

// Two examples an angle r apart, radius r: kernels are exp(-1) between them and exp(-1/4) half way,
// so K w = k with K = [1 e; e 1] gives w = exp(-1/4) / (1 + exp(-1)) for both.
TEST(PoseSpace, HalfWayBetweenTwoByHand) {
  const Vec3d axis = Vec3d(1, 1, 0).normalized();
  const auto turned = [&](double angle) { return Quatd(Eigen::AngleAxisd(angle, axis)); };
  Examples setup{{0}, {{{turned(0.2)}, 0}, {{turned(1.4)}, 1}}};
  for (const double radius : {0.0, 1.2}) {
    const PoseSpace space(setup.joints, setup.samples, radius);
    for (const double w : space.weights(pose_of(setup, {turned(0.8)})))
      EXPECT_NEAR(w, std::exp(-0.25) / (1 + std::exp(-1)), 1e-12);
  }
  // Far from all examples nothing is left.
  const PoseSpace narrow(setup.joints, setup.samples, 0.2);
  for (const double w : narrow.weights(pose_of(setup, {turned(3)}))) EXPECT_LT(std::abs(w), 1e-9);
}

void expect_refused(const Examples& setup, double radius, const std::string& words) {
  try {
    PoseSpace space(setup.joints, setup.samples, radius);
    FAIL() << "accepted: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(PoseSpace, RefusesWhatItCannotSolve) {
  Examples same = random_setup(2, 4, 5);
  same.samples[3] = same.samples[1];
  same.samples[3].rotations[0].coeffs() *= -1;
  expect_refused(same, 0, "samples 1 and 3");
  Examples short_sample = random_setup(2, 4, 6);
  short_sample.samples[2].rotations.pop_back();
  expect_refused(short_sample, 0, "sample 2");
  Examples zero = random_setup(2, 4, 6);
  zero.samples[0].rotations[1].coeffs().setZero();
  expect_refused(zero, 0, "sample 0");
  expect_refused(random_setup(1, 3, 7), -1, "radius");
  // Twenty examples within a millionth of the radius are one example to the kernel.
  expect_refused(random_setup(1, 20, 8), 1e6, "radius");
}

TEST(PoseSpace, EmptySetDoesNothing) {
  const PoseSpace space({}, {});
  Pose pose;
  pose.shape_weights = {1, 2};
  space.apply(pose);
  EXPECT_TRUE(space.weights(pose).empty());
  EXPECT_EQ(pose.shape_weights, (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace supple
