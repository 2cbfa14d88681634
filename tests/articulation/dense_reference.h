// Articulated bodies the long way, for tests: in each bone's own frame with full 6x6 matrices, the
// mass matrix as a sum over bones of Jacobians, bias forces by recursive Newton-Euler, and
// accelerations by LU; in extended precision.
#pragma once

#include <Eigen/LU>

#include <random>
#include <vector>

#include "supple/articulation/hybrid_dynamics.h"

namespace supple::reference {

using Real = long double;
using Vec3 = Eigen::Matrix<Real, 3, 1>;
using Mat3 = Eigen::Matrix<Real, 3, 3>;
using Vec6 = Eigen::Matrix<Real, 6, 1>;
using Mat6 = Eigen::Matrix<Real, 6, 6>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

inline Mat3 skew(const Vec3& r) {
  Mat3 m;
  m << 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0;
  return m;
}

// ad_V of [Kim 2011, table II].
inline Mat6 lie_bracket(const Vec6& v) {
  Mat6 m = Mat6::Zero();
  m.topLeftCorner<3, 3>() = m.bottomRightCorner<3, 3>() = skew(v.head<3>());
  m.bottomLeftCorner<3, 3>() = skew(v.tail<3>());
  return m;
}

struct BoneTerms {
  Mat3 rotation;             // in the world
  Mat6 from_parent;          // twists from the parent's frame to the bone's
  Matrix joint, joint_rate;  // S and its derivative
  Mat6 inertia;
  Matrix jacobian;  // of the bone's twist in its own frame
};

inline Mat3 turn(const Vec3d& axis, double angle) {
  return Eigen::AngleAxis<Real>(angle, axis.cast<Real>().normalized()).toRotationMatrix();
}

inline Mat3 turn(const double* q) {
  return Eigen::Quaternion<Real>(q[3], q[0], q[1], q[2]).normalized().toRotationMatrix();
}

class Dense {
 public:
  Dense(const ArticulatedBody& body, const ArticulatedState& state)
      : m_body(body), m_velocity(state.v.cast<Real>()), m_bones(body.size()) {
    for (size_t i = 0; i < body.size(); ++i) set(i, state);
  }

  // Torques that bring about accelerations.
  Vector torques(const Vector& accelerations, const JointCommands& commands) {
    const size_t n = m_body.size();
    std::vector<Vec6> v(n);
    rates.assign(n, Vec6::Zero());
    forces.assign(n, Vec6::Zero());
    Vec6 ground = Vec6::Zero();
    ground.tail<3>() = -commands.gravity.cast<Real>();
    for (size_t i = 0; i < n; ++i) {
      const ArticulatedBone& bone = m_body.bone(i);
      const BoneTerms& t = m_bones[i];
      const auto qd = m_velocity.segment(bone.v, bone.v_count);
      const Vec6 joint = t.joint * qd;
      v[i] = joint;
      rates[i] = t.from_parent * ground;
      if (bone.parent >= 0) {
        const auto p = static_cast<size_t>(bone.parent);
        v[i] += t.from_parent * v[p];
        rates[i] = t.from_parent * rates[p];
      }
      rates[i] += lie_bracket(v[i]) * joint + t.joint_rate * qd +
                  t.joint * accelerations.segment(bone.v, bone.v_count);
      forces[i] = t.inertia * rates[i] - lie_bracket(v[i]).transpose() * (t.inertia * v[i]);
      if (commands.wrenches.empty()) continue;
      forces[i].head<3>() -= t.rotation.transpose() * commands.wrenches[i].torque.cast<Real>();
      forces[i].tail<3>() -= t.rotation.transpose() * commands.wrenches[i].force.cast<Real>();
    }
    velocities = v;
    Vector result(m_body.velocity_numbers());
    for (size_t i = n; i-- > 0;) {
      const ArticulatedBone& bone = m_body.bone(i);
      result.segment(bone.v, bone.v_count) = m_bones[i].joint.transpose() * forces[i];
      if (bone.parent >= 0)
        forces[static_cast<size_t>(bone.parent)] += m_bones[i].from_parent.transpose() * forces[i];
    }
    return result;
  }

  Matrix mass_matrix() const {
    Matrix m = Matrix::Zero(m_body.velocity_numbers(), m_body.velocity_numbers());
    for (const BoneTerms& t : m_bones) m += t.jacobian.transpose() * (t.inertia * t.jacobian);
    return m;
  }

  // Solves M a + b = τ for what is not given, and recalls rates and forces for it.
  void solve(const JointCommands& commands) {
    const int n = m_body.velocity_numbers();
    const Vector bias = torques(Vector::Zero(n), commands);
    const Matrix m = mass_matrix();
    std::vector<int> unknown;
    accelerations = Vector::Zero(n);
    for (size_t i = 0; i < m_body.size(); ++i)
      for (int k = m_body.bone(i).v; k < m_body.bone(i).v + m_body.bone(i).v_count; ++k)
        if (!commands.prescribed.empty() && commands.prescribed[i] != 0)
          accelerations[k] = commands.accelerations[static_cast<size_t>(k)];
        else
          unknown.push_back(k);
    const Vector known = bias + m * accelerations;
    const auto count = static_cast<Eigen::Index>(unknown.size());
    Matrix left(count, count);
    Vector right(count);
    for (Eigen::Index r = 0; r < count; ++r) {
      const int row = unknown[static_cast<size_t>(r)];
      right[r] =
          (commands.torques.empty() ? 0 : commands.torques[static_cast<size_t>(row)]) - known[row];
      for (Eigen::Index c = 0; c < count; ++c) left(r, c) = m(row, unknown[static_cast<size_t>(c)]);
    }
    if (count > 0) {
      const Vector x = left.partialPivLu().solve(right);
      for (Eigen::Index r = 0; r < count; ++r)
        accelerations[unknown[static_cast<size_t>(r)]] = x[r];
    }
    joint_torques = torques(accelerations, commands);
  }

  // In the world's axes: angular acceleration of a bone, that of its origin, and what its joint
  // exerts on it.
  Vec3 angular(size_t i) const { return m_bones[i].rotation * rates[i].head<3>(); }
  Vec3 linear(size_t i, const Vec3d& gravity) const {
    const Vec3 w = velocities[i].head<3>(), v = velocities[i].tail<3>();
    return m_bones[i].rotation * (rates[i].tail<3>() + w.cross(v)) + gravity.cast<Real>();
  }
  Vec3 torque(size_t i) const { return m_bones[i].rotation * forces[i].head<3>(); }
  Vec3 force(size_t i) const { return m_bones[i].rotation * forces[i].tail<3>(); }

  Vector accelerations, joint_torques;
  std::vector<Vec6> rates, forces, velocities;

 private:
  void set(size_t i, const ArticulatedState& state) {
    const ArticulatedBone& bone = m_body.bone(i);
    BoneTerms& t = m_bones[i];
    const double *q = state.q.data() + bone.q, *v = state.v.data() + bone.v;
    Mat3 local = bone.orientation.cast<Real>().normalized().toRotationMatrix();
    Vec3 place = bone.position.cast<Real>();
    t.joint = t.joint_rate = Matrix::Zero(6, bone.v_count);
    const Vec3 axis = bone.axis.cast<Real>(), axis2 = bone.axis2.cast<Real>();
    switch (bone.joint) {
      case JointType::free:
        local = turn(q + 3);
        place = Vec3(q[0], q[1], q[2]);
        t.joint.topLeftCorner(3, 3).setIdentity();
        t.joint.bottomRightCorner(3, 3) = local.transpose();
        t.joint_rate.bottomRightCorner(3, 3) = -skew(Vec3(v[0], v[1], v[2])) * local.transpose();
        break;
      case JointType::ball:
        local = local * turn(q);
        t.joint.topRows(3).setIdentity();
        break;
      case JointType::universal: {
        const Vec3 first = turn(bone.axis2, q[1]).transpose() * axis;
        local = local * turn(bone.axis, q[0]) * turn(bone.axis2, q[1]);
        t.joint.col(0).head(3) = first;
        t.joint.col(1).head(3) = axis2;
        t.joint_rate.col(0).head(3) = -Real(v[1]) * axis2.cross(first);
        break;
      }
      case JointType::hinge:
        local = local * turn(bone.axis, q[0]);
        t.joint.col(0).head(3) = axis;
        break;
      case JointType::prismatic:
        place += local * axis * Real(q[0]);
        t.joint.col(0).tail(3) = axis;
        break;
      case JointType::fixed:
        break;
    }
    t.from_parent.setZero();
    t.from_parent.topLeftCorner<3, 3>() = t.from_parent.bottomRightCorner<3, 3>() =
        local.transpose();
    t.from_parent.bottomLeftCorner<3, 3>() = -local.transpose() * skew(place);
    const Real m = bone.mass;
    const Mat3 c = skew(bone.centre.cast<Real>());
    t.inertia.topLeftCorner<3, 3>() = bone.inertia.cast<Real>() - m * c * c;
    t.inertia.topRightCorner<3, 3>() = m * c;
    t.inertia.bottomLeftCorner<3, 3>() = -m * c;
    t.inertia.bottomRightCorner<3, 3>() = m * Mat3::Identity();
    t.rotation = local;
    t.jacobian = Matrix::Zero(6, m_body.velocity_numbers());
    if (bone.parent >= 0) {
      const BoneTerms& parent = m_bones[static_cast<size_t>(bone.parent)];
      t.rotation = parent.rotation * local;
      t.jacobian = t.from_parent * parent.jacobian;
    }
    t.jacobian.middleCols(bone.v, bone.v_count) += t.joint;
  }

  const ArticulatedBody& m_body;
  Vector m_velocity;
  std::vector<BoneTerms> m_bones;
};

}  // namespace supple::reference
