// A lattice system that looks at everything Newton's method asks of it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "supple/lattice/lattice_system.h"
#include "supple/solve/newton.h"

namespace supple::testing {

/// Passes everything on, and fails the test when a position, energy or force is not finite, or when
/// the energy of accepted places rises.
class WatchedSystem {
 public:
  using Positions = LatticeSystem::Positions;
  using Step = LatticeSystem::Step;
  using LinearOptions = LatticeSystem::LinearOptions;

  explicit WatchedSystem(LatticeSystem& system) : m_system(system) {}

  Positions zero() const { return m_system.zero(); }
  Step zero_step() const { return m_system.zero_step(); }
  double energy(const Positions& x) {
    expect_finite(x);
    const double e = m_system.energy(x);
    EXPECT_TRUE(std::isfinite(e));
    return e;
  }
  double force(const Positions& x, Positions& f) {
    expect_finite(x);
    const double e = m_system.force(x, f);
    EXPECT_TRUE(std::isfinite(e));
    expect_finite(f);
    return e;
  }
  void linearise(const Positions& x, Differential kind) {
    const double e = m_system.energy(x);
    EXPECT_LE(e, m_last + 1e-9 * std::abs(m_last)) << "the energy of an iterate rose";
    m_last = e;
    m_system.linearise(x, kind);
    ++linearisations;
  }
  LinearReport solve(const Positions& f, Step& dx, const LinearOptions& options) {
    const LinearReport report = m_system.solve(f, dx, options);
    for (size_t i = 0; i < dx.size(); ++i) {
      if (!std::isfinite(dx[i])) {
        ADD_FAILURE() << "a step is not finite";
        break;
      }
    }
    return report;
  }
  double slope(const Positions& f, const Step& dx) const { return m_system.slope(f, dx); }
  double norm(const Positions& f) const { return m_system.norm(f); }
  double largest(const Step& dx) const { return m_system.largest(dx); }
  void move(const Positions& x, double step, const Step& dx, Positions& to) const {
    m_system.move(x, step, dx, to);
  }

  int linearisations = 0;

 private:
  static void expect_finite(const Positions& x) {
    for (size_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x[i])) {
        ADD_FAILURE() << "an iterate is not finite";
        return;
      }
  }

  LatticeSystem& m_system;
  double m_last = 1e300;
};

}  // namespace supple::testing
