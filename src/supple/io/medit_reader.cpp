// Medit .mesh files: keywords, each followed by a count and that many rows of numbers.
#include <limits>

#include "supple/core/error.h"
#include "supple/io/tet_reader.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The tetrahedra's nodes are checked once the vertices are known: sections come in any order.
struct MeditTet {
  Vec4i nodes;
  int64_t line = 0;
};

// x y z reference
void read_vertices(TextScanner& scanner, std::vector<Vec3d>& positions) {
  const size_t count = scanner.count("the number of vertices", 8);
  positions.reserve(positions.size() + count);
  for (size_t i = 0; i < count; ++i) {
    Vec3d position;
    for (int axis = 0; axis < 3; ++axis) position[axis] = scanner.number("a vertex coordinate");
    scanner.number("the reference of a vertex");
    positions.push_back(position);
  }
}

// The four corners, six more nodes in a second-order section, reference
void read_tetrahedra(TextScanner& scanner, int more_nodes, std::vector<MeditTet>& tets) {
  const size_t count = scanner.count("the number of tetrahedra", 2 * (5 + more_nodes));
  tets.reserve(tets.size() + count);
  for (size_t i = 0; i < count; ++i) {
    MeditTet tet;
    for (int corner = 0; corner < 4; ++corner) {
      const int64_t node = scanner.integer("a vertex number");
      if (node < 1 || node > std::numeric_limits<int32_t>::max())
        scanner.fail(fmt::format("expected a vertex number from 1 up, found {}", node));
      tet.nodes[corner] = static_cast<int32_t>(node - 1);
    }
    tet.line = scanner.line();
    for (int skipped = 0; skipped < more_nodes; ++skipped) scanner.integer("a vertex number");
    scanner.number("the reference of a tetrahedron");
    tets.push_back(tet);
  }
}

// Skips the numbers of a section we do not need; returns the keyword that follows, if any.
std::optional<std::string_view> next_keyword(TextScanner& scanner) {
  while (const auto token = scanner.try_token())
    if (is_letter(token->front())) return token;
  return std::nullopt;
}

void check_nodes(const std::vector<MeditTet>& tets, size_t vertices, const std::string& file) {
  for (const MeditTet& tet : tets)
    if (const int64_t largest = tet.nodes.maxCoeff(); largest >= static_cast<int64_t>(vertices))
      throw_input_error(
          file, fmt::format("line {}", tet.line),
          fmt::format("expected vertex numbers from 1 to {}, found {}", vertices, largest + 1));
}

}  // namespace

TetMesh parse_medit(ByteView bytes, const std::string& file) {
  TextScanner scanner(bytes, file, {.comment = '#'});
  scanner.expect("MeshVersionFormatted");
  const int64_t version = scanner.integer("the version");
  if (version < 1 || version > 4)
    scanner.fail(fmt::format("expected version 1 to 4, found {}", version));
  TetMesh mesh;
  std::vector<MeditTet> tets;
  while (const auto keyword = next_keyword(scanner)) {
    if (same_word(*keyword, "Dimension")) {
      const int64_t dimension = scanner.integer("the dimension");
      if (dimension != 3) scanner.fail(fmt::format("expected dimension 3, found {}", dimension));
    } else if (same_word(*keyword, "Vertices")) {
      read_vertices(scanner, mesh.positions);
    } else if (same_word(*keyword, "Tetrahedra")) {
      read_tetrahedra(scanner, 0, tets);
    } else if (same_word(*keyword, "TetrahedraP2")) {
      read_tetrahedra(scanner, 6, tets);
    } else if (same_word(*keyword, "End")) {
      break;
    }
  }
  check_nodes(tets, mesh.positions.size(), file);
  mesh.tets.reserve(tets.size());
  for (const MeditTet& tet : tets) mesh.tets.push_back(tet.nodes);
  finish_tets(mesh, file);
  return mesh;
}

}  // namespace supple
