#include "supple/adjust/modes.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>

#include <cmath>

#include <Spectra/MatOp/SparseSymMatProd.h>
#include <Spectra/SymGEigsShiftSolver.h>

namespace supple {
namespace {

// x -> (K - shift M)⁻¹ x by a Cholesky factor: the shift is negative, so that there is one also for
// bodies that nothing holds.
class Inverse {
 public:
  using Scalar = double;

  Inverse(const Eigen::SparseMatrix<double>& stiffness, const Eigen::SparseMatrix<double>& mass)
      : m_stiffness(stiffness), m_mass(mass) {}
  Eigen::Index rows() const { return m_stiffness.rows(); }
  Eigen::Index cols() const { return m_stiffness.cols(); }
  void set_shift(double shift) { m_factor.compute(m_stiffness - shift * m_mass); }
  void perform_op(const double* x, double* y) const {
    Eigen::Map<Eigen::VectorXd>(y, rows()) =
        m_factor.solve(Eigen::Map<const Eigen::VectorXd>(x, rows()));
  }
  bool works() const { return m_factor.info() == Eigen::Success; }

 private:
  const Eigen::SparseMatrix<double>&m_stiffness, &m_mass;
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> m_factor;
};

// Squares of frequencies below this part of the mean are rounding.
constexpr double rounding = 1e-9;

// For few numbers a dense solver is quicker, and has no trouble with counts.
constexpr Eigen::Index small = 60;

Modes dense_modes(const Eigen::SparseMatrix<double>& stiffness,
                  const Eigen::SparseMatrix<double>& mass, int count) {
  const Eigen::MatrixXd k(stiffness), m(mass);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(k, m);
  if (solver.info() != Eigen::Success) return {};
  const Eigen::Index kept = std::min<Eigen::Index>(count, k.rows());
  Modes modes;
  for (Eigen::Index i = 0; i < kept; ++i)
    modes.omegas.push_back(std::sqrt(std::max(0.0, solver.eigenvalues()[i])));
  modes.shapes = solver.eigenvectors().leftCols(kept);
  return modes;
}

}  // namespace

Modes lowest_modes(const Eigen::SparseMatrix<double>& stiffness,
                   const Eigen::SparseMatrix<double>& mass, int count) {
  if (stiffness.rows() == 0) return {};
  const double mean = stiffness.diagonal().sum() / mass.diagonal().sum();
  Modes modes;
  if (stiffness.rows() <= small) {
    modes = dense_modes(stiffness, mass, count);
  } else {
    const double shift = -1e-6 * mean;
    Inverse inverse(stiffness, mass);
    Spectra::SparseSymMatProd<double> masses(mass);
    const int base = std::min<int>(static_cast<int>(stiffness.rows()), 4 * count + 16);
    Spectra::SymGEigsShiftSolver<Inverse, Spectra::SparseSymMatProd<double>,
                                 Spectra::GEigsMode::ShiftInvert>
        solver(inverse, masses, count, base, shift);
    if (!inverse.works()) return {};
    solver.init();
    solver.compute(Spectra::SortRule::LargestMagn, 300, 1e-11, Spectra::SortRule::SmallestAlge);
    if (solver.info() != Spectra::CompInfo::Successful) return {};
    for (const double value : solver.eigenvalues())
      modes.omegas.push_back(std::sqrt(std::max(0.0, value)));
    modes.shapes = solver.eigenvectors();
  }
  for (double& omega : modes.omegas)
    if (omega * omega < rounding * mean) omega = 0;
  // Of unit mass; the sign is that of the largest number.
  for (Eigen::Index c = 0; c < modes.shapes.cols(); ++c) {
    Eigen::VectorXd shape = modes.shapes.col(c);
    const double norm = std::sqrt(shape.dot(mass * shape));
    Eigen::Index largest = 0;
    shape.cwiseAbs().maxCoeff(&largest);
    modes.shapes.col(c) = shape * ((shape[largest] < 0 ? -1 : 1) / norm);
  }
  return modes;
}

}  // namespace supple
