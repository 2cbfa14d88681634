// Stiffness and mass of trilinear cells, alone and gathered from finer ones [Nesme 2006, section
// 5]. Rows and columns run over the eight corners, x fastest; those of stiffness over x, y, z of
// each.
#pragma once

#include <functional>
#include <span>

#include "supple/material/moduli.h"
#include "supple/voxels/voxel_solid.h"

namespace supple {

using Matrix24 = Eigen::Matrix<double, 24, 24>;
using Matrix8 = Eigen::Matrix<double, 8, 8>;
using Vector8 = Eigen::Matrix<double, 8, 1>;

/// What matter is made of at a place.
struct VoxelMaterial {
  CellMaterial moduli;
  double density = 1000;  ///< kg/m³
};

/// Stiffness of a full cell with sides of `side` metres, in newtons per metre: exact integrals of
/// linear elasticity.
Matrix24 cell_stiffness(const CellMaterial& material, double side);

/// Consistent mass of a full cell of one kilogram.
Matrix8 cell_mass();

/// Adds what a child (its place in the parent, x lowest bit) contributes to the parent when it
/// moves as the parent's interpolation does: Lᵀ K L.
void add_child(const Matrix24& child, int place, Matrix24& parent);
void add_child(const Matrix8& child, int place, Matrix8& parent);

/// K := K L for a child of such a parent: what its corners feel, by motions of the parent's.
void interpolate_columns(int place, Matrix24& child);

/// Translations and turns of the corners, of length one and at right angles.
const Eigen::Matrix<double, 24, 6>& rigid_modes();

/// K without what rounding has it resist rigid motions with.
Matrix24 without_rigid(const Matrix24& stiffness);

/// How much each of the four edges along x (by y, then z of the edge, y lowest bit), y (by x, z)
/// and z (by x, y) stands for the matter in a cell; each axis adds up to 1.
using EdgeWeights = Eigen::Matrix<double, 3, 4>;

/// What a cell resists and weighs, and where its matter is.
struct CellMatrices {
  Matrix24 stiffness;                ///< N/m
  Vector8 masses = Vector8::Zero();  ///< lumped at the corners, kg
  EdgeWeights edges = EdgeWeights::Constant(0.25);
};

/// How matter in parts of a cell is felt at its corners.
enum class StiffnessLaw {
  nonuniform,  ///< where it is, moving with the corners' interpolation [Nesme 2006, section 5.3]
  bending,     ///< where it is, moving as it costs least (relaxed_cells.h)
  uniform,     ///< spread evenly over the cell [Nesme 2006, section 5.1]
};

/// What of a solid is held fast, or moved by scripts and bones; empty where nothing is.
struct HeldMatter {
  std::span<const uint8_t> nodes;  ///< whether each node is
  /// Whether matter at a place (in metres) is; asked in cells with held nodes.
  std::function<bool(const Vec3d&)> contains;
};

/// How much of the law `nonuniform` is in the law `bending` as well: it holds loose parts of a cell
/// together, and keeps empty corners from being too soft to solve for. A free body of one cell
/// has nothing to tell it how it lies, and gains speed when it is softer than that.
inline constexpr double trilinear_part = 1e-4, trilinear_part_alone = 1e-2;

/// Gathers stiffness and mass of a cell of a solid from its octree; `materials` has one entry per
/// leaf of the solid, or one for all.
CellMatrices gather_cell(const VoxelSolid& voxels, size_t cell, StiffnessLaw law,
                         std::span<const VoxelMaterial> materials, const HeldMatter& held = {});

}  // namespace supple
