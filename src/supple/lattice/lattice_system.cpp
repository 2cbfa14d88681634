#include "supple/lattice/lattice_system.h"

#include <bit>

#include "supple/lattice/elasticity_kernels.h"

namespace supple {
CellMaterial lame_moduli(double young, double poisson) {
  return {young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

LatticeSystem::LatticeSystem(SparseLattice lattice, double spacing,
                             const std::function<CellMaterial(const Vec3i&)>& material,
                             const std::function<bool(const Vec3i&)>& is_fixed,
                             size_t coarsest_nodes) {
  auto finest = std::make_unique<Level>(std::move(lattice), spacing);
  const SparseLattice& l = finest->lattice();
  for (size_t b = 0; b < l.block_count(); ++b) {
    const auto block = static_cast<int32_t>(b);
    for_bits(l.cells[b], [&](int32_t local) {
      const CellMaterial m = material(l.coordinates(block, local));
      float* to =
          finest->materials.data() + static_cast<size_t>(l.cell_slots[b]) * material_block + local;
      to[0] = static_cast<float>(m.mu * spacing / 8);
      to[block_cells] = static_cast<float>(m.lambda * spacing / 16);
    });
    for_bits(l.nodes[b], [&](int32_t local) {
      if (is_fixed(l.coordinates(block, local))) finest->free[b] &= ~(uint64_t{1} << local);
    });
  }
  m_hierarchy = std::make_unique<Hierarchy>(std::move(finest), coarsest_nodes);
  m_solver = std::make_unique<LinearSolver<float>>(*m_hierarchy);
}

LatticeSystem::Positions LatticeSystem::rest() const {
  Positions x = zero();
  const SparseLattice& l = lattice();
  for (size_t b = 0; b < l.block_count(); ++b)
    for (int32_t local = 0; local < 64; ++local) {
      const auto block = static_cast<int32_t>(b);
      x.set({block, local}, l.coordinates(block, local).cast<double>() * spacing());
    }
  return x;
}

void LatticeSystem::set_springs(std::vector<TargetSpring> springs) {
  m_springs = std::move(springs);
  std::vector<PointSpring> points;
  for (const TargetSpring& s : m_springs) points.push_back(s.spring);
  m_hierarchy->set_springs(points);
}

void LatticeSystem::set_inertia(std::span<const float> masses, double dt, Positions predicted) {
  m_masses.assign(masses.begin(), masses.end());
  for (float& m : m_masses) m = static_cast<float>(static_cast<double>(m) / (dt * dt));
  m_predicted = std::move(predicted);
  m_hierarchy->set_masses(m_masses);
}

double LatticeSystem::energy(const Positions& x) const {
  const Level& finest = m_hierarchy->finest();
  const SweepPlan plan = sweep_plan(lattice());
  const ForceInput input{.materials = finest.materials.data(),
                         .spacing = spacing(),
                         .hourglass = static_cast<double>(finest.hourglass)};
  const double elastic = parallel_reduce(
      lattice().tile_count(), 1, 0.0,
      [&](size_t t, size_t) { return force_tile(plan, t, input, x.data(), {}); },
      [](double a, double b) { return a + b; });
  return elastic + add_springs(x, nullptr) + add_nodal(x, nullptr);
}

double LatticeSystem::force(const Positions& x, Positions& f) const {
  const Level& finest = m_hierarchy->finest();
  const SparseLattice& l = lattice();
  const SweepPlan plan = sweep_plan(l);
  m_ghosts.resize(l.ghosts.size() * ghost_record);
  const ForceInput input{.materials = finest.materials.data(),
                         .spacing = spacing(),
                         .hourglass = static_cast<double>(finest.hourglass)};
  const double elastic = parallel_reduce(
      l.tile_count(), 1, 0.0,
      [&](size_t t, size_t) {
        return force_tile(plan, t, input, x.data(),
                          {f.data() + l.tiles[t] * vector_block, m_ghosts.data()});
      },
      [](double a, double b) { return a + b; });
  // Ghosts in, gradient to force; fixed nodes feel none.
  const FinishInput<double> finish{
      l.incoming_offsets.data(), l.incoming.data(), l.ghosts.data(), m_ghosts.data(),
      finest.free.data(),        nullptr,           x.data()};
  const Positions nothing = zero();
  parallel_for(l.block_count(), blocks_per_range, [&](size_t begin, size_t end) {
    finish_residual(finish, begin, end, nothing.data(), f.data());
  });
  return elastic + add_springs(x, &f) + add_nodal(x, &f);
}

// Springs one after the other: there are few, and sums stay in order.
double LatticeSystem::add_springs(const Positions& x, Positions* force) const {
  const SparseLattice& l = lattice();
  const Level& finest = m_hierarchy->finest();
  double total = 0;
  for (const TargetSpring& s : m_springs) {
    const auto [place, weights] = find_point(l, s.spring.at);
    if (place.block < 0) continue;
    const auto corners = l.corners(place.block, place.local);
    Vec3d point = Vec3d::Zero();
    for (size_t i = 0; i < 8; ++i) point += static_cast<double>(weights[i]) * x.at(corners[i]);
    const auto& k = s.spring.stiffness;
    Eigen::Matrix3f stiffness;
    stiffness << k[0], k[5], k[4], k[5], k[1], k[3], k[4], k[3], k[2];
    const Vec3d away = point - s.target, pull = stiffness.cast<double>() * away;
    total += pull.dot(away) / 2;
    if (force == nullptr) continue;
    for (size_t i = 0; i < 8; ++i)
      if (finest.free[static_cast<size_t>(corners[i].block)] >> corners[i].local & 1)
        force->set(corners[i], force->at(corners[i]) - static_cast<double>(weights[i]) * pull);
  }
  return total;
}

// External forces and inertia.
double LatticeSystem::add_nodal(const Positions& x, Positions* force) const {
  const bool has_external = m_external.blocks() > 0, has_inertia = !m_masses.empty();
  if (!has_external && !has_inertia) return 0;
  const Level& finest = m_hierarchy->finest();
  return sum_over_blocks(lattice().block_count(), [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t b = begin; b < end; ++b)
      for (size_t n = 0; n < block_cells; ++n) {
        if ((finest.free[b] >> n & 1) == 0) continue;
        for (size_t c = 0; c < 3; ++c) {
          const size_t i = b * vector_block + c * block_cells + n;
          double f = 0;
          if (has_external) {
            f += m_external[i];
            sum -= m_external[i] * x[i];
          }
          if (has_inertia) {
            const double m = static_cast<double>(m_masses[b * block_cells + n]);
            const double away = x[i] - m_predicted[i];
            f -= m * away;
            sum += m * away * away / 2;
          }
          if (force != nullptr) (*force)[i] += f;
        }
      }
    return sum;
  });
}

LinearReport LatticeSystem::solve(const Positions& force, BlockVector<float>& dx,
                                  const LinearOptions& options) {
  // Of length 1, as single precision has few exponents to spare.
  const double length = std::sqrt(dot(force, force));
  if (!(length > 0)) {
    dx.set_zero();
    return {};
  }
  const auto attempt = [&](const LinearOptions& limited) {
    BlockVector<float>& right = m_hierarchy->finest().b;
    parallel_for(force.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) right[i] = static_cast<float>(force[i] / length);
    });
    LinearReport report = m_solver->solve(right, dx, limited);
    parallel_for(dx.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        dx[i] = static_cast<float>(static_cast<double>(dx[i]) * length);
    });
    return report;
  };
  LinearReport report = attempt(options);
  if (slope(force, dx) > 0) return report;
  // Nearly singular systems, of bodies collapsed to a line, can lead conjugate gradients astray by
  // rounding; the first of their steps always follows the force.
  LinearOptions once = options;
  once.limits.iterations = 1;
  const LinearReport again = attempt(once);
  report.iterations += again.iterations;
  report.products += again.products;
  report.residual = again.residual;
  return report;
}

void LatticeSystem::move(const Positions& x, double step, const BlockVector<float>& dx,
                         Positions& to) const {
  parallel_for(x.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = x[i] + step * static_cast<double>(dx[i]);
  });
}

}  // namespace supple
