// Animation files written by hand, as other programs might write them, and damaged ones.
#include "animation_test_support.h"
#include "supple/io/mdd_writer.h"
#include "supple/io/obj_sequence_writer.h"
#include "supple/io/pc2_writer.h"
#include "supple/io/usda_writer.h"
#include "supple/io/vtu_writer.h"

namespace supple::test {
namespace {

namespace fs = std::filesystem;

// --- OBJ sequences -------------------------------------------------------------------------------

std::string obj_text(float height, int vertices = 3) {
  std::string text = "# by hand\n";
  for (int v = 0; v < vertices; ++v) text += fmt::format("v {} {} 0\n", v, height);
  return text + "f 1 2 3\n";
}

TEST(ObjSequenceReader, NamesOfAllKinds) {
  for (const char* pattern : {"walk.{:04}.obj", "walk_{}.obj", "walk{:03}.OBJ", "{:02}.obj"}) {
    MemoryFolder folder;
    write_plainly(folder / "notes.txt", "x");
    write_plainly(folder / "model.obj", obj_text(0, 5));
    for (int f = 8; f < 12; ++f)
      write_plainly(folder / fmt::format(fmt::runtime(pattern), f),
                    obj_text(static_cast<float>(f)));
    const AnimatedSkin skin = read_animation(folder.path());
    EXPECT_EQ(skin.first_frame, 8) << pattern;
    ASSERT_EQ(skin.frame_count, 4) << pattern;
    for (int f = 0; f < 4; ++f) EXPECT_EQ(skin.frame(f).positions[2][1], 8.0f + f);
  }
}

TEST(ObjSequenceReader, NegativeNumbers) {
  MemoryFolder folder;
  for (const char* name : {"a.-0001.obj", "a.-0002.obj", "a.0000.obj", "a.0001.obj"})
    write_plainly(folder / name, obj_text(1));
  const AnimatedSkin skin = read_animation(folder.path());
  EXPECT_EQ(skin.first_frame, -2);
  EXPECT_EQ(skin.frame_count, 4);
}

TEST(ObjSequenceReader, FoldersThatAreNoSequence) {
  MemoryFolder folder;
  expect_input_error([&] { read_animation(folder.path()); }, {"no numbered OBJ files"});
  write_plainly(folder / "a.0001.obj", obj_text(1));
  write_plainly(folder / "a.0002.obj", obj_text(1));
  write_plainly(folder / "a.0004.obj", obj_text(1));
  expect_input_error([&] { read_animation(folder.path()); },
                     {"frame 3", "missing", "a.0002.obj", "a.0004.obj"});
  write_plainly(folder / "a.3.obj", obj_text(1));
  EXPECT_EQ(read_animation(folder / "a.obj").frame_count, 4);
  write_plainly(folder / "a.0003.obj", obj_text(1));
  expect_input_error([&] { read_animation(folder.path()); }, {"frame 3", "twice"});
  fs::remove(folder / "a.3.obj");
  write_plainly(folder / "b.0001.obj", obj_text(2));
  expect_input_error([&] { read_animation(folder.path()); }, {"several", "'a'", "'b'", "a.obj"});
  EXPECT_EQ(read_animation(folder / "b.obj").frame_count, 1);
  EXPECT_EQ(read_animation(folder / "a.obj").frame_count, 4);
  write_plainly(folder / "a.0003.obj", obj_text(1, 4));
  const AnimatedSkin skin = read_animation(folder / "a.obj");
  EXPECT_NO_THROW(skin.frame(1));
  expect_input_error([&] { skin.frame(2); }, {"a.0003.obj", "has 4", "has 3"});
  write_plainly(folder / "a.0003.obj", "v 1 2 3\nv 1 2 x\n");
  expect_input_error([&] { skin.frame(2); }, {"a.0003.obj", "line 2", "'x'"});
  fs::remove(folder / "a.0004.obj");
  expect_input_error([&] { skin.frame(3); }, {"a.0004.obj", "cannot open"});
}

// --- PC2 and MDD ---------------------------------------------------------------------------------

Bytes pc2(int32_t version, int32_t points, float start, float sampling, int32_t samples,
          int floats) {
  Bytes bytes;
  append_text(bytes, std::string_view("POINTCACHE2\0", 12));
  append(bytes, version);
  append(bytes, points);
  append(bytes, start);
  append(bytes, sampling);
  append(bytes, samples);
  for (int i = 0; i < floats; ++i) append(bytes, static_cast<float>(i));
  return bytes;
}

TEST(Pc2Reader, HeadersByHand) {
  MemoryFolder folder;
  const fs::path path = folder / "a.pc2";
  write_plainly(path, pc2(1, 2, 10, 0.5f, 3, 18));
  AnimatedSkin skin = read_animation(path);
  EXPECT_EQ(skin.rate, 48);  // two samples per frame
  EXPECT_EQ(skin.first_frame, 20);
  EXPECT_EQ(skin.frame_count, 3);
  EXPECT_EQ(skin.frame(2).positions[1], Vec3f(15, 16, 17));
  write_plainly(path, pc2(1, 2, 10, 1, 3, 20));  // more than it needs
  EXPECT_EQ(read_animation(path).frame_count, 3);
  const auto refused = [&](const Bytes& bytes, const std::string& says) {
    write_plainly(path, bytes);
    expect_input_error([&] { read_animation(path); }, {path.string(), says});
  };
  refused({}, "not a PC2");
  refused(pc2(2, 2, 10, 1, 3, 18), "version");
  refused(pc2(1, 0, 10, 1, 3, 18), "points");
  refused(pc2(1, -2, 10, 1, 3, 18), "points");
  refused(pc2(1, 2, 10, 1, 0, 18), "samples");
  refused(pc2(1, 2, 10, 1, 3, 17), "cut off");
  refused(pc2(1, 0x7FFFFFFF, 10, 1, 0x7FFFFFFF, 18), "cut off");
  refused(pc2(1, 2, NAN, 1, 3, 18), "start");
  refused(pc2(1, 2, 1e20f, 1, 3, 18), "start");
  refused(pc2(1, 2, 1, 0, 3, 18), "sampling");
  refused(pc2(1, 2, 1, NAN, 3, 18), "sampling");
  Bytes bytes = pc2(1, 2, 10, 1, 3, 18);
  const float not_finite = INFINITY;
  std::memcpy(bytes.data() + 32 + 4 * 8, &not_finite, 4);
  write_plainly(path, bytes);
  skin = read_animation(path);
  EXPECT_NO_THROW(skin.frame(0));
  expect_input_error([&] { skin.frame(1); }, {path.string(), "frame 11", "vertex 0"});
}

Bytes mdd(int32_t frames, int32_t points, const std::vector<float>& times) {
  Bytes bytes;
  append_big_endian(bytes, frames);
  append_big_endian(bytes, points);
  for (const float t : times) append_big_endian(bytes, t);
  for (int i = 0; i < 3 * frames * points && i < 1000; ++i)
    append_big_endian(bytes, static_cast<float>(i));
  return bytes;
}

TEST(MddReader, HeadersByHand) {
  MemoryFolder folder;
  const fs::path path = folder / "a.mdd";
  const auto read = [&](const Bytes& bytes) {
    write_plainly(path, bytes);
    return read_animation(path);
  };
  EXPECT_EQ(read(mdd(3, 2, {0, 0.04f, 0.08f})).rate, 25);
  EXPECT_EQ(read(mdd(3, 2, {0, 0.04f, 0.08f})).frame(2).positions[1], Vec3f(15, 16, 17));
  EXPECT_EQ(read(mdd(3, 2, {2, 3, 4})).rate, 1);
  EXPECT_EQ(read(mdd(3, 2, {2, 3, 4})).first_frame, 2);
  // Uneven times: the first two say the rate.
  EXPECT_NEAR(read(mdd(3, 2, {0, 0.1f, 0.5f})).rate, 10, 1e-5);
  const auto refused = [&](const Bytes& bytes, const std::string& says) {
    expect_input_error([&] { read(bytes); }, {path.string(), says});
  };
  refused({}, "cut off");
  refused(mdd(0, 2, {}), "frames");
  refused(mdd(-1, 2, {}), "frames");
  refused(mdd(2, 0, {0, 1}), "points");
  refused(mdd(0x7FFFFFFF, 0x7FFFFFFF, {0, 1}), "cut off");
  refused(mdd(2, 2, {0, 0}), "does not come after");
  refused(mdd(2, 2, {1, 0}), "does not come after");
  refused(mdd(2, 2, {0, NAN}), "time of frame 1");
  refused(mdd(2, 2, {0, 1e-30f}), "frames per second");
  Bytes bytes = mdd(2, 2, {0, 1});
  bytes.pop_back();
  refused(bytes, "cut off");
}

// --- USD -----------------------------------------------------------------------------------------

AnimatedSkin read_usda_text(const std::string& text) {
  MemoryFolder folder;
  write_plainly(folder / "a.usda", text);
  return read_animation(folder / "a.usda");
}

// Odd order, blanks, comments and strings; centimetres, Z up, two meshes, quads, samples backwards.
const char* const odd_layer = R"(#usda 1.0
(
    """A layer { with [ brackets ( in
    its comment"""
    upAxis='Z' # Blender's
    customLayerData = { string a = "}" ; dictionary b = { int[] c = [1, 2] } }
    timeCodesPerSecond = 48
    framesPerSecond    = 24
    metersPerUnit = 0.01
)
class "Prototype" { def Mesh "Hidden" { point3f[] points = [(0, 0, 0)] } }
over "Nothing" { }
def Scope "World" (prepend apiSchemas = ["A", "B"]
   doc = "}" )
{
    rel proxy = </World/Other[0]>
    asset file = @folder/(odd name.png@
    variantSet "look" = { "a" { def Mesh "Variant" { point3f[] points = [(9, 9, 9)] } } }
    def Mesh "Sheet"
    { point3f[] points.timeSamples={
        14 : [(4,0,0),(5,0,0),(5,1,0),(4,1,0),(6,2,100)],
        10:[ (0,0,0), (1,0,0), (1,1,0), (0,1,0), (2,2,100,), ], # the first
        12: [
          (2, 0, 0), (3, 0, 0), (3, 1, 0), (2, 1, 0), (4, 2, 1e2)
        ] }
      int[] faceVertexIndices = [ 0,1,2,3 , 2,1,4 ]
      int[] faceVertexCounts = [4,3,]
      uniform token[] xformOpOrder = []
      texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 0.25), (0, 0)] ( interpolation = "vertex" )
    }
    def Xform "Group" { def "untyped" { custom int a
       float b = 3
       def Mesh "Still" {
         uniform token orientation = "leftHanded"
         int[] faceVertexCounts = [3]
         int[] faceVertexIndices = [0, 1, 2]
         point3f[] points = [(100, 0, 0), (0, 100, 0), (0, 0, 100)]
         normal3f[] normals.timeSamples = { 10: [(0, 0, 1)], 11: None }
       } } }
}
)";

TEST(UsdaReader, LayersByHand) {
  std::string text = odd_layer;
  // A tuple must not end in a comma.
  EXPECT_THROW(read_usda_text(text), Error);
  text.replace(text.find(",),"), 3, "),");
  const AnimatedSkin skin = read_usda_text(text);
  EXPECT_EQ(skin.name, "World");
  EXPECT_EQ(skin.rate, 24);
  EXPECT_EQ(skin.first_frame, 5);
  ASSERT_EQ(skin.frame_count, 3);
  ASSERT_EQ(skin.rest.size(), 8u);
  EXPECT_EQ(skin.triangles, (std::vector<Vec3i>{{0, 1, 2}, {0, 2, 3}, {2, 1, 4}, {5, 7, 6}}));
  ASSERT_EQ(skin.parts.size(), 2u);
  EXPECT_EQ(skin.parts[1].name, "Still");
  EXPECT_EQ(skin.parts[1].vertices.first, 5);
  EXPECT_EQ(skin.parts[1].triangles.first, 3);
  EXPECT_TRUE(skin.attributes.empty());  // only one mesh has texture coordinates
  for (int f = 0; f < 3; ++f) {
    const std::vector<Vec3f> p = skin.frame(f).positions;
    const float x = 0.02f * static_cast<float>(f);
    // The file's (x, y, z) is our (x, z, -y).
    EXPECT_LT((p[2] - Vec3f(x + 0.01f, 0, -0.01f)).norm(), 1e-6f);
    EXPECT_LT((p[4] - Vec3f(x + 0.02f, 1, -0.02f)).norm(), 1e-6f);
    EXPECT_LT((p[6] - Vec3f(0, 0, -1)).norm(), 1e-6f);
    EXPECT_LT((p[7] - Vec3f(0, 1, 0)).norm(), 1e-6f);
  }
}

TEST(UsdaReader, DefaultPointsAreTheRestShape) {
  const AnimatedSkin skin = read_usda_text(
      "#usda 1.0\n(metersPerUnit = 1)\ndef Mesh \"m\" {\n point3f[] points = [(1,2,3)]\n"
      " point3f[] points.timeSamples = {0: [(4,5,6)], 1: [(7,8,9)]}\n}");
  EXPECT_EQ(skin.rest[0], Vec3f(1, 2, 3));
  EXPECT_EQ(skin.frame(1).positions[0], Vec3f(7, 8, 9));
  EXPECT_TRUE(skin.triangles.empty());
}

TEST(UsdaReader, ManyWindows) {
  // Longer than what is held in memory at once, with a value across every border.
  std::string text = "#usda 1.0\n(metersPerUnit = 1)\ndef Mesh \"m\" {\n";
  text += "point3f[] points.timeSamples = {\n";
  for (int f = 0; f < 40; ++f) {
    text += fmt::format(" {}: [", f);
    for (int v = 0; v < 3000; ++v) text += fmt::format("{}({}, {}, {})", v ? ", " : "", f, v, -v);
    text += "],\n";
  }
  const AnimatedSkin skin = read_usda_text(text + "}\n}\n");
  ASSERT_EQ(skin.frame_count, 40);
  for (int f = 0; f < 40; ++f) {
    const std::vector<Vec3f> p = skin.frame(f).positions;
    ASSERT_EQ(p.size(), 3000u);
    for (int v = 0; v < 3000; ++v)
      ASSERT_EQ(p[static_cast<size_t>(v)],
                Vec3f(static_cast<float>(f), static_cast<float>(v), static_cast<float>(-v)));
  }
}

TEST(UsdaReader, SaysWhatIsWrong) {
  const auto refused = [](const std::string& body, const std::vector<std::string>& says) {
    SCOPED_TRACE(body);
    expect_input_error([&] { read_usda_text("#usda 1.0\n" + body); }, says);
  };
  const auto mesh = [](const std::string& properties) {
    return "def Mesh \"m\" {\n" + properties + "\n}\n";
  };
  const std::string points = "point3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\n";
  refused("", {"no mesh"});
  refused("def Xform \"a\" {}", {"no mesh"});
  refused("(upAxis = \"X\")", {"line 2", "upAxis", "X"});
  refused("(metersPerUnit = 0)", {"line 2", "metersPerUnit"});
  refused("(timeCodesPerSecond = nan)", {"line 2", "timeCodesPerSecond"});
  refused(mesh("point3f[] points = []"), {"no points"});
  refused(mesh("point3f[] points = [(0,0)]"), {"line 3", "','"});
  refused(mesh("point3f[] points = [(0,0,x)]"), {"line 3", "a number", "'x'"});
  refused(mesh("point3f[] points = [(0,0,nan)]"), {"not finite"});
  refused(mesh("point3f[] points = [(0,0,1e99)]"), {"line 3", "a number"});
  refused(mesh("point3f[] points = [\n(0,0,0)\n(0,0,0)]"), {"line 5", "','"});
  refused(mesh("point3f[] points.timeSamples = {0: [(0,0,0)], 0: [(0,0,0)]}"), {"twice"});
  refused(mesh("point3f[] points.timeSamples = {0: None}"), {"'['", "'N'"});
  refused(mesh("point3f[] points.timeSamples = {a: [(0,0,0)]}"), {"line 3", "'a'", "time code"});
  refused(mesh("point3f[] points.timeSamples = {0: [(0,0,0)], 1: [(0,0,0)], 5: [(0,0,0)]}"),
          {"time 5", "distance"});
  refused(mesh(points + "int[] faceVertexCounts = [3] int[] faceVertexIndices = [0, 1, 3]"),
          {"faceVertexIndices", "point 3"});
  refused(mesh(points + "int[] faceVertexCounts = [3] int[] faceVertexIndices = [0, 1, -1]"),
          {"faceVertexIndices", "point -1"});
  refused(mesh(points + "int[] faceVertexCounts = [4] int[] faceVertexIndices = [0, 1, 2]"),
          {"faceVertexCounts", "4 corners"});
  refused(mesh(points + "int[] faceVertexCounts = [-1] int[] faceVertexIndices = [0, 1, 2]"),
          {"faceVertexCounts", "-1"});
  refused(mesh(points + "int[] faceVertexCounts = [] int[] faceVertexIndices = [0, 1, 2]"),
          {"add up to 0"});
  refused("def Xform \"a\" {\nuniform token[] xformOpOrder = [\"xformOp:translate\"]\n" +
              mesh(points) + "}",
          {"line 3", "'a'", "transform"});
  refused("def Mesh \"m\" {\n" + points, {"end of the file"});
  refused("def Mesh \"m\" {\npoint3f[] points = [(0,0,0)", {"line 3", "cut off"});
  refused("def Mesh \"m", {"cut off"});
  refused("def Mesh \"m\n\" {}", {"string"});
  refused("(a = \"\"\"x\"\")", {"cut off"});
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "def \"a\" {";
  refused(deep, {"nest"});
}

TEST(UsdaReader, LaterFramesAreChecked) {
  MemoryFolder folder;
  const fs::path path = folder / "a.usda";
  write_plainly(path,
                "#usda 1.0\ndef Mesh \"m\" { point3f[] points.timeSamples = {\n0: [(0,0,0)],\n"
                "1: [(0,0,0), (1,1,1)],\n2: [(0,0,a)],\n3: [(inf,0,0)]}}");
  const AnimatedSkin skin = read_animation(path);
  EXPECT_NO_THROW(skin.frame(0));
  expect_input_error([&] { skin.frame(1); }, {path.string(), "line 4", "'m' has 2 points"});
  expect_input_error([&] { skin.frame(2); }, {path.string(), "line 5", "'a'"});
  expect_input_error([&] { skin.frame(3); }, {path.string(), "frame 3", "not finite"});
}

// --- VTK -----------------------------------------------------------------------------------------

// A grid with other types than ours: doubles, 64-bit connectivity, 32-bit lengths, a quad, a
// triangle and a line.
Bytes foreign_grid(double height) {
  Bytes data;
  std::vector<size_t> offsets;
  const auto add = [&](const auto& values) {
    offsets.push_back(data.size());
    append(data, static_cast<uint32_t>(values.size() * sizeof(values[0])));
    for (const auto& value : values) append(data, value);
  };
  add(std::vector<double>{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, height, 0.5});
  add(std::vector<int64_t>{0, 1, 2, 3, 1, 2, 4, 0, 4});
  add(std::vector<int64_t>{4, 7, 9});
  add(std::vector<uint8_t>{9, 5, 3});
  add(std::vector<int16_t>{1, 2, 3, 4, 5});
  std::string xml =
      "<?xml version='1.0'?>\n<!-- <Piece> -->\n"
      "<VTKFile type='UnstructuredGrid' byte_order='LittleEndian'>\n<UnstructuredGrid>\n"
      "<FieldData><DataArray type='String' Name='x' format='ascii'/></FieldData>\n"
      "<Piece NumberOfPoints='5' NumberOfCells='3'>\n<Points>";
  const auto array = [&](const char* type, const char* name, int components, size_t index) {
    return fmt::format(
        "<DataArray type='{}' Name='{}' NumberOfComponents='{}' format='appended' offset='{}'>"
        "<InformationKey name='a' location='b'/></DataArray>\n",
        type, name, components, offsets[index]);
  };
  xml += array("Float64", "coordinates", 3, 0) + "</Points>\n<Cells>\n";
  xml += array("Int64", "connectivity", 1, 1) + array("Int64", "offsets", 1, 2);
  xml += array("UInt8", "types", 1, 3) + "</Cells>\n<PointData>\n";
  xml += array("Int16", "a &amp; b", 1, 4) + "</PointData>\n</Piece></UnstructuredGrid>\n";
  Bytes bytes;
  append_text(bytes, xml + "<AppendedData encoding='raw'>\n  _");
  bytes.insert(bytes.end(), data.begin(), data.end());
  append_text(bytes, "</AppendedData></VTKFile>\n");
  return bytes;
}

TEST(VtuReader, GridsByHand) {
  MemoryFolder folder;
  fs::create_directory(folder / "frames");
  for (int f = 0; f < 3; ++f)
    write_plainly(folder / fmt::format("frames/f{}.vtu", f), foreign_grid(f));
  const std::string head = "<VTKFile type=\"Collection\"><Collection>";
  const auto entry = [](double t, const std::string& file) {
    return fmt::format("<DataSet timestep='{}' file='{}' part='0'/>", t, file);
  };
  const std::string tail = "</Collection></VTKFile>";
  const fs::path path = folder / "a.pvd";
  write_plainly(path, head + entry(0.5, "frames/f0.vtu") + entry(1, "./frames/f1.vtu") +
                          entry(1.5, "frames/../frames/f2.vtu") + tail);
  const AnimatedSkin skin = read_animation(path);
  EXPECT_EQ(skin.rate, 2);
  EXPECT_EQ(skin.first_frame, 1);
  ASSERT_EQ(skin.frame_count, 3);
  EXPECT_EQ(skin.triangles, (std::vector<Vec3i>{{0, 1, 2}, {0, 2, 3}, {1, 2, 4}}));
  EXPECT_EQ(skin.map_names, std::vector<std::string>{"a & b"});
  for (int f = 0; f < 3; ++f) {
    EXPECT_EQ(skin.frame(f).positions[4], Vec3f(2, static_cast<float>(f), 0.5f));
    EXPECT_EQ(skin.frame(f).maps[0], (std::vector<float>{1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(read_animation(folder / "frames/f2.vtu").first_frame, 2);
  EXPECT_EQ(read_animation(folder / "frames/f2.vtu").frame_count, 1);

  const auto refused = [&](const std::string& text, const std::vector<std::string>& says) {
    write_plainly(path, text);
    expect_input_error([&] { read_animation(path); }, says);
  };
  refused("", {"not a VTK collection"});
  refused(head + tail, {"no frames"});
  refused(head + entry(0, "frames/f0.vtu"), {"cut off"});
  refused(head + entry(0, "../a.vtu") + tail, {"leads out"});
  refused(head + entry(0, "/etc/passwd") + tail, {"leads out"});
  refused(head + entry(0, "frames/../../x.vtu") + tail, {"leads out"});
  refused(head + entry(0, "none.vtu") + tail, {"none.vtu", "cannot open"});
  refused(head + entry(0, "frames") + tail, {"frames", "folder"});
  refused(head + entry(0, "frames/f0.vtu") + entry(0, "frames/f1.vtu") + tail, {"come after"});
  refused(head + "<DataSet timestep='x' file='a'/>" + tail, {"line 1", "timestep"});
  refused(head + "<DataSet timestep='1'/>" + tail, {"line 1", "'file'"});
}

TEST(VtuReader, SaysWhatIsWrong) {
  MemoryFolder folder;
  const Bytes good = foreign_grid(1);
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::vector<std::string>& says) {
    std::string text(as_text(good));
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    write_plainly(folder / "a.vtu", text);
    expect_input_error([&] { read_animation(folder / "a.vtu"); }, says);
  };
  refused("LittleEndian", "BigEndian", {"line 3", "byte_order"});
  refused("UnstructuredGrid", "PolyData", {"line 3", "PolyData"});
  refused("byte_order", "compressor='z' byte_order", {"compressed"});
  refused("'raw'", "'base64'", {"raw"});
  refused("NumberOfPoints='5'", "NumberOfPoints='6'", {"line 7", "coordinates", "120", "144"});
  refused("NumberOfPoints='5'", "NumberOfPoints='-6'", {"line 6", "NumberOfPoints"});
  refused("NumberOfCells='3'", "NumberOfCells='999999999999'", {"line 6", "NumberOfCells"});
  refused("NumberOfPoints='5'", "NumberOfPoints='0'", {"Points"});
  refused("offset='0'", "offset='99999'", {"offset"});
  refused("format='appended'", "format='binary'", {"appended"});
  refused("Float64", "Float16", {"Float16"});
  refused("'connectivity'", "'corners'", {"corners"});
  refused(std::string("\x09\x05\x03", 3), std::string("\x0a\x05\x03", 3), {"cell 0", "type 10"});
  refused(std::string("\x04\0\0\0\0\0\0\0\x07", 9), std::string("\x05\0\0\0\0\0\0\0\x07", 9),
          {"cell 0", "5 corners"});
  refused("<Points>", "<Points", {"line 7"});
}

// --- damage --------------------------------------------------------------------------------------

// Reads every frame of an animation; errors must name a file of the folder.
void read_all(const fs::path& path, const fs::path& folder) {
  try {
    const AnimatedSkin skin = read_animation(path);
    for (int f = 0; f < std::min(skin.frame_count, 10); ++f) skin.frame(f);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(folder.string()), std::string::npos) << error.what();
    throw;
  }
}

void expect_damage_refused(const Writer& write, const std::string& name, const std::string& damaged,
                           int cuts, int flips) {
  for (const bool with_cache : {false, true}) {
    MemoryFolder folder;
    const AnimatedSkin skin = moving_strips(1, 2);
    write(folder / name, skin, {});
    if (with_cache) write_cache(folder / "walk.supple", skin);
    const fs::path file = folder / damaged;
    expect_damage_is_refused(
        read_file(file),
        [&](const Bytes& bytes) {
          write_plainly(file, bytes);
          read_all(folder / name, folder.path());
        },
        cuts, flips);
  }
}

TEST(AnimationDamage, Pc2) { expect_damage_refused(write_pc2, "walk.pc2", "walk.pc2", 600, 400); }
TEST(AnimationDamage, Mdd) { expect_damage_refused(write_mdd, "walk.mdd", "walk.mdd", 600, 400); }
TEST(AnimationDamage, Usda) {
  expect_damage_refused(write_usda, "walk.usda", "walk.usda", 1000, 1500);
}
TEST(AnimationDamage, Obj) {
  expect_damage_refused(write_obj_sequence, "walk.obj", "walk.0001.obj", 300, 300);
  expect_damage_refused(write_obj_sequence, "walk.obj", "walk.0002.obj", 300, 300);
}
TEST(AnimationDamage, Pvd) { expect_damage_refused(write_vtu, "walk.pvd", "walk.pvd", 500, 500); }
TEST(AnimationDamage, Vtu) {
  expect_damage_refused(write_vtu, "walk.pvd", "walk_vtu/walk_0001.vtu", 500, 800);
  expect_damage_refused(write_vtu, "walk.pvd", "walk_vtu/walk_0002.vtu", 500, 800);
}

// A file that shrinks or vanishes while it is being played.
TEST(AnimationDamage, FilesCutOffLater) {
  const struct {
    const char *name, *cut;
    double kept;
    Writer write;
  } cases[] = {{"walk.pc2", "walk.pc2", 0.9, write_pc2},
               {"walk.mdd", "walk.mdd", 0.9, write_mdd},
               {"walk.usda", "walk.usda", 0.99, write_usda},
               {"walk.obj", "walk.0003.obj", 0.1, write_obj_sequence},
               {"walk.pvd", "walk_vtu/walk_0003.vtu", 0.5, write_vtu}};
  for (const auto& [name, cut, kept, write] : cases) {
    SCOPED_TRACE(name);
    MemoryFolder folder;
    write(folder / name, moving_strips(1, 3), {});
    const AnimatedSkin skin = read_animation(folder / name);
    EXPECT_NO_THROW(skin.frame(2));
    const auto size = static_cast<double>(fs::file_size(folder / cut));
    fs::resize_file(folder / cut, static_cast<uintmax_t>(kept * size));
    expect_input_error([&] { skin.frame(2); }, {(folder / cut).string()});
    EXPECT_NO_THROW(skin.frame(0));
  }
}

TEST(AnimationDamage, OnlyRegularFilesAreOpened) {
  expect_input_error([] { read_animation("/dev/null/a.pc2"); }, {"/dev/null/a.pc2"});
  MemoryFolder folder;
  fs::create_directory(folder / "a.pc2");
  expect_input_error([&] { read_animation(folder / "a.pc2"); }, {"a.pc2"});
  for (const char* name : {"b.pc2", "b.mdd", "b.usda", "b.pvd", "b.vtu"}) {
    fs::create_symlink("/dev/zero", folder / name);
    expect_input_error([&] { read_animation(folder / name); }, {name, "regular"});
  }
}

}  // namespace
}  // namespace supple::test
