// Cages are cut between limbs that stand close, and nowhere else.
#include "supple/mesh/tet_limbs.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "mesh/shapes.h"
#include "supple/core/parallel.h"
#include "supple/mesh/tet_cage.h"

namespace supple {
namespace {

using test::append;
using test::make_box;

// Two legs of 0.2 by 0.2 under a hip, with a narrow gap between; and a ball beside one that touches
// nothing.
constexpr float gap = 0.03f;

TriangleMesh trousers(bool with_ball = false) {
  TriangleMesh mesh = make_box(Vec3f(0.2f, 1, 0.2f));
  append(mesh, make_box(Vec3f(0.2f, 1, 0.2f)), Vec3f(0.2f + gap, 0, 0));
  append(mesh, make_box(Vec3f(0.4f + gap, 0.2f, 0.2f)), Vec3f(0, 0.9f, 0));
  if (with_ball) append(mesh, make_box(Vec3f(0.03f, 0.03f, 0.03f)), Vec3f(0.45f + gap, 0.2f, 0.1f));
  return mesh;
}

TetCage cage_of(const TriangleMesh& skin, int elements) {
  TetCageOptions options;
  options.elements = elements;
  return make_tet_cage(skin, {}, options);
}

std::vector<Vec3d> points_of(const TriangleMesh& mesh) {
  std::vector<Vec3d> points;
  for (const Vec3f& p : mesh.positions) points.push_back(p.cast<double>());
  return points;
}

// Sets of nodes that elements join.
std::vector<int32_t> joined(const TetMesh& mesh, double below) {
  std::vector<int32_t> set(mesh.positions.size());
  std::iota(set.begin(), set.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Vec4i& tet : mesh.tets) {
      double top = -1e9;
      int32_t least = set[static_cast<size_t>(tet[0])];
      for (int c = 0; c < 4; ++c) {
        top = std::max(top, mesh.positions[static_cast<size_t>(tet[c])][1]);
        least = std::min(least, set[static_cast<size_t>(tet[c])]);
      }
      if (top > below) continue;
      for (int c = 0; c < 4; ++c) {
        int32_t& own = set[static_cast<size_t>(tet[c])];
        changed |= own != least;
        own = least;
      }
    }
  }
  return set;
}

TEST(CutCage, LegsShareNothingBelowTheHip) {
  for (const int elements : {80, 200, 800}) {
    const TriangleMesh skin = trousers();
    const TetCage cage = cage_of(skin, elements);
    const CutCage cut(cage.mesh, skin, cage.spacing);
    ASSERT_GT(cut.copies(), 4u) << elements;
    const double below = 0.9 - 2.5 * cage.spacing;
    const std::vector<int32_t> before = joined(cage.mesh, below), after = joined(cut.mesh, below);
    const std::vector<TetLocation> places = cut.locate(points_of(skin));
    std::set<int32_t> left, right;
    for (size_t v = 0; v < skin.positions.size(); ++v) {
      const Vec3f& p = skin.positions[v];
      if (p[1] > 0.01f) continue;
      const Vec4i& tet = cut.mesh.tets[static_cast<size_t>(places[v].tet)];
      (p[0] < 0.2f + gap / 2 ? left : right).insert(after[static_cast<size_t>(tet[0])]);
    }
    ASSERT_FALSE(left.empty());
    for (const int32_t set : left) EXPECT_FALSE(right.contains(set)) << elements;
    // That would not be so without cuts.
    EXPECT_GT(std::set<int32_t>(after.begin(), after.end()).size(),
              std::set<int32_t>(before.begin(), before.end()).size())
        << elements;
  }
}

TEST(CutCage, KeepsPlacesAndMatter) {
  const TriangleMesh skin = trousers();
  const TetCage cage = cage_of(skin, 100);
  const CutCage cut(cage.mesh, skin, cage.spacing);
  // Points of the skin, then others near them.
  std::vector<Vec3d> points = points_of(skin);
  for (size_t v = 0; v < skin.positions.size(); ++v)
    points.emplace_back(points[v] + Vec3d(0.001, -0.002, 0.0005));
  const std::vector<TetLocation> places = cut.locate(points);
  for (size_t p = 0; p < points.size(); ++p) {
    Vec3d at = Vec3d::Zero();
    for (int c = 0; c < 4; ++c)
      at +=
          places[p].weights[c] *
          cut.mesh
              .positions[static_cast<size_t>(cut.mesh.tets[static_cast<size_t>(places[p].tet)][c])];
    EXPECT_LT((at - points[p]).norm(), 1e-9);
  }
  const TetFilling before = fill_tets(cage.mesh, skin), after = cut.divide(before);
  double was = 0, is = 0;
  Vec3d centre_was = Vec3d::Zero(), centre_is = Vec3d::Zero();
  const auto add = [](const TetMesh& mesh, const TetFilling& filling, double& sum, Vec3d& centre) {
    for (size_t e = 0; e < mesh.tets.size(); ++e) {
      sum += filling.shares[e].sum();
      EXPECT_NEAR(filling.shares[e].sum(), filling.filled[e] * six_volumes(mesh, mesh.tets[e]) / 6,
                  1e-9);
      for (int c = 0; c < 4; ++c)
        centre += filling.shares[e][c] * mesh.positions[static_cast<size_t>(mesh.tets[e][c])];
    }
  };
  add(cage.mesh, before, was, centre_was);
  add(cut.mesh, after, is, centre_is);
  EXPECT_NEAR(is, was, 0.01 * was);
  EXPECT_LT((centre_is / is - centre_was / was).norm(), 0.01);
  // Every node has one home, and copies stay where they were.
  std::vector<int> homes(cage.mesh.positions.size(), 0), copies = homes;
  for (size_t n = 0; n < cut.node_before.size(); ++n) {
    const auto old = static_cast<size_t>(cut.node_before[n]);
    homes[old] += cut.at_home[n];
    ++copies[old];
    EXPECT_EQ(cut.mesh.positions[n], cage.mesh.positions[old]);
  }
  for (size_t n = 0; n < homes.size(); ++n) {
    if (copies[n] > 0) {
      EXPECT_EQ(homes[n], 1);
    }
  }
}

TEST(CutCage, LeavesWholeBodiesAlone) {
  for (const int elements : {50, 600}) {
    const TriangleMesh skin = make_box(Vec3f(0.4f, 0.3f, 0.5f));
    const TetCage cage = cage_of(skin, elements);
    const CutCage cut(cage.mesh, skin, cage.spacing);
    EXPECT_EQ(cut.copies(), 0u);
    EXPECT_EQ(cut.mesh.positions, cage.mesh.positions);
    EXPECT_EQ(cut.mesh.tets, cage.mesh.tets);
  }
}

// What touches nothing goes with what is nearest: here the right leg.
TEST(CutCage, LooseShellsStayWithTheirNeighbour) {
  const TriangleMesh skin = trousers(true);
  const TetCage cage = cage_of(skin, 100);
  const CutCage cut(cage.mesh, skin, cage.spacing);
  const std::vector<int32_t> sets = joined(cut.mesh, 0.9 - 1.5 * cage.spacing);
  const std::vector<TetLocation> places = cut.locate(points_of(skin));
  const auto set_of = [&](size_t vertex) {
    return sets[static_cast<size_t>(cut.mesh.tets[static_cast<size_t>(places[vertex].tet)][0])];
  };
  size_t foot = 0;
  for (size_t v = 0; v < skin.positions.size(); ++v)
    if (skin.positions[v][1] < 0.01f && skin.positions[v][0] > 0.2f + gap / 2) foot = v;
  for (size_t v = 0; v < skin.positions.size(); ++v) {
    if (skin.positions[v][0] > 0.44f + gap) {
      EXPECT_EQ(set_of(v), set_of(foot));
    }
  }
}

TEST(CutCage, IsTheSameForAnyNumberOfThreads) {
  const TriangleMesh skin = trousers();
  const TetCage cage = cage_of(skin, 200);
  const CutCage all(cage.mesh, skin, cage.spacing);
  set_thread_count(1);
  const CutCage one(cage.mesh, skin, cage.spacing);
  set_thread_count(0);
  EXPECT_EQ(all.mesh.tets, one.mesh.tets);
  EXPECT_EQ(all.tet_before, one.tet_before);
}

}  // namespace
}  // namespace supple
