#include "supple/material/law_functions.h"

#include <Eigen/Eigenvalues>

// Without a kernel file this compiles the laws for the baseline alone, for scalars.
#include "supple/math/for_each_target.h"

#include "supple/material/corotated.h"
#include "supple/material/invertible_stvk.h"
#include "supple/material/linear.h"
#include "supple/material/neo_hookean.h"
#include "supple/material/stvk.h"
#include "supple/material/stvk_volume.h"

namespace supple {
namespace {

namespace lanes = HWY_NAMESPACE;
using Matrix = lanes::Matrix3<double>;

Matrix from(const Mat3d& m) {
  return {m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2)};
}

Mat3d to(const Matrix& m) {
  Mat3d result;
  result << m.a00, m.a01, m.a02, m.a10, m.a11, m.a12, m.a20, m.a21, m.a22;
  return result;
}

// Calls `call(LAW())` with the type of a law.
template <class Call>
auto with_law(Law law, const Call& call) {
  switch (law) {
    case Law::stvk:
      return call(lanes::StvkLaw());
    case Law::stvk_volume:
      return call(lanes::StvkVolumeLaw());
    case Law::neo_hookean:
      return call(lanes::NeoHookeanLaw());
    case Law::corotated:
      return call(lanes::CorotatedLaw());
    case Law::linear:
      return call(lanes::LinearLaw());
    case Law::invertible_stvk:
      break;
  }
  return call(lanes::InvertibleStvkLaw());
}

template <class Matrix>
Matrix without_negative(const Matrix& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(symmetric);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() *
         solver.eigenvectors().transpose();
}

// The linear law's derivative does not depend on F, and is positive semi-definite.
StressDerivative linear_derivative(const Elastic<double>& m) {
  StressDerivative d = StressDerivative::Zero();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      d(4 * i, 4 * j) += m.lambda;
      d(3 * i + j, 3 * i + j) += m.mu;
      d(3 * i + j, 3 * j + i) += m.mu;
    }
  return d;
}

// (a - b)/(x - y), whose limit where x and y meet is given.
double quotient(double difference, double distance, double limit) {
  return std::abs(distance) > 1e-6 ? difference / distance : limit;
}

// In the axes of U and V an isotropic law's derivative falls apart into the Hessian in the
// stretches and, for every two axes, a mode that shears and one that turns, with stiffnesses (gᵢ -
// gⱼ)/(σᵢ - σⱼ) and (gᵢ + gⱼ)/(σᵢ + σⱼ).
template <class LawType>
StressDerivative isotropic_derivative(const Mat3d& f, const Elastic<double>& m, bool projected) {
  const lanes::Svd3<double> svd = lanes::svd3(from(f));
  const Mat3d u = to(rotation_matrix(svd.u)), v = to(rotation_matrix(svd.v));
  const auto d = LawType::principal(svd.sigma, m);
  const Vec3d s(svd.sigma.x, svd.sigma.y, svd.sigma.z);
  const Vec3d g(d.gradient.x, d.gradient.y, d.gradient.z);
  Mat3d h;
  h << d.hessian.xx, d.hessian.xy, d.hessian.xz, d.hessian.xy, d.hessian.yy, d.hessian.yz,
      d.hessian.xz, d.hessian.yz, d.hessian.zz;
  const double stiffest = 1e6 * (m.mu + m.lambda);
  const auto limited = [&](double k) {
    return std::clamp(k, projected ? 0.0 : -stiffest, stiffest);
  };

  StressDerivative inner = StressDerivative::Zero();
  const Mat3d along = projected ? Mat3d(without_negative(h)) : h;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) inner(4 * i, 4 * j) = along(i, j);
  for (int i = 0; i < 3; ++i)
    for (int j = i + 1; j < 3; ++j) {
      const double shear = limited(quotient(g[i] - g[j], s[i] - s[j], h(i, i) - h(i, j)));
      // Where stretches cancel the limit is that of the law with one of them mirrored.
      const double sum = s[i] + s[j];
      const double turn = limited((g[i] + g[j]) / (std::abs(sum) > 1e-9 ? sum : 1e-9));
      const int a = 3 * i + j, b = 3 * j + i;
      inner(a, a) = inner(b, b) = (shear + turn) / 2;
      inner(a, b) = inner(b, a) = (shear - turn) / 2;
    }
  // dP = U (inner : Uᵀ dF V) Vᵀ.
  StressDerivative turn;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) turn(3 * i + j, 3 * k + l) = u(i, k) * v(j, l);
  return turn * inner * turn.transpose();
}

}  // namespace

Elastic<double> elastic(const CellMaterial& material, const LawLimits& limits) {
  return {material.mu, material.lambda, limits.lower, limits.upper, limits.volume};
}

double energy_density(Law law, const Mat3d& deformation, const Elastic<double>& material) {
  return with_law(law, [&](auto type) { return type.energy(from(deformation), material); });
}

Mat3d stress(Law law, const Mat3d& deformation, const Elastic<double>& material) {
  return with_law(law, [&](auto type) { return to(type.stress(from(deformation), material)); });
}

StressDerivative stress_derivative(Law law, const Mat3d& deformation,
                                   const Elastic<double>& material, bool projected) {
  return with_law(law, [&](auto type) -> StressDerivative {
    if constexpr (std::is_same_v<decltype(type), lanes::LinearLaw>)
      return linear_derivative(material);
    else
      return isotropic_derivative<decltype(type)>(deformation, material, projected);
  });
}

bool is_within_limits(const Mat3d& deformation, const Elastic<double>& material) {
  const Matrix f = from(deformation);
  return lanes::is_little_deformed(f, gram(f), material, 1e-9);
}

}  // namespace supple
