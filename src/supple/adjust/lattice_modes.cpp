#include "supple/adjust/lattice_modes.h"

#include <cmath>
#include <random>

#include "supple/solve/lowest_eigenvectors.h"

namespace supple {
namespace {

// Vectors beside those asked for, so that the last of these converge too.
constexpr int more = 3;

// Residuals, relative to the eigenvalue; eigenvalues are right to about the square of that.
constexpr double tolerance = 3e-4;
constexpr int most_iterations = 200;

// Squares of frequencies below this part of the mean are rounding; the shift that makes loose
// bodies solvable is of that order too.
constexpr double rounding = 1e-9, shift_part = 1e-6;

// About the mean square of all frequencies.
double mean_square_frequency(const LatticeDynamicsModel& model) {
  double stiffness = 0, mass = 0;
  for (const CellMaterial& m : model.moduli)
    stiffness += 3 * (2 * m.mu + m.lambda) * model.solid.spacing;
  for (const double m : model.masses) mass += m;
  return stiffness / mass;
}

Eigen::MatrixXd random_start(const LatticeDynamics& system, int columns) {
  std::mt19937 random(1);
  Eigen::MatrixXd start =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(3 * system.nodes()), columns);
  for (Eigen::Index c = 0; c < columns; ++c)
    for (size_t n = 0; n < system.nodes(); ++n)
      for (Eigen::Index k = 0; k < 3; ++k)
        if (const double r = static_cast<double>(random()) / 4294967296.0 - 0.5; system.is_free(n))
          start(static_cast<Eigen::Index>(3 * n) + k, c) = r;
  return start;
}

// φᵀ K φ with the shift taken off.
double stiffness_along(LatticeDynamics& system, const BodyVector& shape, double shift) {
  BodyVector y = system.zero();
  system.product(shape, y);
  double mass = 0;
  for (size_t n = 0; n < system.nodes(); ++n)
    mass += system.masses()[n] * shape.node(n).squaredNorm();
  return shape.dot(y) - shift * mass;
}

// A system at rest whose matrix is K + shift M.
LatticeDynamics shifted(const LatticeDynamicsModel& model, double shift) {
  LatticeDynamics system(model, "lattice");
  const BodyVector rest = system.rest();
  system.set_stage(std::sqrt(shift), rest, rest);
  system.linearise(rest, Differential::projected);
  return system;
}

}  // namespace

LatticeModes lowest_modes(LatticeDynamicsModel model, int count) {
  model.stiffness_damping.clear();
  model.mass_damping.clear();
  const double mean = mean_square_frequency(model), shift = shift_part * mean;
  LatticeDynamics system = shifted(model, shift);
  Eigen::VectorXd mass = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(3 * system.nodes()));
  for (size_t n = 0; n < system.nodes(); ++n)
    if (system.is_free(n))
      mass.segment<3>(static_cast<Eigen::Index>(3 * n)).setConstant(model.masses[n]);
  BodyVector from, to = system.zero();
  LinearOptions cycle;
  cycle.method = LinearMethod::v_cycle;
  cycle.limits = {0, 1};
  const auto product = [&](const Eigen::VectorXd& x, Eigen::VectorXd& y) {
    from = x;
    system.product(from, to);
    y = to;
  };
  const auto precondition = [&](const Eigen::VectorXd& r, Eigen::VectorXd& z) {
    from = r;
    system.solve(from, to, cycle);
    z = to;
  };
  const LowestEigenvectors found =
      lowest_eigenvectors(product, precondition, mass, random_start(system, count + more), count,
                          tolerance, most_iterations);
  LatticeModes result;
  result.iterations = found.iterations;
  if (!found.converged) return result;
  result.modes.shapes = found.vectors;
  for (Eigen::Index c = 0; c < found.values.size(); ++c) {
    const double square = found.values[c] - shift;
    result.modes.omegas.push_back(square > rounding * mean ? std::sqrt(square) : 0);
    Eigen::Index largest = 0;
    found.vectors.col(c).cwiseAbs().maxCoeff(&largest);
    if (found.vectors(largest, c) < 0) result.modes.shapes.col(c) *= -1;
  }
  if (system.is_pulled() && !result.modes.omegas.empty() && result.modes.omegas[0] > 0) {
    model.pulls.clear();
    model.springs.clear();
    LatticeDynamics elastic = shifted(model, shift);
    result.elastic_share = stiffness_along(elastic, BodyVector(result.modes.shapes.col(0)), shift) /
                           std::pow(result.modes.omegas[0], 2);
  }
  return result;
}

}  // namespace supple
