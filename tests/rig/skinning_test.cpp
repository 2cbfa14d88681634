// Skinning against a double-precision reference, on every instruction set and thread count.
#include "supple/rig/skinning.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/simd.h"

namespace supple {
namespace {

enum class Motions { rigid, scaled, mirrored };

// A random skin: weights, binds, matrices and rest positions.
struct Skin {
  SkinWeights weights;
  std::vector<Bind> binds;
  std::vector<Affine> globals;
  std::vector<Vec3f> rest;
};

Mat3d random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Quatd q(normal(random), normal(random), normal(random), normal(random));
  return q.normalized().toRotationMatrix();
}

Skin random_skin(size_t vertices, int bind_count, int max_influences, Motions motions,
                 unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&] { return Vec3d(unit(random), unit(random), unit(random)); };
  Skin skin;
  for (int b = 0; b < bind_count; ++b) {
    Affine bind = Affine::Identity(), global = Affine::Identity();
    bind.linear() = random_rotation(random);
    bind.translation() = vector();
    global.linear() = random_rotation(random);
    global.translation() = 3 * vector();
    if (motions != Motions::rigid) global.linear() *= (1.5 * Vec3d::Ones() + vector()).asDiagonal();
    if (motions == Motions::mirrored && b % 2 == 0) global.linear().col(0) *= -1;
    skin.binds.push_back({bind_count - 1 - b, bind});
    skin.globals.push_back(global);
  }
  for (size_t v = 0; v < vertices; ++v) {
    skin.rest.push_back((2 * vector()).cast<float>());
    std::vector<Influence> influences;
    const int count = 1 + static_cast<int>(random() % static_cast<unsigned>(max_influences));
    for (int k = 0; k < count; ++k)
      influences.push_back({static_cast<int32_t>(random() % static_cast<unsigned>(bind_count)),
                            static_cast<float>(0.05 + std::abs(unit(random)))});
    skin.weights.add_vertex(influences, 0);
  }
  return skin;
}

Vec3d linear_reference(const Skin& skin, size_t v) {
  Vec3d sum = Vec3d::Zero();
  for (const Influence& i : skin.weights.of(v)) {
    const Bind& bind = skin.binds[i.bind];
    sum += double{i.weight} *
           (skin.globals[bind.joint] * bind.rest_to_joint * skin.rest[v].cast<double>());
  }
  return sum;
}

// Dual quaternions by explicit algebra: blend, normalise both parts, read off rotation and
// translation; stretches are blended linearly and applied first.
Vec3d dual_quaternion_reference(const Skin& skin, size_t v) {
  Quatd real(0, 0, 0, 0), dual(0, 0, 0, 0), pivot(0, 0, 0, 0);
  Mat3d stretch = Mat3d::Zero();
  std::vector<Influence> influences(skin.weights.of(v).begin(), skin.weights.of(v).end());
  std::stable_sort(influences.begin(), influences.end(),
                   [](const Influence& a, const Influence& b) { return a.weight > b.weight; });
  for (size_t k = 0; k < influences.size(); ++k) {
    const Bind& bind = skin.binds[influences[k].bind];
    const Affine m = skin.globals[bind.joint] * bind.rest_to_joint;
    // Polar decomposition by the symmetric root of MᵀM.
    const Eigen::SelfAdjointEigenSolver<Mat3d> eigen(m.linear().transpose() * m.linear());
    Mat3d s = eigen.operatorSqrt();
    if (m.linear().determinant() < 0) s = -s;
    const Quatd q(Mat3d(m.linear() * s.inverse()));
    const Vec3d t = m.translation();
    const Quatd e = Quatd(0, t[0] / 2, t[1] / 2, t[2] / 2) * q;
    if (k == 0) pivot = q;
    const double w = influences[k].weight * (pivot.dot(q) < 0 ? -1 : 1);
    real.coeffs() += w * q.coeffs();
    dual.coeffs() += w * e.coeffs();
    stretch += double{influences[k].weight} * s;
  }
  const double length = real.norm();
  real.coeffs() /= length;
  dual.coeffs() /= length;
  const Quatd translation = dual * real.conjugate();
  return real.toRotationMatrix() * (stretch * skin.rest[v].cast<double>()) + 2 * translation.vec();
}

std::vector<Vec3f> posed(const Skin& skin, SkinningMethod method) {
  std::vector<Vec3f> out(skin.rest.size(), Vec3f::Constant(-99));
  Skinner(skin.weights, skin.binds).skin(method, skin.globals, skin.rest, out);
  return out;
}

void expect_matches_reference(const Skin& skin, SkinningMethod method) {
  const std::vector<Vec3f> out = posed(skin, method);
  for (size_t v = 0; v < out.size(); ++v) {
    const Vec3d expected = method == SkinningMethod::linear ? linear_reference(skin, v)
                                                            : dual_quaternion_reference(skin, v);
    ASSERT_LT((out[v].cast<double>() - expected).norm(), 3e-5)
        << "vertex " << v << ": " << out[v].transpose() << " for " << expected.transpose();
  }
}

constexpr SkinningMethod both[] = {SkinningMethod::linear, SkinningMethod::dual_quaternion};

class Skinning : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_widest_target(GetParam()); }
  void TearDown() override {
    set_widest_target({});
    set_thread_count(0);
  }
};

TEST_P(Skinning, MatchesReferenceForAnyInfluenceCount) {
  unsigned seed = 1;
  for (const SkinningMethod method : both)
    for (const Motions motions : {Motions::rigid, Motions::scaled, Motions::mirrored})
      for (int influences = 1; influences <= 12; ++influences)
        expect_matches_reference(random_skin(333, 17, influences, motions, seed++), method);
}

TEST_P(Skinning, MatchesReferenceForAnyVertexCount) {
  for (const SkinningMethod method : both)
    for (size_t vertices = 1; vertices <= 40; ++vertices)
      expect_matches_reference(
          random_skin(vertices, 5, 5, Motions::rigid, static_cast<unsigned>(vertices)), method);
  for (const size_t vertices : {63u, 64u, 65u, 127u, 128u, 129u, 1023u, 1025u})
    expect_matches_reference(random_skin(vertices, 5, 4, Motions::scaled, 7), both[1]);
}

TEST_P(Skinning, WritesNothingPastTheEnd) {
  for (const SkinningMethod method : both)
    for (size_t vertices = 1; vertices <= 70; ++vertices) {
      const Skin skin = random_skin(vertices, 4, 4, Motions::rigid, 3);
      std::vector<Vec3f> out(vertices + 8, Vec3f::Constant(-99));
      Skinner(skin.weights, skin.binds)
          .skin(method, skin.globals, skin.rest, std::span(out).subspan(4, vertices));
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(out[i], Vec3f::Constant(-99));
        EXPECT_EQ(out[vertices + 4 + i], Vec3f::Constant(-99));
      }
    }
}

TEST_P(Skinning, ThreadCountsAndInPlaceGiveTheSameBits) {
  for (const SkinningMethod method : both)
    for (const Motions motions : {Motions::rigid, Motions::scaled}) {
      const Skin skin = random_skin(20'011, 30, 6, motions, 11);
      const Skinner skinner(skin.weights, skin.binds);
      set_thread_count(1);
      std::vector<Vec3f> once(skin.rest.size());
      skinner.skin(method, skin.globals, skin.rest, once);
      for (const int threads : {1, 2, 3, 8}) {
        set_thread_count(threads);
        std::vector<Vec3f> in_place = skin.rest;
        skinner.skin(method, skin.globals, in_place, in_place);
        ASSERT_EQ(std::memcmp(in_place.data(), once.data(), once.size() * sizeof(Vec3f)), 0)
            << threads << " threads";
      }
    }
}

// Binds, or pairs of them, past 16 bits take the long indices.
TEST_P(Skinning, ManyBindsUseLongIndices) {
  expect_matches_reference(random_skin(300, 70'000, 3, Motions::rigid, 5), SkinningMethod::linear);
  Skin skin = random_skin(40'000, 700, 4, Motions::rigid, 6);
  const std::vector<Vec3f> out = posed(skin, SkinningMethod::dual_quaternion);
  for (size_t v = 0; v < out.size(); v += 97)
    ASSERT_LT((out[v].cast<double>() - dual_quaternion_reference(skin, v)).norm(), 3e-5) << v;
}

// A cylinder turned by 180 degrees along its axis: linear blending collapses its middle to a
// point, dual quaternions keep its radius.
TEST_P(Skinning, TwistedCylinderKeepsItsRadiusWithDualQuaternions) {
  Skin skin;
  skin.binds = {{0, Affine::Identity()}, {1, Affine::Identity()}};
  skin.globals = {Affine::Identity(), Affine(Eigen::AngleAxisd(std::numbers::pi, Vec3d::UnitX()))};
  for (int i = 0; i <= 20; ++i)
    for (int a = 0; a < 32; ++a) {
      const double angle = a * std::numbers::pi / 16;
      skin.rest.push_back(Vec3d(i / 10.0 - 1, std::cos(angle), std::sin(angle)).cast<float>());
      skin.weights.add_vertex({{Influence{0, 1 - i / 20.0f}, Influence{1, i / 20.0f}}}, 0);
    }
  const auto radius = [&](SkinningMethod method, int ring) {
    const std::vector<Vec3f> out = posed(skin, method);
    double smallest = 10;
    for (int a = 0; a < 32; ++a)
      smallest = std::min<double>(smallest, out[ring * 32 + a].tail<2>().norm());
    return smallest;
  };
  EXPECT_LT(radius(SkinningMethod::linear, 10), 0.01);
  for (int ring = 0; ring <= 20; ++ring)
    EXPECT_NEAR(radius(SkinningMethod::dual_quaternion, ring), 1, 0.01) << ring;
}

// Where all influences agree both methods are the same map, whatever the matrix.
TEST_P(Skinning, AgreeingInfluencesGiveTheMatrixItself) {
  for (const Motions motions : {Motions::rigid, Motions::scaled, Motions::mirrored}) {
    Skin skin = random_skin(100, 6, 4, motions, 21);
    for (Bind& bind : skin.binds) bind = skin.binds[0];
    const std::vector<Vec3f> linear = posed(skin, both[0]), quaternion = posed(skin, both[1]);
    for (size_t v = 0; v < linear.size(); ++v)
      EXPECT_LT((linear[v] - quaternion[v]).norm(), 3e-5f) << v;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, Skinning, ::testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return info.param; });

// The sign of a bind's quaternion must not matter: two turns in small steps are smooth.
TEST(SkinningSigns, FullTurnsAreContinuous) {
  Skin skin;
  skin.binds = {{0, Affine::Identity()}, {1, Affine::Identity()}};
  skin.rest = {Vec3f(0.3f, 1, 0)};
  skin.weights.add_vertex({{Influence{0, 0.6f}, Influence{1, 0.4f}}}, 0);
  Vec3f previous = Vec3f::Zero();
  for (int degree = 0; degree <= 720; ++degree) {
    const double turn = degree * std::numbers::pi / 180;
    skin.globals = {Affine(Eigen::AngleAxisd(turn, Vec3d(1, 2, 3).normalized())),
                    Affine(Eigen::AngleAxisd(turn + 0.5, Vec3d(1, 2, 3).normalized()))};
    const Vec3f now = posed(skin, SkinningMethod::dual_quaternion)[0];
    if (degree > 0) {
      EXPECT_LT((now - previous).norm(), 0.03f) << degree;
    }
    previous = now;
  }
}

TEST(SkinningInput, EmptySkin) {
  const Skinner skinner(SkinWeights{}, {});
  skinner.skin(SkinningMethod::linear, {}, {}, {});
  skinner.skin(SkinningMethod::dual_quaternion, {}, {}, {});
}

TEST(SkinningInput, VerticesWithoutInfluencesStay) {
  SkinWeights weights;
  weights.offsets = {0, 0, 1};
  weights.influences = {{0, 1}};
  const std::vector<Affine> globals{Affine(Eigen::Translation3d(1, 2, 3))};
  const std::vector<Vec3f> rest{Vec3f(5, 6, 7), Vec3f(5, 6, 7)};
  for (const SkinningMethod method : both) {
    std::vector<Vec3f> out(2);
    Skinner(weights, {Bind{}}).skin(method, globals, rest, out);
    EXPECT_LT((out[0] - rest[0]).norm(), 1e-6f);
    EXPECT_LT((out[1] - Vec3f(6, 8, 10)).norm(), 1e-5f);
  }
}

TEST(SkinningInput, WrongBindsAndSizesAreRefused) {
  SkinWeights weights;
  weights.add_vertex({{Influence{3, 1}}}, 0);
  EXPECT_THROW(Skinner(weights, {Bind{}}), Error);
  SkinWeights good;
  good.add_vertex({}, 0);
  const Skinner skinner(good, {Bind{}});
  std::vector<Vec3f> two(2);
  const std::vector<Affine> globals{Affine::Identity()};
  EXPECT_THROW(skinner.skin(SkinningMethod::linear, globals, two, two), Error);
}

}  // namespace
}  // namespace supple
