// OBJ sequences, read back line by line.
#include <sstream>

#include "export_test_support.h"
#include "supple/io/obj_sequence_writer.h"

namespace supple::test {
namespace {

struct ObjFile {
  std::vector<Vec3f> positions;
  std::vector<Vec2f> texture;
  std::vector<Vec3i> triangles;         // from 0
  std::vector<std::string> groups;      // name, and "name|material" once a material is set
  std::vector<size_t> group_triangles;  // triangles per group
  int objects = 0;
};

ObjFile read_obj(const std::filesystem::path& path) {
  ObjFile obj;
  std::istringstream lines{std::string(as_text(read_file(path)))};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, a, b, c, rest;
    words >> key >> a >> b >> c;
    const auto number = [](const std::string& text) { return std::strtof(text.c_str(), nullptr); };
    const auto corner = [&](const std::string& text) {
      const size_t slash = text.find('/');
      const int v = std::stoi(text);
      const int vt = slash == std::string::npos ? v : std::stoi(text.substr(slash + 1));
      EXPECT_EQ(vt, v);
      EXPECT_EQ(slash == std::string::npos, obj.texture.empty());
      return v - 1;
    };
    EXPECT_FALSE(words >> rest) << line;
    if (key == "v") {
      obj.positions.emplace_back(number(a), number(b), number(c));
    } else if (key == "vt") {
      obj.texture.emplace_back(number(a), number(b));
    } else if (key == "f") {
      obj.triangles.emplace_back(corner(a), corner(b), corner(c));
      obj.group_triangles.at(obj.groups.size() - 1)++;
    } else if (key == "g") {
      obj.groups.push_back(a);
      obj.group_triangles.push_back(0);
    } else if (key == "usemtl") {
      obj.groups.back() += "|" + a;
    } else if (key == "o") {
      ++obj.objects;
    } else {
      EXPECT_EQ(line, "s 1");
    }
  }
  return obj;
}

void expect_frame(const ObjFile& obj, const AnimatedSkin& skin, int index, UpAxis up) {
  const SkinFrame frame = skin.frame(index);
  ASSERT_EQ(obj.positions.size(), frame.positions.size());
  for (size_t v = 0; v < obj.positions.size(); ++v)
    EXPECT_EQ(obj.positions[v], up == UpAxis::z ? z_up(frame.positions[v]) : frame.positions[v]);
  EXPECT_EQ(obj.triangles, skin.triangles);
  EXPECT_EQ(obj.objects, 1);
}

TEST(ObjSequence, KeepsPositionsTrianglesAndParts) {
  for (const UpAxis up : {UpAxis::y, UpAxis::z}) {
    TemporaryFolder folder;
    const AnimatedSkin skin = moving_strips(1001, 3);
    write_obj_sequence(folder / "new/frames", skin, {up, {}});
    for (int f = 0; f < 3; ++f) {
      const ObjFile obj = read_obj(folder.path() / "new/frames" /
                                   ("Bär_7__big_." + std::to_string(1001 + f) + ".obj"));
      expect_frame(obj, skin, f, up);
      EXPECT_EQ(obj.groups, (std::vector<std::string>{"fur_&_<skin>|red_fur", "fur_&_<skin>_2"}));
      EXPECT_EQ(obj.group_triangles, (std::vector<size_t>{8, 8}));
      ASSERT_EQ(obj.texture.size(), skin.rest.size());
      for (size_t v = 0; v < skin.rest.size(); ++v) {
        EXPECT_EQ(obj.texture[v][0], skin.attributes[0].values[2 * v]);
        EXPECT_EQ(obj.texture[v][1], 1 - skin.attributes[0].values[2 * v + 1]);
      }
    }
    EXPECT_EQ(snapshot(folder / "new/frames").size(), 3u);
  }
}

TEST(ObjSequence, NumbersFilesByFrame) {
  TemporaryFolder folder;
  AnimatedSkin skin = moving_strips(-2, 4);
  skin.attributes.clear();
  write_obj_sequence(folder / "walk.obj", skin, {});
  const auto files = snapshot(folder.path());
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"walk.-0001.obj", "walk.-0002.obj", "walk.0000.obj",
                                             "walk.0001.obj"}));
  const char* ordered[] = {"walk.-0002.obj", "walk.-0001.obj", "walk.0000.obj", "walk.0001.obj"};
  for (int f = 0; f < 4; ++f) {
    const ObjFile obj = read_obj(folder / ordered[f]);
    expect_frame(obj, skin, f, UpAxis::y);
    EXPECT_TRUE(obj.texture.empty());
  }
  skin.first_frame = 12345;
  skin.frame_count = 1;
  write_obj_sequence(folder / "walk.obj", skin, {});
  EXPECT_EQ(snapshot(folder.path()).size(), 5u) << "other frames must stay";
  EXPECT_TRUE(std::filesystem::exists(folder / "walk.12345.obj"));
}

TEST(ObjSequence, PartsThatDoNotCoverTheTrianglesBecomeOne) {
  TemporaryFolder folder;
  AnimatedSkin skin = moving_strips(1, 1);
  skin.parts.pop_back();
  write_obj_sequence(folder / "a.obj", skin, {});
  const ObjFile obj = read_obj(folder / "a.0001.obj");
  expect_frame(obj, skin, 0, UpAxis::y);
  EXPECT_EQ(obj.group_triangles, (std::vector<size_t>{16}));
}

TEST(ObjSequence, FileNamesStayInsideTheFolder) {
  for (const char* name : {"../../escape", "..", "", "a/b\\c:d", ".hidden"}) {
    TemporaryFolder folder;
    AnimatedSkin skin = moving_strips(1, 1);
    skin.name = name;
    write_obj_sequence(folder / "out", skin, {});
    const auto files = snapshot(folder.path());
    ASSERT_EQ(files.size(), 2u) << name;
    const std::string file = files.rbegin()->first;
    EXPECT_EQ(file.rfind('/'), 3u) << file;
    EXPECT_NE(file[4], '.') << file;
  }
}

TEST(ObjSequence, FailuresLeaveNoTrace) {
  expect_failures_leave_no_trace(write_obj_sequence, "frames");
  expect_failures_leave_no_trace(write_obj_sequence, "a.obj");
}

TEST(ObjSequence, ReportsProgress) { expect_progress(write_obj_sequence, "frames"); }

}  // namespace
}  // namespace supple::test
