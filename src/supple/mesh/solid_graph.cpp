#include "supple/mesh/solid_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t block = 512;

// The surface conducts like a layer of this many cells.
constexpr double layer_depth = 0.5;

// Cotangents outside this range belong to needles and caps, and make no good conductors.
constexpr double least_cotangent = 0.05, largest_cotangent = 5;

// The 13 neighbours that come after a cell; the first three share a face with it.
const std::array<Vec3i, 13> forward{
    Vec3i{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, 1},
    Vec3i{0, 1, 1}, {0, -1, 1}, {1, 1, 1}, {-1, 1, 1}, {1, -1, 1}, {-1, -1, 1}};

struct Pair {
  int32_t a, b;
  float length, conductance;
};

void number_cells(SolidGraph& graph, const SolidSight& sight) {
  const VoxelGrid& grid = graph.grid;
  graph.node_of_cell.assign(grid.cells(), -1);
  for (size_t i = 0; i < grid.cells(); ++i) {
    if (!sight.centre_inside(i)) continue;
    graph.node_of_cell[i] = static_cast<int32_t>(graph.positions.size());
    graph.positions.push_back(grid.centre(grid.cell(i)));
    graph.volumes.push_back(std::pow(grid.spacing, 3));
    graph.extents.push_back(grid.spacing);
  }
  graph.cell_nodes = graph.positions.size();
}

// Links between neighbouring cells, wherever the way from centre to centre stays in the solid.
void link_cells(const SolidGraph& graph, const SolidSight& sight, std::vector<Pair>& pairs) {
  const VoxelGrid& grid = graph.grid;
  std::vector<uint16_t> open(grid.cells(), 0);  // bit k: the link to forward[k] is there
  parallel_for(grid.cells(), block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (graph.node_of_cell[i] < 0) continue;
      const Vec3i cell = grid.cell(i);
      for (size_t k = 0; k < forward.size(); ++k) {
        const Vec3i other = cell + forward[k];
        if (!grid.has(other) || graph.node_of_cell[grid.index(other)] < 0) continue;
        if (sight.sees(i, grid.centre(other))) open[i] |= static_cast<uint16_t>(1u << k);
      }
    }
  });
  for (size_t i = 0; i < grid.cells(); ++i)
    for (size_t k = 0; k < forward.size(); ++k)
      if (open[i] >> k & 1) {
        const int32_t other = graph.node_of_cell[grid.index(grid.cell(i) + forward[k])];
        // Area over distance: h² / h.
        const double conductance = k < 3 ? grid.spacing : 0;
        const double length = grid.spacing * forward[k].cast<double>().norm();
        pairs.push_back({graph.node_of_cell[i], other, static_cast<float>(length),
                         static_cast<float>(conductance)});
      }
}

struct VertexLink {
  int32_t node;
  double share;  // of the vertex's conductance
};

// The cells around a vertex that it sees, with shares as in trilinear interpolation.
std::vector<VertexLink> cells_around(const SolidGraph& graph, const SolidSight& sight,
                                     int32_t vertex) {
  const VoxelGrid& grid = graph.grid;
  const Vec3d& point = graph.positions[graph.vertex_node(static_cast<size_t>(vertex))];
  const Vec3d at = grid.lattice_point(point);
  const Vec3i low = at.array().floor().cast<int32_t>();
  std::vector<VertexLink> found;
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3i cell = low + Vec3i(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
    if (!grid.has(cell) || graph.node_of_cell[grid.index(cell)] < 0) continue;
    if (!sight.sees_vertex(grid.index(cell), vertex)) continue;
    const double share = (Vec3d::Ones() - (at - cell.cast<double>()).cwiseAbs()).prod();
    found.push_back({graph.node_of_cell[grid.index(cell)], std::max(share, 1e-3)});
    sum += found.back().share;
  }
  for (VertexLink& link : found) link.share /= sum;
  return found;
}

// Links from vertices into the cells below them. A vertex stands for the surface around it, which
// touches the cells over at most the face of one.
void link_vertices_to_cells(const SolidGraph& graph, const SolidSight& sight,
                            const std::vector<double>& areas, std::vector<Pair>& pairs) {
  std::vector<std::vector<VertexLink>> found(areas.size());
  parallel_for(areas.size(), block, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v)
      found[v] = cells_around(graph, sight, static_cast<int32_t>(v));
  });
  const double h = graph.grid.spacing;
  for (size_t v = 0; v < areas.size(); ++v) {
    const auto node = static_cast<int32_t>(graph.vertex_node(v));
    for (const VertexLink& link : found[v]) {
      const double length = (graph.positions[node] - graph.positions[link.node]).norm();
      const double conductance =
          std::clamp(areas[v], 0.01 * h * h, h * h) * link.share / std::max(length, h / 4);
      pairs.push_back(
          {node, link.node, static_cast<float>(length), static_cast<float>(conductance)});
    }
  }
}

// Links along the edges of the surface: half the cotangents of the angles opposite, times the depth
// of the layer. [Pinkall 1993]
void link_vertices(const SolidGraph& graph, const TriangleMesh& mesh, std::vector<Pair>& pairs) {
  using Side = std::tuple<int32_t, int32_t, double>;  // low, high, half a cotangent
  std::vector<Side> sides;
  sides.reserve(3 * mesh.triangles.size());
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) {
      const int32_t a = t[(k + 1) % 3], b = t[(k + 2) % 3];
      if (a == b) continue;
      const Vec3d p = mesh.positions[t[k]].cast<double>();
      const Vec3d u = mesh.positions[a].cast<double>() - p,
                  v = mesh.positions[b].cast<double>() - p;
      const double sine = u.cross(v).norm();
      sides.emplace_back(std::min(a, b), std::max(a, b), sine > 0 ? u.dot(v) / sine / 2 : 0);
    }
  std::sort(sides.begin(), sides.end());
  for (size_t i = 0; i < sides.size();) {
    const auto [low, high, first] = sides[i];
    double cotangents = 0;
    for (; i < sides.size() && std::get<0>(sides[i]) == low && std::get<1>(sides[i]) == high; ++i)
      cotangents += std::get<2>(sides[i]);
    const double conductance = std::clamp(cotangents, least_cotangent, largest_cotangent) *
                               layer_depth * graph.grid.spacing;
    const double length = (mesh.positions[low] - mesh.positions[high]).cast<double>().norm();
    pairs.push_back({static_cast<int32_t>(graph.vertex_node(static_cast<size_t>(low))),
                     static_cast<int32_t>(graph.vertex_node(static_cast<size_t>(high))),
                     static_cast<float>(length), static_cast<float>(conductance)});
  }
}

std::vector<double> vertex_areas(const TriangleMesh& mesh) {
  std::vector<double> areas(mesh.positions.size(), 0);
  for (const Vec3i& t : mesh.triangles) {
    const Vec3d a = mesh.positions[t[0]].cast<double>(), b = mesh.positions[t[1]].cast<double>(),
                c = mesh.positions[t[2]].cast<double>();
    const double area = (b - a).cross(c - a).norm() / 2;
    for (int k = 0; k < 3; ++k) areas[t[k]] += area / 3;
  }
  return areas;
}

// Both directions of every pair, sorted by node, in the order of the pairs.
void store_links(SolidGraph& graph, const std::vector<Pair>& pairs) {
  graph.offsets.assign(graph.nodes() + 1, 0);
  for (const Pair& pair : pairs) {
    ++graph.offsets[static_cast<size_t>(pair.a) + 1];
    ++graph.offsets[static_cast<size_t>(pair.b) + 1];
  }
  for (size_t i = 0; i < graph.nodes(); ++i) graph.offsets[i + 1] += graph.offsets[i];
  graph.links.resize(graph.offsets.back());
  std::vector<size_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (const Pair& pair : pairs) {
    graph.links[next[static_cast<size_t>(pair.a)]++] = {pair.b, pair.length, pair.conductance};
    graph.links[next[static_cast<size_t>(pair.b)]++] = {pair.a, pair.length, pair.conductance};
  }
}

}  // namespace

SolidGraph make_solid_graph(const TriangleMesh& mesh, const VoxelGrid& grid,
                            const SolidSight& sight) {
  SolidGraph graph;
  graph.grid = grid;
  number_cells(graph, sight);

  const std::vector<double> areas = vertex_areas(mesh);
  const double h = graph.grid.spacing;
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    graph.positions.emplace_back(mesh.positions[v].cast<double>());
    graph.extents.push_back(std::sqrt(areas[v]));
    graph.volumes.push_back(std::clamp(areas[v], 0.01 * h * h, h * h) * layer_depth * h);
  }
  std::vector<Pair> pairs;
  link_cells(graph, sight, pairs);
  link_vertices_to_cells(graph, sight, areas, pairs);
  link_vertices(graph, mesh, pairs);
  store_links(graph, pairs);
  return graph;
}

}  // namespace supple
