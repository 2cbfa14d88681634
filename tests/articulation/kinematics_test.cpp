// Places and velocities of bones against products of transforms and finite differences; Jacobians,
// momenta and energies against sums over points.
#include "supple/articulation/kinematics.h"

#include <gtest/gtest.h>

#include "articulation/random_bodies.h"

namespace supple {
namespace {

using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;

Affine joint_matrix(const ArticulatedBone& bone, const Eigen::VectorXd& q) {
  Affine m = Affine::Identity();
  const auto turn = [&q](int at) { return Quatd(q[at + 3], q[at], q[at + 1], q[at + 2]); };
  if (bone.joint == JointType::free)
    return Affine(Eigen::Translation3d(q.segment<3>(bone.q)) * turn(bone.q + 3));
  m = Eigen::Translation3d(bone.position) * bone.orientation;
  switch (bone.joint) {
    case JointType::ball:
      m = m * turn(bone.q);
      break;
    case JointType::universal:
      m = m * Eigen::AngleAxisd(q[bone.q], bone.axis) *
          Eigen::AngleAxisd(q[bone.q + 1], bone.axis2);
      break;
    case JointType::hinge:
      m = m * Eigen::AngleAxisd(q[bone.q], bone.axis);
      break;
    case JointType::prismatic:
      m = m * Eigen::Translation3d(q[bone.q] * bone.axis);
      break;
    default:
      break;
  }
  return m;
}

TEST(Kinematics, BonesAreWhereTheirTransformsPutThem) {
  RandomBodies random(1);
  const ArticulatedBody body(random.bones(40, 6));
  const ArticulatedState state = random.state(body);
  const std::vector<BoneMotion> motions = bone_motions(body, state);
  std::vector<Affine> expected;
  for (const ArticulatedBone& bone : body.bones()) {
    const Affine local = joint_matrix(bone, state.q);
    expected.push_back(bone.parent < 0 ? local
                                       : expected[static_cast<size_t>(bone.parent)] * local);
    const BoneMotion& motion = motions[expected.size() - 1];
    EXPECT_LT((motion.matrix().matrix() - expected.back().matrix()).norm(), 1e-12) << bone.name;
    const Vec3d before =
        bone.parent < 0 ? Vec3d::Zero() : motions[static_cast<size_t>(bone.parent)].position;
    EXPECT_LT((motion.offset - (motion.position - before)).norm(), 1e-12);
  }
}

TEST(Kinematics, VelocitiesAreRatesOfPlaces) {
  RandomBodies random(2);
  const ArticulatedBody body(random.bones(30, 6));
  const ArticulatedState state = random.state(body);
  const std::vector<BoneMotion> motions = bone_motions(body, state);
  const double h = 1e-5;
  ArticulatedState later = state, earlier = state;
  advance(body, later.q, state.v, h);
  advance(body, earlier.q, state.v, -h);
  const std::vector<BoneMotion> after = bone_motions(body, later),
                                before = bone_motions(body, earlier);
  for (size_t i = 0; i < body.size(); ++i) {
    const Vec3d local = random.vector();
    const Vec3d rate = (after[i].point(local) - before[i].point(local)) / (2 * h);
    const Vec3d velocity = motions[i].velocity_at(motions[i].point(local));
    EXPECT_LT((rate - velocity).norm(), 1e-7 * (1 + velocity.norm())) << i;
  }
}

TEST(Kinematics, JacobiansAreDerivatives) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    RandomBodies random(seed);
    const ArticulatedBody body(random.bones(20, 4));
    const ArticulatedState state = random.state(body);
    const std::vector<BoneMotion> motions = bone_motions(body, state);
    const size_t bone = body.size() - 1;
    const Vec3d local = random.vector(), at = motions[bone].point(local);
    Jacobian jacobian(6, body.velocity_numbers());
    point_jacobian(body, motions, bone, at, jacobian);
    // With the state's own v it gives the point's velocity.
    const Eigen::Matrix<double, 6, 1> moved = jacobian * state.v;
    EXPECT_LT((moved.head<3>() - motions[bone].velocity.angular).norm(), 1e-12);
    EXPECT_LT((moved.tail<3>() - motions[bone].velocity_at(at)).norm(), 1e-12);
    for (int k = 0; k < body.velocity_numbers(); ++k) {
      const double h = 1e-5;
      ArticulatedState later = state, earlier = state;
      const Eigen::VectorXd unit = Eigen::VectorXd::Unit(body.velocity_numbers(), k);
      advance(body, later.q, unit, h);
      advance(body, earlier.q, unit, -h);
      const BoneMotion after = bone_motions(body, later)[bone],
                       before = bone_motions(body, earlier)[bone];
      const Vec3d rate = (after.point(local) - before.point(local)) / (2 * h);
      const Mat3d spin =
          (after.rotation - before.rotation) / (2 * h) * motions[bone].rotation.transpose();
      EXPECT_LT((jacobian.col(k).tail<3>() - rate).norm(), 1e-8) << seed << ' ' << k;
      EXPECT_LT((cross_matrix(jacobian.col(k).head<3>()) - spin).norm(), 1e-8) << seed << ' ' << k;
    }
  }
}

// A bone as six equal points, whose sums are compared with the bone's.
TEST(Kinematics, MomentaAndEnergiesAreThoseOfPoints) {
  RandomBodies random(3);
  std::vector<BoneDescription> bones = random.bones(15, 4);
  std::vector<std::vector<Vec3d>> points(bones.size());
  for (size_t i = 0; i < bones.size(); ++i) {
    BoneDescription& bone = bones[i];
    bone.mass = 6 * (0.2 + 0.1 * static_cast<double>(i));
    bone.centre.setZero();
    for (int k = 0; k < 6; ++k) points[i].push_back(random.vector());
    for (const Vec3d& p : points[i]) bone.centre += p / 6;
    bone.inertia.setZero();
    for (const Vec3d& p : points[i]) {
      const Vec3d r = p - bone.centre;
      bone.inertia += bone.mass / 6 * (r.squaredNorm() * Mat3d::Identity() - r * r.transpose());
    }
  }
  const ArticulatedBody body(bones);
  const std::vector<BoneMotion> motions = bone_motions(body, random.state(body));
  std::vector<Twist> accelerations(body.size());
  for (Twist& a : accelerations) a = {random.vector(), random.vector()};
  const Vec3d about = random.vector(), gravity = random.vector();
  Wrench momentum, rate;
  double kinetic = 0, potential = 0;
  Vec3d centre = Vec3d::Zero();
  for (size_t i = 0; i < body.size(); ++i)
    for (const Vec3d& local : points[i]) {
      const double m = body.bone(i).mass / 6;
      const Vec3d at = motions[i].point(local), v = motions[i].velocity_at(at);
      momentum = momentum + wrench_of_force(m * v, at, about);
      rate =
          rate + wrench_of_force(m * acceleration_at(motions[i], accelerations[i], at), at, about);
      kinetic += m * v.squaredNorm() / 2;
      potential -= m * gravity.dot(at);
      centre += m * at / body.mass();
    }
  const Wrench found = total_momentum(body, motions, about);
  const Wrench found_rate = momentum_rate(body, motions, accelerations, about);
  EXPECT_LT((found.torque - momentum.torque).norm(), 1e-12 * momentum.torque.norm());
  EXPECT_LT((found.force - momentum.force).norm(), 1e-12 * momentum.force.norm());
  EXPECT_LT((found_rate.torque - rate.torque).norm(), 1e-12 * rate.torque.norm());
  EXPECT_LT((found_rate.force - rate.force).norm(), 1e-12 * rate.force.norm());
  EXPECT_NEAR(kinetic_energy(body, motions), kinetic, 1e-12 * kinetic);
  EXPECT_NEAR(potential_energy(body, motions, gravity), potential, 1e-11 * std::abs(potential));
  EXPECT_LT((centre_of_mass(body, motions) - centre).norm(), 1e-12);
}

}  // namespace
}  // namespace supple
