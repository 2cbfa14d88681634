#include "supple/lattice/gauss_cells.h"

#include <algorithm>

#include "supple/lattice/gauss_kernels.h"

namespace supple {
namespace {

// Cells of a range of parallel work.
constexpr size_t cells_per_range = 64;

// Where the points' rests of a cell begin.
size_t rests_index(const Level& level, LatticePlace cell) {
  const int32_t slot = level.lattice().cell_slots[static_cast<size_t>(cell.block)];
  return (static_cast<size_t>(slot) * block_cells + static_cast<size_t>(cell.local)) * gauss_points;
}

GaussCell gauss_cell(const Level& level, LatticePlace cell) {
  const int32_t slot = level.lattice().cell_slots[static_cast<size_t>(cell.block)];
  const float* material = level.materials.data() + static_cast<size_t>(slot) * material_block +
                          static_cast<size_t>(cell.local);
  const double h = level.spacing();
  GaussCell result{.mu = static_cast<double>(material[0]) * 8 / h,
                   .lambda = static_cast<double>(material[block_cells]) * 16 / h,
                   .spacing = h};
  result.inversion = static_cast<double>(level.inversion) * (2 * result.mu + result.lambda);
  result.flat = static_cast<double>(level.flat);
  if (!level.point_rests.empty()) result.rests = &level.point_rests[rests_index(level, cell)];
  return result;
}

std::array<size_t, 8> corner_indices(const Level& level, LatticePlace cell) {
  std::array<size_t, 8> result;
  const std::array<LatticePlace, 8> corners = level.lattice().corners(cell.block, cell.local);
  for (size_t i = 0; i < 8; ++i) result[i] = BlockVector<double>::index(corners[i]);
  return result;
}

CornerNumbers gather(const std::array<size_t, 8>& at, const BlockVector<double>& x) {
  CornerNumbers result;
  for (size_t i = 0; i < 8; ++i)
    for (size_t c = 0; c < 3; ++c) result[3 * i + c] = x[at[i] + c * block_cells];
  return result;
}

}  // namespace

void use_eight_points(Level& level) {
  level.eight_points = true;
  level.rest_traces.clear();
  level.extras.matrices.clear();
  level.extras.matrices.reserve(level.lattice().cell_count());
  for (size_t b = 0; b < level.lattice().block_count(); ++b)
    for_bits(level.lattice().cells[b], [&](int32_t local) {
      level.extras.matrices.push_back({{static_cast<int32_t>(b), local}, CellMatrix::Zero()});
    });
  level.extras.plan(level.lattice());
}

double gauss_energy(const Level& level, const BlockVector<double>& x) {
  const std::vector<MatrixCell>& cells = level.extras.matrices;
  return parallel_reduce(
      cells.size(), cells_per_range, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t c = begin; c < end; ++c)
          sum += gauss_energy(gauss_cell(level, cells[c].cell),
                              gather(corner_indices(level, cells[c].cell), x), nullptr);
        return sum;
      },
      [](double a, double b) { return a + b; });
}

double gauss_force(const Level& level, const BlockVector<double>& x, BlockVector<double>& force) {
  force.set_zero();
  const double energy = level.extras.sum_over_matrices([&](const MatrixCell& cell) {
    const std::array<size_t, 8> at = corner_indices(level, cell.cell);
    CornerNumbers gradient;
    const double part = gauss_energy(gauss_cell(level, cell.cell), gather(at, x), &gradient);
    for (size_t i = 0; i < 8; ++i)
      for (size_t c = 0; c < 3; ++c) force[at[i] + c * block_cells] -= gradient[3 * i + c];
    return part;
  });
  parallel_for(level.lattice().block_count(), blocks_per_range, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b)
      for_bits(level.lattice().nodes[b] & ~level.free[b], [&](int32_t local) {
        force.set({static_cast<int32_t>(b), local}, Vec3d::Zero());
      });
  });
  return energy;
}

void linearise_gauss(Level& level, const BlockVector<double>& x, Differential kind) {
  const auto rule = differential_rule<double>(kind);
  std::vector<MatrixCell>& cells = level.extras.matrices;
  parallel_for(cells.size(), cells_per_range, [&](size_t begin, size_t end) {
    Eigen::Matrix<double, 24, 24> matrix;
    for (size_t c = begin; c < end; ++c) {
      gauss_matrix(gauss_cell(level, cells[c].cell),
                   gather(corner_indices(level, cells[c].cell), x), rule, matrix.data());
      cells[c].matrix = matrix.cast<float>();
    }
  });
}

double keep_gauss_volume(Level& level, const BlockVector<double>& x, VolumeAnswer answer) {
  const std::vector<MatrixCell>& cells = level.extras.matrices;
  if (level.point_rests.empty())
    level.point_rests.assign(level.lattice().slot_count * block_cells * gauss_points, 3);
  return static_cast<double>(parallel_reduce(
      cells.size(), cells_per_range, 0.0f,
      [&](size_t begin, size_t end) {
        float largest = 0;
        for (size_t c = begin; c < end; ++c)
          largest = std::max(
              largest, gauss_rests(gather(corner_indices(level, cells[c].cell), x), level.spacing(),
                                   answer, &level.point_rests[rests_index(level, cells[c].cell)]));
        return largest;
      },
      [](float a, float b) { return std::max(a, b); }));
}

}  // namespace supple
