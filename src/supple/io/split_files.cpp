#include "supple/io/split_files.h"

#include <fmt/format.h>

#include <iterator>

#include "supple/core/file.h"
#include "supple/io/obj_sequence_writer.h"

namespace supple {

std::filesystem::path split_mesh_beside(const std::filesystem::path& path) {
  return std::filesystem::path(path).replace_extension(".split.obj");
}

std::string split_table(const SplitMap& map) {
  std::string text = "vertex,source_0,source_1,source_2,weight_0,weight_1,weight_2\n";
  for (size_t v = 0; v < map.vertices.size(); ++v) {
    const auto& [from, weights] = map.vertices[v];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}\n", v, from[0], from[1], from[2],
                   weights[0], weights[1], weights[2]);
  }
  return text;
}

std::string write_split_files(const std::filesystem::path& path, const AnimatedSkin& skin,
                              const ExportOptions& options) {
  const std::filesystem::path mesh = split_mesh_beside(path);
  const std::filesystem::path table = std::filesystem::path(path).replace_extension(".split.csv");
  write_obj_rest(mesh, skin, options);
  write_file(table, split_table(skin.split_map));
  return fmt::format("; the skin was split: play it on {}, {} leads back to the input",
                     mesh.filename().string(), table.filename().string());
}

}  // namespace supple
