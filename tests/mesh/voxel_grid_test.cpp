// Solid voxelisation against brute force: every cell with every triangle, every centre's exact
// winding number.
#include "supple/mesh/voxel_grid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mesh/shapes.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/triangle_box.h"
#include "supple/mesh/winding_number.h"

namespace supple {
namespace {

using test::append;
using test::make_box;
using test::make_dome;
using test::make_sphere;

VoxelGrid voxels(const TriangleMesh& mesh, int resolution) {
  VoxelOptions options;
  options.resolution = resolution;
  return voxelise(mesh.positions, mesh.triangles, options);
}

bool some_triangle_overlaps(const VoxelGrid& grid, const TriangleMesh& mesh, const Vec3i& cell) {
  for (const Vec3i& t : mesh.triangles) {
    std::array<Vec3d, 3> corners;
    for (int k = 0; k < 3; ++k) corners[k] = mesh.positions[t[k]].cast<double>();
    if (triangle_overlaps_box<double>(corners, grid.centre(cell),
                                      Vec3d::Constant(grid.spacing / 2 * (1 + 1e-6))))
      return true;
  }
  return false;
}

// The definition, cell by cell; `wound` tells whether the solid is what the surface winds round.
void expect_by_definition(const TriangleMesh& mesh, int resolution) {
  const VoxelGrid grid = voxels(mesh, resolution);
  size_t wrong = 0;
  for (size_t i = 0; i < grid.cells(); ++i) {
    const Vec3i cell = grid.cell(i);
    ASSERT_EQ(grid.index(cell), i);
    ASSERT_EQ(grid.cell_at(grid.centre(cell)), cell);
    const bool boundary = some_triangle_overlaps(grid, mesh, cell);
    const double winding = winding_number(mesh.positions, mesh.triangles, grid.centre(cell));
    if (std::abs(std::abs(winding) - 0.5) < 0.02) continue;  // the tree may err there
    const CellKind kind = boundary                  ? CellKind::boundary
                          : std::abs(winding) > 0.5 ? CellKind::inside
                                                    : CellKind::outside;
    wrong += grid.kinds[i] != kind;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(VoxelGrid, FollowsTheDefinition) {
  expect_by_definition(make_sphere(2), 24);
  expect_by_definition(make_dome(2), 20);
  expect_by_definition(make_box(Vec3f(1, 0.5f, 0.25f)), 16);
  TriangleMesh two = make_sphere(2);
  append(two, make_sphere(2), Vec3f(0.7f, 0.1f, 0));
  expect_by_definition(two, 24);
  TriangleMesh inside_out = make_sphere(3);
  for (Vec3i& t : inside_out.triangles) std::swap(t[0], t[1]);
  expect_by_definition(inside_out, 16);
  TriangleMesh sphere_and_dome = make_sphere(2);
  append(sphere_and_dome, make_dome(2), Vec3f(1.2f, 0.3f, 0));
  expect_by_definition(sphere_and_dome, 20);
}

TEST(VoxelGrid, FillsASphereToItsVolume) {
  const VoxelGrid grid = voxels(make_sphere(5), 64);
  double cells = 0;
  for (const CellKind kind : grid.kinds)
    cells += kind == CellKind::inside ? 1 : kind == CellKind::boundary ? 0.5 : 0;
  EXPECT_NEAR(cells * std::pow(grid.spacing, 3), 4.18879, 0.04);
}

TEST(VoxelGrid, ASheetIsAllBoundary) {
  TriangleMesh sheet;
  sheet.positions = {Vec3f(0, 0, 0), Vec3f(1, 0, 0), Vec3f(1, 0.3f, 1), Vec3f(0, 0.3f, 1)};
  sheet.triangles = {Vec3i(0, 1, 2), Vec3i(0, 2, 3)};
  const VoxelGrid grid = voxels(sheet, 20);
  size_t boundary = 0;
  for (const CellKind kind : grid.kinds) {
    EXPECT_NE(kind, CellKind::inside);
    boundary += kind == CellKind::boundary;
  }
  EXPECT_GE(boundary, 21u * 21u);
}

// A cavity is enclosed by the boundary, whatever its walls say.
TEST(VoxelGrid, EnclosedCellsAreInside) {
  TriangleMesh mixed = make_sphere(3);
  for (size_t t = 0; t < mixed.triangles.size(); t += 2)
    std::swap(mixed.triangles[t][0], mixed.triangles[t][1]);
  const VoxelGrid grid = voxels(mixed, 24);
  EXPECT_EQ(grid.kind_at(Vec3d::Zero()), CellKind::inside);
  EXPECT_EQ(grid.kind_at(Vec3d(0.5, 0.5, 0)), CellKind::inside);
  EXPECT_EQ(grid.kind_at(Vec3d(0.9, 0.9, 0.9)), CellKind::outside);
  EXPECT_EQ(grid.kind_at(Vec3d(100, 0, 0)), CellKind::outside);
}

TEST(VoxelGrid, IsAsSymmetricAsTheMesh) {
  TriangleMesh mesh = make_sphere(3);
  append(mesh, make_box(Vec3f(0.5f, 0.25f, 0.25f)), Vec3f(0.75f, 0, 0));
  const size_t half = mesh.positions.size();
  for (size_t v = 0; v < half; ++v)
    mesh.positions.push_back(mesh.positions[v].cwiseProduct(Vec3f(-1, 1, 1)));
  const size_t triangles = mesh.triangles.size();
  for (size_t t = 0; t < triangles; ++t) {
    const Vec3i other = mesh.triangles[t].array() + static_cast<int32_t>(half);
    mesh.triangles.emplace_back(other[1], other[0], other[2]);
  }
  for (Vec3f& p : mesh.positions) p[0] += 3;
  const VoxelGrid grid = voxels(mesh, 40);
  for (size_t i = 0; i < grid.cells(); ++i) {
    Vec3i cell = grid.cell(i);
    cell[0] = grid.size[0] - 1 - cell[0];
    ASSERT_EQ(grid.kinds[i], grid.kinds[grid.index(cell)]) << i;
  }
}

TEST(VoxelGrid, IsTheSameForAnyThreadCount) {
  TriangleMesh mesh = make_sphere(4);
  append(mesh, make_dome(4), Vec3f(0.4f, 0.8f, 0.1f));
  std::vector<std::vector<CellKind>> results;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    results.push_back(voxels(mesh, 48).kinds);
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(VoxelGrid, TakesNothingAndAPoint) {
  EXPECT_EQ(voxels({}, 10).cells(), 0u);
  TriangleMesh point;
  point.positions = {Vec3f(1, 2, 3)};
  point.triangles = {Vec3i(0, 0, 0)};
  const VoxelGrid grid = voxels(point, 10);
  EXPECT_EQ(grid.kind_at(Vec3d(1, 2, 3)), CellKind::boundary);
  VoxelOptions fine;
  fine.spacing = 1e-6;
  EXPECT_THROW(grid_around(make_box(Vec3f(1, 1, 1)).positions, fine), Error);
}

}  // namespace
}  // namespace supple
