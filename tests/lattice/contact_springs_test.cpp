// Springs of contacts [McAdams 2011, section 7]: k (x - t)ᵀ M (x - t) / 2 with M = (1 - a) n nᵀ +
// a I at points inside cells, in energy, force, linearisation and multigrid.
#include <gtest/gtest.h>

#include "lattice/lattice_cases.h"
#include "lattice/lattice_support.h"
#include "lattice/reference_support.h"
#include "lattice/solve_options.h"

namespace supple::testing {
namespace {

constexpr double h = 0.125;

// Springs as contacts make them, all over the surface of a box of cells.
struct Contacts {
  std::vector<Vec3d> points;
  std::vector<ActiveSpring> springs;

  Contacts(const Vec3i& size, size_t count, double stiffness, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> part(0, 1);
    for (size_t i = 0; i < count; ++i) {
      Vec3d at(part(random) * size[0], part(random) * size[1], part(random) * size[2]);
      const auto side = static_cast<int>(i % 3);
      at[side] = i % 2 == 0 ? 0 : size[side];
      const Vec3d n =
          Vec3d(part(random) - 0.5, part(random) - 0.5, part(random) - 0.5).normalized();
      const double a = 0.1 + 0.4 * part(random);
      const Mat3d m = stiffness * ((1 - a) * n * n.transpose() + a * Mat3d::Identity());
      const auto number = [&](int r, int c) { return static_cast<float>(m(r, c)); };
      points.push_back(at);
      springs.push_back(
          {{static_cast<int32_t>(i),
            {number(0, 0), number(1, 1), number(2, 2), number(1, 2), number(0, 2), number(0, 1)}},
           h * at + 0.3 * h * n});
    }
  }
};

reference::Moduli moduli(const Vec3i&) { return {1, 1.5}; }

TEST(ContactSprings, ForceAndLinearisationAreDerivatives) {
  const Vec3i size(8, 6, 5);
  Twins twins(box_cells(size[0], size[1], size[2]), h, moduli,
              [](const Vec3i& n) { return n[0] == 0; });
  LatticeSystem& s = twins.system;
  const Contacts contacts(size, 40, 20 * h, 1);
  const Eigen::VectorXd x = twins.body.rest() + 0.2 * h * twins.random_vector(2);
  const double before = s.energy(twins.blocks<double>(x));
  s.place_points(contacts.points);
  s.set_springs(contacts.springs);
  BlockVector<double> force = s.zero();
  const double energy = s.force(twins.blocks<double>(x), force);
  EXPECT_GT(std::abs(energy - before), 0.01);
  for (unsigned seed = 3; seed < 7; ++seed) {
    const Eigen::VectorXd d = twins.random_vector(seed);
    const auto at = [&](double t) { return s.energy(twins.blocks<double>(x + t * d)); };
    constexpr double e = 1e-4;
    const double slope = (8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * e);
    EXPECT_NEAR(-twins.plain(force).dot(d), slope, 1e-6 * twins.plain(force).norm() * d.norm());
    s.linearise(twins.blocks<double>(x), Differential::exact);
    BlockVector<double> y = s.zero(), ahead = s.zero(), behind = s.zero();
    s.apply(twins.blocks<double>(d), y);
    s.force(twins.blocks<double>(x + 1e-5 * d), ahead);
    s.force(twins.blocks<double>(x - 1e-5 * d), behind);
    const Eigen::VectorXd change = (twins.plain(behind) - twins.plain(ahead)) / 2e-5;
    EXPECT_LT((twins.plain(y) - change).norm(), 5e-6 * change.norm());
  }
}

TEST(ContactSprings, KeepTheStiffnessDefiniteAndSymmetric) {
  const Vec3i size(6, 6, 6);
  Twins twins(box_cells(6, 6, 6), h, moduli, [](const Vec3i&) { return false; });
  LatticeSystem& s = twins.system;
  const Contacts contacts(size, 60, 100 * h, 5);
  s.place_points(contacts.points);
  s.set_springs(contacts.springs);
  // Cells turned inside out included.
  const Eigen::VectorXd x = twins.body.rest() + 1.5 * h * twins.random_vector(6);
  s.linearise(twins.blocks<double>(x), Differential::projected);
  for (unsigned seed = 7; seed < 40; ++seed) {
    const Eigen::VectorXd a = twins.random_vector(seed), b = twins.random_vector(seed + 100);
    BlockVector<double> ka = s.zero(), kb = s.zero();
    s.apply(twins.blocks<double>(a), ka);
    s.apply(twins.blocks<double>(b), kb);
    EXPECT_GT(a.dot(twins.plain(ka)), 0);
    EXPECT_NEAR(b.dot(twins.plain(ka)), a.dot(twins.plain(kb)),
                1e-5 * a.norm() * twins.plain(kb).norm());
  }
}

// As many iterations with contacts as without, up to half as many more, for stiffnesses around the
// default one (8 times the flesh's) and a hundred times it.
TEST(ContactSprings, MultigridConvergesAsWithoutThem) {
  for (const double stiffness : {2.0, 8.0, 30.0}) {
    const Vec3i size(24, 20, 16);
    Twins twins(box_cells(size[0], size[1], size[2]), h, moduli,
                [](const Vec3i& n) { return n[0] == 0; });
    LatticeSystem& s = twins.system;
    const BlockVector<double> b = twins.blocks<double>(twins.random_vector(9));
    const LinearOptions options = linear_options(LinearMethod::multigrid_cg, 1e-6, 200);
    const auto cycles = [&] {
      s.linearise(s.rest(), Differential::projected);
      BlockVector<float> dx = s.zero_step();
      const LinearReport report = s.solve(b, dx, options);
      EXPECT_LE(report.residual, 1e-6);
      return report.iterations;
    };
    const int without = cycles();
    // Half of the surface touches: a point for every cell there, Young's modulus is 2.6.
    const Contacts contacts(size, 900, stiffness * 2.6 * h, 11);
    s.place_points(contacts.points);
    s.set_springs(contacts.springs);
    const int with = cycles();
    std::printf("stiffness %g: %d cycles without contacts, %d with\n", stiffness, without, with);
    EXPECT_LE(with, 1.5 * without) << stiffness;
  }
}

}  // namespace
}  // namespace supple::testing
