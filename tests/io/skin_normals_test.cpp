// Normals of skins with split vertices, and of baked files, against analytic ones.
#include "supple/io/skin_normals.h"

#include <map>
#include <tuple>

#include "io/bake_test_support.h"
#include "support/gltf_document.h"
#include "support/gltf_sample_parts.h"
#include "support/gltf_shapes.h"

namespace supple {
namespace {

using nlohmann::json;

/// A sphere of `rings` by `sides` quads, with doubled vertices along the seam and at the poles.
AnimatedSkin sphere(int rings, int sides, float radius) {
  AnimatedSkin skin;
  for (int r = 0; r <= rings; ++r)
    for (int s = 0; s <= sides; ++s) {
      const double polar = M_PI * r / rings, around = 2 * M_PI * (s % sides) / sides;
      const double width = r == 0 || r == rings ? 0 : std::sin(polar);
      skin.rest.push_back(
          radius * Vec3d(width * std::cos(around), std::cos(polar), -width * std::sin(around))
                       .cast<float>());
    }
  for (int r = 0; r < rings; ++r)
    for (int s = 0; s < sides; ++s) {
      const int a = r * (sides + 1) + s, b = a + sides + 1;
      if (r > 0) skin.triangles.emplace_back(a, b, a + 1);
      if (r + 1 < rings) skin.triangles.emplace_back(a + 1, b, b + 1);
    }
  return skin;
}

TEST(SkinNormals, OfASpherePointOutwards) {
  const AnimatedSkin skin = sphere(24, 48, 3);
  std::vector<Vec3f> normals(skin.rest.size());
  SkinNormals(skin, nullptr).compute(skin.rest, normals);
  for (size_t v = 0; v < normals.size(); ++v) {
    EXPECT_NEAR(normals[v].norm(), 1, 1e-5);
    EXPECT_GT(normals[v].dot(skin.rest[v] / 3), std::cos(0.03)) << v;
  }
}

TEST(SkinNormals, AreTheSameOnBothSidesOfASeam) {
  const AnimatedSkin skin = sphere(10, 20, 1);
  // Any shape the skin takes on: seams stay closed when their vertices move alike.
  std::vector<Vec3f> bent = skin.rest;
  for (Vec3f& p : bent) p += 0.3f * Vec3f(std::sin(3 * p[1]), p[0] * p[2], 0);
  std::vector<Vec3f> normals(skin.rest.size());
  SkinNormals(skin, nullptr).compute(bent, normals);
  for (int r = 0; r <= 10; ++r)
    EXPECT_EQ(normals[static_cast<size_t>(21 * r)], normals[static_cast<size_t>(21 * r + 20)]);
  for (size_t s = 1; s < 21; ++s) EXPECT_EQ(normals[s], normals[0]);
}

TEST(SkinNormals, FollowTheInputFilesSharpEdges) {
  const GltfDocument document = parse_gltf_document(test::split_seams().bytes, "cube.glb", "");
  const AnimatedSkin skin = test::animated(character_from_gltf(document), nullptr, 1);
  ASSERT_EQ(skin.rest.size(), 24u);
  std::vector<Vec3f> sharp(24), smooth(24);
  SkinNormals(skin, &document).compute(skin.rest, sharp);
  SkinNormals(skin, nullptr).compute(skin.rest, smooth);
  for (const Vec3i& t : skin.triangles) {
    const auto at = [&](int corner) { return skin.rest[static_cast<size_t>(t[corner])]; };
    const Vec3f face = (at(1) - at(0)).cross(at(2) - at(0)).normalized();
    for (int corner = 0; corner < 3; ++corner) {
      EXPECT_LT((sharp[static_cast<size_t>(t[corner])] - face).norm(), 1e-6);
      EXPECT_LT(smooth[static_cast<size_t>(t[corner])].dot(face), 0.9);
    }
  }
}

/// A sphere as a glTF document, its normals `tilted(normal)`.
GltfDocument sphere_document(const AnimatedSkin& skin,
                             const std::function<Eigen::Vector3d(size_t)>& normal,
                             const test::TestTransform& at) {
  test::GltfBuilder builder;
  std::vector<Eigen::Vector3d> points, normals;
  std::vector<int> indices;
  for (size_t v = 0; v < skin.rest.size(); ++v) {
    points.push_back(skin.rest[v].cast<double>());
    normals.push_back(normal(v));
  }
  for (const Vec3i& t : skin.triangles) indices.insert(indices.end(), {t[0], t[1], t[2]});
  const int mesh = test::add_mesh(
      builder, "ball",
      {{"POSITION", builder.add_points(points)}, {"NORMAL", builder.add_points(normals)}},
      builder.add_indices(indices, test::Component::uint16));
  json node = at.node("ball");
  node["mesh"] = mesh;
  test::set_roots(builder, {builder.add("nodes", node)});
  return parse_gltf_document(test::finish("ball", builder).bytes, "ball.glb", "");
}

TEST(SkinNormals, JoinsNormalsThatDifferByRoundingOnly) {
  // Exporters round normals of split vertices apart in the last digits, at any place of the sphere.
  const AnimatedSkin ball = sphere(24, 48, 1);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> wobble(-1e-4, 1e-4);
  const GltfDocument document = sphere_document(
      ball,
      [&](size_t v) {
        const Eigen::Vector3d n = ball.rest[v].cast<double>();
        return (n + Eigen::Vector3d(wobble(random), wobble(random), wobble(random))).normalized();
      },
      {});
  const AnimatedSkin skin = test::animated(character_from_gltf(document), nullptr, 1);
  std::vector<Vec3f> normals(skin.rest.size());
  SkinNormals(skin, &document).compute(skin.rest, normals);
  for (size_t r = 0; r <= 24; ++r) EXPECT_EQ(normals[49 * r], normals[49 * r + 48]) << r;
}

/// The normals of a written file's only primitive in its node's frame of reference: the base, and
/// the sum with all targets weighted as in frame `f`.
std::vector<Eigen::Vector3d> written_normals(const test::GltfDocument& file, size_t f) {
  const json& primitive = file.root()["meshes"][0]["primitives"][0];
  const auto base = file.accessor(primitive["attributes"]["NORMAL"]);
  std::vector<Eigen::Vector3d> normals;
  for (size_t v = 0; v < base.count; ++v) normals.emplace_back(base(v, 0), base(v, 1), base(v, 2));
  if (!primitive.contains("targets")) return normals;
  const auto weights = file.accessor(file.root()["animations"][0]["samplers"][0]["output"]);
  const size_t count = primitive["targets"].size();
  for (size_t t = 0; t < count; ++t) {
    const auto change = file.accessor(primitive["targets"][t]["NORMAL"]);
    for (size_t v = 0; v < base.count; ++v)
      normals[v] +=
          weights.values[f * count + t] * Eigen::Vector3d(change(v, 0), change(v, 1), change(v, 2));
  }
  return normals;
}

/// Writes a sphere that squashes and turns, on a node with the given transform (which mirrors it or
/// not, but is otherwise of no account in the scene), and measures the
/// largest angle (radians) between its shown normals and the ellipsoid's own.
double largest_angle(const test::TestTransform& at, int frames, bool& unit) {
  const test::TemporaryFolder folder;
  const AnimatedSkin ball = sphere(40, 80, 1);
  const GltfDocument document = sphere_document(
      ball, [&](size_t v) { return Eigen::Vector3d(ball.rest[v].cast<double>()); }, at);
  const AnimatedSkin rest = test::animated(character_from_gltf(document), nullptr, 1);
  std::vector<std::vector<Vec3f>> all;
  std::vector<Mat3d> motion;
  for (int f = 0; f < frames; ++f) {
    const double t = static_cast<double>(f) / frames;
    motion.push_back(
        Eigen::AngleAxisd(0.8 * std::sin(6 * t), Vec3d(1, 2, 0.5).normalized()).toRotationMatrix() *
        Vec3d(1 + 0.3 * t, 1 - 0.3 * t, 1).asDiagonal() * Vec3d(at.scale.cwiseSign()).asDiagonal());
    std::vector<Vec3f> frame;
    for (const Vec3f& p : ball.rest)
      frame.push_back((motion.back() * p.cast<double>()).cast<float>());
    all.push_back(frame);
  }
  const AnimatedSkin skin = test::with_frames(rest, all);
  write_glb(folder / "ball.glb", skin, {}, &document);
  const test::GltfDocument file(folder / "ball.glb");
  const json& node = file.root()["nodes"][0];
  const Mat3d node_matrix =
      node.contains("mesh") ? Mat3d(at.matrix().topLeftCorner<3, 3>()) : Mat3d::Identity();
  double worst = 0;
  const auto base =
      file.accessor(file.root()["meshes"][0]["primitives"][0]["attributes"]["NORMAL"]);
  for (size_t v = 0; v < base.count; ++v)
    unit &= std::abs(Vec3d(base(v, 0), base(v, 1), base(v, 2)).norm() - 1) < 1e-5;
  for (int f = 0; f < frames; f += std::max(1, frames / 10)) {
    const auto shown = written_normals(file, static_cast<size_t>(f));
    for (size_t v = 0; v < shown.size(); ++v) {
      // A viewer turns normals by the inverse transpose; so does the motion with the sphere's.
      const Vec3d n = (node_matrix.inverse().transpose() * shown[v]).normalized();
      const Vec3d right =
          (motion[static_cast<size_t>(f)].inverse().transpose() * ball.rest[v].cast<double>())
              .normalized();
      worst = std::max(worst, std::acos(std::clamp(n.dot(right), -1.0, 1.0)));
    }
  }
  return worst;
}

TEST(SkinNormals, OfBakedFilesFollowTheMotion) {
  test::TestTransform turned, stretched, mirrored;
  turned.rotation = test::turn(1, {1, 2, 3});
  turned.scale = {0.01, 0.01, 0.01};
  stretched.rotation = test::turn(1, {3, 2, 1});
  stretched.scale = {2, 0.5, 3};
  mirrored.scale = {-1, 1, 1.5};
  for (const auto& at : {test::TestTransform{}, turned, stretched, mirrored})
    for (const int frames : {1, 6, 300}) {
      bool unit = true;
      EXPECT_LT(largest_angle(at, frames, unit), 0.03) << frames << " frames";
      EXPECT_TRUE(unit);
    }
}

TEST(SkinNormals, AreUnitAndShowIsolatedVerticesValid) {
  // Vertices without triangles, and triangles that collapse in the first frame or a later one.
  const test::TemporaryFolder folder;
  AnimatedSkin skin = sphere(4, 8, 1);
  skin.rest.push_back(Vec3f(3, 0, 0));
  Part part;
  part.name = "ball";
  part.vertices = {0, static_cast<int32_t>(skin.rest.size())};
  part.triangles = {0, static_cast<int32_t>(skin.triangles.size())};
  skin.parts = {part};
  const std::vector<Vec3f> point(skin.rest.size(), Vec3f(1, 1, 1));
  skin = test::with_frames(skin, {point, skin.rest, point});
  write_glb(folder / "ball.glb", skin, {});
  const test::GltfDocument file(folder / "ball.glb");
  for (size_t f = 0; f < 3; ++f)
    for (const Eigen::Vector3d& n : written_normals(file, f)) EXPECT_NEAR(n.norm(), 1, 1e-5);
  SUPPLE_EXPECT_VALID_GLTF({folder / "ball.glb"});
}

TEST(SkinNormals, OfMirroredPartsPointOutwards) {
  // A box mirrored by its node keeps its outside outside, for the library and in the file.
  test::GltfBuilder builder;
  const test::TestShape box = test::make_cube(0.5);
  const int mesh = test::add_mesh(builder, "box", {{"POSITION", builder.add_points(box.points)}},
                                  builder.add_indices(box.indices, test::Component::uint16));
  test::TestTransform mirrored;
  mirrored.scale = {1, -2, 1};
  json node = mirrored.node("box");
  node["mesh"] = mesh;
  test::set_roots(builder, {builder.add("nodes", node)});
  const GltfDocument document =
      parse_gltf_document(test::finish("box", builder).bytes, "box.glb", "");
  const AnimatedSkin skin = test::animated(character_from_gltf(document), nullptr, 1);
  std::vector<Vec3f> normals(skin.rest.size());
  SkinNormals(skin, &document).compute(skin.rest, normals);
  for (size_t v = 0; v < normals.size(); ++v) EXPECT_GT(normals[v].dot(skin.rest[v]), 0.5) << v;
}

}  // namespace
}  // namespace supple
