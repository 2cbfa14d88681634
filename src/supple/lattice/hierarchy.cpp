#include "supple/lattice/hierarchy.h"

#include <Eigen/Eigenvalues>

#include <bit>
#include <cmath>

#include "supple/lattice/elasticity_kernels.h"
#include "supple/lattice/gauss_cells.h"

namespace supple {
namespace {

size_t slot_of(const SparseLattice& lattice, int32_t block) {
  return static_cast<size_t>(lattice.cell_slots[static_cast<size_t>(block)]);
}

// Number of blocks of a row that have cells.
size_t count_slots(const SparseLattice& lattice, const TileRow* row) {
  size_t count = 0;
  for (size_t b = row[0].block; b < row[1].block; ++b) count += lattice.cell_slots[b] >= 0;
  return count;
}

// The lattice of pairs of cells along each axis.
SparseLattice coarsened(const SparseLattice& fine) {
  std::vector<Vec3i> cells;
  for (size_t b = 0; b < fine.block_count(); ++b) {
    uint8_t seen = 0;
    for_bits(fine.cells[b], [&](int32_t local) {
      seen |= static_cast<uint8_t>(
          1 << (((local & 3) >> 1) | ((local >> 2) & 3) >> 1 << 1 | (local >> 5) << 2));
    });
    for (int o = 0; o < 8; ++o)
      if (seen >> o & 1) cells.push_back(fine.blocks[b] * 2 + Vec3i(o & 1, (o >> 1) & 1, o >> 2));
  }
  return SparseLattice(cells);
}

bool is_set(const std::vector<uint64_t>& bits, LatticePlace at) {
  return at.block >= 0 && (bits[static_cast<size_t>(at.block)] >> at.local & 1) != 0;
}

// A cell's place among its coarse parent's: weights of the parent's corners at each of its own.
Eigen::Matrix<float, 8, 8> child_interpolation(const Vec3i& child) {
  Eigen::Matrix<float, 8, 8> p;
  for (int i = 0; i < 8; ++i) {
    const Vec3d at((child[0] & 1) + (i & 1), (child[1] & 1) + ((i >> 1) & 1),
                   (child[2] & 1) + (i >> 2));
    const std::array<float, 8> weights = trilinear_weights(at / 2);
    for (int j = 0; j < 8; ++j) p(i, j) = weights[static_cast<size_t>(j)];
  }
  return p;
}

// Sums of weights · values (1 for null) over the eight children of each of a block's coarse cells,
// axis by axis, so that compilers see vectors.
void add_children(const float* weights, const float* values, std::array<float, 8>& sums) {
  constexpr size_t plane = 16;
  float weighed[block_cells];
  for (size_t i = 0; i < block_cells; ++i)
    weighed[i] = values == nullptr ? weights[i] : weights[i] * values[i];
  for (size_t k = 0; k < 2; ++k) {
    const float* low = weighed + 2 * k * plane;
    float z[plane], y[8];
    for (size_t i = 0; i < plane; ++i) z[i] = low[i] + low[plane + i];
    for (size_t i = 0; i < 4; ++i) y[i] = z[i] + z[4 + i];
    for (size_t i = 0; i < 4; ++i) y[4 + i] = z[8 + i] + z[12 + i];
    for (size_t i = 0; i < 4; ++i) sums[4 * k + i] = y[2 * i] + y[2 * i + 1];
  }
}

// Adds (P ⊗ I)ᵀ K (P ⊗ I).
void add_galerkin(const CellMatrix& k, const Eigen::Matrix<float, 8, 8>& p, CellMatrix& sum) {
  Eigen::Matrix<float, 24, 24> kp = Eigen::Matrix<float, 24, 24>::Zero();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      if (p(i, j) != 0) kp.middleCols<3>(3 * j) += p(i, j) * k.middleCols<3>(3 * i);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      if (p(i, j) != 0) sum.middleRows<3>(3 * j) += p(i, j) * kp.middleRows<3>(3 * i);
}

}  // namespace

Hierarchy::Hierarchy(std::unique_ptr<Level> finest, size_t coarsest_nodes, size_t most_levels) {
  m_levels.push_back(std::move(finest));
  while (m_levels.size() < most_levels &&
         m_levels.back()->lattice().node_count() > coarsest_nodes) {
    Level& fine = *m_levels.back();
    auto coarse = std::make_unique<Level>(coarsened(fine.lattice()), 2 * fine.spacing());
    if (coarse->lattice().node_count() >= fine.lattice().node_count()) break;
    fine.transfer = plan_transfer(fine.lattice(), coarse->lattice());
    coarse->gradients.assign(coarse->lattice().slot_count * gradient_block, 0);
    coarse->hourglass = fine.hourglass;
    m_levels.push_back(std::move(coarse));
  }
  m_points.resize(m_levels.size());
  m_matrix_cells.resize(m_levels.size());
  update_materials();
  update_free();
}

void Hierarchy::use_eight_points() {
  supple::use_eight_points(finest());
  m_matrix_cells.front() = finest().lattice().cells;
}

void Hierarchy::update_materials() {
  for (size_t l = 0; l + 1 < m_levels.size(); ++l) coarsen_materials(l);
}

void Hierarchy::update_free() {
  for (size_t l = 0; l + 1 < m_levels.size(); ++l) coarsen_free(l);
  for (size_t l = 1; l < m_levels.size(); ++l) find_matrix_cells(l);
  for (auto& level : m_levels) level->extras.plan(level->lattice());
}

// A coarse node is fixed where the fine node at its place is, and where it moves no free fine node.
void Hierarchy::coarsen_free(size_t l) {
  const Level& fine = *m_levels[l];
  Level& coarse = *m_levels[l + 1];
  const SparseLattice &below = fine.lattice(), &above = coarse.lattice();
  parallel_for(above.block_count(), 8, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      uint64_t bits = 0;
      for_bits(above.nodes[b], [&](int32_t local) {
        const Vec3i node = above.coordinates(static_cast<int32_t>(b), local) * 2;
        const LatticePlace same = below.place(node);
        if (is_set(below.nodes, same) && !is_set(fine.free, same)) return;
        for (int n = 0; n < 27; ++n) {
          const Vec3i near = node + Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
          if (is_set(fine.free, below.place(near))) {
            bits |= uint64_t{1} << local;
            return;
          }
        }
      });
      coarse.free[b] = bits;
    }
  });
}

// Coarse moduli are the means over all eight children, so that partly filled cells are softer; with
// spacing twice as large, mu h / 8 is a quarter of the sum.
void Hierarchy::coarsen_materials(size_t l) {
  const Level& fine = *m_levels[l];
  Level& coarse = *m_levels[l + 1];
  std::fill(coarse.materials.begin(), coarse.materials.end(), 0.0f);
  const SparseLattice &below = fine.lattice(), &above = coarse.lattice();
  for (size_t b = 0; b < below.block_count(); ++b) {
    if (below.cells[b] == 0) continue;
    const float* from =
        fine.materials.data() + slot_of(below, static_cast<int32_t>(b)) * material_block;
    const LatticePlace first = above.place(below.blocks[b] * 2);
    float* to = coarse.materials.data() + slot_of(above, first.block) * material_block;
    for_bits(below.cells[b], [&](int32_t local) {
      const int32_t at =
          first.local + ((local & 3) >> 1) + 4 * (((local >> 2) & 3) >> 1) + 16 * (local >> 5);
      for (size_t n = 0; n < 2; ++n)
        to[n * block_cells + static_cast<size_t>(at)] +=
            0.25f * from[n * block_cells + static_cast<size_t>(local)];
    });
  }
}

// Coarse cells in which a fixed fine node would be moved by a free coarse node, or with a child
// that has a matrix already.
void Hierarchy::find_matrix_cells(size_t l) {
  const Level& fine = *m_levels[l - 1];
  Level& coarse = *m_levels[l];
  const SparseLattice &below = fine.lattice(), &above = coarse.lattice();
  std::vector<uint64_t>& marks = m_matrix_cells[l];
  marks.assign(above.block_count(), 0);
  const auto moves_fixed = [&](const Vec3i& cell, const std::array<LatticePlace, 8>& corners) {
    for (int n = 0; n < 27; ++n) {
      const Vec3i o(n % 3, n / 3 % 3, n / 9);
      const LatticePlace node = below.place(cell * 2 + o);
      if (!is_set(below.nodes, node) || is_set(fine.free, node)) continue;
      const std::array<float, 8> weights = trilinear_weights(o.cast<double>() / 2);
      for (size_t i = 0; i < 8; ++i)
        if (weights[i] > 0 && is_set(coarse.free, corners[i])) return true;
    }
    return false;
  };
  parallel_for(above.block_count(), 8, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b)
      for_bits(above.cells[b], [&](int32_t local) {
        const auto corners = above.corners(static_cast<int32_t>(b), local);
        bool any_free = false;
        for (const LatticePlace& c : corners) any_free |= is_set(coarse.free, c);
        if (!any_free) return;
        const Vec3i cell = above.coordinates(static_cast<int32_t>(b), local);
        bool matrix = moves_fixed(cell, corners);
        for (int o = 0; o < 8 && !matrix && l > 1; ++o)
          matrix = is_set(m_matrix_cells[l - 1],
                          below.place(cell * 2 + Vec3i(o & 1, (o >> 1) & 1, o >> 2)));
        if (matrix) marks[b] |= uint64_t{1} << local;
      });
  });
  coarse.extras.matrices.clear();
  for (size_t b = 0; b < above.block_count(); ++b)
    for_bits(marks[b], [&](int32_t local) {
      coarse.extras.matrices.push_back({{static_cast<int32_t>(b), local}, CellMatrix::Zero()});
    });
}

void Hierarchy::place_points(std::span<const Vec3d> points) {
  double scale = 1;
  m_points.assign(m_levels.size(), {});
  for (size_t l = 0; l < m_levels.size(); ++l) {
    const SparseLattice& lattice = m_levels[l]->lattice();
    m_points[l].reserve(points.size());
    for (const Vec3d& at : points) m_points[l].push_back(find_point(lattice, at / scale));
    scale *= 2;
  }
  set_springs(std::span<const PlacedSpring>());
}

void Hierarchy::set_springs(std::span<const PlacedSpring> springs) {
  for (size_t l = 0; l < m_levels.size(); ++l) {
    ExtraCells& extras = m_levels[l]->extras;
    extras.springs.clear();
    for (const PlacedSpring& s : springs) {
      const PointInCell& point = m_points[l][static_cast<size_t>(s.point)];
      if (point.cell.block >= 0) extras.springs.push_back({point.cell, point.weights, s.stiffness});
    }
    extras.plan(m_levels[l]->lattice());
  }
}

void Hierarchy::set_springs(std::span<const PointSpring> springs) {
  std::vector<Vec3d> points;
  std::vector<PlacedSpring> placed;
  for (const PointSpring& s : springs) {
    placed.push_back({static_cast<int32_t>(points.size()), s.stiffness});
    points.push_back(s.at);
  }
  place_points(points);
  set_springs(placed);
}

void Hierarchy::set_masses(std::span<const float> masses) {
  m_levels[0]->masses.assign(masses.begin(), masses.end());
  for (size_t l = 0; l + 1 < m_levels.size(); ++l) {
    const Level& fine = *m_levels[l];
    Level& coarse = *m_levels[l + 1];
    if (masses.empty()) {
      coarse.masses.clear();
      continue;
    }
    // The row sums of Pᵀ M P.
    coarse.masses.assign(coarse.lattice().block_count() * block_cells, 0);
    const SparseLattice &below = fine.lattice(), &above = coarse.lattice();
    for (size_t b = 0; b < above.block_count(); ++b)
      for_bits(above.nodes[b], [&](int32_t local) {
        const Vec3i node = above.coordinates(static_cast<int32_t>(b), local) * 2;
        float sum = 0;
        for (int n = 0; n < 27; ++n) {
          const Vec3i o(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
          const LatticePlace near = below.place(node + o);
          if (is_set(fine.free, near))
            sum += std::ldexp(fine.masses[static_cast<size_t>(near.block) * block_cells +
                                          static_cast<size_t>(near.local)],
                              -o.cwiseAbs().sum());
        }
        coarse.masses[b * block_cells + static_cast<size_t>(local)] = sum;
      });
  }
}

// Adds a block's gradients to the means of its eight coarse cells, weighed by stiffness.
void Hierarchy::average_gradients(size_t l, size_t block, const float* gradients) {
  const Level& fine = *m_levels[l];
  Level& coarse = *m_levels[l + 1];
  const auto b = static_cast<int32_t>(block);
  const float* weights = fine.materials.data() + slot_of(fine.lattice(), b) * material_block;
  const Vec3i& at = fine.lattice().blocks[block];
  const auto parent = static_cast<int32_t>(fine.transfer.parents[block]);
  float* to = coarse.gradients.data() + slot_of(coarse.lattice(), parent) * gradient_block +
              2 * (at[0] & 1) + 8 * (at[1] & 1) + 32 * (at[2] & 1);
  std::array<float, 8> scale, sum;
  add_children(weights, nullptr, scale);
  for (float& s : scale) s = s > 0 ? 1 / s : 0;
  for (size_t n = 0; n < 9; ++n) {
    add_children(weights, gradients + n * block_cells, sum);
    for (size_t o = 0; o < 8; ++o)
      to[n * block_cells + (o & 1) + 4 * ((o >> 1) & 1) + 16 * (o >> 2)] = sum[o] * scale[o];
  }
}

void Hierarchy::linearise(const BlockVector<double>& x, Differential kind, bool finest_only) {
  const size_t count = finest_only ? 1 : m_levels.size();
  for (size_t l = 0; l < count; ++l) {
    // Coarse levels precondition only, and must be positive definite for that.
    const bool as_wanted = kind != Differential::exact || l == 0;
    linearise_level(l, l == 0 ? &x : nullptr, as_wanted ? kind : Differential::projected,
                    l + 1 < count);
  }
  if (finest_only) return;
  estimate_eigenvalues();
  factor_coarsest();
}

void Hierarchy::linearise_level(size_t l, const BlockVector<double>* moved, Differential kind,
                                bool average) {
  const auto rule = differential_rule<float>(kind);
  Level& level = *m_levels[l];
  const SparseLattice& lattice = level.lattice();
  const SweepPlan plan = sweep_plan(lattice);
  const auto linearise_row = [&](const TileRow* row) {
    thread_local AlignedArray<float> scratch;
    if (row[0].column == row[1].column) return;
    const size_t count = count_slots(lattice, row);
    const size_t first = slot_of(lattice, static_cast<int32_t>(lattice.columns[row->column].block));
    const float* gradients = l == 0 ? nullptr : level.gradients.data() + first * gradient_block;
    if (moved != nullptr) {
      scratch.resize(count * gradient_block);
      gradient_row(plan, row, level.spacing(), moved->data(),
                   level.rest_stretches.empty() ? nullptr : level.rest_stretches.data(),
                   scratch.data());
      if (gradients != nullptr)
        for (size_t i = 0; i < count * gradient_block; ++i) scratch[i] += gradients[i];
      gradients = scratch.data();
    }
    for (size_t b = row[0].block; b < row[1].block; ++b) {
      if (lattice.cell_slots[b] < 0) continue;
      const size_t slot = slot_of(lattice, static_cast<int32_t>(b));
      float* cells = level.cells.data() + slot * cell_block;
      const float* material = level.materials.data() + slot * material_block;
      for (size_t which = 0; which < 2; ++which)
        for (size_t local = 0; local < block_cells; ++local)
          cells[cell_index(10 + which, local)] = material[which * block_cells + local];
      if (!m_matrix_cells[l].empty())
        for_bits(m_matrix_cells[l][b], [&](int32_t local) {
          cells[cell_index(10, static_cast<size_t>(local))] = 0;
          cells[cell_index(11, static_cast<size_t>(local))] = 0;
        });
      linearise_block(
          gradients, rule,
          level.rest_traces.empty() ? nullptr : level.rest_traces.data() + slot * block_cells,
          level.inversion, level.flat, cells);
      if (average) average_gradients(l, b, gradients);
      gradients += gradient_block;
    }
  };
  parallel_for(lattice.tile_count(), 1, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t) level.start_diagonal(t, row_call(linearise_row));
  });
  if (l > 0) update_matrix_cells(l);
  if (level.eight_points) linearise_gauss(level, *moved, kind);
  level.finish_diagonal();
}

// Galerkin matrices from the children's, where fixed fine nodes do not move.
void Hierarchy::update_matrix_cells(size_t l) {
  Level& coarse = *m_levels[l];
  const Level& fine = *m_levels[l - 1];
  const SparseLattice &below = fine.lattice(), &above = coarse.lattice();
  const auto find_matrix = [&](LatticePlace child) {
    const auto& list = fine.extras.matrices;
    return std::lower_bound(
        list.begin(), list.end(), child, [](const MatrixCell& m, const LatticePlace& c) {
          return std::tie(m.cell.block, m.cell.local) < std::tie(c.block, c.local);
        });
  };
  parallel_for(coarse.extras.matrices.size(), 4, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      MatrixCell& entry = coarse.extras.matrices[i];
      entry.matrix.setZero();
      const Vec3i cell = above.coordinates(entry.cell.block, entry.cell.local);
      for (int o = 0; o < 8; ++o) {
        const Vec3i child = cell * 2 + Vec3i(o & 1, (o >> 1) & 1, o >> 2);
        const LatticePlace at = below.place(child);
        if (!is_set(below.cells, at)) continue;
        Eigen::Matrix<float, 8, 8> p = child_interpolation(child);
        const auto corners = below.corners(at.block, at.local);
        for (int c = 0; c < 8; ++c)
          if (!is_set(fine.free, corners[static_cast<size_t>(c)])) p.row(c).setZero();
        const bool own = !m_matrix_cells[l - 1].empty() && is_set(m_matrix_cells[l - 1], at);
        add_galerkin(own ? find_matrix(at)->matrix : fine.cell_matrix(at), p, entry.matrix);
      }
    }
  });
}

size_t Hierarchy::bytes() const {
  size_t total = 0;
  for (const auto& level : m_levels) {
    total += (level->materials.size() + level->cells.size() + level->gradients.size() +
              level->masses.size() + 5 * level->x.size() +
              level->lattice().ghosts.size() * ghost_record) *
             sizeof(float);
    total += level->extras.matrices.size() * sizeof(MatrixCell) +
             level->extras.springs.size() * sizeof(CellSpring);
    total += level->lattice().block_count() * (16 + 2 * sizeof(std::array<int32_t, 8>) + 61) +
             level->lattice().asked.size() * sizeof(uint32_t) +
             level->lattice().rows.size() * sizeof(TileRow) +
             level->transfer.children.size() * sizeof(std::array<int32_t, 27>);
  }
  return total + static_cast<size_t>(m_factor.rows() * m_factor.cols()) * sizeof(double);
}

}  // namespace supple
