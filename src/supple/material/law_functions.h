// Constitutive laws for one deformation at a time, in double precision: energy, stress, and the
// derivative of the stress, exact or made positive semi-definite. The wide loops of bodies use the
// laws' own headers.
#pragma once

#include "supple/material/law.h"
#include "supple/math/types.h"

namespace supple {

/// A derivative of the stress by the deformation gradient, both row by row, Pa.
using StressDerivative = Eigen::Matrix<double, 9, 9>;

/// The numbers of a law for a material.
Elastic<double> elastic(const CellMaterial& material, const LawLimits& limits = {});

/// Energy density of a deformation gradient, Pa; 0 at rest.
double energy_density(Law law, const Mat3d& deformation, const Elastic<double>& material);

/// First Piola-Kirchhoff stress of a deformation gradient, Pa.
Mat3d stress(Law law, const Mat3d& deformation, const Elastic<double>& material);

/// ∂P/∂F; where `projected`, with its negative eigenvalues set to 0. Where the law has a pole
/// (corotated with two stretches that cancel), the stiffness is limited to 1e6 times μ + λ.
StressDerivative stress_derivative(Law law, const Mat3d& deformation,
                                   const Elastic<double>& material, bool projected);

/// Whether a deformation lies within the limits of invertible StVK, from the characteristic
/// polynomial alone [Kim 2011, eq. 7].
bool is_within_limits(const Mat3d& deformation, const Elastic<double>& material);

}  // namespace supple
