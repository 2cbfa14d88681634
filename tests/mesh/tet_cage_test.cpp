// Cages: they hold the skin and the solid, are conforming and well shaped, have about as many
// elements as wanted, and nodes where points were placed.
#include "supple/mesh/tet_cage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "mesh/cage_checks.h"
#include "mesh/shapes.h"
#include "supple/core/parallel.h"
#include "supple/core/timer.h"
#include "supple/io/load.h"
#include "supple/mesh/primitives.h"
#include "support/test_support.h"

namespace supple {
namespace {

using test::expect_conforming;
using test::expect_sound;
using test::points_outside;

struct NamedSkin {
  std::string name;
  TriangleMesh skin;
  bool solid = true;
};

TriangleMesh transformed(TriangleMesh mesh, const Affine& by) {
  for (Vec3f& p : mesh.positions) p = (by * p.cast<double>()).cast<float>();
  return mesh;
}

std::vector<NamedSkin> plain_skins() {
  std::vector<NamedSkin> skins;
  skins.push_back({"sphere", test::make_sphere(4)});
  skins.push_back({"box", test::make_box(Vec3f(1, 2, 3))});
  skins.push_back({"plate", test::make_box(Vec3f(1, 0.01f, 1.5f))});
  Affine turn = Affine::Identity();
  turn.rotate(Eigen::AngleAxisd(0.7, Vec3d(1, 2, 3).normalized()));
  skins.push_back({"rod", transformed(box_surface(Vec3d(0.02, 1, 0.02), 0.02), turn)});
  TriangleMesh two = test::make_sphere(4);
  test::append(two, test::make_sphere(4), Vec3f(1.2f, 0.3f, 0));
  skins.push_back({"two overlapping spheres", two});
  TriangleMesh apart = test::make_sphere(3);
  test::append(apart, test::make_sphere(3), Vec3f(40, 30, 10));
  skins.push_back({"two spheres far apart", apart});
  skins.push_back({"dome", test::make_dome(4)});
  TriangleMesh sheet;
  for (int z = 0; z <= 10; ++z)
    for (int x = 0; x <= 10; ++x)
      sheet.positions.emplace_back(x * 0.1f, 0.1f * std::sin(x * 0.5f), z * 0.2f);
  for (int z = 0; z < 10; ++z)
    for (int x = 0; x < 10; ++x) {
      const int a = 11 * z + x;
      sheet.triangles.emplace_back(a, a + 11, a + 1);
      sheet.triangles.emplace_back(a + 1, a + 11, a + 12);
    }
  skins.push_back({"sheet", sheet, false});
  TriangleMesh flat = sheet;
  for (Vec3f& p : flat.positions) p[1] = 0;
  skins.push_back({"flat sheet", flat, false});
  skins.push_back({"far away", transformed(test::make_sphere(3),
                                           Affine(Eigen::Translation3d(1000, -500, 200)))});
  skins.push_back({"tiny", transformed(test::make_sphere(3), Affine(Eigen::Scaling(1e-4)))});
  return skins;
}

void expect_placed(const TetCage& cage, std::span<const Vec3d> points, const std::string& name) {
  ASSERT_EQ(cage.nodes_of_points.size(), points.size()) << name;
  int shared = 0, unplaced = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3d& at = cage.mesh.positions[static_cast<size_t>(cage.nodes_of_points[i])];
    const double distance = (at - points[i]).norm();
    EXPECT_EQ(distance, cage.distances_of_points[i]) << name;
    EXPECT_LE(distance, cage.farthest) << name;
    if (distance == 0) continue;
    bool has_company = false;  // with one that is exactly there
    for (size_t j = 0; j < points.size(); ++j)
      has_company = has_company || (cage.nodes_of_points[j] == cage.nodes_of_points[i] &&
                                    cage.distances_of_points[j] == 0);
    (has_company && distance < 0.25 * cage.spacing ? shared : unplaced) += 1;
  }
  EXPECT_EQ(shared, cage.shared) << name;
  EXPECT_EQ(unplaced, cage.unplaced) << name;
}

TEST(TetCage, HoldsSkinsOfAllKinds) {
  for (const NamedSkin& s : plain_skins())
    for (const int elements : {1, 50, 200, 1000}) {
      const std::string name = s.name + " " + std::to_string(elements);
      const TetCage cage = make_tet_cage(s.skin, {}, {.elements = elements});
      expect_sound(cage, s.skin, name, 59.99);
      if (s.solid) {
        EXPECT_EQ(points_outside(cage.mesh, test::solid_points(s.skin, 200, 3)), 0) << name;
      }
    }
}

TEST(TetCage, HasAboutTheWantedElements) {
  for (const NamedSkin& s : plain_skins())
    for (const int elements : {50, 200, 1000, 8600, 40000}) {
      const TetCage cage = make_tet_cage(s.skin, {}, {.elements = elements});
      const auto count = static_cast<double>(cage.mesh.tets.size());
      EXPECT_NEAR(count / elements, 1, 0.15) << s.name << " " << elements << ": " << count;
    }
}

TEST(TetCage, SingleElementsHoldWhatTheyCan) {
  for (const NamedSkin& s : plain_skins()) {
    const TetCage cage = make_tet_cage(s.skin, {}, {.elements = 1});
    EXPECT_EQ(cage.mesh.tets.size(), 1u) << s.name;
  }
}

// The smallest distance of a tetrahedron from the origin, which is outside it.
double distance_from_origin(const TetMesh& mesh, const Vec4i& tet) {
  if (tet_weights(mesh, tet, Vec3d::Zero()).minCoeff() >= 0) return 0;
  double nearest = INFINITY;
  constexpr int steps = 60;  // the sides, point by point
  static constexpr int sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  for (const auto& side : sides)
    for (int u = 0; u <= steps; ++u)
      for (int v = 0; u + v <= steps; ++v)
        nearest =
            std::min(nearest, ((steps - u - v) * mesh.positions[static_cast<size_t>(tet[side[0]])] +
                               u * mesh.positions[static_cast<size_t>(tet[side[1]])] +
                               v * mesh.positions[static_cast<size_t>(tet[side[2]])])
                                      .norm() /
                                  steps);
  return nearest;
}

TEST(TetCage, HasNoEmptyElements) {
  const TriangleMesh ball = test::make_sphere(5);
  for (const int elements : {100, 2000}) {
    const TetCage cage = make_tet_cage(ball, {}, {.elements = elements});
    for (const Vec4i& tet : cage.mesh.tets)
      EXPECT_LT(distance_from_origin(cage.mesh, tet), 1 + 1e-3 * cage.spacing);
  }
}

TEST(TetCage, PutsNodesOnPoints) {
  int unplaced = 0, tried = 0;
  for (const NamedSkin& s : plain_skins()) {
    if (!s.solid) continue;
    for (const int elements : {300, 1000})
      for (const int count : {1, 10, 60}) {
        const std::vector<Vec3d> points =
            test::solid_points(s.skin, count, 7u + static_cast<unsigned>(count));
        const std::string name =
            s.name + " " + std::to_string(elements) + " " + std::to_string(count);
        const TetCage cage = make_tet_cage(s.skin, points, {.elements = elements});
        expect_sound(cage, s.skin, name);
        expect_placed(cage, points, name);
        EXPECT_LT(cage.farthest, 0.5 * cage.spacing) << name;
        tried += static_cast<int>(points.size());
        unplaced += cage.unplaced;
        if (count <= 10) {
          EXPECT_EQ(cage.unplaced, 0) << name;
        }
      }
  }
  EXPECT_LT(unplaced, 0.04 * tried) << "of " << tried;
}

}  // namespace
}  // namespace supple
