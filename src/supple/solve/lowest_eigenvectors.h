// The lowest eigenvectors of A φ = λ M φ, for A known by its products alone and a preconditioner of
// it, by locally optimal block preconditioned conjugate gradients [Knyazev 2001]: in every
// iteration the best vectors in the span of the present ones, their preconditioned residuals, and
// the last steps. The basis is made orthonormal anew every time, and what is not independent in it
// left out, so that it also serves where eigenvalues are many-fold.
#pragma once

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

namespace supple {

/// Eigenvectors found.
struct LowestEigenvectors {
  Eigen::VectorXd values;   ///< ascending
  Eigen::MatrixXd vectors;  ///< a column each, with φᵀ M φ = 1
  int iterations = 0;
  bool converged = false;
};

namespace lowest_detail {

/// Coefficients of an orthonormal basis of the span of columns whose scalar products are `gram`;
/// directions that are almost sums of others are left out.
inline Eigen::MatrixXd independent(const Eigen::MatrixXd& gram) {
  constexpr double least = 1e-12;
  const Eigen::VectorXd scale =
      gram.diagonal().cwiseMax(0).cwiseSqrt().unaryExpr([](double d) { return d > 0 ? 1 / d : 0; });
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scale.asDiagonal() * gram *
                                                              scale.asDiagonal());
  const Eigen::VectorXd& values = solver.eigenvalues();
  const double limit = least * values.maxCoeff();
  Eigen::Index first = 0;
  while (first < values.size() && !(values[first] > limit)) ++first;
  const Eigen::Index kept = values.size() - first;
  return scale.asDiagonal() * solver.eigenvectors().rightCols(kept) *
         values.tail(kept).cwiseSqrt().cwiseInverse().asDiagonal();
}

}  // namespace lowest_detail

/// Improves `start`, of which the first `wanted` columns count, until the residuals of these,
/// |A φ - λ M φ| by M⁻¹, are `tolerance` of λ (the error of λ is about the square of that).
/// `product(x, y)` sets y = A x, `precondition(r, z)` z to about A⁻¹ r; `mass` is M's diagonal, and
/// all vectors are 0 where it is.
template <class Product, class Precondition>
LowestEigenvectors lowest_eigenvectors(const Product& product, const Precondition& precondition,
                                       const Eigen::VectorXd& mass, const Eigen::MatrixXd& start,
                                       Eigen::Index wanted, double tolerance, int iterations) {
  using Eigen::MatrixXd;
  LowestEigenvectors result;
  const auto products = [&](const MatrixXd& x) {
    MatrixXd y(x.rows(), x.cols());
    Eigen::VectorXd from, to(x.rows());
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      from = x.col(c);
      product(from, to);
      y.col(c) = to;
    }
    return y;
  };
  const Eigen::VectorXd inverse = mass.unaryExpr([](double m) { return m > 0 ? 1 / m : 0; });
  // The best vectors in a span; their coefficients come back.
  MatrixXd basis = start, applied = products(start);
  MatrixXd x, ax, step, astep;
  const Eigen::Index count = start.cols();
  Eigen::VectorXd values;
  const auto choose = [&](Eigen::Index old) {
    const MatrixXd gram = basis.transpose() * mass.asDiagonal() * basis;
    const MatrixXd own = lowest_detail::independent(gram);
    const MatrixXd small = own.transpose() * (basis.transpose() * applied) * own;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(0.5 * (small + small.transpose()));
    const Eigen::Index kept = std::min(count, small.cols());
    const MatrixXd coefficients = own * solver.eigenvectors().leftCols(kept);
    values = solver.eigenvalues().head(kept);
    x = basis * coefficients;
    ax = applied * coefficients;
    // The step is what the other vectors have added.
    step = basis.rightCols(basis.cols() - old) * coefficients.bottomRows(basis.cols() - old);
    astep = applied.rightCols(basis.cols() - old) * coefficients.bottomRows(basis.cols() - old);
  };
  choose(basis.cols());
  for (; result.iterations < iterations; ++result.iterations) {
    const MatrixXd residual = ax - mass.asDiagonal() * x * values.asDiagonal();
    result.converged = true;
    for (Eigen::Index c = 0; c < std::min(wanted, x.cols()); ++c) {
      const double left = std::sqrt(residual.col(c).dot(inverse.cwiseProduct(residual.col(c))));
      result.converged &= left <= tolerance * std::abs(values[c]);
    }
    if (result.converged) break;
    MatrixXd better(x.rows(), x.cols());
    Eigen::VectorXd from, to(x.rows());
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      from = residual.col(c);
      precondition(from, to);
      better.col(c) = to;
    }
    better -= x * (x.transpose() * mass.asDiagonal() * better);
    const Eigen::Index old = x.cols();
    MatrixXd next(x.rows(), old + better.cols() + step.cols()), anext(next.rows(), next.cols());
    next << x, better, step;
    anext << ax, products(better), astep;
    basis.swap(next);
    applied.swap(anext);
    choose(old);
  }
  result.values = values.head(std::min(wanted, values.size()));
  result.vectors = x.leftCols(result.values.size());
  return result;
}

}  // namespace supple
