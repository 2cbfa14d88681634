// Facts about how triangles join: open and non-manifold edges, orientation, shells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// What `analyse_topology` finds; all counts are of edges unless said otherwise.
struct Topology {
  int64_t edges = 0;
  int64_t open_edges = 0;           ///< edges of one triangle only
  int64_t crowded_edges = 0;        ///< edges of three or more triangles
  int64_t misoriented_edges = 0;    ///< edges that two triangles run along in the same direction
  int64_t shells = 0;               ///< connected components that have triangles
  int64_t closed_shells = 0;        ///< shells without open or crowded edges
  int64_t holes = 0;                ///< connected groups of open edges
  int64_t duplicate_triangles = 0;  ///< triangles over the same three points as an earlier one
  std::vector<int32_t> shell_of_triangle;

  /// True when the surface encloses a volume: no open, crowded or misoriented edge.
  bool closed() const { return edges > 0 && !open_edges && !crowded_edges && !misoriented_edges; }
};

/// Analyses the connectivity of triangles over `vertex_count` welded vertices.
Topology analyse_topology(size_t vertex_count, std::span<const Vec3i> triangles);

}  // namespace supple
