#include "supple/io/obj_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/mesh/topology.h"
#include "support/test_support.h"

namespace supple {
namespace {

using test::assets;

Character parse(std::string_view text) { return parse_obj(as_bytes(text), "test.obj"); }

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has_note(const Character& character, std::string_view words) {
  return std::any_of(character.notes.begin(), character.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

TEST(ObjReader, ReadsVerticesInOrderAndBindsThem) {
  const Character character = parse(square + "f 3 4 1\n");
  EXPECT_EQ(character.name, "test");
  EXPECT_EQ(character.source, "test.obj");
  ASSERT_EQ(character.skin.positions.size(), 4u);
  EXPECT_EQ(character.skin.positions[2], Vec3f(1, 1, 0));
  ASSERT_EQ(character.skin.triangles.size(), 1u);
  EXPECT_EQ(character.skin.triangles[0], Vec3i(2, 3, 0));
  ASSERT_EQ(character.parts.size(), 1u);
  EXPECT_EQ(character.parts[0].name, "test");
  EXPECT_EQ(character.parts[0].joint, 0);
  EXPECT_EQ(character.parts[0].vertices.count, 4);
  EXPECT_EQ(character.parts[0].triangles.count, 1);
  EXPECT_EQ(character.skeleton.size(), 1u);
  EXPECT_EQ(character.binds.size(), 1u);
  EXPECT_EQ(character.weights.vertices(), 4u);
  EXPECT_TRUE(character.notes.empty());
}

TEST(ObjReader, ReadsEveryFormOfCorner) {
  const std::string more = square + "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\n";
  for (const char* face :
       {"f 1 2 3", "f 1/1 2/2 3/3", "f 1//1 2//1 3//1", "f 1/1/1 2/2/1 3/3/1", "f -4 -3 -2",
        "f -4/-4/-1 -3/-3/-1 -2/-2/-1", "f +1 +2 +3", "f 1/1/ 2/2/ 3/3/", "  f\t1  2\t3  ",
        "f 1 2 3 # a comment", "f 1 \\\n 2 3", "f 1 2\\\r\n 3", "fo 1 2 3"}) {
    const Character character = parse(more + face + "\n");
    ASSERT_EQ(character.skin.triangles.size(), 1u) << face;
    EXPECT_EQ(character.skin.triangles[0], Vec3i(0, 1, 2)) << face;
  }
}

TEST(ObjReader, ReadsAllLineEndsAndAByteOrderMark) {
  std::string text = "\xEF\xBB\xBF# comment\n" + square + "\n  \nf 1 2 3\nf 1 3 4";
  const Character reference = parse(text);
  for (const std::string end : {"\r\n", "\r"}) {
    std::string other;
    for (char c : text) c == '\n' ? other += end : other += c;
    const Character character = parse(other);
    EXPECT_EQ(character.skin.positions, reference.skin.positions);
    EXPECT_EQ(character.skin.triangles, reference.skin.triangles);
  }
  EXPECT_EQ(error_of("v 0 0 0\r\nv 1 0 0\r\nv 0 x 0\r\n"),
            "test.obj: line 3: expected a number of a vertex, found 'x'");
  EXPECT_EQ(error_of("v 0 0 0\rv 1 0 0\rv 0 x 0\r"),
            "test.obj: line 3: expected a number of a vertex, found 'x'");
  EXPECT_EQ(error_of("v 0 0 \\\n 0\nv 0 x 0\n"),
            "test.obj: line 3: expected a number of a vertex, found 'x'");
}

TEST(ObjReader, FacesMayStandBeforeTheirVertices) {
  const Character character = parse("f 1 2 3\n" + square);
  EXPECT_EQ(character.skin.triangles[0], Vec3i(0, 1, 2));
  EXPECT_EQ(error_of("f 1 2 5\n" + square),
            "test.obj: line 1: expected a vertex number up to 4, found 5");
}

// Area of the triangles against the polygon's normal: right for any triangulation without overlap.
void expect_no_overlap(const Character& character, double area) {
  Vec3f sum = Vec3f::Zero();
  double absolute = 0;
  for (const Vec3i& t : character.skin.triangles) {
    const auto& x = character.skin.positions;
    const Vec3f cross = (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]) / 2;
    sum += cross;
    absolute += cross.norm();
  }
  EXPECT_NEAR(absolute, area, 1e-6);
  EXPECT_NEAR(sum.z(), area, 1e-6);
}

TEST(ObjReader, SplitsConvexAndDentedPolygons) {
  const Character convex = parse(square + "f 1 2 3 4\n");
  EXPECT_EQ(convex.skin.triangles, (std::vector<Vec3i>{{0, 1, 2}, {0, 2, 3}}));
  // The dent is at the second corner: the fan of the first corner would overlap itself.
  const std::string dart = "v 0 0 0\nv 1 1 0\nv 2 0 0\nv 1 3 0\n";
  for (const char* face : {"f 1 2 3 4", "f 2 3 4 1", "f 3 4 1 2", "f 4 1 2 3"}) {
    const Character character = parse(dart + face);
    EXPECT_EQ(character.skin.triangles.size(), 2u);
    expect_no_overlap(character, 2.0);
  }
  // A pentagon with one dent, seen from the dent.
  const Character pentagon = parse("v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nf 1 2 3 4 5\n");
  EXPECT_EQ(pentagon.skin.triangles.size(), 3u);
  expect_no_overlap(pentagon, 10.0);
}

TEST(ObjReader, KeepsTrianglesWithoutArea) {
  const Character character = parse(square + "f 1 1 2\nf 1 2 3\nf 1 1 1 1\n");
  EXPECT_EQ(character.skin.triangles.size(), 4u);
}

TEST(ObjReader, KeepsTextureCoordinatesOnlyWhenUnambiguous) {
  const std::string uvs = "vt 0 0\nvt 0.25 0.75 0\nvt 1\nvt 0.25 0.75\n";
  const Character one = parse(square + uvs + "f 1/1 2/2 3/3\nf 3/3 2/4 1/1\n");
  const VertexAttribute* attribute = one.attribute("TEXCOORD_0");
  ASSERT_NE(attribute, nullptr);
  EXPECT_EQ(attribute->components, 2);
  EXPECT_EQ(attribute->values, (std::vector<float>{0, 1, 0.25f, 0.25f, 1, 1, 0, 0}));
  EXPECT_TRUE(one.notes.empty());

  const Character seam = parse(square + uvs + "f 1/1 2/2 3/3\nf 1/2 3/3 4/1\n");
  EXPECT_EQ(seam.attribute("TEXCOORD_0"), nullptr);
  EXPECT_TRUE(has_note(seam, "texture coordinates are left out"));
  const Character missing = parse(square + uvs + "f 1/1 2/2 3/3\nf 1 3 4\n");
  EXPECT_EQ(missing.attribute("TEXCOORD_0"), nullptr);
  EXPECT_TRUE(has_note(missing, "texture coordinates are left out"));
}

TEST(ObjReader, KeepsColoursWhenEveryVertexHasOne) {
  const Character coloured = parse("v 0 0 0 1 0.5 0\nv 1 0 0 0 1 0 0.5\nv 0 1 0 0 0 1\nf 1 2 3\n");
  const VertexAttribute* attribute = coloured.attribute("COLOR_0");
  ASSERT_NE(attribute, nullptr);
  EXPECT_EQ(attribute->components, 3);
  EXPECT_EQ(attribute->values, (std::vector<float>{1, 0.5f, 0, 0, 1, 0, 0, 0, 1}));
  const Character some = parse("v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0 1\nf 1 2 3\n");
  EXPECT_EQ(some.attribute("COLOR_0"), nullptr);
  EXPECT_TRUE(has_note(some, "colours"));
}

TEST(ObjReader, ObjectsWithTheirOwnVerticesBecomeParts) {
  const Character two =
      parse("o left side\nusemtl skin\n" + square + "f 1 2 3 4\no empty\no right\nusemtl cloth\n" +
            square + "f 5 6 7\nf -1 -2 -3\n");
  ASSERT_EQ(two.parts.size(), 2u);
  EXPECT_EQ(two.parts[0].name, "left side");
  EXPECT_EQ(two.parts[0].material, "skin");
  EXPECT_EQ(two.parts[0].vertices.first, 0);
  EXPECT_EQ(two.parts[0].vertices.count, 4);
  EXPECT_EQ(two.parts[0].triangles.count, 2);
  EXPECT_EQ(two.parts[1].name, "right");
  EXPECT_EQ(two.parts[1].material, "cloth");
  EXPECT_EQ(two.parts[1].vertices.first, 4);
  EXPECT_EQ(two.parts[1].vertices.count, 4);
  EXPECT_EQ(two.parts[1].triangles.first, 2);
  EXPECT_EQ(two.parts[1].triangles.count, 2);
  EXPECT_EQ(two.parts[1].source_mesh, 1);

  const Character shared = parse("o a\n" + square + "f 1 2 3\no b\nf 1 3 4\n");
  ASSERT_EQ(shared.parts.size(), 1u);
  EXPECT_EQ(shared.parts[0].name, "test");
  EXPECT_EQ(shared.parts[0].triangles.count, 2);
  EXPECT_TRUE(has_note(shared, "share vertices"));

  const Character late = parse(square + "o body\nf 1 2 3\n");
  ASSERT_EQ(late.parts.size(), 1u);
  EXPECT_EQ(late.parts[0].name, "body");
  EXPECT_EQ(late.parts[0].vertices.count, 4);
  EXPECT_TRUE(late.notes.empty());
}

TEST(ObjReader, LinesAreSegmentsAmongTriangles) {
  const Character character = parse(square + "f 1 2 3\nl 1 2/1 -1\n" + "vt 0 0\n");
  ASSERT_EQ(character.skin.triangles.size(), 3u);
  EXPECT_FALSE(is_segment(character.skin.triangles[0]));
  EXPECT_EQ(character.skin.triangles[1], Vec3i(0, 1, 1));
  EXPECT_EQ(character.skin.triangles[2], Vec3i(1, 3, 3));
  EXPECT_EQ(character.parts[0].triangles.count, 3);
  EXPECT_THROW(parse(square + "l 1\n"), Error);
  EXPECT_THROW(parse(square + "l 1 9\n"), Error);
}

TEST(ObjReader, SaysWhatItLeavesOut) {
  const Character character =
      parse(square + "usemtl a\nf 1 2 3\nusemtl b\nf 1 3 4\nl 1 2\nl 2 3\np 1\ncurv2 1 2\n");
  EXPECT_TRUE(has_note(character, "1 point elements"));
  EXPECT_TRUE(has_note(character, "'curv2' on line 12"));
  EXPECT_TRUE(has_note(character, "several materials"));
  EXPECT_EQ(character.parts[0].material, "");
  // A material that no face uses does not count.
  EXPECT_EQ(parse(square + "usemtl a\nusemtl b\nf 1 3 4\nusemtl c\n").parts[0].material, "b");
}

TEST(ObjReader, RefusesWrongFilesByLine) {
  EXPECT_EQ(error_of(""), "test.obj: has no vertices (lines 'v x y z')");
  EXPECT_EQ(error_of(square), "test.obj: has no faces (lines 'f a b c')");
  EXPECT_EQ(error_of(square + "f 1 2 9\n"),
            "test.obj: line 5: expected a vertex number up to 4, found 9");
  EXPECT_EQ(error_of(square + "f 1 2 0\n"),
            "test.obj: line 5: expected a vertex number from 1 to 2147483647 or from -1 to -4, "
            "found 0");
  EXPECT_NE(error_of(square + "f 1 2 -5\n").find("found -5"), std::string::npos);
  EXPECT_NE(error_of(square + "f 1 2 99999999999999999999\n").find("line 5"), std::string::npos);
  EXPECT_NE(error_of(square + "f 1/2 2/2 3/2\n").find("texture coordinate number up to 0"),
            std::string::npos);
  EXPECT_NE(error_of(square + "f 1 2\n").find("at least 3 corners"), std::string::npos);
  EXPECT_NE(error_of(square + "f 1/a 2 3\n").find("found 'a'"), std::string::npos);
  EXPECT_NE(error_of(square + "f 1//a 2 3\n").find("a normal number"), std::string::npos);
  EXPECT_NE(error_of("v 0 0\n").find("3, 4, 6 or 7 numbers"), std::string::npos);
  EXPECT_NE(error_of("v 0 0 0 0 0\n").find("found 5"), std::string::npos);
  EXPECT_NE(error_of("v 0 0 0 0 0 0 0 0\n").find("at most 7"), std::string::npos);
  for (const char* bad : {"nan", "inf", "-inf", "1e999", "1e39", "--1", "+-1", "0x10", "1,5"})
    EXPECT_NE(error_of(fmt::format("v 0 {} 0\n", bad)).find("line 1: expected a number"),
              std::string::npos)
        << bad;
  EXPECT_EQ(parse("v 1e-999 0.5 1.5E+0\n" + square + "f 1 2 3").skin.positions[0],
            Vec3f(0, 0.5f, 1.5f));
}

TEST(ObjReader, LongLinesAndNamesStayHarmless) {
  std::string text = square + "f";
  for (int i = 0; i < 200'000; ++i) text += " 1 2 3";
  const Character character = parse(text);
  EXPECT_EQ(character.skin.triangles.size(), 600'000u - 2);
  const std::string error = error_of("v 0 0 " + std::string(1 << 20, '\x01'));
  EXPECT_LT(error.size(), 200u);
  const Character named = parse("o " + std::string(1000, '\xE4') + "\n" + square + "f 1 2 3\n");
  EXPECT_EQ(named.parts[0].name, std::string(255, '?'));
  EXPECT_EQ(parse("o \xC3\xA4\xFFx\n" + square + "f 1 2 3\n").parts[0].name, "\xC3\xA4?x");
}

TEST(ObjReader, ReadsRealMeshes) {
  SUPPLE_NEEDS_ASSETS();
  struct Expected {
    const char* file;
    size_t vertices, triangles;
    bool closed;
  };
  for (const Expected& e :
       {Expected{"armadillo.obj", 14587, 29170, true}, Expected{"bunny.obj", 3301, 6598, true},
        Expected{"fish.obj", 10786, 21568, true}, Expected{"spot.obj", 2930, 5856, true},
        Expected{"makehuman/base.obj", 19158, 36972, false}}) {
    const Character character = read_obj(*assets() / "mesh" / e.file);
    EXPECT_EQ(character.skin.positions.size(), e.vertices) << e.file;
    EXPECT_EQ(character.skin.triangles.size(), e.triangles) << e.file;
    EXPECT_EQ(character.parts.size(), 1u) << e.file;
    const Topology topology = analyse_topology(e.vertices, character.skin.triangles);
    EXPECT_EQ(topology.closed(), e.closed) << e.file;
  }
  EXPECT_TRUE(has_note(read_obj(*assets() / "mesh/spot.obj"), "texture coordinates"));
}

TEST(ObjReader, ErrorsNameTheFile) {
  test::TemporaryFolder folder;
  EXPECT_THROW(read_obj(folder / "absent.obj"), Error);
  EXPECT_THROW(read_obj(folder.path()), Error);
}

TEST(ObjReader, RefusesDamage) {
  const std::string text = "# cube\no a\nusemtl m\n" + square + "v 0 0 1 1 0 0 1\nvt 0 1\nvt -1\n" +
                           "vn 0 0 1\nf 1/1/1 2/1/1 3/2/1 4/1/1\no b\n" + square +
                           "f -1 -2 -3 \\\n -4\nl 1 2\ns off\ng x y\n";
  const auto read = [](const Bytes& bytes) { parse_obj(bytes, "damaged.obj"); };
  const ByteView view = as_bytes(text);
  test::expect_damage_is_refused(Bytes(view.begin(), view.end()), read, 1000, 2000);
  if (assets())
    test::expect_damage_is_refused(read_file(*assets() / "mesh/bunny.obj"), read, 30, 60);
}

}  // namespace
}  // namespace supple
