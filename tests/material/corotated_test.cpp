// Corotated elasticity against a plain implementation, finite differences and exact eigenvalue
// projections, for scalars and lanes in both precisions on every instruction set this machine has.
#include "supple/material/differential.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/math/simd.h"
#include "support/corotated_reference.h"
#include "support/test_support.h"

#define SUPPLE_KERNEL_FILE "material/corotated_test.cpp"
#include "supple/math/for_each_target.h"

#include "supple/material/corotated.h"
#include "supple/math/svd3.h"

#ifndef SUPPLE_COROTATED_TEST_TYPES
#define SUPPLE_COROTATED_TEST_TYPES
namespace supple {

/// Deformation gradients and what the templates make of them; entries are stored number by number,
/// padded to a multiple of every width.
template <class Scalar>
struct MaterialTrial {
  explicit MaterialTrial(size_t n)
      : count((n + 15) / 16 * 16),
        f(9 * count, 0),
        mu(count, 1),
        lambda(count, 1),
        energy(count),
        stress(9 * count),
        turning(3 * count),
        derivative(81 * count) {}
  size_t count;
  std::vector<Scalar> f, mu, lambda;        // f row by row
  std::vector<Scalar> energy, stress;       // of the auxiliary part
  std::vector<Scalar> turning, derivative;  // derivative: 9 numbers of dP for each entry of dF
};

}  // namespace supple
#endif

SUPPLE_KERNELS_BEGIN

template <class Scalar>
HWY_INLINE Scalar read_lanes(const Scalar* from, Scalar) {
  return *from;
}
template <class Scalar>
HWY_INLINE Wide<Scalar> read_lanes(const Scalar* from, Wide<Scalar>) {
  return load(from);
}
template <class Scalar>
HWY_INLINE void write_lanes(Scalar value, Scalar* to) {
  *to = value;
}
template <class Scalar>
HWY_INLINE void write_lanes(Wide<Scalar> value, Scalar* to) {
  store(value, to);
}

template <class T, class Scalar>
void try_material(MaterialTrial<Scalar>& t, const DifferentialRule<Scalar>& rule) {
  const size_t n = t.count;
  for (size_t i = 0; i < n; i += sizeof(T) / sizeof(Scalar)) {
    const auto in = [&](const std::vector<Scalar>& v, size_t k) {
      return read_lanes(&v[k * n + i], T());
    };
    const auto matrix = [&](const auto& get) {
      return Matrix3<T>{get(0), get(1), get(2), get(3), get(4), get(5), get(6), get(7), get(8)};
    };
    const auto put = [&](const Matrix3<T>& m, Scalar* to) {
      size_t k = 0;
      for (const T& value : {m.a00, m.a01, m.a02, m.a10, m.a11, m.a12, m.a20, m.a21, m.a22})
        write_lanes(value, to + k++ * n);
    };
    const T mu = in(t.mu, 0), lambda = in(t.lambda, 0);
    const Svd3<T> svd = svd3(matrix([&](size_t k) { return in(t.f, k); }));
    const T trace = svd.sigma.x + svd.sigma.y + svd.sigma.z;
    write_lanes(auxiliary_energy(trace, mu, lambda), &t.energy[i]);
    const Matrix3<T> r = rotation_matrix(polar_rotation(svd));
    const T p = auxiliary_stress(trace, mu, lambda);
    put({p * r.a00, p * r.a01, p * r.a02, p * r.a10, p * r.a11, p * r.a12, p * r.a20, p * r.a21,
         p * r.a22},
        &t.stress[i]);
    const Vector3<T> turning = turning_stiffness(svd.sigma, mu, lambda, rule);
    write_lanes(turning.x, &t.turning[i]);
    write_lanes(turning.y, &t.turning[n + i]);
    write_lanes(turning.z, &t.turning[2 * n + i]);
    const Symmetric3<T> l = turned_diagonal(svd.v, turning);
    for (size_t k = 0; k < 9; ++k) {
      const Matrix3<T> df = matrix([k](size_t entry) { return T(Scalar(entry == k ? 1 : 0)); });
      put(auxiliary_differential(r, l, lambda, df), &t.derivative[9 * k * n + i]);
    }
  }
}

void try_doubles(MaterialTrial<double>& t, const DifferentialRule<double>& rule, bool wide) {
  if (wide)
    try_material<WideDouble>(t, rule);
  else
    try_material<double>(t, rule);
}
void try_floats(MaterialTrial<float>& t, const DifferentialRule<float>& rule, bool wide) {
  if (wide)
    try_material<WideFloat>(t, rule);
  else
    try_material<float>(t, rule);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {

SUPPLE_KERNEL(try_doubles);
SUPPLE_KERNEL(try_floats);

namespace {

using namespace testing::reference;

void run(MaterialTrial<double>& t, Differential kind, bool wide) {
  SUPPLE_DISPATCH(try_doubles)(t, differential_rule<double>(kind), wide);
}
void run(MaterialTrial<float>& t, Differential kind, bool wide) {
  SUPPLE_DISPATCH(try_floats)(t, differential_rule<float>(kind), wide);
}

class Corotated : public ::testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  void SetUp() override { set_widest_target(std::get<0>(GetParam())); }
  void TearDown() override { set_widest_target(""); }
  static bool wide() { return std::get<1>(GetParam()); }
};

struct Sample {
  Mat3d f;
  Moduli m;
};

Mat3d random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Quatd(normal(random), normal(random), normal(random), normal(random))
      .normalized()
      .toRotationMatrix();
}

// Gradients of all kinds, a good part of them inverted or nearly flat: random entries, and random
// rotations of chosen stretches. Poisson's ratios from 0 to 0.49.
std::vector<Sample> random_samples(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<Sample> samples(count);
  for (size_t s = 0; s < count; ++s) {
    Mat3d& f = samples[s].f;
    if (s % 2 == 0) {
      for (int i = 0; i < 9; ++i) f(i / 3, i % 3) = (s % 4 ? 0.4 : 1.0) * normal(random);
      if (s % 4) f += Mat3d::Identity();
    } else {
      Vec3d stretch(2 * part(random), 2 * part(random), 2 * part(random));
      if (s % 3 == 0) stretch[2] *= -1;
      if (s % 5 == 0) stretch[1] *= 1e-3;
      if (s % 7 == 0) stretch[0] = stretch[1];
      f = random_rotation(random) * stretch.asDiagonal() * random_rotation(random);
    }
    const double poisson = 0.49 * part(random);
    samples[s].m = {1, 2 * poisson / (1 - 2 * poisson)};
  }
  return samples;
}

template <class Scalar>
MaterialTrial<Scalar> trial_of(const std::vector<Sample>& samples) {
  MaterialTrial<Scalar> t(samples.size());
  for (size_t s = 0; s < samples.size(); ++s) {
    for (size_t k = 0; k < 9; ++k)
      t.f[k * t.count + s] =
          static_cast<Scalar>(samples[s].f(static_cast<int>(k / 3), static_cast<int>(k % 3)));
    t.mu[s] = static_cast<Scalar>(samples[s].m.mu);
    t.lambda[s] = static_cast<Scalar>(samples[s].m.lambda);
  }
  return t;
}

// The whole density and stress: the Laplace part added.
template <class Scalar>
double whole_energy(const MaterialTrial<Scalar>& t, const Sample& sample, size_t s) {
  return static_cast<double>(t.energy[s]) + sample.m.mu * sample.f.squaredNorm();
}
template <class Scalar>
Mat3d whole_stress(const MaterialTrial<Scalar>& t, const Sample& sample, size_t s) {
  Mat3d p = 2 * sample.m.mu * sample.f;
  for (size_t k = 0; k < 9; ++k)
    p(static_cast<int>(k / 3), static_cast<int>(k % 3)) +=
        static_cast<double>(t.stress[k * t.count + s]);
  return p;
}
// As stress_derivative: columns of F after one another.
template <class Scalar>
Matrix9 whole_derivative(const MaterialTrial<Scalar>& t, const Moduli& m, size_t s) {
  Matrix9 h = 2 * m.mu * Matrix9::Identity();
  const auto place = [](size_t k) { return static_cast<int>(3 * (k % 3) + k / 3); };
  for (size_t in = 0; in < 9; ++in)
    for (size_t out = 0; out < 9; ++out)
      h(place(out), place(in)) += static_cast<double>(t.derivative[(9 * in + out) * t.count + s]);
  return h;
}

// The largest turning stiffness the formula has, without limits, over mu.
double largest_turning(const Sample& s) {
  const Vec3d sigma = signed_svd(s.f).sigma;
  const double numerator = s.m.lambda * (sigma.sum() - 3) - 2 * s.m.mu;
  double largest = -1e300;
  for (int i = 0; i < 3; ++i)
    largest = std::max(largest, numerator / (sigma[i] + sigma[(i + 1) % 3]));
  return largest / s.m.mu;
}

double least_sum(const Mat3d& f) {
  const Vec3d sigma = signed_svd(f).sigma;
  return sigma[1] + sigma[2];
}

// Whether a matrix has no eigenvalue below -shift: its Cholesky factorisation, shifted, succeeds.
bool is_definite(Matrix9 m, double shift) {
  for (int k = 0; k < 9; ++k) {
    const double pivot = m(k, k) + shift;
    if (!(pivot > 0)) return false;
    for (int i = k + 1; i < 9; ++i)
      for (int j = k + 1; j < 9; ++j) m(i, j) -= m(i, k) * m(k, j) / pivot;
  }
  return true;
}

TEST_P(Corotated, EnergyAndStressAreThoseOfTheFormulas) {
  const std::vector<Sample> samples = random_samples(2000, 1);
  MaterialTrial<double> t = trial_of<double>(samples);
  run(t, Differential::exact, wide());
  MaterialTrial<float> single = trial_of<float>(samples);
  run(single, Differential::exact, wide());
  for (size_t s = 0; s < samples.size(); ++s) {
    const double energy = density(samples[s].f, samples[s].m);
    const double size = samples[s].m.lambda + samples[s].m.mu;
    EXPECT_NEAR(whole_energy(t, samples[s], s), energy, 1e-13 * (energy + 10 * size));
    EXPECT_NEAR(whole_energy(single, samples[s], s), energy, 2e-6 * (energy + 10 * size));
    // The rotation of what is nearly flat or mirrored evenly is anyone's.
    const double sum = least_sum(samples[s].f);
    if (sum < 1e-3) continue;
    const Mat3d p = stress(samples[s].f, samples[s].m);
    const double bound = (p.norm() + 10 * size) * std::max(1.0, 1 / sum);
    EXPECT_LT((whole_stress(t, samples[s], s) - p).norm(), 1e-13 * bound);
    EXPECT_LT((whole_stress(single, samples[s], s) - p).norm(), 2e-6 * bound);
  }
}

TEST_P(Corotated, StressIsTheGradientOfTheEnergy) {
  const std::vector<Sample> samples = random_samples(400, 2);
  MaterialTrial<double> t = trial_of<double>(samples);
  run(t, Differential::exact, wide());
  constexpr double e = 1e-3;
  std::vector<Mat3d> slopes(samples.size());
  for (int k = 0; k < 9; ++k)
    for (const auto& [step, weight] :
         {std::pair{e, 8.0}, {-e, -8.0}, {2 * e, -1.0}, {-2 * e, 1.0}}) {
      std::vector<Sample> moved = samples;
      for (Sample& s : moved) s.f(k / 3, k % 3) += step;
      MaterialTrial<double> at = trial_of<double>(moved);
      run(at, Differential::exact, wide());
      for (size_t s = 0; s < samples.size(); ++s) {
        if (k == 0 && step == e) slopes[s].setZero();
        slopes[s](k / 3, k % 3) += weight * whole_energy(at, moved[s], s) / (12 * e);
      }
    }
  int tried = 0;
  for (size_t s = 0; s < samples.size(); ++s) {
    if (least_sum(samples[s].f) < 0.3) continue;  // the energy has a kink where that vanishes
    ++tried;
    const Mat3d p = whole_stress(t, samples[s], s);
    EXPECT_LT((p - slopes[s]).norm(), 1e-7 * (p.norm() + samples[s].m.lambda + 1)) << samples[s].f;
  }
  EXPECT_GT(tried, 150);
}

TEST_P(Corotated, ExactDifferentialIsTheDerivativeOfTheStress) {
  const std::vector<Sample> samples = random_samples(400, 3);
  MaterialTrial<double> t = trial_of<double>(samples);
  run(t, Differential::exact, wide());
  constexpr double e = 1e-4;
  std::vector<Matrix9> slopes(samples.size(), Matrix9::Zero());
  for (int k = 0; k < 9; ++k)
    for (const auto& [step, weight] :
         {std::pair{e, 8.0}, {-e, -8.0}, {2 * e, -1.0}, {-2 * e, 1.0}}) {
      std::vector<Sample> moved = samples;
      for (Sample& s : moved) s.f(k % 3, k / 3) += step;
      MaterialTrial<double> at = trial_of<double>(moved);
      run(at, Differential::exact, wide());
      for (size_t s = 0; s < samples.size(); ++s) {
        const Mat3d p = whole_stress(at, moved[s], s);
        slopes[s].col(k) += weight / (12 * e) * Eigen::Map<const Vector9>(p.data());
      }
    }
  int tried = 0;
  for (size_t s = 0; s < samples.size(); ++s) {
    if (least_sum(samples[s].f) < 0.05) continue;
    ++tried;
    const Matrix9 h = whole_derivative(t, samples[s].m, s);
    EXPECT_LT((h - slopes[s]).norm(), 1e-6 * h.norm()) << samples[s].f;
    EXPECT_LT((h - stress_derivative(samples[s].f, samples[s].m)).norm(), 1e-11 * h.norm());
    EXPECT_LT((h - h.transpose()).norm(), 1e-13 * h.norm());
  }
  EXPECT_GT(tried, 200);
}

TEST_P(Corotated, ProjectedElementIsPositiveSemiDefinite) {
  const bool widest = std::get<0>(GetParam()) == simd_targets().front();
  const std::vector<Sample> samples = random_samples(widest ? 100000 : 20000, 4);
  MaterialTrial<double> t = trial_of<double>(samples);
  run(t, Differential::projected, wide());
  MaterialTrial<float> single = trial_of<float>(samples);
  run(single, Differential::projected, wide());
  // Of the element's 24 modes nine see the auxiliary part, with half the spacing as factor: those
  // are checked for all, whole elements for some.
  const auto failures = [&](const auto& trial, double tolerance) {
    return parallel_reduce(
        samples.size(), 500, 0,
        [&](size_t begin, size_t end) {
          int failed = 0;
          for (size_t s = begin; s < end; ++s) {
            const Matrix9 h = whole_derivative(trial, samples[s].m, s);
            const Matrix9 even = (h + h.transpose()) / 2;
            failed += !is_definite(even, 2 * tolerance * samples[s].m.mu);
            const double spacing = 0.01 + static_cast<double>(s % 17);
            if (s % 200 == 0)
              failed += eigenvalues(stabilised_matrix(even, samples[s].m.mu, spacing))[0] <
                        -tolerance * samples[s].m.mu * spacing;
          }
          return failed;
        },
        std::plus<>());
  };
  EXPECT_EQ(failures(t, 1e-12), 0);
  EXPECT_EQ(failures(single, 1e-5), 0);
  // The check sees what is there: the exact matrices of many of these are indefinite.
  run(t, Differential::exact, wide());
  EXPECT_GT(failures(t, 1e-12), static_cast<int>(samples.size() / 10));
}

TEST_P(Corotated, ProjectionIsTheExactOneWhereTheUpperLimitIsIdle) {
  const bool widest = std::get<0>(GetParam()) == simd_targets().front();
  const std::vector<Sample> samples = random_samples(widest ? 1500 : 300, 5);
  MaterialTrial<double> t = trial_of<double>(samples);
  run(t, Differential::projected, wide());
  int tried = 0, indefinite = 0;
  for (size_t s = 0; s < samples.size(); ++s) {
    if (largest_turning(samples[s]) > 10 || least_sum(samples[s].f) < 1e-4) continue;
    ++tried;
    constexpr double spacing = 0.7;
    const Matrix24 exact =
        stabilised_matrix(stress_derivative(samples[s].f, samples[s].m), samples[s].m.mu, spacing);
    const Matrix24 expected = projected(exact);
    indefinite += (expected - exact).norm() > 1e-6;
    const Matrix24 ours =
        stabilised_matrix(whole_derivative(t, samples[s].m, s), samples[s].m.mu, spacing);
    EXPECT_LT((ours - expected).norm(), 1e-12 * exact.norm() + 1e-11 * ours.norm()) << samples[s].f;
  }
  EXPECT_GT(tried, widest ? 1000 : 200);
  EXPECT_GT(indefinite, widest ? 300 : 60);
}

TEST_P(Corotated, TurningStaysWithinItsLimitsForAnyGradient) {
  std::vector<Sample> samples = random_samples(2000, 6);
  for (size_t s = 0; s < samples.size(); ++s) {
    Mat3d& f = samples[s].f;
    switch (s % 8) {
      case 0:
        f.setZero();
        break;
      case 1:
        f.rightCols<2>().setZero();
        break;  // a line
      case 2:
        f.col(2) = f.col(0);
        break;  // a plane
      case 3:
        f = -Mat3d::Identity() * static_cast<double>(s);
        break;  // mirrored
      case 4:
        f *= 1e12;
        break;
      case 5:
        f *= 1e-12;
        break;
      case 6:
        f = f.col(0) * f.row(1) * 1e3;
        break;  // a line, stretched far
      default:
        f(1, 1) = 1e9;
    }
  }
  const auto check = [&](const auto& t) {
    for (size_t s = 0; s < samples.size(); ++s) {
      for (size_t k = 0; k < 3; ++k) {
        const auto turning = static_cast<double>(t.turning[k * t.count + s]);
        EXPECT_GE(turning, -samples[s].m.mu) << samples[s].f;
        EXPECT_LE(turning, 10 * samples[s].m.mu) << samples[s].f;
      }
      EXPECT_TRUE(whole_derivative(t, samples[s].m, s).allFinite()) << samples[s].f;
      EXPECT_TRUE(whole_stress(t, samples[s], s).allFinite()) << samples[s].f;
    }
  };
  MaterialTrial<double> t = trial_of<double>(samples);
  run(t, Differential::projected, wide());
  check(t);
  MaterialTrial<float> single = trial_of<float>(samples);
  run(single, Differential::projected, wide());
  check(single);
}

TEST_P(Corotated, RigidMotionsAreAllThatIsFreeAtRest) {
  std::mt19937 random(7);
  std::vector<Sample> samples = random_samples(64, 7);
  for (Sample& s : samples) s.f = random_rotation(random);
  for (const Differential kind :
       {Differential::exact, Differential::projected, Differential::warped}) {
    MaterialTrial<double> t = trial_of<double>(samples);
    run(t, kind, wide());
    for (size_t s = 0; s < samples.size(); ++s) {
      constexpr double spacing = 2;
      EXPECT_NEAR(whole_energy(t, samples[s], s), 0, 1e-13 * (1 + samples[s].m.lambda));
      EXPECT_LT(whole_stress(t, samples[s], s).norm(), 1e-13 * (1 + samples[s].m.lambda));
      const Matrix24 k =
          stabilised_matrix(whole_derivative(t, samples[s].m, s), samples[s].m.mu, spacing);
      const Eigen::VectorXd values = eigenvalues(k);
      EXPECT_GT(values[0], -1e-12 * spacing);
      EXPECT_LT(values[5], 1e-12 * spacing);
      EXPECT_GT(values[6], 0.5 * spacing);
    }
  }
}

TEST_P(Corotated, ComparisonDifferentialsAreThoseOfTheirPapers) {
  const std::vector<Sample> samples = random_samples(300, 8);
  for (const Differential kind : {Differential::warped, Differential::zhu}) {
    MaterialTrial<double> t = trial_of<double>(samples);
    run(t, kind, wide());
    for (size_t s = 0; s < samples.size(); ++s) {
      if (least_sum(samples[s].f) < 1e-3) continue;
      const Moduli& m = samples[s].m;
      const Mat3d r = signed_svd(samples[s].f).rotation();
      Matrix9 expected;
      for (int k = 0; k < 9; ++k) {
        Mat3d df = Mat3d::Zero();
        df(k % 3, k / 3) = 1;
        const Mat3d turned = r.transpose() * df;
        const Mat3d strain = kind == Differential::zhu ? turned : (turned + turned.transpose()) / 2;
        const Mat3d dp = r * (2 * m.mu * strain + m.lambda * turned.trace() * Mat3d::Identity());
        expected.col(k) = Eigen::Map<const Vector9>(dp.data());
      }
      EXPECT_LT((whole_derivative(t, m, s) - expected).norm(), 1e-10 * expected.norm());
    }
  }
}

// Lanes on every target; plain scalars once, as they do not depend on it.
std::vector<std::tuple<std::string, bool>> every_lane() {
  std::vector<std::tuple<std::string, bool>> result;
  for (const std::string& target : simd_targets()) result.emplace_back(target, true);
  result.emplace_back(simd_targets().front(), false);
  return result;
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, Corotated, ::testing::ValuesIn(every_lane()),
                         [](const auto& info) {
                           return std::get<0>(info.param) +
                                  (std::get<1>(info.param) ? "_lanes" : "_scalar");
                         });

}  // namespace
}  // namespace supple
#endif
