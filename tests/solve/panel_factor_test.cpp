// Panels of Cholesky factors against dense solves.
#include "supple/solve/panel_factor.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <random>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

// A matrix like those of bodies: nodes of three unknowns each, tied to some of their neighbours.
Sparse random_body(std::mt19937& random, int nodes, double ties) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Eigen::Triplet<double>> entries;
  for (int n = 0; n < nodes; ++n)
    for (int i = 0; i < 3; ++i) entries.emplace_back(3 * n + i, 3 * n + i, 1e-2);
  for (int a = 0; a < nodes; ++a)
    for (int b = a + 1; b < nodes; ++b) {
      if (!(number(random) < 2 * ties - 1)) continue;
      // A spring between two nodes along some direction, and a weak one along all.
      const Eigen::Vector3d d(number(random), number(random), number(random));
      const Eigen::Matrix3d k = d * d.transpose() + 0.1 * Eigen::Matrix3d::Identity();
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          entries.emplace_back(3 * a + i, 3 * a + j, k(i, j));
          entries.emplace_back(3 * b + i, 3 * b + j, k(i, j));
          entries.emplace_back(3 * a + i, 3 * b + j, -k(i, j));
          entries.emplace_back(3 * b + i, 3 * a + j, -k(i, j));
        }
    }
  Sparse matrix(3 * nodes, 3 * nodes);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

// The largest error of a solve, relative to the solution.
template <class Scalar>
double error_of(const Sparse& matrix, std::mt19937& random) {
  std::normal_distribution<double> number;
  Eigen::VectorXd right(matrix.rows());
  for (double& value : right) value = number(random);
  PanelFactor<Scalar> factor(matrix);
  EXPECT_TRUE(factor.sound());
  EXPECT_EQ(factor.size(), static_cast<size_t>(matrix.rows()));
  for (size_t i = 0; i < factor.size(); ++i)
    factor.work()[static_cast<size_t>(factor.places()[i])] =
        static_cast<Scalar>(right[static_cast<Eigen::Index>(i)]);
  factor.solve();
  const Eigen::VectorXd wanted = Eigen::MatrixXd(matrix).ldlt().solve(right);
  double error = 0;
  for (size_t i = 0; i < factor.size(); ++i)
    error = std::max(
        error,
        std::abs(static_cast<double>(factor.work()[static_cast<size_t>(factor.places()[i])]) -
                 wanted[static_cast<Eigen::Index>(i)]));
  return error / wanted.cwiseAbs().maxCoeff();
}

TEST(PanelFactor, SolvesAsDenseMatricesDo) {
  std::mt19937 random(1);
  for (const int nodes : {1, 2, 5, 6, 17, 40, 90, 150})
    for (const double ties : {0.0, 0.02, 0.1, 1.0}) {
      const Sparse matrix = random_body(random, nodes, ties);
      EXPECT_LT(error_of<double>(matrix, random), 1e-11) << nodes << " " << ties;
      EXPECT_LT(error_of<float>(matrix, random), 3e-3) << nodes << " " << ties;
    }
}

// A long chain has panels of few columns, a grid has some of many.
TEST(PanelFactor, SolvesChainsAndGrids) {
  std::mt19937 random(2);
  for (const int width : {1, 3, 12}) {
    const int length = 240 / width, size = width * length;
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < size; ++i) {
      entries.emplace_back(i, i, 4.01);
      for (const int next : {i % width + 1 < width ? i + 1 : size, i + width})
        if (next < size) {
          entries.emplace_back(i, next, -1);
          entries.emplace_back(next, i, -1);
        }
    }
    Sparse matrix(size, size);
    matrix.setFromTriplets(entries.begin(), entries.end());
    EXPECT_LT(error_of<double>(matrix, random), 1e-13) << width;
    EXPECT_LT(error_of<float>(matrix, random), 1e-5) << width;
  }
}

TEST(PanelFactor, SaysWhenThereIsNone) {
  Sparse matrix(3, 3);
  matrix.insert(0, 0) = 1;
  matrix.insert(1, 1) = -1;
  matrix.insert(2, 2) = 1;
  EXPECT_FALSE(PanelFactor<double>(matrix).sound());
}

}  // namespace
}  // namespace supple
