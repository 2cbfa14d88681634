// Level sets of meshes against the distances of the shapes they are of.
#include "supple/contact/level_set.h"

#include <gtest/gtest.h>

#include "contact/contact_shapes.h"
#include "supple/contact/collider_shapes.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

// Random points around a box, each with the distances of a level set and of an exact shape.
template <class Shape>
void expect_like(const LevelSet& set, const Shape& shape, double band, int count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> part(-0.2, 1.2);
  int inside = 0;
  for (int i = 0; i < count; ++i) {
    const Vec3d p = set.box().min() +
                    Vec3d(part(random), part(random), part(random)).cwiseProduct(set.box().sizes());
    const double exact = shape.distance(p), found = set.distance(p);
    if (exact < band) {
      EXPECT_NEAR(found, exact, set.voxel()) << p.transpose();
      inside += exact < 0;
    } else {
      EXPECT_GT(found, band - set.voxel());
      EXPECT_LT(found, exact + set.voxel());
    }
    const Vec3d normal = set.normal(p);
    EXPECT_NEAR(normal.norm(), 1, 1e-9);
    // Going by the distance along the normal leads to the surface, but from about the middle.
    if (exact < 0 && found > 0.7 * set.distance(set.box().center())) {
      EXPECT_LT(std::abs(shape.distance(p - found * normal)), 1.5 * set.voxel()) << p.transpose();
    }
  }
  EXPECT_GT(inside, count / 20);
}

TEST(LevelSet, OfASphereIsRightAllThrough) {
  TriangleMesh mesh = test::make_sphere(4);
  for (Vec3f& p : mesh.positions) p = 0.5f * p + Vec3f(3, -2, 1);
  for (const double voxel : {0.0, 0.05}) {
    const LevelSet set(mesh.positions, mesh.triangles, {.voxel = voxel});
    EXPECT_NEAR(set.voxel(), voxel > 0 ? voxel : 1.0 / 64, 1e-6);
    expect_like(set, SphereShape{{3, -2, 1}, 0.5}, 3 * set.voxel(), 4000);
    EXPECT_NEAR(set.distance({3, -2, 1}), -0.5, 0.01);
  }
}

TEST(LevelSet, OfABoxIsRightAllThrough) {
  const TriangleMesh mesh = test::make_box(Vec3f(1, 2, 3));
  const LevelSet set(mesh.positions, mesh.triangles, {.voxel = 0.08, .band = 4});
  expect_like(set, BoxShape{{0.5, 1, 1.5}, {0.5, 1, 1.5}}, 0.32, 4000);
}

// A ball with a hollow is solid, whichever way its walls face; so are overlapping parts.
TEST(LevelSet, FillsHollowsAndUnitesParts) {
  TriangleMesh mesh = test::make_sphere(4), inner = mesh;
  for (Vec3f& p : inner.positions) p *= 0.8f;
  for (Vec3i& t : inner.triangles) std::swap(t[0], t[1]);
  test::append(mesh, inner, Vec3f::Zero());
  const LevelSet hollow(mesh.positions, mesh.triangles, {.voxel = 0.08});
  expect_like(hollow, SphereShape{Vec3d::Zero(), 1}, 0.18, 2000);

  TriangleMesh two = test::make_sphere(4);
  test::append(two, test::make_sphere(4), Vec3f(0.8f, 0, 0));
  const LevelSet united(two.positions, two.triangles, {.voxel = 0.08});
  const double middle = std::hypot(0.0, std::sqrt(1 - 0.16));
  EXPECT_NEAR(united.distance({0.4, 0, 0}), -middle, 0.08);
}

// A cup has an inside of wall only.
TEST(LevelSet, KeepsCupsOpen) {
  TriangleMesh mesh = test::make_dome(5), inner = mesh;
  for (Vec3f& p : inner.positions) p *= 0.8f;
  for (Vec3i& t : inner.triangles) std::swap(t[0], t[1]);
  const auto first = static_cast<int32_t>(mesh.positions.size());
  test::append(mesh, inner, Vec3f::Zero());
  // The rim: outer edges in the plane y = 0 with the inner ones below them.
  for (const Vec3i& t : test::make_dome(5).triangles)
    for (int k = 0; k < 3; ++k) {
      const int32_t a = t[k], b = t[(k + 1) % 3];
      if (std::abs(mesh.positions[static_cast<size_t>(a)][1]) < 1e-6f &&
          std::abs(mesh.positions[static_cast<size_t>(b)][1]) < 1e-6f) {
        mesh.triangles.emplace_back(b, a, first + a);
        mesh.triangles.emplace_back(b, first + a, first + b);
      }
    }
  const LevelSet cup(mesh.positions, mesh.triangles, {.voxel = 0.05});
  EXPECT_NEAR(cup.distance({0, 0.9, 0}), -0.1, 0.03);
  EXPECT_GT(cup.distance({0, 0.4, 0}), 0.1);
  EXPECT_GT(cup.distance({0.3, 0.1, 0.1}), 0.1);
  EXPECT_LT(cup.normal({0, 0.85, 0})[1], -0.9);
  EXPECT_GT(cup.normal({0, 0.95, 0})[1], 0.9);
}

TEST(LevelSet, OfSheetsHasTwoSides) {
  TriangleMesh sheet;
  sheet.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  const LevelSet set(sheet.positions, sheet.triangles, {.voxel = 0.05});
  for (const double z : {0.1, -0.1}) {
    EXPECT_NEAR(set.distance({0.5, 0.4, z}), 0.1, 0.01);
    EXPECT_GT(set.normal({0.5, 0.4, z})[2] * z, 0.09);
  }
}

TEST(LevelSet, HasUnitNormalsEverywhere) {
  const TriangleMesh mesh = test::make_box(Vec3f(1, 1, 1));
  const LevelSet set(mesh.positions, mesh.triangles, {.voxel = 0.1});
  for (const Vec3d& p :
       {Vec3d(0.5, 0.5, 0.5), Vec3d(1e9, 0, 0), Vec3d(-1e300, 1e300, 3), Vec3d(NAN, 0, 0),
        Vec3d(INFINITY, 0, 0), Vec3d(0, 0, 0), Vec3d(1.35, 0.5, 0.5), Vec3d(0.5, 0.5, 4)}) {
    EXPECT_NEAR(set.normal(p).norm(), 1, 1e-9) << p.transpose();
    EXPECT_FALSE(std::isnan(set.distance(p)));
  }
  EXPECT_EQ(set.distance({NAN, 0, 0}), INFINITY);
  EXPECT_NEAR(set.distance({11, 0.5, 0.5}), 10, 1e-6);
}

TEST(LevelSet, RefusesOddInput) {
  const TriangleMesh box = test::make_box(Vec3f(1, 1, 1));
  const auto refused = [](const TriangleMesh& mesh, double voxel) {
    return test::problem_of([&] { LevelSet(mesh.positions, mesh.triangles, {.voxel = voxel}); },
                            ErrorKind::input);
  };
  EXPECT_NE(refused({}, 0).find("no triangles"), std::string::npos);
  EXPECT_NE(refused(box, -1).find("voxel"), std::string::npos);
  EXPECT_NE(refused(box, NAN).find("voxel"), std::string::npos);
  EXPECT_NE(refused(box, 0.002).find("voxels"), std::string::npos);
  TriangleMesh bad = box;
  bad.positions[2][0] = INFINITY;
  EXPECT_NE(refused(bad, 0.1).find("vertex 2"), std::string::npos);
  bad = box;
  bad.triangles = {{0, 0, 1}, {2, 2, 2}};
  EXPECT_NE(refused(bad, 0.1).find("area"), std::string::npos);
}

TEST(LevelSet, HasTheSameBitsForAnyNumberOfThreads) {
  TriangleMesh mesh = test::make_sphere(3);
  test::append(mesh, test::make_sphere(3), Vec3f(0.9f, 0.3f, 0));
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    const LevelSet set(mesh.positions, mesh.triangles, {.voxel = 0.1});
    std::mt19937 random(2);
    std::uniform_real_distribution<double> part(-1.2, 2.2);
    std::vector<double> bits;
    for (int i = 0; i < 2000; ++i) {
      const Vec3d p(part(random), part(random), part(random)), n = set.normal(p);
      bits.push_back(set.distance(p));
      bits.insert(bits.end(), n.data(), n.data() + 3);
    }
    if (first.empty()) first = bits;
    EXPECT_EQ(bits, first);
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace supple
