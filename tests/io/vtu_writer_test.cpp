// VTK files: the XML is searched for its arrays, the binary block decoded by hand.
#include <cstring>

#include "export_test_support.h"
#include "supple/io/vtu_writer.h"

namespace supple::test {
namespace {

struct VtuFile {
  size_t points = 0;
  size_t cells = 0;
  std::map<std::string, std::string> arrays;   // "Type Name components" to bytes
  std::map<std::string, std::string> section;  // array to the element that holds it
};

// One XML tag: its name (with a slash where it closes) and its attributes.
struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

std::vector<Tag> read_tags(const std::string& xml) {
  std::vector<Tag> tags;
  for (size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at)) {
    const size_t end = xml.find('>', at);
    const std::string inside = xml.substr(at + 1, end - at - 1);
    Tag tag{inside.substr(0, inside.find(' ')), {}};
    for (size_t key = inside.find(' '); key != std::string::npos;) {
      const size_t open = inside.find("=\"", key);
      if (open == std::string::npos) break;
      const size_t close = inside.find('"', open + 2);
      tag.attributes[inside.substr(key + 1, open - key - 1)] =
          inside.substr(open + 2, close - open - 2);
      key = inside.find(' ', close);
    }
    tags.push_back(tag);
    at = end;
  }
  return tags;
}

VtuFile read_vtu(const std::filesystem::path& path) {
  const std::string text(as_text(read_file(path)));
  VtuFile vtu;
  const size_t data = text.find("<AppendedData encoding=\"raw\">");
  EXPECT_NE(data, std::string::npos);
  const size_t first = text.find('_', data) + 1;
  std::string section;
  size_t end = 0;
  for (const Tag& tag : read_tags(text.substr(0, data))) {
    const auto value = [&](const char* key) { return tag.attributes.at(key); };
    if (tag.name == "VTKFile") {
      EXPECT_EQ(value("type") + value("byte_order") + value("header_type"),
                "UnstructuredGridLittleEndianUInt64");
    } else if (tag.name == "Piece") {
      vtu.points = std::stoul(value("NumberOfPoints"));
      vtu.cells = std::stoul(value("NumberOfCells"));
    } else if (tag.name == "DataArray") {
      const size_t offset = std::stoul(value("offset"));
      EXPECT_EQ(offset, end) << "arrays follow each other";
      EXPECT_EQ(value("format"), "appended");
      uint64_t size = 0;
      std::memcpy(&size, text.data() + first + offset, 8);
      const std::string key =
          value("type") + " " + value("Name") + " " + value("NumberOfComponents");
      EXPECT_FALSE(vtu.arrays.count(key)) << key;
      vtu.arrays[key] = text.substr(first + offset + 8, size);
      vtu.section[key] = section;
      end = offset + 8 + size;
    } else {
      section = tag.name;
    }
  }
  EXPECT_EQ(text.substr(first + end), "\n</AppendedData>\n</VTKFile>\n");
  return vtu;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void expect_frame(const VtuFile& vtu, const AnimatedSkin& skin, int index, UpAxis up) {
  const SkinFrame frame = skin.frame(index);
  std::vector<Vec3f> points, displacement;
  for (size_t v = 0; v < skin.rest.size(); ++v) {
    const Vec3f x = frame.positions[v], X = skin.rest[v];
    points.push_back(up == UpAxis::z ? z_up(x) : x);
    displacement.push_back(up == UpAxis::z ? Vec3f(z_up(x) - z_up(X)) : Vec3f(x - X));
  }
  std::vector<int32_t> offsets, part;
  for (int32_t t = 0; t < 16; ++t) {
    offsets.push_back(3 * (t + 1));
    part.push_back(t < 8 ? 0 : 1);
  }
  const std::map<std::string, std::pair<std::string, std::string>> expected = {
      {"Float32 Points 3", {"Points", bytes_of(points)}},
      {"Float32 displacement 3", {"PointData", bytes_of(displacement)}},
      {"Float32 strain 1", {"PointData", bytes_of(frame.maps[0])}},
      {"Float32 a &lt; &quot;b&quot; 1", {"PointData", bytes_of(frame.maps[1])}},
      {"Int32 part 1", {"CellData", bytes_of(part)}},
      {"Int32 connectivity 1", {"Cells", bytes_of(skin.triangles)}},
      {"Int32 offsets 1", {"Cells", bytes_of(offsets)}},
      {"UInt8 types 1", {"Cells", std::string(16, '\x05')}}};
  EXPECT_EQ(vtu.points, 20u);
  EXPECT_EQ(vtu.cells, 16u);
  ASSERT_EQ(vtu.arrays.size(), expected.size());
  for (const auto& [key, value] : expected) {
    ASSERT_TRUE(vtu.arrays.count(key)) << key;
    EXPECT_EQ(vtu.section.at(key), value.first) << key;
    EXPECT_TRUE(vtu.arrays.at(key) == value.second) << key;
  }
}

// Times and files of a collection, in its order.
std::vector<std::pair<double, std::string>> read_pvd(const std::filesystem::path& path) {
  const std::string text(as_text(read_file(path)));
  EXPECT_NE(text.find("<VTKFile type=\"Collection\""), std::string::npos);
  std::vector<std::pair<double, std::string>> result;
  for (const Tag& tag : read_tags(text))
    if (tag.name == "DataSet")
      result.emplace_back(std::stod(tag.attributes.at("timestep")), tag.attributes.at("file"));
  return result;
}

TEST(VtuWriter, WritesArraysAndTimes) {
  for (const int first : {1001, -2})
    for (const UpAxis up : {UpAxis::y, UpAxis::z})
      for (const char* given : {"walk.pvd", "walk.vtu"}) {
        TemporaryFolder folder;
        const AnimatedSkin skin = moving_strips(first, 3, 25);
        write_vtu(folder / given, skin, {up, {}});
        const auto entries = read_pvd(folder / "walk.pvd");
        ASSERT_EQ(entries.size(), 3u);
        for (int f = 0; f < 3; ++f) {
          EXPECT_EQ(entries[static_cast<size_t>(f)].first, (first + f) / 25.0);
          expect_frame(read_vtu(folder / entries[static_cast<size_t>(f)].second), skin, f, up);
        }
        EXPECT_EQ(entries[0].second,
                  first < 0 ? "walk_vtu/walk_-0002.vtu" : "walk_vtu/walk_1001.vtu");
        EXPECT_EQ(snapshot(folder.path()).size(), 5u);
      }
}

TEST(VtuWriter, MapNamesStayUnique) {
  TemporaryFolder folder;
  AnimatedSkin skin = moving_strips(1, 1);
  skin.map_names = {"displacement", "displacement"};
  write_vtu(folder / "a.pvd", skin, {});
  const VtuFile vtu = read_vtu(folder / "a_vtu/a_0001.vtu");
  EXPECT_TRUE(vtu.arrays.count("Float32 displacement 3"));
  EXPECT_TRUE(vtu.arrays.count("Float32 displacement_2 1"));
  EXPECT_TRUE(vtu.arrays.count("Float32 displacement_3 1"));
}

TEST(VtuWriter, FailuresLeaveNoTrace) { expect_failures_leave_no_trace(write_vtu, "a.pvd"); }
TEST(VtuWriter, ReportsProgress) { expect_progress(write_vtu, "a.pvd"); }

}  // namespace
}  // namespace supple::test
