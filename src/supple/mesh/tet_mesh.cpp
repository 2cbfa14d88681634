#include "supple/mesh/tet_mesh.h"

#include <algorithm>
#include <array>

namespace supple {
namespace {

struct Face {
  std::array<int32_t, 3> key;  // sorted nodes
  Vec3i nodes;                 // outward order
};

std::vector<Face> all_faces(const TetMesh& mesh) {
  // The face opposite each node, counter-clockwise seen from outside.
  static constexpr int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::vector<Face> faces;
  faces.reserve(4 * mesh.tets.size());
  for (const Vec4i& tet : mesh.tets)
    for (const auto& corner : opposite) {
      Face face;
      face.nodes = Vec3i(tet[corner[0]], tet[corner[1]], tet[corner[2]]);
      face.key = {face.nodes[0], face.nodes[1], face.nodes[2]};
      std::sort(face.key.begin(), face.key.end());
      faces.push_back(face);
    }
  std::stable_sort(faces.begin(), faces.end(),
                   [](const Face& a, const Face& b) { return a.key < b.key; });
  return faces;
}

}  // namespace

double six_volumes(const TetMesh& mesh, const Vec4i& tet) {
  const Vec3d& origin = mesh.positions[tet[0]];
  return (mesh.positions[tet[1]] - origin)
      .dot((mesh.positions[tet[2]] - origin).cross(mesh.positions[tet[3]] - origin));
}

double volume(const TetMesh& mesh) {
  double sum = 0;
  for (const Vec4i& tet : mesh.tets) sum += six_volumes(mesh, tet) / 6;
  return sum;
}

int orient_positively(TetMesh& mesh) {
  int swapped = 0;
  for (Vec4i& tet : mesh.tets)
    if (six_volumes(mesh, tet) < 0) {
      std::swap(tet[2], tet[3]);
      ++swapped;
    }
  return swapped;
}

TriangleMesh boundary_surface(const TetMesh& mesh, std::vector<int32_t>* nodes_of_vertices) {
  const std::vector<Face> faces = all_faces(mesh);
  TriangleMesh surface;
  std::vector<int32_t> vertex_of_node(mesh.positions.size(), -1);
  if (nodes_of_vertices) nodes_of_vertices->clear();
  const auto vertex = [&](int32_t node) {
    if (vertex_of_node[node] < 0) {
      vertex_of_node[node] = static_cast<int32_t>(surface.positions.size());
      surface.positions.push_back(mesh.positions[node].cast<float>());
      if (nodes_of_vertices) nodes_of_vertices->push_back(node);
    }
    return vertex_of_node[node];
  };
  // A face of exactly one tetrahedron is on the boundary.
  for (size_t i = 0; i < faces.size();) {
    size_t j = i + 1;
    while (j < faces.size() && faces[j].key == faces[i].key) ++j;
    if (j == i + 1) {
      const Vec3i& n = faces[i].nodes;
      const int32_t a = vertex(n[0]), b = vertex(n[1]), c = vertex(n[2]);
      surface.triangles.emplace_back(a, b, c);
    }
    i = j;
  }
  return surface;
}

}  // namespace supple
