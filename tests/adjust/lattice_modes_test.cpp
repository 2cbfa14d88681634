// Modes of lattices against a dense solver.
#include "supple/adjust/lattice_modes.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "support/lattice_bars.h"

namespace supple {
namespace {

// Frequencies by a matrix put together from products with unit vectors.
Eigen::VectorXd dense_omegas(const LatticeDynamicsModel& model) {
  LatticeDynamics system(model, "test");
  system.linearise(system.rest(), Differential::exact);
  std::vector<size_t> free;
  for (size_t n = 0; n < system.nodes(); ++n)
    if (system.is_free(n)) free.push_back(n);
  const auto size = static_cast<Eigen::Index>(3 * free.size());
  Eigen::MatrixXd k(size, size), m = Eigen::MatrixXd::Zero(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    BodyVector unit = system.zero(), y = unit;
    unit.node(free[static_cast<size_t>(i / 3)])[i % 3] = 1;
    system.product(unit, y);
    for (Eigen::Index j = 0; j < size; ++j)
      k(j, i) = y.node(free[static_cast<size_t>(j / 3)])[j % 3];
    m(i, i) = model.masses[free[static_cast<size_t>(i / 3)]];
  }
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      Eigen::MatrixXd(0.5 * (k + k.transpose())), m);
  return solver.eigenvalues().cwiseMax(0).cwiseSqrt();
}

TEST(LatticeModes, AgreeWithADenseSolver) {
  for (const bool springs : {false, true})
    for (const Vec3i& size : {Vec3i(2, 6, 2), Vec3i(3, 9, 4), Vec3i(1, 3, 1)}) {
      LatticeDynamicsModel model = test::lattice_bar(size, 0.05, 2e5, 0, 0.4);
      for (size_t c = 0; c < model.moduli.size(); ++c)
        model.moduli[c].mu *= 1 + 0.3 * static_cast<double>(c % 3);
      if (springs) {
        model.held.clear();
        model.pulls.assign(model.masses.size(), 3);
        model.springs.push_back({{0.5, 1.5, 0.5}, {40, 50, 60, 0, 0, 0}});
      }
      const LatticeModes found = lowest_modes(model, 5);
      ASSERT_EQ(found.modes.omegas.size(), 5U);
      const Eigen::VectorXd truth = dense_omegas(model);
      for (size_t i = 0; i < 5; ++i)
        EXPECT_NEAR(found.modes.omegas[i], truth[static_cast<Eigen::Index>(i)],
                    1e-4 * truth[static_cast<Eigen::Index>(i)])
            << i << " of " << size.transpose();
      EXPECT_LT(found.iterations, 60);
      EXPECT_GT(found.elastic_share, 0);
      EXPECT_LE(found.elastic_share, 1 + 1e-6);
      if (!springs) {
        EXPECT_EQ(found.elastic_share, 1);
      }
    }
}

// Several levels of the hierarchy, and a body of more than a few blocks: the cycle is no longer a
// direct solve.
TEST(LatticeModes, NeedFewIterationsOnFineLattices) {
  LatticeDynamicsModel model = test::lattice_bar({8, 32, 8}, 0.02, 2e5, 0, 0.45);
  const LatticeModes found = lowest_modes(model, 6);
  ASSERT_EQ(found.modes.omegas.size(), 6U);
  EXPECT_LT(found.iterations, 40);
  // Both bending modes of a square bar are alike.
  EXPECT_NEAR(found.modes.omegas[0], found.modes.omegas[1], 1e-4 * found.modes.omegas[0]);
}

TEST(LatticeModes, OfALooseBodyAreZero) {
  LatticeDynamicsModel model = test::lattice_bar({2, 4, 2}, 0.05, 2e5, 0);
  model.held.clear();
  const LatticeModes found = lowest_modes(model, 7);
  ASSERT_EQ(found.modes.omegas.size(), 7U);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(found.modes.omegas[i], 0);
  EXPECT_NEAR(found.modes.omegas[6], dense_omegas(model)[6], 1e-4 * found.modes.omegas[6]);
}

}  // namespace
}  // namespace supple
