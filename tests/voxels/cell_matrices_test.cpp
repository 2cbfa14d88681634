// Stiffness and mass of cells against references written here: strain energies integrated point by
// point, leaf by leaf.
#include "supple/voxels/cell_matrices.h"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <random>

#include "mesh/shapes.h"

namespace supple {
namespace {

using Vector24 = Eigen::Matrix<double, 24, 1>;

double trilinear(int corner, const Vec3d& at) {
  double value = 1;
  for (int c = 0; c < 3; ++c) value *= (corner >> c & 1) != 0 ? at[c] : 1 - at[c];
  return value;
}

// Elastic energy of the cube at `low` (in sides of the cell) with side `size`, filled with
// `moduli`, when the cell's corners move by u: three Gauss points per axis, derivatives by
// differences of the trilinear functions, which along an axis are linear.
double energy_of_cube(const Vector24& u, const Vec3d& low, double size, double cell_side,
                      const CellMaterial& moduli) {
  const double nodes[3] = {0.5 - std::sqrt(0.15), 0.5, 0.5 + std::sqrt(0.15)};
  const double weights[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  double sum = 0;
  for (int q = 0; q < 27; ++q) {
    const Vec3d at = low + size * Vec3d(nodes[q % 3], nodes[q / 3 % 3], nodes[q / 9]);
    Mat3d gradient = Mat3d::Zero();
    for (int i = 0; i < 8; ++i)
      for (int b = 0; b < 3; ++b) {
        const Vec3d step = 0.5 * Vec3d::Unit(b);
        gradient.col(b) +=
            u.segment<3>(3 * i) * (trilinear(i, at + step) - trilinear(i, at - step)) / cell_side;
      }
    const Mat3d strain = (gradient + gradient.transpose()) / 2;
    sum += weights[q % 3] * weights[q / 3 % 3] * weights[q / 9] *
           (moduli.mu * strain.squaredNorm() + moduli.lambda / 2 * std::pow(strain.trace(), 2));
  }
  return sum * std::pow(size * cell_side, 3);
}

Vector24 random_vector(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Vector24 u;
  for (double& x : u) x = normal(random);
  return u;
}

// A single cell whose finest cubes are filled at random.
VoxelSolid random_cell(int levels, double side, double emptiness, std::mt19937& random) {
  VoxelSolid voxels;
  voxels.solid.lattice = SparseLattice(std::vector<Vec3i>{{0, 0, 0}});
  voxels.solid.spacing = side;
  voxels.mesh = LatticeMesh(voxels.solid.lattice);
  voxels.levels = levels;
  std::uniform_real_distribution<float> uniform(0.01f, 1);
  const auto cubes = uint32_t{1} << (3 * levels);
  for (uint32_t path = 0; path < cubes; ++path)
    if (static_cast<double>(uniform(random)) > emptiness)
      voxels.leaves.push_back({path, static_cast<uint8_t>(levels), uniform(random)});
  if (voxels.leaves.empty()) voxels.leaves.push_back({cubes - 1, static_cast<uint8_t>(levels), 1});
  voxels.first_leaf = {0, static_cast<uint32_t>(voxels.leaves.size())};
  return voxels;
}

VoxelMaterial material_at(const Vec3d& at) {
  return {lame_moduli(1e4 * (1 + at[0]), 0.3 + 0.1 * at[1]), 900 + 300 * at[2]};
}

std::vector<VoxelMaterial> materials_of(const VoxelSolid& voxels) {
  std::vector<VoxelMaterial> result;
  for (const VoxelLeaf& leaf : voxels.leaves) result.push_back(material_at(voxels.centre(0, leaf)));
  return result;
}

TEST(CellMatrices, FullCellHasTheEnergyOfItsStrain) {
  std::mt19937 random(1);
  const CellMaterial moduli = lame_moduli(3e4, 0.45);
  const Matrix24 k = cell_stiffness(moduli, 0.2);
  for (int i = 0; i < 20; ++i) {
    const Vector24 u = random_vector(random);
    const double energy = energy_of_cube(u, Vec3d::Zero(), 1, 0.2, moduli);
    EXPECT_NEAR(u.dot(k * u) / 2, energy, 1e-10 * energy);
  }
}

TEST(CellMatrices, GatheringIsExactForRandomFillings) {
  std::mt19937 random(2);
  for (int levels = 1; levels <= 4; ++levels)
    for (const double emptiness : {0.0, 0.5, 0.97}) {
      const double side = 0.3;
      const VoxelSolid voxels = random_cell(levels, side, emptiness, random);
      const CellMatrices cell =
          gather_cell(voxels, 0, StiffnessLaw::nonuniform, materials_of(voxels));
      double mass = 0;
      const Vector24 u = random_vector(random);
      double energy = 0;
      for (const VoxelLeaf& leaf : voxels.leaves) {
        const double size = 1.0 / (1 << leaf.depth);
        const Vec3d centre = voxels.centre(0, leaf);
        const VoxelMaterial is = material_at(centre);
        const Vec3d low = centre / side - Vec3d::Constant(size / 2);
        energy += static_cast<double>(leaf.filled) * energy_of_cube(u, low, size, side, is.moduli);
        mass += static_cast<double>(leaf.filled) * is.density * std::pow(size * side, 3);
      }
      EXPECT_NEAR(u.dot(cell.stiffness * u) / 2, energy, 1e-9 * energy) << levels << emptiness;
      EXPECT_NEAR(cell.masses.sum(), mass, 1e-12 * mass);
      EXPECT_GT(cell.masses.minCoeff(), 0);
    }
}

TEST(CellMatrices, LumpedMassesHaveTheCentreOfMassOfTheMatter) {
  std::mt19937 random(3);
  const VoxelSolid voxels = random_cell(3, 0.5, 0.8, random);
  const CellMatrices cell = gather_cell(voxels, 0, StiffnessLaw::nonuniform, materials_of(voxels));
  Vec3d expected = Vec3d::Zero(), found = Vec3d::Zero();
  for (const VoxelLeaf& leaf : voxels.leaves) {
    const Vec3d centre = voxels.centre(0, leaf);
    expected += static_cast<double>(leaf.filled) * material_at(centre).density *
                std::pow(0.5 / (1 << leaf.depth), 3) * centre;
  }
  for (int i = 0; i < 8; ++i) found += cell.masses[i] * 0.5 * Vec3d(i & 1, i >> 1 & 1, i >> 2);
  EXPECT_LT((found - expected).norm(), 1e-12 * expected.norm());
}

TEST(CellMatrices, OnlyRigidMotionsCostNothing) {
  std::mt19937 random(4);
  for (const double emptiness : {0.0, 0.5, 0.9}) {
    const VoxelSolid voxels = random_cell(2, 1, emptiness, random);
    for (const StiffnessLaw law : {StiffnessLaw::nonuniform, StiffnessLaw::uniform}) {
      const Matrix24 k = gather_cell(voxels, 0, law, materials_of(voxels)).stiffness;
      EXPECT_LT((k - k.transpose()).norm(), 1e-12 * k.norm());
      const Eigen::SelfAdjointEigenSolver<Matrix24> eigen(k);
      const Vector24 values = eigen.eigenvalues();
      EXPECT_LT(std::abs(values[5]), 1e-11 * values[23]);
      EXPECT_GT(values[6], 1e-7 * values[23]) << emptiness;
      for (int m = 0; m < 6; ++m) {
        Vector24 u;
        for (int i = 0; i < 8; ++i) {
          const Vec3d x(i & 1, i >> 1 & 1, i >> 2);
          u.segment<3>(3 * i) = m < 3 ? Vec3d(Vec3d::Unit(m)) : Vec3d::Unit(m - 3).cross(x);
        }
        EXPECT_LT((k * u).norm(), 1e-12 * k.norm() * u.norm());
      }
    }
  }
}

TEST(CellMatrices, MergedCubesAreTheSumOfTheirParts) {
  const TriangleMesh ball = test::make_sphere(0.5f);
  const std::vector<VoxelMaterial> everywhere{{lame_moduli(2e4, 0.4), 1000}};
  VoxelSolidOptions options{.cells = 3, .levels = 3};
  const VoxelSolid merged = voxelise_solid(ball.positions, ball.triangles, options);
  options.merge = false;
  const VoxelSolid whole = voxelise_solid(ball.positions, ball.triangles, options);
  EXPECT_LT(3 * merged.leaves.size(), 2 * whole.leaves.size());
  for (size_t c = 0; c < merged.mesh.cells.size(); ++c) {
    const CellMatrices a = gather_cell(merged, c, StiffnessLaw::nonuniform, everywhere),
                       b = gather_cell(whole, c, StiffnessLaw::nonuniform, everywhere);
    EXPECT_LT((a.stiffness - b.stiffness).norm(), 1e-12 * b.stiffness.norm());
    EXPECT_LT((a.masses - b.masses).norm(), 1e-12 * b.masses.norm());
  }
}

TEST(CellMatrices, FullCellIsTheSameUnderBothLaws) {
  std::mt19937 random(5);
  VoxelSolid voxels = random_cell(2, 1, 0, random);
  for (VoxelLeaf& leaf : voxels.leaves) leaf.filled = 1;
  const std::vector<VoxelMaterial> everywhere{{lame_moduli(1e4, 0.3), 1000}};
  const CellMatrices a = gather_cell(voxels, 0, StiffnessLaw::nonuniform, everywhere),
                     b = gather_cell(voxels, 0, StiffnessLaw::uniform, everywhere);
  EXPECT_LT((a.stiffness - b.stiffness).norm(), 1e-12 * b.stiffness.norm());
  EXPECT_LT((a.masses - b.masses).norm(), 1e-12 * b.masses.norm());
}

}  // namespace
}  // namespace supple
