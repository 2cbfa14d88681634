// The lowest natural frequencies of a body whose constraints are held still: K φ = ω² M φ subject
// to C φ = 0 [Wang 2020, eq. 3 and 4, where the right-hand side must be 0].
#pragma once

#include <Eigen/SparseCore>

#include <vector>

namespace supple {

/// Modes of free vibration.
struct Modes {
  std::vector<double> omegas;  ///< angular frequencies, rad/s, ascending
  Eigen::MatrixXd shapes;      ///< a column each, over free numbers, with φᵀ M φ = 1
};

/// The `count` lowest modes of stiffness (N/m) and mass (kg) matrices of the free numbers. Modes
/// that cost no energy have frequencies of 0. Empty when the iteration does not converge.
Modes lowest_modes(const Eigen::SparseMatrix<double>& stiffness,
                   const Eigen::SparseMatrix<double>& mass, int count);

}  // namespace supple
