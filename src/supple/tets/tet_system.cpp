#include "supple/tets/tet_system.h"

#include <Eigen/LU>

#include <cmath>
#include <utility>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/polar.h"

namespace supple {
namespace {

constexpr size_t node_block = 256;

// Factors are kept for so many time steps and stiffnesses.
constexpr size_t most_factors = 4;

std::span<const Vec3d> as_points(const TetVector& x) {
  return {reinterpret_cast<const Vec3d*>(x.data()), static_cast<size_t>(x.size()) / 3};
}

std::span<Vec3d> as_points(TetVector& x) {
  return {reinterpret_cast<Vec3d*>(x.data()), static_cast<size_t>(x.size()) / 3};
}

bool any(std::span<const double> values) {
  return std::ranges::any_of(values, [](double v) { return v != 0; });
}

}  // namespace

TetSystem::TetSystem(TetSystemModel model, const std::string& file)
    : m_model(std::move(model)),
      m_elements(m_model.mesh, m_model.matter, file),
      m_stiffness(m_model.mesh, m_model.matter),
      m_holds(m_model.mesh.positions.size(), m_model.held, m_model.least_new),
      m_gradients(m_model.mesh, m_model.matter.volumes),
      m_free(nodes(), -1),
      m_matrix(m_stiffness.empty_matrix()),
      m_damping(m_matrix) {
  for (size_t n = 0; n < nodes(); ++n) {
    if (m_holds.is_dependent(n)) continue;
    m_free[n] = m_free_count++;
    if (!(m_model.masses[n] > 0) || !std::isfinite(m_model.masses[n]))
      throw_input_error(file, fmt::format("node {}", n), "it has no mass: no element reaches it");
  }
  m_damped = any(m_model.stiffness_damping) || any(m_model.mass_damping);
  m_places = held_at_rest();
  for (const TetTie& point : m_model.pulled)
    m_pull_places.push_back(point.of(m_model.mesh.positions));
  m_outer = m_inertia_goal = m_damping_goal = m_r = m_p = m_q = m_z = m_extended = m_moved = zero();
  m_turns.assign(nodes(), Mat3d::Identity());
  m_diagonal.assign(nodes(), Mat3d::Identity());
}

TetSystem::Positions TetSystem::rest() const {
  Positions x = zero();
  for (size_t n = 0; n < nodes(); ++n) x.node(n) = m_model.mesh.positions[n];
  return x;
}

std::vector<Vec3d> TetSystem::held_at_rest() const {
  std::vector<Vec3d> places;
  for (const TetTie& point : m_model.held) places.push_back(point.of(m_model.mesh.positions));
  return places;
}

double TetSystem::element_size() const {
  return std::cbrt(6 * volume(m_model.mesh) / static_cast<double>(m_model.mesh.tets.size()));
}

void TetSystem::set_pull_places(std::span<const Vec3d> places) {
  m_pull_places.assign(places.begin(), places.end());
}

void TetSystem::set_factors(double stiffness, double damping, bool passing) {
  m_passing = passing;
  if (stiffness == m_stiffness_factor && damping == m_damping_factor) return;
  m_stiffness_factor = stiffness;
  m_damping_factor = damping;
  m_matrix_is_elastic = m_damping_known = false;
}

void TetSystem::set_stage(double rate, const Positions& inertia_goal,
                          const Positions& damping_goal) {
  m_rate = rate;
  m_inertia_goal = inertia_goal;
  m_damping_goal = damping_goal;
}

// Damping that is linearised about x: projected, so that it never drives.
void TetSystem::begin_step(const Positions& x) {
  if (!m_damped || (is_linear() && m_damping_known)) return;
  if (any(m_model.stiffness_damping)) {
    m_stiffness.linearise(x, true);
    m_stiffness.add_up(m_damping_factor, m_model.stiffness_damping, m_damping);
  } else {
    std::fill(m_damping.values.begin(), m_damping.values.end(), Mat3d::Zero());
  }
  for (size_t n = 0; n < nodes() && !m_model.mass_damping.empty(); ++n)
    m_damping.values[m_damping.find(n, static_cast<int32_t>(n))].diagonal().array() +=
        m_damping_factor * m_model.mass_damping[n] * m_model.masses[n];
  m_damping_known = true;
}

double TetSystem::add_springs(const Positions& x, Positions* force) const {
  double energy = 0;
  for (size_t i = 0; i < m_model.pulled.size(); ++i) {
    const TetTie& point = m_model.pulled[i];
    const Vec3d away = point.of(as_points(x)) - m_pull_places[i];
    const double pull = m_stiffness_factor * m_model.pulls[i];
    energy += 0.5 * pull * away.squaredNorm();
    if (!force) continue;
    for (size_t c = 0; c < 4; ++c)
      force->node(static_cast<size_t>(point.nodes[c])) -= pull * point.weights[c] * away;
  }
  return energy;
}

// rate²/2 |x - a|² by mass and rate/2 |x - b|² by damping.
double TetSystem::add_stage(const Positions& x, Positions* force) const {
  if (m_rate == 0) return 0;
  double energy = 0;
  const double square = m_rate * m_rate;
  for (size_t n = 0; n < nodes(); ++n) {
    const Vec3d away = x.node(n) - m_inertia_goal.node(n);
    energy += 0.5 * square * m_model.masses[n] * away.squaredNorm();
    if (force) force->node(n) -= square * m_model.masses[n] * away;
  }
  if (!m_damped) return energy;
  m_extended = x - m_damping_goal;
  energy += 0.5 * m_rate * m_damping.multiply(m_extended, m_moved);
  if (force) *force -= m_rate * m_moved;
  return energy;
}

double TetSystem::add_contact(const Positions& x, Positions* force) const {
  if (!m_contact) return 0;
  return force ? m_contact->add_forces(x, *force) : m_contact->energy(x);
}

double TetSystem::energy(const Positions& x) {
  return m_stiffness_factor * m_elements.energy(as_points(x)) - m_outer.dot(x) +
         add_springs(x, nullptr) + add_stage(x, nullptr) + add_contact(x, nullptr);
}

double TetSystem::force(const Positions& x, Positions& force) {
  force.setZero();
  m_elements.add_forces(as_points(x), as_points(force));
  force = m_stiffness_factor * force + m_outer;
  const double energy = m_stiffness_factor * m_elements.energy(as_points(x)) - m_outer.dot(x);
  const double more = add_springs(x, &force) + add_stage(x, &force) + add_contact(x, &force);
  m_holds.reduce(force);
  return energy + more;
}

// The matrix of a stage, K + rate D + rate² M and springs, from linearised elements.
void TetSystem::add_up(bool at_rest) {
  m_stiffness.add_up(m_stiffness_factor, {}, m_matrix);
  if (at_rest && m_rate > 0 && any(m_model.stiffness_damping)) {
    BlockMatrix damping = m_stiffness.empty_matrix();
    m_stiffness.add_up(m_rate * m_damping_factor, m_model.stiffness_damping, damping);
    for (size_t k = 0; k < damping.values.size(); ++k) m_matrix.values[k] += damping.values[k];
  } else if (!at_rest && m_rate > 0 && m_damped) {
    for (size_t k = 0; k < m_matrix.values.size(); ++k)
      m_matrix.values[k] += m_rate * m_damping.values[k];
  }
  const bool masses = at_rest && !m_model.mass_damping.empty();
  for (size_t n = 0; n < nodes() && m_rate > 0; ++n)
    m_matrix.values[m_matrix.find(n, static_cast<int32_t>(n))].diagonal().array() +=
        m_model.masses[n] * m_rate *
        (m_rate + (masses ? m_damping_factor * m_model.mass_damping[n] : 0));
  for (size_t i = 0; i < m_model.pulled.size(); ++i) {
    const TetTie& point = m_model.pulled[i];
    const double pull = m_stiffness_factor * m_model.pulls[i];
    for (size_t a = 0; a < 4; ++a)
      for (size_t b = 0; b < 4; ++b)
        m_matrix.values[m_matrix.find(static_cast<size_t>(point.nodes[a]), point.nodes[b])]
            .diagonal()
            .array() += pull * point.weights[a] * point.weights[b];
  }
}

void TetSystem::linearise(const Positions& x, Differential kind) {
  if (m_contact) m_contact->linearise(x);
  if (is_linear() && m_matrix_is_elastic && m_matrix_rate == m_rate) {
    if (m_contact) m_diagonal_known = false;
    return;
  }
  // The factor at rest is made before, as it uses the same tables.
  rest_factor();
  m_stiffness.linearise(x, kind != Differential::exact);
  add_up(false);
  m_matrix_is_elastic = true;
  m_matrix_rate = m_rate;
  m_linearised = x;
  m_turns_known = m_diagonal_known = false;
}

// How the material at the nodes has turned where the system was linearised.
void TetSystem::find_turns() {
  if (std::exchange(m_turns_known, true)) return;
  parallel_for(nodes(), node_block, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n)
      m_turns[n] = rotation_of_matter(m_gradients.at(n, m_linearised.data()));
  });
}

void TetSystem::invert_diagonal() {
  if (std::exchange(m_diagonal_known, true)) return;
  for (size_t n = 0; n < nodes(); ++n)
    m_diagonal[n] = m_matrix.values[m_matrix.find(n, static_cast<int32_t>(n))];
  if (m_contact) m_contact->add_diagonal(m_diagonal);
  parallel_for(nodes(), node_block, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) m_diagonal[n] = m_diagonal[n].inverse().eval();
  });
}

Eigen::SparseMatrix<double> TetSystem::reduced(const BlockMatrix& matrix) const {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(9 * matrix.values.size());
  PointHolds::Share own_row, own_column;
  for (size_t r = 0; r < matrix.rows(); ++r)
    for (uint32_t k = matrix.offsets[r]; k < matrix.offsets[r + 1]; ++k)
      for (const auto& row : m_holds.shares_of(r, own_row))
        for (const auto& column :
             m_holds.shares_of(static_cast<size_t>(matrix.columns[k]), own_column))
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
              entries.emplace_back(3 * m_free[static_cast<size_t>(row.node)] + i,
                                   3 * m_free[static_cast<size_t>(column.node)] + j,
                                   row.weight * column.weight * matrix.values[k](i, j));
  const Eigen::Index size = 3 * static_cast<Eigen::Index>(m_free_count);
  Eigen::SparseMatrix<double> result(size, size);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

// Which factor suits the stage; passing ones are those of powers of a number, so that they do not
// depend on what came before.
TetSystem::RestFactor TetSystem::wanted_factor() const {
  constexpr double apart = 1.5;
  const auto about = [&](double value) {
    if (!m_passing || !(value > 0)) return value;
    return std::pow(apart, std::round(std::log(value) / std::log(apart)));
  };
  return {m_rate, about(m_stiffness_factor), about(m_damping_factor), nullptr};
}

// The factor of a matrix, or null where it has none.
std::unique_ptr<TetFactor> TetSystem::factor_of(const BlockMatrix& matrix, bool single) const {
  auto factor = std::make_unique<TetFactor>(
      single ? TetFactor(std::in_place_type<PanelFactor<float>>, reduced(matrix))
             : TetFactor(std::in_place_type<PanelFactor<double>>, reduced(matrix)));
  const bool sound = std::visit([](const auto& made) { return made.sound(); }, *factor);
  return sound ? std::move(factor) : nullptr;
}

TetFactor* TetSystem::known_factor() const {
  const RestFactor wanted = wanted_factor();
  for (const RestFactor& known : m_factors)
    if (known.rate == wanted.rate && known.stiffness == wanted.stiffness &&
        known.damping == wanted.damping)
      return known.factor.get();
  return nullptr;
}

// The factor of the body at rest for the stage's rate; null where there is none. Where it is the
// inverse, its digits count.
TetFactor* TetSystem::rest_factor() {
  if (TetFactor* known = known_factor()) return known;
  RestFactor made = wanted_factor();
  const double stiffness = m_stiffness_factor, damping = m_damping_factor;
  m_stiffness_factor = made.stiffness;
  m_damping_factor = made.damping;
  m_stiffness.linearise(rest(), true);
  add_up(true);
  m_stiffness_factor = stiffness;
  m_damping_factor = damping;
  m_matrix_is_elastic = false;
  made.factor = factor_of(m_matrix, !is_linear());
  if (m_factors.size() == most_factors) m_factors.erase(m_factors.begin());
  m_factors.push_back(std::move(made));
  return m_factors.back().factor.get();
}

double TetSystem::product(const TetVector& dx, TetVector& y) const {
  m_extended = dx;
  m_holds.extend(m_extended);
  m_matrix.multiply(m_extended, y);
  if (m_contact) m_contact->add_product(m_extended, y);
  m_holds.reduce(y);
  return dot(dx, y);
}

// z = A⁻¹ r, or about that: R L⁻ᵀ L⁻¹ Rᵀ r with the turns R of the nodes.
double TetSystem::precondition(TetFactor* factor, bool turned) {
  if (!factor) {
    for (size_t n = 0; n < nodes(); ++n)
      m_z.node(n) = m_free[n] < 0 ? Vec3d::Zero() : Vec3d(m_diagonal[n] * m_r.node(n));
    return dot(m_r, m_z);
  }
  std::visit(
      [&](auto& own) {
        const auto work = own.work();
        const auto place = own.places();
        using Scalar = std::remove_cvref_t<decltype(work[0])>;
        for (size_t n = 0; n < nodes(); ++n) {
          if (m_free[n] < 0) continue;
          const int32_t* at = &place[3 * static_cast<size_t>(m_free[n])];
          const Vec3d r = turned ? Vec3d(m_turns[n].transpose() * m_r.node(n)) : Vec3d(m_r.node(n));
          for (int c = 0; c < 3; ++c) work[static_cast<size_t>(at[c])] = static_cast<Scalar>(r[c]);
        }
        own.solve();
        for (size_t n = 0; n < nodes(); ++n) {
          if (m_free[n] < 0) continue;
          const int32_t* at = &place[3 * static_cast<size_t>(m_free[n])];
          Vec3d z;
          for (int c = 0; c < 3; ++c) z[c] = static_cast<double>(work[static_cast<size_t>(at[c])]);
          m_z.node(n) = turned ? Vec3d(m_turns[n] * z) : z;
        }
      },
      *factor);
  return dot(m_r, m_z);
}

LinearReport TetSystem::solve(const Positions& force, Step& dx, const LinearOptions& options) {
  m_r = force;
  m_z.setZero();
  TetFactor* factor = nullptr;
  std::unique_ptr<TetFactor> fresh;
  if (options.preconditioner == TetPreconditioner::turned_factor) {
    factor = known_factor();
  } else if (options.preconditioner == TetPreconditioner::fresh_factor) {
    fresh = factor_of(m_matrix, false);
    factor = fresh.get();
  }
  const bool turned = factor && !fresh && !is_linear();
  if (turned) find_turns();
  if (!factor) invert_diagonal();
  LinearReport report = conjugate_gradient(
      *this, [&] { return precondition(factor, turned); }, dx,
      ConjugateGradientWork{m_r, m_p, m_q, m_z}, options.limits);
  m_holds.extend(dx);
  return report;
}

void TetSystem::move(const Positions& x, double step, const Step& dx, Positions& to) const {
  to = x + step * dx;
}

void TetSystem::accelerations(const Positions& x, Positions& out) {
  const double rate = m_rate;
  m_rate = 0;
  force(x, out);
  m_rate = rate;
  for (size_t n = 0; n < nodes(); ++n)
    if (m_free[n] >= 0) out.node(n) /= m_model.masses[n];
  m_holds.extend(out);
}

void TetSystem::matrices_at_rest(Eigen::SparseMatrix<double>& stiffness,
                                 Eigen::SparseMatrix<double>& mass) {
  const double rate = m_rate;
  m_rate = 0;
  m_stiffness.linearise(rest(), true);
  add_up(true);
  m_matrix_is_elastic = false;
  m_rate = rate;
  stiffness = reduced(m_matrix);
  BlockMatrix masses = m_stiffness.empty_matrix();
  for (size_t n = 0; n < nodes(); ++n)
    masses.values[masses.find(n, static_cast<int32_t>(n))] = m_model.masses[n] * Mat3d::Identity();
  mass = reduced(masses);
}

TetSystem::Positions TetSystem::expand(const Eigen::VectorXd& free) const {
  Positions all = zero();
  for (size_t n = 0; n < nodes(); ++n)
    if (m_free[n] >= 0) all.node(n) = free.segment<3>(3 * m_free[n]);
  m_holds.extend(all);
  return all;
}

size_t TetSystem::bytes() const {
  size_t factors = 0;
  for (const RestFactor& known : m_factors)
    if (known.factor)
      factors += std::visit([](const auto& own) { return own.bytes(); }, *known.factor);
  return m_elements.bytes() + 2 * m_matrix.values.size() * (sizeof(Mat3d) + 4) +
         m_model.mesh.tets.size() * 144 * sizeof(double) + factors;
}

}  // namespace supple
