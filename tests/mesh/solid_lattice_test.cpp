// Solids as lattices: which cells there are, and that together they hold the solid's volume.
#include "supple/mesh/solid_lattice.h"

#include <gtest/gtest.h>

#include <bit>
#include <numbers>

#include "mesh/shapes.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/primitives.h"

namespace supple {
namespace {

using test::make_box;
using test::make_dome;
using test::make_sphere;

double volume_of(const SolidLattice& solid) {
  double sum = 0;
  for (const float c : solid.coverage) sum += static_cast<double>(c);
  return sum * solid.spacing * solid.spacing * solid.spacing;
}

SolidLattice fill(const TriangleMesh& mesh, int cells, double least = 0) {
  return fill_lattice(mesh.positions, mesh.triangles, {.cells = cells, .least_coverage = least});
}

void turn(TriangleMesh& mesh, double angle, const Vec3d& axis) {
  const Eigen::Matrix3f r =
      Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix().cast<float>();
  for (Vec3f& p : mesh.positions) p = r * p;
}

TEST(SolidLattice, BoxesThatFitAreWhollyFilled) {
  const SolidLattice solid = fill(make_box({2, 0.5f, 0.75f}), 32);
  EXPECT_EQ(solid.lattice.cell_count(), 32u * 8 * 12);
  EXPECT_DOUBLE_EQ(solid.spacing, 1.0 / 16);
  EXPECT_TRUE(solid.origin.isZero(1e-7)) << solid.origin.transpose();
  for (size_t b = 0; b < solid.lattice.block_count(); ++b)
    for (int32_t i = 0; i < 64; ++i)
      if (solid.lattice.cells[b] >> i & 1) {
        EXPECT_EQ(solid.covered({static_cast<int32_t>(b), i}), 1);
      }
}

TEST(SolidLattice, SizesWithRoundingFitToo) {
  // 0.3 and 0.7 are no binary numbers, and 0.7 / 0.1 is less than 7.
  const TriangleMesh mesh = box_surface({0.7, 0.3, 0.1}, 0.05);
  const SolidLattice solid =
      fill_lattice(mesh.positions, mesh.triangles, {.spacing = 0.1, .least_coverage = 0});
  EXPECT_EQ(solid.lattice.cell_count(), 7u * 3);
  EXPECT_NEAR(volume_of(solid), 0.7 * 0.3 * 0.1, 1e-9);
}

TEST(SolidLattice, PartlyFilledCellsAddUpToTheVolume) {
  // 10.4 cells along x: both ends have cells that are filled to 0.7.
  const TriangleMesh box = make_box({1.04f, 0.4f, 0.4f});
  const SolidLattice cut =
      fill_lattice(box.positions, box.triangles, {.spacing = 0.1, .least_coverage = 0});
  EXPECT_EQ(cut.lattice.cell_count(), 11u * 16);
  EXPECT_NEAR(volume_of(cut), 1.04 * 0.4 * 0.4, 0.02 * 0.1664);

  for (const int cells : {6, 17, 40}) {
    EXPECT_NEAR(volume_of(fill(make_sphere(5), cells)), 4 * std::numbers::pi / 3, 0.02) << cells;
    TriangleMesh turned = make_box({1, 0.7f, 0.4f});
    turn(turned, 0.7, {1, 2, 3});
    EXPECT_NEAR(volume_of(fill(turned, cells)), 0.28, 0.006) << cells;
  }
}

TEST(SolidLattice, EveryTriangleLiesInCells) {
  TriangleMesh mesh = make_sphere(3);
  turn(mesh, 0.3, {3, 1, 2});
  const SolidLattice solid = fill(mesh, 13);
  for (const Vec3i& t : mesh.triangles) {
    const Vec3f middle =
        (mesh.positions[static_cast<size_t>(t[0])] + mesh.positions[static_cast<size_t>(t[1])] +
         mesh.positions[static_cast<size_t>(t[2])]) /
        3;
    const Vec3d at = (middle.cast<double>() - solid.origin) / solid.spacing;
    EXPECT_TRUE(solid.lattice.has_cell(at.array().floor().cast<int32_t>()));
  }
}

TEST(SolidLattice, OverlappingSolidsCountOnce) {
  TriangleMesh mesh = make_box({1, 1, 1});
  test::append(mesh, make_box({1, 1, 1}), {0.5f, 0.25f, 0});
  EXPECT_NEAR(volume_of(fill(mesh, 24)), 2 - 0.5 * 0.75, 1e-3);
  // A ball inside, facing either way, changes nothing: it is filled anyhow.
  for (const bool flipped : {false, true}) {
    TriangleMesh more = mesh, ball = make_sphere(2);
    for (Vec3f& p : ball.positions) p *= 0.2f;
    if (flipped)
      for (Vec3i& t : ball.triangles) std::swap(t[1], t[2]);
    test::append(more, ball, {0.3f, 0.3f, 0.5f});
    EXPECT_GT(volume_of(fill(more, 24)), flipped ? 1.58 : 1.62);
  }
}

TEST(SolidLattice, SheetsHaveCellsWithNextToNothing) {
  TriangleMesh sheet;
  sheet.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  const SolidLattice flat = fill(sheet, 10, 0.1);
  EXPECT_EQ(flat.lattice.cell_count(), 100u);
  for (const float c : flat.coverage) EXPECT_TRUE(c == 0 || c == 0.1f) << c;
  turn(sheet, 0.5, {1, 1, 0.3});
  const SolidLattice turned = fill(sheet, 10, 0.1);
  EXPECT_GT(turned.lattice.cell_count(), 60u);
  // Half a cell would mean that one side of the sheet was taken for inside.
  EXPECT_LT(volume_of(turned) / std::pow(turned.spacing, 3),
            0.2 * static_cast<double>(turned.lattice.cell_count()));

  // A sheet in a plane between the cells of a box it belongs to keeps cells of its own.
  TriangleMesh flag = make_box({1, 1, 1});
  TriangleMesh cloth;
  cloth.positions = {{1.5f, 0, 0.5f}, {2.5f, 0, 0.5f}, {2.5f, 1, 0.5f}, {1.5f, 1, 0.5f}};
  cloth.triangles = {{0, 1, 2}, {0, 2, 3}};
  test::append(flag, cloth, Vec3f::Zero());
  const SolidLattice both =
      fill_lattice(flag.positions, flag.triangles, {.spacing = 0.25, .least_coverage = 0.1});
  EXPECT_TRUE(both.lattice.has_cell({8, 1, 1}) || both.lattice.has_cell({8, 1, 2}));
  EXPECT_TRUE(both.lattice.has_cell({3, 3, 3}));
  EXPECT_FALSE(both.lattice.has_cell({4, 1, 1}));
}

TEST(SolidLattice, OpenShellsAreFilledWhereTheyWindRound) {
  const TriangleMesh dome = make_dome(4);
  const double half = 2 * std::numbers::pi / 3;
  EXPECT_NEAR(volume_of(fill(dome, 24)), half, 0.25 * half);
  EXPECT_TRUE(fill(dome, 24).lattice.has_cell({12, 6, 12}));
}

TEST(SolidLattice, SameForAnyNumberOfThreads) {
  TriangleMesh mesh = make_sphere(4);
  test::append(mesh, make_dome(3), {0.7f, 0.2f, 0.1f});
  set_thread_count(1);
  const SolidLattice one = fill(mesh, 31);
  for (const int threads : {2, 8}) {
    set_thread_count(threads);
    const SolidLattice more = fill(mesh, 31);
    EXPECT_EQ(one.lattice.cells, more.lattice.cells);
    EXPECT_EQ(one.coverage, more.coverage);
  }
  set_thread_count(0);
}

TEST(SolidLattice, TooManyCellsAndNoMatterAreRefused) {
  const TriangleMesh mesh = make_box({1, 1, 1});
  EXPECT_THROW(fill_lattice(mesh.positions, mesh.triangles, {.spacing = 1e-4}), Error);
  EXPECT_THROW(fill_lattice({}, {}), Error);
  EXPECT_THROW(fill_lattice(mesh.positions, {}), Error);
}

}  // namespace
}  // namespace supple
