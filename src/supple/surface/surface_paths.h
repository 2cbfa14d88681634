// Paths through the edges of a triangle mesh, and regions of vertices as intervals of paths
// [Diziol 2011, section 4]: with prefix sums along the paths, the sum over a region is that of the
// differences at the ends of its intervals.
//
// Here vertices are those of one mesh, welded; all paths of a shell (a connected component) follow
// one another. Vertices of no triangle are shells of their own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// Numbers that belong to a vertex each, one list after the other.
struct VertexLists {
  std::vector<uint32_t> offsets{0};  ///< first item of every vertex, and the total
  std::vector<int32_t> items;

  /// The items of a vertex.
  std::span<const int32_t> of(size_t vertex) const {
    return {items.data() + offsets[vertex], items.data() + offsets[vertex + 1]};
  }
};

/// The neighbours along edges of every vertex, in ascending order.
VertexLists vertex_neighbours(size_t vertices, std::span<const Vec3i> triangles);

/// The vertices round every vertex such that half the sum of the products of consecutive ones,
/// seen from the vertex, is the sum of the area vectors of its triangles. A list that comes by the
/// vertex itself starts anew there.
VertexLists vertex_fans(size_t vertices, std::span<const Vec3i> triangles);

/// A mesh laid out along paths.
struct SurfacePaths {
  std::vector<int32_t> order;    ///< vertices, path after path
  std::vector<uint32_t> starts;  ///< places in `order` where paths start, and the end
  std::vector<uint32_t> shells;  ///< paths with which shells start, and their number
};

inline constexpr size_t longest_path = 512;  ///< vertices of a path

/// Grows paths greedily over all vertices: on to a neighbour that has neighbours on earlier paths,
/// and among these to the one closest to the plane z = const through the path's first vertex.
SurfacePaths build_paths(std::span<const Vec3f> positions, const VertexLists& neighbours,
                         size_t limit = longest_path);

/// Regions as intervals of slots. A path of n places has n + 1 slots for the sums before each place
/// and after the last; the slot of a place is its number plus that of its path.
struct RegionTable {
  std::vector<uint32_t> offsets{0};  ///< first interval of every region, and the total
  std::vector<uint32_t> intervals;   ///< first slot times 256, plus the length
  std::vector<int32_t> sizes;        ///< particles of every region

  static constexpr uint32_t slots_limit = 1u << 24;  ///< slots there may be

  /// The first slot of an interval.
  static uint32_t first(uint32_t interval) { return interval >> 8; }
  /// The slot after its last place.
  static uint32_t last(uint32_t interval) { return (interval >> 8) + (interval & 255u); }
};

/// The places of every region of a table, one by one; `path_starts` are places, and the end.
VertexLists region_members(const RegionTable& table, std::span<const uint32_t> path_starts);

/// Appends, place by place, the regions of all vertices up to `width` edges away to a table.
/// `first_slot` is that of the mesh among all slots.
void append_regions(const SurfacePaths& paths, const VertexLists& neighbours, int width,
                    uint32_t first_slot, RegionTable& table);

}  // namespace supple
