// Torques that joints make by themselves or by simple control, from the state alone: limits,
// springs and dampers of the model, and servos. All are added to vectors of torques as v.
//
// They are explicit: with symplectic Euler a stiffness k on inertia I is stable only for steps
// below 2 √(I/k), a damping d below 2 I/d.
#pragma once

#include <Eigen/Core>

#include <span>

#include "supple/articulation/articulated_body.h"

namespace supple {

/// Adds the torques of all limits, springs and dampers (N m, of prismatic joints N). A limit
/// pushes back from where it is exceeded, and only ever back.
void add_passive_torques(const ArticulatedBody& body, const ArticulatedState& state,
                         Eigen::VectorXd& torques);

/// Adds to `resistances`, as v, how the joints' own dampers, springs and exceeded limits resist
/// accelerations over a step of h seconds: h times damping and h² times stiffness, kg m² (kg).
void add_passive_resistances(const ArticulatedBody& body, const ArticulatedState& state, double h,
                             Eigen::VectorXd& resistances);

/// Energy in springs and exceeded limits, J.
double passive_energy(const ArticulatedBody& body, const ArticulatedState& state);

/// A proportional and derivative servo of one joint.
struct Servo {
  size_t bone = 0;
  double stiffness = 0;                                       ///< N m/rad (N/m)
  double damping = 0;                                         ///< N m s/rad (N s/m)
  double greatest = std::numeric_limits<double>::infinity();  ///< of each number, N m (N)
};

/// Adds stiffness (target ⊖ q) + damping (target_v - v) of a servo's joint; `target_q` and
/// `target_v` are that joint's numbers (an empty `target_v` stands for zeros). Turns of ball and
/// free joints are differences by rotation vectors, the shorter way.
void add_servo_torque(const ArticulatedBody& body, const ArticulatedState& state,
                      const Servo& servo, std::span<const double> target_q,
                      std::span<const double> target_v, Eigen::VectorXd& torques);

}  // namespace supple
