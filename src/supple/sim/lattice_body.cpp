#include "supple/sim/lattice_body.h"

#include <Eigen/Eigenvalues>

#include <numbers>

#include "supple/core/error.h"
#include "supple/math/flat.h"

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
  options.iterations = settings.iterations;
  options.least_force = balanced * model.stiffness * model.solid.spacing * model.solid.spacing *
                        std::sqrt(static_cast<double>(model.rest.size()));
  options.linear.method = method_of(settings.method);
  options.linear.limits = {settings.linear_tolerance, settings.linear_iterations};
  if (settings.differential == SolverDifferential::exact)
    options.exact_below = std::numeric_limits<double>::infinity();
  else if (settings.differential != SolverDifferential::automatic)
    options.exact_below = 0;
  if (settings.differential == SolverDifferential::warped) options.far = Differential::warped;
  if (settings.differential == SolverDifferential::zhu) options.far = Differential::zhu;
  return options;
}

std::span<const double> as_doubles(const std::vector<Vec3d>& v) {
  return {v.empty() ? nullptr : v.data()->data(), 3 * v.size()};
}

std::vector<Vec3d> as_vectors(const std::vector<double>& numbers) {
  std::vector<Vec3d> result;
  for (size_t i = 0; i + 2 < numbers.size(); i += 3)
    result.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
  return result;
}

}  // namespace

LatticeBody::LatticeBody(const Character& character, const BodySettings& settings,
                         const FrameRange& range, const std::string& file)
    : m_model(character.skin, settings, range, file),
      m_settings(settings),
      m_system(m_model.make_system()),
      m_work(*m_system),
      m_newton(newton_options(settings.solver, m_model)),
      m_positions(m_system->rest()),
      m_velocities(m_system->zero()),
      m_before(m_system->zero()),
      m_predicted(m_system->zero()),
      m_cell_stretch(m_model.mesh.cells.size(), 1) {
  if (settings.solver.quadrature == Quadrature::one_point)
    for (size_t l = 0; l < m_system->hierarchy().levels(); ++l)
      m_system->hierarchy().level(l).hourglass = 0;
  set_nodes(m_positions, m_model.rest);
  const Vec3d gravity(settings.gravity.data());
  if (gravity.isZero(0)) return;
  std::vector<Vec3d> weights;
  for (const double mass : m_model.masses) weights.emplace_back(mass * gravity);
  Positions forces = m_system->zero();
  set_nodes(forces, weights);
  m_system->set_external_forces(std::move(forces));
}

// The first step puts the body where it begins, without time passing. Each later one goes from the
// moment of the one before to the drive's, in equal parts.
StepReport LatticeBody::step(const Drive& drive, double dt) {
  StepReport report;
  const Moment to{drive.time, static_cast<double>(drive.frame)}, from = m_moment;
  if (!m_started) {
    start(to, report);
  } else {
    for (int s = 1; s <= m_settings.substeps; ++s) {
      const double part = static_cast<double>(s) / m_settings.substeps;
      const Moment now{from.time + part * (to.time - from.time),
                       from.frame + part * (to.frame - from.frame)};
      if (m_settings.dynamic)
        advance(now, dt / m_settings.substeps, report);
      else
        settle(now, report);
    }
  }
  m_started = true;
  m_moment = to;
  measure_cells(report);
  return report;
}

void LatticeBody::start(const Moment& moment, StepReport& report) {
  move_held(moment);
  if (!m_settings.dynamic || m_settings.start == StartState::equilibrium) settle(moment, report);
  if (m_settings.dynamic) set_in_motion();
}

// Velocities of a rigid motion about the centre of mass.
void LatticeBody::set_in_motion() {
  const std::vector<Vec3d> positions = node_positions();
  Vec3d centre = Vec3d::Zero();
  double mass = 0;
  for (size_t n = 0; n < positions.size(); ++n) {
    centre += m_model.masses[n] * positions[n];
    mass += m_model.masses[n];
  }
  centre /= mass;
  const Vec3d velocity(m_settings.velocity.data());
  const Vec3d spin = Vec3d(m_settings.spin.data()) * (std::numbers::pi / 180);
  std::vector<Vec3d> velocities;
  velocities.reserve(positions.size());
  for (const Vec3d& p : positions) velocities.emplace_back(velocity + spin.cross(p - centre));
  for (const ScriptedNodes& group : m_model.fixed)
    for (const int32_t node : group.nodes) velocities[static_cast<size_t>(node)].setZero();
  set_nodes(m_velocities, velocities);
}

// Equilibrium with the held nodes where the scripts put them.
void LatticeBody::settle(const Moment& moment, StepReport& report) {
  move_held(moment);
  solve(report);
}

// A step of backward Euler: the minimum of elastic energy and |x - (x0 + dt v0)|² m / (2 dt²).
void LatticeBody::advance(const Moment& moment, double dt, StepReport& report) {
  m_before = m_positions;
  m_predicted = m_positions;
  add_scaled(dt, m_velocities, m_predicted);
  if (m_inertia_step != dt) {
    std::vector<float> masses(m_system->lattice().block_count() * block_cells, 0);
    for (size_t n = 0; n < m_model.masses.size(); ++n) {
      const LatticePlace& at = m_model.mesh.nodes[n];
      masses[static_cast<size_t>(at.block) * block_cells + static_cast<size_t>(at.local)] =
          static_cast<float>(m_model.masses[n]);
    }
    m_system->set_inertia(masses, dt, m_predicted);
    m_inertia_step = dt;
  }
  m_system->set_predicted(m_predicted);
  m_positions = m_predicted;
  move_held(moment);
  solve(report);
  // v = (x - x0) / dt
  m_velocities = m_positions;
  add_scaled(-1.0, m_before, m_velocities);
  parallel_for(m_velocities.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) m_velocities[i] /= dt;
  });
}

void LatticeBody::move_held(const Moment& moment) {
  for (const ScriptedNodes& group : m_model.fixed) {
    const Affine motion = group.script.at(moment);
    for (const int32_t n : group.nodes)
      m_positions.set(m_model.mesh.nodes[static_cast<size_t>(n)],
                      motion * m_model.rest[static_cast<size_t>(n)]);
  }
  size_t spring = 0;
  for (const ScriptedNodes& group : m_model.pulled) {
    const Affine motion = group.script.at(moment);
    for (const int32_t n : group.nodes)
      m_system->set_spring_target(spring++, motion * m_model.rest[static_cast<size_t>(n)]);
  }
}

void LatticeBody::solve(StepReport& report) {
  const NewtonReport newton = solve_newton(*m_system, m_positions, m_work, m_newton);
  report.iterations += newton.iterations;
  // Relative to the force at the start; below what counts as balanced that says nothing.
  const double least = m_newton.tolerance > 0 ? m_newton.least_force / m_newton.tolerance : 0;
  const double start = newton.residual > 0 ? newton.force / newton.residual : newton.force;
  const double scale = std::max(start, least);
  report.residual = scale > 0 ? newton.force / scale : 0;
  if (!newton.converged)
    report.warnings.push_back(
        fmt::format("the body is not quite at rest: residual {:.2g} of the allowed {:.2g} after {} "
                    "iterations",
                    report.residual, m_newton.tolerance, newton.iterations));
}

// The largest stretch of every cell, and whether any is turned inside out.
void LatticeBody::measure_cells(StepReport& report) {
  const auto& corners = m_model.mesh.corners;
  const std::vector<Vec3d> nodes = node_positions();
  const int inverted = parallel_reduce(
      corners.size(), 1024, 0,
      [&](size_t begin, size_t end) {
        int count = 0;
        for (size_t c = begin; c < end; ++c) {
          Mat3d f = Mat3d::Zero();
          for (size_t i = 0; i < 8; ++i)
            for (size_t axis = 0; axis < 3; ++axis) {
              const Vec3d& x = nodes[static_cast<size_t>(corners[c][i])];
              f.col(static_cast<int>(axis)) += (i >> axis & 1) != 0 ? x : Vec3d(-x);
            }
          f /= 4 * m_model.solid.spacing;
          Eigen::SelfAdjointEigenSolver<Mat3d> solver;
          solver.computeDirect(f.transpose() * f, Eigen::EigenvaluesOnly);
          m_cell_stretch[c] = static_cast<float>(std::sqrt(std::max(0.0, solver.eigenvalues()[2])));
          if (!(f.determinant() > 0)) ++count;
        }
        return count;
      },
      std::plus<>());
  if (inverted > 0)
    report.warnings.push_back(
        fmt::format("{} of {} cells are turned inside out", inverted, corners.size()));
}

void LatticeBody::skin(BodyFrame& out) const {
  const std::vector<Vec3d> nodes = node_positions();
  out.positions.resize(m_model.embedding.size());
  m_model.embedding.interpolate(nodes, out.positions);

  // Stretch as the mean of the cells around a node.
  std::vector<float> stretch(nodes.size(), 0), shares(nodes.size(), 0);
  for (size_t c = 0; c < m_model.mesh.cells.size(); ++c)
    for (const int32_t node : m_model.mesh.corners[c]) {
      stretch[static_cast<size_t>(node)] += m_cell_stretch[c] - 1;
      shares[static_cast<size_t>(node)] += 1;
    }
  for (size_t n = 0; n < nodes.size(); ++n) stretch[n] /= shares[n];
  std::vector<float> map(m_model.embedding.size());
  m_model.embedding.interpolate(stretch, map);

  std::vector<Vec3f> shown;
  shown.reserve(nodes.size());
  for (const Vec3d& p : nodes) shown.push_back(p.cast<float>());
  Chunk extras;
  extras.add<float>("map/stretch", map);
  extras.add<float>("mesh/nodes", as_floats(shown), 3);
  for (const ChunkArray& array : extras.arrays()) out.extras.push_back(array);
}

std::vector<ChunkArray> LatticeBody::shown_once() const {
  const auto& corners = m_model.mesh.corners;
  Chunk chunk;
  chunk.add<int32_t>("mesh/hexahedra",
                     std::span<const int32_t>(corners.data()->data(), 8 * corners.size()), 8);
  return chunk.arrays();
}

std::vector<BodyFact> LatticeBody::facts() const {
  const size_t vectors = 8 * m_positions.size() * sizeof(double);
  const size_t bytes = m_system->hierarchy().bytes() + vectors + m_model.embedding.bytes() +
                       m_model.mesh.cells.size() * (sizeof(LatticePlace) + 32 + 20) +
                       m_model.mesh.nodes.size() * (sizeof(LatticePlace) + 32);
  return {{"cells", static_cast<double>(m_model.mesh.cells.size()), ""},
          {"nodes", static_cast<double>(m_model.mesh.nodes.size()), ""},
          {"spacing", m_model.solid.spacing, "m"},
          {"levels", static_cast<double>(m_system->hierarchy().levels()), ""},
          {"memory", static_cast<double>(bytes) / 1e6, "MB"}};
}

void LatticeBody::save(Chunk& state) const {
  state.add<double>("lattice/positions", as_doubles(node_positions()), 3);
  state.add<double>("lattice/velocities", as_doubles(node_velocities()), 3);
  const std::vector<double> moment = {m_moment.time, m_moment.frame};
  state.add<double>("lattice/moment", moment);
}

void LatticeBody::load(const Chunk& state, std::string_view file) {
  const auto rows = static_cast<int64_t>(m_model.rest.size());
  const auto positions = state.get<double>("lattice/positions", 3, rows, file);
  const auto velocities = state.get<double>("lattice/velocities", 3, rows, file);
  const auto moment = state.get<double>("lattice/moment", 1, 2, file);
  for (const auto* numbers : {&positions, &velocities, &moment})
    for (const double number : *numbers)
      if (!std::isfinite(number))
        throw_input_error(file, "lattice", "holds a number that is not finite");
  set_nodes(m_positions, as_vectors(positions));
  set_nodes(m_velocities, as_vectors(velocities));
  m_moment = {moment[0], moment[1]};
  m_started = true;
}

std::vector<Vec3d> LatticeBody::node_positions() const { return node_values(m_positions); }

std::vector<Vec3d> LatticeBody::node_velocities() const { return node_values(m_velocities); }

void LatticeBody::set_nodes(Positions& to, std::span<const Vec3d> values) const {
  for (size_t n = 0; n < values.size(); ++n) to.set(m_model.mesh.nodes[n], values[n]);
}

std::vector<Vec3d> LatticeBody::node_values(const Positions& from) const {
  std::vector<Vec3d> result;
  result.reserve(m_model.mesh.nodes.size());
  for (const LatticePlace& node : m_model.mesh.nodes) result.push_back(from.at(node));
  return result;
}

}  // namespace supple
