// Splitting at the planes of a grid: area, volume, topology, cells and the map back, on plain,
// random and awkward meshes.
#include "supple/mesh/split_at_planes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "mesh/shapes.h"
#include "supple/core/error.h"
#include "supple/mesh/topology.h"
#include "support/test_support.h"

namespace supple {
namespace {

constexpr double tolerance = 0.01;

SplitMesh split(const TriangleMesh& mesh, const CellGrid& grid) {
  return split_at_planes(mesh.positions, mesh.triangles, grid, tolerance);
}

Vec3d at(const TriangleMesh& mesh, int32_t v) {
  return mesh.positions[static_cast<size_t>(v)].cast<double>();
}

// Vertices that triangles use, less edges, plus triangles.
int64_t euler_characteristic(const TriangleMesh& mesh) {
  std::set<int32_t> used;
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) used.insert(t[k]);
  const Topology topology = analyse_topology(mesh.positions.size(), mesh.triangles);
  return static_cast<int64_t>(used.size()) - topology.edges +
         static_cast<int64_t>(mesh.triangles.size());
}

double edge_length(const TriangleMesh& mesh) {
  double longest = 0;
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k)
      longest = std::max(longest, (at(mesh, t[k]) - at(mesh, t[(k + 1) % 3])).norm());
  return longest;
}

// Every triangle within the planes of one cell.
void expect_in_cells(const SplitMesh& result, const CellGrid& grid, double slack = 1e-4) {
  for (const Vec3i& t : result.mesh.triangles)
    for (int axis = 0; axis < 3; ++axis) {
      double low = INFINITY, high = -INFINITY;
      for (int k = 0; k < 3; ++k) {
        const double x = (at(result.mesh, t[k])[axis] - grid.origin[axis]) / grid.spacing;
        low = std::min(low, x);
        high = std::max(high, x);
      }
      const double cell = std::floor(low + tolerance + slack);
      EXPECT_LE(high, cell + 1 + tolerance + slack) << "from " << low << " along axis " << axis;
    }
}

// The map says exactly where vertices lie, and which triangle a piece is of.
void expect_map(const TriangleMesh& input, const SplitMesh& result) {
  const auto& map = result.map;
  ASSERT_EQ(map.vertices.size(), result.mesh.positions.size());
  ASSERT_EQ(map.triangles.size(), result.mesh.triangles.size());
  for (size_t v = 0; v < map.vertices.size(); ++v) {
    const VertexSource& source = map.vertices[v];
    EXPECT_EQ(source.weights[0] + source.weights[1] + source.weights[2], 1);
    EXPECT_GE(source.weights.minCoeff(), 0);
    if (v < input.positions.size()) {
      EXPECT_EQ(source.vertices, Vec3i::Constant(static_cast<int32_t>(v)));
      EXPECT_EQ(source.weights, Vec3f(1, 0, 0));
      EXPECT_EQ(result.mesh.positions[v], input.positions[v]);
      continue;
    }
    EXPECT_LT(source.weights.maxCoeff(), 1);
    Vec3d sum = Vec3d::Zero();
    for (int k = 0; k < 3; ++k)
      sum += static_cast<double>(source.weights[k]) * at(input, source.vertices[k]);
    EXPECT_EQ(result.mesh.positions[v], Vec3f(sum.cast<float>()));
  }
  for (size_t t = 0; t < map.triangles.size(); ++t) {
    EXPECT_LE(map.triangles[t > 0 ? t - 1 : t], map.triangles[t]);
    // All corners of a piece come from the corners of its triangle.
    const Vec3i& from = input.triangles[static_cast<size_t>(map.triangles[t])];
    for (int k = 0; k < 3; ++k) {
      const VertexSource& source = map.vertices[static_cast<size_t>(result.mesh.triangles[t][k])];
      for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(source.weights[i] == 0 || (from.array() == source.vertices[i]).any());
    }
  }
}

// Vertices that lie in the middle of an edge they are no end of.
int t_junctions(const TriangleMesh& mesh) {
  std::set<std::pair<int32_t, int32_t>> edges;
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) edges.insert(std::minmax(t[k], t[(k + 1) % 3]));
  int found = 0;
  const double near = 1e-5 * edge_length(mesh);
  for (const auto& [a, b] : edges) {
    const Vec3d along = at(mesh, b) - at(mesh, a);
    const double length = along.norm();
    if (!(length > 0)) continue;
    for (size_t v = 0; v < mesh.positions.size(); ++v) {
      const Vec3d from = mesh.positions[v].cast<double>() - at(mesh, a);
      const double part = from.dot(along) / (length * length);
      if (part * length <= 10 * near || (1 - part) * length <= 10 * near) continue;
      if ((from - part * along).norm() < near) ++found;
    }
  }
  return found;
}

void expect_same_shape(const TriangleMesh& input, const SplitMesh& result) {
  const double area = surface_area(input.positions, input.triangles);
  const auto area_of = [](const TriangleMesh& m) { return surface_area(m.positions, m.triangles); };
  EXPECT_NEAR(area_of(result.mesh), area, 1e-5 * area + 1e-12);
  const double scale = std::pow(edge_length(input), 3);
  EXPECT_NEAR(signed_volume(result.mesh.positions, result.mesh.triangles),
              signed_volume(input.positions, input.triangles), 1e-5 * scale);
  // Pieces of every triangle cover it, and none is turned over.
  std::vector<Vec3d> normals(input.triangles.size(), Vec3d::Zero());
  for (size_t t = 0; t < result.mesh.triangles.size(); ++t) {
    const Vec3i& piece = result.mesh.triangles[t];
    const auto from = static_cast<size_t>(result.map.triangles[t]);
    const Vec3d n = (at(result.mesh, piece[1]) - at(result.mesh, piece[0]))
                        .cross(at(result.mesh, piece[2]) - at(result.mesh, piece[0]));
    const Vec3i& whole = input.triangles[from];
    const Vec3d up = (at(input, whole[1]) - at(input, whole[0]))
                         .cross(at(input, whole[2]) - at(input, whole[0]));
    EXPECT_GE(n.dot(up.normalized()), -1e-5 * edge_length(input) * edge_length(input));
    normals[from] += n;
  }
  for (size_t t = 0; t < input.triangles.size(); ++t) {
    const Vec3i& whole = input.triangles[t];
    const Vec3d up = (at(input, whole[1]) - at(input, whole[0]))
                         .cross(at(input, whole[2]) - at(input, whole[0]));
    EXPECT_LT((normals[t] - up).norm(), 1e-5 * (1 + edge_length(input) * edge_length(input)));
  }
}

// Everything that is promised of any mesh.
SplitMesh expect_good(const TriangleMesh& input, const CellGrid& grid, double slack = 1e-4) {
  SplitMesh result = split(input, grid);
  expect_map(input, result);
  expect_in_cells(result, grid, slack);
  expect_same_shape(input, result);
  EXPECT_EQ(euler_characteristic(result.mesh), euler_characteristic(input));
  const Topology before = analyse_topology(input.positions.size(), input.triangles);
  const Topology after = analyse_topology(result.mesh.positions.size(), result.mesh.triangles);
  EXPECT_EQ(after.closed(), before.closed());
  EXPECT_EQ(after.holes, before.holes);
  EXPECT_EQ(after.shells, before.shells);
  return result;
}

TEST(SplitAtPlanes, ABoxOfTwelveTrianglesFollowsItsCells) {
  const TriangleMesh box = test::make_box({4, 1, 1});
  const SplitMesh result = expect_good(box, {Vec3d::Zero(), 1});
  EXPECT_EQ(t_junctions(result.mesh), 0);
  // Three planes across four edges, and one more vertex of each in the diagonals of four faces.
  EXPECT_EQ(result.mesh.positions.size(), 8 + 3 * 4 + 3 * 4);
}

TEST(SplitAtPlanes, FewTrianglesAreMadeOfAPlainGrid) {
  // A square of 8 by 8 cells: two triangles per cell, those on the diagonal as well.
  TriangleMesh square;
  square.positions = {{0, 0, 0}, {8, 0, 0}, {8, 8, 0}, {0, 8, 0}};
  square.triangles = {{0, 1, 2}, {0, 2, 3}};
  const SplitMesh result = expect_good(square, {Vec3d::Zero(), 1});
  EXPECT_EQ(result.mesh.positions.size(), 81);
  EXPECT_EQ(result.mesh.triangles.size(), 128);
}

TEST(SplitAtPlanes, SpheresOfAllFinenessStayClosed) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int levels = 0; levels < 4; ++levels)
    for (const double spacing : {1.7, 0.9, 0.31, 0.07}) {
      const TriangleMesh sphere = test::make_sphere(levels);
      const Vec3d origin(unit(random), unit(random), unit(random));
      const SplitMesh result = expect_good(sphere, {origin, spacing});
      EXPECT_TRUE(analyse_topology(result.mesh.positions.size(), result.mesh.triangles).closed());
      if (result.mesh.positions.size() > 3000) continue;
      EXPECT_EQ(t_junctions(result.mesh), 0);
    }
  // Planes through vertices and along edges.
  for (int levels = 0; levels < 3; ++levels)
    expect_good(test::make_sphere(levels), {Vec3d::Zero(), 0.5});
}

TEST(SplitAtPlanes, RandomSoupKeepsAreaAndEdges) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> place(-3, 3);
  for (int round = 0; round < 60 * test::soak_factor(); ++round) {
    TriangleMesh soup;
    const int vertices = 4 + static_cast<int>(random() % 8);
    for (int v = 0; v < vertices; ++v)
      soup.positions.emplace_back(place(random), place(random), place(random));
    std::set<std::set<int32_t>> taken;
    for (int t = 0; t < 12; ++t) {
      Vec3i corners;
      for (int k = 0; k < 3; ++k)
        corners[k] = static_cast<int32_t>(random() % static_cast<unsigned>(vertices));
      const std::set<int32_t> corner_set{corners[0], corners[1], corners[2]};
      if (corner_set.size() == 3 && taken.insert(corner_set).second)
        soup.triangles.push_back(corners);
    }
    SCOPED_TRACE(round);
    expect_good(soup, {Vec3d(0.1, 0.2, 0.3), 0.3 + 0.1 * (round % 10)});
  }
}

// Both sides of a sheet over the same vertices: their pieces share vertices too.
TEST(SplitAtPlanes, TwoSidedSheetsStayTogether) {
  TriangleMesh sheet;
  sheet.positions = {{0.1f, 0.2f, 0}, {3.4f, 0.3f, 0.7f}, {0.5f, 2.8f, 1.9f}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 1}};
  const CellGrid grid{Vec3d::Zero(), 1};
  const SplitMesh result = split(sheet, grid);
  expect_map(sheet, result);
  expect_in_cells(result, grid);
  expect_same_shape(sheet, result);
  EXPECT_EQ(analyse_topology(result.mesh.positions.size(), result.mesh.triangles).open_edges, 0);
  const TriangleMesh one{sheet.positions, {sheet.triangles[0]}};
  EXPECT_EQ(result.mesh.positions.size(), split(one, grid).mesh.positions.size());
}

// Coordinates on planes, within the tolerance of them, and just beyond it.
TEST(SplitAtPlanes, VerticesAtThePlanesMakeNoSlivers) {
  std::mt19937 random(7);
  const std::array<double, 9> steps{0, 0.0099, -0.0099, 0.0101, -0.0101, 1e-7, -1e-7, 0.5, 0.02};
  for (int round = 0; round < 300 * test::soak_factor(); ++round) {
    TriangleMesh mesh;
    for (int v = 0; v < 6; ++v) {
      Vec3d p;
      for (int k = 0; k < 3; ++k)
        p[k] = static_cast<double>(random() % 5) + steps[random() % steps.size()];
      mesh.positions.emplace_back(p.cast<float>());
    }
    mesh.triangles = {{0, 1, 2}, {2, 1, 3}, {2, 3, 4}, {4, 3, 5}};
    SCOPED_TRACE(round);
    const SplitMesh result = expect_good(mesh, {Vec3d::Zero(), 1});
    // No vertex is made closer to an end of the edge it is on than the tolerance.
    for (size_t v = mesh.positions.size(); v < result.mesh.positions.size(); ++v)
      for (int k = 0; k < 2; ++k) {
        if (result.map.vertices[v].weights[2] > 0) continue;
        const Vec3d end = at(mesh, result.map.vertices[v].vertices[k]);
        EXPECT_GT((at(result.mesh, static_cast<int32_t>(v)) - end).norm(), 0.99 * tolerance);
      }
  }
}

TEST(SplitAtPlanes, ATriangleNextToAPlaneIsLeftAlone) {
  TriangleMesh mesh;
  mesh.positions = {{0, 0, 0.995f}, {0.9f, 0, 1.005f}, {0, 0.9f, 1.0f}, {0.9f, 0.9f, 0.5f}};
  mesh.triangles = {{0, 1, 2}, {2, 1, 3}};
  const SplitMesh result = split(mesh, {Vec3d::Zero(), 1});
  EXPECT_EQ(result.mesh.positions.size(), 4);
  EXPECT_EQ(result.mesh.triangles, mesh.triangles);
}

TEST(SplitAtPlanes, LinesAndCollapsedTrianglesStayWhatTheyAre) {
  TriangleMesh mesh;
  mesh.positions = {{0.5f, 0.5f, 0.5f}, {3.5f, 0.5f, 0.5f}, {3.5f, 2.5f, 0.5f}};
  mesh.triangles = {{0, 1, 1}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {2, 2, 2}, {0, 1, 2}};
  const SplitMesh result = split(mesh, {Vec3d::Zero(), 1});
  expect_map(mesh, result);
  expect_in_cells(result, {Vec3d::Zero(), 1});
  std::map<int32_t, std::vector<Vec3i>> pieces;
  for (size_t t = 0; t < result.mesh.triangles.size(); ++t)
    pieces[result.map.triangles[t]].push_back(result.mesh.triangles[t]);
  for (const int32_t line : {0, 1}) {
    ASSERT_EQ(pieces[line].size(), 4);
    EXPECT_EQ(pieces[line][0][0], mesh.triangles[static_cast<size_t>(line)][0]);
    EXPECT_EQ(pieces[line][3][2], mesh.triangles[static_cast<size_t>(line)][2]);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(is_segment(pieces[line][i]));
      EXPECT_EQ(pieces[line][i][0], i > 0 ? pieces[line][i - 1][1] : pieces[line][0][0]);
    }
  }
  // The line and the triangle on it share their vertices.
  std::set<int32_t> on_line, on_triangle;
  for (const Vec3i& t : pieces[0]) on_line.insert({t[0], t[1]});
  for (const Vec3i& t : pieces[5]) on_triangle.insert({t[0], t[1], t[2]});
  for (const int32_t v : on_line) EXPECT_TRUE(on_triangle.contains(v));
  ASSERT_EQ(pieces[2].size(), 4);
  for (const Vec3i& t : pieces[2]) EXPECT_TRUE(t[0] == t[1] && t[1] != t[2]);
  ASSERT_EQ(pieces[3].size(), 4);
  for (const Vec3i& t : pieces[3]) EXPECT_TRUE(t[0] == t[2] && t[1] != t[2]);
  EXPECT_EQ(pieces[4], std::vector<Vec3i>{Vec3i(2, 2, 2)});
}

// Triangles without area, of different corners.
TEST(SplitAtPlanes, FlatTrianglesKeepTheirTopology) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> place(-2, 2);
  for (int round = 0; round < 100; ++round) {
    TriangleMesh mesh;
    const Vec3f a(place(random), place(random), place(random));
    const Vec3f b(place(random), place(random), place(random));
    for (int v = 0; v < 5; ++v) mesh.positions.push_back(a + place(random) * (b - a));
    if (round % 3 == 0) mesh.positions[3] = mesh.positions[1];
    mesh.triangles = {{0, 1, 2}, {2, 1, 3}, {2, 3, 4}};
    SCOPED_TRACE(round);
    const SplitMesh result = split(mesh, {Vec3d::Zero(), 0.4});
    expect_map(mesh, result);
    expect_in_cells(result, {Vec3d::Zero(), 0.4});
    EXPECT_EQ(euler_characteristic(result.mesh), euler_characteristic(mesh));
  }
}

// Copies of an edge, as exporters make at seams, get vertices at equal places whatever their
// numbers.
TEST(SplitAtPlanes, DoubledEdgesAreSplitAlike) {
  std::mt19937 random(13);
  std::uniform_real_distribution<float> place(-2, 2);
  for (int round = 0; round < 200; ++round) {
    TriangleMesh mesh;
    for (int v = 0; v < 4; ++v)
      mesh.positions.emplace_back(place(random), place(random), place(random));
    mesh.positions.push_back(mesh.positions[1]);
    mesh.positions.push_back(mesh.positions[0]);
    mesh.triangles = {{0, 1, 2}, {5, 4, 3}};
    std::swap(mesh.triangles[1][0], mesh.triangles[1][1]);
    const SplitMesh result = split(mesh, {Vec3d(0.05, 0.1, 0), 0.21});
    // Vertices between 0 and 1 on one side, 5 and 4 on the other.
    const auto places = [&](int32_t low, int32_t high) {
      std::set<std::array<float, 3>> found;
      for (size_t v = 6; v < result.mesh.positions.size(); ++v) {
        const VertexSource& s = result.map.vertices[v];
        const Vec3f& p = result.mesh.positions[v];
        if (s.vertices[0] == low && s.vertices[1] == high && s.weights[2] == 0)
          found.insert({p[0], p[1], p[2]});
      }
      return found;
    };
    EXPECT_EQ(places(0, 1), places(4, 5)) << round;
    EXPECT_FALSE(places(0, 1).empty());
  }
}

TEST(SplitAtPlanes, LongTrianglesFarAwayAreHeld) {
  TriangleMesh mesh;
  mesh.positions = {{1000, 1000, 1000}, {1300, 1001, 1000.5f}, {1150, 1040, 1003}};
  mesh.triangles = {{0, 1, 2}};
  // Positions are whole multiples of 1e-4 there.
  expect_good(mesh, {Vec3d(1000.3, 999.9, 1000.1), 1}, 1e-3);
}

// So far away that positions are rounded to several tolerances: polygons are dented, but nothing
// comes apart.
TEST(SplitAtPlanes, CoarseRoundingTearsNothing) {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> place(-6, 6);
  for (const float away : {1e5f, 1e6f}) {
    TriangleMesh sphere = test::make_sphere(2);
    for (Vec3f& p : sphere.positions) p = 5 * p + Vec3f::Constant(away);
    for (int round = 0; round < 10; ++round) {
      const CellGrid grid{Vec3d::Constant(away + 0.3 + 0.01 * round), 0.7};
      const SplitMesh result = split(sphere, grid);
      expect_map(sphere, result);
      expect_in_cells(result, grid, 0.2);
      EXPECT_EQ(euler_characteristic(result.mesh), euler_characteristic(sphere));
      EXPECT_TRUE(analyse_topology(result.mesh.positions.size(), result.mesh.triangles).closed());
      for (Vec3f& p : sphere.positions)
        if (random() % 4 == 0)
          p = Vec3f(place(random), place(random), place(random)) + Vec3f::Constant(away);
    }
  }
}

TEST(SplitAtPlanes, TheSameEveryTime) {
  const TriangleMesh sphere = test::make_sphere(3);
  const CellGrid grid{Vec3d(0.01, 0.02, 0.03), 0.13};
  const SplitMesh a = split(sphere, grid), b = split(sphere, grid);
  EXPECT_EQ(a.mesh.positions, b.mesh.positions);
  EXPECT_EQ(a.mesh.triangles, b.mesh.triangles);
}

TEST(SplitAtPlanes, RefusesWhatHasNoEnd) {
  TriangleMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}};
  const auto refusal = [&](const CellGrid& grid) {
    return test::problem_of([&] { split(mesh, grid); }, ErrorKind::input);
  };
  EXPECT_NE(refusal({Vec3d::Zero(), 2e-9}).find("vertices would be needed"), std::string::npos);
  EXPECT_NE(refusal({Vec3d::Zero(), 0}).find("not finite"), std::string::npos);
  mesh.positions[1][0] = NAN;
  EXPECT_NE(refusal({Vec3d::Zero(), 1}).find("not finite"), std::string::npos);
}

TEST(SplitAtPlanes, NothingToSplit) {
  const SplitMesh result = split_at_planes({}, {}, {Vec3d::Zero(), 1});
  EXPECT_TRUE(result.mesh.triangles.empty());
  EXPECT_TRUE(result.map.empty());
}

}  // namespace
}  // namespace supple
