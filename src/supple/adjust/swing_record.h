// What a run shows of its dynamics, kept while it goes: the swing of the lowest modes, how far
// nodes are from equilibrium, and where they rest. Dials are measured on it.
#pragma once

#include <optional>
#include <vector>

#include "supple/adjust/adjusted_body.h"
#include "supple/adjust/modes.h"
#include "supple/adjust/swing.h"

namespace supple {

/// The four quantities of an animation that dials turn [Wang 2020, section 4].
struct DialReading {
  double frequency = 0;  ///< Hz
  double amplitude = 0;  ///< m √s: root of the integral of the mean square of q (eq. 5)
  double sag = 0;        ///< m: root of the mean square of the rest's distance from no weight
  double half_life = 0;  ///< s
  bool from_trajectory = true;  ///< else frequency and half-life are those of a pluck
};

/// A record of one run.
class SwingRecord {
 public:
  /// For a body whose nodes have these masses (kg), and of these modes at rest.
  void begin(std::span<const double> masses, std::vector<BodyVector> shapes);

  /// Adds the state after a step of h seconds: a motion and the equilibrium it swings about.
  /// `weightless` is where the nodes would be without weight, as far as that is known.
  void add(const Moving<BodyVector>& now, const Moving<BodyVector>& equilibrium,
           const NodeGradients& gradients, double h, const BodyVector* weightless);

  /// The mode that swings most from where the equilibrium has come to rest for good, or over the
  /// whole run where it does not.
  size_t loudest() const;

  /// What was measured on a mode, from where the equilibrium has come to rest for good. When that
  /// is too short to see a swing, frequency and half-life are 0.
  DialReading read(size_t mode) const;

  /// Whether what drives the body moved it at all: accelerations (root of the mean square over the
  /// nodes) beyond what errors of equilibria make.
  bool moved() const;

  /// Time (s) and height (m √kg) of the swing of a mode, for plots; the loudest where none is
  /// given.
  std::vector<std::pair<double, double>> signal(std::optional<size_t> mode = {}) const;

  /// How far apart samples are, s.
  double step() const { return m_step; }
  bool empty() const { return m_squares.empty(); }

 private:
  bool rests(size_t from) const { return from + 8 < m_squares.size(); }
  size_t rest_begins() const;

  std::vector<BodyVector> m_shapes;            // times masses
  std::vector<std::vector<double>> m_signals;  // of the modes
  std::vector<double> m_squares, m_pushes;     // of q; of the equilibrium's acceleration
  std::vector<BodyVector> m_offsets;           // from no weight
  std::vector<double> m_masses;
  double m_step = 0;
};

/// The shapes of modes over all nodes of a system.
template <class S>
std::vector<BodyVector> shapes_of(const S& system, const Modes& modes) {
  std::vector<BodyVector> shapes;
  for (Eigen::Index c = 0; c < modes.shapes.cols(); ++c)
    shapes.push_back(system.expand(modes.shapes.col(c)));
  return shapes;
}

/// Σ m |u - p|² / Σ m: the square that is integrated for the amplitude [Wang 2020, eq. 5], m².
double mean_square(std::span<const double> masses, const BodyVector& u, const BodyVector& p);

/// The swing of a body that is pulled along its lowest mode by `height` (m, at most) and let go,
/// its constraints as they are, for `seconds` in steps of h, about the equilibrium it has now. The
/// body is put back afterwards, without a path of equilibria.
template <class S>
Swing pluck(AdjustedBody<S>& body, const AdjustedDrive& drive, const Modes& modes, double height,
            double h, double seconds);

}  // namespace supple
