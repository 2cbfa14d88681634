// Baked glTF files: where their vertices are, in every frame, for every kind of mesh instance.
#include "supple/io/gltf_writer.h"

#include <chrono>
#include <set>

#include "io/bake_test_support.h"
#include "io/export_test_support.h"
#include "supple/core/parallel.h"
#include "support/gltf_document.h"
#include "support/gltf_sample_parts.h"
#include "support/gltf_shapes.h"

namespace supple {
namespace {

using nlohmann::json;
using test::GltfSample;

/// A character with the document it is from and the skins to bake from it.
struct Case {
  std::string name;
  GltfDocument document;
  std::vector<AnimatedSkin> skins;
};

Case make_case(const std::string& name, GltfDocument document, int frames, size_t most_clips) {
  Case result{name, std::move(document), {}};
  const Character character = character_from_gltf(result.document);
  for (size_t c = 0; c < std::min(character.clips.size(), most_clips); ++c)
    result.skins.push_back(test::animated(character, &character.clips[c], frames));
  return result;
}

std::vector<Case> own_cases() {
  std::vector<Case> cases;
  for (const GltfSample& sample : test::gltf_samples())
    cases.push_back(make_case(sample.name,
                              parse_gltf_document(sample.bytes, sample.name + ".glb", ""), 20, 99));
  return cases;
}

std::vector<Case> real_cases() {
  std::vector<Case> cases;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(*test::assets() / "gltf")) {
    const auto extension = entry.path().extension();
    if (extension != ".glb" && extension != ".gltf") continue;
    const bool large = std::filesystem::file_size(entry.path()) > 300'000;
    cases.push_back(make_case(entry.path().stem().string(), read_gltf_document(entry.path()),
                              large ? 5 : 20, 2));
  }
  return cases;
}

/// Writes every skin of every case with and without its document, and checks the files.
void expect_round_trips(const std::vector<Case>& cases) {
  const test::TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  for (const Case& c : cases)
    for (size_t s = 0; s < c.skins.size(); ++s)
      for (const bool bare : {false, true}) {
        SCOPED_TRACE(c.name + ", clip " + c.skins[s].name + (bare ? ", bare" : ""));
        files.push_back(folder / fmt::format("{}-{}{}.glb", c.name, s, bare ? "-bare" : ""));
        const BakeReport report =
            write_glb(files.back(), c.skins[s], {}, bare ? nullptr : &c.document);
        EXPECT_EQ(report.targets, c.skins[s].frame_count - 1);
        EXPECT_FALSE(report.compressed);
        EXPECT_EQ(report.largest_error, 0);
        test::expect_shows(files.back(), c.skins[s]);
      }
  SUPPLE_EXPECT_VALID_GLTF(files);
}

TEST(GltfWriter, BakesOwnSamples) { expect_round_trips(own_cases()); }

TEST(GltfWriter, BakesRealCharacters) {
  SUPPLE_NEEDS_ASSETS();
  expect_round_trips(real_cases());
}

/// A tube that shivers at random, which no small basis can hold.
AnimatedSkin noisy_tube(int frames) {
  const GltfSample sample = test::rigged_tube();
  const Character character = character_from_gltf(parse_gltf_document(sample.bytes, "t.glb", ""));
  std::mt19937 random(5);
  std::normal_distribution<float> noise(0, 0.01f);
  std::vector<std::vector<Vec3f>> all;
  for (int f = 0; f < frames; ++f) {
    all.push_back(test::posed(character, &character.clips[0], 2.0 * f / frames));
    for (Vec3f& p : all.back()) p += Vec3f(noise(random), noise(random), noise(random));
  }
  return test::with_frames(test::animated(character, nullptr, 1), std::move(all));
}

TEST(GltfWriter, ApproximatesManyFramesAndSaysHowWell) {
  const test::TemporaryFolder folder;
  const GltfSample sample = test::rigged_tube();
  const GltfDocument document = parse_gltf_document(sample.bytes, "t.glb", "");
  const AnimatedSkin skin = noisy_tube(400);
  for (const GltfDocument* source : {&document, static_cast<const GltfDocument*>(nullptr)}) {
    const BakeReport report = write_glb(folder / "many.glb", skin, {}, source);
    EXPECT_EQ(report.targets, most_morph_targets);
    EXPECT_TRUE(report.compressed);
    EXPECT_GT(report.largest_error, 1e-3);  // the noise does not fit, and that is admitted
    EXPECT_NEAR(test::read_back(folder / "many.glb", skin, false).largest, report.largest_error,
                1e-5);
    const test::GltfDocument written(folder / "many.glb");
    const json& mesh = written.root()["meshes"][0];
    EXPECT_EQ(mesh["primitives"][0]["targets"].size(), 255u);
    const json& sampler = written.root()["animations"][0]["samplers"][0];
    const auto weights = written.accessor(sampler["output"]);
    ASSERT_EQ(weights.count, 400u * 255u);
    for (size_t t = 0; t < 255; ++t) EXPECT_EQ(mesh["weights"][t], weights.values[t]);
    EXPECT_EQ(written.accessor(sampler["input"]).values[399], double(399 / 24.0f));
  }
  SUPPLE_EXPECT_VALID_GLTF({folder / "many.glb"});
}

TEST(GltfWriter, KeepsUpTo256FramesExact) {
  const test::TemporaryFolder folder;
  const AnimatedSkin skin = noisy_tube(256);
  const BakeReport report = write_glb(folder / "exact.glb", skin, {});
  EXPECT_EQ(report.targets, 255);
  EXPECT_FALSE(report.compressed);
  EXPECT_LE(test::read_back(folder / "exact.glb", skin, false).share, 1e-6);
  EXPECT_TRUE(write_glb(folder / "more.glb", noisy_tube(257), {}).compressed);
}

TEST(GltfWriter, WritesOneFrameWithoutAnimation) {
  const test::TemporaryFolder folder;
  const GltfSample sample = test::morph_cube();
  const GltfDocument document = parse_gltf_document(sample.bytes, "cube.glb", "");
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, &character.clips[0], 1);
  for (const GltfDocument* source : {&document, static_cast<const GltfDocument*>(nullptr)}) {
    EXPECT_EQ(write_glb(folder / "one.glb", skin, {}, source).targets, 0);
    const test::GltfDocument written(folder / "one.glb");
    EXPECT_FALSE(written.root().contains("animations"));
    for (const json& mesh : written.root()["meshes"]) {
      EXPECT_FALSE(mesh.contains("weights"));
      EXPECT_FALSE(mesh["primitives"][0].contains("targets"));
    }
    for (const json& node : written.root()["nodes"]) EXPECT_FALSE(node.contains("weights"));
    test::expect_shows(folder / "one.glb", skin);
  }
  SUPPLE_EXPECT_VALID_GLTF({folder / "one.glb"});
}

TEST(GltfWriter, FailuresLeaveNoTrace) {
  const test::Writer bare = [](const auto& path, const auto& skin, const auto& options) {
    write_glb(path, skin, options);
  };
  test::expect_failures_leave_no_trace(bare, "out.glb");
  test::expect_progress(bare, "out.glb");
}

TEST(GltfWriter, RefusesMoreThanAFileCanHoldBeforeReadingFrames) {
  const test::TemporaryFolder folder;
  AnimatedSkin skin;
  skin.rest.assign(750'000, Vec3f::Zero());
  skin.frame_count = 300;
  skin.frame = [](int) -> SkinFrame { throw std::runtime_error("a frame was read"); };
  test::expect_output_error([&] { write_glb(folder / "big.glb", skin, {}); },
                            {"big.glb", "4 GiB", ".pc2"});
}

TEST(GltfWriter, RefusesADocumentTheSkinIsNotFrom) {
  const test::TemporaryFolder folder;
  const std::vector<Case> cases = own_cases();
  int refused = 0;
  for (const Case& from : cases)
    for (const Case& other : cases) {
      if (&from == &other) continue;
      try {
        write_glb(folder / "x.glb", from.skins[0], {}, &other.document);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        ++refused;
      }
    }
  EXPECT_GE(refused, 40);
  EXPECT_THROW(write_glb(folder / "x.glb", test::moving_strips(1, 3), {}, &cases[0].document),
               Error);
}

/// A character of boxes hung on nodes, each turned by an animation; `nodes[i]` carries a box.
struct Boxes {
  test::GltfBuilder builder;
  int mesh = 0;
  std::vector<int> roots;
  json spin = {{"name", "spin"}};

  Boxes() {
    const test::TestShape box = test::make_cube(0.5);
    mesh = test::add_mesh(builder, "box", {{"POSITION", builder.add_points(box.points)}},
                          builder.add_indices(box.indices, test::Component::uint16));
  }

  /// Adds a root node with a box; it turns where `moving`.
  int add(const test::TestTransform& at, const std::string& name, bool moving = true) {
    json node = at.node(name);
    node["mesh"] = mesh;
    const int index = builder.add("nodes", node);
    roots.push_back(index);
    if (moving) {
      std::vector<double> turns;
      test::append_rotation(turns, test::turn(0, {1, 0, 0}));
      test::append_rotation(turns, test::turn(2, {1, 2, 3}));
      builder.add_channel(spin, index, "rotation", "LINEAR", {0, 1}, turns, "VEC4");
    }
    return index;
  }

  GltfDocument document() {
    test::set_roots(builder, roots);
    builder.add("animations", spin);
    return parse_gltf_document(test::finish("boxes", builder).bytes, "boxes.glb", "");
  }
};

test::TestTransform placed(const Eigen::Vector3d& at, const Eigen::Vector3d& scale) {
  test::TestTransform result;
  result.translation = at;
  result.scale = scale;
  return result;
}

TEST(GltfWriter, GivesEveryInstanceItsOwnMesh) {
  const test::TemporaryFolder folder;
  Boxes boxes;
  boxes.add(placed({0, 0, 0}, {1, 1, 1}), "plain");
  boxes.add(placed({2, 1, 0}, {-1, 1, 2}), "mirrored");
  boxes.add(placed({-3, 0, 0}, {-2, -1, -1}), "turned inside out", false);
  const GltfDocument document = boxes.document();
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, &character.clips[0], 9);
  write_glb(folder / "boxes.glb", skin, {}, &document);
  test::expect_shows(folder / "boxes.glb", skin);
  const json root = test::GltfDocument(folder / "boxes.glb").root();
  EXPECT_EQ(root["nodes"].size(), 3u);
  EXPECT_EQ(root["meshes"].size(), 3u);
  std::set<int> meshes;
  for (const json& node : root["nodes"]) meshes.insert(node["mesh"].get<int>());
  EXPECT_EQ(meshes.size(), 3u);
  SUPPLE_EXPECT_VALID_GLTF({folder / "boxes.glb"});
}

TEST(GltfWriter, MovesMeshesOutOfNodesThatCannotHoldThem) {
  // Flat in one direction, flat in all, and all but flat at first, askew and thick later: positions
  // in that node's space would be so large that rounding showed.
  const test::TemporaryFolder folder;
  Boxes boxes;
  const int flat = boxes.add(placed({1, 0, 0}, {1, 0, 1}), "flat");
  boxes.add(placed({0, 0, 0}, {1, 1, 1}), "plain");
  const int none = boxes.add(placed({0, 3, 0}, {0, 0, 0}), "none", false);
  test::TestTransform turned;
  turned.rotation = test::turn(0.7, {1, 1, 1});
  json inner = turned.node("sheared");
  inner["mesh"] = boxes.mesh;
  const int sheared = boxes.builder.add("nodes", inner);
  json outer = placed({0, 0, 2}, {1, 1, 1e-5}).node("squash");
  outer["children"] = {sheared};
  boxes.roots.push_back(boxes.builder.add("nodes", outer));
  boxes.builder.add_channel(boxes.spin, boxes.roots.back(), "scale", "LINEAR", {0, 1},
                            {1, 1, 1e-5, 1, 1, 1}, "VEC3");
  const GltfDocument document = boxes.document();
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, &character.clips[0], 9);
  write_glb(folder / "boxes.glb", skin, {}, &document);
  test::expect_shows(folder / "boxes.glb", skin, {1, 0, 2, 3});
  const json root = test::GltfDocument(folder / "boxes.glb").root();
  for (const int node : {flat, none, sheared}) {
    EXPECT_FALSE(root["nodes"][static_cast<size_t>(node)].contains("mesh"));
  }
  ASSERT_EQ(root["nodes"].size(), document.root["nodes"].size() + 3);
  EXPECT_EQ(root["nodes"].back()["name"], "sheared");
  SUPPLE_EXPECT_VALID_GLTF({folder / "boxes.glb"});
}

TEST(GltfWriter, IgnoresWhereASkinnedMeshHangs) {
  // The node of a skinned mesh does not move it, so that it may well be kilometres away.
  const test::TemporaryFolder folder;
  GltfSample sample = test::rigged_tube();
  for (json& node : sample.document["nodes"])
    if (node.contains("skin")) node["translation"] = {1e6, 0, 0};
  const Bytes bytes = test::make_glb(sample.document, sample.binary);
  const GltfDocument document = parse_gltf_document(bytes, "far.glb", "");
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, &character.clips[0], 9);
  write_glb(folder / "far.glb", skin, {}, &document);
  test::expect_shows(folder / "far.glb", skin);
}

TEST(GltfWriter, WritesSkinsWithoutParts) {
  const test::TemporaryFolder folder;
  AnimatedSkin skin = test::moving_strips(1001, 5);
  const AnimatedSkin parted = skin;
  skin.parts.clear();
  write_glb(folder / "whole.glb", skin, {});
  Part whole;
  whole.vertices = {0, static_cast<int32_t>(skin.rest.size())};
  whole.triangles = {0, static_cast<int32_t>(skin.triangles.size())};
  skin.parts = {whole};
  test::expect_shows(folder / "whole.glb", skin);
  // Parts that share vertices cannot be meshes of their own.
  AnimatedSkin sharing = parted;
  sharing.parts[1].vertices = sharing.parts[0].vertices = whole.vertices;
  write_glb(folder / "sharing.glb", sharing, {});
  test::expect_shows(folder / "sharing.glb", skin);
  // Colours beyond white, maps that are not numbers, and names glTF does not know.
  AnimatedSkin odd = parted;
  odd.attributes[1].values[3] = 2;
  odd.attributes[2].values[3] = NAN;
  odd.attributes.push_back({"wrinkles", 1, std::vector<float>(odd.rest.size(), 1)});
  write_glb(folder / "odd.glb", odd, {});
  test::expect_shows(folder / "odd.glb", odd);
  const Character back = read_gltf(folder / "odd.glb");
  ASSERT_NE(back.attribute("TEXCOORD_0"), nullptr);
  EXPECT_EQ(back.attribute("TEXCOORD_0")->values, parted.attributes[0].values);
  EXPECT_NE(back.attribute("_wrinkles"), nullptr);
  EXPECT_EQ(back.parts[0].material, "red fur");
  SUPPLE_EXPECT_VALID_GLTF(
      (std::vector{folder / "whole.glb", folder / "sharing.glb", folder / "odd.glb"}));
}

TEST(GltfWriter, LeavesOutPrimitivesWithoutPositions) {
  // All primitives of a mesh must have as many morph targets; one without vertices has none.
  const test::TemporaryFolder folder;
  GltfSample sample = test::split_seams();
  json& primitives = sample.document["meshes"][0]["primitives"];
  json empty = primitives[0];
  empty["attributes"].erase("POSITION");
  primitives.insert(primitives.begin(), empty);
  const GltfDocument document =
      parse_gltf_document(test::make_glb(sample.document, sample.binary), "cube.glb", "");
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, &character.clips[0], 4);
  write_glb(folder / "cube.glb", skin, {}, &document);
  test::expect_shows(folder / "cube.glb", skin);
  SUPPLE_EXPECT_VALID_GLTF({folder / "cube.glb"});
}

TEST(GltfWriter, WritesTheSameBytesForAnyNumberOfThreads) {
  const test::TemporaryFolder folder;
  const AnimatedSkin skin = noisy_tube(300);
  set_thread_count(1);
  write_glb(folder / "one.glb", skin, {});
  set_thread_count(3);
  write_glb(folder / "three.glb", skin, {});
  set_thread_count(0);
  EXPECT_TRUE(read_file(folder / "one.glb") == read_file(folder / "three.glb"));
}

TEST(GltfWriter, BakesAWalkQuickly) {
  SUPPLE_NEEDS_ASSETS();
  const test::TemporaryFolder folder;
  const GltfDocument document = read_gltf_document(*test::assets() / "gltf/human.glb");
  const Character character = character_from_gltf(document);
  const AnimatedSkin skin = test::animated(character, character.clip("walk"), 85);
  const auto start = std::chrono::steady_clock::now();
  write_glb(folder / "walk.glb", skin, {}, &document);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", fmt::format("{:.3f}", taken.count()));
  EXPECT_LT(taken.count(), 10 * test::slowness);  // far above what it takes, for busy machines
}

}  // namespace
}  // namespace supple
