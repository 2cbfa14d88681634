// Polynomial smoothers x += p(D⁻¹A) D⁻¹ (b - A x): Chebyshev polynomials of the upper part of the
// spectrum, and damped Jacobi. Both need no more than products, so that they run on any backend.
#pragma once

#include <cmath>

namespace supple {

/// Which smoother, and how much of it, before and after each coarse correction.
struct Smoother {
  enum class Kind { chebyshev, jacobi };
  Kind kind = Kind::chebyshev;
  int steps = 3;         ///< degree of the polynomial, or Jacobi sweeps
  double damping = 0.8;  ///< of Jacobi; lowered where the operator needs it
  double range = 14;     ///< Chebyshev: largest over smallest eigenvalue that is damped
  double margin = 1.1;   ///< Chebyshev: how far beyond the largest estimate the range reaches

  /// The smoother for a level whose D⁻¹A has the largest eigenvalue `largest`. Where many hard
  /// springs meet this is so large that the lower end of the range would rise with it: one step
  /// more reaches as far down as elsewhere.
  Smoother fitted(double largest) const {
    constexpr double hard = 3.6, wider = 1.4;
    Smoother result = *this;
    if (kind == Kind::chebyshev && largest > hard) {
      ++result.steps;
      result.range *= wider;
    }
    return result;
  }
};

/// The weights of one smoothing step after the other: direction = momentum direction +
/// weight D⁻¹ (b - A x), x += direction.
class SmootherSteps {
 public:
  /// What the first step begins with: x = 0, or any x.
  enum class Start { zero, anywhere };
  /// Where the direction of the step before is.
  enum class Before { nowhere, in_x, kept };

  /// `largest` is the largest eigenvalue of D⁻¹A.
  SmootherSteps(const Smoother& s, double largest, Start start)
      : m_kind(s.kind), m_start(start), m_left(s.steps - 1) {
    if (m_kind == Smoother::Kind::jacobi) {
      // Jacobi diverges from a weight of 2 / largest on.
      weight = std::fmin(s.damping, 1.8 / largest);
      return;
    }
    const double high = s.margin * largest, low = largest / s.range;
    m_centre = (high + low) / 2;
    m_half = (high - low) / 2;
    m_rho = m_half / m_centre;
    weight = 1 / m_centre;
  }

  /// Goes to the next step.
  void advance() {
    ++m_number;
    --m_left;
    if (m_kind == Smoother::Kind::jacobi) return;
    const double rho = 1 / (2 * m_centre / m_half - m_rho);
    momentum = rho * m_rho;
    weight = 2 * rho / m_half;
    m_rho = rho;
  }

  /// Where the step finds the direction of the one before; after a first step from x = 0 that is
  /// x itself.
  Before before() const {
    if (m_kind == Smoother::Kind::jacobi || m_number == 0) return Before::nowhere;
    return m_number == 1 && m_start == Start::zero ? Before::in_x : Before::kept;
  }

  /// Whether the step's direction must be kept for the next one.
  bool keeps() const {
    return m_kind == Smoother::Kind::chebyshev && m_left > 0 &&
           !(m_number == 0 && m_start == Start::zero);
  }

  double momentum = 0;
  double weight = 1;

 private:
  Smoother::Kind m_kind;
  Start m_start;
  int m_number = 0, m_left;
  double m_centre = 1, m_half = 1, m_rho = 1;
};

}  // namespace supple
