#include "supple/sim/implicit_lattice_body.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/rig/blend_shapes.h"
#include "supple/sim/adjust_reading.h"
#include "supple/sim/flesh_shown.h"

namespace supple {
namespace {

// From how many substeps on equilibria are found twice a frame instead of in every stage.
constexpr int steps_to_look_ahead = 3;

// How often contacts are found anew in a stage: those of the body with itself, and those with rigid
// things, along which flesh may slide far.
constexpr int most_looks = 4, most_rigid_looks = 10;

// What flesh that is turned inside out has against it, in units of 2 mu + lambda.
constexpr double against_inversion = 4;

// Flesh turned inside out that is worth a warning, of all, and from which on a body on a rig begins
// anew.
constexpr double worrying = 0.01, unsound = 0.1;

void refuse_unknown(const BodySettings& settings, const std::string& file) {
  const std::string only = "is for \"integrator\": \"plain\" in body.lattice";
  if (settings.dynamic && !*settings.dynamic)
    throw_input_error(file, "body.dynamic", "'false' " + only);
  if (settings.volume) throw_input_error(file, "body.volume", only);
  if (settings.adjust.derivatives == AdjustDerivatives::five_point)
    throw_input_error(file, "body.adjust.derivatives",
                      "'five_point' is for bodies of type 'tets' in steps of 'backward_euler'");
  for (const auto& [name, value] :
       {std::pair("body.velocity", settings.velocity), std::pair("body.spin", settings.spin)})
    if (!Vec3d(value.data()).isZero(0)) throw_input_error(file, name, only);
}

// Bodies begin in equilibrium, so that something must hold them.
BodySettings in_equilibrium(BodySettings settings) {
  settings.dynamic = true;
  settings.start = StartState::equilibrium;
  return settings;
}

AdjustedOptions options_of(const BodySettings& settings) {
  AdjustedOptions options;
  options.integrator = step_method(settings.lattice.integrator) == StepMethod::tr_bdf2
                           ? Integrator::tr_bdf2
                           : Integrator::backward_euler;
  options.damping = settings.adjust.damping == AdjustDamping::scaled   ? DampingFrame::scaled
                    : settings.adjust.damping == AdjustDamping::moving ? DampingFrame::moving
                                                                       : DampingFrame::still;
  options.always_track = settings.adjust.run != nullptr;
  options.iterations = settings.solver.iterations > 0 ? settings.solver.iterations : 20;
  // Deep folds have equilibria that are hard to find, and frames that do not count.
  options.static_iterations = settings.solver.iterations > 0 ? settings.solver.iterations : 10;
  options.carry_guess = true;
  options.fade_jumps = true;  // folded cells have several equilibria
  return options;
}

std::span<const Vec3d> as_points(const BodyVector& x) {
  return {reinterpret_cast<const Vec3d*>(x.data()), static_cast<size_t>(x.size()) / 3};
}

std::span<Vec3d> as_points(BodyVector& x) {
  return {reinterpret_cast<Vec3d*>(x.data()), static_cast<size_t>(x.size()) / 3};
}

}  // namespace

ImplicitLatticeBody::ImplicitLatticeBody(const Character& character, const BodySettings& settings,
                                         const FrameRange& range, const std::string& file,
                                         SkinningMethod skinning)
    : m_character(character),
      m_settings(in_equilibrium(settings)),
      m_skinning(skinning),
      m_model(character, m_settings, range, file),
      m_step(1 / (range.rate * settings.substeps)) {
  refuse_unknown(settings, file);
  if (!character.binds.empty())
    m_skinner = std::make_unique<Skinner>(character.weights, character.binds);
  if (!m_model.scale.reason.empty()) log_info("lattice: {}", m_model.scale.reason);
  m_compensates = m_model.attachment && settings.gravity.compensate.value_or(true);
  if (m_model.attachment || !settings.contact.colliders.empty())
    m_contact = std::make_unique<FleshContact>(
        character, m_model, settings,
        FleshContactOptions{.self = settings.contact.self.value_or(true)}, range, file);
  const LatticeDynamicsModel base = base_model();
  if (base.held.empty() && base.pulls.empty() && base.springs.empty())
    throw_input_error(file, "body",
                      "nothing holds the body, so that it has no equilibrium; give it bones, or "
                      "'fixed' or 'pulled' nodes");
  const bool sags = !m_model.gravity.isZero(0) && !m_compensates;
  m_dials = std::make_unique<LatticeDials>(settings, m_model, base, m_step, sags, file);
  m_factors = m_dials->at({range.clip_time, static_cast<double>(range.first)});
  std::vector<double> inertia(base.masses.size(), 1);
  if (m_dials->act()) inertia = m_dials->inertia(m_factors);
  m_body = std::make_unique<AdjustedLattice>(m_dials->adjusted(base), inertia, options_of(settings),
                                             file);
  m_body->set_factors(m_factors.stiffness, m_factors.damping, m_dials->move());
  m_targets.resize(m_model.rest.size());
  m_cell_stretch.assign(m_model.mesh.cells.size(), 1);
  if (!settings.adjust.run) return;
  m_body->use_path(settings.adjust.run->path);
  settings.adjust.run->body = m_dials->body();
  settings.adjust.run->record.begin(m_body->system().masses(),
                                    shapes_of(m_body->system(), m_dials->modes()));
}

// The lattice with what holds it: nodes of scripts, then those of bones, which scripts overrule.
LatticeDynamicsModel ImplicitLatticeBody::base_model() {
  LatticeDynamicsModel base;
  base.solid = m_model.solid;
  base.mesh = m_model.mesh;
  base.moduli = m_model.moduli;
  base.masses = m_model.masses;
  if (m_settings.lattice.stiffness_damping > 0)
    base.stiffness_damping.assign(base.moduli.size(), m_settings.lattice.stiffness_damping);
  if (m_settings.lattice.mass_damping > 0)
    base.mass_damping.assign(base.masses.size(), m_settings.lattice.mass_damping);
  std::vector<bool> taken(base.masses.size(), false);
  const auto hold = [&](int32_t node, int32_t script) {
    if (taken[static_cast<size_t>(node)]) return;
    taken[static_cast<size_t>(node)] = true;
    m_held.push_back(node);
    m_script_of_held.push_back(script);
  };
  for (size_t s = 0; s < m_model.fixed.size(); ++s)
    for (const int32_t n : m_model.fixed[s].nodes) hold(n, static_cast<int32_t>(s));
  if (m_model.attachment) {
    for (const int32_t n : m_model.attachment->held()) hold(n, -1);
    base.pulls.assign(m_model.attachment->stiffness().begin(),
                      m_model.attachment->stiffness().end());
    base.keep_volume = m_settings.keep_volume;
    base.against_inversion = against_inversion;
  }
  base.held = m_held;
  for (const TargetSpring& s : m_model.springs()) base.springs.push_back(s.spring);
  if (m_contact) base.contact_points = m_contact->lattice_points();
  base.one_point = m_settings.solver.quadrature == Quadrature::one_point;
  base.eight_points = m_settings.solver.quadrature == Quadrature::eight_point;
  return base;
}

Instant ImplicitLatticeBody::instant_at(const Instant& from, const Instant& to, double part) const {
  if (part >= 1) return to;
  return instant_between(m_character, from, to, part, m_model.attachment != nullptr);
}

// Where bones and scripts have the nodes they hold, and where springs pull.
void ImplicitLatticeBody::places_at(const Instant& instant, std::vector<Vec3d>& held,
                                    std::vector<Vec3d>& pulled) {
  if (m_model.attachment) m_model.attachment->targets(instant.joints, m_targets);
  std::vector<Affine> motions;
  for (const ScriptedNodes& group : m_model.fixed)
    motions.push_back(group.script.at(instant.moment));
  held.clear();
  pulled.clear();
  for (size_t i = 0; i < m_held.size(); ++i) {
    const auto n = static_cast<size_t>(m_held[i]);
    const int32_t script = m_script_of_held[i];
    held.emplace_back(script < 0 ? Vec3d(m_targets[n].cast<double>())
                                 : motions[static_cast<size_t>(script)] * m_model.rest[n]);
  }
  if (m_model.attachment)
    for (const Vec3f& target : m_targets) pulled.emplace_back(target.cast<double>());
  for (const PulledPlaces& group : m_model.pulled) {
    const Affine motion = group.script.at(instant.moment);
    for (const Vec3d& rest : group.rest) pulled.emplace_back(motion * rest);
  }
}

// Weight, by the dials' factors, and pokes.
void ImplicitLatticeBody::set_forces(const Instant& instant, BodyVector& forces) const {
  std::vector<Vec3d> all = m_model.weights(instant.joints, m_compensates);
  for (size_t n = 0; n < all.size(); ++n) all[n] *= m_factors.gravity * m_dials->weight_of(n);
  m_model.add_pokes(instant.moment, all);
  for (size_t n = 0; n < all.size(); ++n) forces.node(n) = all[n];
}

// What drives a part of the way from one instant to another, which takes so many seconds.
AdjustedDrive ImplicitLatticeBody::drive_between(const Instant& from, const Instant& to,
                                                 double begin, double end, double seconds) {
  AdjustedDrive drive;
  const auto at = [this, &from, &to, begin, end](double part) {
    return instant_at(from, to, begin + part * (end - begin));
  };
  drive.places = [this, at](double part, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled) {
    places_at(at(part), held, pulled);
  };
  if (const Attachment* rig = m_model.attachment.get())
    drive.carry = [rig, at](double here, double there, BodyVector& x) {
      rig->carry(at(here).joints, at(there).joints, as_points(x));
    };
  drive.forces = m_body->system().zero();
  set_forces(at(1), drive.forces);
  if (!m_contact) return drive;
  drive.contact.move = [this, at, seconds](double part) {
    const Instant before = at(0), now = at(part);
    m_contact->begin({before.moment, before.joints}, {now.moment, now.joints}, part * seconds,
                     nodes());
  };
  drive.contact.find = [this](const BodyVector& x, double, int look) { return touch(x, look - 1); };
  return drive;
}

// Sets the springs of contacts at x; false when there are none and were none, or all looks are
// used.
bool ImplicitLatticeBody::touch(const BodyVector& x, int look) {
  const bool rigid = m_contact->colliders().size() > 0;
  if (look >= (rigid ? most_rigid_looks : most_looks)) return false;
  m_contacts.clear();
  const size_t count = m_contact->find(as_points(x), m_body->system().first_contact(),
                                       look < most_looks, m_contacts);
  if (count == 0 && !m_touching) return false;
  m_touching = count > 0;
  m_body->system().set_contacts(m_contacts);
  return true;
}

void ImplicitLatticeBody::set_dials(const Moment& moment) {
  if (!m_dials->move()) return;
  m_factors = m_dials->at(moment);
  m_body->set_factors(m_factors.stiffness, m_factors.damping, true);
  m_body->set_epsilon(m_dials->inertia(m_factors));
}

StepReport ImplicitLatticeBody::step(const Drive& drive, double dt) {
  StepReport report;
  const Instant to{{drive.time, static_cast<double>(drive.frame)}, drive.pose, drive.joints};
  set_dials(to.moment);
  if (!m_started) {
    start(to, true, report);
    m_started = true;
  } else if (m_model.attachment && is_cut(m_character, m_now, to, m_model.length)) {
    start(to, false, report);
    report.warnings.emplace_back("the clip jumps here: the body begins anew at rest");
  } else {
    advance(to, dt, report);
  }
  m_now = to;
  double inverted = report.stages.time(
      "measure", [&] { return measure_cells(m_model, nodes(), m_cell_stretch); });
  if (inverted > unsound && m_model.attachment) {
    begin_anew(to, report);
    inverted = measure_cells(m_model, nodes(), m_cell_stretch);
  }
  if (inverted > worrying)
    report.warnings.push_back(
        fmt::format("{:.1f} % of the flesh is turned inside out", 100 * inverted));
  if (m_skinner && !to.joints.empty()) {
    m_plain = m_character.skin.positions;
    add_blend_shapes(m_character.shapes, drive.pose.shape_weights, m_plain);
    m_skinner->skin(m_skinning, to.joints, m_plain, m_plain);
  }
  return report;
}

// To rest in a pose, from the one before, or from the bind pose, in parts in which no joint turns
// far. Contacts are for the last of them.
void ImplicitLatticeBody::start(const Instant& to, bool anew, StepReport& report) {
  const bool rigged = m_model.attachment != nullptr;
  const Instant from = !anew ? m_now : rigged ? bind_instant(m_character, to) : to;
  const int parts = rigged ? parts_of_path(from, to) : 1;
  bool found = true;
  for (int i = 1; i <= parts; ++i) {
    AdjustedDrive drive = drive_between(from, to, static_cast<double>(i - 1) / parts,
                                        static_cast<double>(i) / parts, 0);
    if (drive.carry) drive.carry(0, 1, m_body->equilibrium.position);
    if (i < parts) drive.contact = {};
    found = m_body->start(drive);
  }
  if (!found) report.warnings.emplace_back("the flesh has not come to rest in this pose");
}

void ImplicitLatticeBody::begin_anew(const Instant& to, StepReport& report) {
  const BodyVector zero = m_body->system().zero();
  m_body->now = m_body->equilibrium = {m_body->system().rest(), zero, zero};
  start(to, true, report);
  report.warnings.emplace_back("the motion was too violent; the body begins anew at rest");
}

void ImplicitLatticeBody::advance(const Instant& to, double dt, StepReport& report) {
  const Instant from = m_now;
  const int steps = m_settings.substeps;
  const double h = dt / steps;
  if (steps >= steps_to_look_ahead) {
    const AdjustedReport ahead = m_body->look_ahead(drive_between(from, to, 0, 1, dt), h, steps);
    report.stages.add(ahead.dynamic.stages);
  }
  for (int s = 0; s < steps; ++s) {
    const AdjustedDrive drive = drive_between(from, to, static_cast<double>(s) / steps,
                                              static_cast<double>(s + 1) / steps, h);
    const AdjustedReport step = m_body->step(drive, h);
    report.iterations += step.dynamic.iterations;
    report.residual = std::max(report.residual, step.dynamic.residual);
    report.stages.add(step.dynamic.stages);
    if (!step.sound) {
      begin_anew(to, report);
      return;
    }
    if (m_settings.adjust.run) record(h);
  }
}

// Without weight a body of rigidly moved nodes is where these take it; else that is not known.
void ImplicitLatticeBody::record(double h) {
  const bool known = m_body->rigid_equilibrium(m_weightless);
  m_settings.adjust.run->record.add(m_body->now, m_body->equilibrium, m_body->system().gradients(),
                                    h, known ? &m_weightless : nullptr);
}

void ImplicitLatticeBody::finish(AdjustRun& run) {
  finish_reading(*m_body, drive_between(m_now, m_now, 1, 1, 0), *m_dials, m_factors,
                 {.length = m_model.length, .step = m_step}, run);
}

std::span<const Vec3d> ImplicitLatticeBody::nodes() const {
  return as_points(m_body->now.position);
}

void ImplicitLatticeBody::skin(BodyFrame& out) const {
  const std::vector<Vec3f> points = carried_skin(m_model, nodes(), m_contact.get());
  const FleshView view{m_character, m_model, m_now, m_plain, nodes(), points, m_contact.get()};
  show_skin(view, out);
  show_extras(view, m_cell_stretch, out);
}

std::vector<ChunkArray> ImplicitLatticeBody::shown_once() const {
  return show_once(m_model, m_contact.get());
}

void ImplicitLatticeBody::save(Chunk& state) const {
  std::vector<double> numbers;
  for (const Moving<BodyVector>* motion : {&m_body->now, &m_body->equilibrium})
    for (const BodyVector* v : {&motion->position, &motion->velocity, &motion->acceleration})
      numbers.insert(numbers.end(), v->data(), v->data() + v->size());
  numbers.insert(numbers.end(), m_body->carried_error.data(),
                 m_body->carried_error.data() + m_body->carried_error.size());
  state.add<double>("lattice/motion", numbers);
  save_instant(m_now, "lattice", state);
}

void ImplicitLatticeBody::load(const Chunk& state, std::string_view file) {
  const auto size = static_cast<int64_t>(3 * m_body->system().nodes());
  const auto numbers = state.get<double>("lattice/motion", 1, 7 * size, file);
  require_finite(numbers, file, "lattice");
  m_now = load_instant(state, "lattice", m_character, m_model.attachment != nullptr, file);
  const double* from = numbers.data();
  for (Moving<BodyVector>* motion : {&m_body->now, &m_body->equilibrium})
    for (BodyVector* v : {&motion->position, &motion->velocity, &motion->acceleration}) {
      *v = Eigen::Map<const Eigen::VectorXd>(from, size);
      from += size;
    }
  m_body->carried_error = Eigen::Map<const Eigen::VectorXd>(from, size);
  m_started = true;
}

std::vector<BodyFact> ImplicitLatticeBody::facts() const {
  std::vector<BodyFact> facts = {{"cells", static_cast<double>(m_model.mesh.cells.size()), ""},
                                 {"nodes", static_cast<double>(m_model.mesh.nodes.size()), ""},
                                 {"spacing", m_model.solid.spacing, "m"},
                                 {"memory", static_cast<double>(m_body->bytes()) / 1e6, "MB"},
                                 {"metres per unit", m_model.scale.metres_per_unit, ""},
                                 {"time step", 1000 * m_step, "ms"}};
  if (m_dials->body().omega > 0)
    facts.push_back(
        {"lowest frequency",
         m_dials->body().omega * std::sqrt(m_factors.stiffness) / (2 * std::numbers::pi), "Hz"});
  return facts;
}

}  // namespace supple
