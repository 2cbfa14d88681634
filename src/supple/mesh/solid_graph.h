// A solid as a graph: its nodes are the cells of a voxel grid whose centre lies inside, and the
// vertices of the surface; its links never leave the solid. Two legs that stand closer than a cell
// share no link, and parts too thin to hold a cell's centre are still joined along their surface.
//
// Links between cells run to all 26 neighbours, for distances; those between faces conduct. Not
// handled: matter whose surface faces both inwards and outwards is taken for what its winding
// number says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "supple/mesh/solid_sight.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/mesh/voxel_grid.h"

namespace supple {

/// One way out of a node.
struct SolidLink {
  int32_t node = 0;       ///< where it leads
  float length = 0;       ///< in length units
  float conductance = 0;  ///< area per length, in length units; 0 for links that only measure
};

/// Nodes and links; cells come first, then one node per vertex of the mesh.
struct SolidGraph {
  VoxelGrid grid;
  std::vector<int32_t> node_of_cell;  ///< of every cell of the grid, or -1
  size_t cell_nodes = 0;              ///< number of nodes that are cells
  std::vector<Vec3d> positions;       ///< of all nodes
  std::vector<double> volumes;        ///< matter each node stands for, in cubed length units
  std::vector<double> extents;        ///< how far a node stands for matter, in length units
  std::vector<size_t> offsets;        ///< first link of every node, and the total at the end
  std::vector<SolidLink> links;

  /// Number of nodes.
  size_t nodes() const { return positions.size(); }

  /// The links of a node.
  std::span<const SolidLink> of(size_t node) const {
    return {links.data() + offsets[node], links.data() + offsets[node + 1]};
  }

  /// The node of a vertex of the mesh.
  size_t vertex_node(size_t vertex) const { return cell_nodes + vertex; }
};

/// Builds the graph of a voxelised mesh whose equal points are welded. Same result for any number
/// of threads.
SolidGraph make_solid_graph(const TriangleMesh& mesh, const VoxelGrid& grid,
                            const SolidSight& sight);

}  // namespace supple
