#include "supple/io/vtu_file.h"

#include <algorithm>
#include <limits>

#include "supple/core/error.h"
#include "supple/io/xml_tags.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

constexpr uint64_t most_items = std::numeric_limits<int32_t>::max() / 3;

size_t bytes_of_type(std::string_view type) {
  static constexpr std::pair<std::string_view, size_t> sizes[] = {
      {"Float32", 4}, {"Float64", 8}, {"Int8", 1},   {"UInt8", 1}, {"Int16", 2},
      {"UInt16", 2},  {"Int32", 4},   {"UInt32", 4}, {"Int64", 8}, {"UInt64", 8}};
  for (const auto& [name, size] : sizes)
    if (name == type) return size;
  return 0;
}

bool is_section(std::string_view name) {
  return name == "PointData" || name == "CellData" || name == "FieldData" || name == "Points" ||
         name == "Cells";
}

// The XML up to the binary block and the block's position; the block itself may be huge.
struct XmlPart {
  std::string text;
  uint64_t data = 0;  // first byte behind the underscore
};

XmlPart read_xml_part(const InputFile& file) {
  constexpr uint64_t step = 1 << 16, longest = 1 << 24;
  constexpr std::string_view mark = "<AppendedData";
  XmlPart part;
  size_t found = std::string::npos;
  while (found == std::string::npos && part.text.size() < std::min(file.size(), longest)) {
    const size_t known = part.text.size();
    const Bytes more = file.read(known, std::min(step, file.size() - known));
    part.text += as_text(more);
    found = part.text.find(mark, known > mark.size() ? known - mark.size() : 0);
  }
  if (found == std::string::npos)
    throw_input_error(file.name(), "", "is not a VTK grid with appended data, or is cut off");
  const uint64_t tail = std::min<uint64_t>(file.size() - found, 4096);
  const Bytes head = file.read(found, tail);
  const std::string_view text = as_text(head);
  const size_t close = text.find('>'), begin = text.find('_', close);
  const std::string_view tag = text.substr(0, close);
  if (close == std::string_view::npos || begin == std::string_view::npos)
    throw_input_error(file.name(), "AppendedData", "does not begin with '_', or is cut off");
  if (tag.find("\"raw\"") == std::string_view::npos && tag.find("'raw'") == std::string_view::npos)
    throw_input_error(file.name(), "AppendedData", "only the encoding raw is read");
  part.text.resize(found);
  part.data = found + begin + 1;
  return part;
}

// Reads the XML tag by tag into a grid.
class GridParser {
 public:
  GridParser(const InputFile& file, const XmlPart& part)
      : m_file(file), m_data(part.data), m_tags(part.text, file.name()) {}

  VtuGrid parse() {
    while (const auto tag = m_tags.next()) {
      if (!tag->opens) continue;
      if (tag->name == "VTKFile")
        take_header(*tag);
      else if (tag->name == "Piece")
        take_piece(*tag);
      else if (tag->name == "DataArray")
        take_array(*tag);
      else if (is_section(tag->name))
        m_section = tag->name;
    }
    if (!m_has_header || !m_has_piece)
      throw_input_error(m_file.name(), "", "is not a VTK unstructured grid");
    if (m_grid.points == 0) throw_input_error(m_file.name(), "Points", "there are none");
    return std::move(m_grid);
  }

 private:
  void take_header(const XmlTag& tag) {
    m_has_header = true;
    const auto must_be = [&](const char* key, std::string_view only) {
      if (m_tags.value(tag, key) != only)
        m_tags.fail(tag, fmt::format("{}=\"{}\" is not read, only \"{}\"", key,
                                     printable(m_tags.value(tag, key)), only));
    };
    must_be("type", "UnstructuredGrid");
    must_be("byte_order", "LittleEndian");
    if (tag.find("compressor")) m_tags.fail(tag, "compressed data is not read");
    const std::string* width = tag.find("header_type");
    if (width && *width != "UInt32" && *width != "UInt64") must_be("header_type", "UInt64");
    m_length_bytes = width && *width == "UInt64" ? 8 : 4;
  }

  void take_piece(const XmlTag& tag) {
    if (!m_has_header || m_has_piece) m_tags.fail(tag, "only grids of one piece are read");
    m_has_piece = true;
    m_grid.points = m_tags.count(tag, "NumberOfPoints", most_items);
    m_grid.cells = m_tags.count(tag, "NumberOfCells", most_items);
  }

  uint64_t rows_of(const XmlTag& tag) const {
    if (m_section == "Points" || m_section == "PointData") return m_grid.points;
    if (m_section == "CellData") return m_grid.cells;
    return tag.find("Name") && *tag.find("Name") == "connectivity" ? 0 : m_grid.cells;
  }

  void take_array(const XmlTag& tag) {
    constexpr size_t most_arrays = 10000;
    if (!m_has_piece || m_section == "FieldData") return;
    if (m_grid.arrays.size() == most_arrays) m_tags.fail(tag, "there are too many arrays");
    VtuArray array;
    array.section = m_section;
    array.name = tag.find("Name") ? *tag.find("Name") : "";
    array.type = m_tags.value(tag, "type");
    array.line = tag.line;
    if (tag.find("NumberOfComponents"))
      array.components = m_tags.count(tag, "NumberOfComponents", 1024);
    if (m_tags.value(tag, "format") != "appended")
      m_tags.fail(
          tag, fmt::format("array '{}': only the format appended is read", printable(array.name)));
    const size_t width = bytes_of_type(array.type);
    if (width == 0 || array.components == 0)
      m_tags.fail(tag, fmt::format("array '{}': type {} with {} components is not read",
                                   printable(array.name), printable(array.type), array.components));
    // Each array is its length in bytes and its values.
    const uint64_t room = m_file.size() - m_data;
    const uint64_t offset = m_tags.count(tag, "offset", room);
    if (room - offset < m_length_bytes)
      m_tags.fail(tag,
                  fmt::format("array '{}' begins at the end of the file", printable(array.name)));
    const Bytes length_bytes = m_file.read(m_data + offset, m_length_bytes);
    const uint64_t length = m_length_bytes == 8 ? load_at<uint64_t>(length_bytes, 0)
                                                : load_at<uint32_t>(length_bytes, 0);
    if (length > room - offset - m_length_bytes)
      m_tags.fail(tag, fmt::format("array '{}' has {} bytes, the file only {} more: it is cut off",
                                   printable(array.name), length, room - offset - m_length_bytes));
    const uint64_t rows = rows_of(tag);
    if (length % width != 0 || (rows > 0 && length != rows * array.components * width))
      m_tags.fail(tag, fmt::format("array '{}' has {} bytes instead of {}", printable(array.name),
                                   length, rows * array.components * width));
    array.offset = m_data + offset + m_length_bytes;
    array.values = length / width;
    m_grid.arrays.push_back(std::move(array));
  }

  const InputFile& m_file;
  uint64_t m_data;
  XmlTags m_tags;
  VtuGrid m_grid;
  std::string m_section;
  uint64_t m_length_bytes = 4;
  bool m_has_header = false;
  bool m_has_piece = false;
};

// The values of an array, whatever their type, converted to T.
template <class T>
std::vector<T> read_values(const InputFile& file, const VtuArray& array) {
  const size_t width = bytes_of_type(array.type);
  const Bytes bytes = file.read(array.offset, array.values * width);
  std::vector<T> result(array.values);
  const auto convert = [&]<class Stored>(Stored) {
    for (size_t i = 0; i < result.size(); ++i) {
      const auto value = load_at<Stored>(bytes, i * sizeof(Stored));
      result[i] = static_cast<T>(value);  // NOLINT(bugprone-signed-char-misuse): int8_t is a number
    }
  };
  const bool is_signed = array.type.starts_with("Int");
  if (array.type == "Float32")
    convert(float{});
  else if (array.type == "Float64")
    convert(double{});
  else if (width == 1)
    is_signed ? convert(int8_t{}) : convert(uint8_t{});
  else if (width == 2)
    is_signed ? convert(int16_t{}) : convert(uint16_t{});
  else if (width == 4)
    is_signed ? convert(int32_t{}) : convert(uint32_t{});
  else
    is_signed ? convert(int64_t{}) : convert(uint64_t{});
  return result;
}

const VtuArray& needed(const InputFile& file, const VtuGrid& grid, std::string_view section,
                       std::string_view name) {
  if (const VtuArray* array = grid.find(section, name)) return *array;
  throw_input_error(file.name(), section, fmt::format("there is no array '{}'", name));
}

constexpr int64_t vtk_vertex = 1, vtk_poly_line = 4, vtk_triangle = 5, vtk_polygon = 7,
                  vtk_quad = 9;

}  // namespace

const VtuArray* VtuGrid::find(std::string_view section, std::string_view name) const {
  for (const VtuArray& array : arrays)
    if (array.section == section && (name.empty() || array.name == name)) return &array;
  return nullptr;
}

VtuGrid read_vtu_grid(const InputFile& file) {
  const XmlPart part = read_xml_part(file);
  return GridParser(file, part).parse();
}

std::vector<float> read_vtu_floats(const InputFile& file, const VtuArray& array) {
  return read_values<float>(file, array);
}

std::vector<int64_t> read_vtu_integers(const InputFile& file, const VtuArray& array) {
  if (array.type.starts_with("Float"))
    throw_input_error(file.name(), fmt::format("line {}", array.line),
                      fmt::format("array '{}' must be of whole numbers", printable(array.name)));
  return read_values<int64_t>(file, array);
}

std::vector<Vec3f> read_vtu_points(const InputFile& file, const VtuGrid& grid) {
  const VtuArray& array = needed(file, grid, "Points", "");
  if (array.components != 3 || !array.type.starts_with("Float"))
    throw_input_error(file.name(), fmt::format("line {}", array.line),
                      "points must be three Float32 or Float64 each");
  return to_vectors(read_vtu_floats(file, array));
}

std::vector<Vec3i> read_vtu_triangles(const InputFile& file, const VtuGrid& grid,
                                      std::vector<size_t>& cell_of_triangle) {
  std::vector<Vec3i> triangles;
  if (grid.cells == 0) return triangles;
  const auto corners = read_vtu_integers(file, needed(file, grid, "Cells", "connectivity"));
  const auto ends = read_vtu_integers(file, needed(file, grid, "Cells", "offsets"));
  const auto types = read_vtu_integers(file, needed(file, grid, "Cells", "types"));
  for (const int64_t corner : corners)
    if (corner < 0 || corner >= static_cast<int64_t>(grid.points))
      throw_input_error(file.name(), "connectivity",
                        fmt::format("vertex {} does not exist (0 to {})", corner, grid.points - 1));
  int64_t begin = 0;
  for (size_t cell = 0; cell < grid.cells; ++cell) {
    const int64_t end = ends[cell], type = types[cell], count = end - begin;
    const auto refuse = [&](const std::string& problem) {
      throw_input_error(file.name(), fmt::format("cell {}", cell), problem);
    };
    if (end < begin || end > static_cast<int64_t>(corners.size()))
      refuse(fmt::format("ends at {}, there are {} corners", end, corners.size()));
    const bool polygon = (type == vtk_triangle && count == 3) || (type == vtk_quad && count == 4) ||
                         (type == vtk_polygon && count >= 3);
    if (!polygon && (type < vtk_vertex || type > vtk_poly_line))
      refuse(fmt::format("type {} with {} corners is no polygon", type, count));
    const auto corner = [&](int64_t i) {
      return static_cast<int32_t>(corners[static_cast<size_t>(begin + i)]);
    };
    for (int64_t i = 1; polygon && i + 1 < count; ++i) {
      triangles.emplace_back(corner(0), corner(i), corner(i + 1));
      cell_of_triangle.push_back(cell);
    }
    begin = end;
  }
  return triangles;
}

}  // namespace supple
