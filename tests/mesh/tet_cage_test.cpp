// Cages: they hold the skin and the solid, are conforming and well shaped, have about as many
// elements as wanted, and nodes where points were placed.
#include "supple/mesh/tet_cage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

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
    for (const int elements : {1, 50, 200, 1000, 8600}) {
      const std::string name = s.name + " " + std::to_string(elements);
      const TetCage cage = make_tet_cage(s.skin, {}, {.elements = elements});
      expect_sound(cage, s.skin, name, 59.99);
      EXPECT_NEAR(static_cast<double>(cage.mesh.tets.size()) / elements, 1, 0.15) << name;
      if (s.solid) {
        EXPECT_EQ(points_outside(cage.mesh, test::solid_points(s.skin, 100, 3)), 0) << name;
      }
    }
}

TEST(TetCage, HasManyElementsWhenAsked) {
  for (const TriangleMesh& skin : {test::make_sphere(4), test::make_box(Vec3f(1, 0.01f, 1.5f))}) {
    const TetCage cage = make_tet_cage(skin, {}, {.elements = 40000});
    EXPECT_NEAR(static_cast<double>(cage.mesh.tets.size()), 40000, 0.15 * 40000);
    EXPECT_EQ(points_outside(cage.mesh, test::skin_points(skin, 2000, 1)), 0);
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
    for (const auto& [elements, count] : {std::pair{300, 10}, {1000, 1}, {1000, 60}}) {
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
  EXPECT_LT(unplaced, 0.02 * tried) << "of " << tried;
}

// Many random points in cages of many sizes, by both methods.
TEST(TetCage, RandomPointsLeaveNoBadElements) {
  std::mt19937 random(5);
  int tried = 0, unplaced = 0;
  for (int i = 0; i < 12 * test::soak_factor(); ++i) {
    Affine squash = Affine::Identity();
    squash.scale(Vec3d(1, 0.3 + 0.1 * (random() % 8), 0.2 + 0.1 * (random() % 10)));
    squash.rotate(Eigen::AngleAxisd(random() % 7, Vec3d(1, 2, 3).normalized()));
    const TriangleMesh skin =
        transformed(i % 3 ? test::make_sphere(3) : test::make_box(Vec3f(1, 0.7f, 1.3f)), squash);
    const std::vector<Vec3d> points =
        test::solid_points(skin, 1 + static_cast<int>(random() % 60), random());
    const TetCageOptions options{.elements = 400 + static_cast<int>(random() % 1000),
                                 .method = i % 2 ? TetCageMethod::delaunay : TetCageMethod::bcc};
    const std::string name =
        fmt::format("{}: {} elements, {} points", i, options.elements, points.size());
    const TetCage cage = make_tet_cage(skin, points, options);
    expect_sound(cage, skin, name);
    expect_placed(cage, points, name);
    EXPECT_NEAR(static_cast<double>(cage.mesh.tets.size()) / options.elements, 1, 0.2) << name;
    EXPECT_EQ(points_outside(cage.mesh, test::solid_points(skin, 100, 3)), 0) << name;
    tried += static_cast<int>(points.size());
    unplaced += cage.unplaced;
  }
  EXPECT_LE(unplaced, 0.02 * tried) << "of " << tried;
}

// The mirror image of a node or tetrahedron is one of the cage, too.
TEST(TetCage, SymmetricSkinsGetSymmetricCages) {
  const TetCage cage = make_tet_cage(test::make_sphere(4), {}, {.elements = 2000});
  std::set<std::array<int64_t, 3>> middles;
  const auto key = [&](const Vec3d& at) {
    const Vec3d in = at * (8 / cage.spacing);
    return std::array<int64_t, 3>{std::llround(in[0]), std::llround(in[1]), std::llround(in[2])};
  };
  const auto middle = [&](const Vec4i& tet) {
    Vec3d sum = Vec3d::Zero();
    for (int k = 0; k < 4; ++k) sum += cage.mesh.positions[static_cast<size_t>(tet[k])] / 4;
    return sum;
  };
  for (const Vec4i& tet : cage.mesh.tets) middles.insert(key(middle(tet)));
  for (const Vec4i& tet : cage.mesh.tets)
    EXPECT_TRUE(middles.contains(key(middle(tet).cwiseProduct(Vec3d(-1, 1, 1)))));
}

TEST(TetCage, NearPointsShareANode) {
  const TriangleMesh ball = test::make_sphere(4);
  const std::vector<Vec3d> points{{0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}, {0.1001, 0.2, 0.3}};
  for (const TetCageMethod method : {TetCageMethod::bcc, TetCageMethod::delaunay}) {
    const TetCage cage = make_tet_cage(ball, points, {.elements = 500, .method = method});
    expect_sound(cage, ball, "shared");
    expect_placed(cage, points, "shared");
    EXPECT_EQ(cage.nodes_of_points[0], cage.nodes_of_points[1]);
    EXPECT_EQ(cage.nodes_of_points[0], cage.nodes_of_points[2]);
    EXPECT_EQ(cage.shared, 1);
    EXPECT_EQ(cage.unplaced, 0);
    EXPECT_NEAR(cage.farthest, 1e-4, 1e-12);
  }
}

// Points far outside have no node of their own: that is said, and the cage is as it would be.
TEST(TetCage, SaysWhichPointsItCannotPlace) {
  const TriangleMesh ball = test::make_sphere(4);
  const std::vector<Vec3d> points{{5, 0, 0}, {0, 0.1, 0}};
  for (const TetCageMethod method : {TetCageMethod::bcc, TetCageMethod::delaunay}) {
    const TetCage cage = make_tet_cage(ball, points, {.elements = 500, .method = method});
    expect_sound(cage, ball, "outside");
    expect_placed(cage, points, "outside");
    EXPECT_EQ(cage.unplaced, 1);
    EXPECT_EQ(cage.distances_of_points[1], 0);
    EXPECT_NEAR(cage.distances_of_points[0], 4, 0.5);
    EXPECT_EQ(cage.farthest, cage.distances_of_points[0]);
  }
}

TEST(TetCage, DelaunayCagesHoldSkinsToo) {
  for (const NamedSkin& s : plain_skins()) {
    const std::vector<Vec3d> points =
        s.solid ? test::solid_points(s.skin, 15, 3) : std::vector<Vec3d>();
    const TetCage cage =
        make_tet_cage(s.skin, points, {.elements = 1500, .method = TetCageMethod::delaunay});
    expect_sound(cage, s.skin, s.name);
    expect_placed(cage, points, s.name);
    EXPECT_EQ(cage.unplaced, 0) << s.name;
    EXPECT_NEAR(static_cast<double>(cage.mesh.tets.size()) / 1500, 1, 0.15) << s.name;
    EXPECT_EQ(points_outside(cage.mesh, test::skin_points(s.skin, 2000, 1)), 0) << s.name;
  }
}

TEST(TetCage, SameForAnyNumberOfThreads) {
  const TriangleMesh dome = test::make_dome(4);
  const std::vector<Vec3d> points = test::solid_points(dome, 20, 3);
  for (const TetCageMethod method : {TetCageMethod::bcc, TetCageMethod::delaunay}) {
    const TetCageOptions options{.elements = 500, .method = method};
    set_thread_count(1);
    const TetCage one = make_tet_cage(dome, points, options);
    set_thread_count(0);
    const TetCage all = make_tet_cage(dome, points, options);
    EXPECT_EQ(one.mesh.positions, all.mesh.positions);
    EXPECT_EQ(one.mesh.tets, all.mesh.tets);
    EXPECT_EQ(one.nodes_of_points, all.nodes_of_points);
  }
}

TEST(TetCage, RefusesWhatCannotBe) {
  const TriangleMesh ball = test::make_sphere(1);
  const auto usage = [&](const TetCageOptions& options) {
    return test::problem_of([&] { make_tet_cage(ball, {}, options); }, ErrorKind::usage);
  };
  EXPECT_EQ(usage({.elements = 0}), "elements 0: must be from 1 to 10000000");
  EXPECT_EQ(usage({.elements = 20'000'000}), "elements 20000000: must be from 1 to 10000000");
  EXPECT_EQ(usage({.smallest_angle = 50}), "smallest_angle 50: must be from 0 to 40 degrees");
  EXPECT_NE(usage({.smallest_angle = NAN}), "");
  const auto input = [](const TriangleMesh& skin, const std::vector<Vec3d>& points = {}) {
    return test::problem_of([&] { make_tet_cage(skin, points, {}); }, ErrorKind::input);
  };
  EXPECT_EQ(input({}), "no cage can be made: the skin has no triangles");
  EXPECT_EQ(input({{{1, 2, 3}}, {{0, 0, 0}}}), "no cage can be made: the skin has no extent");
  EXPECT_EQ(input({{{1, 2, 3}}, {{0, 0, 1}}}),
            "no cage can be made: a triangle uses vertex 1 of 1");
  TriangleMesh broken = ball;
  broken.positions[3][1] = NAN;
  EXPECT_EQ(input(broken), "no cage can be made: vertex 3 of the skin is not at a finite place");
  EXPECT_EQ(input(ball, {{0, 0, 0}, {0, INFINITY, 0}}),
            "no cage can be made: placed point 1 is not finite");
  // Vertices that no triangle uses do not count.
  TriangleMesh stray = ball;
  stray.positions.emplace_back(NAN, 0, 1e30f);
  EXPECT_EQ(make_tet_cage(stray, {}, {.elements = 100}).mesh.tets,
            make_tet_cage(ball, {}, {.elements = 100}).mesh.tets);
}

// Whatever real files hold: open, of many parts, intersecting themselves, with stray triangles.
TEST(TetCage, RealMeshesAndCharacters) {
  SUPPLE_NEEDS_ASSETS();
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*test::assets())) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".obj" && extension != ".glb" && extension != ".gltf") continue;
    TriangleMesh skin;
    try {
      skin = read_character(entry.path()).skin;
    } catch (const Error&) {
      continue;  // what cannot be read is other tests' affair
    }
    if (skin.triangles.empty()) continue;
    const std::string name = entry.path().filename().string();
    const std::vector<Vec3d> points = test::solid_points(skin, 5, 11);
    for (const int elements : {50, 1000}) {
      const TetCage cage = make_tet_cage(skin, {}, {.elements = elements});
      expect_sound(cage, skin, name, 59.99);
      EXPECT_NEAR(static_cast<double>(cage.mesh.tets.size()) / elements, 1, 0.15) << name;
    }
    const TetCage cage = make_tet_cage(skin, points, {.elements = 1000});
    expect_sound(cage, skin, name);
    expect_placed(cage, points, name);
    ++count;
  }
  EXPECT_GT(count, 10);
}

TEST(TetCage, IsMadeInASecond) {
  SUPPLE_NEEDS_ASSETS();
  const TriangleMesh skin = read_character(*test::assets() / "mesh/bunny.obj").skin;
  const Stopwatch watch;
  const TetCage cage = make_tet_cage(skin, {}, {.elements = 8600});
  RecordProperty("milliseconds", static_cast<int>(1000 * watch.seconds()));
  // 0.09 s when measured; others may be at work on the machine.
  EXPECT_LT(watch.seconds(), 4 * test::slowness);
  EXPECT_NEAR(static_cast<double>(cage.mesh.tets.size()), 8600, 0.15 * 8600);
}

}  // namespace
}  // namespace supple
