// Skins that were split, in the cache and in every export, read back: more vertices than the input
// file has, and the map to its own.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/bake_test_support.h"
#include "supple/io/animation_reader.h"
#include "supple/io/cache.h"
#include "supple/io/export.h"
#include "supple/io/export_frames.h"
#include "supple/io/gltf_accessor.h"
#include "supple/io/gltf_accessor_writer.h"
#include "supple/io/obj_reader.h"
#include "supple/io/split_files.h"
#include "supple/rig/split_skin.h"
#include "support/gltf_sample_parts.h"

namespace supple {
namespace {

using test::GltfSample;

// A sample with its skin split into a few cells along the longest side.
struct SplitSample {
  std::string name;
  GltfDocument document;
  Character whole, split;
};

std::vector<SplitSample> split_samples(bool mirrored = false) {
  std::vector<SplitSample> result;
  for (const GltfSample& sample : test::gltf_samples()) {
    SplitSample one;
    one.name = sample.name + (mirrored ? " mirrored" : "");
    one.document = parse_gltf_document(sample.bytes, sample.name + ".glb", "");
    if (mirrored && one.document.root.contains("skins")) continue;
    if (mirrored) {
      one.document.root.erase("animations");
      for (Json& node : one.document.root["nodes"])
        if (node.contains("mesh") && !node.contains("matrix")) node["scale"] = {-1, 1, 2};
    }
    one.whole = character_from_gltf(one.document);
    one.split = one.whole;
    const Box3f box = bounding_box(one.whole.skin.positions);
    split_skin(one.split, {box.min().cast<double>() - Vec3d(0.013, 0.011, 0.017),
                           static_cast<double>(box.sizes().maxCoeff()) / 4.3});
    if (one.split.skin.positions.size() > one.whole.skin.positions.size())
      result.push_back(std::move(one));
  }
  EXPECT_GE(result.size(), mirrored ? 1 : 4);
  return result;
}

AnimatedSkin animated_split(const SplitSample& sample, int frames = 4) {
  const Clip* clip = sample.split.clips.empty() ? nullptr : sample.split.clips.data();
  AnimatedSkin skin = test::animated(sample.split, clip, frames);
  skin.split_map = sample.split.split_map;
  return skin;
}

// What the input file has of an attribute for a part's vertices, in between for new ones.
float expected_value(const SplitSample& sample, const VertexAttribute& given, int32_t vertex,
                     int component) {
  const VertexSource& source = sample.split.split_map.vertices[static_cast<size_t>(vertex)];
  double sum = 0;
  for (int k = 0; k < 3; ++k)
    sum +=
        static_cast<double>(source.weights[k]) *
        static_cast<double>(
            given.values[static_cast<size_t>(source.vertices[k] * given.components + component)]);
  return static_cast<float>(sum);
}

void expect_sources(const Character& read, const SplitSample& sample) {
  const VertexAttribute* vertices = read.attribute("_SOURCE_VERTICES");
  const VertexAttribute* weights = read.attribute("_SOURCE_WEIGHTS");
  ASSERT_TRUE(vertices && weights);
  ASSERT_EQ(read.parts.size(), sample.split.parts.size());
  for (size_t p = 0; p < read.parts.size(); ++p) {
    const Part &found = read.parts[p], &part = sample.split.parts[p];
    ASSERT_EQ(found.vertices.count, part.vertices.count);
    for (int32_t v = 0; v < found.vertices.count; ++v) {
      const VertexSource& source =
          sample.split.split_map.vertices[static_cast<size_t>(part.vertices.first + v)];
      const auto at = static_cast<size_t>(3 * (found.vertices.first + v));
      const int32_t first = sample.whole.parts[p].vertices.first;
      for (size_t k = 0; k < 3; ++k) {
        const auto i = static_cast<Eigen::Index>(k);
        EXPECT_EQ(weights->values[at + k], source.weights[i]);
        EXPECT_EQ(vertices->values[at + k], static_cast<float>(source.vertices[i] - first));
      }
    }
    // Triangles are the same, the same way round.
    for (int32_t t = 0; t < part.triangles.count; ++t) {
      const auto from = static_cast<size_t>(found.triangles.first + t);
      const auto to = static_cast<size_t>(part.triangles.first + t);
      const Vec3i a = read.skin.triangles[from].array() - found.vertices.first;
      const Vec3i b = sample.split.skin.triangles[to].array() - part.vertices.first;
      EXPECT_EQ(a, b) << "triangle " << t << " of part " << p;
    }
  }
}

TEST(SplitExport, BakedGltfKeepsMaterialsAttributesAndTheWayBack) {
  const test::TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  size_t checked = 0;
  std::vector<SplitSample> samples = split_samples();
  std::ranges::move(split_samples(true), std::back_inserter(samples));
  for (const SplitSample& sample : samples) {
    const AnimatedSkin skin = animated_split(sample);
    for (const bool bare : {false, true}) {
      SCOPED_TRACE(sample.name + (bare ? ", bare" : ""));
      files.push_back(folder / (sample.name + (bare ? "-bare.glb" : ".glb")));
      write_glb(files.back(), skin, {}, bare ? nullptr : &sample.document);
      const Character read = read_gltf(files.back());
      // Nodes of the input file are read in an order of their own.
      const bool same_order =
          bare || std::equal(read.parts.begin(), read.parts.end(), skin.parts.begin(),
                             skin.parts.end(), [](const Part& a, const Part& b) {
                               return a.name == b.name && a.vertices.count == b.vertices.count;
                             });
      if (!same_order) continue;
      ++checked;
      test::expect_shows(files.back(), skin);
      expect_sources(read, sample);
      for (const VertexAttribute& given : sample.whole.attributes) {
        const VertexAttribute* found = read.attribute(given.name);
        if (!found || found->components != given.components) continue;
        for (size_t p = 0; p < read.parts.size(); ++p)
          for (int32_t v = 0; v < read.parts[p].vertices.count; ++v)
            for (int k = 0; k < given.components; ++k)
              EXPECT_NEAR(
                  found->values[static_cast<size_t>(
                      (read.parts[p].vertices.first + v) * given.components + k)],
                  expected_value(sample, given, sample.split.parts[p].vertices.first + v, k), 1e-6)
                  << given.name;
      }
      for (size_t p = 0; !bare && p < read.parts.size(); ++p)
        EXPECT_EQ(read.parts[p].material, sample.whole.parts[p].material);
    }
  }
  EXPECT_GE(checked, files.size() - 2);
  SUPPLE_EXPECT_VALID_GLTF(files);
}

// Whole numbers that stand for things have no mean.
TEST(SplitExport, LabelsAreThoseOfTheNearestVertex) {
  SplitSample sample = split_samples().front();
  Json& primitive = sample.document.root["meshes"][0]["primitives"][0];
  const Part& part = sample.whole.parts[0];
  std::vector<uint16_t> labels;
  for (int32_t v = 0; v < part.vertices.count; ++v)
    labels.push_back(static_cast<uint16_t>(7 * (v % 3)));
  std::vector<uint16_t> padded;  // glTF wants four bytes per vertex
  for (const uint16_t label : labels) padded.insert(padded.end(), {label, 0});
  primitive["attributes"]["_FEATURE_ID_0"] =
      add_accessor(sample.document, std::as_bytes(std::span<const uint16_t>(padded)), 5123, "VEC2",
                   labels.size());
  BakeReport report;
  const GltfDocument written = bake_gltf(animated_split(sample), {}, &sample.document, report);
  const JsonField field =
      written.fields()["meshes"][size_t{0}]["primitives"][size_t{0}]["attributes"]["_FEATURE_ID_0"];
  const std::vector<float> found = read_float_accessor(written, field, 2);
  ASSERT_EQ(found.size(), static_cast<size_t>(2 * sample.split.parts[0].vertices.count));
  for (size_t v = 0; v < found.size() / 2; ++v) {
    const VertexSource& source = sample.split.split_map.vertices[v];
    Eigen::Index largest = 0;
    source.weights.maxCoeff(&largest);
    EXPECT_EQ(found[2 * v],
              static_cast<float>(labels[static_cast<size_t>(source.vertices[largest])]));
  }
}

TEST(SplitExport, AnotherFileIsRefused) {
  const std::vector<SplitSample> samples = split_samples();
  AnimatedSkin skin = animated_split(samples[0]);
  skin.split_map = {};  // as if the input had all these vertices
  const test::TemporaryFolder folder;
  const std::string problem = test::problem_of(
      [&] { write_glb(folder / "a.glb", skin, {}, &samples[0].document); }, ErrorKind::input);
  EXPECT_NE(problem.find("not the file the skin was read from"), std::string::npos);
}

// A cache of three frames of a split sample.
std::filesystem::path write_cache(const std::filesystem::path& folder, const SplitSample& sample) {
  write_file(folder / "hero.glb", serialise_glb(sample.document, "hero.glb"));
  Character character = sample.split;
  character.source = (folder / "hero.glb").string();
  FrameRange range;
  range.last = 3;
  const std::filesystem::path path = folder / "hero.supple";
  const CacheWriter writer =
      CacheWriter::create(path, cache_info(character, range, Json::object(), path));
  const AnimatedSkin skin = animated_split(sample, 3);
  for (int f = 0; f < 3; ++f) {
    FrameRecord record;
    record.frame = f + 1;
    record.joints.assign(character.skeleton.size(), Affine::Identity());
    record.body.positions = skin.frame(f).positions;
    writer.write_frame(record);
  }
  return path;
}

void expect_same_map(const SplitMap& a, const SplitMap& b) {
  ASSERT_EQ(a.vertices.size(), b.vertices.size());
  EXPECT_EQ(a.triangles, b.triangles);
  for (size_t v = 0; v < a.vertices.size(); ++v) {
    EXPECT_EQ(a.vertices[v].vertices, b.vertices[v].vertices);
    EXPECT_EQ(a.vertices[v].weights, b.vertices[v].weights);
  }
}

TEST(SplitExport, CachesKeepTheMap) {
  const test::TemporaryFolder folder;
  const SplitSample sample = split_samples().front();
  const CacheReader cache(write_cache(folder.path(), sample));
  expect_same_map(cache.info().split_map, sample.split.split_map);
  expect_same_map(cache.animated_skin().split_map, sample.split.split_map);
  EXPECT_EQ(cache.info().skin.positions, sample.split.skin.positions);
}

TEST(SplitExport, EveryFormatIsWrittenAndReadBack) {
  const test::TemporaryFolder folder;
  const SplitSample sample = split_samples().front();
  const CacheReader cache(write_cache(folder.path(), sample));
  const AnimatedSkin skin = cache.animated_skin();
  for (const char* name : {"hero.pc2", "hero.mdd", "hero.usda", "hero.pvd", "hero"}) {
    SCOPED_TRACE(name);
    const std::string told = export_cache(cache, folder / name, {});
    const AnimatedSkin read = read_animation(folder / name);
    ASSERT_EQ(read.frame_count, 3);
    ASSERT_EQ(read.rest.size(), skin.rest.size());
    EXPECT_EQ(read.triangles, skin.triangles);
    for (int f = 0; f < 3; ++f)
      for (size_t v = 0; v < skin.rest.size(); ++v)
        EXPECT_LT((read.frame(f).positions[v] - skin.frame(f).positions[v]).norm(), 1e-6f);
    expect_same_map(read.split_map, skin.split_map);  // of the cache beside it
    const bool points_only = std::string(name).ends_with("c2") || std::string(name).ends_with("dd");
    EXPECT_EQ(told.find("hero.split.obj") != std::string::npos, points_only) << told;
  }
  // The mesh that point caches are for, and the table.
  const Character mesh = read_obj(folder / "hero.split.obj");
  EXPECT_EQ(mesh.skin.positions, skin.rest);
  EXPECT_EQ(mesh.skin.triangles, skin.triangles);
  EXPECT_EQ(as_text(read_file(folder / "hero.split.csv")), split_table(skin.split_map));
  const std::string stem = file_stem(skin.name);
  EXPECT_TRUE(std::filesystem::exists(folder / ("hero/" + stem + ".split.csv")));
  const std::string usda(as_text(read_file(folder / "hero.usda")));
  EXPECT_NE(usda.find("int3[] primvars:sourceVertices"), std::string::npos);
  EXPECT_NE(usda.find("float3[] primvars:sourceWeights"), std::string::npos);
}

TEST(SplitExport, TheTableHasOneLinePerVertex) {
  SplitMap map;
  map.vertices = {{Vec3i(0, 0, 0), Vec3f(1, 0, 0)}, {Vec3i(0, 3, 0), Vec3f(0.25f, 0.75f, 0)}};
  EXPECT_EQ(split_table(map),
            "vertex,source_0,source_1,source_2,weight_0,weight_1,weight_2\n"
            "0,0,0,0,1,0,0\n"
            "1,0,3,0,0.25,0.75,0\n");
}

TEST(SplitExport, AMeshBesideAPointCacheNeverReplacesTheInput) {
  const test::TemporaryFolder folder;
  write_file(folder / "walk.split.obj", "v 0 0 0\n");
  const std::vector<std::string> inputs = {(folder / "walk.split.obj").string()};
  EXPECT_NE(test::problem_of([&] { check_export(folder / "walk.pc2", inputs); }, ErrorKind::usage)
                .find("would replace the input"),
            std::string::npos);
  check_export(folder / "run.pc2", inputs);
}

TEST(SplitExport, MapsOfDamagedCachesAreRefused) {
  const SplitSample sample = split_samples().front();
  CacheInfo info;
  info.skin = sample.split.skin;
  info.split_map = sample.split.split_map;
  const auto refusal = [&](const std::function<void(SplitMap&)>& damage) {
    const test::TemporaryFolder folder;
    CacheInfo damaged = info;
    damage(damaged.split_map);
    return test::problem_of(
        [&] {
          CacheWriter::create(folder / "a.supple", damaged);
          const CacheReader reader(folder / "a.supple");
        },
        ErrorKind::input);
  };
  EXPECT_NE(refusal([](SplitMap& m) { m.vertices[3].weights[0] = 0.5f; }).find("split/weights"),
            std::string::npos);
  EXPECT_NE(refusal([](SplitMap& m) { m.vertices[3].weights[0] = NAN; }).find("split/weights"),
            std::string::npos);
  EXPECT_NE(refusal([](SplitMap& m) { m.vertices[3].vertices[0] = -1; }).find("split/vertices"),
            std::string::npos);
  EXPECT_NE(
      refusal([](SplitMap& m) { m.vertices.back().vertices[1] = 1 << 30; }).find("split/vertices"),
      std::string::npos);
  EXPECT_NE(refusal([](SplitMap& m) { m.triangles[0] = 1 << 30; }).find("split/triangles"),
            std::string::npos);
  EXPECT_NE(refusal([](SplitMap& m) { m.vertices.pop_back(); }).find("split/"), std::string::npos);
}

}  // namespace
}  // namespace supple
