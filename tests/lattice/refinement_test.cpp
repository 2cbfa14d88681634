// Convergence under refinement to the solution of eight-point quadrature.
#include <gtest/gtest.h>

#include "lattice/reference_support.h"
#include "lattice/solve_options.h"
#include "supple/solve/newton.h"

namespace supple::testing {
namespace {

using reference::Quadrature;

// A bar of 2 x 1 x 1 with n cells across, one end turned by 90° about its axis.
struct Bar {
  int n;
  bool sides_held;  // held to the twist all over its surface, so that the solution is smooth
  Twins twins;
  Eigen::VectorXd start;

  Bar(int cells, bool held)
      : n(cells),
        sides_held(held),
        twins(
            box_cells(2 * cells, cells, cells), 1.0 / cells, even_moduli,
            [cells, held](const Vec3i& p) {
              return p[0] == 0 || p[0] == 2 * cells ||
                     (held && (p[1] % cells == 0 || p[2] % cells == 0));
            },
            60),
        start(twins.body.rest()) {
    for (Eigen::Index i = 0; i < start.size(); i += 3) {
      const double along = start[i] / 2, angle = M_PI / 2 * (held ? along * along : along),
                   c = std::cos(angle), s = std::sin(angle);
      const double y = start[i + 1] - 0.5, z = start[i + 2] - 0.5;
      start[i + 1] = 0.5 + c * y - s * z;
      start[i + 2] = 0.5 + s * y + c * z;
    }
  }

  Eigen::VectorXd ours() {
    BlockVector<double> x = twins.blocks<double>(start);
    NewtonWork<LatticeSystem> work(twins.system);
    const NewtonReport report = solve_newton(twins.system, x, work, newton_options(1e-7));
    EXPECT_TRUE(report.converged) << report.residual;
    return twins.plain(x);
  }

  Eigen::VectorXd gauss() const {
    Eigen::VectorXd x = start;
    EXPECT_LT(reference::equilibrium(twins.body, Quadrature::gauss, 1e-8, x), 1e-8);
    return x;
  }

  // Root of the mean square distance of two solutions, at the nodes of this one.
  double distance(const Eigen::VectorXd& x, const Bar& fine, const Eigen::VectorXd& y) const {
    double sum = 0;
    const int ratio = fine.n / n;
    for (const Vec3i& node : twins.body.nodes())
      sum += (x.segment<3>(3 * twins.body.index(node)) -
              y.segment<3>(3 * fine.twins.body.index(node * ratio)))
                 .squaredNorm();
    return std::sqrt(sum / static_cast<double>(twins.body.nodes().size()));
  }
};

struct Orders {
  double ours, gauss;
};

// How fast both quadratures come nearer to one fine solution when the spacing is halved: they have
// the same limit.
Orders orders(const char* what, bool sides_held) {
  Bar finest(32, sides_held);
  const Eigen::VectorXd limit = finest.ours();
  std::vector<double> ours, gauss;
  for (const int n : {4, 8, 16}) {
    Bar bar(n, sides_held);
    ours.push_back(bar.distance(bar.ours(), finest, limit));
    if (n < 16) gauss.push_back(bar.distance(bar.gauss(), finest, limit));
  }
  const Orders result{std::log2(ours[1] / ours[2]), std::log2(gauss[0] / gauss[1])};
  std::printf("%s: ours %.3g %.3g %.3g, eight points %.3g %.3g; orders %.2f and %.2f\n", what,
              ours[0], ours[1], ours[2], gauss[0], gauss[1], result.ours, result.gauss);
  return result;
}

TEST(Refinement, ATwistHeldAllAroundConvergesAtSecondOrder) {
  const Orders measured = orders("held all around", true);
  EXPECT_GT(measured.ours, 1.8);
  EXPECT_GT(measured.gauss, 1.5);
}

// Where held ends meet free sides stress is singular, which costs any element some order.
TEST(Refinement, ATwistedBarConvergesToEightPointQuadrature) {
  const Orders measured = orders("free sides", false);
  EXPECT_GT(measured.ours, 1.7);
  EXPECT_GT(measured.gauss, 1.4);
}

// The same equations, solved by the lattice's multigrid and by the reference's factorisation.
TEST(Refinement, EightPointsFindTheReferencesTwistedBar) {
  for (const bool held : {false, true}) {
    Bar bar(8, held);
    const Eigen::VectorXd expected = bar.gauss(), stabilised = bar.ours();
    bar.twins.system.use_eight_points();
    const Eigen::VectorXd found = bar.ours();
    const double error = (found - expected).lpNorm<Eigen::Infinity>(),
                 apart = (stabilised - expected).lpNorm<Eigen::Infinity>();
    std::printf("eight points: %.2g from the reference, stabilised %.2g\n", error, apart);
    EXPECT_LT(error, 1e-7);
    EXPECT_GT(apart, 1e-3);
  }
}

}  // namespace
}  // namespace supple::testing
