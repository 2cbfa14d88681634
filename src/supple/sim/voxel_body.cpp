#include "supple/sim/voxel_body.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/sim/flesh_shown.h"
#include "supple/sim/rig_inertia.h"

namespace supple {
namespace {

constexpr int usual_iterations = 10;

// Contact points along the side of a cell: voxels are coarse, the skin in them is not.
constexpr double contact_density = 3;

// Equilibria are found by steps of this many seconds, each of which begins at rest: inertia keeps
// hold of nodes that have next to no matter. How many at most, and the move that ends them, in
// cells.
constexpr double settling_step = 0.2;
constexpr int most_solves = 100, settling_iterations = 100;
constexpr double still = 1e-4;

Mat3d as_matrix(const std::array<float, 6>& s) {
  const auto number = [&](size_t i) { return static_cast<double>(s[i]); };
  Mat3d m;
  m << number(0), number(5), number(4), number(5), number(1), number(3), number(4), number(3),
      number(2);
  return m;
}

}  // namespace

VoxelBody::VoxelBody(const Character& character, const BodySettings& settings,
                     const FrameRange& range, const std::string& file, SkinningMethod skinning)
    : m_character(character),
      m_settings(standing_on_ground(settings, character)),
      m_skinning(skinning),
      m_model(character, m_settings, range, file),
      m_dynamic(VoxelModel::is_dynamic(m_settings)),
      m_compensates(m_model.attachment && settings.gravity.compensate.value_or(true)),
      m_limits{settings.solver.linear_tolerance, settings.solver.linear_iterations > 0
                                                     ? settings.solver.linear_iterations
                                                     : usual_iterations},
      m_system(m_model.make_system()),
      m_positions(m_model.rest),
      m_velocities(m_model.rest.size(), Vec3d::Zero()),
      m_before(m_model.rest),
      m_goals(m_model.rest),
      m_cell_stretch(m_model.mesh.cells.size(), 1) {
  if (!character.binds.empty())
    m_skinner = std::make_unique<Skinner>(character.weights, character.binds);
  if (!m_model.scale.reason.empty()) log_info("voxels: {}", m_model.scale.reason);
  const bool self = m_settings.contact.self.value_or(false);
  const bool slides =
      m_model.rig && std::any_of(m_model.rig->bones().begin(), m_model.rig->bones().end(),
                                 [](const FleshBone& b) { return b.hold == BoneHold::sliding; });
  if (self || slides || !m_settings.contact.colliders.empty() || m_settings.contact.props)
    m_contact = std::make_unique<FleshContact>(
        character, m_model, m_settings,
        FleshContactOptions{.self = self, .density = contact_density}, range, file);
  if (m_contact)
    for (const Vec3d& at : m_contact->lattice_points())
      m_contact_ties.push_back(m_model.tie(m_model.solid.origin + m_model.solid.spacing * at));
  if (m_settings.volume) m_volume = SkinVolume::of_cells(m_model);
  for (const Vec3d& node : m_model.rest) m_targets.push_back(node.cast<float>());
  m_targets_before = m_targets;
}

// The first step puts the body where it begins, without time passing. Each later one goes from the
// moment of the one before to the drive's, in equal parts.
StepReport VoxelBody::step(const Drive& drive, double dt) {
  StepReport report;
  const Instant to{{drive.time, static_cast<double>(drive.frame)}, drive.pose, drive.joints};
  const bool rigged = m_model.attachment != nullptr;
  if (!m_started) {
    start(to, report);
  } else if (!m_dynamic) {
    follow_path(to, report);
  } else if (rigged && is_cut(m_character, m_now, to, m_model.length)) {
    follow_path(to, report);
    std::fill(m_velocities.begin(), m_velocities.end(), Vec3d::Zero());
    m_fresh = true;
  } else {
    const Instant from = m_now;
    for (int s = 1; s <= m_settings.substeps; ++s) {
      const double part = static_cast<double>(s) / m_settings.substeps;
      advance(s == m_settings.substeps ? to : instant_between(m_character, from, to, part, rigged),
              dt / m_settings.substeps, report);
    }
  }
  m_started = true;
  m_now = to;
  report.stages.time("measure", [&] { measure_cells(m_model, m_positions, m_cell_stretch); });
  if (m_skinner && !to.joints.empty()) {
    m_plain = m_character.skin.positions;
    add_blend_shapes(m_character.shapes, drive.pose.shape_weights, m_plain);
    m_skinner->skin(m_skinning, to.joints, m_plain, m_plain);
  }
  return report;
}

void VoxelBody::start(const Instant& first, StepReport& report) {
  // From the bind pose, where the flesh has been so far.
  m_now = m_model.attachment ? bind_instant(m_character, first) : first;
  put_held(first.moment);
  if (m_model.attachment)
    follow_path(first, report);
  else if (!m_dynamic || m_settings.start == StartState::equilibrium)
    settle(first, report);
  if (m_dynamic && !m_model.attachment) set_in_motion();
}

// Velocities of a rigid motion about the centre of mass.
void VoxelBody::set_in_motion() {
  const Vec3d velocity(m_settings.velocity.data());
  const Vec3d spin = Vec3d(m_settings.spin.data()) * (std::numbers::pi / 180);
  rigid_velocities(m_model, m_positions, velocity, spin, m_velocities);
}

// To an equilibrium, in parts in which no joint turns far.
void VoxelBody::follow_path(const Instant& to, StepReport& report) {
  const bool rigged = m_model.attachment != nullptr;
  int parts = m_dynamic ? 1 : m_settings.substeps;
  if (rigged) parts = std::max(parts, parts_of_path(m_now, to));
  const Instant from = m_now;
  for (int i = 1; i <= parts; ++i)
    settle(i == parts
               ? to
               : instant_between(m_character, from, to, static_cast<double>(i) / parts, rigged),
           report);
}

// Equilibrium with the held nodes where rig and scripts put them: steps until nothing moves.
void VoxelBody::settle(const Instant& now, StepReport& report) {
  aim(now);
  set_pulls(settling_step);
  if (m_model.attachment) m_model.attachment->carry(m_now.joints, now.joints, m_positions);
  put_held(now.moment);
  if (m_contact)
    m_contact->begin({m_now.moment, m_now.joints}, {now.moment, now.joints}, 0, m_positions);
  const RigInertia inertia{m_model, damping_rate(m_settings), settling_step, m_targets, m_targets};
  const std::vector<Vec3d> rest(m_positions.size(), Vec3d::Zero());
  const LinearLimits limits{m_limits.tolerance, std::max(settling_iterations, m_limits.iterations)};
  double moved = 0;
  for (int i = 0; i < most_solves; ++i) {
    m_before = m_positions;
    inertia.set_goals(m_before, rest, m_goals, m_positions);
    put_held(now.moment);
    set_springs(now.moment, m_contact != nullptr);
    const LinearReport linear = m_system->solve({m_before, m_goals, m_forces}, limits, m_positions);
    report.iterations += linear.iterations;
    // Of the matter: nodes without any may be anywhere.
    double sum = 0, mass = 0;
    for (size_t n = 0; n < m_positions.size(); ++n) {
      sum += m_model.masses[n] * (m_positions[n] - m_before[n]).squaredNorm();
      mass += m_model.masses[n];
    }
    moved = std::sqrt(sum / mass) / m_model.solid.spacing;
    report.residual = moved;
    if (!(moved > still)) break;
  }
  recover(report);
  if (moved > 100 * still) {
    const bool rigged = m_model.attachment != nullptr;
    for (size_t n = 0; n < m_positions.size() && rigged; ++n)
      m_positions[n] = m_targets[n].cast<double>();
    report.warnings.push_back(
        fmt::format("no equilibrium found: the last solve moved the body by {:.2g} cells{}", moved,
                    rigged ? "; it is put where the rig wants it" : ""));
  }
  if (m_volume) report.stages.time("volume", [&] { m_volume->keep(m_positions, {}); });
  m_now = now;
}

// A step of implicit Euler [Nesme 2006, section 4.2]: pulls to where inertia and rig want the
// nodes, and cells that resist, linearised where the rig or their own speed carries them.
void VoxelBody::advance(const Instant& now, double dt, StepReport& report) {
  aim(now);
  set_pulls(dt);
  m_before = m_positions;
  const RigInertia inertia{m_model, damping_rate(m_settings), dt, m_targets, m_targets_before};
  if (m_model.attachment) m_model.attachment->carry(m_now.joints, now.joints, m_positions);
  if (m_fresh && m_model.attachment) inertia.take_speed(m_velocities);
  inertia.set_goals(m_before, m_velocities, m_goals, m_positions);
  // While the rig stands still, as in a preroll, its speed is yet to come.
  m_fresh = m_fresh && m_targets == m_targets_before;
  put_held(now.moment);
  if (m_contact)
    m_contact->begin({m_now.moment, m_now.joints}, {now.moment, now.joints}, dt, m_before);
  solve(now.moment, report);
  for (size_t n = 0; n < m_positions.size(); ++n)
    m_velocities[n] = (m_positions[n] - m_before[n]) / dt;
  if (m_volume) report.stages.time("volume", [&] { m_volume->keep(m_positions, m_velocities); });
  m_now = now;
}

// Once, and once more with the contacts that are there then.
void VoxelBody::solve(const Moment& moment, StepReport& report) {
  for (int look = 0; look < (m_contact ? 2 : 1); ++look) {
    set_springs(moment, m_contact != nullptr);
    const LinearReport linear = report.stages.time("solve", [&] {
      return m_system->solve({m_before, m_goals, m_forces}, m_limits, m_positions);
    });
    report.iterations += linear.iterations;
    report.residual = linear.residual;
    if (m_springs.empty()) break;
  }
  // Held points once more, now in double precision.
  if (!m_held_targets.empty()) m_system->constraints().satisfy(m_held_targets, m_positions);
  recover(report);
}

// Positions that are not numbers begin anew where the rig wants them, or where they were.
void VoxelBody::recover(StepReport& report) {
  const bool sound = std::all_of(m_positions.begin(), m_positions.end(),
                                 [](const Vec3d& p) { return p.allFinite(); });
  if (sound) return;
  for (size_t n = 0; n < m_positions.size(); ++n)
    m_positions[n] = m_model.attachment        ? Vec3d(m_targets[n].cast<double>())
                     : m_before[n].allFinite() ? m_before[n]
                                               : m_model.rest[n];
  std::fill(m_velocities.begin(), m_velocities.end(), Vec3d::Zero());
  m_fresh = true;
  report.warnings.emplace_back("the step had no finite result; the body begins anew at rest");
}

// Where the rig wants the nodes, before and now, and what else acts on them.
void VoxelBody::aim(const Instant& now) {
  m_forces = m_model.outer_forces(now.moment, now.joints, m_compensates);
  if (!m_model.attachment) return;
  m_model.attachment->targets(m_now.joints, m_targets_before);
  m_model.attachment->targets(now.joints, m_targets);
}

void VoxelBody::set_pulls(double dt) {
  if (m_pull_step == dt) return;
  m_pull_step = dt;
  m_system->set_pulls(pull_stiffness(m_model, damping_rate(m_settings), dt));
}

// Puts held nodes and points where rig and scripts want them.
void VoxelBody::put_held(const Moment& moment) {
  if (m_model.attachment)
    for (const int32_t n : m_model.attachment->held())
      m_positions[static_cast<size_t>(n)] = m_targets[static_cast<size_t>(n)].cast<double>();
  for (const ScriptedNodes& group : m_model.fixed) {
    const Affine motion = group.script.at(moment);
    for (const int32_t n : group.nodes)
      m_positions[static_cast<size_t>(n)] = motion * m_model.rest[static_cast<size_t>(n)];
  }
  m_held_targets.clear();
  for (const ScriptedPoints& group : m_model.held_points) {
    const Affine motion = group.script.at(moment);
    for (const int32_t p : group.points)
      m_held_targets.emplace_back(
          motion * m_model.skin.mesh.positions[static_cast<size_t>(p)].cast<double>());
  }
  if (!m_held_targets.empty()) m_system->constraints().satisfy(m_held_targets, m_positions);
}

// Springs of scripts and of contacts at the present positions.
void VoxelBody::set_springs(const Moment& moment, bool contacts) {
  m_springs.clear();
  for (const PulledPlaces& group : m_model.pulled) {
    const Affine motion = group.script.at(moment);
    for (size_t i = 0; i < group.rest.size(); ++i)
      m_springs.push_back(
          {group.ties[i], group.stiffness * Mat3d::Identity(), motion * group.rest[i]});
  }
  if (contacts) {
    m_found.clear();
    m_contact->find(m_positions, 0, true, m_found);
    for (const ActiveSpring& spring : m_found)
      m_springs.push_back({m_contact_ties[static_cast<size_t>(spring.spring.point)],
                           as_matrix(spring.spring.stiffness), spring.target});
  }
  m_system->set_springs(m_springs);
}

void VoxelBody::skin(BodyFrame& out) const {
  std::vector<Vec3f> points(m_model.cell_skin.size());
  if (m_model.smooth)
    m_model.smooth->interpolate(m_positions, points);
  else
    m_model.cell_skin.interpolate(m_positions, points);
  const FleshView view{m_character, m_model, m_now, m_plain, m_positions, points, m_contact.get()};
  show_skin(view, out);
  show_extras(view, m_cell_stretch, out);
}

void VoxelBody::save(Chunk& state) const {
  state.add<double>("voxels/positions", as_doubles(m_positions), 3);
  state.add<double>("voxels/velocities", as_doubles(m_velocities), 3);
  const std::vector<double> fresh = {m_fresh ? 1.0 : 0.0};
  state.add<double>("voxels/fresh", fresh);
  save_instant(m_now, "voxels", state);
}

void VoxelBody::load(const Chunk& state, std::string_view file) {
  const auto rows = static_cast<int64_t>(m_model.rest.size());
  const auto positions = state.get<double>("voxels/positions", 3, rows, file);
  const auto velocities = state.get<double>("voxels/velocities", 3, rows, file);
  const auto fresh = state.get<double>("voxels/fresh", 1, 1, file);
  require_finite(positions, file, "voxels");
  require_finite(velocities, file, "voxels");
  m_now = load_instant(state, "voxels", m_character, m_model.attachment != nullptr, file);
  m_positions = as_vectors(positions);
  m_velocities = as_vectors(velocities);
  m_fresh = fresh[0] != 0;
  m_started = true;
}

std::vector<ChunkArray> VoxelBody::shown_once() const {
  return show_once(m_model, m_contact.get());
}

std::vector<BodyFact> VoxelBody::facts() const {
  const size_t bytes = m_system->bytes() + m_model.cell_skin.bytes() + m_model.embedding.bytes() +
                       m_model.cells.size() * sizeof(CellMatrices);
  return {{"cells", static_cast<double>(m_model.mesh.cells.size()), ""},
          {"nodes", static_cast<double>(m_model.mesh.nodes.size()), ""},
          {"spacing", m_model.solid.spacing, "m"},
          {"finer levels", static_cast<double>(m_settings.voxels.levels), ""},
          {"cubes of matter", static_cast<double>(m_model.leaves), ""},
          {"memory", static_cast<double>(bytes) / 1e6, "MB"},
          {"metres per unit", m_model.scale.metres_per_unit, ""}};
}

}  // namespace supple
