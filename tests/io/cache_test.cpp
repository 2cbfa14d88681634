// The native cache: what goes in comes out, resume is strict, and damage is found.
#include "supple/io/cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/gltf_reader.h"
#include "supple/math/flat.h"
#include "support/gltf_samples.h"
#include "support/test_support.h"

namespace supple {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

// A small run in a folder of its own: a character on disk and the frames to write.
class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    write_file(folder / "tube.glb", ByteView(test::rigged_tube().bytes));
    character = read_gltf(folder / "tube.glb");
    character.attributes.push_back({"_STIFFNESS", 1, std::vector<float>(vertices(), 0.5f)});
    range.first = 1001;
    range.last = 1006;
    range.preroll = 2;
    settings = {{"body", {{"type", "skinning"}}}, {"frames", {{"first", 1001}, {"rate", 24.0}}}};
    info = cache_info(character, range, settings, cache);
  }

  size_t vertices() const { return character.skin.positions.size(); }

  FrameRecord record(int frame) const {
    FrameRecord result;
    result.frame = frame;
    result.time = (frame - 1001) / 24.0;
    result.body.positions = character.skin.positions;
    for (Vec3f& p : result.body.positions) p[1] += static_cast<float>(frame) / 7;
    for (size_t j = 0; j < character.skeleton.size(); ++j) {
      Affine m = Affine::Identity();
      m.translate(Vec3d(static_cast<double>(j), 0.5, frame));
      m.rotate(Eigen::AngleAxisd(0.25 * frame, Vec3d::UnitY()));
      result.joints.push_back(m);
    }
    Chunk extras;
    extras.add<float>("map/stress", std::vector<float>(vertices(), static_cast<float>(frame)));
    extras.add<int32_t>("mesh/cells", std::vector<int32_t>{1, 2, 3, 4}, 4);
    result.body.extras = extras.arrays();
    return result;
  }

  Chunk state(int next) const {
    Chunk chunk;
    const std::vector<int32_t> value = {next};
    chunk.add<int32_t>("session/next_frame", value);
    return chunk;
  }

  // A cache with frames up to `last` and a checkpoint after them.
  CacheWriter written(int last) const {
    CacheWriter writer = CacheWriter::create(cache, info);
    for (int frame = range.first; frame <= last; ++frame) writer.write_frame(record(frame));
    writer.write_checkpoint(state(last + 1));
    return writer;
  }

  fs::path frame_file(int frame) const {
    return cache / "frames" / (std::to_string(frame) + ".chunk");
  }

  void expect_resume_refused(const CacheInfo& other, const std::string& words) const {
    try {
      CacheWriter::resume(cache, other);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with((cache / "index.json").string()));
    }
  }

  TemporaryFolder folder;
  fs::path cache = folder / "out.supple";
  Character character;
  FrameRange range;
  Json settings;
  CacheInfo info;
};

void flip_byte(const fs::path& path, size_t at) {
  Bytes bytes = read_file(path);
  bytes.at(at) ^= std::byte{0x10};
  write_file(path, ByteView(bytes));
}

TEST_F(CacheTest, IndexRoundTrips) {
  written(1002);
  const CacheReader reader(cache);
  const CacheInfo& read = reader.info();
  EXPECT_EQ(read.name, character.name);
  EXPECT_EQ(read.source, "tube.glb");
  EXPECT_EQ(read.source_sum, checksum(test::rigged_tube().bytes));
  EXPECT_EQ(read.settings, settings);
  EXPECT_EQ(read.range.first, 1001);
  EXPECT_EQ(read.range.last, 1006);
  EXPECT_EQ(read.range.preroll, 2);
  EXPECT_EQ(read.skin.positions, character.skin.positions);
  EXPECT_EQ(read.skin.triangles, character.skin.triangles);
  ASSERT_EQ(read.parts.size(), character.parts.size());
  EXPECT_EQ(read.parts[0].name, character.parts[0].name);
  EXPECT_EQ(read.parts[0].vertices.count, character.parts[0].vertices.count);
  EXPECT_EQ(read.parts[0].triangles.count, character.parts[0].triangles.count);
  EXPECT_EQ(read.parts[0].source_node, character.parts[0].source_node);
  ASSERT_EQ(read.attributes.size(), character.attributes.size());
  EXPECT_EQ(read.attributes.back().name, "_STIFFNESS");
  EXPECT_EQ(read.attributes.back().values, character.attributes.back().values);
  ASSERT_EQ(read.joints.size(), character.skeleton.size());
  for (size_t j = 0; j < read.joints.size(); ++j) {
    EXPECT_EQ(read.joints[j].name, character.skeleton.joints[j].name);
    EXPECT_EQ(read.joints[j].parent, character.skeleton.joints[j].parent);
    EXPECT_EQ(read.joints[j].is_bone, character.skeleton.joints[j].is_bone);
  }
  EXPECT_TRUE(fs::equivalent(reader.source_path(), folder / "tube.glb"));
}

TEST_F(CacheTest, FramesRoundTripWithExtras) {
  written(1006);
  const CacheReader reader(cache);
  EXPECT_EQ(reader.frame_count(), 6);
  for (int frame = 1001; frame <= 1006; ++frame) {
    const CacheFrame read = reader.read_frame(frame);
    const FrameRecord expected = record(frame);
    EXPECT_EQ(read.frame, frame);
    EXPECT_EQ(read.time, expected.time);
    EXPECT_EQ(read.positions, expected.body.positions);
    ASSERT_EQ(read.joints.size(), expected.joints.size());
    for (size_t j = 0; j < read.joints.size(); ++j)
      EXPECT_TRUE(read.joints[j].isApprox(expected.joints[j], 1e-6));
    ASSERT_EQ(read.extras.size(), 2u);
    EXPECT_EQ(read.extras[0].name, "map/stress");
    EXPECT_EQ(read.extras[0].data, expected.body.extras[0].data);
    EXPECT_EQ(read.extras[1].name, "mesh/cells");
    EXPECT_EQ(read.extras[1].components, 4u);
  }
  const AnimatedSkin skin = reader.animated_skin();
  EXPECT_EQ(skin.frame_count, 6);
  EXPECT_EQ(skin.first_frame, 1001);
  EXPECT_EQ(skin.map_names, std::vector<std::string>{"stress"});
  EXPECT_EQ(skin.frame(5).positions, record(1006).body.positions);
  EXPECT_EQ(skin.frame(5).maps[0], std::vector<float>(vertices(), 1006));
}

TEST_F(CacheTest, ConstantOverlaysLieInTheStaticChunk) {
  Chunk overlay;
  overlay.add<int32_t>("mesh/tetrahedra", std::vector<int32_t>{0, 1, 2, 3}, 4);
  overlay.add<float>("collider/vertices", std::vector<float>{1, 2, 3, 4, 5, 6}, 3);
  info.extras = overlay.arrays();
  written(1001);
  const CacheReader reader(cache);
  ASSERT_EQ(reader.info().extras.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(reader.info().extras[i].name, info.extras[i].name);
    EXPECT_EQ(reader.info().extras[i].components, info.extras[i].components);
    EXPECT_EQ(reader.info().extras[i].data, info.extras[i].data);
  }
  EXPECT_EQ(reader.info().attributes.size(), character.attributes.size());
}

TEST_F(CacheTest, FrameBytesAreTheStoredOnesAndChecked) {
  written(1002);
  const CacheReader reader(cache);
  const fs::path file = cache / "frames" / "1002.chunk";
  EXPECT_EQ(reader.read_frame_bytes(1002), read_file(file));
  Bytes damaged = read_file(file);
  damaged[damaged.size() / 2] ^= std::byte{1};
  write_file(file, ByteView(damaged));
  EXPECT_THROW(reader.read_frame_bytes(1002), Error);
  EXPECT_THROW(reader.read_frame_bytes(1003), Error);
}

TEST_F(CacheTest, KnowsWhetherARunIsWritingIt) {
  {
    const CacheWriter writer = CacheWriter::create(cache, info);
    EXPECT_TRUE(is_being_written(cache));
  }
  EXPECT_FALSE(is_being_written(cache));
}

TEST_F(CacheTest, FramesMayHaveNegativeNumbers) {
  info.range.first = -2;
  info.range.last = 1;
  {
    const CacheWriter writer = CacheWriter::create(cache, info);
    for (int frame = -2; frame <= 1; ++frame) writer.write_frame(record(frame));
    writer.write_checkpoint(state(2));
  }
  const CacheReader reader(cache);
  EXPECT_EQ(reader.frame_count(), 4);
  EXPECT_EQ(reader.read_frame(-2).positions, record(-2).body.positions);
  EXPECT_TRUE(CacheWriter::resume(cache, info).usable_checkpoint().has_value());
}

TEST_F(CacheTest, FrameCountFollowsAGrowingCache) {
  const CacheWriter writer = CacheWriter::create(cache, info);
  const CacheReader reader(cache);
  EXPECT_EQ(reader.frame_count(), 0);
  EXPECT_EQ(reader.animated_skin().frame_count, 0);
  writer.write_frame(record(1001));
  EXPECT_EQ(reader.frame_count(), 1);
  writer.write_frame(record(1003));  // a gap ends the count
  EXPECT_EQ(reader.frame_count(), 1);
  writer.write_frame(record(1002));
  EXPECT_EQ(reader.frame_count(), 3);
}

TEST_F(CacheTest, ATrailingSlashChangesNothing) {
  const fs::path slashed = cache.string() + "/";
  EXPECT_EQ(cache_info(character, range, settings, slashed).source, "tube.glb");
  written(1001);
  EXPECT_TRUE(fs::equivalent(CacheReader(slashed).source_path(), folder / "tube.glb"));
}

TEST_F(CacheTest, ResumeTakesUpTheCheckpoint) {
  written(1003);
  const auto found = CacheWriter::resume(cache, info).usable_checkpoint();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->get<int32_t>("session/next_frame", 1, 1, "x")[0], 1004);
}

TEST_F(CacheTest, ResumeRefusesOtherSettingsAndNamesThem) {
  written(1002);
  CacheInfo other = info;
  other.settings["frames"]["rate"] = 25.0;
  expect_resume_refused(other, "settings.frames.rate");
  other = info;
  other.settings["output"] = Json::object();
  expect_resume_refused(other, "settings.output");
  other = info;
  other.settings["body"].erase("type");
  expect_resume_refused(other, "settings.body.type");
  other = info;
  other.range.last = 1010;
  expect_resume_refused(other, "frames");
  other = info;
  other.source_sum ^= 1;
  expect_resume_refused(other, "character file has changed");
  EXPECT_EQ(CacheReader(cache).frame_count(), 2);
}

TEST_F(CacheTest, ResumeIgnoresTheOrderOfSettings) {
  written(1002);
  info.settings = {{"frames", {{"rate", 24}, {"first", 1001}}}, {"body", {{"type", "skinning"}}}};
  EXPECT_NO_THROW(CacheWriter::resume(cache, info));
}

TEST_F(CacheTest, ChangedCharacterFileIsNoticed) {
  written(1002);
  flip_byte(folder / "tube.glb", 60);
  expect_resume_refused(cache_info(character, range, settings, cache), "source");
}

TEST_F(CacheTest, MissingOrDamagedFramesMakeTheCheckpointUseless) {
  const CacheWriter writer = written(1004);
  flip_byte(frame_file(1003), 500);
  EXPECT_FALSE(writer.usable_checkpoint().has_value());
  EXPECT_THROW(CacheReader(cache).read_frame(1003), Error);
  writer.write_frame(record(1003));
  EXPECT_TRUE(writer.usable_checkpoint().has_value());
  fs::remove(frame_file(1001));
  EXPECT_FALSE(writer.usable_checkpoint().has_value());
  writer.write_frame(record(1001));
  fs::copy_file(frame_file(1001), frame_file(1002), fs::copy_options::overwrite_existing);
  EXPECT_FALSE(writer.usable_checkpoint().has_value()) << "frame 1001 stands in for 1002";
  writer.write_frame(record(1002));
  EXPECT_TRUE(writer.usable_checkpoint().has_value());
  flip_byte(cache / "checkpoint.chunk", 90);
  EXPECT_FALSE(writer.usable_checkpoint().has_value());
  fs::remove(cache / "checkpoint.chunk");
  EXPECT_FALSE(writer.usable_checkpoint().has_value());
}

TEST_F(CacheTest, CheckpointsOutsideTheRangeAreUseless) {
  const CacheWriter writer = written(1006);
  EXPECT_TRUE(writer.usable_checkpoint().has_value());
  for (const int next : {1000, 1008, -5, 2147483647}) {
    writer.write_checkpoint(state(next));
    EXPECT_FALSE(writer.usable_checkpoint().has_value()) << next;
  }
}

TEST_F(CacheTest, LeftoverTemporariesAreIgnoredAndRemoved) {
  written(1003);
  const fs::path leftovers[] = {cache / "frames/1004.chunk.77.0.tmp~",
                                cache / "checkpoint.chunk.77.1.tmp~"};
  for (const fs::path& path : leftovers) write_file(path, "half a fra");
  EXPECT_EQ(CacheReader(cache).frame_count(), 3);
  CacheWriter::resume(cache, info);
  for (const fs::path& path : leftovers) EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(CacheReader(cache).frame_count(), 3);
}

TEST_F(CacheTest, CreateReplacesAnOlderCacheWholly) {
  written(1005);
  write_file(cache / "report.json", "{}");
  write_file(cache / "frames/1004.chunk.77.0.tmp~", "half");
  write_file(cache / "index.json.77.0.tmp~", "half");
  CacheWriter::create(cache, info);
  EXPECT_EQ(CacheReader(cache).frame_count(), 0);
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cache))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 2u);
}

TEST_F(CacheTest, CreateTakesOverWhatAKilledProgramLeft) {
  written(1003);
  fs::remove(cache / "index.json");  // killed between two steps of create()
  write_file(cache / "index.json.77.0.tmp~", "half");
  CacheWriter::create(cache, info);
  EXPECT_EQ(CacheReader(cache).frame_count(), 0);
  fs::remove(cache / "index.json");
  fs::remove(cache / "static.chunk");
  EXPECT_NO_THROW(CacheWriter::create(cache, info));
}

TEST_F(CacheTest, CreateLeavesOtherFoldersAlone) {
  const auto refused = [&](const fs::path& precious) {
    make_folder(precious.parent_path());
    write_file(precious, "precious");
    try {
      CacheWriter::create(cache, info);
      ADD_FAILURE() << precious;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::output);
    }
    EXPECT_EQ(as_text(read_file(precious)), "precious");
    fs::remove_all(cache);
  };
  refused(cache / "notes.txt");
  refused(cache / "frames" / "0001.png");
  refused(cache / "frames" / "deeper" / "1.chunk");
  refused(cache);  // a file of that name
  make_folder(cache);
  EXPECT_NO_THROW(CacheWriter::create(cache, info));  // an empty folder is fine
}

TEST_F(CacheTest, MissingFilesAreNamed) {
  const auto problem = [&] {
    try {
      const CacheReader reader(cache);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(problem().find("no such folder"), std::string::npos);
  make_folder(cache);
  EXPECT_NE(problem().find("no index.json"), std::string::npos);
  fs::remove_all(cache);
  written(1001);
  fs::remove(cache / "static.chunk");
  EXPECT_NE(problem().find("static.chunk"), std::string::npos);
  EXPECT_FALSE(is_cache(cache));
  CacheWriter::create(cache, info);
  EXPECT_EQ(problem(), "");
  flip_byte(cache / "static.chunk", 100);
  EXPECT_NE(problem().find("damaged"), std::string::npos);
  EXPECT_THROW(CacheReader(folder / "tube.glb"), Error);
}

TEST_F(CacheTest, FramesOfAnotherCharacterAreRefused) {
  const CacheWriter writer = written(1001);
  FrameRecord other = record(1002);
  other.body.positions.pop_back();
  other.body.extras.clear();
  writer.write_frame(other);
  EXPECT_THROW(CacheReader(cache).read_frame(1002), Error);
  other = record(1003);
  other.joints.pop_back();
  writer.write_frame(other);
  EXPECT_THROW(CacheReader(cache).read_frame(1003), Error);
  other = record(1004);
  other.body.positions[5][0] = std::numeric_limits<float>::quiet_NaN();
  writer.write_frame(other);
  EXPECT_THROW(CacheReader(cache).read_frame(1004), Error);
}

// Gives a damaged chunk a fitting size and checksum, so that the code behind them is reached.
Bytes resealed(Bytes bytes) {
  if (bytes.size() < 40) return bytes;
  const auto size = static_cast<uint64_t>(bytes.size());
  std::memcpy(bytes.data() + 16, &size, 8);
  const uint64_t sum = checksum(ByteView(bytes).first(bytes.size() - 8));
  std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
  return bytes;
}

TEST_F(CacheTest, DamagedFramesAreRefused) {
  const Bytes good = frame_chunk(record(1001)).serialise();
  const auto read = [&](const Bytes& bytes) {
    frame_from_chunk(Chunk::parse(bytes, "f.chunk"), vertices(), character.skeleton.size(),
                     "f.chunk");
  };
  test::expect_damage_is_refused(good, read);
  test::expect_damage_is_refused(
      good, [&](const Bytes& b) { read(resealed(b)); }, 200, 1000);
}

TEST_F(CacheTest, DamagedIndexAndStaticChunkAreRefused) {
  written(1001);
  const Bytes index = read_file(cache / "index.json");
  const Bytes fixed = read_file(cache / "static.chunk");
  test::expect_damage_is_refused(
      index, [&](const Bytes& b) { parse_cache_index(b, fixed, "index.json"); }, 300, 1000);
  test::expect_damage_is_refused(
      fixed, [&](const Bytes& b) { parse_cache_index(index, b, "index.json"); });
  // The same with checksums that fit.
  const auto read_resealed = [&](const Bytes& b) {
    const Bytes sealed = resealed(b);
    Json json = parse_json(index, "index.json");
    json["static_checksum"] = fmt::format("{:016x}", checksum(sealed));
    parse_cache_index(as_bytes(json.dump()), sealed, "index.json");
  };
  test::expect_damage_is_refused(fixed, read_resealed, 100, 300);
}

TEST_F(CacheTest, AbsurdIndicesAreRefused) {
  written(1001);
  const Bytes fixed = read_file(cache / "static.chunk");
  const Json good = parse_json(read_file(cache / "index.json"), "index.json");
  const auto refused = [&](const char* pointer, const Json& value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    EXPECT_THROW(parse_cache_index(as_bytes(bad.dump()), fixed, "index.json"), Error) << pointer;
  };
  EXPECT_NO_THROW(parse_cache_index(as_bytes(good.dump()), fixed, "index.json"));
  refused("/format", "other");
  refused("/version", 2);
  refused("/vertices", 5);
  refused("/vertices", -1);
  refused("/triangles", 1e300);
  refused("/frames/last", 1000);
  refused("/frames/last", 999999999);
  refused("/frames/rate", 0);
  refused("/frames/preroll", -1);
  refused("/joints/0/parent", 0);
  refused("/joints/1/name", 3);
  refused("/parts/0/vertices", Json::array({1, static_cast<int64_t>(vertices())}));
  refused("/parts/0/triangles", Json::array({0, -1}));
  refused("/parts/0/joint", 99);
  refused("/source/checksum", "12345");
  refused("/static_checksum", "0000000000000000");
}

}  // namespace
}  // namespace supple
