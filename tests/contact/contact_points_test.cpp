// Contact points: evenly spread, complete, on the surface.
#include "supple/contact/contact_points.h"

#include <gtest/gtest.h>

#include "contact/contact_shapes.h"

namespace supple {
namespace {

double total_area(const SkinSurface& skin) {
  double sum = 0;
  for (const SkinPiece& p : skin.pieces()) sum += p.area();
  return sum;
}

// How far the surface is from the closest contact point that looks the same way, at worst.
double worst_gap(const SkinSurface& skin, const std::vector<ContactPoint>& points, int samples) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> part(0, 1);
  std::uniform_int_distribution<size_t> which(0, skin.pieces().size() - 1);
  double worst = 0;
  for (int i = 0; i < samples; ++i) {
    const SkinPiece& piece = skin.pieces()[which(random)];
    double u = part(random), v = part(random);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const Vec3d at = at_weights(piece.corners, {1 - u - v, u, v});
    double least = 1e9;
    for (const ContactPoint& p : points)
      if (p.normal.dot(piece.normal()) > 0.2) least = std::min(least, (p.rest - at).norm());
    worst = std::max(worst, least);
  }
  return worst;
}

void expect_even(const SkinSurface& skin, const std::vector<ContactPoint>& points, double side) {
  const double area = total_area(skin), ideal = area / (side * side);
  EXPECT_GT(static_cast<double>(points.size()), 0.75 * ideal);
  EXPECT_LT(static_cast<double>(points.size()), 1.35 * ideal);
  EXPECT_LT(worst_gap(skin, points, 2000), 1.1 * side);
  double sum = 0, least = 1e9;
  for (const ContactPoint& p : points) {
    sum += p.area;
    EXPECT_LT(p.area, 4 * side * side);
    EXPECT_NEAR(p.normal.norm(), 1, 1e-9);
    EXPECT_LT(skin.nearest(p.rest).distance, 1e-9);
    for (const ContactPoint& q : points)
      if (&p != &q && p.normal.dot(q.normal) > 0.2)
        least = std::min(least, (p.rest - q.rest).norm());
  }
  EXPECT_NEAR(sum, area, 1e-9 * area);
  EXPECT_GT(least, 0.8 * side);
}

TEST(ContactPoints, CoverFineMeshesWithVertices) {
  const TriangleMesh mesh = test::make_sphere(5);
  const SkinSurface skin(mesh.positions, mesh.triangles, 0.15);
  const std::vector<ContactPoint> points = choose_contact_points(skin);
  expect_even(skin, points, 0.15);
  size_t vertices = 0;
  for (const ContactPoint& p : points) {
    EXPECT_GT(p.normal.dot(p.rest), 0.99);
    vertices += p.vertex >= 0;
    if (p.vertex >= 0) {
      EXPECT_EQ(p.rest, mesh.positions[static_cast<size_t>(p.vertex)].cast<double>());
    }
    EXPECT_FALSE(p.sheet);
  }
  EXPECT_GT(vertices, points.size() * 9 / 10);
  const std::vector<ContactPoint> fewer = choose_contact_points(skin, {.factor = 2});
  expect_even(skin, fewer, 0.3);
}

TEST(ContactPoints, CoverLargeTrianglesToo) {
  const TriangleMesh mesh = test::make_box(Vec3f(1, 2, 3));
  const SkinSurface skin(mesh.positions, mesh.triangles, 0.2);
  const std::vector<ContactPoint> points = choose_contact_points(skin);
  const double ideal = 22 / (0.2 * 0.2);
  EXPECT_GT(static_cast<double>(points.size()), 0.75 * ideal);
  EXPECT_LT(static_cast<double>(points.size()), 1.5 * ideal);  // edges belong to two sides
  EXPECT_LT(worst_gap(skin, points, 3000), 0.22);
  double sum = 0;
  for (const ContactPoint& p : points) sum += p.area;
  EXPECT_NEAR(sum, 22, 1e-9);
}

TEST(ContactPoints, AreAllVerticesWhereThoseAreFew) {
  const TriangleMesh mesh = test::make_sphere(3);
  const SkinSurface skin(mesh.positions, mesh.triangles, 0.1);
  std::vector<bool> taken(mesh.positions.size(), false);
  for (const ContactPoint& p : choose_contact_points(skin))
    if (p.vertex >= 0) taken[static_cast<size_t>(p.vertex)] = true;
  EXPECT_EQ(std::count(taken.begin(), taken.end(), false), 0);
}

TEST(ContactPoints, KnowSheetsAndBothSidesOfThinPartsAndNothingBuried) {
  TriangleMesh mesh = test::make_box(Vec3f(2, 2, 0.02f));  // far thinner than the spacing
  test::append(mesh, test::make_box(Vec3f(1, 1, 1)), Vec3f(4, 0, 0));
  test::append(mesh, test::make_sphere(2), Vec3f(4.5f, 0.5f, 0.5f));  // sticks out of the box
  TriangleMesh sheet;
  sheet.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  test::append(mesh, sheet, Vec3f(0, 5, 0));
  const SkinSurface skin(mesh.positions, mesh.triangles, 0.2);
  int up = 0, down = 0, of_sheet = 0;
  for (const ContactPoint& p : choose_contact_points(skin)) {
    if (p.rest[0] < 2.1 && p.rest[1] < 3) (p.normal[2] > 0 ? up : down) += 1;
    of_sheet += p.sheet;
    const Vec3d q = (p.rest - Vec3d(4.5, 0.5, 0.5)).cwiseAbs();
    if (p.rest[0] > 3) {
      EXPECT_TRUE(q.maxCoeff() > 0.45 && (p.rest - Vec3d(4.5, 0.5, 0.5)).norm() > 0.45);
    }
    EXPECT_LT(skin.distance(p.rest), p.sheet ? 1e9 : 1e-9);
  }
  EXPECT_GT(up, 60);
  EXPECT_GT(down, 60);
  EXPECT_GT(of_sheet, 15);
}

TEST(ContactPoints, RefuseAFactorOfNothing) {
  const TriangleMesh mesh = test::make_box(Vec3f(1, 1, 1));
  const SkinSurface skin(mesh.positions, mesh.triangles, 0.5);
  for (const double factor : {0.0, -1.0, static_cast<double>(NAN)})
    EXPECT_NE(
        test::problem_of([&] { choose_contact_points(skin, {.factor = factor}); }, ErrorKind::input)
            .find("factor"),
        std::string::npos);
}

}  // namespace
}  // namespace supple
