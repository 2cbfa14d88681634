// Implicit time integration of M a + D v + f(x) = outer forces: backward Euler (first order) and
// TR-BDF2 (second order: a trapezoidal stage, then one of the second backward difference formula,
// as in Bathe's method [Bathe 2007]), over any system. Every stage is one minimisation by Newton's
// method.
//
// In both methods a stage ties velocity and acceleration at its end to the unknown positions by one
// difference formula: v = rate (x - still), a = rate (v - steady), where `still` and `steady` come
// from what is known. The same formula can be applied to any path (differences() below).
#pragma once

#include <cmath>
#include <span>

#include "supple/solve/newton.h"

namespace supple {

/// Methods of integration.
enum class Integrator { backward_euler, tr_bdf2 };

/// Positions with their first and second derivatives in time.
template <class Vector>
struct Moving {
  Vector position, velocity, acceleration;  ///< m, m/s, m/s²
};

/// The difference formula of a stage of a step that lasts h: rate = steepness / h,
/// still = begin x0 + middle x1 + (carried / rate) v0, and likewise steady from velocities, where
/// x0 is at the step's beginning and x1 at the end of the stage before.
struct StageRule {
  double until;      ///< part of the step at which the stage ends
  double steepness;  ///< rate times h
  double begin, middle, carried;
};

/// The stages of a method. Those of TR-BDF2 meet at 2 - √2, where both have the same rate, so that
/// a linear system has the same matrix in both; Bathe's choice is one half.
inline std::span<const StageRule> stages_of(Integrator method) {
  static constexpr double g = 2 - 1.4142135623730950488;  // of the step, where the stages meet
  static constexpr StageRule euler[] = {{1, 1, 1, 0, 0}};
  static constexpr StageRule bathe[] = {
      {g, 2 / g, 1, 0, 1},
      {1, (2 - g) / (1 - g), -(1 - g) * (1 - g) / (g * (2 - g)), 1 / (g * (2 - g)), 0}};
  if (method == Integrator::backward_euler) return euler;
  return bathe;
}

/// What the integrators ask of a system beside what Newton's method does.
template <class S>
concept DynamicSystem = System<S> && requires(S system, typename S::Positions& x, double factor) {
  system.begin_step(x);            // damping is that about x, for a whole step
  system.set_stage(factor, x, x);  // adds rate²/2 |x - a|² by mass, rate/2 |x - b|² by damping
  system.clear_stage();            // back to equilibrium
  system.project(x);               // puts what is held where it is held
  system.combine(factor, x, factor, x, x);  // third vector = sum of the scaled others
};

/// What a stage takes as known.
template <class Vector>
struct StageStart {
  double rate = 0;  ///< 1/s
  Vector still;     ///< m
  Vector steady;    ///< m/s
};

/// Sets what a stage of a step of h seconds takes as known.
template <class S, class Vector>
void find_stage_start(const S& system, const StageRule& rule, double h, const Moving<Vector>& begin,
                      const Moving<Vector>& middle, StageStart<Vector>& out) {
  out.rate = rule.steepness / h;
  const double carried = rule.carried / out.rate;
  system.combine(rule.begin, begin.position, carried, begin.velocity, out.still);
  system.combine(rule.begin, begin.velocity, carried, begin.acceleration, out.steady);
  if (rule.middle == 0) return;
  system.combine(1, out.still, rule.middle, middle.position, out.still);
  system.combine(1, out.steady, rule.middle, middle.velocity, out.steady);
}

/// Velocity and acceleration of a motion whose positions are known, by a stage's formula.
template <class S, class Vector>
void differences(const S& system, const StageStart<Vector>& start, Moving<Vector>& motion) {
  const double rate = start.rate;
  system.combine(rate, motion.position, -rate, start.still, motion.velocity);
  system.combine(rate, motion.velocity, -rate, start.steady, motion.acceleration);
}

/// How a step went.
struct ImplicitReport {
  int iterations = 0;
  int linear_iterations = 0;
  double residual = 0;  ///< relative, the worst of all stages
  bool converged = true;
  StageTimes stages;
};

/// What acts on a system from outside when nothing does.
template <class Vector>
struct NothingOutside {
  /// Brings held places and outer forces to `part` of the step.
  void begin(double /*part*/) {}
  /// Before every iteration of a stage: may change outer forces, and the velocity (m/s) that
  /// damping is relative to; says whether it did.
  bool refresh(const StageStart<Vector>& /*stage*/, const Vector& /*x*/, Vector& /*reference*/) {
    return false;
  }
};

/// Takes a system through time. Vectors are kept between steps, so that steps allocate nothing.
template <DynamicSystem S>
class ImplicitIntegrator {
 public:
  using Vector = typename S::Positions;

  ImplicitIntegrator(const S& system, Integrator method)
      : m_method(method),
        m_work(system),
        m_middle{system.zero(), system.zero(), system.zero()},
        m_end(m_middle),
        m_start{0, system.zero(), system.zero()},
        m_inertia_goal(system.zero()),
        m_damping_goal(system.zero()),
        m_reference(system.zero()) {}

  /// The method.
  Integrator method() const { return m_method; }

  /// Moves `now` on by h seconds.
  template <class Outside>
  ImplicitReport step(S& system, Moving<Vector>& now, double h, Outside& outside,
                      const NewtonOptions<typename S::LinearOptions>& options) {
    ImplicitReport report;
    report.stages.time("damping", [&] { system.begin_step(now.position); });
    m_middle = now;
    double before = 0;
    for (const StageRule& rule : stages_of(m_method)) {
      outside.begin(rule.until);
      find_stage_start(system, rule, h, now, m_middle, m_start);
      // The guess: as fast as before.
      const Moving<Vector>& last = before > 0 ? m_middle : now;
      system.combine(1, last.position, (rule.until - before) * h, last.velocity, m_end.position);
      system.project(m_end.position);
      solve_stage(system, outside, options, report);
      differences(system, m_start, m_end);
      std::swap(m_middle, m_end);
      before = rule.until;
    }
    system.clear_stage();
    std::swap(now, m_middle);
    return report;
  }

 private:
  template <class Outside>
  void solve_stage(S& system, Outside& outside,
                   const NewtonOptions<typename S::LinearOptions>& options,
                   ImplicitReport& report) {
    // M a = rate² M (x - goal) with goal = still + steady / rate, D (v - reference) likewise.
    system.combine(1, m_start.still, 1 / m_start.rate, m_start.steady, m_inertia_goal);
    const auto set = [&] {
      system.combine(1, m_start.still, 1 / m_start.rate, m_reference, m_damping_goal);
      system.set_stage(m_start.rate, m_inertia_goal, m_damping_goal);
    };
    system.combine(0, m_reference, 0, m_reference, m_reference);
    set();
    const auto refresh = [&](const Vector& x) {
      if (!outside.refresh(m_start, x, m_reference)) return false;
      set();
      return true;
    };
    const NewtonReport solved = solve_newton(system, m_end.position, m_work, options, refresh);
    report.iterations += solved.iterations;
    report.linear_iterations += solved.linear_iterations;
    report.residual = std::max(report.residual, solved.residual);
    report.converged = report.converged && solved.converged;
    report.stages.add(solved.stages);
  }

  Integrator m_method;
  NewtonWork<S> m_work;
  Moving<Vector> m_middle, m_end;
  StageStart<Vector> m_start;
  Vector m_inertia_goal, m_damping_goal, m_reference;
};

/// What a method makes of a damped oscillator x'' + damping x' + ω² x = 0: it turns and shrinks by
/// the larger of the two eigenvalues of one step.
struct DiscreteOscillator {
  double frequency = 0;  ///< Hz, 0 where it does not swing
  double decay = 0;      ///< 1/s: the amplitude falls by exp(-decay t)
};

/// The oscillator with angular frequency `omega` (rad/s) and `damping` (1/s, twice the rate of
/// decay) as steps of h seconds have it: numerical damping and its slower swing included.
DiscreteOscillator discrete_oscillator(Integrator method, double omega, double damping, double h);

}  // namespace supple
