#include "supple/voxels/relaxed_cells.h"

#include <algorithm>
#include <array>

#include "supple/voxels/cube_relaxation.h"

namespace supple {
namespace {

// A body of one cell is gathered from cubes this many levels down, or from fewer larger ones where
// there would be too many.
constexpr int whole_levels = 4;
constexpr size_t most_cubes = 1000;

constexpr size_t as_size(int i) { return static_cast<size_t>(i); }

// Products of the bilinear functions of a unit square.
Eigen::Matrix4d make_square() {
  Eigen::Matrix4d m;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      m(i, j) = (((i ^ j) & 1) != 0 ? 1.0 / 6 : 1.0 / 3) * (((i ^ j) & 2) != 0 ? 1.0 / 6 : 1.0 / 3);
  return m;
}

// Walks a cell's octree from the finest level up, with a map of how its finest cubes, and those
// that touch its sides, are filled.
class Gatherer {
 public:
  Gatherer(const VoxelSolid& voxels, size_t cell, std::span<const VoxelMaterial> materials,
           const HeldMatter& held)
      : m_voxels(voxels),
        m_cell(cell),
        m_materials(materials),
        m_held(held),
        m_levels(voxels.levels),
        m_size(1 << voxels.levels),
        m_children(as_size(voxels.levels) + 1) {
    const size_t row = as_size(m_size) + 2;
    m_filled.assign(row * row * row, 0);
    m_leaf.assign(row * row * row, -1);
    const LatticePlace& place = voxels.mesh.cells[cell];
    m_low = voxels.solid.position(voxels.solid.lattice.coordinates(place.block, place.local));
    for (size_t c = 0; c < 8 && !held.nodes.empty(); ++c)
      if (held.nodes[as_size(voxels.mesh.corners[cell][c])] != 0) m_held_corners |= 1u << c;
    draw(cell, Vec3i::Zero());
    surround();
  }

  CellMatrices gather() {
    MatterCube all;
    if (m_voxels.mesh.cells.size() == 1 && m_levels > 1)
      gather_whole(all);
    else
      visit(0, Vec3i::Zero(), all);
    CellMatrices result;
    result.stiffness = without_rigid(all.stiffness);
    result.masses = all.mass.rowwise().sum();
    return result;
  }

 private:
  size_t at(const Vec3i& p) const {
    const int row = m_size + 2;
    return as_size((p[0] + 1) + row * ((p[1] + 1) + row * (p[2] + 1)));
  }

  // Draws the leaves of a cell, `shift` cells away, as far as they are on the map.
  void draw(size_t cell, const Vec3i& shift) {
    const auto leaves = m_voxels.leaves_of(cell);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const Vec3i low = m_voxels.finest(leaves[i]) + m_size * shift;
      const Vec3i from = low.cwiseMax(-1),
                  to = (low + Vec3i::Constant(m_size >> leaves[i].depth)).cwiseMin(m_size + 1);
      for (int z = from[2]; z < to[2]; ++z)
        for (int y = from[1]; y < to[1]; ++y)
          for (int x = from[0]; x < to[0]; ++x) {
            m_filled[at({x, y, z})] = leaves[i].filled;
            m_leaf[at({x, y, z})] = static_cast<int32_t>(m_voxels.first_leaf[cell] + i);
          }
    }
  }

  // Draws what is beyond the sides: other cells, or a wall where the side is held.
  void surround() {
    const SolidLattice& solid = m_voxels.solid;
    const LatticePlace& place = m_voxels.mesh.cells[m_cell];
    const Vec3i here = solid.lattice.coordinates(place.block, place.local);
    for (int side = 0; side < 6; ++side) {
      const int axis = side / 2;
      Vec3i step = Vec3i::Zero();
      step[axis] = side % 2 != 0 ? 1 : -1;
      if (solid.lattice.has_cell(here + step)) {
        const LatticePlace next = solid.lattice.place(here + step);
        draw(as_size(m_voxels.mesh.cell_number(next)), step);
        continue;
      }
      bool wall = true;
      for (int k = 0; k < 4; ++k)
        wall = wall && (m_held_corners >> corner_of_side(side, k) & 1) != 0;
      for (int v = 0; v < m_size && wall; ++v)
        for (int u = 0; u < m_size; ++u) {
          Vec3i p;
          p[axis] = side % 2 != 0 ? m_size : -1;
          p[axis == 0 ? 1 : 0] = u;
          p[axis == 2 ? 1 : 2] = v;
          m_filled[at(p)] = 1;
        }
    }
  }

  // Whether a cube and all that touches its sides is full.
  bool is_enclosed(const Vec3i& low, int side) const {
    for (int z = -1; z <= side; ++z)
      for (int y = -1; y <= side; ++y)
        for (int x = -1; x <= side; ++x) {
          const int beyond = (x < 0 || x == side ? 1 : 0) + (y < 0 || y == side ? 1 : 0) +
                             (z < 0 || z == side ? 1 : 0);
          if (beyond < 2 && m_filled[at(low + Vec3i(x, y, z))] < 1) return false;
        }
    return true;
  }

  // A cube of one material that is filled evenly, as are the cubes around it.
  void fill_cube(int depth, const Vec3i& low, MatterCube& out) const {
    static const Eigen::Matrix4d square = make_square();
    static const Matrix8 unit_mass = cell_mass();
    const auto filled = static_cast<double>(m_filled[at(low)]);
    out.empty = !(filled > 0);
    if (out.empty) return;
    const double h = m_voxels.solid.spacing / (1 << depth);
    const VoxelMaterial& is =
        m_materials.size() == 1 ? m_materials[0] : m_materials[as_size(m_leaf[at(low)])];
    out.stiffness = filled * cell_stiffness(is.moduli, h);
    out.mass = (filled * is.density * h * h * h) * unit_mass;
    out.firmness = filled * (2 * is.moduli.mu + is.moduli.lambda) * h * h * h;
    for (int s = 0; s < 6; ++s) {
      Vec3i next = low;
      next[s / 2] += s % 2 != 0 ? m_size >> depth : -1;
      const auto across = static_cast<double>(m_filled[at(next)]);
      out.areas[as_size(s)] = (std::min(filled, across) * h * h) * square;
    }
  }

  void visit(int depth, const Vec3i& low, MatterCube& out) {
    if (depth == m_levels) return fill_cube(depth, low, out);
    const int side = m_size >> depth;
    const bool enclosed = is_enclosed(low, side);
    if (enclosed && m_voxels.leaves[as_size(m_leaf[at(low)])].depth <= depth)
      return fill_cube(depth, low, out);
    std::array<MatterCube, 8>& children = m_children[as_size(depth)];
    for (int c = 0; c < 8; ++c)
      visit(depth + 1, low + side / 2 * Vec3i(c & 1, c >> 1 & 1, c >> 2), children[as_size(c)]);
    m_cube.begin(2, m_voxels.solid.spacing / (1 << depth));
    for (int c = 0; c < 8; ++c)
      if (!children[as_size(c)].empty)
        m_cube.add({c & 1, c >> 1 & 1, c >> 2}, children[as_size(c)]);
    m_cube.gather(out);
    if (out.empty) return;
    if (enclosed)
      m_cube.stay(out);
    else
      relax(depth, low, out);
  }

  // The cell at once, from cubes some levels down.
  void gather_whole(MatterCube& out) {
    int depth = std::min(m_levels, whole_levels);
    while (depth > 1 && count_cubes(depth) > most_cubes) --depth;
    const int parts = 1 << depth;
    std::vector<MatterCube> cubes(as_size(parts * parts * parts));
    const auto place = [&](int i) {
      return Vec3i(i % parts, i / parts % parts, i / parts / parts);
    };
    for (int i = 0; i < parts * parts * parts; ++i)
      visit(depth, (m_size >> depth) * place(i), cubes[as_size(i)]);
    m_cube.begin(parts, m_voxels.solid.spacing);
    for (int i = 0; i < parts * parts * parts; ++i)
      if (!cubes[as_size(i)].empty) m_cube.add(place(i), cubes[as_size(i)]);
    m_cube.gather(out);
    relax(0, Vec3i::Zero(), out);
  }

  // Cubes of a depth that are not empty.
  size_t count_cubes(int depth) const {
    const int parts = 1 << depth, side = m_size >> depth;
    std::vector<uint8_t> has(as_size(parts * parts * parts), 0);
    for (int z = 0; z < m_size; ++z)
      for (int y = 0; y < m_size; ++y)
        for (int x = 0; x < m_size; ++x)
          if (m_filled[at({x, y, z})] > 0)
            has[as_size(x / side + parts * (y / side + parts * (z / side)))] = 1;
    return static_cast<size_t>(std::count(has.begin(), has.end(), 1));
  }

  void relax(int depth, const Vec3i& low, MatterCube& out) {
    const double finest = m_voxels.solid.spacing / m_size;
    const auto is_held = [&](const Vec3d& place) {
      return m_held.contains(m_low + finest * (low.cast<double>() + (m_size >> depth) * place));
    };
    unsigned held = 0;
    if (m_held_corners != 0 && m_held.contains) {
      held = m_held_corners;
      for (int c = 0; c < 8 && depth > 0; ++c)
        held = is_held(Vec3d(c & 1, c >> 1 & 1, c >> 2)) ? held | 1u << c : held & ~(1u << c);
    }
    m_cube.relax(held, is_held, out);
  }

  const VoxelSolid& m_voxels;
  size_t m_cell;
  std::span<const VoxelMaterial> m_materials;
  const HeldMatter& m_held;
  int m_levels, m_size;
  Vec3d m_low;                                        // of the cell, in metres
  unsigned m_held_corners = 0;                        // as bits
  std::vector<float> m_filled;                        // of the finest cubes, and of those around
  std::vector<int32_t> m_leaf;                        // they are in
  std::vector<std::array<MatterCube, 8>> m_children;  // of the cube in hand at every depth
  CubeRelaxation m_cube;
};

}  // namespace

CellMatrices gather_relaxed(const VoxelSolid& voxels, size_t cell,
                            std::span<const VoxelMaterial> materials, const HeldMatter& held) {
  return Gatherer(voxels, cell, materials, held).gather();
}

}  // namespace supple
