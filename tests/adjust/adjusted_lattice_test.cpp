// Adjusted dynamics of lattices: what ε = 0, 1 and 2 do, with springs and kept volumes too.
#include <gtest/gtest.h>

#include "adjust/driven_body.h"
#include "supple/core/parallel.h"
#include "support/lattice_bars.h"

namespace supple {
namespace {

using DrivenLattice = DrivenBody<LatticeDynamics>;

// 0.1 x 0.5 x 0.1 m.
LatticeDynamicsModel bar() { return test::lattice_bar({2, 10, 2}, 0.05); }

double largest(const BodyVector& q) { return q.cwiseAbs().maxCoeff(); }

TEST(AdjustedLattice, WithoutInertiaNothingSwings) {
  for (const auto& [name, motion] : proxy_motions())
    for (const Integrator method : {Integrator::backward_euler, Integrator::tr_bdf2})
      for (const bool volume : {false, true})
        for (const bool exact : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", name, static_cast<int>(method), volume, exact));
          AdjustedOptions options = exact ? tight() : AdjustedOptions();
          options.integrator = method;
          LatticeDynamicsModel model = bar();
          model.keep_volume = volume;
          DrivenLattice driven(model, 0, options, motion);
          double worst = 0;
          for (int s = 0; s < 24; ++s) {
            EXPECT_TRUE(driven.step(1.0 / 96).sound);
            worst = std::max(worst, largest(driven.swing()));
          }
          // Of a bar half a metre high, whose first swing is some 3 cm at ε = 1.
          EXPECT_LT(worst, exact ? 1e-5 : 2e-4);
        }
}

TEST(AdjustedLattice, WithAllInertiaBitsAreThoseWithoutAdjustment) {
  for (const auto& [name, motion] : proxy_motions()) {
    AdjustedOptions plain, tracked;
    tracked.always_track = true;
    LatticeDynamicsModel model = bar();
    model.keep_volume = true;
    DrivenLattice a(model, 1, plain, motion), b(model, 1, tracked, motion);
    for (int s = 0; s < 6; ++s) {
      a.step(1.0 / 48);
      b.step(1.0 / 48);
      EXPECT_TRUE((a.body.now.position.array() == b.body.now.position.array()).all()) << name;
    }
    EXPECT_FALSE(a.body.tracks());
  }
}

// Swings so small that the corotated law is linear.
TEST(AdjustedLattice, TwiceTheInertiaSwingsTwiceAsFar) {
  for (const Integrator method : {Integrator::backward_euler, Integrator::tr_bdf2}) {
    AdjustedOptions options = tight();
    options.integrator = method;
    options.always_track = true;
    const auto jerk = [](const Vec3d& r, double t) -> Vec3d {
      return r + Vec3d(t > 0.1 ? 0.02 * (t - 0.1) : 0, 0, 0);
    };
    DrivenLattice once(bar(), 1, options, jerk, Vec3d::Zero()),
        twice(bar(), 2, options, jerk, Vec3d::Zero()),
        half(bar(), 0.5, options, jerk, Vec3d::Zero());
    double most = 0, off = 0;
    for (int s = 0; s < 48; ++s) {
      for (DrivenLattice* driven : {&once, &twice, &half}) driven->step(1.0 / 96);
      most = std::max(most, largest(once.swing()));
      off = std::max({off, largest(BodyVector(twice.swing() - 2 * once.swing())) / 2,
                      largest(BodyVector(half.swing() - 0.5 * once.swing())) * 2});
    }
    EXPECT_GT(most, 2e-4);
    EXPECT_LT(off, 0.01 * most);
  }
}

TEST(AdjustedLattice, SpringsOfTheRigLeaveNoInertiaEither) {
  LatticeDynamicsModel model = bar();
  model.pulls.assign(model.masses.size(), 20);
  model.held.clear();
  AdjustedOptions options = tight();
  const ProxyMotion motion = proxy_motions()[4].motion;
  DrivenLattice driven(model, 0, options, motion);
  const BodyVector rest = driven.body.system().rest();
  driven.drive.places = [&](double part, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled) {
    held.clear();
    pulled.clear();
    for (size_t n = 0; n < model.masses.size(); ++n)
      pulled.push_back(driven.moves(rest.node(n), driven.time + part * driven.h));
  };
  driven.body.start(driven.drive);
  double worst = 0;
  for (int s = 0; s < 24; ++s) {
    EXPECT_TRUE(driven.step(1.0 / 96).sound);
    worst = std::max(worst, largest(driven.swing()));
  }
  EXPECT_LT(worst, 1e-5);
}

TEST(AdjustedLattice, BitsDoNotDependOnThreads) {
  BodyVector end[2];
  for (const int threads : {1, 4}) {
    set_thread_count(threads);
    LatticeDynamicsModel model = test::lattice_bar({8, 24, 8}, 0.02);
    model.keep_volume = true;
    DrivenLattice driven(model, 0.4, {}, proxy_motions()[5].motion);
    for (int s = 0; s < 4; ++s) driven.step(1.0 / 48);
    end[threads == 1 ? 0 : 1] = driven.body.now.position;
  }
  set_thread_count(0);
  EXPECT_TRUE((end[0].array() == end[1].array()).all());
}

TEST(AdjustedLattice, RigidProxiesWithoutWeightNeedNoEquilibria) {
  const auto motions = proxy_motions();
  for (const size_t i : {size_t{1}, size_t{4}, size_t{5}}) {
    DrivenLattice driven(bar(), 0.5, {}, motions[i].motion, Vec3d::Zero());
    int solved = 0;
    for (int s = 0; s < 4; ++s) solved += driven.step(1.0 / 96).solved;
    EXPECT_EQ(solved > 0, i == 5) << motions[i].name;
  }
}

}  // namespace
}  // namespace supple
