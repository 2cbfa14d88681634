#include "supple/adjust/adjusted_tets.h"

#include <cmath>

#include "supple/math/polar.h"

namespace supple {
namespace {

TetSystemModel without_damping(TetSystemModel model) {
  model.stiffness_damping.clear();
  model.mass_damping.clear();
  return model;
}

// Changes of outer forces that are smaller than this, relative to all, change nothing.
constexpr double no_change = 1e-9;

// Points are moved rigidly when they are no further from such places, relative to their extent.
constexpr double rigid_enough = 1e-11;

}  // namespace

// What the integrator asks during a step: the equilibrium of every stage, then its forces.
struct AdjustedTets::Outside {
  AdjustedTets& body;
  const AdjustedDrive& drive;
  AdjustedReport& report;
  double h;
  double before = 0;
  size_t stage = 0;
  bool moved = false;  // frames are those of this stage

  void begin(double part) {
    moved = false;
    drive.places(part, body.m_held, body.m_pulled);
    body.m_system.set_places(body.m_held);
    body.m_system.set_pull_places(body.m_pulled);
    body.m_system.set_outer_forces(drive.forces);
    body.m_last_outer = drive.forces;
    if (!body.tracks()) return;
    const auto timed = report.dynamic.stages.measure("equilibrium");
    Moving<TetVector>& now = body.equilibrium;
    const StageRule& rule = stages_of(body.m_integrator.method())[stage++];
    find_stage_start(body.m_system, rule, h, now, body.m_middle, body.m_start);
    // The guess goes on as the equilibrium has moved so far.
    const Moving<TetVector>& last = before > 0 ? body.m_middle : now;
    const double ahead = (rule.until - before) * h;
    body.m_end.position =
        last.position + ahead * last.velocity + 0.5 * ahead * ahead * last.acceleration;
    report.sound &= body.find_equilibrium(h, body.m_end.position, report);
    differences(body.m_system, body.m_start, body.m_end);
    std::swap(body.m_middle, body.m_end);
    before = part;
  }

  bool refresh(const StageStart<TetVector>& at, const TetVector& x, TetVector& reference) {
    if (!body.m_scaling.acts()) return false;
    const auto timed = report.dynamic.stages.measure("inertia");
    const bool first = !moved;
    if (first) body.m_scaling.move_frames(body.m_middle);
    moved = true;
    if (!first && !body.m_scaling.turns()) return false;
    body.m_velocity = at.rate * (x - at.still);
    body.m_outer = drive.forces;
    body.m_scaling.add_forces(x, body.m_velocity, body.m_outer);
    const double change = (body.m_outer - body.m_last_outer).cwiseAbs().maxCoeff();
    if (!first && change <= no_change * body.m_outer.cwiseAbs().maxCoeff()) return false;
    body.m_last_outer = body.m_outer;
    body.m_system.set_outer_forces(body.m_outer);
    body.m_scaling.set_reference(x, reference);
    return true;
  }
};

AdjustedTets::AdjustedTets(const TetSystemModel& model, std::vector<double> epsilon,
                           const AdjustedOptions& options, const std::string& file)
    : m_options(options),
      m_system(model, file),
      m_static(without_damping(model), file),
      m_integrator(m_system, options.integrator),
      m_static_work(m_static),
      m_scaling(m_system.gradients(), model.masses, std::move(epsilon), options.damping) {
  const TetVector zero = m_system.zero();
  now = equilibrium = m_middle = m_end = {m_system.rest(), zero, zero};
  m_start = {0, zero, zero};
  m_outer = m_velocity = m_last_outer = zero;
}

void AdjustedTets::set_factors(double stiffness, double damping, bool passing) {
  m_system.set_factors(stiffness, damping, passing);
  m_static.set_factors(stiffness, 1, passing);
}

void AdjustedTets::use_path(std::shared_ptr<EquilibriumPath> path) {
  m_path = std::move(path);
  m_at = 0;
}

// Steps end when nodes move by less than what accuracy asks for; residuals say little, as steps
// begin close to where they end.
NewtonOptions<TetLinearOptions> AdjustedTets::newton(double step, bool moving) const {
  constexpr double usual_acceleration = 10;
  NewtonOptions<TetLinearOptions> options;
  options.tolerance = 1e-13;
  options.iterations = m_options.iterations;
  options.linear = m_options.linear;
  options.least_move = moving ? m_options.tolerance * usual_acceleration * step * step
                              : m_options.false_inertia * step * step / 5;
  if (m_system.model().matter.law == Law::linear) options.linear.limits.tolerance = 1e-12;
  return options;
}

bool AdjustedTets::start(const AdjustedDrive& drive, int parts) {
  constexpr double usual_step = 1e-2;
  TetVector p = equilibrium.position;
  AdjustedReport report;
  bool found = true;
  m_last_outer = drive.forces;
  m_static.set_outer_forces(drive.forces);
  for (int i = 1; i <= parts; ++i) {
    drive.places(static_cast<double>(i) / parts, m_held, m_pulled);
    found = find_equilibrium(usual_step, p, report);
  }
  const TetVector zero = m_system.zero();
  now = equilibrium = m_middle = {p, zero, zero};
  return found;
}

AdjustedReport AdjustedTets::step(const AdjustedDrive& drive, double h) {
  AdjustedReport report;
  m_static.set_outer_forces(drive.forces);
  Outside outside{*this, drive, report, h};
  m_middle = equilibrium;
  const ImplicitReport dynamic = m_integrator.step(m_system, now, h, outside, newton(h, true));
  const StageTimes own = report.dynamic.stages;
  report.dynamic = dynamic;
  report.dynamic.stages.add(own);
  if (tracks()) equilibrium = m_middle;
  report.sound = report.sound && now.position.allFinite() && now.velocity.allFinite() &&
                 now.acceleration.allFinite();
  return report;
}

// Held points that move as a rigid body take all of it along, where nothing else acts on it.
bool AdjustedTets::rigid_equilibrium(TetVector& p) const {
  const TetSystemModel& model = m_system.model();
  p.resize(m_system.zero().size());
  if (!model.pulled.empty() || model.held.size() < 3) return false;
  Vec3d from = Vec3d::Zero(), to = from;
  std::vector<Vec3d> rest;
  for (size_t i = 0; i < m_held.size(); ++i) {
    rest.push_back(model.held[i].of(model.mesh.positions));
    from += rest.back();
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
  if (model.matter.law == Law::linear && !turn.isIdentity(rigid_enough)) return false;
  for (size_t i = 0; i < rest.size(); ++i)
    if (!((to + turn * (rest[i] - from) - m_held[i]).norm() <= rigid_enough * extent)) return false;
  for (size_t n = 0; n < m_system.nodes(); ++n)
    p.node(n) = to + turn * (model.mesh.positions[n] - from);
  m_system.project(p);
  return true;
}

// The equilibrium for the places and forces that are set, from a guess. A path that has it saves
// the work, and so does a rigid motion without weight.
bool AdjustedTets::find_equilibrium(double h, TetVector& p, AdjustedReport& report) {
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
  const NewtonReport solved = solve_newton(m_static, p, m_static_work, newton(h, false));
  report.static_iterations += solved.iterations;
  report.static_linear += solved.linear_iterations;
  ++report.solved;
  record();
  return p.allFinite() && (solved.converged || solved.stalled);
}

double AdjustedTets::mean_square() const {
  double sum = 0, mass = 0;
  const std::vector<double>& masses = m_system.model().masses;
  for (size_t n = 0; n < masses.size(); ++n) {
    sum += masses[n] * (now.position.node(n) - equilibrium.position.node(n)).squaredNorm();
    mass += masses[n];
  }
  return mass > 0 ? sum / mass : 0;
}

}  // namespace supple
