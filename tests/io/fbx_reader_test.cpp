// FBX files that Blender itself wrote, compared with Blender's own evaluation of them.
#include "supple/io/fbx_reader.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "io/damaged_fbx.h"
#include "io/pose_reference.h"
#include "supple/core/error.h"
#include "supple/core/file.h"
#include "support/test_support.h"

namespace supple {
namespace {

using nlohmann::json;
using test::reference_skin;
using test::TemporaryFolder;

// Blender's files, or nothing where there is no Blender.
class FbxFromBlender : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v blender > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "blender is not installed";
    const std::string command = "blender -b --factory-startup --python-exit-code 3 --python '" +
                                (test::source_folder() / "tests/blender/make_fbx.py").string() +
                                "' -- '" + m_folder.path().string() + "' > '" +
                                (m_folder / "log").string() + "' 2>&1";
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(m_folder / "log");
      FAIL() << std::string(std::istreambuf_iterator<char>(log), {});
    }
    std::ifstream(m_folder / "truth.json") >> m_truth;
  }

  TemporaryFolder m_folder;
  json m_truth;
};

std::vector<Vec3d> points(const json& list) {
  std::vector<Vec3d> result;
  for (const json& p : list) result.emplace_back(p[0], p[1], p[2]);
  return result;
}

double size_of(const std::vector<Vec3d>& cloud) {
  Box3d box;
  for (const Vec3d& p : cloud) box.extend(p);
  return box.diagonal().norm();
}

size_t nearest(const std::vector<Vec3d>& cloud, const Vec3d& p) {
  size_t best = 0;
  for (size_t i = 0; i < cloud.size(); ++i)
    if ((cloud[i] - p).squaredNorm() < (cloud[best] - p).squaredNorm()) best = i;
  return best;
}

// For every vertex of the object's parts, the Blender vertex it is; -1 elsewhere.
std::vector<int> match(const Character& character, const std::string& object,
                       const std::vector<Vec3d>& rest) {
  std::vector<int> matched(character.skin.positions.size(), -1);
  std::set<size_t> seen;
  for (const Part& part : character.parts) {
    if (part.name != object) continue;
    for (int v = part.vertices.first; v < part.vertices.end(); ++v) {
      const Vec3d p = character.skin.positions[v].cast<double>();
      const size_t found = nearest(rest, p);
      EXPECT_LT((rest[found] - p).norm(), 1e-5 * size_of(rest)) << object << " vertex " << v;
      matched[v] = static_cast<int>(found);
      seen.insert(found);
    }
  }
  EXPECT_EQ(seen.size(), rest.size()) << object << ": vertices are missing";
  return matched;
}

void expect_frames(const Character& character, const json& truth) {
  ASSERT_EQ(character.clips.size(), 1u);
  const Clip& clip = character.clips[0];
  EXPECT_EQ(clip.rate, truth["fps"].get<double>());
  double worst = 0;
  for (const auto& [name, object] : truth["objects"].items()) {
    const std::vector<int> matched = match(character, name, points(object["rest"]));
    const double size = size_of(points(object["rest"]));
    for (const auto& [frame, list] : object["frames"].items()) {
      const std::vector<Vec3d> expected = points(list);
      const double time =
          (std::stoi(frame) - truth["first_frame"].get<int>()) / truth["fps"].get<double>();
      const std::vector<Vec3d> posed = reference_skin(character, &clip, time);
      for (size_t v = 0; v < posed.size(); ++v)
        if (matched[v] >= 0)
          worst = std::max(worst, (posed[v] - expected[matched[v]]).norm() / size);
    }
  }
  EXPECT_LT(worst, 1e-4);
  ::testing::Test::RecordProperty("worst", std::to_string(worst));
}

// The tube's corners become one vertex per Blender vertex, texture coordinate and material.
void expect_attributes(const Character& character, const json& tube) {
  const std::vector<int> matched = match(character, "tube", points(tube["rest"]));
  std::set<std::tuple<int, double, double, int>> expected, found;
  const auto rounded = [](double x) { return std::round(x * 1e5); };
  for (const json& corner : tube["corners"])
    expected.insert({corner[0], rounded(corner[1]), rounded(corner[2]), corner[3]});
  const VertexAttribute* uv = character.attribute("TEXCOORD_0");
  const VertexAttribute* colour = character.attribute("COLOR_0");
  ASSERT_TRUE(uv && colour);
  size_t vertices = 0;
  int triangles = 0;
  for (const Part& part : character.parts) {
    if (part.name != "tube") continue;
    EXPECT_FALSE(part.rigid);
    triangles += part.triangles.count;
    for (int v = part.vertices.first; v < part.vertices.end(); ++v, ++vertices) {
      found.insert({matched[v], rounded(uv->values[2 * v]), rounded(1 - uv->values[2 * v + 1]),
                    part.material == "upper"});
      EXPECT_EQ(colour->values[4 * v], matched[v] < tube["half"].get<int>() ? 0 : 1);
      EXPECT_EQ(colour->values[4 * v + 2], 1);
    }
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(vertices, expected.size()) << "the same vertex came twice";
  EXPECT_EQ(triangles, tube["triangles"].get<int>());
}

void expect_rig(const Character& character) {
  const Skeleton& skeleton = character.skeleton;
  const int bone = skeleton.find("bone_2");
  ASSERT_GE(bone, 0);
  EXPECT_EQ(skeleton.joints[bone].parent, skeleton.find("bone_1"));
  EXPECT_TRUE(skeleton.joints[bone].is_bone);
  EXPECT_FALSE(skeleton.joints[skeleton.find("rig")].is_bone);
  ASSERT_EQ(character.parts.size(), 3u);
  ASSERT_EQ(character.shapes.size(), 1u);
  EXPECT_EQ(character.shapes[0].name, "bulge");
  size_t most = 0;
  for (size_t v = 0; v < character.weights.vertices(); ++v)
    most = std::max(most, character.weights.of(v).size());
  EXPECT_EQ(most, 3u);
  for (const Part& part : character.parts) {
    EXPECT_EQ(part.rigid, part.name == "prop");
    EXPECT_EQ(part.joint, skeleton.find(part.name));
  }
}

TEST_F(FbxFromBlender, MovesAsInBlender) {
  for (const char* name : {"default.fbx", "z_up.fbx"}) {
    SCOPED_TRACE(name);
    const Character character = read_fbx(m_folder / name);
    EXPECT_EQ(character.source, (m_folder / name).string());
    expect_rig(character);
    expect_attributes(character, m_truth["objects"]["tube"]);
    expect_frames(character, m_truth);
  }
}

TEST_F(FbxFromBlender, DamagedFilesAreRefused) {
  const Bytes good = read_file(m_folder / "default.fbx");
  const auto path = m_folder / "damaged.fbx";
  test::expect_damage_is_refused(
      good,
      [&](const Bytes& bytes) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        test::read_without_sanitizer_report(path, {3, uint64_t{1} << 30});
      },
      50, 100);
}

}  // namespace
}  // namespace supple
