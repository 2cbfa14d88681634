// Motion of joints over time: states differ by vectors as v, along which they are advanced by the
// exponential map, so that quaternions stay rotations. Symplectic Euler as [Kim 2011, section 6]
// uses it, and the accelerations that make it follow given paths.
#pragma once

#include <Eigen/Core>

#include "supple/articulation/articulated_body.h"

namespace supple {

/// Moves one joint's numbers by h v: angles and lengths by addition, quaternions by q exp(h v).
void advance_joint(JointType type, double* q, const double* v, double h);

/// What takes one joint from `from` to `to` in unit time, as v; quaternions the shorter way.
void joint_difference(JointType type, const double* from, const double* to, double* difference);

/// Moves all joints: q ⊕ h v. Unit quaternions stay so.
void advance(const ArticulatedBody& body, Eigen::VectorXd& q, const Eigen::VectorXd& v, double h);

/// What takes all joints from `from` to `to` in unit time: to ⊖ from.
Eigen::VectorXd difference(const ArticulatedBody& body, const Eigen::VectorXd& from,
                           const Eigen::VectorXd& to);

/// A step of symplectic Euler, in seconds: v += h a, then q with the new v.
void integrate(const ArticulatedBody& body, ArticulatedState& state,
               const Eigen::VectorXd& accelerations, double h);

/// The accelerations with which integrate() puts all joints at `target` after a step of h seconds,
/// ((target ⊖ q)/h - v)/h, written to `accelerations`.
void following_accelerations(const ArticulatedBody& body, const ArticulatedState& state,
                             const Eigen::VectorXd& target, double h,
                             Eigen::VectorXd& accelerations);

/// The same for one joint, whose numbers at the end of the step are `target`; writes as many
/// numbers as it has in v.
void following_acceleration(const ArticulatedBody& body, const ArticulatedState& state, size_t bone,
                            const double* target, double h, double* acceleration);

}  // namespace supple
