// Implicit tetrahedra: derivatives, held points, solvers, and motion that is known.
#include "supple/tets/tet_system.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <cmath>
#include <numbers>
#include <random>

#include "supple/core/parallel.h"
#include "supple/mesh/tet_locate.h"
#include "support/tet_boxes.h"

namespace supple {
namespace {

constexpr Law laws[] = {Law::stvk,        Law::invertible_stvk, Law::stvk_volume,
                        Law::neo_hookean, Law::corotated,       Law::linear};

TetSystemModel box_model(Law law, int nx = 2, int ny = 2, int nz = 2) {
  TetSystemModel model;
  model.mesh = box_of_tets(nx, ny, nz, 0.1, 0.1);
  model.matter.law = law;
  model.masses.assign(model.mesh.positions.size(), 0);
  for (size_t e = 0; e < model.mesh.tets.size(); ++e) {
    const double volume = six_volumes(model.mesh, model.mesh.tets[e]) / 6;
    model.matter.volumes.push_back(volume);
    model.matter.materials.push_back(
        lame_moduli(1e4 * (1 + 0.3 * static_cast<double>(e % 3)), 0.3));
    for (int c = 0; c < 4; ++c)
      model.masses[static_cast<size_t>(model.mesh.tets[e][c])] += 1000 * volume / 4;
  }
  return model;
}

TetTie tie_at(const TetMesh& mesh, const Vec3d& point) {
  const TetLocation at = locate_points(mesh, std::vector<Vec3d>{point})[0];
  TetTie tie;
  for (size_t c = 0; c < 4; ++c) {
    tie.nodes[c] = mesh.tets[static_cast<size_t>(at.tet)][static_cast<int>(c)];
    tie.weights[c] = at.weights[static_cast<int>(c)];
  }
  return tie;
}

TetTie node_tie(int32_t node) { return {{node, node, node, node}, {1, 0, 0, 0}}; }

// Points inside the lowest layer.
std::vector<TetTie> scattered_points(const TetMesh& mesh, int count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> at(0.01, 0.19), low(0.01, 0.05);
  std::vector<TetTie> points;
  for (int i = 0; i < count; ++i)
    points.push_back(tie_at(mesh, {at(random), low(random), at(random)}));
  return points;
}

TetVector shaken(const TetSystem& system, double size, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> by(-size, size);
  TetVector x = system.rest();
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] += by(random);
  return x;
}

NewtonOptions<TetLinearOptions> tight() {
  NewtonOptions<TetLinearOptions> options;
  options.tolerance = 1e-11;
  options.least_force = 1e-10;
  options.linear.limits = {1e-6, 500};
  return options;
}

TEST(TetSystem, ForceAndMatrixAreDerivatives) {
  for (const Law law : laws) {
    SCOPED_TRACE(law_names[static_cast<size_t>(law)]);
    TetSystemModel model = box_model(law);
    model.held = scattered_points(model.mesh, 5, 1);
    model.pulled = {tie_at(model.mesh, {0.15, 0.15, 0.15})};
    model.pulls = {300};
    model.stiffness_damping.assign(model.mesh.tets.size(), 0.01);
    model.mass_damping.assign(model.mesh.positions.size(), 2);
    TetSystem system(model, "test");
    TetVector x = shaken(system, 0.01, 2), way = system.zero();
    system.project(x);
    std::mt19937 random(3);
    std::normal_distribution<double> number;
    for (Eigen::Index i = 0; i < way.size(); ++i) way[i] = number(random);
    system.holds().extend(way);
    system.begin_step(x);
    system.set_stage(40, system.rest(), shaken(system, 0.01, 4));
    TetVector before = system.zero(), after = before, f = before, product = before;
    const double step = 1e-6;
    const double up = system.force(x + step * way, after),
                 down = system.force(x - step * way, before);
    system.force(x, f);
    // The reduced force acts on free nodes only.
    TetVector free = way;
    for (size_t n = 0; n < system.nodes(); ++n)
      if (system.holds().is_dependent(n)) free.node(n).setZero();
    EXPECT_NEAR(-(up - down) / (2 * step), f.dot(free), 1e-5 * f.norm());
    system.linearise(x, Differential::exact);
    system.product(free, product);
    const TetVector slope = (before - after) / (2 * step);
    EXPECT_LT((slope - product).norm(), 1e-5 * product.norm());
  }
}

TEST(TetSystem, HeldPointsAreHeldExactlyAndAsLagrangeSays) {
  TetSystemModel model = box_model(Law::linear);
  model.held = scattered_points(model.mesh, 6, 5);
  TetSystem system(model, "test");
  EXPECT_EQ(system.holds().redundant(), 0U);
  std::vector<Vec3d> places;
  for (size_t i = 0; i < model.held.size(); ++i)
    places.push_back(model.held[i].of(model.mesh.positions) +
                     0.01 * Vec3d(std::sin(3.0 * static_cast<double>(i)), 1, 0.5));
  TetVector weight = system.zero();
  for (size_t n = 0; n < system.nodes(); ++n) weight.node(n)[1] = -9.81 * model.masses[n];
  system.set_outer_forces(weight);
  system.set_places(places);
  TetVector x = system.rest();
  system.project(x);
  NewtonWork<TetSystem> work(system);
  const NewtonReport report = solve_newton(system, x, work, tight());
  EXPECT_TRUE(report.converged);
  EXPECT_LE(report.iterations, 2);
  const std::span<const Vec3d> nodes(reinterpret_cast<const Vec3d*>(x.data()), system.nodes());
  for (size_t i = 0; i < places.size(); ++i)
    EXPECT_LT((model.held[i].of(nodes) - places[i]).norm(), 1e-14);
  // [K Cᵀ; C 0] [u; l] = [f; b], dense, with K from unit displacements of a body nothing holds.
  model.held.clear();
  TetSystem loose(model, "test");
  Eigen::SparseMatrix<double> stiffness, mass;
  loose.matrices_at_rest(stiffness, mass);
  const Eigen::Index n = stiffness.rows(), m = static_cast<Eigen::Index>(3 * places.size());
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n + m, n + m);
  all.topLeftCorner(n, n) = stiffness;
  Eigen::VectorXd right(n + m);
  right.head(n) = weight;
  for (size_t i = 0; i < places.size(); ++i)
    for (int a = 0; a < 3; ++a) {
      const Eigen::Index row = n + 3 * static_cast<Eigen::Index>(i) + a;
      for (size_t c = 0; c < 4; ++c)
        all(row, 3 * system.model().held[i].nodes[c] + a) += system.model().held[i].weights[c];
      right[row] = places[i][a] - system.model().held[i].of(model.mesh.positions)[a];
    }
  all.topRightCorner(n, m) = all.bottomLeftCorner(m, n).transpose();
  const Eigen::VectorXd u = all.partialPivLu().solve(right).head(n);
  EXPECT_LT((x - system.rest() - u).norm(), 1e-9 * u.norm());
}

TEST(TetSystem, PointsThatSayNothingNewAreLeftOut) {
  TetSystemModel model = box_model(Law::neo_hookean);
  for (int32_t n = 0; n < 4; ++n) model.held.push_back(node_tie(model.mesh.tets[0][n]));
  Vec3d middle = Vec3d::Zero();
  for (int c = 0; c < 4; ++c)
    middle += model.mesh.positions[static_cast<size_t>(model.mesh.tets[0][c])] / 4;
  model.held.push_back(tie_at(model.mesh, middle));
  TetSystem system(model, "test");
  EXPECT_EQ(system.holds().redundant(), 1U);
  EXPECT_EQ(system.holds().free_nodes(), system.nodes() - 4);
}

TEST(TetSystem, SoftPullsDrawToTheirPlaces) {
  TetSystemModel model = box_model(Law::neo_hookean);
  model.pulled = scattered_points(model.mesh, 8, 9);
  model.pulls.assign(8, 1e5);
  TetSystem system(model, "test");
  const Vec3d shift(0.03, 0.2, -0.1);
  std::vector<Vec3d> places;
  for (const TetTie& point : model.pulled) places.push_back(point.of(model.mesh.positions) + shift);
  system.set_pull_places(places);
  TetVector x = system.rest();
  NewtonWork<TetSystem> work(system);
  EXPECT_TRUE(solve_newton(system, x, work, tight()).converged);
  for (size_t n = 0; n < system.nodes(); ++n)
    EXPECT_LT((x.node(n) - model.mesh.positions[n] - shift).norm(), 1e-7);
}

// A body is as it was when stiffness and all that acts on it are scaled alike: soft pulls are part
// of its stiffness.
TEST(TetSystem, FactorsScaleSoftPullsToo) {
  TetSystemModel model = box_model(Law::neo_hookean);
  model.pulled = scattered_points(model.mesh, 8, 9);
  model.pulls.assign(8, 500);
  TetVector found[2];
  for (const int k : {0, 1}) {
    const double factor = k == 0 ? 1 : 0.3;
    TetSystem system(model, "test");
    system.set_factors(factor, 1);
    TetVector force = system.zero();
    for (size_t n = 0; n < system.nodes(); ++n)
      force.node(n) = factor * model.masses[n] * Vec3d(2, -9, 0);
    system.set_outer_forces(force);
    found[k] = system.rest();
    NewtonWork<TetSystem> work(system);
    EXPECT_TRUE(solve_newton(system, found[k], work, tight()).converged);
  }
  EXPECT_GT((found[0] - TetSystem(model, "test").rest()).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((found[0] - found[1]).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(TetSystem, PreconditionersAgreeAndTurnedFactorsServeAfterTurns) {
  TetSystemModel model = box_model(Law::neo_hookean, 2, 6, 2);
  for (size_t n = 0; n < model.mesh.positions.size(); ++n)
    if (model.mesh.positions[n].y() < 0.05) model.held.push_back(node_tie(static_cast<int32_t>(n)));
  TetSystem system(model, "test");
  // All of it turned by 120 degrees and bent a little.
  const Mat3d turn = Eigen::AngleAxisd(2.1, Vec3d(1, 2, 3).normalized()).toRotationMatrix();
  TetVector x = shaken(system, 0.002, 11);
  for (size_t n = 0; n < system.nodes(); ++n) x.node(n) = (turn * x.node(n)).eval();
  TetVector f = system.zero(), first = f, other = f;
  for (size_t n = 0; n < system.nodes(); ++n)
    if (!system.holds().is_dependent(n)) f.node(n) = Vec3d(0.1, -1, 0.3) * model.masses[n];
  system.linearise(x, Differential::projected);
  int iterations[3];
  for (const auto kind : {TetPreconditioner::turned_factor, TetPreconditioner::fresh_factor,
                          TetPreconditioner::diagonal}) {
    const LinearReport report = system.solve(f, other, {{1e-10, 1000}, kind});
    iterations[static_cast<int>(kind)] = report.iterations;
    if (kind == TetPreconditioner::turned_factor) first = other;
    EXPECT_LT((other - first).norm(), 1e-7 * first.norm());
  }
  EXPECT_LE(iterations[1], 2);
  EXPECT_LT(iterations[0], 40);
  EXPECT_LT(2 * iterations[0], iterations[2]);
}

// One element on a base that begins to move at constant speed swings as [Wang 2020, eq. 12] says.
TEST(TetSystem, OneElementIsTheOscillatorOfEquation12) {
  TetSystemModel model;
  const double height = 0.1;
  model.mesh.positions = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.1 / 3, 0.1 / 3, height}};
  model.mesh.tets = {Vec4i(0, 1, 2, 3)};
  const double volume = 0.1 * 0.1 * height / 6;
  model.matter = {{volume}, {lame_moduli(1e4, 0.3)}, Law::linear, {}};
  model.masses = {1, 1, 1, 0.05};
  const double stiffness = volume / (height * height) *
                           (2 * model.matter.materials[0].mu + model.matter.materials[0].lambda);
  const double mass = 0.05, omega = std::sqrt(stiffness / mass), ratio = 0.05;
  model.stiffness_damping = {2 * ratio / omega};
  for (int32_t n = 0; n < 3; ++n) model.held.push_back(node_tie(n));
  const double c = 2 * ratio * omega * mass;
  const double swing = std::sqrt(4 * mass * stiffness - c * c) / (2 * mass), speed = 0.3;
  for (const Integrator method : {Integrator::backward_euler, Integrator::tr_bdf2}) {
    TetSystem system(model, "test");
    ImplicitIntegrator<TetSystem> integrator(system, method);
    Moving<TetVector> now{system.rest(), system.zero(), system.zero()};
    const double period = 2 * std::numbers::pi / swing;
    const int per_period = method == Integrator::tr_bdf2 ? 100 : 8000;
    const double h = period / per_period;
    // In the frame of the base its start is a push of the apex the other way.
    now.velocity.node(3)[2] = -speed;
    NothingOutside<TetVector> nothing;
    double last = 0, zero = 0;
    int crossings = 0;
    double worst = 0;
    for (int s = 1; s <= 5 * per_period; ++s) {
      integrator.step(system, now, h, nothing, tight());
      const double z = now.position.node(3)[2] - height, t = s * h;
      const double truth = -speed / swing * std::exp(-c / (2 * mass) * t) * std::sin(swing * t);
      worst =
          std::max(worst, std::abs(z - truth) / (speed / swing * std::exp(-c / (2 * mass) * t)));
      if (s > 1 && last * z < 0) {
        zero = t - h * z / (z - last);
        ++crossings;
      }
      last = z;
    }
    EXPECT_NEAR(crossings / (2 * zero), swing / (2 * std::numbers::pi),
                0.005 * swing / (2 * std::numbers::pi));
    EXPECT_LT(worst, 0.02);
  }
}

TEST(TetSystem, ThreadsDoNotChangeBits) {
  TetSystemModel model = box_model(Law::stvk_volume, 6, 6, 6);
  for (size_t n = 0; n < model.mesh.positions.size(); ++n)
    if (model.mesh.positions[n].y() < 0.05) model.held.push_back(node_tie(static_cast<int32_t>(n)));
  model.stiffness_damping.assign(model.mesh.tets.size(), 0.01);
  TetVector first;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    TetSystem system(model, "test");
    ImplicitIntegrator<TetSystem> integrator(system, Integrator::tr_bdf2);
    Moving<TetVector> now{system.rest(), system.zero(), system.zero()};
    TetVector weight = system.zero();
    for (size_t n = 0; n < system.nodes(); ++n) weight.node(n)[0] = 5 * model.masses[n];
    system.set_outer_forces(weight);
    NothingOutside<TetVector> nothing;
    for (int s = 0; s < 3; ++s) integrator.step(system, now, 0.02, nothing, {});
    if (threads == 1) first = now.position;
    EXPECT_TRUE((now.position.array() == first.array()).all());
    EXPECT_GT((now.position - system.rest()).norm(), 1e-3);
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace supple
