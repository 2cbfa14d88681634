// The outer surface of skins: distances, signs and closest points, on made and real characters.
#include "supple/contact/skin_surface.h"

#include <gtest/gtest.h>

#include <set>

#include "contact/contact_shapes.h"
#include "supple/contact/box_tree.h"
#include "supple/core/parallel.h"
#include "supple/core/timer.h"

namespace supple {
namespace {

SkinSurface surface_of(const TriangleMesh& mesh, double spacing) {
  return {mesh.positions, mesh.triangles, spacing};
}

std::array<Vec3d, 3> corners(const TriangleMesh& mesh, size_t t) {
  std::array<Vec3d, 3> result;
  for (int k = 0; k < 3; ++k)
    result[static_cast<size_t>(k)] =
        mesh.positions[static_cast<size_t>(mesh.triangles[t][k])].cast<double>();
  return result;
}

TEST(ClosestPoint, AgreesWithSearchesAlsoForTrianglesWithoutArea) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> part(-1, 1);
  const auto any = [&] { return Vec3d(part(random), part(random), part(random)); };
  for (int i = 0; i < 300; ++i) {
    std::array<Vec3d, 3> t{any(), any(), any()};
    if (i % 5 == 1) t[2] = t[1];
    if (i % 5 == 2) t[2] = t[1] = t[0];
    if (i % 5 == 3) t[2] = t[0] + 0.3 * (t[1] - t[0]);
    if (i % 5 == 4) t[2] = t[0] + 1e-9 * any();
    const Vec3d p = 2 * any(), w = closest_weights(t, p);
    EXPECT_NEAR(w.sum(), 1, 1e-12);
    EXPECT_GE(w.minCoeff(), 0);
    EXPECT_NEAR((at_weights(t, w) - p).norm(), test::slow_distance(t, p), 1e-7) << i;
  }
}

TEST(BoxTree, FindsEveryBoxAlsoAfterMoves) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> part(-1, 1);
  BoxTree tree(500);
  for (int round = 0; round < 4; ++round) {
    const double scale = round == 3 ? 1e4 : 1 + round, shift = round == 2 ? 1000 : 0;
    std::vector<Box3d> boxes;
    for (size_t i = 0; i < tree.size(); ++i) {
      const Vec3d a = scale * Vec3d(part(random), part(random), part(random));
      const Vec3d at = a.array() + shift;
      boxes.emplace_back(at, at + 0.2 * scale * (Vec3d(part(random), 1, 1).cwiseAbs()));
      if (i == 7) boxes.back() = Box3d(Vec3d::Constant(NAN), Vec3d::Constant(NAN));
      tree.set(i, boxes.back());
    }
    tree.update();
    for (int q = 0; q < 300; ++q) {
      // Points inside, and exactly on corners of boxes.
      Vec3d p = scale * Vec3d(part(random), part(random), part(random));
      p.array() += shift;
      if (q % 3 == 0) p = boxes[static_cast<size_t>(q)].max();
      if (!p.allFinite()) continue;
      const double radius = q % 2 == 0 ? 0 : 0.1 * scale;
      std::set<uint32_t> found;
      std::pair<std::set<uint32_t>*, double> context{&found, radius};
      tree.search(p, radius, &context, [](void* c, uint32_t item) {
        auto& [set, r] = *static_cast<std::pair<std::set<uint32_t>*, double>*>(c);
        set->insert(item);
        return r;
      });
      for (size_t i = 0; i < boxes.size(); ++i)
        if (i != 7 && boxes[i].exteriorDistance(p) <= radius) {
          EXPECT_TRUE(found.contains(static_cast<uint32_t>(i))) << round << ' ' << q << ' ' << i;
        }
      EXPECT_LT(found.size(), 200u);
    }
  }
}

TEST(SkinSurface, OfABoxIsExact) {
  const TriangleMesh box = test::make_box(Vec3f(1, 2, 3));
  const SkinSurface skin = surface_of(box, 0.25);
  EXPECT_EQ(skin.pieces().size(), 12u);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> part(-1, 4);
  for (int i = 0; i < 3000; ++i) {
    const Vec3d p(part(random), part(random), part(random));
    const Vec3d q = (p - Vec3d(0.5, 1, 1.5)).cwiseAbs() - Vec3d(0.5, 1, 1.5);
    const double exact = q.cwiseMax(0.0).norm() + std::min(0.0, q.maxCoeff());
    EXPECT_NEAR(skin.distance(p), exact, 1e-12);
    const NearestSkin nearest = skin.nearest(p);
    EXPECT_NEAR((nearest.point - p).norm(), std::abs(exact), 1e-12);
    EXPECT_LT((at_weights(corners(box, static_cast<size_t>(nearest.triangle)), nearest.weights) -
               nearest.point)
                  .norm(),
              1e-12);
  }
  // Signs a hair's breadth off the surface, on either side of it.
  for (int i = 0; i < 1000; ++i) {
    Vec3d p(0.2 * part(random), 0.5 * part(random), part(random));
    p = p.cwiseMax(0.01).cwiseMin(Vec3d(0.99, 1.99, 2.99));
    for (const double off : {1e-3, 1e-6, 1e-9}) {
      p[2] = 3 - off;
      EXPECT_NEAR(skin.distance(p), -off, 1e-12);
      p[2] = 3 + off;
      EXPECT_NEAR(skin.distance(p), off, 1e-12);
    }
  }
}

// Two spheres that overlap: their surfaces inside one another are none of the union's.
TEST(SkinSurface, OfOverlappingSpheresIsThatOfTheirUnion) {
  for (const bool turned : {false, true}) {
    TriangleMesh spheres = test::make_sphere(4), other = spheres;
    if (turned)
      for (Vec3i& t : other.triangles) std::swap(t[0], t[1]);
    test::append(spheres, other, Vec3f(1.2f, 0, 0));
    const double spacing = 0.1;
    const SkinSurface skin = surface_of(spheres, spacing);
    // Inside the lens the closest points of the union lie on the circle x = 0.6, radius 0.8.
    std::mt19937 random(4);
    std::uniform_real_distribution<double> part(-1.2, 2.4);
    int lens = 0;
    for (int i = 0; i < 6000; ++i) {
      const Vec3d p(part(random), part(random) / 1.2, part(random) / 1.2);
      const double a = p.norm() - 1, b = (p - Vec3d(1.2, 0, 0)).norm() - 1;
      if (std::abs(a) < 0.01 || std::abs(b) < 0.01) continue;
      const bool inside = a < 0 || b < 0;
      EXPECT_EQ(skin.is_inside(p), inside) << p.transpose();
      // The closest point of each sphere counts only outside of the other one.
      const Vec3d ring(0.6, 0, 0), flat(0, p[1], p[2]);
      double expected = (ring + 0.8 * flat.stableNormalized() - p).norm();
      for (const double centre : {0.0, 1.2}) {
        const Vec3d c(centre, 0, 0), at = c + (p - c).normalized();
        if ((at - Vec3d(1.2 - centre, 0, 0)).norm() > 1)
          expected = std::min(expected, (at - p).norm());
      }
      lens += a < 0 && b < 0;
      EXPECT_NEAR(skin.distance(p), inside ? -expected : expected, 0.3 * spacing) << p.transpose();
    }
    EXPECT_GT(lens, 100);
  }
}

TEST(SkinSurface, LeavesOutWhatIsBuriedAndMarksSheets) {
  TriangleMesh mesh = test::make_box(Vec3f(4, 4, 4));
  const size_t box = mesh.triangles.size();
  test::append(mesh, test::make_sphere(2), Vec3f(2, 2, 2));  // buried, and a cavity turned round
  const size_t buried = mesh.triangles.size();
  TriangleMesh sheet;
  sheet.positions = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  test::append(mesh, sheet, Vec3f(6, 1, 2));
  const SkinSurface skin = surface_of(mesh, 0.3);
  std::set<int32_t> outer, sheets;
  for (const SkinPiece& p : skin.pieces())
    (p.kind == SkinKind::sheet ? sheets : outer).insert(p.triangle);
  EXPECT_EQ(outer.size(), box);
  EXPECT_EQ(sheets.size(), 2u);
  for (const int32_t t : outer) EXPECT_LT(static_cast<size_t>(t), box);
  for (const int32_t t : sheets) EXPECT_GE(static_cast<size_t>(t), buried);
  EXPECT_NEAR(skin.distance({2, 2, 2}), -2, 1e-12);
  EXPECT_NEAR(skin.distance({7, 2, 2.01}), 3, 1e-12);  // sheets have no surface of their own
  EXPECT_FALSE(skin.is_inside({7, 2, 1.99}));
}

TEST(SkinSurface, TurnsPiecesOutwards) {
  TriangleMesh mesh = test::make_sphere(3);
  for (Vec3i& t : mesh.triangles) std::swap(t[0], t[2]);
  const SkinSurface skin = surface_of(mesh, 0.2);
  EXPECT_EQ(skin.pieces().size(), mesh.triangles.size());
  for (const SkinPiece& p : skin.pieces()) {
    EXPECT_TRUE(p.turned);
    EXPECT_GT(p.normal().dot(p.corners[0]), 0.9);
  }
  EXPECT_LT(skin.distance(Vec3d::Zero()), -0.9);
}

// A box of six loose, unwelded patches, one of them turned: only the enclosure tells its inside.
TEST(SkinSurface, FindsTheInsideOfTurnedPatches) {
  TriangleMesh mesh = test::make_box(Vec3f(2, 2, 2)), loose;
  for (size_t t = 0; t < 12; t += 2) {
    TriangleMesh patch{mesh.positions, {mesh.triangles[t], mesh.triangles[t + 1]}};
    for (Vec3f& p : patch.positions) p = 1e-4f * Vec3f::Ones() * static_cast<float>(t % 3) + p;
    if (t == 4)
      for (Vec3i& s : patch.triangles) std::swap(s[0], s[1]);
    test::append(loose, patch, Vec3f::Zero());
  }
  const SkinSurface skin = surface_of(loose, 0.15);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(-0.5, 2.5);
  int wrong = 0, all = 0;
  for (int i = 0; i < 5000; ++i) {
    const Vec3d p(part(random), part(random), part(random));
    const Vec3d q = (p - Vec3d::Ones()).cwiseAbs() - Vec3d::Ones();
    const double exact = q.cwiseMax(0.0).norm() + std::min(0.0, q.maxCoeff());
    if (std::abs(exact) < 0.01) continue;
    ++all;
    wrong += (skin.distance(p) < 0) != (exact < 0);
  }
  EXPECT_LT(wrong, all / 100);
}

TEST(SkinSurface, NearestIsThatOfAllTriangles) {
  const TriangleMesh mesh = test::make_sphere(3);
  const SkinSurface skin = surface_of(mesh, 0.2);
  std::mt19937 random(6);
  std::uniform_real_distribution<double> part(-2, 2);
  for (int i = 0; i < 12; ++i) {
    const Vec3d p(part(random), part(random), part(random));
    double least = 1e9;
    for (size_t t = 0; t < mesh.triangles.size(); ++t)
      least = std::min(least, test::slow_distance(corners(mesh, t), p));
    EXPECT_NEAR(skin.nearest(p).distance, least, 1e-7);
  }
  // Equally close to several triangles: always the first.
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    const Vec3d p = 1.5 * mesh.positions[v].cast<double>();
    int32_t first = -1;
    for (size_t t = 0; t < mesh.triangles.size() && first < 0; ++t)
      if ((mesh.triangles[t].array() == static_cast<int32_t>(v)).any())
        first = static_cast<int32_t>(t);
    EXPECT_EQ(skin.nearest(p).triangle, first);
  }
}

TEST(SkinSurface, RefusesOrBearsOddInput) {
  const TriangleMesh box = test::make_box(Vec3f(1, 1, 1));
  const auto refused = [&](const TriangleMesh& mesh, double spacing) {
    return test::problem_of([&] { surface_of(mesh, spacing); }, ErrorKind::input);
  };
  EXPECT_NE(refused({}, 0.1).find("no triangles"), std::string::npos);
  EXPECT_NE(refused(box, 0).find("spacing"), std::string::npos);
  EXPECT_NE(refused(box, NAN).find("spacing"), std::string::npos);
  EXPECT_NE(refused(box, 1e-9).find("2^30"), std::string::npos);
  TriangleMesh bad = box;
  bad.positions[3][1] = NAN;
  EXPECT_NE(refused(bad, 0.1).find("vertex 3"), std::string::npos);
  bad = box;
  bad.triangles[4][2] = 8;
  EXPECT_NE(refused(bad, 0.1).find("triangle 4"), std::string::npos);

  // Triangles without area, a single sheet, and points nowhere.
  TriangleMesh flat;
  flat.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  flat.triangles = {{0, 1, 2}, {0, 0, 1}, {2, 2, 2}};
  EXPECT_TRUE(surface_of(flat, 0.1).pieces().empty());
  EXPECT_EQ(surface_of(flat, 0.1).distance({0, 0, 0}), INFINITY);
  flat.positions[2] = Vec3f(0, 1, 0);
  EXPECT_EQ(surface_of(flat, 0.1).nearest({0, 0, 1}).triangle, -1);
  const SkinSurface skin = surface_of(box, 0.1);
  EXPECT_FALSE(skin.is_inside({NAN, 0.5, 0.5}));
  EXPECT_EQ(skin.distance({0.5, INFINITY, 0.5}), INFINITY);
  EXPECT_NEAR(skin.distance({0.5, 0.5, 1e20}) / 1e20, 1, 1e-6);
  EXPECT_NEAR(skin.distance({0.5, 0.5, 1e300}) / 1e300, 1, 1e-6);
}

class RealSkin : public ::testing::TestWithParam<const char*> {};

TEST_P(RealSkin, HasRightDistances) {
  SUPPLE_NEEDS_ASSETS();
  const TriangleMesh mesh = test::real_skin(GetParam());
  const Box3d box = bounding_box(mesh.positions).cast<double>();
  const double spacing = box.sizes().maxCoeff() / 48;
  const Stopwatch timer;
  const SkinSurface skin = surface_of(mesh, spacing);
  std::printf("%s: %zu triangles, %zu pieces, built in %.0f ms\n", GetParam(),
              mesh.triangles.size(), skin.pieces().size(), 1e3 * timer.seconds());

  // Every vertex is at the surface, of a sheet, or buried: wholly inside.
  std::vector<bool> of_sheet(mesh.positions.size(), false), used(mesh.positions.size(), false);
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) used[static_cast<size_t>(t[k])] = true;
  for (const SkinPiece& p : skin.pieces())
    if (p.kind == SkinKind::sheet)
      for (int k = 0; k < 3; ++k)
        of_sheet[static_cast<size_t>(mesh.triangles[static_cast<size_t>(p.triangle)][k])] = true;
  size_t lost = 0, at_surface = 0, total = 0;
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    if (!used[v]) continue;
    const double distance = skin.distance(mesh.positions[v].cast<double>());
    ++total;
    at_surface += std::abs(distance) < 1e-6 * spacing;
    lost += distance > 0.1 * spacing && !of_sheet[v];
  }
  EXPECT_LE(lost, total / 500) << at_surface << " at the surface of " << total;
  EXPECT_GT(at_surface, total / 4);

  // Signs agree with the winding number where that is clear, away from the borders of holes.
  const std::vector<uint8_t> open = triangles_of_open_shells(mesh.positions, mesh.triangles);
  TriangleMesh closed{mesh.positions, {}};
  for (size_t t = 0; t < mesh.triangles.size(); ++t)
    if (open[t] == 0) closed.triangles.push_back(mesh.triangles[t]);
  const VoxelGrid grid = voxelise(mesh.positions, mesh.triangles, {.spacing = spacing});
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(0, 1);
  size_t wrong = 0, asked = 0;
  for (int i = 0; i < 3000; ++i) {
    const Vec3d p =
        box.min() + Vec3d(part(random), part(random), part(random)).cwiseProduct(box.sizes());
    const double distance = skin.distance(p);
    const double winding = winding_number(mesh.positions, closed.triangles, p);
    const CellKind kind = grid.kind_at(p);
    ++asked;
    if (std::abs(winding) > 0.5 || kind == CellKind::inside)
      wrong += distance >= 0;
    else if (kind == CellKind::outside)
      wrong += distance < 0;
  }
  EXPECT_LE(wrong, asked / 500);
}

INSTANTIATE_TEST_SUITE_P(Characters, RealSkin,
                         ::testing::Values("CesiumMan.glb", "KayKit-Barbarian.glb",
                                           "quaternius-modular_women-Casual.glb", "human.glb"));

TEST(SkinSurface, HasTheSameBitsForAnyNumberOfThreads) {
  TriangleMesh mesh = test::make_sphere(4);
  test::append(mesh, test::make_sphere(4), Vec3f(0.9f, 0.3f, 0));
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    const SkinSurface skin = surface_of(mesh, 0.15);
    std::vector<double> values;
    for (const SkinPiece& p : skin.pieces())
      for (const Vec3d& c : p.corners) values.insert(values.end(), c.data(), c.data() + 3);
    std::mt19937 random(8);
    std::uniform_real_distribution<double> part(-1, 2);
    for (int i = 0; i < 300; ++i)
      values.push_back(skin.distance({part(random), part(random), part(random)}));
    if (first.empty()) first = values;
    EXPECT_EQ(values, first);
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace supple
