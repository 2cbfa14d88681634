// Which linearisation of the corotated stress is used.
#pragma once

#include <limits>

namespace supple {

/// Linearisations of the corotated stress.
enum class Differential {
  projected,  ///< exact, made positive semi-definite cell by cell [McAdams 2011, Alg. 1]
  exact,      ///< the true derivative, which may be indefinite
  warped,     ///< warped stiffness: rotations held fixed, as in [Müller 2004]
  zhu,        ///< the approximation of [Zhu 2010]: full 2 mu dF
};

/// A linearisation as numbers: L = clamp(scale · formula + offset · mu, lower · mu, upper · mu).
template <class Scalar>
struct DifferentialRule {
  Scalar scale = 1;
  Scalar offset = 0;
  Scalar lower = -1;
  Scalar upper = 10;
  Scalar least_denominator = Scalar(1e-6);  ///< of sums of two singular values
};

/// The numbers of a linearisation.
template <class Scalar>
DifferentialRule<Scalar> differential_rule(Differential kind) {
  constexpr Scalar far = Scalar(1e30);
  switch (kind) {
    case Differential::exact:
      return {.lower = -far, .upper = far};
    case Differential::warped:
      return {.scale = 0, .offset = -1};
    case Differential::zhu:
      return {.scale = 0, .offset = 0};
    case Differential::projected:
      break;
  }
  return {};
}

}  // namespace supple
