#include "supple/articulation/kinematics.h"

namespace supple {
namespace {

// Rotation about a unit axis.
Mat3d rotation_about(const Vec3d& axis, double angle) {
  const double s = std::sin(angle), c = std::cos(angle);
  const Vec3d t = (1 - c) * axis, u = s * axis;
  const double xy = t[0] * axis[1], xz = t[0] * axis[2], yz = t[1] * axis[2];
  Mat3d m;
  m << c + t[0] * axis[0], xy - u[2], xz + u[1],  //
      xy + u[2], c + t[1] * axis[1], yz - u[0],   //
      xz - u[1], yz + u[0], c + t[2] * axis[2];
  return m;
}

Mat3d rotation_at(const double* q) {
  return Eigen::Map<const Quatd, Eigen::Unaligned>(q).toRotationMatrix();
}

using Vector3Map = Eigen::Map<const Vec3d>;

// Moves one bone, its parent being there.
void move_bone(const BoneConstants& bone, const BoneMotion& parent, const double* q,
               const double* v, BoneMotion& motion) {
  if (bone.joint == JointType::free) {
    motion.position = motion.offset = Vector3Map(q);
    motion.rotation = rotation_at(q + 3);
    motion.velocity = {motion.rotation * Vector3Map(v), Vector3Map(v + 3)};
    return;
  }
  Mat3d turned = parent.rotation * bone.frame;
  Vec3d turning = parent.velocity.angular, sliding = Vec3d::Zero();
  motion.offset = parent.rotation * bone.position;
  switch (bone.joint) {
    case JointType::ball:
      motion.rotation = turned * rotation_at(q);
      turning += motion.rotation * Vector3Map(v);
      break;
    case JointType::universal:
      turning += turned * (v[0] * bone.axis);
      turned = turned * rotation_about(bone.axis, q[0]);
      motion.rotation = turned * rotation_about(bone.axis2, q[1]);
      turning += turned * (v[1] * bone.axis2);
      break;
    case JointType::hinge:
      motion.rotation = turned * rotation_about(bone.axis, q[0]);
      turning += turned * (v[0] * bone.axis);
      break;
    case JointType::prismatic: {
      const Vec3d axis = turned * bone.axis;
      motion.rotation = turned;
      motion.offset += q[0] * axis;
      sliding = v[0] * axis;
      break;
    }
    default:
      motion.rotation = turned;
  }
  motion.position = parent.position + motion.offset;
  motion.velocity.angular = turning;
  motion.velocity.linear =
      parent.velocity.linear + parent.velocity.angular.cross(motion.offset) + sliding;
}

// Momentum of a bone about its origin.
Wrench momentum_of(const BoneConstants& bone, const BoneMotion& motion) {
  const SpatialInertia inertia = SpatialInertia::rigid(bone.mass, motion.rotation * bone.centre,
                                                       rotated(bone.inertia, motion.rotation));
  return inertia * motion.velocity;
}

}  // namespace

void move_bones(const ArticulatedBody& body, const ArticulatedState& state,
                std::span<BoneMotion> motions) {
  const BoneMotion world;
  const double *q = state.q.data(), *v = state.v.data();
  size_t i = 0;
  for (const BoneConstants& bone : body.constants()) {
    const BoneMotion& parent = bone.parent < 0 ? world : motions[static_cast<size_t>(bone.parent)];
    move_bone(bone, parent, q + bone.q, v + bone.v, motions[i++]);
  }
}

std::vector<BoneMotion> bone_motions(const ArticulatedBody& body, const ArticulatedState& state) {
  std::vector<BoneMotion> motions(body.size());
  move_bones(body, state, motions);
  return motions;
}

void point_jacobian(const ArticulatedBody& body, std::span<const BoneMotion> motions, size_t bone,
                    const Vec3d& at, Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> result) {
  result.setZero();
  for (int i = static_cast<int>(bone); i >= 0;) {
    const BoneConstants& joint = body.constants()[static_cast<size_t>(i)];
    const BoneMotion& motion = motions[static_cast<size_t>(i)];
    const Vec3d arm = at - motion.position;
    const auto set_turn = [&](int column, const Vec3d& axis) {
      result.col(joint.v + column) << axis, axis.cross(arm);
    };
    switch (joint.joint) {
      case JointType::free:
        result.block<3, 3>(3, joint.v + 3).setIdentity();
        [[fallthrough]];
      case JointType::ball:
        for (int k = 0; k < 3; ++k) set_turn(k, motion.rotation.col(k));
        break;
      case JointType::universal: {
        const Mat3d parent = joint.parent < 0 ? Mat3d::Identity()
                                              : motions[static_cast<size_t>(joint.parent)].rotation;
        set_turn(0, parent * (joint.frame * joint.axis));
        set_turn(1, motion.rotation * joint.axis2);
        break;
      }
      case JointType::hinge:
        set_turn(0, motion.rotation * joint.axis);
        break;
      case JointType::prismatic:
        result.col(joint.v).tail<3>() = motion.rotation * joint.axis;
        break;
      case JointType::fixed:
        break;
    }
    i = joint.parent;
  }
}

Vec3d centre_of_mass(const ArticulatedBody& body, std::span<const BoneMotion> motions) {
  Vec3d sum = Vec3d::Zero();
  for (size_t i = 0; i < body.size(); ++i)
    sum += body.constants()[i].mass * motions[i].point(body.constants()[i].centre);
  return body.mass() > 0 ? sum / body.mass() : sum;
}

Wrench total_momentum(const ArticulatedBody& body, std::span<const BoneMotion> motions,
                      const Vec3d& about) {
  Wrench sum;
  for (size_t i = 0; i < body.size(); ++i) {
    const Wrench own = momentum_of(body.constants()[i], motions[i]);
    sum = sum + Wrench{own.torque + (motions[i].position - about).cross(own.force), own.force};
  }
  return sum;
}

Wrench momentum_rate(const ArticulatedBody& body, std::span<const BoneMotion> motions,
                     std::span<const Twist> accelerations, const Vec3d& about) {
  Wrench sum;
  for (size_t i = 0; i < body.size(); ++i) {
    const BoneConstants& bone = body.constants()[i];
    const BoneMotion& motion = motions[i];
    // About the centre of mass: d/dt (I ω) = I ω' + ω × I ω, and m times the centre's acceleration.
    const Vec3d c = motion.rotation * bone.centre, &w = motion.velocity.angular;
    Symmetric3d inertia = rotated(bone.inertia, motion.rotation);
    inertia += Symmetric3d::of(bone.mass *
                               (c * c.transpose() - c.squaredNorm() * Mat3d::Identity()).eval());
    const Vec3d at = motion.position + c;
    const Vec3d force = bone.mass * acceleration_at(motion, accelerations[i], at);
    sum.force += force;
    sum.torque +=
        (at - about).cross(force) + inertia * accelerations[i].angular + w.cross(inertia * w);
  }
  return sum;
}

double kinetic_energy(const ArticulatedBody& body, std::span<const BoneMotion> motions) {
  double sum = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    const Wrench own = momentum_of(body.constants()[i], motions[i]);
    sum +=
        (own.torque.dot(motions[i].velocity.angular) + own.force.dot(motions[i].velocity.linear)) /
        2;
  }
  return sum;
}

double potential_energy(const ArticulatedBody& body, std::span<const BoneMotion> motions,
                        const Vec3d& gravity) {
  return -body.mass() * gravity.dot(centre_of_mass(body, motions));
}

}  // namespace supple
