#include "supple/articulation/integrate.h"

namespace supple {
namespace {

using Vector3Map = Eigen::Map<const Vec3d>;

Quatd quaternion(const double* q) {
  return Quatd(Eigen::Map<const Quatd, Eigen::Unaligned>(q)).normalized();
}

void turn(double* q, const double* v, double h) {
  Eigen::Map<Eigen::Vector4d>{q} = (quaternion(q) * rotation_of(h * Vector3Map(v))).coeffs();
}

void turn_between(const double* from, const double* to, double* difference) {
  Eigen::Map<Vec3d>{difference} = rotation_vector(quaternion(from).conjugate() * quaternion(to));
}

}  // namespace

void advance_joint(JointType type, double* q, const double* v, double h) {
  switch (type) {
    case JointType::free:
      for (int k = 0; k < 3; ++k) q[k] += h * v[3 + k];
      turn(q + 3, v, h);
      break;
    case JointType::ball:
      turn(q, v, h);
      break;
    case JointType::universal:
      q[1] += h * v[1];
      [[fallthrough]];
    case JointType::hinge:
    case JointType::prismatic:
      q[0] += h * v[0];
      break;
    case JointType::fixed:
      break;
  }
}

void joint_difference(JointType type, const double* from, const double* to, double* difference) {
  switch (type) {
    case JointType::free:
      for (int k = 0; k < 3; ++k) difference[3 + k] = to[k] - from[k];
      turn_between(from + 3, to + 3, difference);
      break;
    case JointType::ball:
      turn_between(from, to, difference);
      break;
    case JointType::universal:
      difference[1] = to[1] - from[1];
      [[fallthrough]];
    case JointType::hinge:
    case JointType::prismatic:
      difference[0] = to[0] - from[0];
      break;
    case JointType::fixed:
      break;
  }
}

void advance(const ArticulatedBody& body, Eigen::VectorXd& q, const Eigen::VectorXd& v, double h) {
  for (const BoneConstants& bone : body.constants())
    advance_joint(bone.joint, q.data() + bone.q, v.data() + bone.v, h);
}

Eigen::VectorXd difference(const ArticulatedBody& body, const Eigen::VectorXd& from,
                           const Eigen::VectorXd& to) {
  Eigen::VectorXd result(body.velocity_numbers());
  for (const BoneConstants& bone : body.constants())
    joint_difference(bone.joint, from.data() + bone.q, to.data() + bone.q, result.data() + bone.v);
  return result;
}

void integrate(const ArticulatedBody& body, ArticulatedState& state,
               const Eigen::VectorXd& accelerations, double h) {
  state.v += h * accelerations;
  advance(body, state.q, state.v, h);
}

void following_accelerations(const ArticulatedBody& body, const ArticulatedState& state,
                             const Eigen::VectorXd& target, double h,
                             Eigen::VectorXd& accelerations) {
  accelerations.resize(body.velocity_numbers());
  for (size_t i = 0; i < body.size(); ++i)
    following_acceleration(body, state, i, target.data() + body.bone(i).q, h,
                           accelerations.data() + body.bone(i).v);
}

void following_acceleration(const ArticulatedBody& body, const ArticulatedState& state, size_t bone,
                            const double* target, double h, double* acceleration) {
  const BoneConstants& joint = body.constants()[bone];
  joint_difference(joint.joint, state.q.data() + joint.q, target, acceleration);
  for (int k = 0; k < velocity_numbers(joint.joint); ++k)
    acceleration[k] = (acceleration[k] / h - state.v[joint.v + k]) / h;
}

}  // namespace supple
