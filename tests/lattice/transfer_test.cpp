// Coarse levels against explicit constructions: interpolation, fixed nodes, Galerkin matrices,
// materials and masses.
#include <gtest/gtest.h>

#include <map>

#include "lattice/reference_support.h"
#include "supple/lattice/transfer_kernels.h"

namespace supple::testing {
namespace {

using reference::Matrix24;

constexpr double h = 0.25;

Vec3i corner_of(int i) { return {i & 1, i >> 1 & 1, i >> 2}; }

// Weight of a coarse node at a fine one: a product of hats.
double weight(const Vec3i& fine, const Vec3i& coarse) {
  double w = 1;
  for (int a = 0; a < 3; ++a) w *= std::max(0.0, 1 - std::abs(fine[a] - 2 * coarse[a]) / 2.0);
  return w;
}

bool is_set(const std::vector<uint64_t>& bits, LatticePlace at) {
  return at.block >= 0 && at.block < static_cast<int32_t>(bits.size()) &&
         (bits[static_cast<size_t>(at.block)] >> at.local & 1) != 0;
}

// Calls visit(coarse place, coarse node, weight) for all coarse nodes that move a fine one.
template <class Visit>
void for_parents(const SparseLattice& coarse, const Vec3i& fine, const Visit& visit) {
  const Vec3i first = floor_div(fine, 2);
  for (int i = 0; i < 8; ++i) {
    const Vec3i node = first + corner_of(i);
    const LatticePlace at = coarse.place(node);
    if (weight(fine, node) > 0 && is_set(coarse.nodes, at)) visit(at, node, weight(fine, node));
  }
}

BlockVector<float> random_free(const Level& level, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> part(-1, 1);
  BlockVector<float> v(level.lattice().block_count());
  for_nodes(level.lattice(), [&](LatticePlace at, const Vec3i&) {
    if (is_set(level.free, at)) v.set(at, {part(random), part(random), part(random)});
  });
  return v;
}

// A ragged body, some of whose nodes are fixed here and there.
Twins scattered_body(unsigned seed, double fill) {
  return Twins(
      ragged_cells(seed, 15, fill), h, varied_moduli,
      [seed](const Vec3i& n) {
        return n[0] < -2 ||
               (static_cast<unsigned>(n[0] * 7 + n[1] * 13 + n[2] * 29) + seed) % 23 == 0;
      },
      40);
}

class Transfer : public OnTarget {};

TEST_P(Transfer, ProlongationIsTrilinearAndRestrictionItsTranspose) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    Twins twins = scattered_body(seed, 0.15 * seed);
    const Hierarchy& levels = twins.system.hierarchy();
    ASSERT_GE(levels.levels(), 3u);
    for (size_t l = 0; l + 1 < levels.levels(); ++l) {
      const Level &fine = levels.level(l), &coarse = levels.level(l + 1);
      const BlockVector<float> c = random_free(coarse, 10 + seed), f = random_free(fine, 20 + seed);
      BlockVector<float> up = f, down(coarse.lattice().block_count());
      prolong_blocks(fine.lattice(), coarse.lattice(), fine.transfer, fine.free.data(), c.data(),
                     up.data(), 0, fine.lattice().block_count());
      restrict_blocks(fine.transfer, coarse.free.data(), f.data(), down.data(), 0,
                      coarse.lattice().block_count());
      BlockVector<double> sums(coarse.lattice().block_count());
      size_t checked = 0;
      for_nodes(fine.lattice(), [&](LatticePlace at, const Vec3i& node) {
        Vec3d value = f.at(at).cast<double>();
        for_parents(coarse.lattice(), node, [&](LatticePlace parent, const Vec3i&, double w) {
          if (is_set(fine.free, at)) value += w * c.at(parent).cast<double>();
          if (is_set(coarse.free, parent))
            sums.set(parent, sums.at(parent) + w * f.at(at).cast<double>());
        });
        EXPECT_LT((up.at(at).cast<double>() - value).norm(), 1e-6) << node.transpose();
        ++checked;
      });
      EXPECT_EQ(checked, fine.lattice().node_count());
      for (size_t i = 0; i < down.size(); ++i)
        EXPECT_NEAR(static_cast<double>(down[i]), sums[i], 1e-5) << i;
      // fᵀ (P c) = cᵀ (Pᵀ f).
      add_scaled(-1.0f, f, up);
      EXPECT_NEAR(dot(f, up), dot(c, down), 1e-5 * std::sqrt(dot(f, f) * dot(c, c)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Transfer, ::testing::ValuesIn(simd_targets()));

TEST(CoarseLevels, HoldTheParentsOfAllCells) {
  Twins twins = scattered_body(4, 0.1);
  const Hierarchy& levels = twins.system.hierarchy();
  for (size_t l = 0; l + 1 < levels.levels(); ++l) {
    const SparseLattice &fine = levels.level(l).lattice(), &coarse = levels.level(l + 1).lattice();
    std::set<std::array<int32_t, 3>> parents;
    for (size_t b = 0; b < fine.block_count(); ++b)
      for (int32_t n = 0; n < 64; ++n)
        if (fine.cells[b] >> n & 1) {
          const Vec3i parent = floor_div(fine.coordinates(static_cast<int32_t>(b), n), 2);
          parents.insert({parent[0], parent[1], parent[2]});
          EXPECT_TRUE(coarse.has_cell(parent));
        }
    EXPECT_EQ(coarse.cell_count(), parents.size());
    EXPECT_EQ(levels.level(l + 1).spacing(), 2 * levels.level(l).spacing());
  }
}

TEST(CoarseLevels, FixWhereTheFineNodeAtTheirPlaceIsFixedOrNothingWouldMove) {
  for (const unsigned seed : {5u, 6u}) {
    Twins twins = scattered_body(seed, 0.2);
    const Hierarchy& levels = twins.system.hierarchy();
    size_t fixed = 0;
    for (size_t l = 0; l + 1 < levels.levels(); ++l) {
      const Level &fine = levels.level(l), &coarse = levels.level(l + 1);
      std::map<std::pair<int32_t, int32_t>, bool> moves;
      for_nodes(fine.lattice(), [&](LatticePlace at, const Vec3i& node) {
        for_parents(coarse.lattice(), node, [&](LatticePlace p, const Vec3i&, double) {
          moves[{p.block, p.local}] |= is_set(fine.free, at);
        });
      });
      for_nodes(coarse.lattice(), [&](LatticePlace at, const Vec3i& node) {
        const LatticePlace same = fine.lattice().place(node * 2);
        const bool pinned = is_set(fine.lattice().nodes, same) && !is_set(fine.free, same);
        const bool expected = !pinned && moves[{at.block, at.local}];
        EXPECT_EQ(is_set(coarse.free, at), expected) << node.transpose();
        fixed += !expected;
      });
    }
    EXPECT_GT(fixed, 20u);
  }
}

TEST(CoarseLevels, MaterialsAreMeansOverEightChildren) {
  Twins twins = scattered_body(7, 0.3);
  const Hierarchy& levels = twins.system.hierarchy();
  const auto modulus = [](const Level& level, const Vec3i& cell, size_t which) {
    const LatticePlace at = level.lattice().place(cell);
    if (!level.lattice().has_cell(cell)) return 0.0;
    const auto slot =
        static_cast<size_t>(level.lattice().cell_slots[static_cast<size_t>(at.block)]);
    return static_cast<double>(level.materials[slot * material_block + which * block_cells +
                                               static_cast<size_t>(at.local)]) *
           (which == 0 ? 8 : 16) / level.spacing();
  };
  for (size_t l = 0; l + 1 < levels.levels(); ++l) {
    const SparseLattice& coarse = levels.level(l + 1).lattice();
    for (size_t b = 0; b < coarse.block_count(); ++b)
      for (int32_t n = 0; n < 64; ++n)
        if (coarse.cells[b] >> n & 1)
          for (size_t which = 0; which < 2; ++which) {
            const Vec3i cell = coarse.coordinates(static_cast<int32_t>(b), n);
            double mean = 0;
            for (int o = 0; o < 8; ++o)
              mean += modulus(levels.level(l), cell * 2 + corner_of(o), which) / 8;
            EXPECT_NEAR(modulus(levels.level(l + 1), cell, which), mean, 1e-6 * mean);
          }
  }
}

TEST(CoarseLevels, MassesAreRestrictedAndNoneIsLost) {
  Twins twins = scattered_body(8, 0.3);
  Hierarchy& levels = twins.system.hierarchy();
  std::mt19937 random(9);
  std::uniform_real_distribution<float> part(0.5f, 1.5f);
  std::vector<float> masses(twins.system.lattice().block_count() * block_cells);
  for (float& m : masses) m = part(random);
  levels.set_masses(masses);
  for (size_t l = 0; l + 1 < levels.levels(); ++l) {
    const Level &fine = levels.level(l), &coarse = levels.level(l + 1);
    std::vector<double> expected(coarse.masses.size());
    for_nodes(fine.lattice(), [&](LatticePlace at, const Vec3i& node) {
      if (!is_set(fine.free, at)) return;
      for_parents(coarse.lattice(), node, [&](LatticePlace p, const Vec3i&, double w) {
        expected[static_cast<size_t>(p.block) * block_cells + static_cast<size_t>(p.local)] +=
            w * static_cast<double>(
                    fine.masses[BlockVector<float>::index(at) / vector_block * block_cells +
                                static_cast<size_t>(at.local)]);
      });
    });
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(static_cast<double>(coarse.masses[i]), expected[i], 1e-6 * expected[i]);
  }
  levels.set_masses({});
  for (size_t l = 0; l < levels.levels(); ++l) EXPECT_TRUE(levels.level(l).masses.empty());
}

// Corners of the child `child` of a coarse cell, from the corners of the cell; rows of fixed fine
// nodes are 0.
Eigen::Matrix<double, 24, 24> child_interpolation(const Level& fine, const Vec3i& cell,
                                                  const Vec3i& child) {
  Matrix24 p = Matrix24::Zero();
  for (int i = 0; i < 8; ++i) {
    const Vec3i node = child + corner_of(i);
    if (!is_set(fine.free, fine.lattice().place(node))) continue;
    for (int j = 0; j < 8; ++j)
      p.block<3, 3>(3 * i, 3 * j) = weight(node, cell + corner_of(j)) * Mat3d::Identity();
  }
  return p;
}

TEST(CoarseLevels, GalerkinMatricesAreThoseOfTheChildren) {
  Twins twins = scattered_body(10, 0.3);
  const Eigen::VectorXd x = twins.body.rest() + 0.2 * h * twins.random_vector(11);
  twins.system.linearise(twins.blocks<double>(x), Differential::projected);
  const Hierarchy& levels = twins.system.hierarchy();
  size_t checked = 0, second = 0;
  for (size_t l = 1; l < levels.levels(); ++l) {
    const Level &fine = levels.level(l - 1), &coarse = levels.level(l);
    std::map<std::array<int32_t, 3>, const CellMatrix*> own;
    for (const MatrixCell& m : fine.extras.matrices) {
      const Vec3i c = fine.lattice().coordinates(m.cell.block, m.cell.local);
      own[{c[0], c[1], c[2]}] = &m.matrix;
    }
    for (const MatrixCell& entry : coarse.extras.matrices) {
      const Vec3i cell = coarse.lattice().coordinates(entry.cell.block, entry.cell.local);
      Matrix24 expected = Matrix24::Zero();
      for (int o = 0; o < 8; ++o) {
        const Vec3i child = cell * 2 + corner_of(o);
        if (!fine.lattice().has_cell(child)) continue;
        Matrix24 k;
        if (l == 1) {  // from the reference, so that nothing of ours is taken for granted
          reference::Corners corners;
          for (int i = 0; i < 8; ++i)
            corners.col(i) = x.segment<3>(3 * twins.body.index(child + corner_of(i)));
          k = reference::projected(reference::element(corners, varied_moduli(child), h,
                                                      reference::Quadrature::stabilised)
                                       .matrix);
        } else if (const auto found = own.find({child[0], child[1], child[2]});
                   found != own.end()) {
          k = found->second->cast<double>();
          ++second;
        } else {
          k = fine.cell_matrix(fine.lattice().place(child)).cast<double>();
        }
        const Matrix24 p = child_interpolation(fine, cell, child);
        expected += p.transpose() * k * p;
      }
      // Entries of fixed coarse nodes do not matter.
      const auto corners = coarse.lattice().corners(entry.cell.block, entry.cell.local);
      Matrix24 ours = entry.matrix.cast<double>();
      for (int i = 0; i < 8; ++i)
        if (!is_set(coarse.free, corners[static_cast<size_t>(i)]))
          for (Matrix24* m : {&ours, &expected}) {
            m->middleRows<3>(3 * i).setZero();
            m->middleCols<3>(3 * i).setZero();
          }
      EXPECT_LT((ours - expected).norm(), 2e-5 * expected.norm() + 1e-6) << cell.transpose();
      ++checked;
      // The cell's own elasticity is replaced, not added to.
      EXPECT_EQ(coarse.cell_matrix(entry.cell).norm(), 0);
    }
  }
  EXPECT_GT(checked, 100u);
  EXPECT_GT(second, 20u);
}

TEST(CoarseLevels, CellsHaveMatricesWhereFixedFineNodesWouldMove) {
  Twins twins = scattered_body(12, 0.25);
  const Hierarchy& levels = twins.system.hierarchy();
  for (size_t l = 1; l < levels.levels(); ++l) {
    const Level &fine = levels.level(l - 1), &coarse = levels.level(l);
    const auto has_matrix = [](const Level& level, const LatticePlace& at) {
      for (const MatrixCell& m : level.extras.matrices)
        if (m.cell.block == at.block && m.cell.local == at.local) return true;
      return false;
    };
    for (size_t b = 0; b < coarse.lattice().block_count(); ++b)
      for (int32_t n = 0; n < 64; ++n) {
        if (!(coarse.lattice().cells[b] >> n & 1)) continue;
        const LatticePlace at{static_cast<int32_t>(b), n};
        const Vec3i cell = coarse.lattice().coordinates(at.block, at.local);
        bool expected = false, any_free = false;
        for (int j = 0; j < 8; ++j) {
          const Vec3i corner = cell + corner_of(j);
          if (!is_set(coarse.free, coarse.lattice().place(corner))) continue;
          any_free = true;
          for (int i = 0; i < 27; ++i) {
            const Vec3i node = cell * 2 + Vec3i(i % 3, i / 3 % 3, i / 9);
            const LatticePlace f = fine.lattice().place(node);
            expected |= weight(node, corner) > 0 && is_set(fine.lattice().nodes, f) &&
                        !is_set(fine.free, f);
          }
        }
        for (int o = 0; o < 8; ++o) {
          const Vec3i child = cell * 2 + corner_of(o);
          if (fine.lattice().has_cell(child))
            expected |= any_free && has_matrix(fine, fine.lattice().place(child));
        }
        EXPECT_EQ(has_matrix(coarse, at), expected) << l << ": " << cell.transpose();
      }
  }
}

}  // namespace
}  // namespace supple::testing
