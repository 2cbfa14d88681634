#include "supple/io/obj_reader.h"

#include <algorithm>
#include <limits>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

constexpr int32_t none = -1;

// One corner of a polygon: indices from zero into the file's `v` and `vt` lines.
struct Corner {
  int32_t vertex = none;
  int32_t uv = none;
};

// Where an object or a material starts; it runs to the start of the next.
struct Mark {
  std::string name;
  size_t vertex = 0;
  size_t polygon = 0;
};

// The largest index the faces use and where, checked once all lines are read: faces may stand
// before their vertices.
struct LargestIndex {
  int64_t index = none;
  int64_t line = 0;

  void include(int64_t other, int64_t other_line) {
    if (other > index) *this = {other, other_line};
  }
};

// The lines of the file, before they become a character.
struct ObjLines {
  std::vector<Vec3f> positions;
  std::vector<float> colours;  // three per coloured vertex
  std::vector<Vec2f> uvs;
  std::vector<Corner> corners;
  std::vector<size_t> polygons{0};  // first corner of every polygon, and the total at the end
  std::vector<Mark> objects;
  std::vector<Mark> materials;
  LargestIndex largest_vertex;
  LargestIndex largest_uv;
  int64_t point_elements = 0;
  int64_t other_lines = 0;
  std::string first_other;

  size_t polygon_count() const { return polygons.size() - 1; }
};

// v x y z [w], or v x y z r g b [a]
void read_vertex(TextScanner& scanner, ObjLines& obj) {
  float values[7];
  int count = 0;
  while (const auto token = scanner.try_token_on_line()) {
    if (count == 7) scanner.fail_expected("at most 7 numbers of a vertex", *token);
    values[count++] = scanner.to_float(*token, "a number of a vertex");
  }
  if (count < 3 || count == 5)
    scanner.fail(fmt::format("expected 3, 4, 6 or 7 numbers of a vertex, found {}", count));
  if (obj.positions.size() == static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    scanner.fail("expected at most 2147483647 vertices");
  obj.positions.emplace_back(values[0], values[1], values[2]);
  if (count >= 6) obj.colours.insert(obj.colours.end(), values + 3, values + 6);
}

// vt u [v [w]]
void read_uv(TextScanner& scanner, ObjLines& obj) {
  Vec2f uv = Vec2f::Zero();
  uv[0] = scanner.to_float(scanner.token_on_line("a texture coordinate"), "a texture coordinate");
  if (const auto token = scanner.try_token_on_line())
    uv[1] = scanner.to_float(*token, "a texture coordinate");
  obj.uvs.push_back(uv);
}

// An index of a corner counted from zero: positive ones count from the first line, negative ones
// back from the last line read.
int32_t to_index(const TextScanner& scanner, std::string_view text, size_t lines_so_far,
                 const char* what) {
  const int64_t value = scanner.to_integer(text, what);
  const int64_t index = value > 0 ? value - 1 : static_cast<int64_t>(lines_so_far) + value;
  if (value == 0 || index < 0 || index >= std::numeric_limits<int32_t>::max())
    scanner.fail(fmt::format("expected {} from 1 to 2147483647 or from -1 to -{}, found {}", what,
                             lines_so_far, value));
  return static_cast<int32_t>(index);
}

// v, v/vt, v//vn or v/vt/vn
Corner to_corner(const TextScanner& scanner, std::string_view token, const ObjLines& obj) {
  const size_t first = token.find('/');
  Corner corner;
  corner.vertex =
      to_index(scanner, token.substr(0, first), obj.positions.size(), "a vertex number");
  if (first == std::string_view::npos) return corner;
  const std::string_view rest = token.substr(first + 1);
  const size_t second = rest.find('/');
  const std::string_view uv = rest.substr(0, second);
  if (!uv.empty()) corner.uv = to_index(scanner, uv, obj.uvs.size(), "a texture coordinate number");
  if (second != std::string_view::npos && second + 1 < rest.size())
    scanner.to_integer(rest.substr(second + 1), "a normal number");
  return corner;
}

void read_face(TextScanner& scanner, ObjLines& obj) {
  const size_t first = obj.corners.size();
  while (const auto token = scanner.try_token_on_line()) {
    obj.corners.push_back(to_corner(scanner, *token, obj));
    obj.largest_vertex.include(obj.corners.back().vertex, scanner.line());
    obj.largest_uv.include(obj.corners.back().uv, scanner.line());
  }
  const size_t count = obj.corners.size() - first;
  if (count < 3)
    scanner.fail(fmt::format("expected at least 3 corners of a face, found {}", count));
  obj.polygons.push_back(obj.corners.size());
}

// A line from vertex to vertex: each segment is a triangle with two corners in common.
void read_polyline(TextScanner& scanner, ObjLines& obj) {
  std::vector<Corner> along;
  while (const auto token = scanner.try_token_on_line()) {
    along.push_back(to_corner(scanner, *token, obj));
    obj.largest_vertex.include(along.back().vertex, scanner.line());
    obj.largest_uv.include(along.back().uv, scanner.line());
  }
  if (along.size() < 2)
    scanner.fail(fmt::format("expected at least 2 vertices of a line, found {}", along.size()));
  for (size_t i = 0; i + 1 < along.size(); ++i) {
    obj.corners.insert(obj.corners.end(), {along[i], along[i + 1], along[i + 1]});
    obj.polygons.push_back(obj.corners.size());
  }
}

void read_line(TextScanner& scanner, std::string_view keyword, ObjLines& obj) {
  static constexpr std::string_view ignored[] = {"vn", "g", "s", "mtllib", "mg", "lod", "usemap"};
  if (keyword == "v") {
    read_vertex(scanner, obj);
  } else if (keyword == "f" || keyword == "fo") {
    read_face(scanner, obj);
  } else if (keyword == "vt") {
    read_uv(scanner, obj);
  } else if (keyword == "o" || keyword == "usemtl") {
    std::vector<Mark>& marks = keyword == "o" ? obj.objects : obj.materials;
    marks.push_back(
        {clean_name(scanner.rest_of_line()), obj.positions.size(), obj.polygon_count()});
    return;
  } else if (keyword == "l") {
    read_polyline(scanner, obj);
  } else if (keyword == "p") {
    ++obj.point_elements;
  } else if (std::find(std::begin(ignored), std::end(ignored), keyword) == std::end(ignored)) {
    if (obj.other_lines++ == 0)
      obj.first_other = fmt::format("'{}' on line {}", printable(keyword), scanner.line());
  }
  scanner.skip_line();
}

void check_largest(const LargestIndex& largest, size_t count, const char* what,
                   const std::string& file) {
  if (largest.index >= static_cast<int64_t>(count))
    throw_input_error(
        file, fmt::format("line {}", largest.line),
        fmt::format("expected a {} number up to {}, found {}", what, count, largest.index + 1));
}

ObjLines read_lines(ByteView bytes, const std::string& file) {
  TextScanner scanner(bytes, file, {.comment = '#', .continuation = true});
  ObjLines obj;
  while (const auto keyword = scanner.try_token()) read_line(scanner, *keyword, obj);
  if (obj.positions.empty()) throw_input_error(file, "", "has no vertices (lines 'v x y z')");
  if (obj.polygon_count() == 0) throw_input_error(file, "", "has no faces (lines 'f a b c')");
  check_largest(obj.largest_vertex, obj.positions.size(), "vertex", file);
  check_largest(obj.largest_uv, obj.uvs.size(), "texture coordinate", file);
  if (obj.corners.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw_input_error(file, "", "has more than 2147483647 corners of faces");
  return obj;
}

// The corner whose fan of triangles agrees with the polygon's normal everywhere, or the first.
size_t fan_centre(std::span<const Corner> polygon, const std::vector<Vec3f>& positions) {
  constexpr size_t most_corners = 64;  // the search takes quadratic time
  const size_t n = polygon.size();
  if (n == 3 || n > most_corners) return 0;
  const auto at = [&](size_t i) -> Vec3d {
    return positions[polygon[i % n].vertex].cast<double>();
  };
  const Vec3d origin = at(0);
  Vec3d normal = Vec3d::Zero();
  for (size_t i = 1; i + 1 < n; ++i) normal += (at(i) - origin).cross(at(i + 1) - origin);
  for (size_t centre = 0; centre < n; ++centre) {
    bool agrees = true;
    for (size_t i = 1; i + 1 < n && agrees; ++i) {
      const Vec3d a = at(centre + i) - at(centre), b = at(centre + i + 1) - at(centre);
      agrees = a.cross(b).dot(normal) >= 0;
    }
    if (agrees) return centre;
  }
  return 0;
}

// Triangles of all polygons, and the first triangle of each polygon with the total at the end.
std::vector<int32_t> triangulate(const ObjLines& obj, std::vector<Vec3i>& triangles) {
  std::vector<int32_t> first_triangle{0};
  first_triangle.reserve(obj.polygons.size());
  for (size_t p = 0; p < obj.polygon_count(); ++p) {
    const std::span<const Corner> polygon(obj.corners.data() + obj.polygons[p],
                                          obj.polygons[p + 1] - obj.polygons[p]);
    const size_t n = polygon.size(), centre = fan_centre(polygon, obj.positions);
    for (size_t i = 1; i + 1 < n; ++i)
      triangles.emplace_back(polygon[centre].vertex, polygon[(centre + i) % n].vertex,
                             polygon[(centre + i + 1) % n].vertex);
    first_triangle.push_back(static_cast<int32_t>(triangles.size()));
  }
  return first_triangle;
}

// The objects with what stands before the first; empty unless each uses only its own vertices.
std::vector<Mark> separate_objects(const ObjLines& obj, const std::string& name) {
  std::vector<Mark> objects = obj.objects;
  // One object for all faces, whose vertices may stand before its name.
  if (objects.size() == 1 && objects[0].polygon == 0) return {Mark{objects[0].name, 0, 0}};
  if (objects.empty() || objects[0].vertex > 0 || objects[0].polygon > 0)
    objects.insert(objects.begin(), Mark{name, 0, 0});
  for (size_t o = 0; o < objects.size(); ++o) {
    const bool last = o + 1 == objects.size();
    const size_t vertices_end = last ? obj.positions.size() : objects[o + 1].vertex;
    const size_t polygons_end = last ? obj.polygon_count() : objects[o + 1].polygon;
    for (size_t c = obj.polygons[objects[o].polygon]; c < obj.polygons[polygons_end]; ++c) {
      const auto vertex = static_cast<size_t>(obj.corners[c].vertex);
      if (vertex < objects[o].vertex || vertex >= vertices_end) return {};
    }
  }
  return objects;
}

// The one material of a run of polygons; empty when there is none, or several (then `mixed`).
std::string material_of(const ObjLines& obj, size_t begin, size_t end, bool& mixed) {
  const auto after = std::upper_bound(obj.materials.begin(), obj.materials.end(), begin,
                                      [](size_t p, const Mark& m) { return p < m.polygon; });
  std::string name = after == obj.materials.begin() ? std::string{} : std::prev(after)->name;
  for (auto next = after; next != obj.materials.end() && next->polygon < end; ++next) {
    const bool used =
        std::next(next) == obj.materials.end() || std::next(next)->polygon > next->polygon;
    if (used && next->name != name) {
      mixed = true;
      return {};
    }
  }
  return name;
}

void add_parts(const ObjLines& obj, const std::vector<int32_t>& first_triangle,
               Character& character) {
  std::vector<Mark> objects = separate_objects(obj, character.name);
  if (objects.empty()) {
    character.notes.emplace_back("The objects of the file share vertices, so they are one part.");
    objects.push_back({character.name, 0, 0});
  }
  bool mixed = false;
  for (size_t o = 0; o < objects.size(); ++o) {
    const bool last = o + 1 == objects.size();
    const size_t vertices_end = last ? obj.positions.size() : objects[o + 1].vertex;
    const size_t polygons_end = last ? obj.polygon_count() : objects[o + 1].polygon;
    if (vertices_end == objects[o].vertex) continue;
    Part part;
    part.name = objects[o].name;
    part.material = material_of(obj, objects[o].polygon, polygons_end, mixed);
    part.source_mesh = static_cast<int>(character.parts.size());
    part.source_primitive = 0;
    part.vertices = {static_cast<int32_t>(objects[o].vertex),
                     static_cast<int32_t>(vertices_end - objects[o].vertex)};
    const int32_t first = first_triangle[objects[o].polygon];
    part.triangles = {first, first_triangle[polygons_end] - first};
    character.parts.push_back(std::move(part));
  }
  if (mixed) character.notes.emplace_back("Parts with several materials have none here.");
}

void add_uvs(const ObjLines& obj, Character& character) {
  if (obj.largest_uv.index == none) return;
  std::vector<int32_t> uv_of_vertex(obj.positions.size(), none);
  for (const Corner& corner : obj.corners) {
    int32_t& uv = uv_of_vertex[corner.vertex];
    if (uv == none) uv = corner.uv;
    if (corner.uv == none || obj.uvs[uv] != obj.uvs[corner.uv]) {
      character.notes.emplace_back(
          "Some vertices have no texture coordinate or several, so texture coordinates are left "
          "out.");
      return;
    }
  }
  VertexAttribute attribute{"TEXCOORD_0", 2, {}};
  attribute.values.reserve(2 * obj.positions.size());
  for (const int32_t uv : uv_of_vertex) {
    attribute.values.push_back(uv == none ? 0 : obj.uvs[uv][0]);
    attribute.values.push_back(uv == none ? 0 : 1 - obj.uvs[uv][1]);
  }
  character.attributes.push_back(std::move(attribute));
}

void add_colours(ObjLines& obj, Character& character) {
  if (obj.colours.empty()) return;
  if (obj.colours.size() == 3 * obj.positions.size())
    character.attributes.push_back({"COLOR_0", 3, std::move(obj.colours)});
  else
    character.notes.emplace_back("Only some vertices have colours, so colours are left out.");
}

void add_notes(const ObjLines& obj, Character& character) {
  if (obj.point_elements > 0)
    character.notes.push_back(fmt::format("Left out {} point elements ('p').", obj.point_elements));
  if (obj.other_lines > 0)
    character.notes.push_back(fmt::format("Left out {} lines of other kinds, first {}.",
                                          obj.other_lines, obj.first_other));
}

}  // namespace

Character read_obj(const std::filesystem::path& path) {
  return parse_obj(read_file(path), path.string());
}

Character parse_obj(ByteView bytes, const std::string& file) {
  ObjLines obj = read_lines(bytes, file);
  Character character;
  character.name = clean_name(std::filesystem::path(file).stem().string());
  character.source = file;
  const std::vector<int32_t> first_triangle = triangulate(obj, character.skin.triangles);
  add_parts(obj, first_triangle, character);
  add_uvs(obj, character);
  add_colours(obj, character);
  add_notes(obj, character);
  character.skin.positions = std::move(obj.positions);
  bind_rigidly(character);
  return character;
}

}  // namespace supple
