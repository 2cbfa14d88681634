#include "supple/io/tet_reader.h"

#include <cmath>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

// Drops the nodes no tetrahedron uses; the others keep their order.
void drop_unused_nodes(TetMesh& mesh) {
  std::vector<int32_t> kept(mesh.positions.size(), -1);
  for (const Vec4i& tet : mesh.tets)
    for (int corner = 0; corner < 4; ++corner) kept[tet[corner]] = 0;
  int32_t count = 0;
  for (size_t node = 0; node < kept.size(); ++node)
    if (kept[node] == 0) {
      mesh.positions[count] = mesh.positions[node];
      kept[node] = count++;
    }
  mesh.positions.resize(count);
  for (Vec4i& tet : mesh.tets)
    for (int corner = 0; corner < 4; ++corner) tet[corner] = kept[tet[corner]];
}

// The other file of a TetGen pair, its extension in the same case.
std::filesystem::path sibling(std::filesystem::path path, std::string extension) {
  const std::string own = path.extension().string();
  if (own.size() > 1 && own[1] >= 'A' && own[1] <= 'Z')
    for (char& c : extension) c = static_cast<char>(c - 'a' + 'A');
  path.replace_extension(extension);
  return path;
}

}  // namespace

void finish_tets(TetMesh& mesh, const std::string& file) {
  if (mesh.tets.empty()) throw_input_error(file, "", "has no tetrahedra");
  drop_unused_nodes(mesh);
  orient_positively(mesh);
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    const double volume = six_volumes(mesh, mesh.tets[t]);
    if (!(volume > 0) || !std::isfinite(volume))
      throw_input_error(file, fmt::format("tetrahedron {} of {}", t + 1, mesh.tets.size()),
                        fmt::format("expected a positive volume, found {}", volume / 6));
  }
}

TetMesh read_tets(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (same_word(extension, ".mesh")) return parse_medit(read_file(path), path.string());
  if (same_word(extension, ".msh")) return parse_gmsh(read_file(path), path.string());
  if (same_word(extension, ".node") || same_word(extension, ".ele")) {
    const bool is_node = same_word(extension, ".node");
    const std::filesystem::path node_file = is_node ? path : sibling(path, "node");
    const std::filesystem::path element_file = is_node ? sibling(path, "ele") : path;
    return parse_tetgen(read_file(node_file), node_file.string(), read_file(element_file),
                        element_file.string());
  }
  throw_input_error(
      path.string(), "extension",
      fmt::format("expected .mesh, .msh, .node or .ele, found '{}'", printable(extension)));
}

}  // namespace supple
