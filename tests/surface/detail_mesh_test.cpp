#include "supple/surface/detail_mesh.h"

#include <gtest/gtest.h>

#include "surface/meshes.h"

namespace supple {
namespace {

using test::ball;
using test::cube;
using test::rod;

// A ball with bumps.
std::vector<Vec3f> bumpy(size_t vertices) {
  std::vector<Vec3f> positions = ball(static_cast<double>(vertices)).positions;
  for (Vec3f& p : positions)
    p *= 1 + 0.05f * std::sin(9 * p[0]) * std::cos(8 * p[1]) * std::sin(7 * p[2]);
  return positions;
}

TEST(DetailMesh, IsItselfAtRest) {
  for (const TriangleMesh& coarse : {ball(300), cube(300), rod(0.2)}) {
    std::vector<Vec3f> detail = bumpy(3000), out(detail.size());
    // Points anywhere, also far away, have a tie.
    detail[0] = Vec3f(7, 3, 1);
    detail[1] = Vec3f::Zero();
    const DetailMesh mesh(coarse.positions, coarse.triangles, detail);
    mesh.follow(coarse.positions, out);
    for (size_t v = 0; v < detail.size(); ++v)
      ASSERT_LT((out[v] - detail[v]).norm(), 2e-6f * (1 + detail[v].norm())) << v;
  }
}

TEST(DetailMesh, HangsAlongInterpolatedNormals) {
  const TriangleMesh coarse = ball(300);
  const std::vector<Vec3f> detail = bumpy(3000);
  const DetailMesh mesh(coarse.positions, coarse.triangles, detail);
  EXPECT_LT(mesh.off_normal(), detail.size() / 100);
  std::vector<Vec3f> normals(coarse.positions.size());
  vertex_normals(coarse.positions, coarse.triangles, normals);
  for (size_t v = 0; v < detail.size(); ++v) {
    const DetailTie& tie = mesh.ties()[v];
    if (tie.offset[0] != 0 || tie.offset[1] != 0) continue;
    const Vec3i& t = coarse.triangles[static_cast<size_t>(tie.triangle)];
    const float w[3] = {tie.alpha, tie.beta, 1 - tie.alpha - tie.beta};
    Vec3f q = Vec3f::Zero(), n = q;
    for (int k = 0; k < 3; ++k) {
      EXPECT_GT(w[k], -2e-4f);
      q += w[k] * coarse.positions[static_cast<size_t>(t[k])];
      n += w[k] * normals[static_cast<size_t>(t[k])];
    }
    // F = (p - q) × n = 0.
    ASSERT_LT((detail[v] - q).cross(n).norm(), 1e-5f) << v;
  }
}

TEST(DetailMesh, TurnsAndMovesAlong) {
  const TriangleMesh coarse = cube(300);
  std::vector<Vec3f> detail = cube(2500).positions;
  for (size_t v = 0; v < detail.size(); ++v)
    detail[v] *= 1 + 0.1f * std::sin(static_cast<float>(v));
  detail.emplace_back(3, 3, 3);
  const DetailMesh mesh(coarse.positions, coarse.triangles, detail);
  const Eigen::Matrix3f turn =
      Eigen::AngleAxisf(1.0f, Vec3f(3, 1, 2).normalized()).toRotationMatrix();
  std::vector<Vec3f> moved, out(detail.size());
  for (const Vec3f& p : coarse.positions) moved.emplace_back(turn * p + Vec3f(1, 2, 3));
  mesh.follow(moved, out);
  for (size_t v = 0; v < detail.size(); ++v)
    ASSERT_LT((out[v] - (turn * detail[v] + Vec3f(1, 2, 3))).norm(), 2e-5f) << v;
}

TEST(DetailMesh, FollowsBendingSmoothly) {
  // A ball stretched to an ellipsoid: details stay on the outside, neighbours stay neighbours.
  const TriangleMesh coarse = ball(500), fine = ball(8000);
  const DetailMesh mesh(coarse.positions, coarse.triangles, fine.positions);
  std::vector<Vec3f> moved, out(fine.positions.size());
  for (const Vec3f& p : coarse.positions) moved.emplace_back(1.3f * p[0], p[1], 0.8f * p[2]);
  mesh.follow(moved, out);
  for (size_t v = 0; v < out.size(); ++v) {
    const Vec3f expected = fine.positions[v].cwiseProduct(Vec3f(1.3f, 1, 0.8f));
    ASSERT_LT((out[v] - expected).norm(), 0.01f);
  }
  for (const Vec3i& t : fine.triangles) {
    const auto at = [&](int k) { return out[static_cast<size_t>(t[k])]; };
    const Vec3f area = (at(1) - at(0)).cross(at(2) - at(0));
    ASSERT_GT(area.dot(at(0)), 0);
  }
}

TEST(DetailMesh, RefusesNothingToHangOn) {
  const std::vector<Vec3f> points{{0, 0, 0}};
  EXPECT_THROW(DetailMesh(points, {}, points), std::exception);
}

TEST(DetailMesh, FlatTrianglesAndLinesDoNotHurt) {
  // A coarse mesh with triangles of no area.
  const std::vector<Vec3f> coarse{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}};
  const std::vector<Vec3i> triangles{{0, 1, 2}, {0, 1, 3}, {1, 1, 3}};
  const std::vector<Vec3f> detail{{0.5f, 0.2f, 0.3f}, {1.7f, 0, 0}, {-1, -1, -1}};
  const DetailMesh mesh(coarse, triangles, detail);
  std::vector<Vec3f> out(3);
  mesh.follow(coarse, out);
  for (size_t v = 0; v < 3; ++v) EXPECT_LT((out[v] - detail[v]).norm(), 1e-5f);
}

}  // namespace
}  // namespace supple
