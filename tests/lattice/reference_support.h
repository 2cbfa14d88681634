// Lattice systems beside the reference implementation of the same body.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "lattice/lattice_support.h"
#include "supple/math/simd.h"
#include "support/corotated_reference.h"

namespace supple::testing {

/// A body in both implementations.
struct Twins {
  LatticeSystem system;
  reference::Body body;

  /// `moduli` times the spacing should be numbers of few bits: the lattice keeps them as floats.
  Twins(const std::vector<Vec3i>& cells, double h,
        const std::function<reference::Moduli(const Vec3i&)>& moduli,
        const std::function<bool(const Vec3i&)>& is_fixed, size_t coarsest_nodes = 200)
      : system(
            SparseLattice(cells), h,
            [&](const Vec3i& c) {
              return CellMaterial{moduli(c).mu, moduli(c).lambda};
            },
            is_fixed, coarsest_nodes),
        body(sorted(cells), h, moduli, is_fixed) {}

  /// A vector of the lattice as the reference has it.
  template <class Scalar>
  Eigen::VectorXd plain(const BlockVector<Scalar>& v) const {
    Eigen::VectorXd result(body.size());
    for (size_t n = 0; n < body.nodes().size(); ++n)
      result.segment<3>(3 * static_cast<Eigen::Index>(n)) =
          v.at(system.lattice().place(body.nodes()[n])).template cast<double>();
    return result;
  }

  /// A vector of the reference as the lattice has it; nodes without matter are 0.
  template <class Scalar>
  BlockVector<Scalar> blocks(const Eigen::VectorXd& v) const {
    BlockVector<Scalar> result(system.lattice().block_count());
    for (size_t n = 0; n < body.nodes().size(); ++n)
      result.set(system.lattice().place(body.nodes()[n]),
                 v.segment<3>(3 * static_cast<Eigen::Index>(n)).template cast<Scalar>());
    return result;
  }

  /// Numbers between -1 and 1 at free nodes, 0 at fixed ones.
  Eigen::VectorXd random_vector(unsigned seed) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> part(-1, 1);
    Eigen::VectorXd v(body.size());
    for (double& number : v) number = part(random);
    return body.without_fixed(v);
  }

 private:
  static std::vector<Vec3i> sorted(std::vector<Vec3i> cells) {
    const auto before = [](const Vec3i& a, const Vec3i& b) {
      return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
    };
    std::sort(cells.begin(), cells.end(), before);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    return cells;
  }
};

/// Moduli that differ from cell to cell, in eighths.
inline reference::Moduli varied_moduli(const Vec3i& c) {
  return {1 + 0.125 * ((c[0] * 7 + c[1] * 3 + c[2]) & 7), 1.5 + 0.25 * ((c[0] + c[1] * 5) & 3)};
}

/// Every cell the same.
inline reference::Moduli even_moduli(const Vec3i&) { return {1, 1.5}; }

/// A box with a part of its cells, and its corner regions, left out.
inline std::vector<Vec3i> bitten_box(const Vec3i& size, unsigned seed, double missing) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<Vec3i> cells;
  for (const Vec3i& c : box_cells(size[0], size[1], size[2])) {
    const bool corner = c[0] + c[1] < 2 || c.sum() > size.sum() - 5;
    if (!corner && chance(random) >= missing) cells.push_back(c - Vec3i(2, 3, 1));
  }
  return cells;
}

/// Tests to be run on every instruction set.
class OnTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override { set_widest_target(""); }
};

}  // namespace supple::testing
