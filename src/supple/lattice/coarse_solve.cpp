// The direct solver of the coarsest level, and the estimates of the largest eigenvalues smoothers
// need.
#include <Eigen/Eigenvalues>

#include <cmath>
#include <cstring>
#include <numeric>

#include "supple/lattice/floating.h"
#include "supple/lattice/hierarchy.h"
#include "supple/solve/conjugate_gradient.h"

namespace supple {
namespace {

// Visits every entry of a small symmetric operator: add(node, component, node, component, value).
template <class Add>
void for_entries(const Level& level, const Add& add) {
  const SparseLattice& lattice = level.lattice();
  const auto add_matrix = [&](LatticePlace cell, const CellMatrix& k) {
    const auto corners = lattice.corners(cell.block, cell.local);
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = 0; j < 8; ++j)
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d)
            add(corners[i], c, corners[j], d,
                static_cast<double>(k(3 * static_cast<int>(i) + c, 3 * static_cast<int>(j) + d)));
  };
  for (size_t b = 0; b < lattice.block_count(); ++b)
    for (int32_t local = 0; local < 64; ++local)
      if (lattice.cells[b] >> local & 1)
        add_matrix({static_cast<int32_t>(b), local},
                   level.cell_matrix({static_cast<int32_t>(b), local}));
  for (const MatrixCell& m : level.extras.matrices) add_matrix(m.cell, m.matrix);
  for (const CellSpring& s : level.extras.springs) {
    const auto corners = lattice.corners(s.cell.block, s.cell.local);
    constexpr int entry[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = 0; j < 8; ++j)
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d)
            add(corners[i], c, corners[j], d,
                static_cast<double>(s.weights[i] * s.weights[j] *
                                    s.stiffness[static_cast<size_t>(entry[c][d])]));
  }
}

// A vector rich in rough modes, the same for every run: numbers between -1 and 1 from a hash, some
// blocks of them over and over. Where nodes are fixed D⁻¹ is 0, so that they need not be.
void fill_roughly(BlockVector<float>& v) {
  constexpr size_t different = 61;
  std::vector<float> rough(different * vector_block);
  for (size_t i = 0; i < rough.size(); ++i) {
    uint32_t h = static_cast<uint32_t>(i) * 2654435761u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    rough[i] = static_cast<float>(h) * 4.656613e-10f - 1;
  }
  parallel_for(v.blocks(), blocks_per_range, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b)
      std::memcpy(v.data() + b * vector_block, rough.data() + b % different * vector_block,
                  vector_block * sizeof(float));
  });
}

}  // namespace

// Nothing holds a piece without fixed node, mass or spring, and without a cell that has a matrix,
// as those lie beside fixed nodes of finer levels but for eight-point quadrature.
std::vector<bool> floating_nodes(const Level& level) {
  const SparseLattice& lattice = level.lattice();
  const auto index = [](LatticePlace at) {
    return static_cast<size_t>(at.block) * block_cells + static_cast<size_t>(at.local);
  };
  std::vector<size_t> parent(lattice.block_count() * block_cells);
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto root = [&](size_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
  };
  std::vector<bool> held(parent.size(), false), result(parent.size(), false);
  for (size_t n = 0; n < parent.size(); ++n) {
    const LatticePlace at{static_cast<int32_t>(n / block_cells),
                          static_cast<int32_t>(n % block_cells)};
    if (lattice.cells[n / block_cells] >> at.local & 1)
      for (const LatticePlace& c : lattice.corners(at.block, at.local))
        parent[root(index(c))] = root(n);
    held[n] = (level.free[n / block_cells] >> at.local & 1) == 0 ||
              (!level.masses.empty() && level.masses[n] > 0);
  }
  if (!level.eight_points)
    for (const MatrixCell& m : level.extras.matrices) held[index(m.cell)] = true;
  for (const CellSpring& s : level.extras.springs) held[index(s.cell)] = true;
  for (size_t n = 0; n < parent.size(); ++n)
    if (held[n]) held[root(n)] = true;
  for (size_t n = 0; n < parent.size(); ++n) result[n] = !held[root(n)];
  return result;
}

void Hierarchy::factor_coarsest() {
  const Level& level = *m_levels.back();
  const SparseLattice& lattice = level.lattice();
  m_coarsest_dofs.assign(lattice.block_count() * block_cells, -1);
  int32_t count = 0;
  for (size_t n = 0; n < m_coarsest_dofs.size(); ++n)
    if (level.free[n / block_cells] >> (n % block_cells) & 1) {
      m_coarsest_dofs[n] = count;
      count += 3;
    }
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(count, count);
  const auto dof = [&](LatticePlace node) {
    return m_coarsest_dofs[static_cast<size_t>(node.block) * block_cells +
                           static_cast<size_t>(node.local)];
  };
  for_entries(level, [&](LatticePlace a, int c, LatticePlace b, int d, double value) {
    if (dof(a) >= 0 && dof(b) >= 0) k(dof(a) + c, dof(b) + d) += value;
  });
  if (!level.masses.empty())
    for (size_t n = 0; n < m_coarsest_dofs.size(); ++n)
      if (m_coarsest_dofs[n] >= 0)
        for (int c = 0; c < 3; ++c)
          k(m_coarsest_dofs[n] + c, m_coarsest_dofs[n] + c) += static_cast<double>(level.masses[n]);
  // A coarse node may have next to no stiffness: a shift of each diagonal entry, larger until the
  // factorisation succeeds, makes this an approximate inverse of what can be inverted. Pieces that
  // nothing holds are singular; a larger shift keeps what rounding makes of rigid motions there,
  // some 1e-8, from drowning the rest.
  const std::vector<bool> floating = floating_nodes(level);
  Eigen::VectorXd least_shift = Eigen::VectorXd::Zero(count);
  for (size_t n = 0; n < m_coarsest_dofs.size(); ++n)
    if (m_coarsest_dofs[n] >= 0 && floating[n])
      least_shift.segment<3>(m_coarsest_dofs[n]).setConstant(1e-5);
  for (double shift = 1e-8; count > 0; shift *= 100) {
    Eigen::MatrixXd shifted = k;
    const double least = 1e-12 * k.diagonal().cwiseAbs().maxCoeff();
    for (int i = 0; i < count; ++i)
      shifted(i, i) += std::max(shift, least_shift[i]) * std::abs(k(i, i)) + least;
    m_factor.compute(shifted);
    if (m_factor.info() == Eigen::Success || shift > 1) break;
  }
  m_coarsest_vector.resize(count);
}

void Hierarchy::solve_coarsest() {
  Level& level = *m_levels.back();
  const auto index = [](size_t n) { return n / block_cells * vector_block + n % block_cells; };
  for (size_t n = 0; n < m_coarsest_dofs.size(); ++n)
    if (m_coarsest_dofs[n] >= 0)
      for (size_t c = 0; c < 3; ++c)
        m_coarsest_vector[m_coarsest_dofs[n] + static_cast<int>(c)] =
            static_cast<double>(level.b[index(n) + c * block_cells]);
  if (m_coarsest_vector.size() > 0) m_factor.solveInPlace(m_coarsest_vector);
  for (size_t n = 0; n < m_coarsest_dofs.size(); ++n)
    for (size_t c = 0; c < 3; ++c)
      level.x[index(n) + c * block_cells] =
          m_coarsest_dofs[n] < 0
              ? 0
              : static_cast<float>(m_coarsest_vector[m_coarsest_dofs[n] + static_cast<int>(c)]);
}

// Lanczos steps on D⁻¹ A from a rough vector. Where they cost most, on large levels, only three are
// taken; what the others would have added is taken from how the estimates of coarser levels went on
// from there, as eigenvectors of the largest values are local and look alike on all levels. (From 3
// to 30 steps estimates grow by 1.19 to 1.9 in our cases.)
void Hierarchy::estimate_eigenvalues() {
  constexpr int few = 3, many = 12;
  constexpr size_t small_blocks = 512;
  double coarser = 0, growth = 1.2;
  for (size_t l = m_levels.size() - 1; l-- > 0;) {
    Level& level = *m_levels[l];
    const bool extrapolate =
        l + 2 < m_levels.size() && level.lattice().block_count() > small_blocks;
    fill_roughly(level.b);
    const auto divide = [&](BlockVector<float>& to) {
      return multiply(level.inverse_diagonal, level.b, to);
    };
    const LanczosMatrix found = lanczos_matrix(
        level, divide, ConjugateGradientWork{level.b, level.direction, level.sums, level.x},
        extrapolate ? few : many);
    level.largest_eigenvalue = std::max(coarser, 2.0);
    if (found.steps == 0) continue;
    double own = found.largest(found.steps);
    if (!extrapolate && found.steps > few) growth = std::max(growth, own / found.largest(few));
    if (extrapolate) own *= growth;
    coarser = std::max(coarser, own);
    level.largest_eigenvalue = coarser;
  }
}

}  // namespace supple
