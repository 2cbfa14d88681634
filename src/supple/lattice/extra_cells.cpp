#include "supple/lattice/extra_cells.h"

#include <algorithm>
#include <map>

namespace supple {
namespace {

// Where the numbers of a cell's corners lie, component 0.
std::array<size_t, 8> corner_indices(const SparseLattice& lattice, LatticePlace cell) {
  std::array<size_t, 8> result;
  const std::array<LatticePlace, 8> corners = lattice.corners(cell.block, cell.local);
  for (size_t i = 0; i < 8; ++i) result[i] = BlockVector<float>::index(corners[i]);
  return result;
}

template <class Scalar>
void add_spring(const CellSpring& spring, const std::array<size_t, 8>& at, const Scalar* x,
                Scalar* y) {
  Scalar u[3] = {};
  for (size_t i = 0; i < 8; ++i)
    for (size_t c = 0; c < 3; ++c)
      u[c] += static_cast<Scalar>(spring.weights[i]) * x[at[i] + c * block_cells];
  const auto& k = spring.stiffness;
  const Scalar f[3] = {static_cast<Scalar>(k[0]) * u[0] + static_cast<Scalar>(k[5]) * u[1] +
                           static_cast<Scalar>(k[4]) * u[2],
                       static_cast<Scalar>(k[5]) * u[0] + static_cast<Scalar>(k[1]) * u[1] +
                           static_cast<Scalar>(k[3]) * u[2],
                       static_cast<Scalar>(k[4]) * u[0] + static_cast<Scalar>(k[3]) * u[1] +
                           static_cast<Scalar>(k[2]) * u[2]};
  for (size_t i = 0; i < 8; ++i)
    for (size_t c = 0; c < 3; ++c)
      y[at[i] + c * block_cells] += static_cast<Scalar>(spring.weights[i]) * f[c];
}

template <class Scalar>
void add_matrix(const MatrixCell& cell, const std::array<size_t, 8>& at, const Scalar* x,
                Scalar* y) {
  Eigen::Matrix<Scalar, 24, 1> u;
  for (size_t i = 0; i < 8; ++i)
    for (size_t c = 0; c < 3; ++c) u[static_cast<int>(3 * i + c)] = x[at[i] + c * block_cells];
  const Eigen::Matrix<Scalar, 24, 1> f = cell.matrix.template cast<Scalar>() * u;
  for (size_t i = 0; i < 8; ++i)
    for (size_t c = 0; c < 3; ++c) y[at[i] + c * block_cells] += f[static_cast<int>(3 * i + c)];
}

}  // namespace

std::array<float, 8> trilinear_weights(const Vec3d& at) {
  std::array<float, 8> result;
  for (size_t i = 0; i < 8; ++i) {
    double w = 1;
    for (int a = 0; a < 3; ++a) w *= (i >> a) & 1 ? at[a] : 1 - at[a];
    result[i] = static_cast<float>(w);
  }
  return result;
}

PointInCell find_point(const SparseLattice& lattice, const Vec3d& at) {
  const Vec3i above = at.array().floor().cast<int32_t>();
  for (int d = 0; d < 8; ++d) {
    const Vec3i down(d & 1, (d >> 1) & 1, d >> 2), cell = above - down;
    const Vec3d inside = at - cell.cast<double>();
    if ((inside.array() > 1).any() || !lattice.has_cell(cell)) continue;
    return {lattice.place(cell), trilinear_weights(inside)};
  }
  return {};
}

void ExtraCells::plan(const SparseLattice& lattice) {
  const auto by_place = [](const auto& a, const auto& b) {
    return std::tie(a.cell.block, a.cell.local) < std::tie(b.cell.block, b.cell.local);
  };
  std::stable_sort(springs.begin(), springs.end(), by_place);
  // Large, seldom out of order, and planned anew whenever springs change.
  if (!std::is_sorted(matrices.begin(), matrices.end(), by_place))
    std::stable_sort(matrices.begin(), matrices.end(), by_place);
  for (auto& colour : m_colours) colour.clear();
  size_t spring = 0, matrix = 0;
  for (size_t t = 0; t < lattice.tile_count(); ++t) {
    const auto end = static_cast<int32_t>(lattice.tiles[t + 1]);
    Range range{static_cast<uint32_t>(spring), 0, static_cast<uint32_t>(matrix), 0};
    while (spring < springs.size() && springs[spring].cell.block < end) ++spring;
    while (matrix < matrices.size() && matrices[matrix].cell.block < end) ++matrix;
    range.springs_end = static_cast<uint32_t>(spring);
    range.matrices_end = static_cast<uint32_t>(matrix);
    if (range.springs_begin == range.springs_end && range.matrices_begin == range.matrices_end)
      continue;
    const Vec3i& block = lattice.blocks[lattice.tiles[t]];
    const Vec3i tile(block[0] >> lattice.tile_shifts[0], block[1] >> lattice.tile_shifts[1],
                     block[2] >> lattice.tile_shifts[2]);
    m_colours[static_cast<size_t>((tile[0] & 1) | (tile[1] & 1) << 1 | (tile[2] & 1) << 2)]
        .push_back(range);
  }
}

template <class Visit>
void ExtraCells::for_colours(const Visit& visit) const {
  for (const std::vector<Range>& colour : m_colours)
    parallel_for(colour.size(), 1, [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) visit(colour[r]);
    });
}

template <class Scalar>
void ExtraCells::add_product(const SparseLattice& lattice, const Scalar* x, Scalar* y) const {
  for_colours([&](const Range& range) {
    for (uint32_t s = range.springs_begin; s < range.springs_end; ++s)
      add_spring(springs[s], corner_indices(lattice, springs[s].cell), x, y);
    for (uint32_t m = range.matrices_begin; m < range.matrices_end; ++m)
      add_matrix(matrices[m], corner_indices(lattice, matrices[m].cell), x, y);
  });
}
template void ExtraCells::add_product(const SparseLattice&, const float*, float*) const;
template void ExtraCells::add_product(const SparseLattice&, const double*, double*) const;

void ExtraCells::add_diagonal(const SparseLattice& lattice, float* y) const {
  for_colours([&](const Range& range) {
    for (uint32_t s = range.springs_begin; s < range.springs_end; ++s) {
      const std::array<size_t, 8> at = corner_indices(lattice, springs[s].cell);
      for (size_t i = 0; i < 8; ++i)
        for (size_t c = 0; c < 3; ++c)
          y[at[i] + c * block_cells] +=
              springs[s].weights[i] * springs[s].weights[i] * springs[s].stiffness[c];
    }
    for (uint32_t m = range.matrices_begin; m < range.matrices_end; ++m) {
      const std::array<size_t, 8> at = corner_indices(lattice, matrices[m].cell);
      for (size_t i = 0; i < 8; ++i)
        for (size_t c = 0; c < 3; ++c) {
          const auto n = static_cast<int>(3 * i + c);
          y[at[i] + c * block_cells] += matrices[m].matrix(n, n);
        }
    }
  });
}

}  // namespace supple
