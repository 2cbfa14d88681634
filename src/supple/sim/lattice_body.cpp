#include "supple/sim/lattice_body.h"

#include <limits>
#include <numbers>

#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/sim/flesh_shown.h"
#include "supple/sim/rig_inertia.h"

namespace supple {
namespace {

// An imbalance of forces per node, relative to Young's modulus times a cell's side, that is none.
constexpr double balanced = 1e-7;

LinearMethod method_of(SolverMethod method) {
  switch (method) {
    case SolverMethod::v_cycle:
      return LinearMethod::v_cycle;
    case SolverMethod::jacobi_cg:
      return LinearMethod::jacobi_cg;
    case SolverMethod::plain_cg:
      return LinearMethod::plain_cg;
    case SolverMethod::multigrid_cg:
      break;
  }
  return LinearMethod::multigrid_cg;
}

NewtonOptions<LinearOptions> newton_options(const SolverSettings& settings,
                                            const LatticeModel& model) {
  NewtonOptions<LinearOptions> options;
  options.tolerance = settings.tolerance;
  const bool rigged = model.attachment != nullptr;
  options.iterations = settings.iterations > 0 ? settings.iterations : rigged ? 15 : 50;
  // A rig moves the body a little every frame, so that relative residuals say nothing: forces count
  // that would move a node by about a tenth of the tolerance in cells.
  const double accuracy = rigged ? 0.1 * settings.tolerance : balanced;
  options.least_force = accuracy * model.stiffness * model.solid.spacing * model.solid.spacing *
                        std::sqrt(static_cast<double>(model.rest.size()));
  // Nor do they where a few cells are pressed flat: there the last digits of forces jump.
  if (rigged) options.least_move = 10 * settings.tolerance * model.solid.spacing;
  if (settings.seconds > 0) options.seconds = settings.seconds;
  options.linear.method = method_of(settings.method);
  options.linear.limits = {settings.linear_tolerance, settings.linear_iterations > 0
                                                          ? settings.linear_iterations
                                                      : rigged ? 60
                                                               : 200};
  if (settings.differential == SolverDifferential::exact)
    options.exact_below = std::numeric_limits<double>::infinity();
  else if (settings.differential != SolverDifferential::automatic)
    options.exact_below = 0;
  if (settings.differential == SolverDifferential::warped) options.far = Differential::warped;
  if (settings.differential == SolverDifferential::zhu) options.far = Differential::zhu;
  return options;
}

// Contacts are found anew before every iteration, but no more often than this, so that those that
// come and go do not keep a step from ending: those of a body with itself, and those with rigid
// things, along which flesh may slide far in a step.
constexpr int most_looks = 4, most_rigid_looks = 10;

// How often an equilibrium is solved for anew with the pressure of the last one, and how often a
// step in time, which is so only where the volume of all flesh has changed by more than
// `volume_kept`.
constexpr int volume_rounds = 6, step_rounds = 3;
constexpr double volume_kept = 0.02;

// Flesh turned inside out that is worth a warning, of all: a little in the deepest folds does no
// harm.
constexpr double worrying = 0.01;

// How many times the tolerance a character's residual may be, or by how much its nodes may still
// move in the last iteration (in cells), before both together are worth a warning.
constexpr double open_digits = 50, unseen = 0.1;

// What flesh that is turned inside out has against it, in units of 2 mu + lambda: enough to win
// over contacts, little enough to let flesh that is pressed flat make room.
constexpr double against_inversion = 4;

// How thin flesh is where that begins, of its thickness at rest: contacts that press it flat meet
// it before they press it inside out.
constexpr double flat = 0.1;

// Flesh that a rig folds is far from its shape.
constexpr VolumeAnswer volume_answer = VolumeAnswer::gentle;

// Flesh turned inside out, of all, at which a step has gone wrong.
constexpr double unsound = 0.02;

// Into how many parts a step is cut at most where flesh comes to harm in one.
constexpr int most_finer = 4;

}  // namespace

LatticeBody::LatticeBody(const Character& character, const BodySettings& settings,
                         const FrameRange& range, const std::string& file, SkinningMethod skinning)
    : m_character(character),
      m_settings(settings),
      m_skinning(skinning),
      m_model(character, settings, range, file),
      m_dynamic(m_model.is_dynamic(settings)) {
  if (!character.binds.empty())
    m_skinner = std::make_unique<Skinner>(character.weights, character.binds);
  if (!m_model.scale.reason.empty()) log_info("lattice: {}", m_model.scale.reason);
  m_compensates = m_model.attachment && settings.gravity.compensate.value_or(true);
  build_system();
  if (m_model.attachment || !settings.contact.colliders.empty())
    m_contact = std::make_unique<FleshContact>(
        character, m_model, settings,
        FleshContactOptions{.self = settings.contact.self.value_or(true)}, range, file);
  find_rest(file);
  place_springs();
  if (m_settings.volume) m_volume = SkinVolume::of_cells(m_model);
}

// Scripts' springs come first, contact points after them.
void LatticeBody::place_springs() {
  std::vector<Vec3d> points;
  m_script_springs.clear();
  for (const TargetSpring& s : m_model.springs()) {
    m_script_springs.push_back(
        {{static_cast<int32_t>(points.size()), s.spring.stiffness}, s.target});
    points.push_back(s.spring.at);
  }
  if (m_contact)
    for (const Vec3d& point : m_contact->lattice_points()) points.push_back(point);
  m_system->place_points(points);
  m_system->set_springs(m_script_springs);
}

void LatticeBody::build_system() {
  m_system = m_model.make_system();
  m_work = std::make_unique<NewtonWork<LatticeSystem>>(*m_system);
  m_newton = newton_options(m_settings.solver, m_model);
  m_positions = m_system->rest();
  m_velocities = m_before = m_goal = m_system->zero();
  m_cell_stretch.assign(m_model.mesh.cells.size(), 1);
  m_targets.resize(m_model.rest.size());
  for (size_t n = 0; n < m_model.rest.size(); ++n) m_targets[n] = m_model.rest[n].cast<float>();
  m_targets_before = m_targets;
  m_pull_step = -1;
  if (m_settings.solver.quadrature == Quadrature::one_point)
    for (size_t l = 0; l < m_system->hierarchy().levels(); ++l)
      m_system->hierarchy().level(l).hourglass = 0;
  if (m_settings.solver.quadrature == Quadrature::eight_point) m_system->use_eight_points();
  if (m_model.attachment) m_system->resist_inversion(against_inversion, flat);
  set_nodes(m_positions, m_model.rest);
  m_weight = m_system->zero();
}

// The rest shape whose equilibrium under weight in the bind pose is the shape that was modelled.
// Flesh that would have to be stretched too far for that is carried by the rig.
void LatticeBody::find_rest(const std::string& file) {
  if (m_settings.gravity.compensate_by != WeightCarrier::rest_shape) return;
  if (m_settings.solver.quadrature == Quadrature::eight_point)
    throw_input_error(file, "body.gravity.compensate_by",
                      "'rest_shape' is not for \"quadrature\": \"eight_point\" in body.solver");
  if (!m_compensates || m_model.gravity.isZero(0)) return;
  const std::vector<float> pulls = block_values(pull_stiffness(m_model, 0, 0));
  m_system->set_pulls(pulls, m_positions);
  set_nodes(m_weight, m_model.weights({}, false));
  Positions support;
  m_rest_report =
      find_rest_shape(*m_system, m_positions, m_weight, pulls,
                      {.keep_volume = m_settings.keep_volume, .answer = volume_answer}, support);
  m_support = node_values(support);
}

void LatticeBody::set_weight(const Moment& moment, std::span<const Affine> joints) {
  if (m_model.gravity.isZero(0) && m_model.pokes.empty()) return;
  set_nodes(m_weight, m_model.outer_forces(moment, joints, m_compensates, m_support));
  m_system->set_external_forces(m_weight);
}

// The first step puts the body where it begins, without time passing. Each later one goes from the
// moment of the one before to the drive's, in equal parts.
StepReport LatticeBody::step(const Drive& drive, double dt) {
  StepReport report;
  m_step_watch.restart();
  const Instant to{{drive.time, static_cast<double>(drive.frame)}, drive.pose, drive.joints};
  go_carefully(to, dt, report);
  m_started = true;
  m_now = to;
  report.stages.time("measure", [&] { measure(report); });
  if (m_skinner && !to.joints.empty()) {
    m_plain = m_character.skin.positions;
    add_blend_shapes(m_character.shapes, drive.pose.shape_weights, m_plain);
    m_skinner->skin(m_skinning, to.joints, m_plain, m_plain);
  }
  return report;
}

// Where a rig moves so fast that flesh comes to harm, goes back and takes shorter parts of the way.
// If that is no cure, the one step stands.
void LatticeBody::go_carefully(const Instant& to, double dt, StepReport& report) {
  // Not where the scene limits the work.
  const bool may_repeat = m_model.attachment != nullptr && std::isinf(m_newton.seconds) &&
                          m_settings.solver.iterations == 0;
  if (may_repeat) keep_state(m_begin);
  go(to, dt, 1, report);
  if (!may_repeat || !is_troubled(report)) return;
  KeptState whole;
  keep_state(whole);
  for (int finer = 2; finer <= most_finer; finer *= 2) {
    restore_state(m_begin);
    StepReport again;
    go(to, dt, finer, again);
    report.iterations += again.iterations;
    report.stages.add(again.stages);
    if (is_troubled(again)) continue;
    report.residual = again.residual;
    report.warnings.clear();
    return;
  }
  restore_state(whole);
  if (m_contact) touch(m_positions, true);  // for what is shown of contacts
}

bool LatticeBody::is_troubled(const StepReport& report) const {
  return !report.warnings.empty() || m_swollen ||
         inverted_part(m_model, node_positions()) > worrying;
}

void LatticeBody::keep_state(KeptState& to) const {
  to.positions = m_positions;
  to.velocities = m_velocities;
  to.now = m_now;
  to.fresh = m_fresh;
}

void LatticeBody::restore_state(const KeptState& from) {
  m_positions = from.positions;
  m_velocities = from.velocities;
  m_now = from.now;
  m_fresh = from.fresh;
}

// Goes to an instant, in `finer` times as many parts as usual.
void LatticeBody::go(const Instant& to, double dt, int finer, StepReport& report) {
  m_swollen = false;
  const bool jumps =
      m_started && m_model.attachment && is_cut(m_character, m_now, to, m_model.length);
  if (!m_started) {
    start(to, finer, report);
  } else if (!m_dynamic) {
    follow_path(to, finer, report);
  } else if (jumps) {
    // A cut in the animation, or a pose capture begins with: no flesh is thrown by it.
    follow_path(to, finer, report);
    m_velocities.set_zero();
    m_fresh = true;
  } else {
    const Instant from = m_now;
    const int parts = finer * m_settings.substeps;
    for (int s = 1; s <= parts; ++s) {
      const double part = static_cast<double>(s) / parts;
      advance(s == parts ? to : between(from, to, part), dt / parts, report);
      if (finer > 1 && (!report.warnings.empty() || m_swollen)) return;  // this is no cure
    }
  }
}

Instant LatticeBody::between(const Instant& from, const Instant& to, double part) const {
  return instant_between(m_character, from, to, part, m_model.attachment != nullptr);
}

void LatticeBody::start(const Instant& first, int finer, StepReport& report) {
  // From the bind pose, where the flesh has been so far.
  m_now = m_model.attachment ? bind_instant(m_character, first) : first;
  move_held(first.moment);
  if (m_model.attachment)
    follow_path(first, finer, report);
  else if (!m_dynamic || m_settings.start == StartState::equilibrium)
    settle(first, report);
  if (m_dynamic && !m_model.attachment) set_in_motion();
}

// Velocities of a rigid motion about the centre of mass.
void LatticeBody::set_in_motion() {
  const Vec3d velocity(m_settings.velocity.data());
  const Vec3d spin = Vec3d(m_settings.spin.data()) * (std::numbers::pi / 180);
  std::vector<Vec3d> velocities(m_model.rest.size());
  rigid_velocities(m_model, node_positions(), velocity, spin, velocities);
  set_nodes(m_velocities, velocities);
}

// To an equilibrium, in parts in which no joint turns far, or `finer` times as many.
void LatticeBody::follow_path(const Instant& to, int finer, StepReport& report) {
  int parts = m_dynamic ? 1 : m_settings.substeps;
  if (m_model.attachment) parts = std::max(parts, parts_of_path(m_now, to));
  parts *= finer;
  const Instant from = m_now;
  for (int i = 1; i <= parts; ++i)
    settle(i == parts ? to : between(from, to, static_cast<double>(i) / parts), report);
}

// Equilibrium with the held nodes where rig and scripts put them.
void LatticeBody::settle(const Instant& now, StepReport& report) {
  aim(now);
  set_pulls(0);
  if (m_model.attachment) {
    std::vector<Vec3d> nodes = node_positions();
    m_model.attachment->carry(m_now.joints, now.joints, nodes);
    set_nodes(m_positions, nodes);
    set_to_targets(m_goal);
    m_system->set_pull_targets(m_goal);
  }
  move_held(now.moment);
  if (m_contact)
    m_contact->begin({m_now.moment, m_now.joints}, {now.moment, now.joints}, 0, node_positions());
  // Cells' pressure belongs to the shape they end in, so that this takes rounds.
  const bool keeps = m_settings.keep_volume && m_model.attachment;
  for (int round = 0; round < volume_rounds; ++round) {
    if (keeps && m_system->keep_volume(m_positions, volume_answer) < m_newton.tolerance &&
        round > 0)
      break;
    solve(report);
    if (!keeps) break;
  }
  keep_volume(false, report);
  m_now = now;
}

// Brings the skin back to its volume, where the scene asks for it.
void LatticeBody::keep_volume(bool moving, StepReport& report) {
  if (!m_volume) return;
  report.stages.time("volume", [&] {
    std::vector<Vec3d> nodes = node_positions(), velocities;
    if (moving) velocities = node_velocities();
    m_volume->keep(nodes, velocities);
    set_nodes(m_positions, nodes);
    if (moving) set_nodes(m_velocities, velocities);
  });
}

// A step of backward Euler.
void LatticeBody::advance(const Instant& now, double dt, StepReport& report) {
  aim(now);
  m_before = m_positions;
  const std::vector<Vec3d> x0 = node_positions();
  std::vector<Vec3d> v0 = node_velocities(), goal(x0.size()), guess = x0;
  const bool rigged = m_model.attachment != nullptr;
  const RigInertia inertia{m_model, damping_rate(m_settings), dt, m_targets, m_targets_before};
  if (rigged) m_model.attachment->carry(m_now.joints, now.joints, guess);
  if (rigged && m_fresh) inertia.take_speed(v0);
  inertia.set_goals(x0, v0, goal, guess);
  set_pulls(dt);
  set_nodes(m_goal, goal);
  m_system->set_pull_targets(m_goal);
  set_nodes(m_positions, guess);
  move_held(now.moment);
  if (m_contact) m_contact->begin({m_now.moment, m_now.joints}, {now.moment, now.joints}, dt, x0);
  // While the rig stands still, as in a preroll, its speed is yet to come.
  m_fresh = m_fresh && m_targets == m_targets_before;
  solve_keeping_volume(report);
  // v = (x - x0) / dt
  m_velocities = m_positions;
  add_scaled(-1.0, m_before, m_velocities);
  parallel_for(m_velocities.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) m_velocities[i] /= dt;
  });
  keep_volume(true, report);
  m_now = now;
}

// Solves a step in time with the pressure cells have at its start. Flesh that is thrown changes its
// volume before its pressure knows: then again with the pressure it has by now, unless that does
// harm.
void LatticeBody::solve_keeping_volume(StepReport& report) {
  const bool keeps = m_settings.keep_volume && m_model.attachment;
  if (keeps) m_system->keep_volume(m_positions, volume_answer);
  const size_t warnings = report.warnings.size();
  solve(report);
  if (!keeps || report.warnings.size() > warnings) return;
  for (int round = 1; round < step_rounds; ++round) {
    if (std::abs(volume_part(m_model, node_positions()) - 1) < volume_kept) return;
    if (m_system->keep_volume(m_positions, volume_answer) < m_newton.tolerance) return;
    m_good = m_positions;
    const bool fresh = m_fresh;
    solve(report);
    if (report.warnings.size() == warnings) continue;
    m_positions = m_good;
    m_fresh = fresh;
    report.warnings.resize(warnings);
    m_swollen = true;
    return;
  }
}

// Where the rig wants the nodes, before and now.
void LatticeBody::aim(const Instant& now) {
  set_weight(now.moment, now.joints);
  if (!m_model.attachment) return;
  m_model.attachment->targets(m_now.joints, m_targets_before);
  m_model.attachment->targets(now.joints, m_targets);
}

void LatticeBody::set_pulls(double dt) {
  if (m_pull_step == dt) return;
  m_pull_step = dt;
  if (!m_model.attachment && dt == 0)
    m_system->set_pulls({}, {});
  else
    m_system->set_pulls(block_values(pull_stiffness(m_model, damping_rate(m_settings), dt)),
                        m_goal);
}

void LatticeBody::move_held(const Moment& moment) {
  if (m_model.attachment)
    for (const int32_t n : m_model.attachment->held())
      m_positions.set(m_model.mesh.nodes[static_cast<size_t>(n)],
                      m_targets[static_cast<size_t>(n)].cast<double>());
  for (const ScriptedNodes& group : m_model.fixed) {
    const Affine motion = group.script.at(moment);
    for (const int32_t n : group.nodes)
      m_positions.set(m_model.mesh.nodes[static_cast<size_t>(n)],
                      motion * m_model.rest[static_cast<size_t>(n)]);
  }
  size_t spring = 0;
  for (const PulledPlaces& group : m_model.pulled) {
    const Affine motion = group.script.at(moment);
    for (const Vec3d& rest : group.rest) m_script_springs[spring++].target = motion * rest;
  }
  if (spring > 0 && !m_touching) m_system->set_springs(m_script_springs);
}

// Sets the springs of contacts at positions x; false when there are none and were none.
bool LatticeBody::touch(const Positions& x, bool itself) {
  std::vector<ActiveSpring> springs = m_script_springs;
  const size_t contacts = m_contact->find(
      node_values(x), static_cast<int32_t>(m_script_springs.size()), itself, springs);
  if (contacts == 0 && !m_touching) return false;
  m_touching = contacts > 0;
  m_system->set_springs(springs);
  return true;
}

// Solves, and makes sure of the result: flesh that contacts have turned inside out begins again
// from where the rig carries it, without contacts, and as a last resort is put where the rig wants
// it.
void LatticeBody::solve(StepReport& report) {
  m_start = m_positions;
  solve_once(m_contact != nullptr, report);
  if (!m_model.attachment || is_sound()) return;
  if (m_touching) {
    m_positions = m_start;
    m_touching = false;
    m_system->set_springs(m_script_springs);
    solve_once(false, report);
    report.warnings.emplace_back("contacts are left out in this step, as they tore at the flesh");
    if (is_sound()) return;
  }
  set_to_targets(m_positions);
  m_fresh = true;
  report.warnings.emplace_back("the flesh is put where the rig wants it, as it had no other rest");
}

// Whether all numbers are finite and little flesh is inside out.
bool LatticeBody::is_sound() const { return inverted_part(m_model, node_positions()) <= unsound; }

void LatticeBody::solve_once(bool contacts, StepReport& report) {
  int looks = 0;
  const auto refresh = [&](const Positions& x) {
    const int look = looks++;
    const bool rigid = contacts && m_contact->colliders().size() > 0;
    if (!contacts || look >= (rigid ? most_rigid_looks : most_looks)) return false;
    return report.stages.time("contacts", [&] { return touch(x, look < most_looks); });
  };
  NewtonOptions<LinearOptions> options = m_newton;
  options.seconds -= m_step_watch.seconds();
  NewtonReport newton = solve_newton(*m_system, m_positions, *m_work, options, refresh);
  report.iterations += newton.iterations;
  report.stages.add(newton.stages);
  // Relative to the force at the start; below what counts as balanced that says nothing.
  const double least = m_newton.tolerance > 0 ? m_newton.least_force / m_newton.tolerance : 0;
  const double start = newton.residual > 0 ? newton.force / newton.residual : newton.force;
  const double scale = std::max(start, least);
  report.residual = scale > 0 ? newton.force / scale : 0;
  if (is_settled(newton, report.residual)) return;
  // A few steps need longer; with the contacts they have by now.
  if (m_settings.solver.iterations == 0 && m_model.attachment && !newton.out_of_time) {
    options.least_force = m_newton.tolerance * scale;
    options.seconds = m_newton.seconds - m_step_watch.seconds();
    newton = solve_newton(*m_system, m_positions, *m_work, options);
    report.iterations += newton.iterations;
    report.stages.add(newton.stages);
    report.residual = newton.force / scale;
    if (is_settled(newton, report.residual)) return;
  }
  warn_of(newton, report);
}

// Whether a solve has ended where it should. A few cells that are pressed flat, and contacts that
// come and go, leave a character's last digits open: in forces without anything moving, or in a few
// places without much force.
bool LatticeBody::is_settled(const NewtonReport& newton, double residual) const {
  return newton.converged ||
         (m_model.attachment && (newton.moved <= unseen * m_model.solid.spacing ||
                                 residual <= open_digits * m_newton.tolerance));
}

// Says why a solve has not ended where it should.
void LatticeBody::warn_of(const NewtonReport& newton, StepReport& report) const {
  if (newton.out_of_time) {
    const std::string warning = fmt::format(
        "cut short after {} s, as solver.seconds says; the result depends on the speed "
        "of the machine",
        m_newton.seconds);
    if (report.warnings.empty() || report.warnings.back() != warning)
      report.warnings.push_back(warning);
    return;
  }
  report.warnings.push_back(
      fmt::format("the step is not quite solved: residual {:.2g} of the allowed {:.2g} after {} "
                  "iterations, of which the last moved nodes by up to {:.2g} cells",
                  report.residual, m_newton.tolerance, report.iterations,
                  newton.moved / m_model.solid.spacing));
}

// The largest stretch of every cell, and whether any is turned inside out.
void LatticeBody::measure(StepReport& report) {
  const double inverted = measure_cells(m_model, node_positions(), m_cell_stretch);
  if (inverted > worrying)
    report.warnings.push_back(
        fmt::format("{:.1f} % of the flesh is turned inside out", 100 * inverted));
}

void LatticeBody::skin(BodyFrame& out) const {
  const std::vector<Vec3d> nodes = node_positions();
  const std::vector<Vec3f> points = carried_skin(m_model, nodes, m_contact.get());
  const FleshView view{m_character, m_model, m_now, m_plain, nodes, points, m_contact.get()};
  show_skin(view, out);
  show_extras(view, m_cell_stretch, out);
}

std::vector<ChunkArray> LatticeBody::shown_once() const {
  return show_once(m_model, m_contact.get());
}

std::vector<BodyFact> LatticeBody::facts() const {
  const size_t vectors = (m_model.attachment ? 11 : 8) * m_positions.size() * sizeof(double);
  const size_t bytes = m_system->hierarchy().bytes() + vectors + m_model.embedding.bytes() +
                       m_model.mesh.cells.size() * (sizeof(LatticePlace) + 32 + 20) +
                       m_model.mesh.nodes.size() * (sizeof(LatticePlace) + 32);
  std::vector<BodyFact> facts = {
      {"cells", static_cast<double>(m_model.mesh.cells.size()), ""},
      {"nodes", static_cast<double>(m_model.mesh.nodes.size()), ""},
      {"spacing", m_model.solid.spacing, "m"},
      {"levels", static_cast<double>(m_system->hierarchy().levels()), ""},
      {"memory", static_cast<double>(bytes) / 1e6, "MB"},
      {"metres per unit", m_model.scale.metres_per_unit, ""}};
  if (!m_support.empty()) {
    facts.push_back({"rest stretch", 100 * m_rest_report.stretch, "%"});
    facts.push_back({"sag left to the rig", 100 * m_rest_report.left, "%"});
  }
  return facts;
}

void LatticeBody::save(Chunk& state) const {
  state.add<double>("lattice/positions", as_doubles(node_positions()), 3);
  state.add<double>("lattice/velocities", as_doubles(node_velocities()), 3);
  const std::vector<double> fresh = {m_fresh ? 1.0 : 0.0};
  state.add<double>("lattice/fresh", fresh);
  const std::vector<uint64_t> order = {node_order()};
  state.add<uint64_t>("lattice/order", order);
  save_instant(m_now, "lattice", state);
}

void LatticeBody::load(const Chunk& state, std::string_view file) {
  const auto rows = static_cast<int64_t>(m_model.rest.size());
  const auto positions = state.get<double>("lattice/positions", 3, rows, file);
  const auto velocities = state.get<double>("lattice/velocities", 3, rows, file);
  const auto fresh = state.get<double>("lattice/fresh", 1, 1, file);
  if (state.get<uint64_t>("lattice/order", 1, 1, file)[0] != node_order())
    throw_input_error(file, "lattice/order",
                      "says that nodes are in another order, as another version has them");
  require_finite(positions, file, "lattice");
  require_finite(velocities, file, "lattice");
  m_now = load_instant(state, "lattice", m_character, m_model.attachment != nullptr, file);
  set_nodes(m_positions, as_vectors(positions));
  set_nodes(m_velocities, as_vectors(velocities));
  m_fresh = fresh[0] != 0;
  m_started = true;
}

// Tells the order of nodes in checkpoints, which depends on how the lattice is laid out.
uint64_t LatticeBody::node_order() const {
  std::vector<Vec3i> places;
  for (const LatticePlace& node : m_model.mesh.nodes)
    places.push_back(m_system->lattice().coordinates(node.block, node.local));
  return checksum(std::as_bytes(std::span(places)));
}

std::vector<Vec3d> LatticeBody::node_positions() const { return node_values(m_positions); }

std::vector<Vec3d> LatticeBody::node_velocities() const { return node_values(m_velocities); }

void LatticeBody::set_nodes(Positions& to, std::span<const Vec3d> values) const {
  for (size_t n = 0; n < values.size(); ++n) to.set(m_model.mesh.nodes[n], values[n]);
}

// Nodes where the rig wants them.
void LatticeBody::set_to_targets(Positions& to) const {
  for (size_t n = 0; n < m_targets.size(); ++n)
    to.set(m_model.mesh.nodes[n], m_targets[n].cast<double>());
}

std::vector<Vec3d> LatticeBody::node_values(const Positions& from) const {
  std::vector<Vec3d> result;
  result.reserve(m_model.mesh.nodes.size());
  for (const LatticePlace& node : m_model.mesh.nodes) result.push_back(from.at(node));
  return result;
}

std::vector<float> LatticeBody::block_values(std::span<const double> values) const {
  std::vector<float> result(m_system->lattice().block_count() * block_cells, 0);
  for (size_t n = 0; n < values.size(); ++n) {
    const LatticePlace& at = m_model.mesh.nodes[n];
    result[static_cast<size_t>(at.block) * block_cells + static_cast<size_t>(at.local)] =
        static_cast<float>(values[n]);
  }
  return result;
}

}  // namespace supple
