// Newton's method for equilibrium, with a line search on the energy: linearise, solve roughly, move
// as far as the energy falls. Far from the solution the stiffness is projected to be positive
// definite; near it the projection is dropped, as it makes convergence linear there. Where the true
// stiffness then turns out indefinite (before buckling), the linear solve stops at the direction of
// negative curvature, and what it has found so far, which leads downhill, is the step, or that of
// the projected stiffness if there is nothing. Neither tells how far to go: such steps are
// lengthened for as long as the energy falls.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "supple/core/timer.h"
#include "supple/solve/system.h"

namespace supple {

/// Settings of Newton's method. Budgets count work, so that results do not depend on the clock;
/// `seconds` is the one that does, for those who ask for it.
template <class LinearOptions>
struct NewtonOptions {
  double tolerance = 1e-3;  ///< of |force| relative to the one at the start
  double least_force = 0;   ///< newtons: a residual as small as this is an equilibrium
  double least_move = 0;    ///< metres: a step that moves no node further is the last one
  double least_left = 0;    ///< metres: what steps by an earlier linearisation may leave
  int iterations = 50;
  int products = std::numeric_limits<int>::max();  ///< of the operator, in all linear solves
  double seconds = std::numeric_limits<double>::infinity();  ///< after which no iteration begins
  double exact_below = 0.15;  ///< relative residual from which the projection is dropped
  double reuse_below = 0;  ///< a linearisation serves on where it lowers the residual to this part
  Differential far = Differential::projected;  ///< linearisation before that
  int line_search = 30;                        ///< most halvings of a step
  LinearOptions linear = {};
};

/// How a solve went.
struct NewtonReport {
  int iterations = 0;
  int linear_iterations = 0;
  int products = 0;
  double residual = 1;  ///< |force| relative to the one at the start
  double force = 0;     ///< |force|, in newtons
  double energy = 0;    ///< joules
  double moved = 0;     ///< by how much the last step moved a node at most, in metres
  bool converged = false;
  bool out_of_time = false;       ///< ended by the clock
  bool stalled = false;           ///< no step along the last direction lowers the energy
  int indefinite = 0;             ///< exact linearisations that were not positive definite
  std::vector<double> residuals;  ///< after every iteration
  StageTimes stages;              ///< "linearise", "solve", "search"
};

/// Vectors of Newton's method, kept between solves so that steps allocate nothing.
template <System S>
struct NewtonWork {
  explicit NewtonWork(const S& s) : force(s.zero()), trial(s.zero()), dx(s.zero_step()) {}
  typename S::Positions force, trial;
  typename S::Step dx;
};

namespace newton_detail {

/// The direction dx of the next step by the linearisation there is; false where it leads nowhere.
template <System S>
bool find_direction_again(S& system, NewtonWork<S>& work,
                          const NewtonOptions<typename S::LinearOptions>& options,
                          NewtonReport& report) {
  const LinearReport linear = report.stages.time(
      "solve", [&] { return system.solve(work.force, work.dx, options.linear); });
  report.linear_iterations += linear.iterations;
  report.products += linear.products;
  return !linear.indefinite;
}

/// The direction dx of the next step: with the true derivative where that is wanted and possible.
/// Says whether negative curvature was met, where neither what was found before that nor the
/// projection tells how far to go.
template <System S>
bool find_direction(S& system, const typename S::Positions& x, NewtonWork<S>& work, bool exact,
                    const NewtonOptions<typename S::LinearOptions>& options, NewtonReport& report) {
  bool indefinite = false;
  for (const Differential kind : {Differential::exact, options.far}) {
    if (kind == Differential::exact && !exact) continue;
    report.stages.time("linearise", [&] { system.linearise(x, kind); });
    const LinearReport linear = report.stages.time(
        "solve", [&] { return system.solve(work.force, work.dx, options.linear); });
    report.linear_iterations += linear.iterations;
    report.products += linear.products;
    if (kind == options.far || !linear.indefinite) break;
    // Where curvature is negative, what was found before leads downhill; if nothing was, project.
    ++report.indefinite;
    indefinite = true;
    if (linear.iterations > 0) break;
  }
  return indefinite;
}

/// How much the energy falls at least, of what the slope promises.
inline constexpr double enough_fall = 1e-4;

/// How many times dx to go, 1, 2, 4 and so on, for as long as doubling lowers the energy; `energy`
/// is that of going once.
template <System S>
double lengthened(S& system, const typename S::Positions& x, NewtonWork<S>& work, double slope,
                  double energy) {
  constexpr double longest = 64;
  double step = 1;
  while (step < longest) {
    system.move(x, 2 * step, work.dx, work.trial);
    const double further = system.energy(work.trial);
    if (!(further <= energy - enough_fall * step * slope)) break;
    energy = further;
    step *= 2;
  }
  return step;
}

/// Moves along dx until the energy has fallen enough; x, force and energy are those of the new
/// place. `lengthens` where dx may be too short. False where no step does: x, force and energy then
/// are as before.
template <System S>
bool search_line(S& system, typename S::Positions& x, NewtonWork<S>& work, int halvings,
                 bool lengthens, NewtonReport& report) {
  const auto timed = report.stages.measure("search");
  const double slope = system.slope(work.force, work.dx);
  if (!(slope > 0)) return false;
  // Near the solution differences of energies drown in rounding: sums over many elements whose
  // parts cancel are known to some parts in 1e12. Where energies are level, a step counts if the
  // force falls; if it does not at a few lengths, both are at their last digits.
  const double noise = 1e-11 * (std::abs(report.energy) + slope);
  constexpr double least_level_step = 1e-2;
  const double force_before = report.force;
  typename S::Positions& force = work.force;
  bool lost = false;  // the force at x
  double step = 1;
  for (int i = 0; i <= halvings; ++i) {
    system.move(x, step, work.dx, work.trial);
    const double energy = system.energy(work.trial);
    const bool falls = energy <= report.energy - enough_fall * step * slope;
    const bool level = std::abs(energy - report.energy) <= noise;
    if (i == 0 && falls && !level && lengthens) {
      step = lengthened(system, x, work, slope, energy);
      system.move(x, step, work.dx, work.trial);
    }
    if (falls || level) {
      const double energy_there = system.force(work.trial, force);
      const double force_there = system.norm(force);
      report.moved = step * system.largest(work.dx);
      if (falls || force_there <= (1 - enough_fall * step) * force_before) {
        std::swap(x, work.trial);
        report.energy = energy_there;
        report.force = force_there;
        return true;
      }
      lost = true;
      step *= 0.5;
      if (step < least_level_step) break;
      continue;
    }
    // The minimum of the parabola through both energies and the slope, kept between 0.1 and 0.5.
    const double curve = energy - report.energy + step * slope;
    const double best = std::isfinite(curve) ? slope * step * step / (2 * curve) : 0;
    step = std::clamp(best, 0.1 * step, 0.5 * step);
  }
  if (lost) report.energy = system.force(x, force);
  return false;
}

}  // namespace newton_detail

/// Moves x to an equilibrium of the system. Before every iteration `refresh(x)` may change the
/// system, as contacts come and go, and says whether it did.
template <System S, class Refresh>
NewtonReport solve_newton(S& system, typename S::Positions& x, NewtonWork<S>& work,
                          const NewtonOptions<typename S::LinearOptions>& options,
                          const Refresh& refresh) {
  NewtonReport report;
  const Stopwatch watch;
  refresh(x);
  report.energy = system.force(x, work.force);
  report.force = system.norm(work.force);
  const double start = report.force;
  const auto done = [&] {
    report.residual = start == 0 ? 0 : report.force / start;  // what is no number stays none
    report.converged = report.residual <= options.tolerance || report.force <= options.least_force;
    return report.converged;
  };
  if (done() || !std::isfinite(start)) return report;

  bool reuse = false;
  while (report.iterations < options.iterations && report.products < options.products) {
    const bool exact = report.residual < options.exact_below;
    reuse = reuse && newton_detail::find_direction_again(system, work, options, report);
    const bool indefinite =
        !reuse && newton_detail::find_direction(system, x, work, exact, options, report);
    ++report.iterations;
    const double before = report.force;
    report.stalled =
        !newton_detail::search_line(system, x, work, options.line_search, indefinite, report);
    if (report.stalled && exact) {
      newton_detail::find_direction(system, x, work, false, options, report);
      report.stalled =
          !newton_detail::search_line(system, x, work, options.line_search, false, report);
    }
    // Steps by a linearisation of another place converge linearly: what they leave is the rest of
    // a geometric series.
    const double part = report.force / before;
    const bool small = report.moved <= options.least_move &&
                       (!reuse || report.moved * part <= (1 - part) * options.least_left);
    reuse = report.force <= options.reuse_below * before;
    const bool changed = refresh(x);
    if (changed) {
      reuse = false;
      report.energy = system.force(x, work.force);
      report.force = system.norm(work.force);
      report.stalled = false;
    }
    bool ended = done();
    if (!changed && !report.stalled && small) ended = report.converged = true;
    report.residuals.push_back(report.residual);
    if (ended || report.stalled) break;
    report.out_of_time = watch.seconds() >= options.seconds;
    if (report.out_of_time) break;
  }
  return report;
}

/// Moves x to an equilibrium of a system that stays as it is.
template <System S>
NewtonReport solve_newton(S& system, typename S::Positions& x, NewtonWork<S>& work,
                          const NewtonOptions<typename S::LinearOptions>& options) {
  return solve_newton(system, x, work, options, [](const typename S::Positions&) { return false; });
}

}  // namespace supple
