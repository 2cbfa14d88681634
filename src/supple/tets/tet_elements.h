// The elasticity of a body of linear tetrahedra: forces and energy for given node positions.
// Elements may be filled with matter in part: they then count for that part [Kim 2011, eq. 11].
#pragma once

#include <span>
#include <vector>

#include "supple/material/law.h"
#include "supple/mesh/tet_mesh.h"
#include "supple/tets/tet_kernels.h"

namespace supple {

/// What the elements of a mesh are made of.
struct TetMatter {
  std::vector<double> volumes;          ///< of matter in every element, m³; 0 leaves it out
  std::vector<CellMaterial> materials;  ///< of every element
  Law law = Law::invertible_stvk;
  LawLimits limits;
};

/// Elements of a mesh, computed in single or double precision.
template <class Scalar>
class TetElements {
 public:
  /// The elements with matter in them. Throws an input error naming `file` for an element without
  /// volume, corners that are not there, and numbers that are not finite.
  TetElements(const TetMesh& mesh, const TetMatter& matter, const std::string& file,
              Diagonalise diagonalise = Diagonalise::selective);

  /// Adds the elastic forces at node positions `x` (metres) to `forces` (newtons).
  void add_forces(std::span<const Vec3d> x, std::span<Vec3d> forces);

  /// The elastic energy at node positions `x`, in joules; in double precision.
  double energy(std::span<const Vec3d> x) const;

  /// How many elements there are.
  size_t size() const { return m_count; }

  /// Memory it uses.
  size_t bytes() const;

  /// Chooses whose deformation is diagonalised.
  void set_diagonalise(Diagonalise which) { m_diagonalise = which; }

 private:
  TetTables<Scalar> tables() const;

  Law m_law;
  LawLimits m_limits;
  Diagonalise m_diagonalise;
  size_t m_count = 0, m_groups = 0, m_nodes = 0;
  std::vector<int32_t> m_corners;  // group by group, as TetTables has them
  std::vector<Scalar> m_inverse, m_volume, m_mu, m_lambda;
  std::vector<uint32_t> m_offsets, m_entries;
  std::vector<Scalar> m_x, m_forces;  // of one call
};

extern template class TetElements<float>;
extern template class TetElements<double>;

}  // namespace supple
