// Moduli of isotropic elastic materials.
#pragma once

namespace supple {

/// Material of a cell.
struct CellMaterial {
  double mu = 1;      ///< Pa
  double lambda = 1;  ///< Pa
};

/// The Lamé moduli of a Young's modulus (Pa) and Poisson's ratio.
inline CellMaterial lame_moduli(double young, double poisson) {
  return {young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
}

}  // namespace supple
