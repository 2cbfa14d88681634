// Scaled inertia: frames and their derivatives, and what ε = 0, 1 and 2 do.
#include "supple/adjust/inertia_scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "adjust/tet_bars.h"

namespace supple {
namespace {

TEST(NodeTurn, DerivativesAreThoseOfTheRotation) {
  const auto f = [](double t) -> Mat3d {
    const Mat3d turn = (Eigen::AngleAxisd(0.7 + 2 * t + t * t, Vec3d(1, 2, -1).normalized()) *
                        Eigen::AngleAxisd(1.5 * t, Vec3d::UnitX()))
                           .toRotationMatrix();
    Mat3d stretch;
    stretch << 1.2 + t, 0.1, 0.2 * t, 0.1, 0.8, -0.1, 0.2 * t, -0.1, 1.1 - t * t;
    return turn * stretch;
  };
  const double d = 1e-4;
  const Mat3d df = (f(d) - f(-d)) / (2 * d), ddf = (f(d) - 2 * f(0) + f(-d)) / (d * d);
  const NodeTurn turn = node_turn(f(0), df, ddf);
  const auto r = [&](double t) { return node_turn(f(t), df, ddf).rotation; };
  const Mat3d dr = (r(d) - r(-d)) / (2 * d), ddr = (r(d) - 2 * r(0) + r(-d)) / (d * d);
  const auto cross = [](const Vec3d& w) {
    Mat3d m;
    m << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
    return m;
  };
  EXPECT_LT((dr * turn.rotation.transpose() - cross(turn.rate)).norm(), 1e-6);
  EXPECT_LT(
      (ddr * turn.rotation.transpose() - (cross(turn.change) + cross(turn.rate) * cross(turn.rate)))
          .norm(),
      1e-5);
}

TEST(NodeTurn, FlatMaterialDoesNotTurn) {
  const NodeTurn turn = node_turn(Mat3d::Zero(), Mat3d::Random(), Mat3d::Random());
  EXPECT_TRUE(turn.rate.isZero(0));
  EXPECT_TRUE(turn.rotation.allFinite());
}

// The force of eq. 17 against one made from R, its derivatives and q, as eq. 13 has them.
TEST(InertiaScaling, ForcesAreThoseOfTheMovingFrame) {
  const TetSystemModel model = bar_model(Law::neo_hookean, 0, 3);
  TetSystem system(model, "test");
  const auto path = [&](double t) {
    TetVector p = system.rest();
    const Mat3d turn = Eigen::AngleAxisd(0.4 + 3 * t + 2 * t * t, Vec3d(1, 1, 0.2).normalized())
                           .toRotationMatrix();
    for (size_t n = 0; n < system.nodes(); ++n) {
      const Vec3d at = p.node(n);
      p.node(n) =
          turn * (at + Vec3d(0.1 * t * at.y(), 0.2 * t * t * at.x(), 0)) + Vec3d(2 * t, t * t, -t);
    }
    return p;
  };
  const double d = 1e-4;
  Moving<TetVector> equilibrium{path(0), TetVector((path(d) - path(-d)) / (2 * d)),
                                TetVector((path(d) - 2 * path(0) + path(-d)) / (d * d))};
  const double epsilon = 0.3;
  InertiaScaling scaling(system.gradients(), model.masses,
                         std::vector<double>(model.masses.size(), epsilon));
  scaling.move_frames(equilibrium, 1e-2);
  TetVector x = path(0), v = equilibrium.velocity, forces = system.zero(), q = forces;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    x[i] += 0.01 * std::sin(3.0 * static_cast<double>(i));
    v[i] += 0.2 * std::cos(5.0 * static_cast<double>(i));
  }
  BodyVector reference = system.zero();
  const StageStart<BodyVector> stage{1, BodyVector(x - v), system.zero()};
  EXPECT_TRUE(scaling.scale(stage, x, forces, forces, 1e-3, forces, reference));
  // Found again they have not changed.
  BodyVector again = forces;
  EXPECT_FALSE(scaling.scale(stage, x, system.zero(), forces, 1e-3, again, reference));
  scaling.displacements(x, q);
  for (size_t n = 0; n < system.nodes(); n += 7) {
    const auto r = [&](double t) {
      return node_turn(system.gradients().at(n, path(t).data()), Mat3d::Zero(), Mat3d::Zero())
          .rotation;
    };
    const Mat3d dr = (r(d) - r(-d)) / (2 * d), ddr = (r(d) - 2 * r(0) + r(-d)) / (d * d);
    const Vec3d away = x.node(n) - equilibrium.position.node(n),
                fast = v.node(n) - equilibrium.velocity.node(n);
    const Vec3d own = r(0).transpose() * away,
                rate = dr.transpose() * away + r(0).transpose() * fast;
    EXPECT_LT((own - q.node(n)).norm(), 1e-9);
    const Vec3d said = (1 - epsilon) * model.masses[n] *
                       (equilibrium.acceleration.node(n) + ddr * own + 2 * dr * rate);
    EXPECT_LT((said - forces.node(n)).norm(), 1e-4 * said.norm());
    const Vec3d carried = equilibrium.velocity.node(n) + dr * own;
    EXPECT_LT((reference.node(n) - (1 - epsilon) * carried).norm(), 1e-6 * carried.norm());
  }
}

// Equilibria that jump, or are inside out, give their nodes no frames.
// Lanes of many nodes against one at a time, some of them flat, mirrored or no numbers at all.
TEST(InertiaScaling, FramesOfManyNodesAreThoseOfEach) {
  const TetMesh mesh = box_of_tets(7, 9, 6, 0.1, 0.2);
  const std::vector<double> volumes(mesh.tets.size(), 1e-4);
  const NodeGradients gradients(mesh, volumes);
  const size_t nodes = mesh.positions.size();
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-1, 1);
  for (const double shake : {0.0, 0.01, 0.05, 0.3}) {
    Moving<BodyVector> motion;
    for (BodyVector* v : {&motion.position, &motion.velocity, &motion.acceleration}) {
      v->setZero(static_cast<Eigen::Index>(3 * nodes));
      for (size_t n = 0; n < nodes; ++n)
        v->node(n) =
            mesh.positions[n] + shake * Vec3d(number(random), number(random), number(random));
    }
    if (shake == 0.3) motion.position.node(40)[1] = std::numeric_limits<double>::quiet_NaN();
    if (shake == 0.05)
      for (size_t n = 0; n < nodes / 3; ++n) motion.position.node(n)[2] *= -1e-3;
    InertiaScaling scaling(gradients, std::vector<double>(nodes, 1), std::vector<double>(nodes, 0));
    scaling.move_frames(motion, 0.01);
    for (size_t n = 0; n < nodes; ++n) {
      const NodeTurn turn = node_turn(gradients.at(n, motion.position.data()),
                                      gradients.at(n, motion.velocity.data()),
                                      gradients.at(n, motion.acceleration.data()));
      const NodeTurn own = scaling.frame(n);
      EXPECT_LT((own.rotation - turn.rotation).norm(), 1e-9) << n;
      EXPECT_LT((own.rate - turn.rate).norm(), 1e-8 * (1 + turn.rate.norm())) << n;
      EXPECT_LT((own.change - turn.change).norm(), 1e-8 * (1 + turn.change.norm())) << n;
    }
  }
}

TEST(InertiaScaling, LeavesInertiaWhereFramesAreNotSmooth) {
  const TetSystemModel model = bar_model(Law::neo_hookean, 0, 3);
  TetSystem system(model, "test");
  const BodyVector zero = system.zero(), rest = system.rest();
  InertiaScaling scaling(system.gradients(), model.masses,
                         std::vector<double>(model.masses.size(), 0), DampingFrame::scaled, true);
  const double h = 0.01;
  const auto force = [&](const Moving<BodyVector>& equilibrium) {
    scaling.move_frames(equilibrium, h);
    BodyVector forces = zero, reference = zero;
    const StageStart<BodyVector> stage{1, BodyVector(equilibrium.position - equilibrium.velocity),
                                       zero};
    scaling.scale(stage, equilibrium.position, zero, zero, 0, forces, reference);
    return forces.norm();
  };
  Moving<BodyVector> moving{rest, zero, zero};
  const Eigen::Map<const Eigen::VectorXd> masses(model.masses.data(),
                                                 static_cast<Eigen::Index>(model.masses.size()));
  // A jerk of all nodes is no jump, however strong.
  for (size_t n = 0; n < system.nodes(); ++n) moving.acceleration.node(n) = Vec3d(1e4, 0, 0);
  EXPECT_NEAR(force(moving), 1e4 * masses.norm(), 1e-6);
  // Shear that comes about within a step is one.
  for (size_t n = 0; n < system.nodes(); ++n)
    moving.acceleration.node(n) = Vec3d(5 * rest.node(n)[1] / (h * h), 0, 0);
  EXPECT_EQ(force(moving), 0);
  // And so are mirrored elements.
  moving = {BodyVector(-rest), zero, zero};
  for (size_t n = 0; n < system.nodes(); ++n) moving.acceleration.node(n) = Vec3d(1, 0, 0);
  EXPECT_EQ(force(moving), 0);
}

TEST(Adjusted, WithoutInertiaNothingSwings) {
  for (const auto& [name, motion] : proxy_motions())
    for (const Integrator method : {Integrator::backward_euler, Integrator::tr_bdf2})
      for (const Law law : {Law::linear, Law::stvk_volume}) {
        for (const bool exact : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {}", name, static_cast<int>(method),
                                   law_names[static_cast<size_t>(law)]));
          AdjustedOptions options = exact ? tight() : AdjustedOptions();
          options.integrator = method;
          Driven driven(bar_model(law), 0, options, motion);
          double worst = 0;
          for (int s = 0; s < 24; ++s) {
            EXPECT_TRUE(driven.step(1.0 / 96).sound);
            worst = std::max(worst, (driven.body.now.position - driven.body.equilibrium.position)
                                        .cwiseAbs()
                                        .maxCoeff());
          }
          // Of a bar half a metre high, whose first swing is 3 cm at ε = 1.
          EXPECT_LT(worst, exact ? 1e-5 : 2e-4);
        }
      }
}

TEST(Adjusted, WithAllInertiaBitsAreThoseWithoutAdjustment) {
  for (const Law law : {Law::linear, Law::neo_hookean})
    for (const auto& [name, motion] : proxy_motions()) {
      AdjustedOptions plain, tracked;
      tracked.always_track = true;
      Driven a(bar_model(law), 1, plain, motion), b(bar_model(law), 1, tracked, motion);
      for (int s = 0; s < 6; ++s) {
        a.step(1.0 / 48);
        b.step(1.0 / 48);
        EXPECT_TRUE((a.body.now.position.array() == b.body.now.position.array()).all()) << name;
      }
      EXPECT_FALSE(a.body.tracks());
    }
}

TEST(Adjusted, TwiceTheInertiaSwingsTwiceAsFar) {
  for (const Integrator method : {Integrator::backward_euler, Integrator::tr_bdf2}) {
    AdjustedOptions options;
    options.integrator = method;
    options.always_track = true;
    const ProxyMotion motion = proxy_motions()[2].motion;
    Driven once(bar_model(Law::linear), 1, options, motion),
        twice(bar_model(Law::linear), 2, options, motion),
        half(bar_model(Law::linear), 0.5, options, motion);
    double largest = 0;
    for (int s = 0; s < 48; ++s) {
      for (Driven* driven : {&once, &twice, &half}) driven->step(1.0 / 96);
      const TetVector q = once.body.now.position - once.body.equilibrium.position;
      const TetVector q2 = twice.body.now.position - twice.body.equilibrium.position;
      const TetVector q05 = half.body.now.position - half.body.equilibrium.position;
      largest = std::max(largest, q.cwiseAbs().maxCoeff());
      EXPECT_LT((q2 - 2 * q).cwiseAbs().maxCoeff(), 1e-5 * largest + 1e-12);
      EXPECT_LT((q05 - 0.5 * q).cwiseAbs().maxCoeff(), 1e-5 * largest + 1e-12);
    }
    EXPECT_GT(largest, 0.01);
  }
}

// As printed, damping of the frame's motion leaves a swing without any inertia.
TEST(Adjusted, DampingOfTheFrameDrivesOnlyAsPrinted) {
  TetSystemModel model = bar_model(Law::neo_hookean);
  model.mass_damping.assign(model.masses.size(), 3);
  const ProxyMotion motion = proxy_motions()[4].motion;
  double worst[3];
  for (const DampingFrame frame :
       {DampingFrame::scaled, DampingFrame::moving, DampingFrame::still}) {
    AdjustedOptions options = tight();
    options.damping = frame;
    Driven driven(model, 0, options, motion);
    double& most = worst[static_cast<int>(frame)];
    most = 0;
    for (int s = 0; s < 24; ++s) {
      driven.step(1.0 / 96);
      most = std::max(
          most,
          (driven.body.now.position - driven.body.equilibrium.position).cwiseAbs().maxCoeff());
    }
  }
  EXPECT_LT(worst[0], 1e-5);
  EXPECT_LT(worst[1], 1e-5);
  EXPECT_GT(worst[2], 1e-3);
}

TEST(Adjusted, RigidProxiesWithoutWeightNeedNoEquilibria) {
  const auto motions = proxy_motions();
  for (const size_t i : {size_t{1}, size_t{4}, size_t{5}}) {
    AdjustedOptions options;
    Driven driven(bar_model(Law::stvk), 0.5, options, motions[i].motion, Vec3d::Zero());
    int solved = 0;
    for (int s = 0; s < 4; ++s) solved += driven.step(1.0 / 96).solved;
    EXPECT_EQ(solved > 0, i == 5) << motions[i].name;
  }
}

// eq. 21's accelerations are right, but not those of the integrator.
TEST(Adjusted, FivePointsAreAccurateToFourthOrder) {
  const auto path = [](double t) { return TetVector(TetVector::Constant(3, std::sin(3 * t))); };
  double error[2];
  for (int fine = 0; fine < 2; ++fine) {
    const double h = fine ? 0.01 : 0.02;
    std::vector<TetVector> p;
    for (int k = -2; k <= 2; ++k) p.push_back(path(0.3 + k * h));
    error[fine] = std::abs(five_point_acceleration(p, h)[0] + 9 * std::sin(0.9));
    EXPECT_NEAR(five_point_velocity(p, h)[0], 3 * std::cos(0.9), 1e-4);
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), 4, 0.2);
}

// A step's own differences leave nothing at ε = 0; those of five points are not what backward Euler
// solves, so that something swings: some per cent of what the proxy travels at 24 steps per second,
// and half of that at 48.
TEST(Adjusted, FivePointsLeaveSomethingToSwing) {
  const auto swing = [](PathDerivatives derivatives, int rate) {
    AdjustedOptions options = tight();
    options.integrator = Integrator::backward_euler;
    options.derivatives = derivatives;
    // To and fro by 0.1 m, 0.7 times a second: more slowly than the bar swings.
    const auto motion = [](const Vec3d& rest, double t) -> Vec3d {
      return rest + Vec3d(0.05 * (1 - std::cos(4.4 * t)), 0, 0);
    };
    Driven driven(bar_model(Law::linear, 0.02), 0, options, motion);
    double worst = 0;
    for (int s = 0; s < 2 * rate; ++s) {
      EXPECT_TRUE(driven.step(1.0 / rate).sound);
      worst = std::max(worst, driven.swing().cwiseAbs().maxCoeff());
    }
    return worst / 0.1;
  };
  EXPECT_LT(swing(PathDerivatives::own, 24), 1e-4);
  const double left = swing(PathDerivatives::five_point, 24);
  EXPECT_GT(left, 0.02);
  EXPECT_LT(left, 0.10);
  EXPECT_NEAR(swing(PathDerivatives::five_point, 48) / left, 0.5, 0.1);
}

TEST(Adjusted, PathsOfEquilibriaServeTheNextPass) {
  const ProxyMotion motion = proxy_motions()[4].motion;
  AdjustedOptions options;
  options.always_track = true;
  const auto path = std::make_shared<EquilibriumPath>();
  TetVector end[3];
  for (int pass = 0; pass < 3; ++pass) {
    Driven driven(bar_model(Law::stvk), pass == 0 ? 1 : 0.6, options, motion);
    if (pass < 2) driven.body.use_path(path);
    int solved = 0;
    for (int s = 0; s < 10; ++s) solved += driven.step(1.0 / 48).solved;
    EXPECT_EQ(solved, pass == 1 ? 0 : 20);
    path->complete = true;
    end[pass] = driven.body.now.position;
  }
  EXPECT_TRUE((end[1].array() == end[2].array()).all());
  EXPECT_GT((end[0] - end[1]).norm(), 1e-3);
}

}  // namespace
}  // namespace supple
