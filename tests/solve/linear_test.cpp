// Conjugate gradients, eigenvalue estimates, smoothers and the V-cycle on small systems whose
// answers dense linear algebra gives.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <random>

#include "supple/solve/conjugate_gradient.h"
#include "supple/solve/multigrid_cycle.h"

namespace supple::dense {

/// A dense vector with the verbs the solvers ask for.
struct Vector {
  Eigen::VectorXd of;
  void set_zero() { of.setZero(); }
  double operator[](int i) const { return of[i]; }
};

inline double dot(const Vector& a, const Vector& b) { return a.of.dot(b.of); }
inline double dot_mixed(const Vector& a, const Vector& b) { return dot(a, b); }
inline void add_scaled(double s, const Vector& x, Vector& y) { y.of += s * x.of; }
inline double add_scaled_norm(double s, const Vector& x, Vector& y) {
  y.of += s * x.of;
  return y.of.squaredNorm();
}
inline void scale_add(const Vector& x, double s, Vector& y) { y.of = x.of + s * y.of; }

/// A dense operator that counts its products.
struct Matrix {
  Eigen::MatrixXd of;
  mutable int products = 0;
  double product(const Vector& x, Vector& y) const {
    ++products;
    y.of = of * x.of;
    return x.of.dot(y.of);
  }
};

}  // namespace supple::dense

namespace supple {
namespace {

// Symmetric, with given eigenvalues.
Eigen::MatrixXd matrix_with(const Eigen::VectorXd& eigenvalues, unsigned seed) {
  std::srand(seed);
  const Eigen::MatrixXd any = Eigen::MatrixXd::Random(eigenvalues.size(), eigenvalues.size());
  const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ();
  return q * eigenvalues.asDiagonal() * q.transpose();
}

struct Solve {
  dense::Matrix a;
  Eigen::VectorXd diagonal;  // of the preconditioner
  dense::Vector r, p, q, z, x;

  explicit Solve(const Eigen::MatrixXd& m, const Eigen::VectorXd& b)
      : a{m}, diagonal(Eigen::VectorXd::Ones(b.size())), r{b}, p{0 * b}, q{0 * b}, z{0 * b}, x{b} {}

  LinearReport run(const LinearLimits& limits) {
    return conjugate_gradient(
        a,
        [&] {
          z.of = r.of.cwiseQuotient(diagonal);
          return r.of.dot(z.of);
        },
        x, ConjugateGradientWork{r, p, q, z}, limits, true);
  }
};

TEST(ConjugateGradient, SolvesWithinTheNumberOfDistinctEigenvalues) {
  Eigen::VectorXd values(20);
  for (int i = 0; i < 20; ++i) values[i] = 1 + 3 * (i % 4);
  const Eigen::MatrixXd m = matrix_with(values, 1);
  const Eigen::VectorXd b = Eigen::VectorXd::Random(20);
  Solve solve(m, b);
  const LinearReport report = solve.run({1e-10, 100});
  EXPECT_EQ(report.iterations, 4);
  EXPECT_EQ(report.products, solve.a.products);
  EXPECT_EQ(report.residuals.size(), 4u);
  EXPECT_LT((solve.x.of - m.ldlt().solve(b)).norm(), 1e-9);
  EXPECT_LT((b - m * solve.x.of - solve.r.of).norm(), 1e-12);  // r is the residual at the end
  EXPECT_FALSE(report.indefinite);
}

TEST(ConjugateGradient, ResidualIsRelativeAndTrue) {
  const Eigen::MatrixXd m = matrix_with(Eigen::VectorXd::LinSpaced(40, 0.1, 30), 2);
  const Eigen::VectorXd b = 1e6 * Eigen::VectorXd::Random(40);
  for (const double tolerance : {1e-2, 1e-5, 1e-8}) {
    Solve solve(m, b);
    const LinearReport report = solve.run({tolerance, 1000});
    EXPECT_LE(report.residual, tolerance);
    EXPECT_NEAR((b - m * solve.x.of).norm() / b.norm(), report.residual, 1e-6 * tolerance);
    if (report.iterations > 1) {
      EXPECT_GT(report.residuals[report.residuals.size() - 2], tolerance);
    }
  }
}

TEST(ConjugateGradient, APreconditionerThatIsTheMatrixTakesOneIteration) {
  Eigen::VectorXd d = Eigen::VectorXd::LinSpaced(30, 1, 1e6);
  Solve solve(d.asDiagonal(), Eigen::VectorXd::Random(30));
  solve.diagonal = d;
  EXPECT_EQ(solve.run({1e-9, 50}).iterations, 1);
}

TEST(ConjugateGradient, SaysWhenTheOperatorIsIndefinite) {
  Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(20, 1, 9);
  values[3] = -2;
  Solve solve(matrix_with(values, 4), Eigen::VectorXd::Random(20));
  const LinearReport report = solve.run({1e-10, 100});
  EXPECT_TRUE(report.indefinite);
  EXPECT_TRUE(solve.x.of.allFinite());
  // And when the preconditioner is.
  Solve other(matrix_with(values.cwiseAbs(), 4), Eigen::VectorXd::Random(20));
  other.diagonal.setConstant(-1);
  EXPECT_TRUE(other.run({1e-10, 100}).indefinite);
}

TEST(ConjugateGradient, NothingToDoAndNothingFinite) {
  const Eigen::MatrixXd m = matrix_with(Eigen::VectorXd::LinSpaced(5, 1, 2), 5);
  Solve zero(m, Eigen::VectorXd::Zero(5));
  const LinearReport none = zero.run({1e-3, 10});
  EXPECT_EQ(none.iterations, 0);
  EXPECT_EQ(none.residual, 0);
  EXPECT_EQ(zero.x.of, Eigen::VectorXd::Zero(5));
  Solve bad(m, Eigen::VectorXd::Constant(5, std::nan("")));
  EXPECT_EQ(bad.run({1e-3, 10}).iterations, 0);
  EXPECT_TRUE(bad.x.of.allFinite());
  Solve few(m, Eigen::VectorXd::Random(5));
  EXPECT_EQ(few.run({0, 2}).iterations, 2);
}

TEST(Lanczos, FindsTheLargestEigenvalueOfThePreconditionedOperator) {
  const Eigen::MatrixXd m = matrix_with(Eigen::VectorXd::LinSpaced(60, 0.1, 7), 6);
  Solve solve(m, Eigen::VectorXd::Random(60));
  solve.diagonal = m.diagonal();
  const Eigen::VectorXd root = m.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = root.asDiagonal() * m * root.asDiagonal();
  const double largest =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues().maxCoeff();
  const auto estimate = [&](int steps) {
    Solve copy = solve;
    const LanczosMatrix found = lanczos_matrix(
        copy.a,
        [&](auto& z) {
          z.of = copy.r.of.cwiseQuotient(copy.diagonal);
          return copy.r.of.dot(z.of);
        },
        ConjugateGradientWork{copy.r, copy.p, copy.q, copy.z}, steps);
    EXPECT_LE(found.largest(1), found.largest(found.steps));
    return found.largest(found.steps);
  };
  double before = 0;
  for (const int steps : {1, 4, 8, 16}) {
    const double now = estimate(steps);
    EXPECT_LE(now, largest * (1 + 1e-12));  // from below
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_GT(estimate(8), 0.9 * largest);
  EXPECT_NEAR(estimate(40), largest, 1e-6 * largest);
}

// One error component of eigenvalue t after a smoother's steps from x = 0, b = 0.
double damping_of(const Smoother& smoother, double largest, double t) {
  SmootherSteps steps(smoother, largest, SmootherSteps::Start::anywhere);
  double error = 1, direction = 0;
  for (int i = 0; i < smoother.steps; ++i) {
    direction = steps.momentum * direction - steps.weight * t * error;
    error += direction;
    steps.advance();
  }
  return error;
}

TEST(Smoother, IsTheChebyshevPolynomialOfItsRange) {
  for (const int degree : {1, 2, 3, 5}) {
    const Smoother smoother{.steps = degree};
    constexpr double largest = 2.3;
    const double high = smoother.margin * largest, low = largest / smoother.range;
    const auto polynomial = [&](double at) {
      return std::abs(at) <= 1 ? std::cos(degree * std::acos(at))
                               : std::copysign(std::cosh(degree * std::acosh(std::abs(at))),
                                               at < 0 && degree % 2 ? -1 : 1);
    };
    const double centre = (high + low) / (high - low);
    for (double t = 0; t <= high; t += 0.01)
      EXPECT_NEAR(damping_of(smoother, largest, t),
                  polynomial(centre - 2 * t / (high - low)) / polynomial(centre), 1e-12)
          << degree << " " << t;
  }
}

TEST(Smoother, JacobiIsHeldBackFromDiverging) {
  const Smoother smoother{.kind = Smoother::Kind::jacobi, .steps = 4};
  for (const double largest : {1.5, 2.0, 2.9, 5.6}) {
    for (double t = 0.01; t <= largest; t += 0.01)
      EXPECT_LT(std::abs(damping_of(smoother, largest, t)), 1) << largest << " " << t;
  }
  // The wanted weight where it does no harm.
  EXPECT_NEAR(damping_of(smoother, 2.0, 1.0), std::pow(0.2, 4), 1e-12);
}

// Poisson's equation on a line as a multigrid backend.
class Line {
 public:
  explicit Line(int levels) {
    for (int l = 0; l < levels; ++l) {
      const int n = (1 << (levels - l + 1)) - 1;
      Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
      const double scale = std::pow(0.5, l);  // rediscretised with spacing 2^l
      for (int i = 0; i < n; ++i) {
        a(i, i) = 2 * scale;
        if (i > 0) a(i, i - 1) = a(i - 1, i) = -scale;
      }
      m_a.push_back(a);
      x.push_back(Eigen::VectorXd::Zero(n));
      b.push_back(Eigen::VectorXd::Zero(n));
      m_direction.push_back(Eigen::VectorXd::Zero(n));
    }
  }
  size_t levels() const { return m_a.size(); }
  double largest_eigenvalue(size_t) const { return 2; }
  void start_smoothing(size_t l, const SmootherSteps& s) {
    x[l] = s.weight * b[l].cwiseQuotient(m_a[l].diagonal());
    keep(l, s, x[l]);
  }
  void smooth(size_t l, const SmootherSteps& s) {
    const Eigen::VectorXd pull = (b[l] - m_a[l] * x[l]).cwiseQuotient(m_a[l].diagonal());
    Eigen::VectorXd direction = s.weight * pull;
    if (s.before() == SmootherSteps::Before::in_x) direction += s.momentum * x[l];
    if (s.before() == SmootherSteps::Before::kept) direction += s.momentum * m_direction[l];
    x[l] += direction;
    keep(l, s, direction);
  }
  void restrict_residual(size_t l) {
    b[l + 1] = interpolation(l).transpose() * (b[l] - m_a[l] * x[l]);
  }
  void prolong(size_t l) { x[l] += interpolation(l) * x[l + 1]; }
  void solve_coarsest() { x.back() = m_a.back().ldlt().solve(b.back()); }
  const Eigen::MatrixXd& matrix() const { return m_a.front(); }

  std::vector<Eigen::VectorXd> x, b;

 private:
  // What is not kept is not there.
  void keep(size_t l, const SmootherSteps& s, const Eigen::VectorXd& direction) {
    m_direction[l] = direction;
    if (!s.keeps()) m_direction[l].setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  Eigen::MatrixXd interpolation(size_t l) const {
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(x[l].size(), x[l + 1].size());
    for (int c = 0; c < p.cols(); ++c)
      for (const int o : {-1, 0, 1}) p(2 * c + 1 + o, c) = o == 0 ? 1 : 0.5;
    return p;
  }
  std::vector<Eigen::MatrixXd> m_a;
  std::vector<Eigen::VectorXd> m_direction;
};

// Sizes of the eigenvalues of the error propagation I - M A of a cycle M on a line.
Eigen::ArrayXd error_sizes(const Cycle& cycle, int levels) {
  Line line(levels);
  const auto n = line.b[0].size();
  Eigen::MatrixXd m(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    line.b[0] = Eigen::VectorXd::Unit(n, i);
    multigrid_cycle(line, cycle);
    m.col(i) = line.x[0];
  }
  EXPECT_LT((m - m.transpose()).norm(), 1e-12 * m.norm());
  // Symmetric in the norm of A.
  const Eigen::MatrixXd root = line.matrix().llt().matrixL();
  const Eigen::MatrixXd e = Eigen::MatrixXd::Identity(n, n) - root.transpose() * m * root;
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(e).eigenvalues().cwiseAbs();
}

TEST(MultigridCycle, IsASymmetricConvergentIteration) {
  for (const Smoother::Kind kind : {Smoother::Kind::chebyshev, Smoother::Kind::jacobi}) {
    const Smoother smoother{.kind = kind, .steps = 2, .range = 10};
    for (const int levels : {1, 2, 5})
      // Two steps before and after damp the rough part by 1 / T₂(1.2)² = 0.28 at least.
      for (const size_t twice : {0, 1, 2})
        EXPECT_LT(error_sizes({smoother, twice}, levels).maxCoeff(), levels == 1 ? 1e-10 : 0.29)
            << levels << " " << twice;
    // Coarse levels that are corrected twice leave less undone; of two levels none is.
    EXPECT_LT(error_sizes({smoother, 2}, 6).sum(), 0.99 * error_sizes({smoother, 0}, 6).sum());
    EXPECT_EQ(error_sizes({smoother, 2}, 2).sum(), error_sizes({smoother, 0}, 2).sum());
  }
}

// Where the largest eigenvalue is large, what is not damped well does not grow with it.
TEST(Smoothers, ReachAsFarDownWhereSpringsAreHard) {
  const Smoother plain;
  EXPECT_EQ(plain.fitted(3.0).steps, plain.steps);
  const auto worst = [](const Smoother& smoother, double largest) {
    double result = 0;
    for (double t = 2.0 / 14; t <= largest; t += 0.01)
      result = std::max(result, std::abs(damping_of(smoother, largest, t)));
    return result;
  };
  const double usual = worst(plain, 2), hard = worst(plain, 4);
  EXPECT_GT(hard, 1.5 * usual);
  EXPECT_LT(worst(plain.fitted(4), 4), 0.8 * hard);
  const Smoother jacobi{.kind = Smoother::Kind::jacobi};
  EXPECT_EQ(jacobi.fitted(5).steps, jacobi.steps);
}

}  // namespace
}  // namespace supple
