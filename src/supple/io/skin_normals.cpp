#include "supple/io/skin_normals.h"

#include <algorithm>

#include "supple/io/export_frames.h"
#include "supple/io/gltf_accessor.h"
#include "supple/math/flat.h"
#include "supple/mesh/weld.h"

namespace supple {
namespace {

// The input file's normals, zero for parts that have none.
std::vector<Vec3f> source_normals(const AnimatedSkin& skin, const GltfDocument& source) {
  std::vector<Vec3f> normals(skin.rest.size(), Vec3f::Zero());
  for (const Part& part : skin.parts) {
    const JsonField mesh = source.fields()["meshes"][static_cast<size_t>(part.source_mesh)];
    const JsonField attributes =
        mesh["primitives"][static_cast<size_t>(part.source_primitive)]["attributes"];
    const auto field = attributes.find("NORMAL");
    if (!field) continue;
    const std::vector<Vec3f> values = to_vectors(
        split_values(source.file, skin, part, read_float_accessor(source, *field, 3), 3));
    for (size_t v = 0; v < values.size() && v < static_cast<size_t>(part.vertices.count); ++v)
      normals[static_cast<size_t>(part.vertices.first) + v] = values[v];
  }
  return normals;
}

}  // namespace

SkinNormals::SkinNormals(const AnimatedSkin& skin, const GltfDocument* source) {
  const Weld weld = weld_by_position(skin.rest);
  std::vector<Vec3f> normals(skin.rest.size(), Vec3f::Zero());
  if (source) normals = source_normals(skin, *source);
  // Vertices of a point join the first group whose normal is within about two degrees.
  constexpr float same_normal = 0.03f;
  std::vector<std::vector<int32_t>> groups_of_point(weld.points());
  for (size_t v = 0; v < skin.rest.size(); ++v) {
    auto& groups = groups_of_point[static_cast<size_t>(weld.point_of_vertex[v])];
    auto group = std::find_if(groups.begin(), groups.end(), [&](int32_t g) {
      const auto first = static_cast<size_t>(m_vertex_of_group[static_cast<size_t>(g)]);
      return (normals[first] - normals[v]).norm() <= same_normal;
    });
    if (group == groups.end()) {
      group = groups.insert(group, static_cast<int32_t>(m_vertex_of_group.size()));
      m_vertex_of_group.push_back(static_cast<int32_t>(v));
    }
    m_group_of_vertex.push_back(*group);
  }
  for (const Vec3i& t : skin.triangles)
    m_triangles.emplace_back(m_group_of_vertex[static_cast<size_t>(t[0])],
                             m_group_of_vertex[static_cast<size_t>(t[1])],
                             m_group_of_vertex[static_cast<size_t>(t[2])]);
}

void SkinNormals::compute(std::span<const Vec3f> positions, std::span<Vec3f> normals) const {
  std::vector<Vec3f> points, group_normals(m_vertex_of_group.size());
  points.reserve(m_vertex_of_group.size());
  for (const int32_t v : m_vertex_of_group) points.push_back(positions[static_cast<size_t>(v)]);
  vertex_normals(points, m_triangles, group_normals);
  for (size_t v = 0; v < normals.size(); ++v)
    normals[v] = group_normals[static_cast<size_t>(m_group_of_vertex[v])];
}

}  // namespace supple
