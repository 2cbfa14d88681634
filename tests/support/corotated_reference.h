// A second implementation of corotated elasticity on hexahedra, for tests to compare with: double
// precision, written from the formulas with Eigen, one cell after the other, assembled into sparse
// matrices and solved directly. It shares no code with what it checks.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "supple/math/types.h"

namespace supple::testing::reference {

using Vector9 = Eigen::Matrix<double, 9, 1>;
using Matrix9 = Eigen::Matrix<double, 9, 9>;
using Matrix24 = Eigen::Matrix<double, 24, 24>;
using Vector24 = Eigen::Matrix<double, 24, 1>;
using Corners = Eigen::Matrix<double, 3, 8>;    ///< positions of a cell's corners, x fastest
using Gradients = Eigen::Matrix<double, 8, 3>;  ///< of the weights of a cell's corners
using Sparse = Eigen::SparseMatrix<double>;

/// Moduli of a cell.
struct Moduli {
  double mu = 1, lambda = 1;
};

/// How the energy of a cell is integrated.
enum class Quadrature {
  stabilised,  ///< edges for the Laplace part, the centre for the rest [McAdams 2011, eq. 17]
  centre,      ///< one point
  gauss,       ///< eight points
};

/// Whether matrices are the true derivatives or their nearest positive semi-definite ones.
enum class Definite { no, yes };

/// F = U diag(sigma) Vᵀ with rotations U and V; the last value carries the sign of det F.
struct SignedSvd {
  Mat3d u, v;
  Vec3d sigma;
  Mat3d rotation() const { return u * v.transpose(); }
};
SignedSvd signed_svd(const Mat3d& f);

/// mu |F - R|² + lambda / 2 tr²(RᵀF - I) by singular values.
double density(const Mat3d& f, const Moduli& m);

/// P = 2 mu (F - R) + lambda tr(RᵀF - I) R.
Mat3d stress(const Mat3d& f, const Moduli& m);

/// dP/dF, columns of both after one another, from its eigensystem.
Matrix9 stress_derivative(const Mat3d& f, const Moduli& m);

/// Eigenvalues of a symmetric matrix, rising.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& m);

/// The nearest positive semi-definite matrix.
Eigen::MatrixXd projected(const Eigen::MatrixXd& m);

/// Solves a sparse symmetric system directly.
Eigen::VectorXd solve_directly(const Sparse& k, const Eigen::VectorXd& b);

/// Derivatives of the eight trilinear weights at a point of a cell (0 to 1 along each axis).
Gradients shape_gradients(const Vec3d& at, double h);

/// The matrix of the stabilised element from the derivative of the stress at its centre.
Matrix24 stabilised_matrix(const Matrix9& derivative, double mu, double h);

/// Energy of a cell, its gradient and its matrix.
struct Element {
  double energy = 0;
  Vector24 gradient = Vector24::Zero();
  Matrix24 matrix = Matrix24::Zero();
};

/// How much of an element is wanted.
enum class Want { energy, gradient, matrix };

/// A cell of side h at the given corners.
Element element(const Corners& x, const Moduli& m, double h, Quadrature rule,
                Want want = Want::matrix);

/// A body of cells, assembled. Vectors hold x y z of one node after the other.
class Body {
 public:
  using Vector = Eigen::VectorXd;

  Body(std::vector<Vec3i> cells, double h, std::function<Moduli(const Vec3i&)> moduli,
       const std::function<bool(const Vec3i&)>& is_fixed);

  const std::vector<Vec3i>& nodes() const { return m_nodes; }
  bool is_free(size_t node) const { return m_free[node]; }
  Eigen::Index size() const { return static_cast<Eigen::Index>(3 * m_nodes.size()); }
  int index(const Vec3i& node) const { return m_index.at({node[0], node[1], node[2]}); }

  /// Positions at rest.
  Vector rest() const;
  double energy(const Vector& x, Quadrature rule) const;
  /// -dE/dx, 0 at fixed nodes.
  Vector force(const Vector& x, Quadrature rule) const;
  /// The stiffness matrix, with 1 on the diagonal of fixed nodes and nothing else there.
  Sparse matrix(const Vector& x, Quadrature rule, Definite definite) const;
  /// Sets the numbers of fixed nodes to 0.
  Vector without_fixed(Vector v) const;

 private:
  Corners corners(const Vec3i& cell, const Vector& x) const;
  std::vector<Element> elements(const Vector& x, Quadrature rule, Want want) const;

  std::vector<Vec3i> m_cells;
  double m_h;
  std::function<Moduli(const Vec3i&)> m_moduli;
  std::map<std::array<int32_t, 3>, int> m_index;
  std::vector<Vec3i> m_nodes;
  std::vector<bool> m_free;
};

/// Equilibrium by Newton's method with direct solves of projected, near the end of true matrices,
/// and a line search; the force shall fall to `tolerance` of its start. Returns that ratio.
double equilibrium(const Body& body, Quadrature rule, double tolerance, Eigen::VectorXd& x);

}  // namespace supple::testing::reference
