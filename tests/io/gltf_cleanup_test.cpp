// What of the input file survives in a baked one, and what does not.
#include "supple/io/gltf_cleanup.h"

#include <set>

#include "io/bake_test_support.h"
#include "supple/core/error.h"
#include "support/gltf_document.h"

namespace supple {
namespace {

using nlohmann::json;

json root_of(const std::filesystem::path& path) { return test::GltfDocument(path).root(); }

/// Without the members that baking is to change.
json without(json value, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) value.erase(key);
  return value;
}

/// Everything of the source but skins, animations and moving data is in the written file.
void expect_survival(const json& source, const json& written) {
  const auto top = {"materials",      "textures",           "samplers",   "cameras", "scenes",
                    "extensionsUsed", "extensionsRequired", "extensions", "extras",  "scene"};
  for (const char* key : top) {
    EXPECT_EQ(source.contains(key), written.contains(key)) << key;
    EXPECT_EQ(source.value(key, json()), written.value(key, json())) << key;
  }
  EXPECT_EQ(without(source["asset"], {"generator"}), without(written["asset"], {"generator"}));
  ASSERT_EQ(source["nodes"].size(), written["nodes"].size());
  for (size_t n = 0; n < source["nodes"].size(); ++n) {
    const json &before = source["nodes"][n], &after = written["nodes"][n];
    EXPECT_EQ(without(before, {"mesh", "skin", "weights"}), without(after, {"mesh", "weights"}));
    ASSERT_EQ(before.contains("mesh"), after.contains("mesh"));
    if (!before.contains("mesh")) continue;
    const json& mesh_before = source["meshes"][before["mesh"].get<size_t>()];
    const json& mesh_after = written["meshes"][after["mesh"].get<size_t>()];
    EXPECT_EQ(mesh_before.value("name", ""), mesh_after.value("name", ""));
    ASSERT_EQ(mesh_before["primitives"].size(), mesh_after["primitives"].size());
    for (size_t p = 0; p < mesh_before["primitives"].size(); ++p)
      for (const char* key : {"material", "mode", "extensions", "extras"})
        EXPECT_EQ(mesh_before["primitives"][p].value(key, json()),
                  mesh_after["primitives"][p].value(key, json()));
  }
  EXPECT_FALSE(written.contains("skins"));
}

/// Texture coordinates, colours and indices of every mesh node are the source's.
void expect_same_static_data(const test::GltfDocument& source, const test::GltfDocument& written) {
  for (size_t n = 0; n < source.root()["nodes"].size(); ++n) {
    const json &before = source.root()["nodes"][n], &after = written.root()["nodes"][n];
    if (!before.contains("mesh")) continue;
    const json& from = source.root()["meshes"][before["mesh"].get<size_t>()]["primitives"];
    const json& to = written.root()["meshes"][after["mesh"].get<size_t>()]["primitives"];
    for (size_t p = 0; p < from.size(); ++p) {
      for (const auto& [name, index] : from[p]["attributes"].items()) {
        if (!name.starts_with("TEXCOORD_") && !name.starts_with("COLOR_") && name[0] != '_')
          continue;
        ASSERT_TRUE(to[p]["attributes"].contains(name)) << name;
        EXPECT_EQ(source.accessor(index).values,
                  written.accessor(to[p]["attributes"][name]).values);
      }
      if (from[p].contains("indices")) {
        EXPECT_EQ(source.accessor(from[p]["indices"]).values,
                  written.accessor(to[p]["indices"]).values);
      }
    }
  }
}

/// No accessor and no buffer view is without a user; parts of the JSON are named here by hand.
void expect_nothing_unused(const json& root) {
  std::set<size_t> accessors, views;
  for (const json& mesh : root["meshes"])
    for (const json& primitive : mesh["primitives"]) {
      for (const auto& [name, index] : primitive["attributes"].items())
        accessors.insert(index.get<size_t>());
      if (primitive.contains("indices")) accessors.insert(primitive["indices"].get<size_t>());
      for (const json& target : primitive.value("targets", json::array()))
        for (const auto& [name, index] : target.items()) accessors.insert(index.get<size_t>());
    }
  for (const json& animation : root.value("animations", json::array()))
    for (const json& sampler : animation["samplers"]) {
      accessors.insert(sampler["input"].get<size_t>());
      accessors.insert(sampler["output"].get<size_t>());
    }
  EXPECT_EQ(accessors.size(), root["accessors"].size());
  for (const json& accessor : root["accessors"]) {
    if (accessor.contains("bufferView")) views.insert(accessor["bufferView"].get<size_t>());
    if (accessor.contains("sparse"))
      for (const char* part : {"indices", "values"})
        views.insert(accessor["sparse"][part]["bufferView"].get<size_t>());
  }
  for (const json& image : root.value("images", json::array()))
    if (image.contains("bufferView")) views.insert(image["bufferView"].get<size_t>());
  EXPECT_EQ(views.size(), root["bufferViews"].size());
}

TEST(GltfCleanup, KeepsWhatDoesNotMove) {
  SUPPLE_NEEDS_ASSETS();
  const test::TemporaryFolder folder;
  int images = 0;
  for (const char* name : {"CesiumMan", "Fox", "KayKit-Barbarian", "quaternius-animals_pack-Horse",
                           "quaternius-modular_women-Casual", "MorphStressTest"}) {
    SCOPED_TRACE(name);
    const auto path = *test::assets() / "gltf" / (std::string(name) + ".glb");
    const GltfDocument document = read_gltf_document(path);
    const Character character = character_from_gltf(document);
    const Clip* clip = character.clips.empty() ? nullptr : &character.clips[0];
    write_glb(folder / "x.glb", test::animated(character, clip, 3), {}, &document);
    const test::GltfDocument source(path), written(folder / "x.glb");
    expect_survival(source.root(), written.root());
    expect_same_static_data(source, written);
    expect_nothing_unused(written.root());
    // Images are the same bytes.
    const GltfDocument back = read_gltf_document(folder / "x.glb");
    const auto image = [](const GltfDocument& d, size_t i) {
      const Json& view = d.root["bufferViews"][d.root["images"][i]["bufferView"].get<size_t>()];
      const Bytes& buffer = d.buffers[view["buffer"].get<size_t>()];
      const auto first = buffer.begin() + view.value("byteOffset", ptrdiff_t{0});
      return Bytes(first, first + view["byteLength"].get<ptrdiff_t>());
    };
    if (source.root().contains("images")) {
      for (size_t i = 0; i < source.root()["images"].size(); ++i, ++images)
        EXPECT_EQ(image(document, i), image(back, i));
    }
    // Positions and normals, three frames of each, are new.
    const size_t added = 3 * 24 * character.skin.positions.size();
    EXPECT_LT(std::filesystem::file_size(folder / "x.glb"),
              1.1 * static_cast<double>(std::filesystem::file_size(path) + added));
  }
  EXPECT_GE(images, 4);
}

/// Chunks of a PNG of one red pixel, written out by hand.
Bytes tiny_png() {
  const unsigned char bytes[] = {
      0x89, 'P',  'N',  'G',  0x0D, 0x0A, 0x1A, 0x0A,  //
      0,    0,    0,    13,   'I',  'H',  'D',  'R',  0,    0,    0,    1,    0,
      0,    0,    1,    8,    2,    0,    0,    0,    0x90, 0x77, 0x53, 0xDE,  //
      0,    0,    0,    12,   'I',  'D',  'A',  'T',  0x78, 0x9C, 0x63, 0xF8, 0xCF,
      0xC0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xC9, 0xFE, 0x92, 0xEF,  //
      0,    0,    0,    0,    'I',  'E',  'N',  'D',  0xAE, 0x42, 0x60, 0x82};
  Bytes result;
  for (const unsigned char b : bytes) result.push_back(static_cast<std::byte>(b));
  return result;
}

/// The split cube in a .gltf with its buffer and two images in files beside it, a camera, extras,
/// and unused data.
json textured_cube(const std::filesystem::path& folder) {
  const test::GltfSample sample = test::split_seams();
  json root = sample.document;
  root["images"] = {{{"uri", "red%20pixel.png"}, {"name", "red"}}, {{"uri", "lost.png"}}};
  root["textures"] = {{{"source", 0}}, {{"source", 1}}, {{"source", 0}}};
  root["materials"] = {
      {{"name", "paint"},
       {"pbrMetallicRoughness",
        {{"baseColorTexture", {{"index", 0}}}, {"metallicRoughnessTexture", {{"index", 1}}}}},
       {"normalTexture", {{"index", 2}, {"scale", 0.5}}},
       {"emissiveTexture", {{"index", 1}}}}};
  for (json& mesh : root["meshes"])
    for (json& primitive : mesh["primitives"]) primitive["material"] = 0;
  root["cameras"] = {{{"type", "perspective"}, {"perspective", {{"yfov", 1.0}, {"znear", 0.1}}}}};
  const size_t camera = root["nodes"].size();
  root["nodes"].push_back({{"name", "eye"}, {"camera", 0}, {"extras", {{"note", "keep"}}}});
  root["scenes"][0]["nodes"].push_back(camera);
  root["extras"] = {{"author", {1, 2, 3}}};
  write_file(folder / "red pixel.png", tiny_png());
  write_file(folder / "cube.bin", Bytes(sample.binary.begin(), sample.binary.end()));
  root["buffers"] = {{{"byteLength", sample.binary.size()}, {"uri", "cube.bin"}}};
  return root;
}

TEST(GltfCleanup, EmbedsImagesAndLeavesOutMissingOnes) {
  const test::TemporaryFolder folder, other;
  json source = textured_cube(folder.path());
  write_file(folder / "cube.gltf", source.dump());
  const GltfDocument document = read_gltf_document(folder / "cube.gltf");
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, &character.clips[0], 4);
  testing::internal::CaptureStderr();
  write_glb(other / "cube.glb", skin, {}, &document);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("images[1].uri"), std::string::npos) << log;
  EXPECT_NE(log.find("lost.png"), std::string::npos) << log;
  EXPECT_EQ(log.find("red"), std::string::npos) << log;
  test::expect_shows(other / "cube.glb", skin);

  const json written = root_of(other / "cube.glb");
  expect_nothing_unused(written);
  ASSERT_EQ(written["images"].size(), 1u);
  EXPECT_EQ(written["images"][0]["mimeType"], "image/png");
  EXPECT_EQ(written["images"][0]["name"], "red");
  EXPECT_FALSE(written["images"][0].contains("uri"));
  const GltfDocument back = read_gltf_document(other / "cube.glb");
  const Json& view = back.root["bufferViews"][written["images"][0]["bufferView"].get<size_t>()];
  const auto first = back.buffers[0].begin() + view["byteOffset"].get<ptrdiff_t>();
  EXPECT_EQ(Bytes(first, first + view["byteLength"].get<ptrdiff_t>()), tiny_png());
  // The lost image's textures are gone from the material; all else is as it was.
  source["materials"][0].erase("emissiveTexture");
  source["materials"][0]["pbrMetallicRoughness"].erase("metallicRoughnessTexture");
  source["textures"][1].erase("source");
  expect_survival(source, written);
  expect_same_static_data(test::GltfDocument(folder / "cube.gltf"),
                          test::GltfDocument(other / "cube.glb"));
  SUPPLE_EXPECT_VALID_GLTF({other / "cube.glb"});
}

TEST(GltfCleanup, LeavesOutImagesOfNoKnownKind) {
  const test::TemporaryFolder folder;
  json source = textured_cube(folder.path());
  write_file(folder / "lost.png", std::string_view("root:x:0:0:not an image"));
  write_file(folder / "red pixel.png", std::string_view(""));
  write_file(folder / "cube.gltf", source.dump());
  GltfDocument document = read_gltf_document(folder / "cube.gltf");
  const std::vector<std::string> problems = embed_images(document);
  ASSERT_EQ(problems.size(), 2u);
  for (const std::string& problem : problems)
    EXPECT_NE(problem.find("is not a PNG"), std::string::npos) << problem;
  EXPECT_FALSE(document.root.contains("images"));
}

TEST(GltfCleanup, KeepsEverythingBesideUnknownExtensions) {
  const test::TemporaryFolder folder;
  json source = textured_cube(folder.path());
  source["extensionsUsed"] = {"ACME_secret"};
  source["extensions"] = {{"ACME_secret", {{"accessor", 0}}}};
  write_file(folder / "cube.gltf", source.dump());
  const GltfDocument document = read_gltf_document(folder / "cube.gltf");
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, &character.clips[0], 4);
  write_glb(folder / "cube.glb", skin, {}, &document);
  test::expect_shows(folder / "cube.glb", skin);
  const test::GltfDocument before(folder / "cube.gltf"), after(folder / "cube.glb");
  for (size_t a = 0; a < source["accessors"].size(); ++a)
    EXPECT_EQ(before.accessor(a).values, after.accessor(a).values);
}

TEST(GltfCleanup, RefusesBrokenReferences) {
  // Data no mesh of the scene uses is not looked at by the reader, but it is by the writer.
  const test::GltfSample sample = test::split_seams();
  const auto refusal = [&](const std::function<void(json&)>& spoil) {
    json root = sample.document;
    spoil(root);
    const test::TemporaryFolder folder;
    try {
      const GltfDocument document =
          parse_gltf_document(test::make_glb(root, sample.binary), "x.glb", "");
      const Character character = character_from_gltf(document);
      write_glb(folder / "x.glb", test::animated(character, &character.clips[0], 2), {}, &document);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
      return std::string(error.what());
    }
    return std::string("(accepted)");
  };
  const json stray = {{"buffer", 7}, {"byteLength", 4}};
  const auto unused_node = [](json& root, const json& mesh) {
    root["meshes"].push_back(mesh);
    root["nodes"].push_back({{"mesh", root["meshes"].size() - 1}});
  };
  EXPECT_EQ(refusal([](json&) {}), "(accepted)");
  EXPECT_EQ(refusal([&](json& r) { r["bufferViews"].push_back(stray); }), "(accepted)");
  for (const std::string& message :
       {refusal([&](json& r) {
          r["extensionsUsed"] = {"ACME_secret"};  // so that nothing is thrown away
          r["bufferViews"].push_back(stray);
        }),
        refusal([&](json& r) {
          r["nodes"].push_back({{"mesh", 99}});
        }),
        refusal([&](json& r) {
          r["nodes"].push_back({{"mesh", "box"}});
        }),
        refusal([&](json& r) {
          unused_node(r, {{"primitives", {{{"attributes", {{"POSITION", 9999}}}}}}});
        }),
        refusal([&](json& r) {
          unused_node(r, {{"primitives", {{{"attributes", {{"POSITION", "x"}}}}}}});
        }),
        refusal([&](json& r) {
          r["bufferViews"].push_back(stray);
          r["images"] = {{{"bufferView", r["bufferViews"].size() - 1}, {"mimeType", "image/png"}}};
        })})
    EXPECT_TRUE(message.starts_with("x.glb: ")) << message;
}

}  // namespace
}  // namespace supple
