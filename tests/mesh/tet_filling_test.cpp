// How much of cages is filled, against volumes and centres of mass that are known.
#include "supple/mesh/tet_filling.h"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "mesh/shapes.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/tet_cage.h"
#include "support/test_support.h"

namespace supple {
namespace {

struct Total {
  double volume = 0;
  Vec3d middle = Vec3d::Zero();
};

// By [Kim 2011, eq. 10]: masses at nodes.
Total total_of(const TetMesh& mesh, const TetFilling& filling) {
  Total total;
  for (size_t t = 0; t < mesh.tets.size(); ++t)
    for (int k = 0; k < 4; ++k) {
      total.volume += filling.shares[t][k];
      total.middle += filling.shares[t][k] * mesh.positions[static_cast<size_t>(mesh.tets[t][k])];
    }
  total.middle /= total.volume;
  return total;
}

// By the divergence theorem.
Total total_of(const TriangleMesh& skin) {
  Total total;
  for (const Vec3i& t : skin.triangles) {
    const Vec3d a = skin.positions[static_cast<size_t>(t[0])].cast<double>(),
                b = skin.positions[static_cast<size_t>(t[1])].cast<double>(),
                c = skin.positions[static_cast<size_t>(t[2])].cast<double>();
    const double volume = a.dot(b.cross(c)) / 6;
    total.volume += volume;
    total.middle += volume * (a + b + c) / 4;
  }
  total.middle /= total.volume;
  return total;
}

void expect_total(const TriangleMesh& skin, const Total& expected, double size, int elements) {
  const TetCage cage = make_tet_cage(skin, {}, {.elements = elements});
  const TetFilling filling = fill_tets(cage.mesh, skin);
  const Total total = total_of(cage.mesh, filling);
  EXPECT_NEAR(total.volume / expected.volume, 1, 0.01) << elements;
  EXPECT_LT((total.middle - expected.middle).norm() / size, 0.01) << elements;
  for (size_t t = 0; t < cage.mesh.tets.size(); ++t) {
    EXPECT_GE(filling.filled[t], 0);
    EXPECT_LE(filling.filled[t], 1);
    EXPECT_NEAR(filling.shares[t].sum(),
                filling.filled[t] * six_volumes(cage.mesh, cage.mesh.tets[t]) / 6,
                1e-12 * expected.volume);
  }
}

TEST(TetFilling, BallsAndBoxesWeighWhatTheyDo) {
  for (const int elements : {50, 200, 1000, 8600}) {
    const TriangleMesh ball = test::make_sphere(5);
    expect_total(ball, {4 * std::numbers::pi / 3, Vec3d::Zero()}, 2, elements);
    const TriangleMesh box = test::make_box(Vec3f(1, 2, 3));
    expect_total(box, {6, Vec3d(0.5, 1, 1.5)}, 3, elements);
  }
}

TEST(TetFilling, OddShapesAgreeWithTheDivergenceTheorem) {
  TriangleMesh skin = test::make_sphere(4);
  for (Vec3f& p : skin.positions) {
    p[0] *= 1 + 0.6f * std::sin(3 * p[1]);
    p[2] += 0.4f * p[0] * p[0];
  }
  for (const int elements : {50, 300, 2000}) expect_total(skin, total_of(skin), 2.5, elements);
}

// One tetrahedron cut by a plane: what is left near a corner is similar to the whole.
TEST(TetFilling, CornersCutByPlanes) {
  const TetMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2, 3}}};
  for (const double cut : {0.3, 0.5, 0.8}) {
    TriangleMesh box = test::make_box(Vec3f(4, 4, static_cast<float>(1 + cut)));
    for (Vec3f& p : box.positions) p -= Vec3f(2, 2, 1);
    const TetFilling filling = fill_tets(mesh, box, 4000);
    const double rest = 1 - cut;
    EXPECT_NEAR(filling.filled[0], 1 - rest * rest * rest, 2e-3);
    // The weight of the top corner over the part above: V r³ (cut + r / 4).
    const double above = rest * rest * rest / 6 * (cut + rest / 4);
    EXPECT_NEAR(filling.shares[0][3], 1.0 / 24 - above, 1e-4);
  }
}

TEST(TetFilling, AllOrNothingIsExact) {
  const TetMesh cube = test::make_tet_cube(2);
  TriangleMesh around = test::make_box(Vec3f(3, 3, 3));
  for (Vec3f& p : around.positions) p -= Vec3f(1, 1, 1);
  const TetFilling full = fill_tets(cube, around, 1);
  for (size_t t = 0; t < cube.tets.size(); ++t) {
    EXPECT_EQ(full.filled[t], 1);
    for (int k = 0; k < 4; ++k)
      EXPECT_DOUBLE_EQ(full.shares[t][k], six_volumes(cube, cube.tets[t]) / 24);
  }
  for (Vec3f& p : around.positions) p += Vec3f(10, 0, 0);
  const TetFilling none = fill_tets(cube, around, 1);
  for (const double part : none.filled) EXPECT_EQ(part, 0);
}

TEST(TetFilling, SheetsCountAsAsked) {
  const TriangleMesh sheet{{{0, 0, 0}, {1, 0, 0}, {0, 0.1f, 1}, {1, 0, 1}}, {{0, 2, 1}, {1, 2, 3}}};
  const TetCage cage = make_tet_cage(sheet, {}, {.elements = 100});
  double bare = 0;
  const TetFilling empty = fill_tets(cage.mesh, sheet), half = fill_tets(cage.mesh, sheet, 64, 0.5);
  for (size_t t = 0; t < cage.mesh.tets.size(); ++t) {
    bare += empty.filled[t];
    EXPECT_NEAR(half.filled[t], 0.5, 0.5 * empty.filled[t] + 1e-12);
    EXPECT_NEAR(half.shares[t].sum(),
                half.filled[t] * cage.spacing * cage.spacing * cage.spacing / 12, 1e-12);
  }
  EXPECT_LT(bare, 0.1 * static_cast<double>(cage.mesh.tets.size()));
}

TEST(TetFilling, SameForAnyNumberOfThreads) {
  const TriangleMesh ball = test::make_sphere(4);
  const TetCage cage = make_tet_cage(ball, {}, {.elements = 500});
  set_thread_count(1);
  const TetFilling one = fill_tets(cage.mesh, ball);
  set_thread_count(0);
  const TetFilling all = fill_tets(cage.mesh, ball);
  EXPECT_EQ(one.filled, all.filled);
  EXPECT_EQ(one.shares, all.shares);
  EXPECT_THROW(fill_tets(cage.mesh, ball, 0), Error);
}

}  // namespace
}  // namespace supple
