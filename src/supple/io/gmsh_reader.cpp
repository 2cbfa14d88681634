// Gmsh .msh files, versions 2.x, 4.0 and 4.1. Sections $Nodes and $Elements are read, all others
// skipped; not read: $ParametricNodes of version 2.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "supple/core/error.h"
#include "supple/io/tet_reader.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

enum class Version { v2, v4_0, v4_1 };

// What $MeshFormat says.
struct Format {
  Version version = Version::v2;
  bool binary = false;
  bool swapped = false;   // binary of the other byte order
  size_t size_bytes = 8;  // bytes of a count in version 4
};

// A mesh with the node numbers of the file, which may have gaps and come in any order.
struct NumberedMesh {
  struct Tet {
    int64_t number = 0;
    std::array<int64_t, 4> nodes{};
  };
  std::vector<int64_t> numbers;  // one per position
  std::vector<Vec3d> positions;
  std::vector<Tet> tets;
};

// The numbers of a section, text or binary, read the same way.
class NumberStream {
 public:
  NumberStream(TextScanner& scanner, ByteView bytes, const Format& format)
      : m_scanner(scanner), m_bytes(bytes), m_format(format) {}

  int64_t integer(const char* what) {
    return m_format.binary ? take<int32_t>(what) : m_scanner.integer(what);
  }

  // An integer as wide as a count: counts of version 4, and all numbers of nodes and elements
  // since 4.1.
  int64_t wide(const char* what) {
    if (!m_format.binary) return m_scanner.integer(what);
    if (m_format.size_bytes == 4) return take<uint32_t>(what);
    const auto value = take<uint64_t>(what);
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      fail(fmt::format("expected {} up to 9223372036854775807, found {}", what, value));
    return static_cast<int64_t>(value);
  }

  double real(const char* what) {
    if (!m_format.binary) return m_scanner.number(what);
    const auto value = take<double>(what);
    if (!std::isfinite(value))
      fail(fmt::format("expected {} that is finite, found {}", what, value));
    return value;
  }

  // Refuses a count of items, each of so many bytes in binary (at least two per number in text),
  // that the rest of the file cannot hold.
  size_t checked(int64_t count, const char* what, size_t binary_bytes, size_t numbers) const {
    const size_t each = m_format.binary ? binary_bytes : 2 * numbers;
    if (count < 0 || count > std::numeric_limits<int32_t>::max() ||
        static_cast<size_t>(count) * each > m_scanner.remaining() + 1)
      fail(fmt::format("{} is {}, more than the remaining {} bytes can hold", what, count,
                       m_scanner.remaining()));
    return static_cast<size_t>(count);
  }

  [[noreturn]] void fail(const std::string& problem) const {
    if (!m_format.binary) m_scanner.fail(problem);
    throw_input_error(m_scanner.file(), fmt::format("byte {}", m_scanner.offset()), problem);
  }

  const Format& format() const { return m_format; }

 private:
  template <class T>
  T take(const char* what) {
    if (m_scanner.remaining() < sizeof(T))
      fail(fmt::format("expected {}, found the end of the file", what));
    const T value = load_at<T>(m_bytes, m_scanner.offset());
    m_scanner.seek(m_scanner.offset() + sizeof(T));
    return m_format.swapped ? byte_swapped(value) : value;
  }

  TextScanner& m_scanner;
  ByteView m_bytes;
  const Format& m_format;
};

// Number of nodes of an element type; 0 for types we do not know.
int nodes_of_type(int64_t type) {
  static constexpr std::array<int, 32> common{0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                              10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                              12, 15, 15, 21, 4, 5, 6,  20, 35, 56};
  if (type >= 0 && type < static_cast<int64_t>(common.size())) return common[type];
  switch (type) {
    case 36:
      return 16;  // quadrangles of order 3, 4, 5
    case 37:
      return 25;
    case 38:
      return 36;
    case 71:
      return 84;  // tetrahedra of order 6 to 10
    case 72:
      return 120;
    case 73:
      return 165;
    case 74:
      return 220;
    case 75:
      return 286;
    case 92:
      return 64;  // hexahedra of order 3, 4
    case 93:
      return 125;
    default:
      return 0;
  }
}

// Tetrahedra of every order; their first four nodes are the corners.
bool is_tet(int64_t type) {
  return type == 4 || type == 11 || (type >= 29 && type <= 31) || (type >= 71 && type <= 75);
}

// $MeshFormat: version, 0 for text or 1 for binary, bytes of a number; binary files add the
// integer one, which shows the byte order.
Format read_format(TextScanner& scanner, ByteView bytes) {
  scanner.expect("$MeshFormat");
  Format format;
  const double version = scanner.number("the version");
  if (version >= 2 && version < 3)
    format.version = Version::v2;
  else if (version == 4)
    format.version = Version::v4_0;
  else if (version == 4.1)
    format.version = Version::v4_1;
  else
    scanner.fail(fmt::format("expected version 2.x, 4.0 or 4.1, found {}", version));
  const int64_t type = scanner.integer("the file type");
  if (type != 0 && type != 1)
    scanner.fail(fmt::format("expected file type 0 (text) or 1 (binary), found {}", type));
  format.binary = type == 1;
  const int64_t size = scanner.integer("the data size");
  if (format.binary && size != 8 && (format.version == Version::v2 || size != 4))
    scanner.fail(fmt::format("expected data size 8, found {}", size));
  format.size_bytes = static_cast<size_t>(size);
  if (format.binary) {
    scanner.skip_line();
    const int64_t one = NumberStream(scanner, bytes, format).integer("the integer 1");
    format.swapped = byte_swapped(static_cast<int32_t>(one)) == 1;
    if (one != 1 && !format.swapped) scanner.fail(fmt::format("expected integer 1, found {}", one));
  }
  scanner.expect("$EndMeshFormat");
  return format;
}

Vec3d read_position(NumberStream& in) {
  Vec3d position;
  for (int axis = 0; axis < 3; ++axis) position[axis] = in.real("a node coordinate");
  return position;
}

// Version 2: count, then number x y z.
void read_nodes_2(TextScanner& scanner, NumberStream& in, NumberedMesh& mesh) {
  const int64_t stated = scanner.integer("the number of nodes");
  if (in.format().binary) scanner.skip_line();
  const size_t count = in.checked(stated, "the number of nodes", 28, 4);
  for (size_t i = 0; i < count; ++i) {
    mesh.numbers.push_back(in.integer("a node number"));
    mesh.positions.push_back(read_position(in));
  }
}

// Version 2, text: count, then a line "number type tags tag ... node ..." per element.
void read_elements_2_text(TextScanner& scanner, NumberedMesh& mesh) {
  const size_t count = scanner.count("the number of elements", 8);
  for (size_t i = 0; i < count; ++i) {
    NumberedMesh::Tet tet;
    tet.number = scanner.integer("an element number");
    const auto next = [&](const char* what) {
      return scanner.to_integer(scanner.token_on_line(what), what);
    };
    const bool kept = is_tet(next("an element type"));
    const int64_t tags = next("the number of tags");
    if (tags < 0)
      scanner.fail(fmt::format("expected the number of tags from 0 up, found {}", tags));
    for (int64_t tag = 0; tag < tags; ++tag) next("a tag");
    for (int corner = 0; kept && corner < 4; ++corner) tet.nodes[corner] = next("a node number");
    if (kept) mesh.tets.push_back(tet);
    scanner.skip_line();
  }
}

int checked_nodes_of_type(const NumberStream& in, int64_t type) {
  const int nodes = nodes_of_type(type);
  if (nodes == 0) in.fail(fmt::format("expected an element type from 1 to 31, found {}", type));
  return nodes;
}

// The nodes of one element; those of tetrahedra are kept.
template <class ReadNode>
void read_element(int64_t number, int64_t type, int nodes, NumberedMesh& mesh, ReadNode read) {
  NumberedMesh::Tet tet{number, {}};
  for (int i = 0; i < nodes; ++i) {
    const int64_t node = read();
    if (i < 4) tet.nodes[i] = node;
  }
  if (is_tet(type)) mesh.tets.push_back(tet);
}

// Version 2, binary: count, then blocks of "type elements tags" and rows "number tag ... node ...".
void read_elements_2_binary(TextScanner& scanner, NumberStream& in, NumberedMesh& mesh) {
  const int64_t stated = scanner.integer("the number of elements");
  scanner.skip_line();
  const size_t count = in.checked(stated, "the number of elements", 8, 1);
  for (size_t done = 0; done < count;) {
    const int64_t type = in.integer("an element type");
    const int nodes = checked_nodes_of_type(in, type);
    const int64_t elements = in.integer("the number of elements of a block");
    const int64_t tags = in.integer("the number of tags");
    if (tags < 0 || tags > 1000 || elements < 1 || elements > static_cast<int64_t>(count - done))
      in.fail(fmt::format("expected a block of 1 to {} elements, found {} with {} tags",
                          count - done, elements, tags));
    in.checked(elements, "the number of elements of a block", 4 * (1 + tags + nodes), 1);
    for (int64_t e = 0; e < elements; ++e) {
      const int64_t number = in.integer("an element number");
      for (int64_t tag = 0; tag < tags; ++tag) in.integer("a tag");
      read_element(number, type, nodes, mesh, [&] { return in.integer("a node number"); });
    }
    done += static_cast<size_t>(elements);
  }
}

// The head of a block of version 4: entity and its dimension, a number, and the count of items.
struct Block {
  int64_t dimension = 0;
  int64_t kind = 0;  // parametric, or the element type
  int64_t count = 0;
};

Block read_block(NumberStream& in) {
  Block block;
  const int64_t first = in.integer("the entity of a block");
  const int64_t second = in.integer("the entity of a block");
  block.dimension = in.format().version == Version::v4_0 ? second : first;
  if (block.dimension < 0 || block.dimension > 3)
    in.fail(fmt::format("expected dimension 0 to 3 of a block, found {}", block.dimension));
  block.kind = in.integer("the kind of a block");
  block.count = in.wide("the number of items of a block");
  return block;
}

struct SectionHead {
  int64_t blocks = 0;
  int64_t items = 0;
};

// Version 4: blocks, items and, since 4.1, the smallest and largest number.
SectionHead read_section_head(NumberStream& in) {
  SectionHead head;
  head.blocks = in.wide("the number of blocks");
  head.items = in.wide("the number of items");
  if (in.format().version == Version::v4_1) {
    in.wide("the smallest number");
    in.wide("the largest number");
  }
  return head;
}

void check_total(const NumberStream& in, const char* what, int64_t stated, size_t found) {
  if (stated != static_cast<int64_t>(found))
    in.fail(fmt::format("expected {} {} as stated, found {}", stated, what, found));
}

// Version 4.0 gives number and coordinates node by node, 4.1 all numbers of a block first.
void read_nodes_4(NumberStream& in, NumberedMesh& mesh) {
  const SectionHead head = read_section_head(in);
  const bool numbers_first = in.format().version == Version::v4_1;
  const size_t before = mesh.positions.size();
  for (int64_t b = 0; b < head.blocks; ++b) {
    const Block block = read_block(in);
    // Parameters u, v, w follow the coordinates; 4.0 has none in volumes.
    const int64_t most = numbers_first ? 3 : 2;
    const int64_t parameters = block.kind != 0 && block.dimension <= most ? block.dimension : 0;
    const size_t count = in.checked(block.count, "the number of nodes of a block",
                                    numbers_first ? in.format().size_bytes + 24 : 28, 4);
    for (size_t i = 0; numbers_first && i < count; ++i)
      mesh.numbers.push_back(in.wide("a node number"));
    for (size_t i = 0; i < count; ++i) {
      if (!numbers_first) mesh.numbers.push_back(in.integer("a node number"));
      mesh.positions.push_back(read_position(in));
      for (int64_t p = 0; p < parameters; ++p) in.real("a node parameter");
    }
  }
  check_total(in, "nodes", head.items, mesh.positions.size() - before);
}

void read_elements_4(NumberStream& in, NumberedMesh& mesh) {
  const SectionHead head = read_section_head(in);
  const bool wide = in.format().version == Version::v4_1;
  const auto next = [&](const char* what) { return wide ? in.wide(what) : in.integer(what); };
  size_t total = 0;
  for (int64_t b = 0; b < head.blocks; ++b) {
    const Block block = read_block(in);
    const int nodes = checked_nodes_of_type(in, block.kind);
    const size_t bytes = wide ? in.format().size_bytes : 4;
    const size_t count = in.checked(block.count, "the number of elements of a block",
                                    bytes * (1 + nodes), 1 + nodes);
    for (size_t i = 0; i < count; ++i) {
      const int64_t number = next("an element number");
      read_element(number, block.kind, nodes, mesh, [&] { return next("a node number"); });
    }
    total += count;
  }
  check_total(in, "elements", head.items, total);
}

// Skips a section we do not need; binary ones can only be left by finding their end.
void skip_section(TextScanner& scanner, ByteView bytes, std::string_view name) {
  const std::string end = fmt::format("$End{}", name.substr(1));
  const size_t at = as_text(bytes).find(end, scanner.offset());
  if (at == std::string_view::npos) scanner.fail_expected("a section with an end", name);
  scanner.seek(at);
  scanner.expect(end);
}

NumberedMesh read_sections(TextScanner& scanner, ByteView bytes, const Format& format) {
  NumberedMesh mesh;
  NumberStream in(scanner, bytes, format);
  while (const auto section = scanner.try_token()) {
    if (*section != "$Nodes" && *section != "$Elements") {
      if (section->size() < 2 || section->front() != '$')
        scanner.fail_expected("a section ($Nodes, $Elements, ...)", *section);
      skip_section(scanner, bytes, *section);
      continue;
    }
    const bool is_nodes = *section == "$Nodes";
    if (format.binary) scanner.skip_line();
    if (format.version != Version::v2)
      is_nodes ? read_nodes_4(in, mesh) : read_elements_4(in, mesh);
    else if (is_nodes)
      read_nodes_2(scanner, in, mesh);
    else if (format.binary)
      read_elements_2_binary(scanner, in, mesh);
    else
      read_elements_2_text(scanner, mesh);
    scanner.expect(is_nodes ? "$EndNodes" : "$EndElements");
  }
  return mesh;
}

// Finds nodes by their number: the sorted numbers, each with its place in the file.
class NodeIndex {
 public:
  NodeIndex(const std::vector<int64_t>& numbers, const std::string& file) : m_file(file) {
    m_nodes.reserve(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i)
      m_nodes.emplace_back(numbers[i], static_cast<int32_t>(i));
    if (!std::is_sorted(m_nodes.begin(), m_nodes.end())) std::sort(m_nodes.begin(), m_nodes.end());
    for (size_t i = 1; i < m_nodes.size(); ++i)
      if (m_nodes[i].first == m_nodes[i - 1].first)
        throw_input_error(file, "$Nodes", fmt::format("node {} is there twice", m_nodes[i].first));
  }

  int32_t find(int64_t number, int64_t element) const {
    // Numbers without gaps need no search.
    const auto guess = static_cast<uint64_t>(number) - static_cast<uint64_t>(first());
    if (guess < m_nodes.size() && m_nodes[guess].first == number) return m_nodes[guess].second;
    const auto found = std::lower_bound(m_nodes.begin(), m_nodes.end(), std::pair(number, 0));
    if (found == m_nodes.end() || found->first != number)
      throw_input_error(m_file, fmt::format("$Elements, element {}", element),
                        fmt::format("expected numbers of nodes in $Nodes, found {}", number));
    return found->second;
  }

 private:
  int64_t first() const { return m_nodes.empty() ? 0 : m_nodes.front().first; }

  const std::string& m_file;
  std::vector<std::pair<int64_t, int32_t>> m_nodes;
};

}  // namespace

TetMesh parse_gmsh(ByteView bytes, const std::string& file) {
  TextScanner scanner(bytes, file);
  const Format format = read_format(scanner, bytes);
  NumberedMesh read = read_sections(scanner, bytes, format);
  if (read.positions.empty()) throw_input_error(file, "$Nodes", "has no nodes");
  const NodeIndex index(read.numbers, file);
  TetMesh mesh;
  mesh.positions = std::move(read.positions);
  mesh.tets.reserve(read.tets.size());
  for (const NumberedMesh::Tet& tet : read.tets) {
    Vec4i nodes;
    for (int corner = 0; corner < 4; ++corner)
      nodes[corner] = index.find(tet.nodes[corner], tet.number);
    mesh.tets.push_back(nodes);
  }
  finish_tets(mesh, file);
  return mesh;
}

}  // namespace supple
