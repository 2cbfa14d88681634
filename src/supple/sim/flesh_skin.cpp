#include "supple/sim/flesh_skin.h"

#include <fmt/format.h>

#include "supple/mesh/weld.h"

namespace supple {

FleshSkin::FleshSkin(const Character& character) : rigged(is_skinned(character)) {
  // Vertices of flesh, then welded; triangles between welded points.
  std::vector<int32_t> vertices, place(character.skin.positions.size(), -1);
  std::vector<Vec3f> positions;
  std::vector<Vec3i> triangles;
  // Vertices of no triangle hang on nothing; those of a rig follow it.
  std::vector<bool> used(character.skin.positions.size(), !rigged);
  for (const Vec3i& t : character.skin.triangles)
    for (int c = 0; c < 3; ++c) used[static_cast<size_t>(t[c])] = true;
  for (const Part& part : character.parts) {
    if (part.rigid && rigged) continue;
    for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v) {
      if (!used[static_cast<size_t>(v)]) continue;
      place[static_cast<size_t>(v)] = static_cast<int32_t>(vertices.size());
      vertices.push_back(v);
      positions.push_back(character.skin.positions[static_cast<size_t>(v)]);
    }
    for (int32_t t = part.triangles.first; t < part.triangles.end(); ++t)
      triangles.push_back(character.skin.triangles[static_cast<size_t>(t)]);
  }
  for (Vec3i& t : triangles)
    for (int c = 0; c < 3; ++c) t[c] = place[static_cast<size_t>(t[c])];
  const Weld weld = weld_by_position(positions);
  mesh = welded_mesh(weld, positions, triangles);
  for (const Vec3i& t : triangles)
    if (is_segment(t)) {
      const Vec3i welded(weld.point_of_vertex[t[0]], weld.point_of_vertex[t[1]],
                         weld.point_of_vertex[t[2]]);
      if (is_segment(welded)) segments.push_back(welded);
    }
  point_of_vertex.assign(character.skin.positions.size(), -1);
  for (size_t i = 0; i < vertices.size(); ++i)
    point_of_vertex[static_cast<size_t>(vertices[i])] = weld.point_of_vertex[i];
  for (const int32_t first : weld.vertex_of_point)
    vertex_of_point.push_back(vertices[static_cast<size_t>(first)]);
}

std::vector<Vec3i> FleshSkin::all_triangles() const {
  std::vector<Vec3i> result = mesh.triangles;
  result.insert(result.end(), segments.begin(), segments.end());
  return result;
}

WorldScale world_scale(double length, double size) {
  constexpr double shortest = 0.5, longest = 3, usual = 1.7;
  if (!(length > 0)) return {};
  if (size > 0)
    return {size / length,
            fmt::format("the longest side of {:.4g} units is {:.4g} m, as told", length, size)};
  struct Unit {
    double metres;
    const char* name;
  };
  constexpr Unit units[] = {{1, "metres"},
                            {0.01, "centimetres"},
                            {0.001, "millimetres"},
                            {0.0254, "inches"},
                            {0.3048, "feet"}};
  for (const Unit& unit : units) {
    if (length * unit.metres < shortest || length * unit.metres > longest) continue;
    if (unit.metres == 1) return {};
    return {unit.metres, fmt::format("{:.4g} units are taken for {}: {:.3g} m", length, unit.name,
                                     length * unit.metres)};
  }
  return {usual / length,
          fmt::format("{:.4g} units are taken for {:.3g} m; set 'size' to say otherwise", length,
                      usual)};
}

}  // namespace supple
