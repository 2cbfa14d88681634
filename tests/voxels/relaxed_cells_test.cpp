// Cells whose matter moves as it costs least: energies, zero modes, bending, constant strain.
#include "supple/voxels/relaxed_cells.h"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <map>
#include <random>

#include "supple/mesh/primitives.h"

namespace supple {
namespace {

using Vector24 = Eigen::Matrix<double, 24, 1>;

const std::vector<VoxelMaterial> everywhere{{lame_moduli(2e4, 0.3), 1000}};

// A block of cells, the finest cubes of which are filled as `filled` (in finest cubes) says.
VoxelSolid block_of(const Vec3i& size, int levels,
                    const std::function<float(const Vec3i&)>& filled) {
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

// The energy of a cell's finest cubes when its corners move by u, and what is in it as `motions`
// say, or trilinearly.
class Energy {
 public:
  Energy(const VoxelSolid& voxels, size_t cell) : m_voxels(voxels), m_cell(cell) {
    gather_relaxed(voxels, cell, everywhere, {}, [&](const Relaxation& r) {
      m_motions[{r.low[0], r.low[1], r.low[2], r.side}] = r;
    });
  }

  double operator()(const Vector24& u) const { return of(Vec3i::Zero(), 1 << m_voxels.levels, u); }

 private:
  double of(const Vec3i& low, int side, const Vector24& u) const {
    if (side == 1) {
      for (const VoxelLeaf& leaf : m_voxels.leaves_of(m_cell))
        if (m_voxels.finest(leaf) == low)
          return static_cast<double>(leaf.filled) / 2 *
                 u.dot(cell_stiffness(everywhere[0].moduli,
                                      m_voxels.solid.spacing / (1 << m_voxels.levels)) *
                       u);
      return 0;
    }
    Relaxation trilinear{low, side, 2, Eigen::MatrixXd::Zero(81, 24)};
    for (int i = 0; i < 27; ++i)
      for (int c = 0; c < 8; ++c) {
        double weight = 1;
        for (int axis = 0, rest = i; axis < 3; ++axis, rest /= 3)
          weight *= (c >> axis & 1) != 0 ? rest % 3 / 2.0 : 1 - rest % 3 / 2.0;
        trilinear.motion.block<3, 3>(3 * i, 3 * c) = weight * Mat3d::Identity();
      }
    const auto found = m_motions.find({low[0], low[1], low[2], side});
    const Relaxation& is = found == m_motions.end() ? trilinear : found->second;
    const Eigen::VectorXd v = is.motion * u;
    const int row = is.parts + 1, inner = side / is.parts;
    double sum = 0;
    for (int i = 0; i < is.parts * is.parts * is.parts; ++i) {
      const Vec3i at(i % is.parts, i / is.parts % is.parts, i / is.parts / is.parts);
      Vector24 own;
      for (int c = 0; c < 8; ++c) {
        const Vec3i p = at + Vec3i(c & 1, c >> 1 & 1, c >> 2);
        own.segment<3>(3 * c) = v.segment<3>(3 * (p[0] + row * (p[1] + row * p[2])));
      }
      sum += of(low + inner * at, inner, own);
    }
    return sum;
  }

  const VoxelSolid& m_voxels;
  size_t m_cell;
  std::map<std::array<int, 4>, Relaxation> m_motions;
};

Vector24 random_vector(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Vector24 u;
  for (double& x : u) x = normal(random);
  return u;
}

TEST(RelaxedCells, HaveTheEnergyOfTheirCubes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (int levels = 1; levels <= 4; ++levels)
    for (const float emptiness : {0.0f, 0.5f, 0.9f})
      for (const int cells : {1, 2}) {
        if (levels == 4 && emptiness < 0.5f) continue;
        const VoxelSolid voxels = block_of({cells, 1, 1}, levels, [&](const Vec3i&) {
          return uniform(random) >= emptiness ? 0.1f + 0.9f * uniform(random) : 0;
        });
        if (voxels.first_leaf[1] == 0) continue;
        const Matrix24 k = gather_relaxed(voxels, 0, everywhere, {}).stiffness,
                       trilinear =
                           gather_cell(voxels, 0, StiffnessLaw::nonuniform, everywhere).stiffness;
        const Energy energy(voxels, 0);
        for (int i = 0; i < 3; ++i) {
          const Vector24 u = random_vector(random);
          const double expected = energy(u);
          // Loose matter moves at no cost, but for rounding of what it would cost trilinearly.
          EXPECT_NEAR(u.dot(k * u) / 2, expected, 1e-6 * expected + 1e-12 * u.dot(trilinear * u))
              << levels << emptiness << cells;
        }
      }
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
