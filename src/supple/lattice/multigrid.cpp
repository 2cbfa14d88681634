#include "supple/lattice/multigrid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "supple/lattice/floating.h"

namespace supple {
namespace {

// Whether some piece has nothing to hold it.
bool has_floating_piece(const Level& coarsest) {
  const std::vector<bool> floating = floating_nodes(coarsest);
  const auto& nodes = coarsest.lattice().nodes;
  for (size_t n = 0; n < floating.size(); ++n)
    if (floating[n] && (nodes[n / block_cells] >> (n % block_cells) & 1) != 0) return true;
  return false;
}

// Whether no level has springs or matrices of single cells, as cubes held at whole sides have none.
bool is_regular(const Hierarchy& hierarchy) {
  for (size_t l = 0; l < hierarchy.levels(); ++l)
    if (!hierarchy.level(l).extras.empty()) return false;
  return true;
}

// to = from, in single precision.
template <class Scalar>
void copy(const BlockVector<Scalar>& from, BlockVector<float>& to) {
  parallel_for(from.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i]);
  });
}

// A step on a level, whose direction is kept in the level's.
SmoothStep smooth_step(Level& level, const SmootherSteps& s) {
  using Before = SmootherSteps::Before;
  return {.b = level.b.data(),
          .inverse_diagonal = level.inverse_diagonal.data(),
          .before = s.before() == Before::nowhere ? nullptr
                    : s.before() == Before::in_x  ? level.x.data()
                                                  : level.direction.data(),
          .direction = s.keeps() ? level.direction.data() : nullptr,
          .x = level.x.data(),
          .momentum = static_cast<float>(s.momentum),
          .weight = static_cast<float>(s.weight)};
}

}  // namespace

void LatticeBackend::start_smoothing(size_t l, const SmootherSteps& s) {
  Level& level = m_hierarchy.level(l);
  const SmoothStep first = smooth_step(level, s);
  parallel_for(level.x.blocks(), blocks_per_range, [&](size_t begin, size_t end) {
    supple::start_smoothing(first, begin * vector_block, end * vector_block);
  });
}

void LatticeBackend::smooth(size_t l, const SmootherSteps& s) {
  Level& level = m_hierarchy.level(l);
  level.smooth(smooth_step(level, s), level.x, level.sums);
}

void LatticeBackend::restrict_residual(size_t l) {
  Level &fine = m_hierarchy.level(l), &coarse = m_hierarchy.level(l + 1);
  // No step needs the direction any more.
  fine.residual(fine.b, fine.x, fine.direction);
  parallel_for(coarse.b.blocks(), 4, [&](size_t begin, size_t end) {
    restrict_blocks(fine.transfer, coarse.free.data(), fine.direction.data(), coarse.b.data(),
                    begin, end);
  });
}

void LatticeBackend::prolong(size_t l) {
  Level &fine = m_hierarchy.level(l), &coarse = m_hierarchy.level(l + 1);
  parallel_for(fine.x.blocks(), blocks_per_range, [&](size_t begin, size_t end) {
    prolong_blocks(fine.lattice(), coarse.lattice(), fine.transfer, fine.free.data(),
                   coarse.x.data(), fine.x.data(), begin, end);
  });
}

template <class Scalar>
LinearSolver<Scalar>::LinearSolver(Hierarchy& hierarchy)
    : m_hierarchy(hierarchy),
      m_backend(hierarchy),
      m_p(hierarchy.finest().lattice().block_count()),
      m_q(hierarchy.finest().lattice().block_count()) {}

// z (the finest x) = M⁻¹ r; returns r · z.
template <class Scalar>
double LinearSolver<Scalar>::precondition(const BlockVector<Scalar>& r,
                                          const LinearOptions& options) {
  Level& finest = m_hierarchy.finest();
  if (static_cast<const void*>(&r) != &finest.b) copy(r, finest.b);
  switch (options.method) {
    case LinearMethod::multigrid_cg:
      multigrid_cycle(m_backend, options.cycle);
      break;
    case LinearMethod::v_cycle:
      multigrid_cycle(m_backend, Cycle{.smoother = options.cycle.smoother, .twice = 0});
      break;
    case LinearMethod::jacobi_cg:
      return multiply(finest.inverse_diagonal, finest.b, finest.x);
    case LinearMethod::plain_cg:
      copy(r, finest.x);
      break;
  }
  return dot(finest.b, finest.x);
}

template <class Scalar>
LinearReport LinearSolver<Scalar>::solve(BlockVector<Scalar>& b, BlockVector<Scalar>& x,
                                         const LinearOptions& options) {
  if (options.method == LinearMethod::v_cycle) return solve_by_cycles(b, x, options);
  LinearOptions used = options;
  // In regular bodies a second correction beyond the first coarse level saves no iterations, and
  // takes a fourteenth of a solve at 64³: loops there are so short that threads mostly wait.
  if (is_regular(m_hierarchy)) used.cycle.twice = std::min<size_t>(used.cycle.twice, 1);
  // What rounding makes of rigid motions is large where nothing holds a piece: a second correction
  // would answer to nothing else.
  if (used.cycle.twice > 0 && options.method == LinearMethod::multigrid_cg &&
      has_floating_piece(m_hierarchy.level(m_hierarchy.levels() - 1)))
    used.cycle.twice = 0;
  // Two corrections are positive definite only where each of them converges, which those of badly
  // damaged bodies do not; a V-cycle is so always.
  const auto cycle = [&] {
    const double rz = precondition(b, used);
    if (rz > 0 || used.cycle.twice == 0) return rz;
    used.cycle.twice = 0;
    return precondition(b, used);
  };
  return conjugate_gradient(m_hierarchy.finest(), cycle, x,
                            ConjugateGradientWork{b, m_p, m_q, m_hierarchy.finest().x},
                            options.limits, options.keep_residuals);
}

template <class Scalar>
LinearReport LinearSolver<Scalar>::solve_by_cycles(BlockVector<Scalar>& b, BlockVector<Scalar>& x,
                                                   const LinearOptions& options) {
  Level& finest = m_hierarchy.finest();
  LinearReport report;
  x.set_zero();
  const double start = std::sqrt(dot(b, b));
  if (!(start > 0)) return report;
  m_p = b;
  while (report.iterations < options.limits.iterations) {
    precondition(b, options);
    add_scaled(Scalar(1), finest.x, x);
    report.residual = std::sqrt(finest.residual(m_p, x, b)) / start;
    ++report.products;
    ++report.iterations;
    if (options.keep_residuals) report.residuals.push_back(report.residual);
    if (!(report.residual > options.limits.tolerance) || !std::isfinite(report.residual)) break;
  }
  return report;
}

template class LinearSolver<float>;
template class LinearSolver<double>;

}  // namespace supple
