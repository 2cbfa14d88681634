// Motions as base plus weighted shapes, against the frames they stand for and a singular value
// decomposition.
#include "supple/io/frame_basis.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "io/bake_test_support.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

/// A skin of loose points whose frames mix `rank` random shapes around a random base.
AnimatedSkin mixed_motion(int frames, int vertices, int rank, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto points = [&](float size) {
    std::vector<Vec3f> list;
    for (int v = 0; v < vertices; ++v)
      list.push_back(size * Vec3f(normal(random), normal(random), normal(random)));
    return list;
  };
  AnimatedSkin skin;
  skin.rest = points(1);
  std::vector<std::vector<Vec3f>> shapes, all;
  for (int r = 0; r < rank; ++r) shapes.push_back(points(0.3f));
  for (int f = 0; f < frames; ++f) {
    all.push_back(skin.rest);
    for (const auto& shape : shapes) {
      const float weight = normal(random);
      for (size_t v = 0; v < shape.size(); ++v) all.back()[v] += weight * shape[v];
    }
  }
  return test::with_frames(std::move(skin), std::move(all));
}

/// Largest and root of summed squared error of all frames, mixed in double.
std::pair<double, double> errors(const AnimatedSkin& skin, const FrameBasis& basis) {
  double largest = 0, sum = 0;
  for (int f = 0; f < skin.frame_count; ++f) {
    const std::vector<Vec3f> frame = skin.frame(f).positions;
    const auto& weights = basis.weights.at(static_cast<size_t>(f));
    EXPECT_EQ(weights.size(), basis.shapes.size());
    for (size_t v = 0; v < frame.size(); ++v) {
      Vec3d mixed = basis.base[v].cast<double>();
      for (size_t s = 0; s < weights.size(); ++s)
        mixed += double(weights[s]) * basis.shapes[s][v].cast<double>();
      const double miss = (mixed - frame[v].cast<double>()).norm();
      largest = std::max(largest, miss);
      sum += miss * miss;
    }
  }
  return {largest, std::sqrt(sum)};
}

TEST(FrameBasis, FewFramesAreTheShapesThemselves) {
  for (const int frames : {1, 2, 9, 10}) {
    const AnimatedSkin skin = mixed_motion(frames, 30, 12, 1);
    const FrameBasis basis = find_frame_basis(skin, 9, {});
    EXPECT_FALSE(basis.compressed);
    EXPECT_EQ(basis.shapes.size(), static_cast<size_t>(frames - 1));
    EXPECT_EQ(basis.largest_error, 0);
    EXPECT_LT(errors(skin, basis).first, 1e-6);
    for (const float weight : basis.weights[0]) EXPECT_EQ(weight, 0);
  }
}

TEST(FrameBasis, FindsTheMotionsRank) {
  const AnimatedSkin skin = mixed_motion(60, 100, 7, 2);
  const FrameBasis basis = find_frame_basis(skin, 20, {});
  EXPECT_TRUE(basis.compressed);
  EXPECT_GE(basis.shapes.size(), 7u);
  EXPECT_LE(basis.shapes.size(), 20u);
  EXPECT_LT(errors(skin, basis).first, 1e-5);
  EXPECT_LT(basis.largest_error, 1e-5);
}

TEST(FrameBasis, IsTheBestOfItsSize) {
  // Eckart and Young: no 8 shapes do better than the singular values that are left over.
  const AnimatedSkin skin = mixed_motion(50, 80, 40, 3);
  Eigen::MatrixXd rows(50, 240);
  for (int f = 0; f < 50; ++f) {
    const std::vector<Vec3f> frame = skin.frame(f).positions;
    for (int v = 0; v < 80; ++v)
      rows.block<1, 3>(f, 3 * v) = frame[static_cast<size_t>(v)].cast<double>().transpose();
  }
  rows.rowwise() -= rows.colwise().mean().eval();
  const Eigen::VectorXd values = rows.jacobiSvd().singularValues();
  const double best = values.tail(values.size() - 8).norm();
  const FrameBasis basis = find_frame_basis(skin, 8, {});
  ASSERT_EQ(basis.shapes.size(), 8u);
  const auto [largest, total] = errors(skin, basis);
  EXPECT_NEAR(total, best, 1e-4 * best);
  EXPECT_NEAR(basis.largest_error, largest, 1e-5);
}

TEST(FrameBasis, ShapesAreTheProjectedFrames) {
  const AnimatedSkin skin = mixed_motion(40, 25, 30, 4);
  for (const int most : {6, 60}) {
    const FrameBasis basis = find_frame_basis(skin, most, {});
    ASSERT_EQ(basis.projection.rows(), static_cast<Eigen::Index>(basis.shapes.size()));
    for (size_t s = 0; s < basis.shapes.size(); ++s)
      for (size_t v = 0; v < 25; ++v) {
        Vec3d sum = Vec3d::Zero();
        for (int f = 0; f < 40; ++f)
          sum += double(basis.projection(static_cast<Eigen::Index>(s), f)) *
                 (skin.frame(f).positions[v] - basis.base[v]).cast<double>();
        EXPECT_LT((sum - basis.shapes[s][v].cast<double>()).norm(), 1e-4);
      }
  }
}

TEST(FrameBasis, KeepsWeightsBetweenMinusOneAndOne) {
  const FrameBasis basis = find_frame_basis(mixed_motion(40, 25, 30, 5), 10, {});
  for (size_t s = 0; s < 10; ++s) {
    float largest = 0;
    for (const auto& weights : basis.weights) largest = std::max(largest, std::abs(weights[s]));
    EXPECT_FLOAT_EQ(largest, 1);
  }
}

TEST(FrameBasis, AMotionThatStandsStillNeedsNoShapes) {
  AnimatedSkin skin = mixed_motion(1, 25, 0, 6);
  const std::vector<Vec3f> still = skin.frame(0).positions;
  skin = test::with_frames(skin, std::vector<std::vector<Vec3f>>(30, still));
  const FrameBasis basis = find_frame_basis(skin, 10, {});
  EXPECT_LT(errors(skin, basis).first, 1e-6);
  EXPECT_EQ(basis.weights.size(), 30u);
}

TEST(FrameBasis, IsTheSameForAnyNumberOfThreads) {
  const AnimatedSkin skin = mixed_motion(150, 700, 40, 7);
  set_thread_count(1);
  const FrameBasis one = find_frame_basis(skin, 30, {});
  set_thread_count(3);
  const FrameBasis three = find_frame_basis(skin, 30, {});
  set_thread_count(0);
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_EQ(one.shapes, three.shapes);
  EXPECT_EQ(one.base, three.base);
}

TEST(FrameBasis, ReportsEveryFrameOnce) {
  for (const int most : {3, 30}) {
    std::vector<std::pair<int, int>> seen, expected;
    find_frame_basis(mixed_motion(12, 5, 3, 8), most,
                     [&](int done, int total) { seen.emplace_back(done, total); });
    for (int f = 1; f <= 12; ++f) expected.emplace_back(f, 12);
    EXPECT_EQ(seen, expected);
  }
}

}  // namespace
}  // namespace supple
