// FBX files written here as text, with the features Blender does not export: pivots, pre- and
// post-rotations, geometric offsets, odd units and axes, trees that are not in bind pose.
#include <cmath>
#include <fstream>
#include <map>

#include "io/damaged_fbx.h"
#include "io/pose_reference.h"
#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/fbx_reader.h"
#include "support/test_support.h"

namespace supple {
namespace {

using test::reference_pose;
using test::reference_skin;
using test::TemporaryFolder;

constexpr double ticks_per_second = 46186158000.0;

using Properties = std::map<std::string, Vec3d>;

// A text FBX in the making.
struct TextFbx {
  double unit = 1;
  bool z_up = false;
  std::string objects;
  std::string connections;

  void model(int id, const std::string& name, int parent, const Properties& properties) {
    objects += fmt::format("Model: {}, \"Model::{}\", \"Null\" {{\nProperties70: {{\n", id, name);
    for (const auto& [property, v] : properties)
      objects += fmt::format("P: \"{}\", \"Vector\", \"\", \"A\",{:.9g},{:.9g},{:.9g}\n", property,
                             v[0], v[1], v[2]);
    objects += "}\n}\n";
    connect(id, parent);
  }

  void connect(int from, int to) { connections += fmt::format("C: \"OO\",{},{}\n", from, to); }

  void connect(int from, int to, const std::string& property) {
    connections += fmt::format("C: \"OP\",{},{}, \"{}\"\n", from, to, property);
  }

  template <class T>
  static std::string array(const std::string& name, const std::vector<T>& values) {
    return fmt::format("{}: *{} {{\na: {}\n}}\n", name, values.size(), fmt::join(values, ","));
  }

  void mesh(int id, int node, const std::vector<double>& positions,
            const std::vector<int>& corners) {
    objects += fmt::format("Geometry: {}, \"Geometry::g\", \"Mesh\" {{\n", id) +
               array("Vertices", positions) + array("PolygonVertexIndex", corners) + "}\n";
    connect(id, node);
  }

  void clip(int id) {
    objects += fmt::format(
        "AnimationStack: {}, \"AnimStack::Take\", \"\" {{\n}}\n"
        "AnimationLayer: {}, \"AnimLayer::Base\", \"\" {{\n}}\n",
        id, id + 1);
    connect(id + 1, id);
  }

  void animate(int id, int layer, int node, const std::string& property,
               const std::vector<double>& seconds, const std::vector<Vec3d>& values) {
    objects += fmt::format("AnimationCurveNode: {}, \"AnimCurveNode::c\", \"\" {{\n}}\n", id);
    connect(id, layer);
    connect(id, node, property);
    std::vector<int64_t> ticks;
    for (const double s : seconds) ticks.push_back(std::llround(s * ticks_per_second));
    for (int k = 0; k < 3; ++k) {
      std::vector<double> component;
      for (const Vec3d& v : values) component.push_back(v[k]);
      objects += fmt::format("AnimationCurve: {}, \"AnimCurve::\", \"\" {{\n", id + 1 + k) +
                 array("KeyTime", ticks) + array("KeyValueFloat", component) + "}\n";
      connect(id + 1 + k, id, std::string("d|") + "XYZ"[k]);
    }
  }

  void skin(int id, int geometry) {
    objects += fmt::format("Deformer: {}, \"Deformer::s\", \"Skin\" {{\n}}\n", id);
    connect(id, geometry);
  }

  void cluster(int id, int skin, int bone, const std::vector<int>& vertices,
               const std::vector<double>& weights, const Mat4d& mesh_to_bone) {
    const auto matrix = [](const Mat4d& m) {
      return std::vector<double>(m.data(), m.data() + 16);  // FBX stores columns
    };
    objects += fmt::format("Deformer: {}, \"SubDeformer::c\", \"Cluster\" {{\n", id) +
               array("Indexes", vertices) + array("Weights", weights) +
               array("Transform", matrix(mesh_to_bone)) +
               array("TransformLink", matrix(Mat4d::Identity())) + "}\n";
    connect(id, skin);
    connect(bone, id);
  }

  std::string text() const {
    return fmt::format(
        "; FBX 7.4.0 project file\nFBXHeaderExtension: {{\nFBXHeaderVersion: 1003\n"
        "FBXVersion: 7400\n}}\nGlobalSettings: {{\nVersion: 1000\nProperties70: {{\n"
        "P: \"UpAxis\", \"int\", \"Integer\", \"\",{}\nP: \"UpAxisSign\", \"int\", \"Integer\", "
        "\"\",1\nP: \"FrontAxis\", \"int\", \"Integer\", \"\",{}\nP: \"FrontAxisSign\", \"int\", "
        "\"Integer\", \"\",{}\nP: \"CoordAxis\", \"int\", \"Integer\", \"\",0\nP: "
        "\"CoordAxisSign\", \"int\", \"Integer\", \"\",1\nP: \"UnitScaleFactor\", \"double\", "
        "\"Number\", \"\",{}\nP: \"TimeMode\", \"enum\", \"\", \"\",11\n}}\n}}\n"
        "Objects: {{\n{}}}\nConnections: {{\n{}}}\n",
        z_up ? 2 : 1, z_up ? 1 : 2, z_up ? -1 : 1, unit, objects, connections);
  }
};

Character read(const TextFbx& fbx) {
  const TemporaryFolder folder;
  write_file(folder / "a.fbx", fbx.text());
  return read_fbx(folder / "a.fbx");
}

Mat4d translation(const Vec3d& v) {
  Mat4d m = Mat4d::Identity();
  m.topRightCorner<3, 1>() = v;
  return m;
}

Mat4d scaling(const Vec3d& v) { return Vec3d(v).homogeneous().asDiagonal(); }

// FBX's default order: about x first, then y, then z; degrees.
Mat4d rotation(const Vec3d& degrees) {
  const Vec3d a = degrees * (M_PI / 180);
  Mat4d m = Mat4d::Identity();
  m.topLeftCorner<3, 3>() =
      (Eigen::AngleAxisd(a[2], Vec3d::UnitZ()) * Eigen::AngleAxisd(a[1], Vec3d::UnitY()) *
       Eigen::AngleAxisd(a[0], Vec3d::UnitX()))
          .toRotationMatrix();
  return m;
}

Vec3d value(const Properties& properties, const std::string& name, const Vec3d& fallback) {
  const auto found = properties.find(name);
  return found == properties.end() ? fallback : found->second;
}

// The FBX transform: T · Roff · Rp · Rpre · R · Rpost⁻¹ · Rp⁻¹ · Soff · Sp · S · Sp⁻¹.
Mat4d local_matrix(const Properties& p) {
  const auto v = [&](const char* name) { return value(p, name, Vec3d::Zero()); };
  return translation(v("Lcl Translation")) * translation(v("RotationOffset")) *
         translation(v("RotationPivot")) * rotation(v("PreRotation")) *
         rotation(v("Lcl Rotation")) * rotation(v("PostRotation")).inverse() *
         translation(-v("RotationPivot")) * translation(v("ScalingOffset")) *
         translation(v("ScalingPivot")) * scaling(value(p, "Lcl Scaling", Vec3d::Ones())) *
         translation(-v("ScalingPivot"));
}

Mat4d geometric_matrix(const Properties& p) {
  return translation(value(p, "GeometricTranslation", Vec3d::Zero())) *
         rotation(value(p, "GeometricRotation", Vec3d::Zero())) *
         scaling(value(p, "GeometricScaling", Vec3d::Ones()));
}

// From file coordinates to metres with Y up.
Mat4d to_metres(const TextFbx& fbx) {
  Mat4d m = Mat4d::Identity();
  if (fbx.z_up) m.topLeftCorner<3, 3>() << 1, 0, 0, 0, 0, 1, 0, -1, 0;
  return scaling(Vec3d::Constant(fbx.unit * 0.01)) * m;
}

const std::vector<double> triangle = {0, 0, 0, 2, 0, 0, 0, 3, 1};

const Properties pivot_cases[] = {
    {},
    {{"PreRotation", {20, -40, 90}}},
    {{"PostRotation", {10, 50, -30}}},
    {{"PreRotation", {0, 0, 90}}, {"PostRotation", {70, 0, 15}}},
    {{"RotationPivot", {1, 2, -1}}},
    {{"RotationPivot", {1, 2, -1}}, {"RotationOffset", {0, 1, 0}}, {"PreRotation", {0, 30, 0}}},
    {{"ScalingPivot", {0, 3, 0}}, {"ScalingOffset", {1, 0, 1}}, {"PostRotation", {0, 25, 0}}},
    {{"GeometricTranslation", {0, 5, 1}}},
    {{"GeometricTranslation", {0, 5, 1}},
     {"GeometricRotation", {30, 0, 60}},
     {"GeometricScaling", {1, 2, 0.5}},
     {"PreRotation", {5, 0, 0}}},
    {{"GeometricScaling", {-1, 1, 1}}},
};

// A node with a mesh and a child node, at rest and animated, must follow FBX's own formula.
TEST(FbxText, FollowsPivotsAndOffsets) {
  const std::vector<double> seconds = {0, 0.5, 1};
  const std::vector<Vec3d> turns = {{0, 10, 0}, {30, 10, 40}, {90, -20, 60}};
  const std::vector<Vec3d> moves = {{1, 2, 3}, {2, 2, 3}, {3, 0, 1}};
  const std::vector<Vec3d> scales = {{1, 1, 1}, {2, 1, 0.5}, {1, 1.5, 1}};
  for (size_t i = 0; i < std::size(pivot_cases); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    TextFbx fbx;
    fbx.unit = i % 2 ? 2.54 : 1;
    fbx.z_up = i % 3 == 1;
    Properties rest = pivot_cases[i];
    rest["Lcl Translation"] = {1, 2, 3};
    rest["Lcl Rotation"] = {15, 25, 35};
    rest["Lcl Scaling"] = {1, 2, 1};
    fbx.model(100, "a", 0, rest);
    fbx.model(101, "b", 100, {{"Lcl Translation", {1, 0, 0}}});
    fbx.mesh(200, 100, triangle, {0, 1, -3});
    fbx.clip(300);
    fbx.animate(310, 301, 100, "Lcl Rotation", seconds, turns);
    fbx.animate(320, 301, 100, "Lcl Translation", seconds, moves);
    fbx.animate(330, 301, 100, "Lcl Scaling", seconds, scales);
    const Character character = read(fbx);
    ASSERT_EQ(character.skeleton.size(), 3u) << "helper nodes remain";
    ASSERT_EQ(character.skin.positions.size(), 3u);
    ASSERT_EQ(character.clips.size(), 1u);
    const int child = character.skeleton.find("b");
    for (int key = -1; key < 3; ++key) {
      Properties now = rest;
      if (key >= 0) {
        now["Lcl Rotation"] = turns[key];
        now["Lcl Translation"] = moves[key];
        now["Lcl Scaling"] = scales[key];
      }
      const Clip* clip = key < 0 ? nullptr : &character.clips[0];
      const double time = key < 0 ? 0 : seconds[key];
      const Mat4d node = to_metres(fbx) * local_matrix(now);
      const auto pose = reference_pose(character, clip, time);
      const Mat4d expected_child = node * translation({1, 0, 0});
      EXPECT_LT((pose.globals[child] - expected_child).norm(), 2e-5 * expected_child.norm())
          << "key " << key;
      const std::vector<Vec3d> posed = reference_skin(character, clip, time);
      for (int v = 0; v < 3; ++v) {
        const Vec3d point(triangle[3 * v], triangle[3 * v + 1], triangle[3 * v + 2]);
        const Vec3d expected = (node * geometric_matrix(now) * point.homogeneous()).head<3>();
        EXPECT_LT((posed[v] - expected).norm(), 1e-6 * fbx.unit)
            << "key " << key << " vertex " << v;
      }
    }
  }
}

// Between keys a pivot stays where it is.
TEST(FbxText, KeepsPivotsStillBetweenKeys) {
  TextFbx fbx;
  const Properties rest = {{"RotationPivot", {10, 0, 0}}};
  fbx.model(100, "a", 0, rest);
  fbx.mesh(200, 100, {10, 0, 0, 11, 0, 0, 10, 1, 0}, {0, 1, -3});
  fbx.clip(300);
  fbx.animate(310, 301, 100, "Lcl Rotation", {0, 1}, {{0, 0, 0}, {0, 0, 120}});
  const Character character = read(fbx);
  for (double time = 0; time <= 1; time += 1.0 / 48) {
    const Vec3d still = reference_skin(character, &character.clips[0], time)[0];
    EXPECT_LT((still - Vec3d(0.1, 0, 0)).norm(), 5e-5) << time;
  }
}

// A tree that is not in bind pose: the rest shape is the mesh's own, the pose that of the tree.
TEST(FbxText, BindsThroughManyBonesAwayFromTheBindPose) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-40, 40);
  const auto vector = [&] { return Vec3d(number(random), number(random), number(random)); };
  TextFbx fbx;
  fbx.unit = 10;
  fbx.z_up = true;
  const Properties mesh_node = {{"Lcl Translation", vector()}, {"Lcl Rotation", vector()}};
  fbx.model(100, "mesh", 0, mesh_node);
  fbx.mesh(200, 100, triangle, {0, 1, -3});
  fbx.skin(400, 200);
  const int bones = 7;
  std::vector<Mat4d> globals, offsets;
  std::vector<double> weights;
  for (int b = 0; b < bones; ++b) {
    const Properties bone = {{"Lcl Translation", vector()}, {"Lcl Rotation", vector()}};
    fbx.model(110 + b, "bone" + std::to_string(b), b == 0 ? 0 : 110 + b - 1, bone);
    globals.push_back(b == 0 ? local_matrix(bone) : Mat4d(globals.back() * local_matrix(bone)));
    offsets.push_back(translation(vector()) * rotation(vector()));
    weights.push_back((b + 1.0) / 28);
    fbx.cluster(410 + b, 400, 110 + b, {0, 1}, {weights[b], b == 3 ? 1.0 : 0.0}, offsets[b]);
  }
  const Character character = read(fbx);
  ASSERT_EQ(character.skin.positions.size(), 3u);
  ASSERT_EQ(character.weights.of(0).size(), size_t{bones});
  ASSERT_EQ(character.weights.of(1).size(), 1u);
  const std::vector<Vec3d> posed = reference_skin(character, nullptr, 0);
  const Mat4d model = to_metres(fbx);
  const auto point = [](int v) {
    return Eigen::Vector4d(triangle[3 * v], triangle[3 * v + 1], triangle[3 * v + 2], 1);
  };
  Eigen::Vector4d first = Eigen::Vector4d::Zero();
  for (int b = 0; b < bones; ++b)
    first += weights[b] * (model * globals[b] * offsets[b] * point(0));
  const Eigen::Vector4d second = model * globals[3] * offsets[3] * point(1);
  const Eigen::Vector4d third = model * local_matrix(mesh_node) * point(2);
  EXPECT_LT((posed[0] - first.head<3>()).norm(), 1e-4);
  EXPECT_LT((posed[1] - second.head<3>()).norm(), 1e-4);
  EXPECT_LT((posed[2] - third.head<3>()).norm(), 1e-5) << "a vertex without weights";
  for (int v = 0; v < 3; ++v) {
    const Vec3d rest = (model * local_matrix(mesh_node) * point(v)).head<3>();
    EXPECT_LT((character.skin.positions[v].cast<double>() - rest).norm(), 1e-5);
  }
  EXPECT_TRUE(character.skeleton.joints[character.skeleton.find("bone6")].is_bone);
}

// Where the bones agree on a place other than the mesh's node, the skin rests there.
TEST(FbxText, RestsWhereItsBonesPutIt) {
  TextFbx fbx;
  fbx.model(100, "mesh", 0, {{"Lcl Translation", {500, 0, 0}}});
  fbx.mesh(200, 100, triangle, {0, 1, -3});
  fbx.skin(400, 200);
  fbx.model(110, "hip", 0, {{"Lcl Translation", {0, 100, 0}}});
  fbx.model(111, "leg", 110, {{"Lcl Rotation", {0, 0, 90}}});
  fbx.cluster(410, 400, 110, {0, 1}, {1, 1}, translation({0, -100, 0}));
  fbx.cluster(411, 400, 111, {2}, {1}, rotation({0, 0, -90}) * translation({0, -100, 0}));
  const Character character = read(fbx);
  EXPECT_LT((character.skin.positions[1] - Vec3f(0.02f, 0, 0)).norm(), 1e-6);
  const std::vector<Vec3d> posed = reference_skin(character, nullptr, 0);
  for (size_t v = 0; v < 3; ++v)
    EXPECT_LT((posed[v] - character.skin.positions[v].cast<double>()).norm(), 1e-6);
}

// A mesh and a bone of the same name: the skin follows the bone.
TEST(FbxText, PrefersBonesWhereNamesRepeat) {
  TextFbx fbx;
  fbx.model(100, "head", 0, {});
  fbx.mesh(200, 100, triangle, {0, 1, -3});
  fbx.skin(400, 200);
  fbx.model(110, "neck", 0, {{"Lcl Translation", {0, 100, 0}}});
  fbx.model(111, "head", 110, {{"Lcl Translation", {0, 10, 0}}});
  fbx.cluster(410, 400, 111, {0, 1, 2}, {1, 1, 1}, translation({0, -110, 0}));
  const Character character = read(fbx);
  ASSERT_EQ(character.binds.size(), 1u);
  EXPECT_EQ(character.skeleton.joints[character.binds[0].joint].parent,
            character.skeleton.find("neck"));
}

// Polygons become triangles, corners of the same vertex become one, a shared mesh comes twice, and
// a mirroring node keeps its triangles turned outwards.
TEST(FbxText, WeldsCornersAndRepeatsSharedMeshes) {
  TextFbx fbx;
  fbx.model(100, "a", 0, {});
  fbx.model(101, "b", 0, {{"Lcl Scaling", {-1, 1, 1}}});
  const std::vector<double> cube = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0,
                                    0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
  fbx.mesh(200, 100, cube,
           {0, 3, 2, -2, 4, 5, 6, -8, 0, 1, 5, -5, 2, 3, 7, -7, 1, 2, 6, -6, 3, 0, 4, -8});
  fbx.connect(200, 101);
  const Character character = read(fbx);
  ASSERT_EQ(character.parts.size(), 2u);
  EXPECT_EQ(character.skin.positions.size(), 16u);
  EXPECT_EQ(character.skin.triangles.size(), 24u);
  for (const Part& part : character.parts) {
    const std::vector<Vec3i> own(character.skin.triangles.begin() + part.triangles.first,
                                 character.skin.triangles.begin() + part.triangles.end());
    EXPECT_NEAR(signed_volume(character.skin.positions, own), 1e-6, 1e-11) << part.name;
  }
}

TEST(FbxText, RefusesWhatIsNoFbx) {
  const TemporaryFolder folder;
  std::mt19937 random(9);
  std::string noise(5000, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  TextFbx infinite;
  infinite.model(100, "a", 0, {{"Lcl Translation", {1e300, 0, 0}}});
  TextFbx wild;
  wild.model(100, "a", 0, {});
  wild.clip(300);
  wild.animate(310, 301, 100, "Lcl Rotation", {0, 1}, {{0, 0, 0}, {0, 0, 2e8}});
  const std::string cases[] = {"",
                               noise,
                               "solid cube\nendsolid\n",
                               "Kaydara FBX Binary  ",
                               "Kaydara FBX Binary  " + std::string("\0\x1a\0", 3) + noise,
                               "; FBX 7.4.0 project file\nFBXHeaderExtension: {\n",
                               "FBXHeaderExtension: " + std::string(100000, '{'),
                               infinite.text(),
                               wild.text()};
  for (const std::string& content : cases) {
    write_file(folder / "a.fbx", content);
    try {
      read_fbx(folder / "a.fbx", {5, uint64_t{1} << 30});
      ADD_FAILURE() << "accepted " << content.substr(0, 40);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
      EXPECT_EQ(std::string(error.what()).rfind((folder / "a.fbx").string() + ": ", 0), 0u)
          << error.what();
    }
  }
  EXPECT_THROW(read_fbx(folder / "absent.fbx"), Error);
  EXPECT_THROW(read_fbx(folder.path()), Error);
}

// Assimp drops a mesh it cannot read; the user must hear of it.
TEST(FbxText, NotesWhatItCannotRead) {
  TextFbx fbx;
  fbx.model(100, "a", 0, {});
  fbx.mesh(200, 100, triangle, {0, 1, -300});
  const Character character = read(fbx);
  EXPECT_TRUE(character.parts.empty());
  bool noted = false;
  for (const std::string& note : character.notes)
    noted |= note.find("index out of range") != std::string::npos;
  EXPECT_TRUE(noted);
}

TEST(FbxText, SurvivesDamage) {
  TextFbx fbx;
  fbx.model(100, "a", 0, pivot_cases[5]);
  fbx.mesh(200, 100, triangle, {0, 1, -3});
  fbx.clip(300);
  fbx.animate(310, 301, 100, "Lcl Rotation", {0, 1}, {{0, 0, 0}, {0, 0, 120}});
  fbx.skin(400, 200);
  fbx.cluster(410, 400, 100, {0, 1, 2}, {1, 1, 1}, Mat4d::Identity());
  const TemporaryFolder folder;
  const std::string text = fbx.text();
  const ByteView view = as_bytes(text);
  test::expect_damage_is_refused(
      Bytes(view.begin(), view.end()),
      [&](const Bytes& bytes) {
        std::ofstream(folder / "a.fbx", std::ios::binary) << as_text(bytes);
        test::read_without_sanitizer_report(folder / "a.fbx", {3, uint64_t{1} << 30});
      },
      50, 100);
}

}  // namespace
}  // namespace supple
