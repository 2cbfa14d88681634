#include "supple/io/skin_normals.h"

#include <cmath>
#include <map>
#include <tuple>

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
    const std::vector<Vec3f> values = to_vectors(read_float_accessor(source, *field, 3));
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
  std::map<std::tuple<int32_t, int, int, int>, int32_t> group_of_key;
  for (size_t v = 0; v < skin.rest.size(); ++v) {
    // Normals a few degrees apart round to different keys; equal ones never do.
    const auto rounded = [&](int axis) {
      return static_cast<int>(std::lround(normals[v][axis] * 100));
    };
    const auto key = std::tuple(weld.point_of_vertex[v], rounded(0), rounded(1), rounded(2));
    const auto [entry, added] =
        group_of_key.try_emplace(key, static_cast<int32_t>(m_vertex_of_group.size()));
    if (added) m_vertex_of_group.push_back(static_cast<int32_t>(v));
    m_group_of_vertex.push_back(entry->second);
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
