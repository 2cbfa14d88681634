#include "supple/io/vtu_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/export_frames.h"
#include "supple/io/staging_folder.h"

namespace supple {
namespace {

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < 32 ? '_' : c;
  }
  return result;
}

// The arrays that are the same in every frame, and the names of those that are not.
struct Grid {
  std::vector<Vec3f> rest;  // in the file's axes
  std::vector<int32_t> offsets;
  std::vector<uint8_t> types;
  std::vector<int32_t> part_of_triangle;
  std::vector<std::string> map_names;  // unique and escaped
  std::vector<Vec3i> source_vertices;  // of a skin that was split; empty otherwise
  std::vector<Vec3f> source_weights;
};

Grid make_grid(const AnimatedSkin& skin, UpAxis up) {
  constexpr uint8_t vtk_triangle = 5;
  Grid grid;
  for (const Vec3f& p : skin.rest) grid.rest.push_back(to_file_axes(p, up));
  const size_t triangles = skin.triangles.size();
  for (size_t t = 1; t <= triangles; ++t) grid.offsets.push_back(static_cast<int32_t>(3 * t));
  grid.types.assign(triangles, vtk_triangle);
  const std::vector<Part> parts = parts_to_write(skin);
  for (size_t p = 0; p < parts.size(); ++p)
    grid.part_of_triangle.insert(grid.part_of_triangle.end(),
                                 static_cast<size_t>(parts[p].triangles.count),
                                 static_cast<int32_t>(p));
  UniqueNames names;
  names.take("displacement");
  for (const VertexSource& source : skin.split_map.vertices) {
    grid.source_vertices.push_back(source.vertices);
    grid.source_weights.push_back(source.weights);
  }
  if (!skin.split_map.empty())
    for (const char* name : {"source_vertices", "source_weights"}) names.take(name);
  for (const std::string& name : skin.map_names)
    grid.map_names.push_back(names.take(xml_text(name.empty() ? "map" : name)));
  return grid;
}

// The XML part describes arrays by their offset in the binary block that follows it; there each
// array is its length in bytes (uint64) and its values.
class AppendedArrays {
 public:
  template <class T>
  void add(std::string_view type, std::string_view name, int components, const std::vector<T>& v) {
    const ByteView bytes = std::as_bytes(std::span(v));
    m_xml += fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" "
        "offset=\"{}\"/>\n",
        type, name, components, m_offset);
    m_offset += sizeof(uint64_t) + bytes.size();
    m_arrays.push_back(bytes);
  }

  void open(std::string_view element) { m_xml += fmt::format("<{}>\n", element); }
  void close(std::string_view element) { m_xml += fmt::format("</{}>\n", element); }

  const std::string& xml() const { return m_xml; }

  void write_data(AtomicFile& file) const {
    for (const ByteView bytes : m_arrays) {
      const uint64_t size = bytes.size();
      file.write(std::as_bytes(std::span(&size, 1)));
      file.write(bytes);
    }
  }

 private:
  std::string m_xml;
  uint64_t m_offset = 0;
  std::vector<ByteView> m_arrays;
};

void write_grid(const std::filesystem::path& path, const AnimatedSkin& skin, const Grid& grid,
                const SkinFrame& frame) {
  std::vector<Vec3f> displacement(frame.positions.size());
  std::transform(frame.positions.begin(), frame.positions.end(), grid.rest.begin(),
                 displacement.begin(), [](const Vec3f& x, const Vec3f& X) { return x - X; });
  AppendedArrays arrays;
  arrays.open("PointData");
  arrays.add("Float32", "displacement", 3, displacement);
  for (size_t m = 0; m < frame.maps.size(); ++m)
    arrays.add("Float32", grid.map_names[m], 1, frame.maps[m]);
  if (!skin.split_map.empty()) {
    arrays.add("Int32", "source_vertices", 3, grid.source_vertices);
    arrays.add("Float32", "source_weights", 3, grid.source_weights);
  }
  arrays.close("PointData");
  arrays.open("CellData");
  arrays.add("Int32", "part", 1, grid.part_of_triangle);
  if (!skin.split_map.empty()) arrays.add("Int32", "source_triangle", 1, skin.split_map.triangles);
  arrays.close("CellData");
  arrays.open("Points");
  arrays.add("Float32", "Points", 3, frame.positions);
  arrays.close("Points");
  arrays.open("Cells");
  arrays.add("Int32", "connectivity", 1, skin.triangles);
  arrays.add("Int32", "offsets", 1, grid.offsets);
  arrays.add("UInt8", "types", 1, grid.types);
  arrays.close("Cells");

  AtomicFile file(path);
  file.write(
      fmt::format("<?xml version=\"1.0\"?>\n"
                  "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
                  "header_type=\"UInt64\">\n<UnstructuredGrid>\n"
                  "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
                  frame.positions.size(), skin.triangles.size()));
  file.write(arrays.xml());
  file.write("</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
  arrays.write_data(file);
  file.write("\n</AppendedData>\n</VTKFile>\n");
  file.commit();
}

}  // namespace

void write_vtu(const std::filesystem::path& path, const AnimatedSkin& skin,
               const ExportOptions& options) {
  check_exportable(path, skin);
  const std::string stem = path.stem().string();
  if (stem.empty()) throw_output_error(path.string(), "a file name is needed, such as frames.pvd");
  const std::string folder_name = stem + "_vtu";
  AtomicFile collection(path.parent_path() / (stem + ".pvd"));
  StagingFolder folder(path.parent_path() / folder_name);
  const Grid grid = make_grid(skin, options.up);
  collection.write(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n");
  for_each_frame(path, skin, options, [&](int64_t number, const SkinFrame& frame) {
    const std::string name = fmt::format("{}_{}.vtu", stem, frame_digits(number));
    write_grid(folder.add(name), skin, grid, frame);
    collection.write(
        fmt::format("<DataSet timestep=\"{}\" group=\"\" part=\"0\" file=\"{}/{}\"/>\n",
                    seconds_of_frame(skin, number), xml_text(folder_name), xml_text(name)));
  });
  collection.write("</Collection>\n</VTKFile>\n");
  folder.commit();
  collection.commit();
}

}  // namespace supple
