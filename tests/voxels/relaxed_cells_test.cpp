// Cells whose matter moves as it costs least: energies, zero modes, bending, constant strain.
#include "supple/voxels/relaxed_cells.h"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "supple/mesh/primitives.h"

namespace supple {
namespace {

using Vector24 = Eigen::Matrix<double, 24, 1>;

using Filling = std::function<float(const Vec3i&)>;

const std::vector<VoxelMaterial> everywhere{{lame_moduli(2e4, 0.3), 1000}};

// A block of cells, the finest cubes of which are filled as `filled` (in finest cubes) says.
VoxelSolid block_of(const Vec3i& size, int levels, const Filling& filled) {
  VoxelSolid voxels;
  std::vector<Vec3i> cells;
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x) cells.emplace_back(x, y, z);
  voxels.solid.lattice = SparseLattice(cells);
  voxels.solid.spacing = 0.1;
  voxels.mesh = LatticeMesh(voxels.solid.lattice);
  voxels.levels = levels;
  voxels.first_leaf = {0};
  for (const LatticePlace& place : voxels.mesh.cells) {
    const Vec3i low = voxels.solid.lattice.coordinates(place.block, place.local) * (1 << levels);
    for (uint32_t path = 0; path < uint32_t{1} << (3 * levels); ++path) {
      VoxelLeaf leaf{path, static_cast<uint8_t>(levels), 1};
      leaf.filled = filled(low + voxels.finest(leaf));
      if (leaf.filled > 0) voxels.leaves.push_back(leaf);
    }
    voxels.first_leaf.push_back(static_cast<uint32_t>(voxels.leaves.size()));
  }
  return voxels;
}

// The law by its definition, written without regard to speed: constraints by quadrature over the
// finest squares, exact multipliers, pseudo-inverses. Places are in finest cubes of all cells.
class ByDefinition {
 public:
  ByDefinition(const Filling& filled, double finest) : m_filled(filled), m_finest(finest) {}

  Matrix24 stiffness(const Vec3i& low, int side, int parts) const {
    if (side == 1) return part(low) * cell_stiffness(everywhere[0].moduli, m_finest);
    if (parts == 2 && is_enclosed(low, side))
      return cell_stiffness(everywhere[0].moduli, side * m_finest);
    const int row = parts + 1, nodes = row * row * row, inner = side / parts;
    Eigen::MatrixXd k = Eigen::MatrixXd::Zero(3 * nodes, 3 * nodes),
                    n = Eigen::MatrixXd::Zero(3 * nodes, 24);
    for (int i = 0; i < nodes; ++i)
      for (int c = 0; c < 8; ++c)
        n.block<3, 3>(3 * i, 3 * c) =
            weight(Vec3d(i % row, i / row % row, i / row / row) / parts, c) * Mat3d::Identity();
    for (int i = 0; i < parts * parts * parts; ++i) {
      const Vec3i at(i % parts, i / parts % parts, i / parts / parts);
      const Matrix24 child = stiffness(low + inner * at, inner, 2);
      for (int a = 0; a < 8; ++a)
        for (int b = 0; b < 8; ++b)
          k.block<3, 3>(3 * node(at, a, row), 3 * node(at, b, row)) +=
              child.block<3, 3>(3 * a, 3 * b);
    }
    return least(k, n, constraints(low, side, parts));
  }

 private:
  static double weight(const Vec3d& at, int corner) {
    double value = 1;
    for (int k = 0; k < 3; ++k) value *= (corner >> k & 1) != 0 ? at[k] : 1 - at[k];
    return value;
  }
  static int node(const Vec3i& cube, int corner, int row) {
    const Vec3i p = cube + Vec3i(corner & 1, corner >> 1 & 1, corner >> 2);
    return p[0] + row * (p[1] + row * p[2]);
  }
  double part(const Vec3i& at) const { return static_cast<double>(m_filled(at)); }

  bool is_enclosed(const Vec3i& low, int side) const {
    for (int z = -1; z <= side; ++z)
      for (int y = -1; y <= side; ++y)
        for (int x = -1; x <= side; ++x) {
          int beyond = 0;
          for (const int p : {x, y, z}) beyond += p < 0 || p == side ? 1 : 0;
          if (beyond < 2 && part(low + Vec3i(x, y, z)) < 1) return false;
        }
    return true;
  }

  // Of a displacement that is trilinear in each part: adds `scale` times its value at a place (in
  // finest cubes from `low`) to a row.
  template <class Row>
  static void add_value(const Vec3d& at, int side, int parts, double scale, Row&& row) {
    const Vec3d local = at * parts / side;
    Vec3i cube;
    for (int k = 0; k < 3; ++k) cube[k] = std::clamp(static_cast<int>(local[k]), 0, parts - 1);
    for (int c = 0; c < 8; ++c)
      row[node(cube, c, parts + 1)] += scale * weight(local - cube.cast<double>(), c);
  }

  // Two points per axis are exact for products of linear functions.
  template <class Visit>
  static void for_each_point(int dimensions, const Visit& visit) {
    for (int q = 0; q < 1 << dimensions; ++q) {
      Vec3d at;
      for (int k = 0; k < 3; ++k) at[k] = 0.5 + ((q >> k & 1) != 0 ? 0.5 : -0.5) / std::sqrt(3.0);
      visit(at, 1.0 / (1 << dimensions));
    }
  }

  // Rows for x alone: one per corner, one per axis.
  Eigen::MatrixXd constraints(const Vec3i& low, int side, int parts) const {
    const int nodes = (parts + 1) * (parts + 1) * (parts + 1);
    std::array<double, 6> areas{};
    Eigen::MatrixXd moments = Eigen::MatrixXd::Zero(48, nodes), means(6, nodes),
                    rows = Eigen::MatrixXd::Zero(11, nodes);
    means.setZero();
    for (int s = 0; s < 6; ++s)
      for (int u = 0; u < side; ++u)
        for (int v = 0; v < side; ++v) {
          const int axis = s / 2, a1 = (axis + 1) % 3, a2 = (axis + 2) % 3;
          Vec3i at, next;
          at[axis] = s % 2 != 0 ? side - 1 : 0;
          at[a1] = u;
          at[a2] = v;
          next = at;
          next[axis] += s % 2 != 0 ? 1 : -1;
          const double area = std::min(part(low + at), part(low + next));
          areas[static_cast<size_t>(s)] += area;
          for_each_point(2, [&](const Vec3d& q, double w) {
            Vec3d place;
            place[axis] = s % 2 != 0 ? side : 0;
            place[a1] = u + q[0];
            place[a2] = v + q[1];
            add_value(place, side, parts, area * w, means.row(s));
            for (int c = 0; c < 8; ++c)
              if ((c >> axis & 1) == s % 2)
                add_value(place, side, parts, area * w * weight(place / side, c),
                          moments.row(8 * s + c));
          });
        }
    double least = 1e30;
    for (const double area : areas)
      if (area > 0) least = std::min(least, area);
    for (int c = 0; c < 8; ++c) {
      bool seen = false;
      for (int s = 0; s < 6; ++s)
        if (const double area = areas[static_cast<size_t>(s)];
            area > 0 && (c >> s / 2 & 1) == s % 2) {
          rows.row(c) += std::pow(least / area, 10) / area * moments.row(8 * s + c);
          seen = true;
        }
      if (!seen) rows.row(c) = near_matter(low, side, parts, c);
    }
    for (int axis = 0; axis < 3; ++axis)
      if (const double a = areas[static_cast<size_t>(2 * axis)],
          b = areas[static_cast<size_t>(2 * axis + 1)];
          a > 0 && b > 0)
        rows.row(8 + axis) = means.row(2 * axis + 1) / b - means.row(2 * axis) / a;
    return rows;
  }

  // The mean over the matter by a corner's function, taken between the parts' nodes, to the third
  // power.
  Eigen::RowVectorXd near_matter(const Vec3i& low, int side, int parts, int corner) const {
    const int row = parts + 1, inner = side / parts;
    Eigen::RowVectorXd result = Eigen::RowVectorXd::Zero(row * row * row);
    for (int z = 0; z < side; ++z)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          const Vec3i cube(x / inner, y / inner, z / inner);
          const double filled = part(low + Vec3i(x, y, z));
          for_each_point(3, [&](const Vec3d& q, double w) {
            const Vec3d place = Vec3d(x, y, z) + q;
            double power = 0;
            for (int c = 0; c < 8; ++c) {
              const Vec3d at = (cube + Vec3i(c & 1, c >> 1 & 1, c >> 2)).cast<double>() / parts;
              power +=
                  weight(place / inner - cube.cast<double>(), c) * std::pow(weight(at, corner), 3);
            }
            add_value(place, side, parts, filled * w * power, result);
          });
        }
    return result;
  }

  // Least vᵀKv with B v = B N u: vᵀKv of the solution with multipliers, of which and of loose
  // motions there may be too many.
  static Matrix24 least(const Eigen::MatrixXd& k, const Eigen::MatrixXd& n, Eigen::MatrixXd rows) {
    const Eigen::Index size = k.rows();
    const double scale = k.diagonal().maxCoeff();
    if (!(scale > 0)) return Matrix24::Zero();
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(3 * rows.rows(), size);
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (const double norm = rows.row(r).norm(); norm > 0) rows.row(r) *= scale / norm;
      for (Eigen::Index i = 0; i < size; ++i) b(3 * r + i % 3, i) = rows(r, i / 3);
    }
    Eigen::MatrixXd all(size + b.rows(), size + b.rows());
    all << k, b.transpose(), b, Eigen::MatrixXd::Zero(b.rows(), b.rows());
    Eigen::MatrixXd right = Eigen::MatrixXd::Zero(all.rows(), 24);
    right.bottomRows(b.rows()) = b * n;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
    solver.setThreshold(1e-10);
    const Eigen::MatrixXd v = solver.compute(all).solve(right).topRows(size);
    return v.transpose() * k * v;
  }

  const Filling& m_filled;
  double m_finest;
};

Vector24 random_vector(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Vector24 u;
  for (double& x : u) x = normal(random);
  return u;
}

// The law is written down a second time above, and both are compared: cells of random matter, and
// of a bent rod; one cell alone, and beside another one.
TEST(RelaxedCells, CostTheLeastOfAllMotionsThatAgree) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (const int levels : {1, 2, 3})
    for (const float emptiness : {0.0f, 0.3f, 0.6f, 1.0f})
      for (const int cells : {1, 2}) {
        if (cells == 1 && levels == 3) continue;  // eight parts along an axis: too many here
        const int size = 1 << levels;
        std::map<std::array<int, 3>, float> drawn;
        const Filling filled = [&](const Vec3i& at) {
          const auto [found, is_new] = drawn.try_emplace({at[0], at[1], at[2]}, 0.0f);
          const bool outside =
              at.minCoeff() < 0 || at[0] >= cells * size || at.tail<2>().maxCoeff() >= size;
          if (is_new && !outside) {
            const bool rod = at[1] == size / 2 || (at[0] == size / 2 && at[1] > size / 2);
            found->second = emptiness == 1                 ? (rod ? 1.0f : 0.0f)
                            : uniform(random) >= emptiness ? 0.1f + 0.9f * uniform(random)
                                                           : 0;
          }
          return found->second;
        };
        const VoxelSolid voxels = block_of({cells, 1, 1}, levels, filled);
        const Matrix24 k = gather_relaxed(voxels, 0, everywhere, {}).stiffness,
                       expected =
                           ByDefinition(filled, 0.1 / size)
                               .stiffness(Vec3i::Zero(), size, cells == 1 && levels > 1 ? size : 2);
        // Agreement is 10⁸ times as stiff as the matter, and less where rows are nearly the same.
        EXPECT_LT((k - expected).norm(), 1e-3 * expected.norm())
            << levels << " levels, " << emptiness << " empty, " << cells << " cells";
        for (int i = 0; i < 5; ++i) {
          const Vector24 u = random_vector(random);
          EXPECT_NEAR(u.dot(k * u), u.dot(expected * u), 1e-3 * u.dot(expected * u));
        }
      }
}

// The law of a body: this one, and a little of the trilinear one.
TEST(RelaxedCells, HaveAPartOfTheTrilinearLaw) {
  const VoxelSolid voxels =
      block_of({2, 1, 1}, 2, [](const Vec3i& at) { return at[1] < 2 ? 0.5f : 0.0f; });
  const Matrix24 bending = gather_cell(voxels, 0, StiffnessLaw::bending, everywhere).stiffness,
                 relaxed = gather_relaxed(voxels, 0, everywhere, {}).stiffness,
                 trilinear = gather_cell(voxels, 0, StiffnessLaw::nonuniform, everywhere).stiffness;
  EXPECT_LT((bending - relaxed - trilinear_part * trilinear).norm(), 1e-12 * trilinear.norm());
}

// What moves as it costs least costs no more than what moves trilinearly.
TEST(RelaxedCells, AreNeverStifferThanTrilinearOnes) {
  const TriangleMesh tube = tube_surface({.ring = 0.47, .radius = 0.11, .angle = 5}, 0.05);
  for (const int cells : {1, 3, 6}) {
    const VoxelSolid voxels =
        voxelise_solid(tube.positions, tube.triangles, {.cells = cells, .levels = 3});
    for (size_t c = 0; c < voxels.mesh.cells.size(); ++c) {
      const Matrix24 a = gather_relaxed(voxels, c, everywhere, {}).stiffness,
                     b = gather_cell(voxels, c, StiffnessLaw::nonuniform, everywhere).stiffness;
      const Eigen::SelfAdjointEigenSolver<Matrix24> more(b - a), own(a);
      EXPECT_GT(more.eigenvalues()[0], -1e-7 * b.norm());
      EXPECT_GT(own.eigenvalues()[0], -1e-7 * b.norm());
    }
  }
}

// The response of a body of cells, held at x = 0, to a load on all of it: the mean displacement of
// the nodes at the far end.
Vec3d end_of(const VoxelSolid& voxels, StiffnessLaw law, const Vec3d& load) {
  std::vector<Vec3d> rest;
  std::vector<uint8_t> held;
  double far = 0;
  for (const LatticePlace& node : voxels.mesh.nodes) {
    rest.push_back(voxels.solid.position(voxels.solid.lattice.coordinates(node.block, node.local)));
    held.push_back(rest.back()[0] < 1e-9 ? 1 : 0);
    far = std::max(far, rest.back()[0]);
  }
  const HeldMatter fast{held, [](const Vec3d& p) { return p[0] < 1e-9; }};
  const auto n = static_cast<Eigen::Index>(3 * rest.size());
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd f = Eigen::VectorXd::Zero(n);
  for (size_t c = 0; c < voxels.mesh.cells.size(); ++c) {
    const CellMatrices cell = gather_cell(voxels, c, law, everywhere, fast);
    for (int i = 0; i < 8; ++i) {
      const int a = 3 * voxels.mesh.corners[c][static_cast<size_t>(i)];
      f.segment<3>(a) += cell.masses[i] * load;
      for (int j = 0; j < 8; ++j)
        k.block<3, 3>(a, 3 * voxels.mesh.corners[c][static_cast<size_t>(j)]) +=
            cell.stiffness.block<3, 3>(3 * i, 3 * j);
    }
  }
  for (size_t i = 0; i < rest.size(); ++i)
    if (held[i] != 0) k.diagonal().segment<3>(static_cast<Eigen::Index>(3 * i)).array() += 1e9;
  const Eigen::VectorXd u = k.ldlt().solve(f);
  Vec3d sum = Vec3d::Zero();
  int count = 0;
  for (size_t i = 0; i < rest.size(); ++i)
    if (rest[i][0] > far - 1e-9) {
      sum += u.segment<3>(static_cast<Eigen::Index>(3 * i));
      ++count;
    }
  return sum / count;
}

// A bar of 6 cells, a quarter of a cell thick: w L⁴ / 8 E I, with shear 2 % of it. Its four finest
// cubes across bend as trilinear ones do, by up to a tenth too little.
TEST(RelaxedCells, ThinBarBendsAsBeamsDo) {
  const double length = 0.6, side = 0.025, young = 2e4, g = 9.81;
  const double expected =
      1000 * side * side * g * std::pow(length, 4) / (8 * young * std::pow(side, 4) / 12);
  for (const int first : {0, 6, 12}) {  // at a side, in the middle, at the other side
    const VoxelSolid voxels = block_of({6, 1, 1}, 4, [&](const Vec3i& at) {
      const auto in = [&](int k) { return at[k] >= first && at[k] < first + 4; };
      return in(1) && in(2) ? 1.0f : 0.0f;
    });
    const double law = -end_of(voxels, StiffnessLaw::bending, {0, -g, 0})[1],
                 trilinear = -end_of(voxels, StiffnessLaw::nonuniform, {0, -g, 0})[1];
    EXPECT_NEAR(law, expected, 0.2 * expected) << first;
    EXPECT_LT(trilinear, 0.2 * expected) << first;
  }
}

// A thin bar along the edge that four rows of cells have in common.
TEST(RelaxedCells, ThinBarBendsWhereCellsMeet) {
  const double length = 0.6, side = 0.025, young = 2e4, g = 9.81;
  const double expected =
      1000 * side * side * g * std::pow(length, 4) / (8 * young * std::pow(side, 4) / 12);
  const VoxelSolid voxels = block_of({6, 2, 2}, 4, [&](const Vec3i& at) {
    const auto in = [&](int k) { return at[k] >= 14 && at[k] < 18; };
    return in(1) && in(2) ? 1.0f : 0.0f;
  });
  EXPECT_NEAR(-end_of(voxels, StiffnessLaw::bending, {0, -g, 0})[1], expected, 0.3 * expected);
}

// A cell that is full but for a corner, in the midst of full ones, with all its sides going on:
// constant strain of its full neighbours' law.
TEST(RelaxedCells, FullCellsAmongFullOnesAreTrilinear) {
  const VoxelSolid voxels = block_of({3, 3, 3}, 2, [](const Vec3i&) { return 1.0f; });
  for (size_t c = 0; c < voxels.mesh.cells.size(); ++c) {
    const LatticePlace& place = voxels.mesh.cells[c];
    if (voxels.solid.lattice.coordinates(place.block, place.local) != Vec3i(1, 1, 1)) continue;
    const Matrix24 k = gather_relaxed(voxels, c, everywhere, {}).stiffness,
                   full = cell_stiffness(everywhere[0].moduli, 0.1);
    EXPECT_LT((k - full).norm(), 1e-12 * full.norm());
  }
}

// A bar that fills its cells is stretched: its sides are free, and it is as long as E says.
TEST(RelaxedCells, StretchedBarHasConstantStrain) {
  const VoxelSolid voxels = block_of({6, 1, 1}, 2, [](const Vec3i&) { return 1.0f; });
  // By its own weight: w L² / 2 E, less at the end that cannot get thinner.
  const double expected = 1000 * 9.81 * 0.6 * 0.6 / (2 * 2e4);
  EXPECT_NEAR(end_of(voxels, StiffnessLaw::bending, {9.81, 0, 0})[0], expected, 0.05 * expected);
}

TEST(RelaxedCells, NearlyEmptyCellsAreSoundAndRigidMotionsFree) {
  const VoxelSolid voxels = block_of({2, 1, 1}, 3, [](const Vec3i& at) {
    return at[0] < 8 ? 1.0f : at == Vec3i(8, 0, 0) ? 0.01f : 0.0f;
  });
  const CellMatrices cell = gather_cell(voxels, 1, StiffnessLaw::bending, everywhere);
  EXPECT_TRUE(cell.stiffness.allFinite());
  const Eigen::SelfAdjointEigenSolver<Matrix24> eigen(cell.stiffness);
  EXPECT_LT(std::abs(eigen.eigenvalues()[5]), 1e-11 * eigen.eigenvalues()[23]);
  EXPECT_GT(eigen.eigenvalues()[6], 0);
  for (int m = 0; m < 6; ++m) {
    Vector24 u;
    for (int i = 0; i < 8; ++i) {
      const Vec3d x(i & 1, i >> 1 & 1, i >> 2);
      u.segment<3>(3 * i) = m < 3 ? Vec3d(Vec3d::Unit(m)) : Vec3d::Unit(m - 3).cross(x);
    }
    EXPECT_LT((cell.stiffness * u).norm(), 1e-12 * cell.stiffness.norm() * u.norm());
  }
}

}  // namespace
}  // namespace supple
