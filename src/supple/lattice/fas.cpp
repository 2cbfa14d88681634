#include "supple/lattice/fas.h"

#include <cmath>

#include "supple/lattice/elasticity_kernels.h"

namespace supple {
namespace {

// to = from, in single precision.
void demote(const BlockVector<double>& from, BlockVector<float>& to) {
  parallel_for(from.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i]);
  });
}

}  // namespace

FasSolver::FasSolver(LatticeSystem& system)
    : m_system(system), m_backend(system.hierarchy()), m_states(system.hierarchy().levels()) {
  for (size_t l = 0; l < m_states.size(); ++l) {
    const size_t blocks = system.hierarchy().level(l).lattice().block_count();
    State& s = m_states[l];
    s.u = s.trial = s.residual = s.right = BlockVector<double>(blocks);
  }
}

NewtonReport FasSolver::solve(LatticeSystem::Positions& x, const FasOptions& options) {
  NewtonReport report;
  State& finest = m_states.front();
  std::swap(finest.u, x);
  update_residual(0);
  const double start = m_system.norm(finest.residual);
  m_system.linearise(finest.u, Differential::projected);
  while (true) {
    report.force = m_system.norm(finest.residual);
    report.residual = start == 0 ? 0 : report.force / start;  // what is no number stays none
    if (report.iterations > 0) report.residuals.push_back(report.residual);
    report.converged = report.residual <= options.tolerance;
    if (report.converged || report.iterations == options.cycles || !std::isfinite(start)) break;
    const double before = finest.energy;
    cycle(0, options);
    ++report.iterations;
    update_residual(0);
    if (!(finest.energy < before) && m_system.norm(finest.residual) >= report.force) {
      report.stalled = true;
      break;
    }
  }
  report.energy = finest.energy;
  std::swap(finest.u, x);
  return report;
}

void FasSolver::cycle(size_t l, const FasOptions& options) {
  if (l + 1 == m_states.size()) return solve_coarsest();
  Hierarchy& hierarchy = m_system.hierarchy();
  for (int i = 0; i < options.smoothings; ++i) smooth(l, options);

  // F_off and right-hand side of the coarse level: gᶜ = -fᶜ(F_off; 0) + Pᵀ (f + g).
  hierarchy.linearise_level(l, &m_states[l].u, Differential::projected, true);
  start_coarse(l + 1);
  cycle(l + 1, options);

  Level& fine = hierarchy.level(l);
  fine.x.set_zero();
  demote(m_states[l + 1].u, hierarchy.level(l + 1).x);
  m_backend.prolong(l);
  correct(l, fine.x);
  for (int i = 0; i < options.smoothings; ++i) smooth(l, options);
}

// Linearises about the present state and takes a few Chebyshev steps.
void FasSolver::smooth(size_t l, const FasOptions& options) {
  Hierarchy& hierarchy = m_system.hierarchy();
  Level& level = hierarchy.level(l);
  hierarchy.linearise_level(l, &m_states[l].u, Differential::projected, false);
  demote(m_states[l].residual, level.b);
  SmootherSteps steps(options.smoother, level.largest_eigenvalue, SmootherSteps::Start::zero);
  m_backend.start_smoothing(l, steps);
  for (int i = 1; i < options.smoother.steps; ++i) {
    steps.advance();
    m_backend.smooth(l, steps);
  }
  correct(l, level.x);
}

// The coarse problem at u = 0, from the fine level's residual.
void FasSolver::start_coarse(size_t l) {
  Hierarchy& hierarchy = m_system.hierarchy();
  Level &fine = hierarchy.level(l - 1), &coarse = hierarchy.level(l);
  State& state = m_states[l];
  demote(m_states[l - 1].residual, fine.sums);
  parallel_for(coarse.b.blocks(), 4, [&](size_t begin, size_t end) {
    restrict_blocks(fine.transfer, coarse.free.data(), fine.sums.data(), coarse.b.data(), begin,
                    end);
  });
  hierarchy.linearise_level(l, nullptr, Differential::projected, false);
  state.u.set_zero();
  elastic_gradient(l, state.u, &state.right);
  add_scaled(1.0, coarse.b, state.right);
  update_residual(l);
}

void FasSolver::solve_coarsest() {
  Hierarchy& hierarchy = m_system.hierarchy();
  const size_t l = m_states.size() - 1;
  constexpr int newton_steps = 3;
  for (int i = 0; i < newton_steps; ++i) {
    hierarchy.linearise_level(l, l == 0 || i > 0 ? &m_states[l].u : nullptr,
                              Differential::projected, false);
    hierarchy.factor_coarsest();
    demote(m_states[l].residual, hierarchy.level(l).b);
    hierarchy.solve_coarsest();
    if (!correct(l, hierarchy.level(l).x)) break;
  }
}

// Elastic energy and, where wanted, its gradient about the level's offsets, with the springs and
// matrices of the level.
double FasSolver::elastic_gradient(size_t l, const BlockVector<double>& u,
                                   BlockVector<double>* gradient) {
  const Level& level = m_system.hierarchy().level(l);
  const SparseLattice& lattice = level.lattice();
  AlignedArray<double>& ghosts = m_states[l].ghosts;
  ghosts.resize(lattice.ghosts.size() * ghost_record);
  // Cells that have a matrix take no part otherwise: the materials are those of the linearisation.
  const ForceInput input{.cells = level.cells.data(),
                         .offsets = level.gradients.data(),
                         .spacing = level.spacing(),
                         .hourglass = static_cast<double>(level.hourglass)};
  BlockVector<double>& product = m_states[l].residual;
  const SweepPlan plan = sweep_plan(lattice);
  double total = parallel_reduce(
      lattice.tile_count(), 1, 0.0,
      [&](size_t t, size_t) {
        return force_tile(
            plan, t, input, u.data(),
            {gradient == nullptr ? nullptr : gradient->data() + lattice.tiles[t] * vector_block,
             ghosts.data()});
      },
      [](double a, double b) { return a + b; });
  if (!level.extras.empty()) {
    product.set_zero();
    level.extras.add_product(lattice, u.data(), product.data());
    total += dot(product, u) / 2;
  }
  if (gradient == nullptr) return total;
  const FinishInput<double> finish{lattice.incoming_offsets.data(),
                                   lattice.incoming.data(),
                                   lattice.ghosts.data(),
                                   ghosts.data(),
                                   level.free.data(),
                                   level.masses.empty() ? nullptr : level.masses.data(),
                                   u.data()};
  if (!level.extras.empty()) add_scaled(1.0, product, *gradient);
  parallel_for(lattice.block_count(), blocks_per_range, [&](size_t begin, size_t end) {
    finish_product(finish, begin, end, gradient->data());
  });
  return total;
}

double FasSolver::energy(size_t l, const BlockVector<double>& u) {
  if (l == 0) return m_system.energy(u);
  const Level& level = m_system.hierarchy().level(l);
  double inertia = 0;
  for (size_t i = 0; i < level.masses.size(); ++i)
    for (size_t c = 0; c < 3; ++c) {
      const double v = u[i / block_cells * vector_block + c * block_cells + i % block_cells];
      inertia += static_cast<double>(level.masses[i]) * v * v / 2;
    }
  return elastic_gradient(l, u, nullptr) + inertia - dot(m_states[l].right, u);
}

// residual = g - dE/du and the energy at u.
void FasSolver::update_residual(size_t l) {
  State& s = m_states[l];
  if (l == 0) {
    s.energy = m_system.force(s.u, s.residual);
    return;
  }
  s.energy = energy(l, s.u);
  elastic_gradient(l, s.u, &s.trial);
  parallel_for(s.u.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) s.residual[i] = s.right[i] - s.trial[i];
  });
}

// u += the step, or the part of it along which the energy falls; false where it does not.
bool FasSolver::correct(size_t l, const BlockVector<float>& step) {
  State& s = m_states[l];
  double part = 1;
  for (int attempt = 0; attempt < 5; ++attempt, part /= 3) {
    m_system.move(s.u, part, step, s.trial);
    const double after = energy(l, s.trial);
    if (!(after < s.energy)) continue;
    std::swap(s.u, s.trial);
    update_residual(l);
    return true;
  }
  update_residual(l);
  return false;
}

}  // namespace supple
