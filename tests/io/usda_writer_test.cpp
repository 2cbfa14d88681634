// USDA, read back by the tests' own reader and compared with the source bit by bit.
#include "supple/io/usda_writer.h"
#include "export_test_support.h"
#include "usda_reader.h"

namespace supple::test {
namespace {

UsdPrim read_usda(const std::filesystem::path& path) {
  return UsdaReader(std::string(as_text(read_file(path)))).read();
}

std::vector<float> flat(const std::vector<Vec3f>& vectors, const Range& range) {
  std::vector<float> result;
  for (int32_t v = range.first; v < range.end(); ++v)
    for (int k = 0; k < 3; ++k) result.push_back(vectors[static_cast<size_t>(v)][k]);
  return result;
}

std::vector<Vec3f> frame_in_file(const AnimatedSkin& skin, int index, UpAxis up) {
  std::vector<Vec3f> positions = skin.frame(index).positions;
  for (Vec3f& p : positions) p = up == UpAxis::z ? z_up(p) : p;
  return positions;
}

// Area-weighted normals, vertices at the same rest position counted as one; in double.
std::vector<Vec3d> reference_normals(const AnimatedSkin& skin, const std::vector<Vec3f>& x) {
  const size_t n = skin.rest.size();
  const auto first_like = [&](size_t v) {
    for (size_t u = 0; u < n; ++u)
      if ((skin.rest[u] - skin.rest[v]).norm() < 1e-5f) return u;
    return v;
  };
  std::vector<Vec3d> sum(n, Vec3d::Zero()), result(n);
  for (const Vec3i& t : skin.triangles) {
    size_t c[3];
    for (int k = 0; k < 3; ++k) c[k] = first_like(static_cast<size_t>(t[k]));
    const Vec3d a = x[c[0]].cast<double>(), b = x[c[1]].cast<double>(), d = x[c[2]].cast<double>();
    for (const size_t corner : c) sum[corner] += (b - a).cross(d - a);
  }
  for (size_t v = 0; v < n; ++v) result[v] = sum[first_like(v)].normalized();
  return result;
}

void expect_samples(const UsdPrim& mesh, const AnimatedSkin& skin, const Range& vertices,
                    UpAxis up) {
  const UsdAttribute& points = mesh.attributes.at("points");
  const UsdAttribute& normals = mesh.attributes.at("normals");
  const UsdAttribute& extent = mesh.attributes.at("extent");
  EXPECT_EQ(points.type, "point3f[]");
  EXPECT_EQ(normals.type, "normal3f[]");
  EXPECT_EQ(extent.type, "float3[]");
  EXPECT_EQ(normals.metadata.at("interpolation"), "vertex");
  const auto count = static_cast<size_t>(skin.frame_count);
  ASSERT_EQ(points.samples.size(), count);
  ASSERT_EQ(normals.samples.size(), count);
  ASSERT_EQ(extent.samples.size(), count);
  for (int f = 0; f < skin.frame_count; ++f) {
    const std::vector<Vec3f> x = frame_in_file(skin, f, up);
    const int time = skin.first_frame + f;
    const std::vector<float> expected = flat(x, vertices);
    ASSERT_EQ(points.samples.at(time), expected) << "frame " << time;
    const std::vector<Vec3d> reference = reference_normals(skin, x);
    const std::vector<float>& written = normals.samples.at(time);
    ASSERT_EQ(written.size(), expected.size());
    for (size_t i = 0; i < written.size(); ++i)
      ASSERT_NEAR(written[i], reference[static_cast<size_t>(vertices.first) + i / 3][i % 3], 2e-4);
    std::vector<float> box(6);
    for (size_t k = 0; k < 3; ++k) {
      box[k] = box[k + 3] = expected[k];
      for (size_t i = k; i < expected.size(); i += 3) {
        box[k] = std::min(box[k], expected[i]);
        box[k + 3] = std::max(box[k + 3], expected[i]);
      }
    }
    EXPECT_EQ(extent.samples.at(time), box);
  }
}

void expect_constants(const UsdPrim& mesh, const AnimatedSkin& skin, const Part& part) {
  const auto triangles = static_cast<size_t>(part.triangles.count);
  EXPECT_EQ(mesh.attributes.at("faceVertexCounts").numbers(), std::vector<float>(triangles, 3.0f));
  std::vector<float> indices, st, colour;
  for (int32_t t = part.triangles.first; t < part.triangles.end(); ++t)
    for (int k = 0; k < 3; ++k)
      indices.push_back(
          static_cast<float>(skin.triangles[static_cast<size_t>(t)][k] - part.vertices.first));
  for (int32_t i = part.vertices.first; i < part.vertices.end(); ++i) {
    const auto v = static_cast<size_t>(i);
    st.push_back(skin.attributes[0].values[2 * v]);
    st.push_back(1 - skin.attributes[0].values[2 * v + 1]);
    for (size_t k = 0; k < 3; ++k) colour.push_back(skin.attributes[1].values[4 * v + k]);
  }
  EXPECT_EQ(mesh.attributes.at("faceVertexIndices").numbers(), indices);
  EXPECT_EQ(mesh.attributes.at("subdivisionScheme").words, std::vector<std::string>{"none"});
  EXPECT_EQ(mesh.attributes.at("primvars:st").type, "texCoord2f[]");
  EXPECT_EQ(mesh.attributes.at("primvars:st").numbers(), st);
  EXPECT_EQ(mesh.attributes.at("primvars:st").metadata.at("interpolation"), "vertex");
  EXPECT_EQ(mesh.attributes.at("primvars:displayColor").type, "color3f[]");
  EXPECT_EQ(mesh.attributes.at("primvars:displayColor").numbers(), colour);
  EXPECT_EQ(mesh.attributes.at("primvars:displayColor").metadata.at("interpolation"), "vertex");
}

TEST(UsdaWriter, WritesEveryPartAndFrame) {
  TemporaryFolder folder;
  for (const int first : {1001, -2})
    for (const UpAxis up : {UpAxis::y, UpAxis::z}) {
      const AnimatedSkin skin = moving_strips(first, 4, 29.97);
      write_usda(folder / "a.usda", skin, {up, {}});
      const UsdPrim layer = read_usda(folder / "a.usda");
      const std::map<std::string, std::string> metadata = {
          {"defaultPrim", "B__r_7__big_"},
          {"startTimeCode", std::to_string(first)},
          {"endTimeCode", std::to_string(first + 3)},
          {"framesPerSecond", "29.97"},
          {"timeCodesPerSecond", "29.97"},
          {"metersPerUnit", "1"},
          {"upAxis", up == UpAxis::z ? "Z" : "Y"}};
      EXPECT_EQ(layer.metadata, metadata);
      ASSERT_EQ(layer.children.size(), 1u);
      const UsdPrim& root = layer.children[0];
      EXPECT_EQ(root.type, "Xform");
      EXPECT_EQ(root.name, "B__r_7__big_");
      ASSERT_EQ(root.children.size(), 2u);
      EXPECT_EQ(root.children[0].name, "fur____skin_");
      EXPECT_EQ(root.children[1].name, "fur____skin__2");
      EXPECT_EQ(root.children[0].attributes.at("userProperties:material").words,
                std::vector<std::string>{"red fur"});
      for (size_t p = 0; p < 2; ++p) {
        EXPECT_EQ(root.children[p].type, "Mesh");
        expect_samples(root.children[p], skin, skin.parts[p].vertices, up);
        expect_constants(root.children[p], skin, skin.parts[p]);
      }
    }
}

TEST(UsdaWriter, NormalsAgreeAcrossTheSeam) {
  TemporaryFolder folder;
  AnimatedSkin skin = moving_strips(1, 1);
  skin.frame = [rest = skin.rest](int) {
    SkinFrame frame{rest, {std::vector<float>(20), std::vector<float>(20)}};
    for (Vec3f& p : frame.positions) p[2] += p[1] * p[1];
    return frame;
  };
  write_usda(folder / "a.usda", skin, {});
  const UsdPrim root = read_usda(folder / "a.usda").children.at(0);
  const auto normals = [&](size_t part) {
    return root.children.at(part).attributes.at("normals").samples.at(1);
  };
  // The second row of the first part is the first row of the second.
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(normals(0)[15 + i], normals(1)[i]);
}

TEST(UsdaWriter, DegenerateTrianglesGetANormal) {
  TemporaryFolder folder;
  AnimatedSkin skin = moving_strips(1, 1);
  skin.frame = [](int) {
    return SkinFrame{std::vector<Vec3f>(20, Vec3f(1, 2, 3)),
                     {std::vector<float>(20), std::vector<float>(20)}};
  };
  write_usda(folder / "a.usda", skin, {UpAxis::z, {}});
  const UsdPrim root = read_usda(folder / "a.usda").children.at(0);
  const std::vector<float> normals = root.children.at(1).attributes.at("normals").samples.at(1);
  for (size_t i = 0; i < normals.size(); ++i) EXPECT_EQ(normals[i], i % 3 == 2 ? 1.0f : 0.0f);
}

TEST(UsdaWriter, PartsThatShareVerticesBecomeSubsets) {
  TemporaryFolder folder;
  AnimatedSkin skin = moving_strips(5, 2);
  skin.triangles[3][0] = 19;
  skin.attributes.clear();
  write_usda(folder / "a.usda", skin, {});
  const UsdPrim root = read_usda(folder / "a.usda").children.at(0);
  ASSERT_EQ(root.children.size(), 1u);
  const UsdPrim& mesh = root.children[0];
  expect_samples(mesh, skin, {0, 20}, UpAxis::y);
  EXPECT_FALSE(mesh.attributes.count("primvars:st"));
  ASSERT_EQ(mesh.children.size(), 2u);
  EXPECT_EQ(mesh.children[0].type, "GeomSubset");
  EXPECT_NE(mesh.children[0].name, mesh.children[1].name);
  EXPECT_EQ(mesh.children[0].attributes.at("elementType").words[0], "face");
  EXPECT_EQ(mesh.children[1].attributes.at("indices").numbers(),
            (std::vector<float>{8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST(UsdaWriter, PrimNamesAreIdentifiers) {
  EXPECT_EQ(usd_prim_name("Body", "x"), "Body");
  EXPECT_EQ(usd_prim_name("7 of 9", "x"), "_7_of_9");
  EXPECT_EQ(usd_prim_name("", "part"), "part");
  EXPECT_EQ(usd_prim_name("a.b:c/d\n", "x"), "a_b_c_d_");
}

TEST(UsdaWriter, AwkwardMaterialNamesStayStrings) {
  TemporaryFolder folder;
  AnimatedSkin skin = moving_strips(1, 1);
  skin.parts[0].material = "a\"b\\c\nd{(";
  write_usda(folder / "a.usda", skin, {});
  const UsdPrim root = read_usda(folder / "a.usda").children.at(0);
  EXPECT_EQ(root.children[0].attributes.at("userProperties:material").words[0], "a\"b\\c d{(");
}

TEST(UsdaWriter, FailuresLeaveNoTrace) { expect_failures_leave_no_trace(write_usda, "a.usda"); }
TEST(UsdaWriter, ReportsProgress) { expect_progress(write_usda, "a.usda"); }

}  // namespace
}  // namespace supple::test
