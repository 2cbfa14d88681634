#include "supple/lattice/lattice_dynamics.h"

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr size_t nodes_per_range = 1024;

// Cells' gradients at their centres: every corner's weight grows by 1/4h along each axis.
NodeGradients gradients_of(const LatticeDynamicsModel& model) {
  const double h = model.solid.spacing;
  std::array<Vec3d, 8> gradients;
  for (int c = 0; c < 8; ++c)
    gradients[static_cast<size_t>(c)] =
        Vec3d(c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1) / (4 * h);
  std::vector<ElementGradient> elements;
  for (size_t c = 0; c < model.mesh.cells.size(); ++c)
    elements.push_back(
        {model.mesh.corners[c], gradients, model.solid.covered(model.mesh.cells[c]) * h * h * h});
  return {model.masses.size(), elements};
}

// Makes a level's moduli those of the model times a factor per cell.
void set_moduli(const LatticeDynamicsModel& model, const std::function<double(size_t)>& factor,
                Level& level) {
  for (size_t c = 0; c < model.mesh.cells.size(); ++c) {
    const LatticePlace& at = model.mesh.cells[c];
    const auto slot =
        static_cast<size_t>(model.solid.lattice.cell_slots[static_cast<size_t>(at.block)]);
    const double scale = factor(c) * model.solid.spacing;
    float* to = level.materials.data() + slot * material_block + at.local;
    to[0] = static_cast<float>(model.moduli[c].mu * scale / 8);
    to[block_cells] = static_cast<float>(model.moduli[c].lambda * scale / 16);
  }
}

std::array<float, 6> scaled(std::array<float, 6> stiffness, double factor) {
  for (float& k : stiffness) k = static_cast<float>(static_cast<double>(k) * factor);
  return stiffness;
}

}  // namespace

LatticeDynamics::LatticeDynamics(LatticeDynamicsModel model, const std::string& file)
    : m_model(std::move(model)), m_gradients(gradients_of(m_model)), m_free(nodes(), 1) {
  std::vector<uint64_t> held(m_model.solid.lattice.block_count(), 0);
  for (const int32_t n : m_model.held) {
    const LatticePlace& at = m_model.mesh.nodes[static_cast<size_t>(n)];
    held[static_cast<size_t>(at.block)] |= uint64_t{1} << at.local;
    m_free[static_cast<size_t>(n)] = 0;
  }
  for (size_t n = 0; n < nodes(); ++n)
    if (!(m_model.masses[n] > 0) || !std::isfinite(m_model.masses[n]))
      throw_input_error(file, fmt::format("node {}", n), "it has no mass: its cells are empty");
  const SparseLattice& lattice = m_model.solid.lattice;
  m_system = std::make_unique<LatticeSystem>(
      lattice, m_model.solid.spacing,
      [&](const Vec3i& cell) {
        return m_model.moduli[static_cast<size_t>(m_model.mesh.cell_number(lattice.place(cell)))];
      },
      [&](const Vec3i& node) {
        const LatticePlace at = lattice.place(node);
        return (held[static_cast<size_t>(at.block)] >> at.local & 1) != 0;
      });
  if (m_model.one_point)
    for (size_t l = 0; l < m_system->hierarchy().levels(); ++l)
      m_system->hierarchy().level(l).hourglass = 0;
  if (m_model.eight_points) m_system->use_eight_points();
  if (m_model.against_inversion > 0) m_system->resist_inversion(m_model.against_inversion);
  m_places = held_at_rest();
  if (!m_model.pulls.empty())
    for (size_t n = 0; n < nodes(); ++n) m_pull_places.emplace_back(rest().node(n));
  m_outer = m_inertia_goal = m_damping_goal = zero();
  m_x = m_f = m_system->zero();
  m_dx = m_system->zero_step();
  place_springs();
}

LatticeDynamics::Positions LatticeDynamics::rest() const {
  Positions x = zero();
  for (size_t n = 0; n < nodes(); ++n) {
    const LatticePlace& at = m_model.mesh.nodes[n];
    x.node(n) = m_model.solid.position(m_model.solid.lattice.coordinates(at.block, at.local));
  }
  return x;
}

std::vector<Vec3d> LatticeDynamics::held_at_rest() const {
  std::vector<Vec3d> places;
  for (const int32_t n : m_model.held) {
    const LatticePlace& at = m_model.mesh.nodes[static_cast<size_t>(n)];
    places.push_back(m_model.solid.position(m_model.solid.lattice.coordinates(at.block, at.local)));
  }
  return places;
}

// Springs of the model come first, contact points after them.
void LatticeDynamics::place_springs() {
  std::vector<Vec3d> points;
  for (const PointSpring& s : m_model.springs) {
    const Vec3d at = m_model.solid.origin + m_model.solid.spacing * s.at;
    m_springs.push_back({{static_cast<int32_t>(points.size()), s.stiffness}, at});
    m_pull_places.push_back(at);
    points.push_back(s.at);
  }
  points.insert(points.end(), m_model.contact_points.begin(), m_model.contact_points.end());
  m_system->place_points(points);
  set_contacts({});
}

void LatticeDynamics::set_pull_places(std::span<const Vec3d> places) {
  m_pull_places.assign(places.begin(), places.end());
  const size_t own = m_model.pulls.size();
  for (size_t s = 0; s < m_springs.size(); ++s) {
    m_springs[s].target = m_pull_places[own + s];
    m_system->set_spring_target(s, m_springs[s].target);
  }
}

void LatticeDynamics::set_contacts(std::span<const ActiveSpring> contacts) {
  m_contacts.assign(contacts.begin(), contacts.end());
  std::vector<ActiveSpring> all = m_springs;
  for (ActiveSpring& s : all) s.spring.stiffness = scaled(s.spring.stiffness, m_stiffness_factor);
  all.insert(all.end(), m_contacts.begin(), m_contacts.end());
  m_system->set_springs(all);
}

void LatticeDynamics::set_factors(double stiffness, double damping, bool /*passing*/) {
  if (stiffness == m_stiffness_factor && damping == m_damping_factor) return;
  const bool other = stiffness != m_stiffness_factor;
  m_stiffness_factor = stiffness;
  m_damping_factor = damping;
  m_matrix_rate = -1;
  if (!other) return;
  set_materials([&](size_t) { return m_stiffness_factor; });
  set_contacts(std::vector<ActiveSpring>(m_contacts));
}

// Makes the system's moduli those of the model times a factor per cell, on all levels.
void LatticeDynamics::set_materials(const std::function<double(size_t cell)>& factor) {
  set_moduli(m_model, factor, m_system->hierarchy().finest());
  m_system->hierarchy().update_materials();
}

void LatticeDynamics::swap_materials(Materials& with) {
  Hierarchy& hierarchy = m_system->hierarchy();
  with.resize(hierarchy.levels());
  for (size_t l = 0; l < with.size(); ++l) {
    with[l].resize(hierarchy.level(l).materials.size());
    std::swap(with[l], hierarchy.level(l).materials);
  }
}

// What the linear solves are about, for the rate of the stage: moduli (1 + rate d), and on the
// diagonal springs, masses and their damping.
void LatticeDynamics::update_matrix() {
  if (m_matrix_rate == m_rate) return;
  m_matrix_rate = m_rate;
  std::vector<float> diagonal(m_model.solid.lattice.block_count() * block_cells, 0);
  for (size_t n = 0; n < nodes(); ++n) {
    const LatticePlace& at = m_model.mesh.nodes[n];
    double k = m_rate * m_rate * m_model.masses[n];
    if (!m_model.mass_damping.empty())
      k += m_rate * m_damping_factor * m_model.mass_damping[n] * m_model.masses[n];
    if (!m_model.pulls.empty()) k += m_stiffness_factor * m_model.pulls[n];
    diagonal[static_cast<size_t>(at.block) * block_cells + static_cast<size_t>(at.local)] =
        static_cast<float>(k);
  }
  m_system->hierarchy().set_masses(diagonal);
  if (!is_damped()) return;
  if (m_matrix_materials.empty()) {
    m_matrix_materials.resize(m_system->hierarchy().levels());
    for (size_t l = 0; l < m_matrix_materials.size(); ++l)
      m_matrix_materials[l].resize(m_system->hierarchy().level(l).materials.size());
  }
  swap_materials(m_matrix_materials);
  set_materials([&](size_t c) {
    return m_stiffness_factor + m_rate * m_damping_factor * m_model.stiffness_damping[c];
  });
  swap_materials(m_matrix_materials);
}

void LatticeDynamics::linearise(const Positions& x, Differential kind) {
  update_matrix();
  scatter(x, m_x);
  if (is_damped()) swap_materials(m_matrix_materials);
  m_system->linearise(m_x, kind);
  if (is_damped()) swap_materials(m_matrix_materials);
}

// Damping about x, without fixed nodes: their motion damps that of the others.
void LatticeDynamics::begin_step(const Positions& x) {
  if (m_model.keep_volume) renew(x);
  if (!is_damped()) return;
  const Level& finest = m_system->hierarchy().finest();
  if (!m_damping) {
    auto level = std::make_unique<Level>(m_model.solid.lattice, m_model.solid.spacing);
    level->hourglass = finest.hourglass;
    level->inversion = finest.inversion;
    set_moduli(
        m_model, [&](size_t c) { return m_model.stiffness_damping[c]; }, *level);
    m_damping = std::make_unique<Hierarchy>(std::move(level), 1, 1);
    if (m_model.eight_points) m_damping->use_eight_points();
  }
  m_damping->finest().rest_traces = finest.rest_traces;
  m_damping->finest().point_rests = finest.point_rests;
  scatter(x, m_x);
  m_damping->linearise(m_x, Differential::projected, true);
}

void LatticeDynamics::set_stage(double rate, const Positions& inertia_goal,
                                const Positions& damping_goal) {
  m_rate = rate;
  m_inertia_goal = inertia_goal;
  m_damping_goal = damping_goal;
}

void LatticeDynamics::project(Positions& x) const {
  for (size_t i = 0; i < m_model.held.size(); ++i)
    x.node(static_cast<size_t>(m_model.held[i])) = m_places[i];
}

double LatticeDynamics::renew(const Positions& x) {
  if (!m_model.keep_volume) return 0;
  scatter(x, m_x);
  return m_system->keep_volume(m_x);
}

// Outer forces, springs of the nodes, and of a stage rate²/2 |x - a|² by mass and rate/2 |x - b|²
// by the damping of masses.
double LatticeDynamics::add_nodal(const Positions& x, Positions* force) const {
  const bool pulled = !m_model.pulls.empty(), damped = !m_model.mass_damping.empty();
  return parallel_reduce(
      nodes(), nodes_per_range, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t n = begin; n < end; ++n) {
          if (m_free[n] == 0) {
            if (force) force->node(n).setZero();
            continue;
          }
          Vec3d f = m_outer.node(n);
          sum -= f.dot(x.node(n));
          const auto pull = [&](double k, const Vec3d& away) {
            sum += 0.5 * k * away.squaredNorm();
            f -= k * away;
          };
          if (pulled) pull(m_stiffness_factor * m_model.pulls[n], x.node(n) - m_pull_places[n]);
          if (m_rate > 0) {
            pull(m_rate * m_rate * m_model.masses[n], x.node(n) - m_inertia_goal.node(n));
            if (damped)
              pull(m_rate * m_damping_factor * m_model.mass_damping[n] * m_model.masses[n],
                   x.node(n) - m_damping_goal.node(n));
          }
          if (force) force->node(n) += f;
        }
        return sum;
      },
      [](double a, double b) { return a + b; });
}

// rate/2 |x - b|² by the damping of the stiffness.
double LatticeDynamics::add_damping(const Positions& x, Positions* force) {
  if (!(m_rate > 0) || !is_damped()) return 0;
  parallel_for(nodes(), nodes_per_range, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n)
      m_x.set(m_model.mesh.nodes[n], x.node(n) - m_damping_goal.node(n));
  });
  const double factor = m_rate * m_damping_factor;
  const double energy = 0.5 * factor * m_damping->finest().product(m_x, m_f);
  if (force)
    parallel_for(nodes(), nodes_per_range, [&](size_t begin, size_t end) {
      for (size_t n = begin; n < end; ++n) force->node(n) -= factor * m_f.at(m_model.mesh.nodes[n]);
    });
  return energy;
}

double LatticeDynamics::energy(const Positions& x) {
  scatter(x, m_x);
  const double elastic = m_system->energy(m_x);
  return elastic + add_damping(x, nullptr) + add_nodal(x, nullptr);
}

double LatticeDynamics::force(const Positions& x, Positions& force) {
  scatter(x, m_x);
  const double elastic = m_system->force(m_x, m_f);
  for (size_t n = 0; n < nodes(); ++n) force.node(n) = m_f.at(m_model.mesh.nodes[n]);
  const double damped = add_damping(x, &force);
  return elastic + damped + add_nodal(x, &force);
}

LinearReport LatticeDynamics::solve(const Positions& force, Step& dx,
                                    const LinearOptions& options) {
  scatter(force, m_f);
  LinearReport report = m_system->solve(m_f, m_dx, options);
  for (size_t n = 0; n < nodes(); ++n) dx.node(n) = m_dx.at(m_model.mesh.nodes[n]).cast<double>();
  return report;
}

void LatticeDynamics::product(const BodyVector& dx, BodyVector& y) {
  scatter(dx, m_x);
  m_system->apply(m_x, m_f);
  for (size_t n = 0; n < nodes(); ++n) y.node(n) = m_f.at(m_model.mesh.nodes[n]);
}

void LatticeDynamics::scatter(const BodyVector& from, BlockVector<double>& to) const {
  parallel_for(nodes(), nodes_per_range, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) to.set(m_model.mesh.nodes[n], from.node(n));
  });
}

size_t LatticeDynamics::bytes() const {
  return m_system->hierarchy().bytes() + (m_damping ? m_damping->bytes() : 0) +
         (m_x.size() + m_f.size()) * sizeof(double) + m_dx.size() * sizeof(float) +
         nodes() * (27 * (sizeof(Vec3d) + sizeof(int32_t)) + 9 * sizeof(double));
}

}  // namespace supple
