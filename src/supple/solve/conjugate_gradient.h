// Preconditioned conjugate gradients, and the Lanczos estimate of the largest eigenvalue that falls
// out of them, over any operator and vectors with product, dot, add_scaled, add_scaled_norm and
// scale_add. Vectors that are preconditioned may be of another precision than the rest.
#pragma once

#include <Eigen/Eigenvalues>

#include <cmath>
#include <vector>

namespace supple {

/// When a linear solve ends.
struct LinearLimits {
  double tolerance = 1e-3;  ///< of |r| / |b|
  int iterations = 200;
};

/// How a linear solve went.
struct LinearReport {
  int iterations = 0;
  int products = 0;         ///< with the operator, without those of the preconditioner
  double residual = 1;      ///< |r| / |b| as the iteration has it
  bool indefinite = false;  ///< a direction of negative curvature was met, and the solve ended
  std::vector<double> residuals;  ///< after every iteration; kept when asked for
};

/// Vectors of an iteration: r holds b at the start and the residual at the end.
template <class Vector, class Correction>
struct ConjugateGradientWork {
  Vector& r;
  Vector& p;
  Vector& q;
  Correction& z;
};
template <class Vector, class Correction>
ConjugateGradientWork(Vector&, Vector&, Vector&, Correction&)
    -> ConjugateGradientWork<Vector, Correction>;

/// Solves A x = r from x = 0. `precondition()` sets z from r and returns r · z.
template <class Operator, class Precondition, class Vector, class Correction>
LinearReport conjugate_gradient(const Operator& a, const Precondition& precondition, Vector& x,
                                ConjugateGradientWork<Vector, Correction> work,
                                const LinearLimits& limits, bool keep_residuals = false) {
  using Scalar = std::remove_cvref_t<decltype(x[0])>;
  LinearReport report;
  auto& [r, p, q, z] = work;
  x.set_zero();
  const double start = std::sqrt(dot(r, r));
  if (!(start > 0) || !std::isfinite(start)) {
    report.residual = start > 0 ? 1 : 0;
    return report;
  }
  double rz = 0;
  while (report.iterations < limits.iterations) {
    const double rz_before = rz;
    rz = precondition();
    if (!(rz > 0)) {
      report.indefinite = rz < 0;
      break;
    }
    scale_add(z, static_cast<Scalar>(report.iterations == 0 ? 0 : rz / rz_before), p);
    const double curvature = a.product(p, q);
    ++report.products;
    if (!(curvature > 0)) {
      report.indefinite = true;
      break;
    }
    const double step = rz / curvature;
    add_scaled(static_cast<Scalar>(step), p, x);
    report.residual = std::sqrt(add_scaled_norm(static_cast<Scalar>(-step), q, r)) / start;
    ++report.iterations;
    if (keep_residuals) report.residuals.push_back(report.residual);
    if (!(report.residual > limits.tolerance)) break;
  }
  return report;
}

/// What iterations of conjugate gradients know of the eigenvalues of M⁻¹A: the tridiagonal matrix
/// of Lanczos' method.
struct LanczosMatrix {
  Eigen::VectorXd diagonal, beside;
  int steps = 0;  ///< iterations taken

  /// The estimate of the largest eigenvalue after the first `count` iterations, from below.
  double largest(int count) const {
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal.head(count), beside.head(count - 1),
                                  Eigen::EigenvaluesOnly);
    return solver.eigenvalues().maxCoeff();
  }
};

/// Takes `steps` iterations of conjugate gradients from r, best a rough one, or fewer where they
/// lead nowhere. `precondition(z)` sets a vector from r and returns r · z. Uses r and the other
/// vectors.
template <class Operator, class Precondition, class Vector, class Correction>
LanczosMatrix lanczos_matrix(const Operator& a, const Precondition& precondition,
                             ConjugateGradientWork<Vector, Correction> work, int steps) {
  using Scalar = std::remove_cvref_t<decltype(work.r[0])>;
  auto& [r, p, q, z] = work;
  LanczosMatrix m{Eigen::VectorXd(steps), Eigen::VectorXd(steps)};
  double rz = 0, alpha_before = 1, beta = 0;
  for (int& n = m.steps; n < steps; ++n) {
    const double rz_before = rz;
    rz = n == 0 ? precondition(p) : precondition(z);
    if (!(rz > 0) || !std::isfinite(rz)) break;
    if (n > 0) {
      beta = rz / rz_before;
      scale_add(z, static_cast<Scalar>(beta), p);
    }
    const double curvature = a.product(p, q);
    if (!(curvature > 0)) break;
    const double alpha = rz / curvature;
    m.diagonal[n] = 1 / alpha + beta / alpha_before;
    if (n > 0) m.beside[n - 1] = std::sqrt(beta) / alpha_before;
    alpha_before = alpha;
    if (n + 1 < steps) add_scaled(static_cast<Scalar>(-alpha), q, r);
  }
  return m;
}

}  // namespace supple
