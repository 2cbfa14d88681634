// The rigid motion that brings the outer forces on a piece of a body into balance: their sum, and
// their torque with the arms they had at the beginning of a step.
#pragma once

#include <Eigen/LU>

#include <algorithm>

#include "supple/math/types.h"

namespace supple {

/// Sums of forces on a piece; first weigh() all points, then centre(), then add() them.
class RigidBalance {
 public:
  /// Counts a point for the centre.
  void weigh(double pull, const Vec3d& before, const Vec3d& now) {
    m_weight += pull;
    m_before += pull * before;
    m_now += pull * now;
  }

  /// Takes the centre of all that was weighed.
  void centre() {
    if (!(m_weight > 0)) return;
    m_before /= m_weight;
    m_now /= m_weight;
  }

  /// Adds a force at a point, in newtons, that changes by -pull per metre of displacement there.
  void add(const Vec3d& before, const Vec3d& now, double pull, const Vec3d& force) {
    const Vec3d arm = before - m_before;
    m_moments += pull * (now - m_now) * arm.transpose();
    m_force += force;
    m_torque += arm.cross(force);
  }

  /// As add(), with a stiffness that differs by direction.
  void add_spring(const Vec3d& before, const Vec3d& now, const Mat3d& k, const Vec3d& force) {
    const Mat3d arm = cross(before - m_before), turned = k * cross(now - m_now);
    m_stiffness.topLeftCorner<3, 3>() += k;
    m_stiffness.topRightCorner<3, 3>() -= turned;
    m_stiffness.bottomLeftCorner<3, 3>() += arm * k;
    m_stiffness.bottomRightCorner<3, 3>() -= arm * turned;
    m_force += force;
    m_torque += arm * force;
  }

  /// The motion; raises `largest` to its turn, in radians. None where forces are not enough for
  /// one.
  Affine motion(double& largest) {
    constexpr double most_turn = 0.5;
    if (!(m_weight > 0)) return Affine::Identity();
    // About the centre, points with pulls add up to nothing off the diagonal.
    m_stiffness.topLeftCorner<3, 3>() += m_weight * Mat3d::Identity();
    m_stiffness.bottomRightCorner<3, 3>() += m_moments.trace() * Mat3d::Identity() - m_moments;
    Eigen::Matrix<double, 6, 1> force;
    force << m_force, m_torque;
    const Eigen::Matrix<double, 6, 1> move = m_stiffness.partialPivLu().solve(force);
    if (!move.allFinite()) return Affine::Identity();
    const Vec3d turn = move.tail<3>();
    const double angle = std::min(turn.norm(), most_turn);
    largest = std::max(largest, angle);
    return Eigen::Translation3d(m_now + move.head<3>()) *
           Eigen::AngleAxisd(angle, turn.stableNormalized()) * Eigen::Translation3d(-m_now);
  }

 private:
  static Mat3d cross(const Vec3d& r) {
    Mat3d m;
    m << 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0;
    return m;
  }

  double m_weight = 0;
  Vec3d m_before = Vec3d::Zero(), m_now = Vec3d::Zero();  // centres
  Mat3d m_moments = Mat3d::Zero();
  Vec3d m_force = Vec3d::Zero(), m_torque = Vec3d::Zero();
  Eigen::Matrix<double, 6, 6> m_stiffness = Eigen::Matrix<double, 6, 6>::Zero();  // of springs
};

}  // namespace supple
