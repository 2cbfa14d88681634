// The matrices that break decompositions.
#include "math/svd3_cases.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

namespace supple::test {
namespace {

class Maker {
 public:
  Mat3d rotation() {
    return Quatd(normal(), normal(), normal(), normal()).normalized().toRotationMatrix();
  }
  Mat3d any() {
    Mat3d m;
    for (int k = 0; k < 9; ++k) m(k / 3, k % 3) = normal();
    return m;
  }
  Vec3d vector() { return {normal(), normal(), normal()}; }
  double normal() { return m_normal(m_random); }
  double even() { return std::uniform_real_distribution<double>(0, 1)(m_random); }

 private:
  std::mt19937 m_random{42};
  std::normal_distribution<double> m_normal;
};

// All matrices whose entries are -1, 0 or 1: among them all permutations, reflections, quarter
// turns, and every rank.
void add_whole_numbers(std::vector<Mat3d>& cases) {
  for (int code = 0; code < 19683; ++code) {
    Mat3d m;
    for (int k = 0, rest = code; k < 9; ++k, rest /= 3) m(k / 3, k % 3) = rest % 3 - 1;
    cases.push_back(m);
  }
}

// Given singular values, nearly or wholly equal, nearly zero, in every combination.
void add_spectra(std::vector<Mat3d>& cases, Maker& make) {
  const double values[] = {1,    1 + 1e-7, 1 + 1e-4, 0.999, 0.5,   1e-2, 1e-3,
                           3e-4, 1e-4,     1e-6,     1e-8,  1e-12, 0};
  for (const double a : values)
    for (const double b : values)
      for (const double c : values)
        for (const double sign : {1.0, -1.0}) {
          const Mat3d s = Vec3d(a, b, sign * c).asDiagonal();
          cases.push_back(s);
          cases.push_back(make.rotation() * s * make.rotation());
          cases.push_back(s * make.rotation());
          cases.push_back(make.rotation() * s);
        }
}

void add_shears_and_ranks(std::vector<Mat3d>& cases, Maker& make) {
  for (int i = 0; i < 500; ++i) {
    const double big = std::pow(10, 8 * make.even());
    Mat3d shear = Mat3d::Identity();
    shear(i % 3, (i + 1 + i / 3 % 2) % 3) = i % 2 ? big : 1 / big;
    cases.push_back(shear);
    cases.push_back(shear * make.rotation());
    cases.push_back(make.rotation());
    cases.push_back(-make.rotation());
    cases.push_back(make.vector() * make.vector().transpose());
    cases.push_back(make.vector() * make.vector().transpose() +
                    make.vector() * make.vector().transpose());
    cases.push_back(Mat3d::Identity() + std::pow(10, -12 * make.even()) * make.any());
  }
}

void add_sizes(std::vector<Mat3d>& cases, Maker& make, double most) {
  for (int i = 0; i < 500; ++i) {
    const double exponent = most * (2 * make.even() - 1);
    cases.push_back(std::pow(10, exponent) * make.any());
    cases.push_back(std::pow(10, i % 2 ? most : -most) * make.any());
    Mat3d mixed = make.any();
    for (int k = 0; k < 9; ++k) mixed(k / 3, k % 3) *= std::pow(10, most * (2 * make.even() - 1));
    cases.push_back(mixed);
  }
}

}  // namespace

template <class Scalar>
std::vector<Mat3d> hard_cases() {
  std::vector<Mat3d> cases;
  Maker make;
  add_spectra(cases, make);
  add_shears_and_ranks(cases, make);
  add_sizes(cases, make, 15);
  add_sizes(cases, make, sizeof(Scalar) == 8 ? 250 : 30);
  add_whole_numbers(cases);
  return cases;
}

template std::vector<Mat3d> hard_cases<float>();
template std::vector<Mat3d> hard_cases<double>();

}  // namespace supple::test
