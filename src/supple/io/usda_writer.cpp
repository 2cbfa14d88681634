#include "supple/io/usda_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <span>

#include "supple/core/file.h"
#include "supple/io/export_frames.h"
#include "supple/io/spool_file.h"
#include "supple/mesh/weld.h"

namespace supple {
namespace {

// One Mesh prim: a run of vertices and triangles of the skin.
struct MeshPrim {
  std::string name;
  std::string material;
  Range vertices;
  Range triangles;
  std::vector<Part> subsets;  // parts that share this mesh's vertices
};

std::vector<MeshPrim> mesh_prims(const AnimatedSkin& skin) {
  const std::vector<Part> parts = parts_to_write(skin);
  UniqueNames names;
  if (!parts_are_separate(skin, parts)) {
    const Range all_vertices{0, static_cast<int32_t>(skin.rest.size())};
    const Range all_triangles{0, static_cast<int32_t>(skin.triangles.size())};
    return {{"skin", "", all_vertices, all_triangles, parts}};
  }
  std::vector<MeshPrim> meshes;
  for (const Part& part : parts)
    if (part.vertices.count > 0)
      meshes.push_back({names.take(usd_prim_name(part.name, "part")),
                        part.material,
                        part.vertices,
                        part.triangles,
                        {}});
  return meshes;
}

std::string usd_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return result + '"';
}

// "[item(first), item(first + 1), ...]"
template <class Item>
void append_list(std::string& text, const Range& range, const Item& item) {
  text += '[';
  for (int32_t i = range.first; i < range.end(); ++i) {
    if (i > range.first) text += ", ";
    item(text, i);
  }
  text += ']';
}

void append_vector(std::string& text, const Vec3f& v) {
  fmt::format_to(std::back_inserter(text), "({}, {}, {})", v[0], v[1], v[2]);
}

void append_vectors(std::string& text, const std::vector<Vec3f>& vectors, const Range& range) {
  append_list(text, range, [&](std::string& out, int32_t i) { append_vector(out, vectors[i]); });
}

// Normals of the whole skin, equal for vertices that share a place in the rest shape.
class SmoothNormals {
 public:
  explicit SmoothNormals(const AnimatedSkin& skin)
      : m_weld(weld_by_position(skin.rest)),
        m_triangles(welded_mesh(m_weld, skin.rest, skin.triangles).triangles),
        m_points(m_weld.points()),
        m_point_normals(m_weld.points()),
        m_normals(skin.rest.size()) {}

  // One unit vector per vertex; the file's up axis where no triangle has an area.
  const std::vector<Vec3f>& at(const std::vector<Vec3f>& positions, const Vec3f& up) {
    for (size_t p = 0; p < m_points.size(); ++p) m_points[p] = positions[m_weld.vertex_of_point[p]];
    vertex_normals(m_points, m_triangles, m_point_normals);
    for (Vec3f& n : m_point_normals)
      if (!(n.squaredNorm() > 0.5f)) n = up;
    unweld(m_weld, m_point_normals, m_normals);
    return m_normals;
  }

 private:
  Weld m_weld;
  std::vector<Vec3i> m_triangles;
  std::vector<Vec3f> m_points;
  std::vector<Vec3f> m_point_normals;
  std::vector<Vec3f> m_normals;
};

// Time samples arrive frame by frame and are needed attribute by attribute: they wait on disk, and
// only where each begins is kept in memory.
class SampleSpool {
 public:
  static constexpr size_t attributes = 3;  // extent, normals, points

  SampleSpool(const std::filesystem::path& path, size_t meshes)
      : m_spool(path), m_meshes(meshes), m_begin{0} {}

  void add(std::string_view sample) {
    m_spool.write(sample);
    m_begin.push_back(m_spool.size());
  }

  void copy(size_t mesh, size_t attribute, AtomicFile& file) {
    const size_t per_frame = m_meshes * attributes;
    for (size_t i = mesh * attributes + attribute; i + 1 < m_begin.size(); i += per_frame)
      m_spool.copy(m_begin[i], m_begin[i + 1], file);
  }

 private:
  SpoolFile m_spool;
  size_t m_meshes;
  std::vector<uint64_t> m_begin;  // and the end of the last
};

void spool_frames(const std::filesystem::path& path, const AnimatedSkin& skin,
                  const ExportOptions& options, const std::vector<MeshPrim>& meshes,
                  SampleSpool& spool) {
  SmoothNormals smooth(skin);
  const Vec3f up = to_file_axes(Vec3f::UnitY(), options.up);
  std::string text;
  for_each_frame(path, skin, options, [&](int64_t number, const SkinFrame& frame) {
    const std::vector<Vec3f>& normals = smooth.at(frame.positions, up);
    const auto add = [&](const std::vector<Vec3f>& vectors, const Range& range) {
      text.clear();
      fmt::format_to(std::back_inserter(text), "            {}: ", number);
      append_vectors(text, vectors, range);
      text += ",\n";
      spool.add(text);
    };
    for (const MeshPrim& mesh : meshes) {
      const Box3f box = bounding_box(std::span(frame.positions)
                                         .subspan(static_cast<size_t>(mesh.vertices.first),
                                                  static_cast<size_t>(mesh.vertices.count)));
      add({box.min(), box.max()}, {0, 2});
      add(normals, mesh.vertices);
      add(frame.positions, mesh.vertices);
    }
  });
}

std::string layer_header(const AnimatedSkin& skin, const ExportOptions& options,
                         const std::string& root) {
  return fmt::format(
      "#usda 1.0\n(\n"
      "    defaultPrim = \"{0}\"\n"
      "    endTimeCode = {1}\n"
      "    framesPerSecond = {2}\n"
      "    metersPerUnit = 1\n"
      "    startTimeCode = {3}\n"
      "    timeCodesPerSecond = {2}\n"
      "    upAxis = \"{4}\"\n)\n\n"
      "def Xform \"{0}\" (\n    kind = \"component\"\n)\n{{\n",
      root, int64_t{skin.first_frame} + skin.frame_count - 1, skin.rate, skin.first_frame,
      options.up == UpAxis::y ? "Y" : "Z");
}

std::string topology_text(const AnimatedSkin& skin, const MeshPrim& mesh) {
  std::string text = "        int[] faceVertexCounts = ";
  append_list(text, mesh.triangles, [](std::string& out, int32_t) { out += '3'; });
  text += "\n        int[] faceVertexIndices = ";
  append_list(text, mesh.triangles, [&](std::string& out, int32_t t) {
    const Vec3i corner = skin.triangles[t] - Vec3i::Constant(mesh.vertices.first);
    fmt::format_to(std::back_inserter(out), "{}, {}, {}", corner[0], corner[1], corner[2]);
  });
  return text + "\n        uniform token subdivisionScheme = \"none\"\n";
}

std::string primvar_text(const AnimatedSkin& skin, const MeshPrim& mesh) {
  constexpr const char* vertex = " (\n            interpolation = \"vertex\"\n        )\n";
  std::string text;
  if (const VertexAttribute* uv = find_attribute(skin, "TEXCOORD_0", 2)) {
    text += "        texCoord2f[] primvars:st = ";
    append_list(text, mesh.vertices, [&](std::string& out, int32_t v) {
      const Vec2f st = texture_coordinate(*uv, static_cast<size_t>(v));
      fmt::format_to(std::back_inserter(out), "({}, {})", st[0], st[1]);
    });
    text += vertex;
  }
  if (const VertexAttribute* colour = find_attribute(skin, "COLOR_0", 3)) {
    text += "        color3f[] primvars:displayColor = ";
    append_list(text, mesh.vertices, [&](std::string& out, int32_t v) {
      const auto channel = [&](int k) {
        return attribute_value(*colour, static_cast<size_t>(v), k);
      };
      append_vector(out, Vec3f(channel(0), channel(1), channel(2)));
    });
    text += vertex;
  }
  if (!skin.split_map.empty()) {
    text += "        int3[] primvars:sourceVertices = ";
    append_list(text, mesh.vertices, [&](std::string& out, int32_t v) {
      const Vec3i& from = skin.split_map.vertices[static_cast<size_t>(v)].vertices;
      fmt::format_to(std::back_inserter(out), "({}, {}, {})", from[0], from[1], from[2]);
    });
    text += vertex;
    text += "        float3[] primvars:sourceWeights = ";
    append_list(text, mesh.vertices, [&](std::string& out, int32_t v) {
      append_vector(out, skin.split_map.vertices[static_cast<size_t>(v)].weights);
    });
    text += vertex;
  }
  return text;
}

std::string material_text(const std::string& material, const char* indent) {
  if (material.empty()) return {};
  return fmt::format("{}custom string userProperties:material = {}\n", indent,
                     usd_string(material));
}

// The parts of a mesh they share, as named sets of its triangles.
std::string subsets_text(const MeshPrim& mesh) {
  std::string text;
  UniqueNames names;
  for (const Part& part : mesh.subsets) {
    text += fmt::format("\n        def GeomSubset \"{}\"\n        {{\n",
                        names.take(usd_prim_name(part.name, "part")));
    text += material_text(part.material, "            ");
    text +=
        "            uniform token elementType = \"face\"\n"
        "            uniform token familyName = \"part\"\n"
        "            int[] indices = ";
    append_list(text, part.triangles, [](std::string& out, int32_t t) {
      fmt::format_to(std::back_inserter(out), "{}", t);
    });
    text += "\n        }\n";
  }
  return text;
}

void write_mesh(const AnimatedSkin& skin, const MeshPrim& mesh, size_t index, SampleSpool& spool,
                AtomicFile& file) {
  const auto samples = [&](std::string_view attribute, size_t number) {
    file.write(fmt::format("        {}.timeSamples = {{\n", attribute));
    spool.copy(index, number, file);
    file.write("        }\n");
  };
  file.write(fmt::format("    def Mesh \"{}\"\n    {{\n", mesh.name));
  file.write(material_text(mesh.material, "        "));
  file.write(topology_text(skin, mesh));
  file.write(primvar_text(skin, mesh));
  samples("float3[] extent", 0);
  // The interpolation is metadata of the attribute, declared apart from its samples.
  file.write("        normal3f[] normals (\n            interpolation = \"vertex\"\n        )\n");
  samples("normal3f[] normals", 1);
  samples("point3f[] points", 2);
  file.write(subsets_text(mesh));
  file.write("    }\n");
}

}  // namespace

std::string usd_prim_name(std::string_view name, std::string_view otherwise) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.empty()) return std::string(otherwise);
  std::string result = is_digit(name.front()) ? "_" : "";
  for (const char c : name) result += is_digit(c) || is_letter(c) ? c : '_';
  return result;
}

void write_usda(const std::filesystem::path& path, const AnimatedSkin& skin,
                const ExportOptions& options) {
  check_exportable(path, skin);
  AtomicFile file(path);
  const std::vector<MeshPrim> meshes = mesh_prims(skin);
  SampleSpool spool(path, meshes.size());
  spool_frames(path, skin, options, meshes, spool);
  file.write(layer_header(skin, options, usd_prim_name(skin.name, "skin")));
  for (size_t m = 0; m < meshes.size(); ++m) write_mesh(skin, meshes[m], m, spool, file);
  file.write("}\n");
  file.commit();
}

}  // namespace supple
