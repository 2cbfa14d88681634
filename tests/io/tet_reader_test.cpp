#include "supple/io/tet_reader.h"

#include <gtest/gtest.h>

#include <numeric>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/mesh/topology.h"
#include "support/test_support.h"

namespace supple {
namespace {

using test::assets;

template <class Read>
std::string error_of(Read read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Bytes to_bytes(std::string_view text) {
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// All sources below hold this mesh: a unit corner and its mirror image, one of them given inside
// out, and a node that no tetrahedron uses in the middle of the list.
void expect_two_tets(const TetMesh& mesh, const std::string& what) {
  ASSERT_EQ(mesh.positions.size(), 5u) << what;
  EXPECT_EQ(mesh.positions,
            (std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}}))
      << what;
  EXPECT_EQ(mesh.tets, (std::vector<Vec4i>{{0, 1, 2, 3}, {0, 1, 4, 2}})) << what;
  EXPECT_DOUBLE_EQ(volume(mesh), 1.0 / 3) << what;
}

// ---- Medit

const std::string medit =
    "MeshVersionFormatted 2\n# comment\nDimension\n3\n"
    "Vertices 6\n0 0 0 0\n1 0 0 0\n5 5 5 7\n0 1 0 0\n0 0 1 0\n0 0 -1 0\n"
    "Triangles\n1\n1 2 3 4\n"
    "Tetrahedra\n2\n1 2 4 5 0\n1 2 4 6 3\nEnd\n";

TEST(TetReader, Medit) {
  const auto parse = [](const std::string& text) {
    return parse_medit(as_bytes(text), "test.mesh");
  };
  expect_two_tets(parse(medit), "as it is");
  expect_two_tets(parse(replaced(medit, "End\n", "")), "without End");
  std::string crlf;
  for (char c : medit) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  expect_two_tets(parse(crlf), "CRLF");
  const size_t vertices = medit.find("Vertices"), triangles = medit.find("Triangles");
  const std::string reordered = medit.substr(0, vertices) +
                                "Tetrahedra\n2\n1 2 4 5 0\n1 2 4 6 3\n" +
                                medit.substr(vertices, triangles - vertices);
  expect_two_tets(parse(reordered), "tetrahedra first");
  expect_two_tets(
      parse(replaced(medit, "Tetrahedra\n2\n1 2 4 5 0\n1 2 4 6 3\n",
                     "TetrahedraP2\n2\n1 2 4 5 3 3 3 3 3 3 0\n1 2 4 6 3 3 3 3 3 3 0\n")),
      "second order");
  const auto error = [&](std::string_view from, std::string_view to) {
    return error_of([&] { parse(replaced(medit, from, to)); });
  };
  EXPECT_EQ(error("1 2 4 6 3", "1 2 4 7 3"),
            "test.mesh: line 18: expected vertex numbers from 1 to 6, found 7");
  EXPECT_NE(error("1 2 4 6 3", "1 2 4 0 3").find("line 18"), std::string::npos);
  EXPECT_NE(error("Dimension\n3", "Dimension\n2").find("dimension 3, found 2"), std::string::npos);
  EXPECT_NE(error("Vertices 6", "Vertices 2000000000").find("line 5: the number of vertices is"),
            std::string::npos);
  EXPECT_NE(error("Vertices 6", "Vertices -6").find("found -6"), std::string::npos);
  EXPECT_NE(error("Vertices 6", "Vertices 7").find("line 12"), std::string::npos);
  EXPECT_NE(error("Tetrahedra\n2", "Tetrahedra\n3").find("remaining"), std::string::npos);
  EXPECT_NE(error("5 5 5 7", "5 nan 5 7").find("line 8"), std::string::npos);
  EXPECT_NE(error("Tetrahedra", "Tetraeder").find("has no tetrahedra"), std::string::npos);
  EXPECT_NE(error("Vertices", "Ecken").find("vertex numbers from 1 to 0"), std::string::npos);
  EXPECT_NE(error("MeshVersionFormatted", "xyz").find("'MeshVersionFormatted'"), std::string::npos);
  EXPECT_NE(error("1 2 4 6 3", "1 2 4 4 3").find("tetrahedron 2 of 2"), std::string::npos);
  EXPECT_NE(error("0 0 -1 0", "3 4 0 0").find("expected a positive volume, found 0"),
            std::string::npos);
  EXPECT_NE(
      error("1 0 0 0\n5 5 5 7\n0 1 0 0", "1e200 0 0 0\n5 5 5 7\n0 1e200 0 0").find("found inf"),
      std::string::npos);
}

// ---- TetGen

const std::string node0 =
    "# made by hand\n6 3 2 1\n\n0 0 0 0 9 9 1\n1 1 0 0 9 9 1 # corner\n2 5 5 5 9 9 0\n"
    "3 0 1 0 9 9 1\n4 0 0 1 9 9 1\n5 0 0 -1 9 9 1\n# the end\n";
const std::string ele0 = "2 4 1\n0 0 1 3 4 7\n1 0 1 3 5 7\n";

TEST(TetReader, TetGen) {
  const auto parse = [](const std::string& nodes, const std::string& elements) {
    return parse_tetgen(as_bytes(nodes), "test.node", as_bytes(elements), "test.ele");
  };
  expect_two_tets(parse(node0, ele0), "from 0");
  const std::string node1 = "6 3\n1 0 0 0\n2 1 0 0\n3 5 5 5\n4 0 1 0\n5 0 0 1\n6 0 0 -1\n";
  const std::string ele1 = "2 10 0\n1 1 2 4 5 3 3 3 3 3 3\n2 1 2 4 6 3 3 3 3 3 3\n";
  expect_two_tets(parse(node1, ele1), "from 1, second order, short header");

  const auto node_error = [&](std::string_view from, std::string_view to) {
    return error_of([&] { parse(replaced(node0, from, to), ele0); });
  };
  const auto ele_error = [&](std::string_view from, std::string_view to) {
    return error_of([&] { parse(node0, replaced(ele0, from, to)); });
  };
  EXPECT_EQ(ele_error("1 3 5", "1 3 6"),
            "test.ele: line 3: expected node numbers from 0 to 5, found 6");
  EXPECT_NE(ele_error("1 3 5", "1 3 -1").find("found -1"), std::string::npos);
  EXPECT_NE(ele_error("1 3 5 7", "1 3").find("found the end of the line"), std::string::npos);
  EXPECT_NE(ele_error("2 4 1", "2 8 1").find("4 or 10 nodes"), std::string::npos);
  EXPECT_NE(ele_error("2 4 1", "3 4 1").find("found the end of the file"), std::string::npos);
  EXPECT_NE(ele_error("2 4 1", "2147483647 4 1").find("remaining"), std::string::npos);
  EXPECT_NE(ele_error("2 4 1", "0 4 1").find("has no tetrahedra"), std::string::npos);
  EXPECT_NE(node_error("6 3 2 1", "2147483647 3 2 1").find("remaining"), std::string::npos);
  EXPECT_NE(node_error("6 3 2 1", "-6 3 2 1").find("found -6"), std::string::npos);
  EXPECT_NE(node_error("6 3 2 1", "6 2 2 1").find("dimension 3"), std::string::npos);
  EXPECT_NE(node_error("6 3 2 1", "6 3 3 1").find("attribute or marker"), std::string::npos);
  EXPECT_NE(node_error("\n0 0 0 0", "\n2 0 0 0").find("0 or 1, found 2"), std::string::npos);
  EXPECT_NE(node_error("\n3 0 1 0", "\n4 0 1 0").find("expected node number 3, found 4"),
            std::string::npos);
  EXPECT_NE(node_error("5 5 5", "5 inf 5").find("test.node: line 6"), std::string::npos);
}

TEST(TetReader, ChoosesTheFormatByExtension) {
  test::TemporaryFolder folder;
  write_file(folder / "a.node", node0);
  write_file(folder / "a.ele", ele0);
  write_file(folder / "B.NODE", node0);
  write_file(folder / "B.ELE", ele0);
  write_file(folder / "c.mesh", medit);
  for (const char* name : {"a.node", "a.ele", "B.NODE", "B.ELE", "c.mesh"})
    expect_two_tets(read_tets(folder / name), name);
  std::filesystem::remove(folder / "a.ele");
  EXPECT_NE(error_of([&] { read_tets(folder / "a.node"); }).find("a.ele: cannot open"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_tets(folder / "a.vtk"); }).find("found '.vtk'"), std::string::npos);
  EXPECT_NE(error_of([&] { read_tets(folder / "a"); }).find(".msh"), std::string::npos);
}

// ---- Gmsh: a writer of all versions, text and binary, straight from the format's description.

struct GmshChoice {
  const char* version = "2.2";
  bool binary = false;
  bool swapped = false;
  int size_bytes = 8;
};

class GmshWriter {
 public:
  explicit GmshWriter(GmshChoice choice) : m_choice(choice) {
    text(fmt::format("$MeshFormat\n{} {} {}\n", choice.version, choice.binary ? 1 : 0,
                     choice.size_bytes));
    if (choice.binary) {
      integer(1);
      text("\n");
    }
    text("$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a $Nodes b\"\n$EndPhysicalNames\n");
  }

  Bytes mesh() {
    const bool v2 = m_choice.version[0] == '2';
    if (!v2) text("$Entities\n"), wide(0), wide(0), wide(0), wide(1), text("\n$EndEntities\n");
    text("$Nodes\n");
    v2 ? nodes_2() : nodes_4();
    text(m_choice.binary ? "\n$EndNodes\n$Elements\n" : "$EndNodes\n$Elements\n");
    v2 ? elements_2() : elements_4();
    text(m_choice.binary ? "\n$EndElements\n" : "$EndElements\n");
    text("$NodeData\nanything at all\n$EndNodeData\n");
    return std::move(m_bytes);
  }

 private:
  // Numbers with gaps and out of order.
  static constexpr int64_t numbers[6] = {40, 7, 12, 1000000, 3, 41};
  static constexpr double points[6][3] = {{0, 0, 0}, {1, 0, 0}, {5, 5, 5},
                                          {0, 1, 0}, {0, 0, 1}, {0, 0, -1}};

  void text(std::string_view t) { append_text(m_bytes, t); }
  template <class T>
  void raw(T value) {
    m_choice.swapped ? append_big_endian(m_bytes, value) : append(m_bytes, value);
  }
  void integer(int64_t v) {
    m_choice.binary ? raw(static_cast<int32_t>(v)) : text(fmt::format("{} ", v));
  }
  void wide(int64_t v) {
    if (!m_choice.binary || m_choice.size_bytes == 4)
      integer(v);
    else
      raw(static_cast<uint64_t>(v));
  }
  void real(double v) { m_choice.binary ? raw(v) : text(fmt::format("{} ", v)); }
  void end_row() {
    if (!m_choice.binary) text("\n");
  }
  void point(int i) {
    for (double c : points[i]) real(c);
  }
  bool v4_1() const { return std::string_view(m_choice.version) == "4.1"; }
  void number(int64_t v) { v4_1() ? wide(v) : integer(v); }

  void nodes_2() {
    text("6\n");
    for (int i = 0; i < 6; ++i) integer(numbers[i]), point(i), end_row();
  }

  // A triangle, a tetrahedron with three tags, a second-order tetrahedron.
  void elements_2() {
    const auto element = [&](int type, int tags, std::initializer_list<int> nodes) {
      if (m_choice.binary)
        integer(type), integer(1), integer(tags), integer(99);
      else
        integer(99), integer(type), integer(tags);
      for (int t = 0; t < tags; ++t) integer(5);
      for (int n : nodes) integer(numbers[n]);
      end_row();
    };
    text("3\n");
    element(2, 2, {0, 1, 2});
    element(4, 3, {0, 1, 3, 4});
    element(11, 0, {0, 1, 3, 5, 2, 2, 2, 2, 2, 2});
  }

  void block(int dimension, int kind, int64_t count) {
    v4_1() ? (integer(dimension), integer(1)) : (integer(1), integer(dimension));
    integer(kind), wide(count), end_row();
  }

  void head(int blocks, int items) {
    wide(blocks), wide(items);
    if (v4_1()) wide(3), wide(1000000);
    end_row();
  }

  // Three blocks: two nodes on a surface with parameters, none, four nodes.
  void nodes_4() {
    head(3, 6);
    const auto nodes = [&](int begin, int end, int parameters) {
      for (int i = begin; v4_1() && i < end; ++i) wide(numbers[i]), end_row();
      for (int i = begin; i < end; ++i) {
        if (!v4_1()) integer(numbers[i]);
        point(i);
        for (int p = 0; p < parameters; ++p) real(0.5);
        end_row();
      }
    };
    block(2, 1, 2);
    nodes(0, 2, 2);
    block(1, 0, 0);
    block(3, 0, 4);
    nodes(2, 6, 0);
  }

  void elements_4() {
    const auto element = [&](std::initializer_list<int> nodes) {
      number(99);
      for (int n : nodes) number(numbers[n]);
      end_row();
    };
    head(3, 3);
    block(2, 2, 1);
    element({0, 1, 2});
    block(3, 4, 1);
    element({0, 1, 3, 4});
    block(3, 11, 1);
    element({0, 1, 3, 5, 2, 2, 2, 2, 2, 2});
  }

  GmshChoice m_choice;
  Bytes m_bytes;
};

std::vector<GmshChoice> all_choices() {
  std::vector<GmshChoice> choices;
  for (const char* version : {"2", "2.1", "2.2", "4", "4.0", "4.1"}) {
    choices.push_back({version});
    choices.push_back({version, true});
    choices.push_back({version, true, true});
    if (version[0] == '4') choices.push_back({version, true, false, 4});
  }
  return choices;
}

std::string name_of(const GmshChoice& choice) {
  return fmt::format("version {}, binary {}, swapped {}, size {}", choice.version, choice.binary,
                     choice.swapped, choice.size_bytes);
}

TEST(TetReader, GmshInAllVersionsTextAndBinary) {
  for (const GmshChoice& choice : all_choices())
    ASSERT_NO_THROW(
        expect_two_tets(parse_gmsh(GmshWriter(choice).mesh(), "test.msh"), name_of(choice)))
        << name_of(choice);
}

TEST(TetReader, GmshRefusesDamage) {
  for (const GmshChoice& choice : all_choices()) {
    SCOPED_TRACE(name_of(choice));
    test::expect_damage_is_refused(
        GmshWriter(choice).mesh(), [](const Bytes& bytes) { parse_gmsh(bytes, "damaged.msh"); },
        2000, 500);
  }
}

const std::string gmsh2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
    "$EndNodes\n$Elements\n1\n1 4 2 0 0 1 2 3 4\n$EndElements\n";

TEST(TetReader, GmshErrors) {
  const auto error = [&](std::string_view from, std::string_view to) {
    return error_of([&] {
      const std::string text = replaced(gmsh2, from, to);
      parse_gmsh(as_bytes(text), "test.msh");
    });
  };
  EXPECT_EQ(error("2.2 0 8", "2.2 0 8"), "");
  EXPECT_EQ(error("1 2 3 4", "1 2 3 5"),
            "test.msh: $Elements, element 1: expected numbers of nodes in $Nodes, found 5");
  EXPECT_EQ(error("3 0 1 0", "2 0 1 0"), "test.msh: $Nodes: node 2 is there twice");
  EXPECT_EQ(error("3 0 1 0", "3 0 nan 0"),
            "test.msh: line 8: expected a node coordinate that is finite, found 'nan'");
  EXPECT_NE(error("2.2 0 8", "1.0 0 8").find("2.x, 4.0 or 4.1, found 1"), std::string::npos);
  EXPECT_NE(error("2.2 0 8", "3 0 8").find("found 3"), std::string::npos);
  EXPECT_NE(error("2.2 0 8", "2.2 2 8").find("file type"), std::string::npos);
  EXPECT_NE(error("2.2 0 8", "2.2 1 4").find("data size 8"), std::string::npos);
  EXPECT_NE(error("2.2 0 8", "2.2 1 8").find("integer 1"), std::string::npos);
  EXPECT_NE(error("$Nodes\n4", "$Nodes\n2000000000").find("remaining"), std::string::npos);
  EXPECT_NE(error("$Nodes\n4", "$Nodes\n-4").find("-4"), std::string::npos);
  EXPECT_NE(error("$Nodes\n4", "$Nodes\n3").find("'$EndNodes', found '4'"), std::string::npos);
  EXPECT_NE(error("$Elements\n1", "$Elements\n99999999").find("remaining"), std::string::npos);
  EXPECT_NE(error("1 4 2 0 0", "1 4 -2 0 0").find("found -2"), std::string::npos);
  EXPECT_NE(error("1 4 2 0 0", "1 4 99999999999 0 0").find("end of the line"), std::string::npos);
  EXPECT_NE(error("1 4 2 0 0", "1 2 2 0 0").find("has no tetrahedra"), std::string::npos);
  EXPECT_NE(error("$Nodes", "$Knoten").find("a section with an end"), std::string::npos);
  EXPECT_NE(error("$Nodes", "Nodes").find("found 'Nodes'"), std::string::npos);
  EXPECT_NE(error_of([] { parse_gmsh(as_bytes("$NOD\n4\n"), "old.msh"); }).find("$MeshFormat"),
            std::string::npos);
}

TEST(TetReader, GmshRefusesHugeBinaryCounts) {
  // A count of 2^63 - 1 or more in every eight-byte field after the format.
  const Bytes good = GmshWriter({"4.1", true}).mesh();
  for (const uint64_t huge : {uint64_t{1} << 40, (uint64_t{1} << 63) - 1, ~uint64_t{0}})
    for (size_t at = 40; at + 8 < good.size(); ++at) {
      Bytes bad = good;
      std::memcpy(bad.data() + at, &huge, 8);
      try {
        parse_gmsh(bad, "bad.msh");
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
      }
    }
}

TEST(TetReader, TextFormatsRefuseDamage) {
  test::expect_damage_is_refused(
      to_bytes(medit), [](const Bytes& bytes) { parse_medit(bytes, "damaged.mesh"); }, 1000, 2000);
  test::expect_damage_is_refused(
      to_bytes(node0),
      [](const Bytes& b) { parse_tetgen(b, "damaged.node", as_bytes(ele0), "good.ele"); }, 1000,
      1000);
  test::expect_damage_is_refused(
      to_bytes(ele0),
      [](const Bytes& b) { parse_tetgen(as_bytes(node0), "good.node", b, "damaged.ele"); }, 1000,
      1000);
}

TEST(TetReader, ReadsRealMeshes) {
  SUPPLE_NEEDS_ASSETS();
  struct Expected {
    const char* file;
    size_t nodes, tets, boundary;
    Vec3d extent;
  };
  for (const Expected& e : {Expected{"armadillo_4k.node", 1180, 3717, 2102, {2.54, 3.03, 2.32}},
                            Expected{"armadillo_4k.ele", 1180, 3717, 2102, {2.54, 3.03, 2.32}},
                            Expected{"dolphin5K.msh", 8111, 36304, 10000, {102, 90.9, 73.3}}}) {
    const TetMesh mesh = read_tets(*assets() / "tet" / e.file);
    EXPECT_EQ(mesh.positions.size(), e.nodes) << e.file;
    EXPECT_EQ(mesh.tets.size(), e.tets) << e.file;
    for (const Vec4i& tet : mesh.tets) ASSERT_GT(six_volumes(mesh, tet), 0) << e.file;
    const TriangleMesh surface = boundary_surface(mesh);
    EXPECT_EQ(surface.triangles.size(), e.boundary) << e.file;
    EXPECT_NEAR(signed_volume(surface.positions, surface.triangles), volume(mesh),
                1e-5 * volume(mesh));
    const Vec3d extent = bounding_box(surface.positions).sizes().cast<double>();
    EXPECT_LT((extent - e.extent).cwiseQuotient(e.extent).norm(), 0.01) << extent.transpose();
  }
  test::expect_damage_is_refused(
      read_file(*assets() / "tet/dolphin5K.msh"),
      [](const Bytes& bytes) { parse_gmsh(bytes, "damaged.msh"); }, 20, 20);
}

}  // namespace
}  // namespace supple
