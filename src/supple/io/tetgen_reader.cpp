// TetGen's pair of files: nodes in .node, tetrahedra in .ele.
#include "supple/core/error.h"
#include "supple/io/tet_reader.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

// A count of the header; missing at the end of the line it is zero.
size_t optional_count(TextScanner& scanner, const char* what, int64_t most) {
  const auto token = scanner.try_token_on_line();
  if (!token) return 0;
  const int64_t count = scanner.to_integer(*token, what);
  if (count < 0 || count > most)
    scanner.fail(fmt::format("expected {} from 0 to {}, found {}", what, most, count));
  return static_cast<size_t>(count);
}

struct Nodes {
  std::vector<Vec3d> positions;
  int64_t first = 0;  // number of the first node, 0 or 1
};

// Header: nodes, dimension, attributes, markers. Rows: number x y z attributes marker.
Nodes read_nodes(ByteView bytes, const std::string& file) {
  TextScanner scanner(bytes, file, {.comment = '#'});
  Nodes nodes;
  const size_t count = scanner.count("the number of nodes", 8);
  const int64_t dimension =
      scanner.to_integer(scanner.token_on_line("the dimension"), "the dimension");
  if (dimension != 3) scanner.fail(fmt::format("expected dimension 3, found {}", dimension));
  const size_t attributes = optional_count(scanner, "the number of attributes", 1000);
  const size_t markers = optional_count(scanner, "the number of markers", 1);
  scanner.skip_line();
  nodes.positions.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const int64_t number = scanner.integer("a node number");
    if (i == 0) nodes.first = number;
    if ((i == 0 && number != 0 && number != 1) || number != nodes.first + static_cast<int64_t>(i))
      scanner.fail(fmt::format("expected node number {}, found {}",
                               i == 0 ? "0 or 1" : std::to_string(nodes.first + i), number));
    Vec3d position;
    for (int axis = 0; axis < 3; ++axis) {
      const std::string_view token = scanner.token_on_line("a node coordinate");
      position[axis] = scanner.to_number(token, "a node coordinate");
    }
    for (size_t column = 0; column < attributes + markers; ++column)
      scanner.token_on_line("an attribute or marker of the node");
    scanner.skip_line();
    nodes.positions.push_back(position);
  }
  return nodes;
}

// Header: tetrahedra, nodes of each (4 or 10), attributes. Rows: number nodes attributes.
std::vector<Vec4i> read_elements(ByteView bytes, const std::string& file, const Nodes& nodes) {
  TextScanner scanner(bytes, file, {.comment = '#'});
  const size_t count = scanner.count("the number of tetrahedra", 10);
  const int64_t nodes_each = scanner.to_integer(
      scanner.token_on_line("the number of nodes per tetrahedron"), "the number of nodes");
  if (nodes_each != 4 && nodes_each != 10)
    scanner.fail(fmt::format("expected 4 or 10 nodes per tetrahedron, found {}", nodes_each));
  scanner.skip_line();
  std::vector<Vec4i> tets(count);
  for (Vec4i& tet : tets) {
    scanner.integer("the number of a tetrahedron");
    for (int corner = 0; corner < 4; ++corner) {
      const std::string_view token = scanner.token_on_line("a node number");
      const int64_t node = scanner.to_integer(token, "a node number");
      const int64_t last = nodes.first + static_cast<int64_t>(nodes.positions.size()) - 1;
      if (node < nodes.first || node > last)
        scanner.fail(
            fmt::format("expected node numbers from {} to {}, found {}", nodes.first, last, node));
      tet[corner] = static_cast<int32_t>(node - nodes.first);
    }
    scanner.skip_line();
  }
  return tets;
}

}  // namespace

TetMesh parse_tetgen(ByteView nodes, const std::string& node_file, ByteView elements,
                     const std::string& element_file) {
  Nodes read = read_nodes(nodes, node_file);
  TetMesh mesh;
  mesh.tets = read_elements(elements, element_file, read);
  mesh.positions = std::move(read.positions);
  finish_tets(mesh, element_file);
  return mesh;
}

}  // namespace supple
