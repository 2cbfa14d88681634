#include "supple/adjust/adjusted_body.h"

#include <cmath>
#include <limits>

#include "supple/lattice/lattice_dynamics.h"
#include "supple/math/polar.h"
#include "supple/tets/tet_system.h"

namespace supple {
namespace {

// How often the forces of turning frames are found anew in a stage, at most.
constexpr int most_looks = 8;

// How often contacts are found anew in a stage, and on the way to rest, at most.
constexpr int most_touches = 10, most_rest_touches = 40;

// Points are moved rigidly when they are no further from such places, relative to their extent.
constexpr double rigid_enough = 1e-11;

// How often matter that depends on where it is, as flesh that keeps its volume does, is found anew
// in a solve, and the change from which on it stays.
constexpr int most_renewals = 6;
constexpr double renewed_enough = 1e-6;

// Finds such matter anew while that changes anything.
template <class S>
struct Renewal {
  S* system;
  int looks = 0;
  bool done = false;

  bool operator()(const BodyVector& x) {
    if constexpr (requires { system->renew(x); }) {
      if (done || looks++ >= most_renewals) return false;
      const double change = system->renew(x);
      done = change <= renewed_enough;
      return change > 0;
    } else {
      return false;
    }
  }
};

// Nodes that are held are where their equilibrium is: how that turns there makes no difference.
template <class S>
NodeGradients gradients_of_free(const S& system) {
  std::vector<char> free(system.nodes());
  for (size_t n = 0; n < free.size(); ++n) free[n] = system.is_free(n);
  return system.gradients().of_some(free);
}

}  // namespace

// What the integrator asks during a step: the equilibrium of every stage, then its forces.
template <class S>
struct AdjustedBody<S>::Outside {
  AdjustedBody& body;
  const AdjustedDrive& drive;
  AdjustedReport& report;
  double h;
  double before = 0;
  size_t stage = 0;
  int looks = 0, touches = 0;  // at the frames and contacts of this stage
  Renewal<S> renewal{&body.m_system};

  void begin(double part) {
    looks = touches = 0;
    renewal = {&body.m_system};
    if (drive.contact.move) drive.contact.move(part);
    drive.places(part, body.m_held, body.m_pulled);
    body.m_system.set_places(body.m_held);
    body.m_system.set_pull_places(body.m_pulled);
    body.m_system.set_outer_forces(drive.forces);
    body.m_last_outer = drive.forces;
    if (!body.tracks()) return;
    const auto timed = report.dynamic.stages.measure("equilibrium");
    Moving<BodyVector>& now = body.equilibrium;
    const StageRule& rule = stages_of(body.m_integrator.method())[stage++];
    find_stage_start(body.m_system, rule, h, now, body.m_middle, body.m_start);
    if (body.m_options.derivatives == PathDerivatives::five_point) {
      body.sample_ahead(drive, h, report);
      std::swap(body.m_middle, body.m_end);
      return;
    }
    if (body.m_ahead_done < body.m_ahead_steps) {
      body.equilibrium_between((body.m_ahead_done + part) / body.m_ahead_steps,
                               body.m_end.position);
    } else {
      // The guess goes on as the equilibrium has moved so far, or as what holds it does.
      const Moving<BodyVector>& last = before > 0 ? body.m_middle : now;
      const double ahead = (rule.until - before) * h;
      body.m_end.position = last.position;
      if (body.m_options.carry_guess && drive.carry)
        drive.carry(before, rule.until, body.m_end.position);
      else
        body.m_end.position += ahead * last.velocity + 0.5 * ahead * ahead * last.acceleration;
      report.sound &= body.find_equilibrium(h, body.m_end.position, report);
    }
    differences(body.m_system, body.m_start, body.m_end);
    std::swap(body.m_middle, body.m_end);
    before = part;
  }

  bool refresh(const StageStart<BodyVector>& at, const BodyVector& x, BodyVector& reference) {
    bool changed = renewal(x);
    if (drive.contact) {
      const auto timed = report.dynamic.stages.measure("contacts");
      changed |= ++touches <= most_touches && drive.contact.find(x, counts(at), touches);
    }
    changed |= scale_inertia(at, x, reference);
    return changed;
  }

  // Forces count that would move a node by as much as steps are solved to.
  double counts(const StageStart<BodyVector>& at) const {
    return body.m_options.tolerance * 10 * h * h * at.rate * at.rate;
  }

  bool scale_inertia(const StageStart<BodyVector>& at, const BodyVector& x, BodyVector& reference) {
    if (!body.m_scaling.acts()) return false;
    const auto timed = report.dynamic.stages.measure("inertia");
    const bool first = looks == 0;
    if (first) body.m_scaling.move_frames(body.m_middle, h);
    if (++looks > most_looks || (!first && !body.m_scaling.turns())) return false;
    const bool counted = body.m_scaling.scale(at, x, drive.forces, body.m_last_outer, counts(at),
                                              body.m_outer, reference);
    if (!first && !counted) return false;
    std::swap(body.m_last_outer, body.m_outer);
    body.m_system.set_outer_forces(body.m_last_outer);
    return true;
  }
};

template <class S>
AdjustedBody<S>::AdjustedBody(const typename S::Model& model, std::vector<double> epsilon,
                              const AdjustedOptions& options, const std::string& file)
    : m_options(options),
      m_system(model, file),
      m_static(model, file),
      m_integrator(m_system, options.integrator),
      m_static_work(m_static),
      m_scaling(gradients_of_free(m_system), {m_system.masses().begin(), m_system.masses().end()},
                std::move(epsilon), options.damping, options.fade_jumps) {
  const BodyVector zero = m_system.zero();
  now = equilibrium = m_middle = m_end = {m_system.rest(), zero, zero};
  m_start = {0, zero, zero};
  m_outer = m_last_outer = carried_error = carried_before = zero;
  m_size = m_system.element_size();
}

template <class S>
void AdjustedBody<S>::set_factors(double stiffness, double damping, bool passing) {
  m_system.set_factors(stiffness, damping, passing);
  m_static.set_factors(stiffness, 1, passing);
}

template <class S>
void AdjustedBody<S>::use_path(std::shared_ptr<EquilibriumPath> path) {
  m_path = std::move(path);
  m_at = 0;
}

// Newton's method ends when what it leaves is small enough: of the last move, what the linear solve
// leaves, and what is left of its square (relative to an element), as it converges quadratically.
// Residuals say little, as steps begin close to where they end. The true derivative is tried first.
template <class S>
NewtonOptions<typename S::LinearOptions> AdjustedBody<S>::newton(double step, bool moving,
                                                                 bool touches) const {
  constexpr double usual_acceleration = 10, safety = 0.3;
  NewtonOptions<typename S::LinearOptions> options;
  options.tolerance = 1e-13;
  options.iterations = moving ? m_options.iterations : m_options.static_iterations;
  options.linear = moving ? S::stage_linear() : S::static_linear();
  options.exact_below = std::numeric_limits<double>::infinity();
  // An equilibrium begins close by, and its linear solves cost less than linearising.
  if (!moving) options.reuse_below = S::reuse_below();
  const double error =
      step * step *
      (moving ? m_options.tolerance * usual_acceleration : m_options.false_inertia / 5);
  options.least_move =
      safety * std::min(error / options.linear.limits.tolerance, std::sqrt(error * m_size));
  options.least_left = error;
  if (m_system.is_linear() && !touches) {
    // One solve is the solution.
    options.linear = S::direct_linear();
    options.least_move = std::numeric_limits<double>::infinity();
  }
  return options;
}

template <class S>
bool AdjustedBody<S>::start(const AdjustedDrive& drive, int parts) {
  constexpr double usual_step = 1e-2;
  m_ahead_steps = m_ahead_done = 0;
  carried_error.setZero();
  carried_before.setZero();
  samples.clear();
  BodyVector p = equilibrium.position;
  AdjustedReport report;
  bool found = true;
  m_last_outer = drive.forces;
  m_static.set_outer_forces(drive.forces);
  for (int i = 1; i <= parts; ++i) {
    drive.places(static_cast<double>(i) / parts, m_held, m_pulled);
    report.unsettled = 0;
    found = find_equilibrium(usual_step, p, report) && report.unsettled == 0;
  }
  const BodyVector zero = m_system.zero();
  now = equilibrium = m_middle = {p, zero, zero};
  if (drive.contact) found &= settle_contacts(drive, usual_step);
  return found;
}

// From the equilibrium to one that contacts allow, in which the body begins.
template <class S>
bool AdjustedBody<S>::settle_contacts(const AdjustedDrive& drive, double h) {
  if (drive.contact.begin) drive.contact.begin(now.position, true);
  if (drive.contact.move) drive.contact.move(1);
  m_system.set_places(m_held);
  m_system.set_pull_places(m_pulled);
  m_system.set_outer_forces(drive.forces);
  Renewal<S> renewal{&m_system};
  NewtonOptions<typename S::LinearOptions> options = newton(h, true, true);
  options.iterations = std::max(options.iterations, most_rest_touches);
  int touches = 0;
  const auto refresh = [&](const BodyVector& x) {
    const bool touched =
        ++touches <= most_rest_touches && drive.contact.find(x, m_options.false_inertia, touches);
    return renewal(x) || touched;
  };
  const NewtonReport solved = solve_newton(m_system, now.position, m_static_work, options, refresh);
  const bool sound = now.position.allFinite();
  if (!sound) now.position = equilibrium.position;
  if (drive.contact.end) drive.contact.end(now.position);
  return sound && (solved.converged || solved.stalled);
}

template <class S>
AdjustedReport AdjustedBody<S>::step(const AdjustedDrive& drive, double h) {
  AdjustedReport report;
  m_static.set_outer_forces(drive.forces);
  Outside outside{*this, drive, report, h};
  m_middle = equilibrium;
  if (drive.contact.begin) drive.contact.begin(now.position, false);
  const ImplicitReport dynamic = m_integrator.step(
      m_system, now, h, outside, newton(h, true, static_cast<bool>(drive.contact)));
  if (drive.contact.end) drive.contact.end(now.position);
  const StageTimes own = report.dynamic.stages;
  report.dynamic = dynamic;
  report.dynamic.stages.add(own);
  if (tracks()) equilibrium = m_middle;
  if (m_ahead_done < m_ahead_steps) ++m_ahead_done;
  report.sound = report.sound && now.position.allFinite() && now.velocity.allFinite() &&
                 now.acceleration.allFinite();
  return report;
}

template <class S>
AdjustedReport AdjustedBody<S>::look_ahead(const AdjustedDrive& whole, double h, int steps) {
  AdjustedReport report;
  m_ahead_steps = m_ahead_done = 0;
  if (!tracks() || m_options.derivatives == PathDerivatives::five_point) return report;
  const auto timed = report.dynamic.stages.measure("equilibrium");
  m_last_outer = whole.forces;
  m_static.set_outer_forces(whole.forces);
  m_ahead[0] = equilibrium.position;
  // An error e at the end of a frame of carried flesh grows evenly over it: its speed changes by
  // 2 e/(h steps) from frame to frame, which is an inertia of 2 e/(h² steps), not 5 e/h².
  const double eased = whole.carry ? h * std::sqrt(2.5 * steps) : h;
  const auto solve = [&](int k) { report.sound &= find_equilibrium(eased, m_ahead[k], report); };
  if (!whole.carry) {
    m_ahead[1] = m_ahead[0] + 0.5 * h * steps * equilibrium.velocity;
    whole.places(0.5, m_held, m_pulled);
    solve(1);
    m_ahead[2] = 2 * m_ahead[1] - m_ahead[0];
    whole.places(1, m_held, m_pulled);
    solve(2);
  } else {
    // Half way lies, seen from where both ends are carried to, in the middle.
    m_middle.position = m_ahead[0];
    whole.carry(0, 1, m_middle.position);
    whole.places(1, m_held, m_pulled);
    guess_from(m_middle.position, m_ahead[2]);
    solve(2);
    carried_before = carried_error;
    carried_error = m_ahead[2] - m_middle.position;
    m_ahead[1] = m_ahead[0];
    m_middle.position = m_ahead[2];
    whole.carry(0, 0.5, m_ahead[1]);
    whole.carry(1, 0.5, m_middle.position);
    m_ahead[1] = 0.5 * (m_ahead[1] + m_middle.position);
  }
  m_ahead_steps = steps;
  return report;
}

// A guess from where nodes were carried to. What that leaves to be solved for is about what it left
// before, or goes on as that has changed; where the motion changes suddenly, neither says anything.
// The guess with the least energy is taken.
template <class S>
void AdjustedBody<S>::guess_from(const BodyVector& carried, BodyVector& guess) {
  guess = carried;
  if (m_path && m_path->complete) return;
  m_static.set_places(m_held);
  m_static.set_pull_places(m_pulled);
  m_static.project(guess);
  double least = m_static.energy(guess);
  for (const double changed : {0.0, 1.0}) {
    m_end.position = carried + (1 + changed) * carried_error - changed * carried_before;
    m_static.project(m_end.position);
    const double energy = m_static.energy(m_end.position);
    if (!(energy < least)) continue;
    least = energy;
    guess = m_end.position;
  }
}

// The equilibrium at the end of the step from those of five. Before the first step nothing moved.
template <class S>
void AdjustedBody<S>::sample_ahead(const AdjustedDrive& drive, double h, AdjustedReport& report) {
  const auto add = [&](double part) {
    BodyVector p = samples.back();
    drive.places(part, m_held, m_pulled);
    report.sound &= find_equilibrium(h, p, report);
    samples.push_back(std::move(p));
  };
  if (samples.empty()) {
    samples.assign(2, equilibrium.position);
    add(1);
    add(2);
  }
  add(3);
  m_end = {samples[2], five_point_velocity(samples, h), five_point_acceleration(samples, h)};
  samples.erase(samples.begin());
  drive.places(1, m_held, m_pulled);
}

// Held points are exactly where they are held.
template <class S>
void AdjustedBody<S>::equilibrium_between(double part, BodyVector& p) {
  p = (1 - part) * (1 - 2 * part) * m_ahead[0] + 4 * part * (1 - part) * m_ahead[1] +
      part * (2 * part - 1) * m_ahead[2];
  m_system.project(p);
}

// Held points that move as a rigid body take all of it along, where nothing else acts on it.
template <class S>
bool AdjustedBody<S>::rigid_equilibrium(BodyVector& p) const {
  p = m_system.rest();
  const std::vector<Vec3d> rest = m_system.held_at_rest();
  if (m_system.is_pulled() || rest.size() < 3 || m_held.size() != rest.size()) return false;
  Vec3d from = Vec3d::Zero(), to = from;
  for (size_t i = 0; i < m_held.size(); ++i) {
    from += rest[i];
    to += m_held[i];
  }
  from /= static_cast<double>(rest.size());
  to /= static_cast<double>(rest.size());
  Mat3d moments = Mat3d::Zero();
  double extent = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    moments += (m_held[i] - to) * (rest[i] - from).transpose();
    extent = std::max(extent, (rest[i] - from).norm());
  }
  const Mat3d turn = nearest_rotation(moments);
  if (m_system.is_linear() && !turn.isIdentity(rigid_enough)) return false;
  for (size_t i = 0; i < rest.size(); ++i)
    if (!((to + turn * (rest[i] - from) - m_held[i]).norm() <= rigid_enough * extent)) return false;
  for (size_t n = 0; n < m_system.nodes(); ++n) p.node(n) = to + turn * (p.node(n) - from).eval();
  m_system.project(p);
  return true;
}

// The equilibrium for the places and forces that are set, from a guess. A path that has it saves
// the work, and so does a rigid motion without weight.
template <class S>
bool AdjustedBody<S>::find_equilibrium(double h, BodyVector& p, AdjustedReport& report) {
  if (m_path && m_path->still) {
    p = equilibrium.position;
    return true;
  }
  if (m_path && m_path->complete) {
    if (m_at < m_path->stages.size()) p = m_path->stages[m_at++];
    return true;
  }
  const auto record = [&] {
    if (!m_path) return;
    m_path->stages.push_back(p);
    ++m_at;
  };
  if (m_last_outer.isZero(0) && rigid_equilibrium(p)) {
    record();
    return true;
  }
  m_static.set_places(m_held);
  m_static.set_pull_places(m_pulled);
  m_static.project(p);
  Renewal<S> renewal{&m_static};
  const NewtonReport solved = solve_newton(m_static, p, m_static_work, newton(h, false),
                                           [&](const BodyVector& x) { return renewal(x); });
  report.static_iterations += solved.iterations;
  report.static_linear += solved.linear_iterations;
  ++report.solved;
  report.unsettled += !solved.converged && !solved.stalled;
  record();
  return p.allFinite();
}

static_assert(AdjustableSystem<TetSystem> && AdjustableSystem<LatticeDynamics>);
template class AdjustedBody<TetSystem>;
template class AdjustedBody<LatticeDynamics>;

}  // namespace supple
