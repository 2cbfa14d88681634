#include "supple/lattice/level.h"

#include <Eigen/Geometry>

#include <bit>

#include "supple/lattice/elasticity_kernels.h"

namespace supple {

Level::Level(SparseLattice lattice, double spacing)
    : m_lattice(std::move(lattice)), m_spacing(spacing) {
  const size_t blocks = m_lattice.block_count(), slots = m_lattice.slot_count;
  free = m_lattice.nodes;
  materials.assign(slots * material_block, 0);
  cells.assign(slots * cell_block, 0);
  inverse_diagonal = x = b = direction = sums = BlockVector<float>(blocks);
}

template <>
AlignedArray<float>& Level::ghosts<float>() const {
  m_ghosts.resize(m_lattice.ghosts.size() * ghost_record);
  return m_ghosts;
}

template <>
AlignedArray<double>& Level::ghosts<double>() const {
  m_double_ghosts.resize(m_lattice.ghosts.size() * ghost_record);
  return m_double_ghosts;
}

template <class Scalar>
FinishInput<Scalar> Level::finish_input(const Scalar* from) const {
  return {m_lattice.incoming_offsets.data(),
          m_lattice.incoming.data(),
          m_lattice.ghosts.data(),
          ghosts<Scalar>().data(),
          free.data(),
          masses.empty() ? nullptr : masses.data(),
          from};
}

// The sums of a pass over the cells, then finish(input, begin, end) for all blocks: within the tile
// for those that are complete after it, while their sums are in the cache, and after all tiles for
// the others. Adds up what finish returns, in a fixed order.
template <class Scalar, class Finish>
double Level::sweep(const BlockVector<Scalar>& from, BlockVector<Scalar>& y,
                    const Finish& finish) const {
  const SweepPlan plan = sweep_plan(m_lattice);
  const FinishInput<Scalar> input = finish_input(from.data());
  Scalar* shared = ghosts<Scalar>().data();
  const bool at_once = extras.empty();
  const auto& incoming = m_lattice.incoming_offsets;
  const auto sweep_tile = [&](size_t t, size_t) {
    thread_local AlignedArray<Scalar> scratch;
    const size_t first = m_lattice.tiles[t], end = m_lattice.tiles[t + 1];
    scratch.resize((end - first) * vector_block);
    apply_tile(plan, t, cells.data(), hourglass, from.data(), {scratch.data(), shared});
    FinishInput<Scalar> here = input;
    here.sums = scratch.data();
    here.first_sum = first;
    double sum = 0;
    for (size_t b = first; b < end; ++b)
      if (at_once && incoming[b] == incoming[b + 1])
        sum += finish(here, b, b + 1);
      else
        std::memcpy(y.data() + b * vector_block, scratch.data() + (b - first) * vector_block,
                    vector_block * sizeof(Scalar));
    return sum;
  };
  const double early = parallel_reduce(m_lattice.tile_count(), 1, 0.0, sweep_tile,
                                       [](double a, double b) { return a + b; });
  if (!at_once) {
    extras.add_product(m_lattice, from.data(), y.data());
    return sum_over_blocks(m_lattice.block_count(),
                           [&](size_t begin, size_t end) { return finish(input, begin, end); });
  }
  return early + sum_over_blocks(m_lattice.late_blocks.size(), [&](size_t begin, size_t end) {
           double sum = 0;
           for (size_t i = begin; i < end; ++i)
             sum += finish(input, m_lattice.late_blocks[i], m_lattice.late_blocks[i] + 1);
           return sum;
         });
}

template <class Scalar>
double Level::product(const BlockVector<Scalar>& from, BlockVector<Scalar>& y) const {
  return sweep(from, y, [&](const FinishInput<Scalar>& input, size_t begin, size_t end) {
    return finish_product(input, begin, end, y.data());
  });
}
template double Level::product(const BlockVector<float>&, BlockVector<float>&) const;
template double Level::product(const BlockVector<double>&, BlockVector<double>&) const;

template <class Scalar>
double Level::residual(const BlockVector<Scalar>& right, const BlockVector<Scalar>& from,
                       BlockVector<Scalar>& y) const {
  return sweep(from, y, [&](const FinishInput<Scalar>& input, size_t begin, size_t end) {
    return finish_residual(input, begin, end, right.data(), y.data());
  });
}
template double Level::residual(const BlockVector<float>&, const BlockVector<float>&,
                                BlockVector<float>&) const;
template double Level::residual(const BlockVector<double>&, const BlockVector<double>&,
                                BlockVector<double>&) const;

void Level::smooth(const SmoothStep& step, const BlockVector<float>& from,
                   BlockVector<float>& y) const {
  sweep(from, y, [&](const FinishInput<float>& input, size_t begin, size_t end) {
    finish_smoothing(input, begin, end, step, y.data());
    return 0.0;
  });
}

void Level::update_diagonal() {
  const SweepPlan plan = sweep_plan(m_lattice);
  float* shared = ghosts<float>().data();
  parallel_for(m_lattice.tile_count(), 1, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t)
      diagonal_tile(plan, t, cells.data(), hourglass,
                    {inverse_diagonal.data() + m_lattice.tiles[t] * vector_block, shared});
  });
  extras.add_diagonal(m_lattice, inverse_diagonal.data());
  const FinishInput<float> input = finish_input<float>(nullptr);
  parallel_for(m_lattice.block_count(), blocks_per_range, [&](size_t begin, size_t end) {
    finish_diagonal(input, begin, end, inverse_diagonal.data());
  });
}

double dot_mixed(const BlockVector<double>& a, const BlockVector<float>& b) {
  return sum_over_blocks(a.blocks(), [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin * vector_block; i < end * vector_block; ++i)
      sum += a[i] * static_cast<double>(b[i]);
    return sum;
  });
}

double multiply(const BlockVector<float>& inverse_diagonal, const BlockVector<float>& from,
                BlockVector<float>& y) {
  const SmoothStep step{
      .b = from.data(), .inverse_diagonal = inverse_diagonal.data(), .x = y.data(), .weight = 1};
  return sum_over_blocks(from.blocks(), [&](size_t begin, size_t end) {
    return start_smoothing(step, begin * vector_block, end * vector_block);
  });
}

// Corner blocks K_ij = c_ij I + R (lambda s_i s_jᵀ - [s_i] L [s_j]) Rᵀ, with corner signs s, and
// c_ij of the edge springs: 12 stiffness on the diagonal, -4 along cell edges.
CellMatrix Level::cell_matrix(LatticePlace cell) const {
  const int32_t slot = m_lattice.cell_slots[static_cast<size_t>(cell.block)];
  const float* from = cells.data() + static_cast<size_t>(slot) * cell_block;
  const auto number = [&](size_t n) {
    return static_cast<double>(from[cell_index(n, static_cast<size_t>(cell.local))]);
  };
  const Mat3d r = Quatd(number(3), number(0), number(1), number(2)).toRotationMatrix();
  Mat3d l;
  l << number(4), number(9), number(8), number(9), number(5), number(7), number(8), number(7),
      number(6);
  const double stiffness = number(10), lambda = number(11);
  const auto skew = [](const Vec3d& v) {
    Mat3d m;
    m << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
    return m;
  };
  const auto signs = [](int i) {
    return Vec3d((i & 1) * 2 - 1, ((i >> 1) & 1) * 2 - 1, (i >> 2) * 2 - 1);
  };
  // Weights of the edge springs by the number of axes in which two corners differ; without the
  // hourglass modes only sᵢ·sⱼ is left of them.
  CellMatrix result;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      const int apart = std::popcount(static_cast<unsigned>(i ^ j));
      const double whole = apart == 0 ? 12 : apart == 1 ? -4 : 0;
      const double plain = signs(i).dot(signs(j));
      const double spring = stiffness * (plain + static_cast<double>(hourglass) * (whole - plain));
      const Mat3d block =
          r * (lambda * signs(i) * signs(j).transpose() - skew(signs(i)) * l * skew(signs(j))) *
              r.transpose() +
          spring * Mat3d::Identity();
      result.block<3, 3>(3 * i, 3 * j) = block.cast<float>();
    }
  return result;
}

}  // namespace supple
