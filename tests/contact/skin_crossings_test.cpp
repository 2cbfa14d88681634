// Vertices of a skin within other parts of it, by triangles alone: against a plain search through
// all of them, on bars that are folded and crumpled.
#include "supple/contact/skin_crossings.h"

#include <gtest/gtest.h>

#include <map>
#include <numbers>
#include <numeric>
#include <random>

#include "contact/contact_shapes.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr double spacing = 0.1;

std::vector<int32_t> all_vertices(const TriangleMesh& mesh) {
  std::vector<int32_t> all(mesh.positions.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// A box from the origin to `size`.
TriangleMesh box(const Vec3d& size) {
  TriangleMesh mesh = box_surface(size, 0.1);
  for (Vec3f& p : mesh.positions) p += 0.5f * size.cast<float>();
  return welded_mesh(weld_by_position(mesh.positions), mesh.positions, mesh.triangles);
}

TriangleMesh bar() { return box(Vec3d(4, 0.5, 0.6)); }

// A second box, 3 m from the first, narrower and 0.07 m deep in the middle of its side.
std::vector<Vec3f> pushed_in(const TriangleMesh& boxes) {
  std::vector<Vec3f> posed = boxes.positions;
  for (Vec3f& p : posed)
    if (p[0] > 1.5f) p = Vec3f(p[0] - 2.07f, 0.6f * p[1] + 0.2f, 0.6f * p[2] + 0.2f);
  return posed;
}

// A bar bent about z around its middle, so tightly that its inner sides meet; rough by `noise`.
std::vector<Vec3f> folded(const TriangleMesh& mesh, double degrees, double noise, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> off(-noise, noise);
  std::vector<Vec3f> result;
  for (const Vec3f& p : mesh.positions) {
    const Vec3d x = p.cast<double>();
    // The inner sides are beyond the middle of the bend by 0.04 each.
    constexpr double begin = 1.7, radius = 0.21;
    const double length = radius * degrees * std::numbers::pi / 180;
    const double t = std::clamp((x[0] - begin) / length, 0.0, 1.0);
    const double angle = t * degrees * std::numbers::pi / 180;
    const Vec3d out(std::sin(angle), -std::cos(angle), 0),
        along(std::cos(angle), std::sin(angle), 0);
    const double beyond = x[0] - begin - t * length;
    // One half is narrower, so that no sides coincide.
    Vec3d y = Vec3d(begin, radius, (1 - 0.1 * t) * x[2] + 0.02) + (radius + 0.25 - x[1]) * out +
              beyond * along;
    for (int c = 0; c < 3; ++c) y[c] += off(random);
    result.push_back(y.cast<float>());
  }
  return result;
}

// What crosses by the definition: all triangles are asked, sums have one arc tangent each.
std::map<int32_t, double> plain_crossings(const TriangleMesh& mesh, std::span<const Vec3f> posed) {
  const auto corner = [&](const Vec3i& t, int k) -> Vec3d {
    return posed[static_cast<size_t>(t[k])].cast<double>();
  };
  std::vector<Vec3d> normals(posed.size(), Vec3d::Zero());
  for (const Vec3i& t : mesh.triangles)
    for (const int v : t)
      normals[static_cast<size_t>(v)] +=
          (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0));
  std::map<int32_t, double> found;
  for (size_t v = 0; v < posed.size(); ++v) {
    const Vec3d x = posed[v].cast<double>();
    const Vec3d at = x + 0.02 * 2 * spacing * normals[v].normalized();
    double whole = 0, own = 0, depth = 2 * spacing;
    bool is_behind = false;
    for (const Vec3i& t : mesh.triangles) {
      double nearest = 1e9;
      for (const int c : t)
        nearest = std::min(
            nearest, static_cast<double>(
                         (mesh.positions[static_cast<size_t>(c)] - mesh.positions[v]).norm()));
      const Vec3d a = corner(t, 0) - at, b = corner(t, 1) - at, c = corner(t, 2) - at;
      const double angle =
          std::atan2(a.dot(b.cross(c)), a.norm() * b.norm() * c.norm() + a.dot(b) * c.norm() +
                                            b.dot(c) * a.norm() + c.dot(a) * b.norm()) /
          (2 * std::numbers::pi);
      whole += angle;
      if (nearest < 2 * spacing) own += angle;
      const auto way_to = [&](const TriangleCorners& corners, const Vec3d& from) -> Vec3d {
        const Vec3d way = at_weights(corners, closest_weights(corners, from)) - from;
        const Vec3d n = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
        return n.dot(way) > 0.5 * way.norm() ? way : Vec3d::Constant(NAN);
      };
      const auto rest = [&](int k) -> Vec3d {
        return mesh.positions[static_cast<size_t>(t[k])].cast<double>();
      };
      if (nearest < spacing) continue;
      if (nearest < 2 * spacing &&
          way_to({rest(0), rest(1), rest(2)}, mesh.positions[v].cast<double>()).allFinite())
        continue;
      const Vec3d way = way_to({corner(t, 0), corner(t, 1), corner(t, 2)}, x);
      if (way.norm() > 2e-6 * spacing && way.norm() < depth) {
        depth = way.norm();
        is_behind = true;
      }
    }
    if (is_behind && whole > 0.5 && whole - own > 0.75) found[static_cast<int32_t>(v)] = depth;
  }
  return found;
}

TEST(SkinCrossings, AreThoseOfAPlainSearch) {
  const TriangleMesh mesh = bar();
  const SkinSurface skin(mesh.positions, mesh.triangles, spacing);
  SkinCrossings crossings(skin, all_vertices(mesh));
  std::vector<SkinCrossing> found;
  size_t most = 0;
  for (const double degrees : {176.0, 180.0, 182.0})
    for (const double noise : {0.0, 0.02, 0.05}) {
      const std::vector<Vec3f> posed = folded(mesh, degrees, noise, 3);
      crossings.find(posed, found);
      const std::map<int32_t, double> plain = plain_crossings(mesh, posed);
      // Winding numbers are near enough 0 or 1 that a few thousandths decide next to nothing.
      size_t differ = 0;
      for (const SkinCrossing& c : found) {
        const auto same = plain.find(c.vertex);
        if (same == plain.end())
          ++differ;
        else
          EXPECT_NEAR(c.depth, same->second, 1e-7);
      }
      EXPECT_LE(differ, 1u);
      EXPECT_LE(plain.size(), found.size() - differ + 1);
      most = std::max(most, plain.size());
    }
  EXPECT_GT(most, 100u);
  // In the bend, some through their own surface.
  crossings.find(folded(mesh, 180, 0.03, 3), found);
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const SkinCrossing& c) { return c.own; }));
}

TEST(SkinCrossings, LeadOutOfTheOtherPart) {
  TriangleMesh boxes = box(Vec3d(1, 1, 1));
  const TriangleMesh other = boxes;
  test::append(boxes, other, Vec3f(3, 0, 0));
  const SkinSurface skin(boxes.positions, boxes.triangles, spacing);
  SkinCrossings crossings(skin, all_vertices(boxes));
  const std::vector<Vec3f> posed = pushed_in(boxes);
  std::vector<SkinCrossing> found;
  crossings.find(posed, found);
  size_t second = 0;
  for (const SkinCrossing& c : found) {
    EXPECT_LT(c.depth, 0.0701);
    EXPECT_FALSE(c.own);
    EXPECT_NEAR(c.weights.sum(), 1, 1e-12);
    // A little further than to its end the way leads out.
    const Vec3d out =
        posed[static_cast<size_t>(c.vertex)].cast<double>() + (c.depth + 1e-4) * c.way;
    const bool of_second = boxes.positions[static_cast<size_t>(c.vertex)][0] > 1.5f;
    const Box3d other_box = of_second ? Box3d(Vec3d(0, 0, 0), Vec3d(1, 1, 1))
                                      : Box3d(Vec3d(0.93, 0.2, 0.2), Vec3d(1.93, 0.8, 0.8));
    EXPECT_FALSE(other_box.contains(out)) << out.transpose();
    second += of_second ? 1 : 0;
  }
  EXPECT_GE(second, 117u);  // of the 121 vertices of the side that is in the first box
  EXPECT_LE(second, 121u);
}

TEST(SkinCrossings, AreNoneAtRestOrApart) {
  // A part that is in another one at rest.
  TriangleMesh mesh = box(Vec3d(2, 2, 2));
  test::append(mesh, box(Vec3d(0.5, 0.5, 0.5)), Vec3f(0.75f, 0.75f, 0.75f));
  const SkinSurface skin(mesh.positions, mesh.triangles, spacing);
  SkinCrossings crossings(skin, all_vertices(mesh), {.search = 10});
  std::vector<SkinCrossing> found;
  crossings.find(mesh.positions, found);
  EXPECT_TRUE(found.empty());
  std::vector<Vec3f> posed = mesh.positions;
  for (Vec3f& p : posed) p = Vec3f(-0.9f * p[1], 1.1f * p[0] + 0.1f * p[2] * p[2], p[2]);
  crossings.find(posed, found);
  EXPECT_TRUE(found.empty());
}

TEST(SkinCrossings, KnowTheOutsideOfShellsThatFaceInwards) {
  TriangleMesh mesh = box(Vec3d(1, 1, 1));
  for (Vec3i& t : mesh.triangles) std::swap(t[0], t[1]);
  test::append(mesh, box(Vec3d(1, 1, 1)), Vec3f(3, 0, 0));
  const SkinSurface skin(mesh.positions, mesh.triangles, spacing);
  SkinCrossings crossings(skin, all_vertices(mesh));
  std::vector<SkinCrossing> found;
  crossings.find(pushed_in(mesh), found);
  EXPECT_GT(found.size(), 117u);
}

TEST(SkinCrossings, AreFoundAroundCertainVerticesAlone) {
  const TriangleMesh mesh = bar();
  const SkinSurface skin(mesh.positions, mesh.triangles, spacing);
  SkinCrossings crossings(skin, all_vertices(mesh));
  const std::vector<Vec3f> posed = folded(mesh, 180, 0, 1);
  std::vector<SkinCrossing> all, some, none;
  crossings.find(posed, all);
  ASSERT_GT(all.size(), 20u);
  const std::vector<int32_t> certain{all[0].vertex};
  crossings.find_around(certain, 1, posed, some);
  crossings.find_around({}, 1, posed, none);
  EXPECT_TRUE(none.empty());
  EXPECT_LT(some.size(), all.size());
  std::map<int32_t, double> depths;
  for (const SkinCrossing& c : all) depths[c.vertex] = c.depth;
  const Vec3f at = mesh.positions[static_cast<size_t>(certain[0])];
  for (const SkinCrossing& c : some) EXPECT_EQ(depths.at(c.vertex), c.depth);
  for (const SkinCrossing& c : all) {
    if ((mesh.positions[static_cast<size_t>(c.vertex)] - at).norm() > static_cast<float>(spacing))
      continue;
    EXPECT_TRUE(std::any_of(some.begin(), some.end(),
                            [&](const SkinCrossing& s) { return s.vertex == c.vertex; }));
  }
}

TEST(SkinCrossings, SameBitsForAnyThreads) {
  const TriangleMesh mesh = bar();
  const SkinSurface skin(mesh.positions, mesh.triangles, spacing);
  SkinCrossings crossings(skin, all_vertices(mesh));
  std::vector<SkinCrossing> found[3];
  for (const int call : {0, 1, 2}) {
    set_thread_count(call == 2 ? 1 : 2);
    crossings.find(folded(mesh, 181, 0.03, 9), found[call]);
  }
  set_thread_count(0);
  ASSERT_GT(found[0].size(), 20u);
  for (const int call : {1, 2}) {
    ASSERT_EQ(found[0].size(), found[call].size());
    for (size_t i = 0; i < found[0].size(); ++i) {
      EXPECT_EQ(found[0][i].vertex, found[call][i].vertex);
      EXPECT_EQ(found[0][i].triangle, found[call][i].triangle);
      EXPECT_EQ(found[0][i].depth, found[call][i].depth);
      EXPECT_EQ(found[0][i].weights, found[call][i].weights);
      EXPECT_EQ(found[0][i].own, found[call][i].own);
    }
  }
}

TEST(SkinCrossings, AreNoneOfWhatIsNoNumber) {
  const TriangleMesh mesh = bar();
  const SkinSurface skin(mesh.positions, mesh.triangles, spacing);
  SkinCrossings crossings(skin, all_vertices(mesh));
  std::vector<Vec3f> posed = folded(mesh, 180, 0, 1);
  posed[11][1] = NAN;
  std::vector<SkinCrossing> found(3);
  crossings.find(posed, found);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace supple
