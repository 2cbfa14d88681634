#include "supple/io/vtu_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "supple/core/error.h"
#include "supple/io/text_scanner.h"
#include "supple/io/vtu_file.h"
#include "supple/io/xml_tags.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

namespace fs = std::filesystem;

double seconds_of(const XmlTags& tags, const XmlTag& tag) {
  const std::string& text = tags.value(tag, "timestep");
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(seconds))
    tags.fail(tag, fmt::format("timestep=\"{}\" is not a finite number", printable(text)));
  return seconds;
}

// The place of a frame: below the collection's folder.
fs::path place_of(const fs::path& collection, const std::string& file) {
  if (file.find('\0') != std::string::npos)
    throw_input_error(collection.string(), "file",
                      fmt::format("'{}' is no file name", printable(file)));
  const fs::path inside = fs::path(file).lexically_normal();
  if (file.empty() || inside.is_absolute() || *inside.begin() == "..")
    throw_input_error(collection.string(), "file",
                      fmt::format("'{}' leads out of the collection's folder", printable(file)));
  return collection.parent_path() / inside;
}

// The number at the end of a file name such as walk_-0012.vtu.
std::optional<int> number_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  const size_t last = stem.find_last_not_of("0123456789");
  const size_t first = last == std::string::npos ? 0 : last + 1;
  int number = 0;
  const auto [end, error] = std::from_chars(stem.data() + first, stem.data() + stem.size(), number);
  if (error != std::errc() || first == stem.size()) return std::nullopt;
  const bool negative = first >= 2 && stem[first - 1] == '-' && stem[first - 2] == '_';
  return negative ? -number : number;
}

bool is_map(const VtuArray& array) {
  return array.section == "PointData" && array.components == 1 && array.name != "displacement";
}

void add_parts(const InputFile& file, const VtuGrid& grid,
               const std::vector<size_t>& cell_of_triangle, AnimatedSkin& skin) {
  const VtuArray* array = grid.find("CellData", "part");
  if (!array || array->components != 1 || array->type.starts_with("Float")) return;
  const std::vector<int64_t> part_of_cell = read_vtu_integers(file, *array);
  std::vector<int> part_of_triangle;
  part_of_triangle.reserve(cell_of_triangle.size());
  for (const size_t cell : cell_of_triangle)
    part_of_triangle.push_back(static_cast<int>(part_of_cell[cell]));
  skin.parts = parts_of_triangles(part_of_triangle, skin.triangles, skin.rest.size());
}

struct VtuSequence {
  std::vector<fs::path> files;
  AnimatedSkin first;  // counts and maps every frame must have
};

FileAnimation sequence_of(std::vector<fs::path> files, const FrameClock& clock,
                          const std::string& name) {
  auto sequence = std::make_shared<VtuSequence>();
  FileAnimation animation = vtu_surface(InputFile(files.front()));
  AnimatedSkin& skin = animation.skin;
  skin.name = clean_name(name);
  skin.rate = clock.rate;
  skin.first_frame = clock.first_frame;
  skin.frame_count = static_cast<int>(files.size());
  sequence->files = std::move(files);
  sequence->first.rest = skin.rest;
  sequence->first.map_names = skin.map_names;
  skin.frame = [sequence = std::shared_ptr<const VtuSequence>(sequence)](int index) {
    return vtu_frame(InputFile(sequence->files[static_cast<size_t>(index)]), sequence->first);
  };
  return animation;
}

}  // namespace

std::vector<PvdEntry> parse_pvd(ByteView bytes, const std::string& file) {
  XmlTags tags(as_text(bytes), file);
  std::vector<PvdEntry> entries;
  bool is_collection = false, is_closed = false;
  while (const auto tag = tags.next()) {
    if (tag->name == "VTKFile" && tag->opens)
      is_collection = tags.value(*tag, "type") == "Collection";
    if (tag->name == "VTKFile" && tag->closes) is_closed = true;
    if (tag->name == "DataSet" && tag->opens)
      entries.push_back({seconds_of(tags, *tag), tags.value(*tag, "file")});
  }
  if (!is_collection) throw_input_error(file, "", "is not a VTK collection");
  if (!is_closed) throw_input_error(file, "", "is cut off: </VTKFile> is missing");
  if (entries.empty()) throw_input_error(file, "DataSet", "the collection has no frames");
  return entries;
}

FileAnimation vtu_surface(const InputFile& file) {
  const VtuGrid grid = read_vtu_grid(file);
  FileAnimation animation;
  AnimatedSkin& skin = animation.skin;
  skin.rest = read_vtu_points(file, grid);
  std::vector<size_t> cell_of_triangle;
  skin.triangles = read_vtu_triangles(file, grid, cell_of_triangle);
  add_parts(file, grid, cell_of_triangle, skin);
  for (const VtuArray& array : grid.arrays)
    if (is_map(array) && !std::count(skin.map_names.begin(), skin.map_names.end(), array.name))
      skin.map_names.push_back(array.name);
  const VtuArray* moved = grid.find("PointData", "displacement");
  if (moved && moved->components == 3) {
    const std::vector<Vec3f> displacement = to_vectors(read_vtu_floats(file, *moved));
    for (size_t v = 0; v < skin.rest.size(); ++v) skin.rest[v] -= displacement[v];
    animation.has_rest = true;
  }
  return animation;
}

SkinFrame vtu_frame(const InputFile& file, const AnimatedSkin& skin) {
  const VtuGrid grid = read_vtu_grid(file);
  if (grid.points != skin.rest.size())
    throw_input_error(file.name(), "NumberOfPoints",
                      fmt::format("is {}, the first frame has {}", grid.points, skin.rest.size()));
  SkinFrame frame{read_vtu_points(file, grid), {}};
  for (const std::string& name : skin.map_names) {
    const VtuArray* array = grid.find("PointData", name);
    if (!array || !is_map(*array))
      throw_input_error(file.name(), "PointData",
                        fmt::format("there is no map '{}' as in the first frame", printable(name)));
    frame.maps.push_back(read_vtu_floats(file, *array));
  }
  return frame;
}

FileAnimation read_pvd(const fs::path& path, double rate) {
  const InputFile file(path);
  FrameTimes times;
  std::vector<fs::path> files;
  for (const PvdEntry& entry : parse_pvd(file.read(0, file.size()), file.name())) {
    times.seconds.push_back(entry.seconds);
    files.push_back(place_of(path, entry.file));
  }
  if (files.size() == 1) times.first_number = number_of(files.front());
  return sequence_of(std::move(files), clock_from_times(times, rate, file.name()),
                     path.stem().string());
}

FileAnimation read_vtu(const fs::path& path, double rate) {
  return sequence_of({path}, {rate, number_of(path).value_or(0)}, path.stem().string());
}

}  // namespace supple
