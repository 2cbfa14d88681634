#include "supple/voxels/voxel_solid.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/coverage.h"

namespace supple {
namespace {

constexpr double inflation = 0.01;
constexpr double most_cells = 1 << 30;

// A finest cell that a closed surface enters holds matter, also where no sample point meets it.
constexpr double least_filling = 1.0 / 128;

// Every third bit of a Morton code, as a number.
uint32_t gather_bits(uint32_t x) {
  x &= 0x09249249;
  x = (x | x >> 2) & 0x030c30c3;
  x = (x | x >> 4) & 0x0300f00f;
  x = (x | x >> 8) & 0x030000ff;
  return (x | x >> 16) & 0x3ff;
}

struct Grids {
  VoxelGrid fine;              // with one empty cell on every side
  Vec3i size = Vec3i::Zero();  // in coarse cells
};

Grids grids_around(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                   const VoxelSolidOptions& options) {
  if (positions.empty() || triangles.empty())
    throw_input_error("voxels", "skin", "there is nothing to cut into voxels");
  Box3d box;
  for (const Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k)
      box.extend(Vec3d(positions[static_cast<size_t>(t[k])].cast<double>()));
  const double longest = box.sizes().maxCoeff();
  if (!(longest > 0)) throw_input_error("voxels", "skin", "all of it is at one point");
  const double spacing = options.spacing > 0
                             ? options.spacing
                             : (1 + inflation) * longest / std::max(1, options.cells);
  if (longest < spacing / (1 + 2 * inflation))
    throw_input_error("voxels", "spacing",
                      fmt::format("the skin is {:.4g} m long, smaller than one cell of {:.4g} m",
                                  longest, spacing));
  const int parts = 1 << options.levels;
  const double inflated = inflation * longest;
  const Eigen::Array3d cells =
      ((box.sizes().array() + inflated) / spacing - touching_distance).ceil().max(1);
  const Eigen::Array3d finest = cells * parts + 2;
  if (!(finest.prod() <= most_cells))
    throw_input_error("voxels", "levels",
                      fmt::format("{} finer levels give {:.4g} x {:.4g} x {:.4g} finest cells; at "
                                  "most 2^30 are possible",
                                  options.levels, finest[0], finest[1], finest[2]));
  Grids grids;
  grids.size = cells.cast<int32_t>();
  grids.fine.size = finest.cast<int32_t>();
  grids.fine.middle = box.min() / 2 + box.max() / 2;
  grids.fine.spacing = spacing / parts;
  return grids;
}

// Where the first of the animated cells begins.
Vec3d origin_of(const VoxelGrid& fine) {
  return fine.centre(Vec3i::Ones()) - Vec3d::Constant(fine.spacing / 2);
}

// Collects the leaves of one cell from the filling of the finest cells.
class LeafCollector {
 public:
  LeafCollector(const VoxelGrid& fine, std::span<const float> coverage,
                const VoxelSolidOptions& options)
      : m_fine(fine), m_coverage(coverage), m_levels(options.levels), m_merge(options.merge) {}

  void collect(const Vec3i& cell, std::vector<VoxelLeaf>& out) const {
    visit(cell * (1 << m_levels) + Vec3i::Ones(), 0, 0, out);
  }

 private:
  // Adds the leaves of the cube at `low`; returns whether it is one full leaf, the last in `out`.
  bool visit(const Vec3i& low, int depth, uint32_t path, std::vector<VoxelLeaf>& out) const {
    if (depth == m_levels) {
      const float filled = m_coverage[m_fine.index(low)];
      if (filled > 0) out.push_back({path, static_cast<uint8_t>(depth), filled});
      return filled >= 1;
    }
    const int half = 1 << (m_levels - depth - 1);
    const size_t before = out.size();
    int full = 0;
    for (int c = 0; c < 8; ++c) {
      const Vec3i step(c & 1, c >> 1 & 1, c >> 2);
      const auto at = path + (static_cast<uint32_t>(c) << (3 * (m_levels - depth - 1)));
      full += visit(low + half * step, depth + 1, at, out) ? 1 : 0;
    }
    if (!m_merge || full < 8) return false;
    out.resize(before);
    out.push_back({path, static_cast<uint8_t>(depth), 1});
    return true;
  }

  const VoxelGrid& m_fine;
  std::span<const float> m_coverage;
  int m_levels;
  bool m_merge;
};

float filling_ratio(std::span<const VoxelLeaf> leaves) {
  double sum = 0;
  for (const VoxelLeaf& leaf : leaves)
    sum += static_cast<double>(leaf.filled) / static_cast<double>(uint64_t{1} << (3 * leaf.depth));
  return static_cast<float>(sum);
}

}  // namespace

Vec3i VoxelSolid::finest(const VoxelLeaf& leaf) const {
  return Vec3d(gather_bits(leaf.path), gather_bits(leaf.path >> 1), gather_bits(leaf.path >> 2))
      .cast<int32_t>();
}

Vec3d VoxelSolid::centre(size_t cell, const VoxelLeaf& leaf) const {
  const LatticePlace& place = mesh.cells[cell];
  const Vec3d low = solid.position(solid.lattice.coordinates(place.block, place.local));
  const double finest = solid.spacing / (1 << levels), side = solid.spacing / (1 << leaf.depth);
  const Vec3d steps = this->finest(leaf).cast<double>();
  return low + finest * steps + Vec3d::Constant(side / 2);
}

CellGrid voxel_planes(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                      const VoxelSolidOptions& options) {
  const VoxelGrid fine = grids_around(positions, triangles, options).fine;
  return {origin_of(fine), fine.spacing * (1 << options.levels)};
}

VoxelSolid voxelise_solid(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                          const VoxelSolidOptions& options) {
  Grids grids = grids_around(positions, triangles, options);
  VoxelGrid& fine = grids.fine;
  fine.kinds.assign(fine.cells(), CellKind::outside);
  const CellTriangles overlaps = triangles_in_cells(fine, positions, triangles);
  classify_cells(fine, overlaps, positions, triangles);
  if (options.hollow) empty_cavities(fine, positions, triangles);
  const std::vector<float> coverage = cell_coverage(fine, overlaps, positions, triangles,
                                                    {.least = least_filling,
                                                     .sheets = options.sheet_filling,
                                                     .half = options.fill == FillRule::half});

  const LeafCollector collector(fine, coverage, options);
  VoxelGrid coarse;
  coarse.size = grids.size;
  std::vector<std::vector<VoxelLeaf>> found(coarse.cells());
  parallel_for(found.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) collector.collect(coarse.cell(i), found[i]);
  });
  std::vector<Vec3i> cells;
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i].empty()) cells.push_back(coarse.cell(i));
  if (cells.empty()) throw_input_error("voxels", "skin", "no cell holds any of it");

  VoxelSolid result;
  result.levels = options.levels;
  SolidLattice& solid = result.solid;
  solid.lattice = SparseLattice(cells);
  solid.spacing = fine.spacing * (1 << options.levels);
  solid.origin = origin_of(fine);
  solid.coverage.assign(solid.lattice.slot_count * block_cells, 0);
  result.mesh = LatticeMesh(solid.lattice);
  result.first_leaf.push_back(0);
  for (const LatticePlace& place : result.mesh.cells) {
    const auto& leaves = found[coarse.index(solid.lattice.coordinates(place.block, place.local))];
    result.leaves.insert(result.leaves.end(), leaves.begin(), leaves.end());
    result.first_leaf.push_back(static_cast<uint32_t>(result.leaves.size()));
    const int32_t slot = solid.lattice.cell_slots[static_cast<size_t>(place.block)];
    solid.coverage[static_cast<size_t>(slot) * block_cells + static_cast<size_t>(place.local)] =
        filling_ratio(leaves);
  }
  return result;
}

}  // namespace supple
