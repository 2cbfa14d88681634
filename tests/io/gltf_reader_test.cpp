// The glTF reader and the rig against the independent evaluator, and against damaged files.
#include "supple/io/gltf_reader.h"

#include <fstream>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/weld.h"
#include "supple/rig/character.h"
#include "supple/sim/session.h"
#include "support/gltf_reference.h"
#include "support/gltf_samples.h"
#include "support/posed.h"
#include "support/test_support.h"

namespace supple {
namespace {

using test::GltfReference;
using test::GltfSample;
using test::posed;

void expect_same(const Character& character, const Clip* clip, const GltfReference& reference,
                 int animation, double time) {
  const std::vector<Vec3f> ours = posed(character, clip, time);
  const std::vector<test::Part> theirs = reference.evaluate(animation, time);
  Eigen::AlignedBox3d box;
  for (const test::Part& part : theirs)
    for (const Eigen::Vector3d& p : part.positions) box.extend(p);
  const double size = box.diagonal().norm();
  ASSERT_EQ(theirs.size(), character.parts.size());
  double worst = 0;
  for (size_t i = 0; i < theirs.size(); ++i) {
    const Part& part = character.parts[i];
    ASSERT_EQ(part.source_mesh, theirs[i].mesh);
    ASSERT_EQ(part.source_primitive, theirs[i].primitive);
    ASSERT_EQ(static_cast<size_t>(part.vertices.count), theirs[i].positions.size());
    EXPECT_EQ(static_cast<size_t>(part.triangles.count), theirs[i].triangles);
    for (int32_t v = 0; v < part.vertices.count; ++v)
      worst = std::max(worst, (ours[static_cast<size_t>(part.vertices.first + v)].cast<double>() -
                               theirs[i].positions[static_cast<size_t>(v)])
                                  .norm());
  }
  EXPECT_LE(worst, 1e-5 * size) << character.name << " animation " << animation << " at " << time
                                << " s";
}

void expect_every_animation_agrees(const Character& character, const GltfReference& reference,
                                   int times) {
  expect_same(character, nullptr, reference, -1, 0);
  ASSERT_EQ(character.clips.size(), reference.animation_count());
  for (size_t a = 0; a < character.clips.size(); ++a) {
    const double start = reference.animation_start(a), end = reference.animation_end(a);
    EXPECT_DOUBLE_EQ(character.clips[a].start(), start);
    EXPECT_DOUBLE_EQ(character.clips[a].end(), end);
    for (int i = -1; i <= times; ++i)  // before the first key and past the last one too
      expect_same(character, &character.clips[a], reference, static_cast<int>(a),
                  start + (end - start) * (i + 0.37) / times);
  }
}

TEST(GltfReader, AgreesWithTheSpecificationOnOwnSamples) {
  for (const GltfSample& sample : test::gltf_samples()) {
    SCOPED_TRACE(sample.name);
    const Character character =
        character_from_gltf(parse_gltf_document(sample.bytes, sample.name + ".glb", ""));
    expect_every_animation_agrees(character, GltfReference(sample.bytes), 12);
  }
}

TEST(GltfReader, AgreesWithTheSpecificationOnRealCharacters) {
  SUPPLE_NEEDS_ASSETS();
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(*test::assets() / "gltf")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".glb" && extension != ".gltf") continue;
    SCOPED_TRACE(entry.path().filename().string());
    expect_every_animation_agrees(read_gltf(entry.path()), GltfReference(entry.path()), 3);
    ++files;
  }
  EXPECT_GE(files, 15);
}

TEST(GltfReader, TakesTheRestShapeFromTheInverseBindMatrices) {
  // The node tree is bent; the rest shape must be the straight tube the binds describe.
  const GltfSample sample = test::rest_differs_from_bind();
  const GltfReference reference(sample.bytes);
  const Character character =
      character_from_gltf(parse_gltf_document(sample.bytes, "bent.glb", ""));
  ASSERT_EQ(character.clips.size(), 1u);
  const std::vector<test::Part> straight = reference.evaluate(0, reference.animation_end(0));
  ASSERT_EQ(straight.size(), 1u);
  for (size_t v = 0; v < straight[0].positions.size(); ++v)
    EXPECT_LT((character.skin.positions[v].cast<double>() - straight[0].positions[v]).norm(), 1e-5);
}

TEST(GltfReader, WeldsSeamsAndKeepsFileOrder) {
  const GltfSample sample = test::split_seams();
  const Character character =
      character_from_gltf(parse_gltf_document(sample.bytes, "cube.glb", ""));
  EXPECT_EQ(character.skin.positions.size(), 24u);
  const Weld weld = weld_by_position(character.skin.positions);
  EXPECT_EQ(weld.points(), 8u);
  const TriangleMesh mesh = welded_mesh(weld, character.skin.positions, character.skin.triangles);
  EXPECT_TRUE(analyse_topology(weld.points(), mesh.triangles).closed());
}

TEST(GltfReader, ReadsExternalBuffers) {
  const GltfSample sample = test::rigged_tube();
  const test::TemporaryFolder folder;
  nlohmann::json document = sample.document;
  document["buffers"] = {{{"byteLength", sample.binary.size()}, {"uri", "a%20tube.bin"}}};
  write_file(folder / "tube.gltf", document.dump());
  write_file(folder / "a tube.bin", Bytes(sample.binary.begin(), sample.binary.end()));
  EXPECT_EQ(read_gltf(folder / "tube.gltf").skin.positions.size(), 194u);
  write_file(folder / "a tube.bin", Bytes(sample.binary.begin(), sample.binary.begin() + 10));
  EXPECT_THROW(read_gltf(folder / "tube.gltf"), Error);
  std::filesystem::remove(folder / "a tube.bin");
  EXPECT_THROW(read_gltf(folder / "tube.gltf"), Error);
}

/// A .glb around any text, valid JSON or not.
Bytes wrapped(std::string_view text, const std::vector<std::byte>& binary) {
  std::string json(text);
  while (json.size() % 4 != 0) json += ' ';
  Bytes glb;
  append(glb, uint32_t{0x46546C67});
  append(glb, uint32_t{2});
  append(glb, static_cast<uint32_t>(28 + json.size() + binary.size()));
  append(glb, static_cast<uint32_t>(json.size()));
  append(glb, uint32_t{0x4E4F534A});
  append_text(glb, json);
  append(glb, static_cast<uint32_t>(binary.size()));
  append(glb, uint32_t{0x004E4942});
  glb.insert(glb.end(), binary.begin(), binary.end());
  return glb;
}

/// The message a changed document is refused with.
std::string refusal(const GltfSample& sample, const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json document = sample.document;
  document["buffers"] = {{{"byteLength", sample.binary.size()}}};
  change(document);
  try {
    character_from_gltf(parse_gltf_document(wrapped(document.dump(), sample.binary), "x.glb", ""));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "(accepted)";
}

TEST(GltfReader, NamesFileAndFieldOfMistakes) {
  const GltfSample tube = test::rigged_tube();
  const auto message = [&](const std::function<void(nlohmann::json&)>& change) {
    return refusal(tube, change);
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(message([](auto& d) { d["nodes"][4]["children"] = {4}; }), "cycle");
  contains(message([](auto& d) { d["nodes"][0]["children"] = {99}; }),
           "x.glb: nodes[0].children[0]: 99");
  contains(message([](auto& d) { d["accessors"][0]["count"] = -3; }),
           "x.glb: accessors[0].count: -3");
  contains(message([](auto& d) { d["accessors"][0]["count"] = 4000000000u; }),
           "x.glb: accessors[0]");
  contains(message([](auto& d) { d["accessors"][0]["bufferView"] = 1000; }),
           "accessors[0].bufferView");
  contains(message([](auto& d) { d["accessors"][0]["componentType"] = 1; }), "componentType");
  contains(message([](auto& d) { d["bufferViews"][0]["byteLength"] = 1u << 30; }),
           "bufferViews[0]");
  contains(message([](auto& d) { d["extensionsRequired"] = {"ACME_secret"}; }), "ACME_secret");
  contains(message([](auto& d) { d["asset"]["version"] = "1.0"; }), "asset.version");
  contains(message([](auto& d) { d.erase("nodes"); }), "no nodes");
  contains(message([](auto& d) { d.erase("meshes"); }), "meshes");
  contains(message([](auto& d) { d["buffers"][0]["uri"] = "/etc/passwd"; }), "not a file beside");
  contains(message([](auto& d) { d["buffers"][0]["uri"] = "https://example.org/x.bin"; }),
           "not a file beside");
  contains(message([](auto& d) { d["skins"][0]["joints"] = nlohmann::json::array(); }),
           "skins[0].joints");
  contains(message([](auto& d) { d["nodes"][0]["rotation"] = {0, 0, 0, 0}; }), "nodes[0].rotation");
  contains(message([](auto& d) {
             d["nodes"][0]["translation"] = {0, "a", 0};
           }),
           "nodes[0].translation[1]");
  contains(message([](auto& d) {
             for (auto& a : d["accessors"]) a.erase("bufferView");
             d["accessors"][0]["count"] = 4000000000u;
           }),
           "without data");
}

TEST(GltfReader, RefusesNonFiniteNumbersInBuffers) {
  const GltfSample tube = test::rigged_tube();
  const nlohmann::json& document = tube.document;
  const size_t position = document["meshes"][0]["primitives"][0]["attributes"]["POSITION"];
  const nlohmann::json& accessor = document["accessors"][position];
  const size_t view = accessor["bufferView"];
  const size_t offset =
      document["bufferViews"][view].value("byteOffset", 0) + accessor.value("byteOffset", 0);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    GltfSample damaged = tube;
    std::memcpy(damaged.binary.data() + offset, &bad, sizeof bad);
    const std::string message = refusal(damaged, [](auto&) {});
    EXPECT_NE(message.find("not a finite number"), std::string::npos) << message;
  }
}

TEST(GltfReader, SurvivesDamage) {
  unsigned seed = 100;
  for (const GltfSample& sample : test::gltf_samples()) {
    SCOPED_TRACE(sample.name);
    test::expect_damage_is_refused(
        sample.bytes,
        [](const Bytes& bytes) { character_from_gltf(parse_gltf_document(bytes, "x.glb", "")); },
        150, 150, ++seed);
  }
}

TEST(GltfReader, SurvivesDamagedJson) {
  // Flips inside the JSON text reach the reader's own checks more often than flips in the
  // container.
  unsigned seed = 200;
  for (const GltfSample& sample : test::gltf_samples()) {
    SCOPED_TRACE(sample.name);
    nlohmann::json document = sample.document;
    document["buffers"] = {{{"byteLength", sample.binary.size()}}};
    const std::string text = document.dump();
    const ByteView view = as_bytes(text);
    test::expect_damage_is_refused(
        Bytes(view.begin(), view.end()),
        [&](const Bytes& bytes) {
          const Bytes glb = wrapped(as_text(bytes), sample.binary);
          const Character character = character_from_gltf(parse_gltf_document(glb, "x.glb", ""));
          // What is accepted must be fit to pose.
          for (const Clip& clip : character.clips) posed(character, &clip, clip.end());
        },
        50, 300, ++seed);
  }
}

}  // namespace
}  // namespace supple
