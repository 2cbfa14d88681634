// Exhibits: what the page is told about files, and the chunks it gets.
#include <gtest/gtest.h>

#include <thread>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/cache.h"
#include "supple/io/gltf_reader.h"
#include "supple/io/report_file.h"
#include "support/gltf_samples.h"
#include "support/test_support.h"
#include "viewer/cache_exhibit.h"
#include "viewer/open_exhibits.h"

namespace supple::viewer {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

// A rigged tube on disk, and caches of it.
class ExhibitTest : public testing::Test {
 protected:
  ExhibitTest() {
    write_file(folder / "tube.glb", ByteView(test::rigged_tube().bytes));
    character = read_gltf(folder / "tube.glb");
  }

  CacheInfo info(int frames) const {
    FrameRange range;
    range.first = 1001;
    range.last = 1000 + frames;
    return cache_info(character, range, {{"body", {{"type", "skinning"}}}}, cache);
  }

  FrameRecord record(int frame) const {
    FrameRecord result;
    result.frame = frame;
    result.body.positions = character.skin.positions;
    result.joints.resize(character.skeleton.size(), Affine::Identity());
    Chunk extras;
    extras.add<float>("map/stretch", std::vector<float>(result.body.positions.size(), 1));
    result.body.extras = extras.arrays();
    return result;
  }

  TemporaryFolder folder;
  Character character;
  fs::path cache = folder / "tube.supple";
};

TEST_F(ExhibitTest, CacheTellsWhatItHolds) {
  {
    const CacheWriter writer = CacheWriter::create(cache, info(3));
    for (int frame = 1001; frame <= 1003; ++frame) writer.write_frame(record(frame));
    write_report(cache / "report.json", {}, {}, {}, "done");
  }
  const CacheExhibit exhibit(cache);
  const Json facts = exhibit.facts();
  EXPECT_EQ(facts["file"], "tube.supple");
  EXPECT_EQ(facts["kind"], "cache");
  EXPECT_EQ(facts["body"], "skinning");
  EXPECT_EQ(facts["frames"], Json({{"first", 1001}, {"last", 1003}, {"rate", 24.0}}));
  EXPECT_EQ(facts["vertices"], character.skin.positions.size());
  EXPECT_EQ(facts["joints"].size(), character.skeleton.size());
  EXPECT_EQ(facts["maps"], Json({"stretch"}));
  EXPECT_TRUE(facts["error"].is_null());
  EXPECT_EQ(exhibit.availability(), (Availability{3, "done"}));
  EXPECT_EQ(exhibit.static_chunk(), read_file(cache / "static.chunk"));
  EXPECT_EQ(exhibit.frame_chunk(1002), read_file(cache / "frames" / "1002.chunk"));
  EXPECT_THROW(exhibit.frame_chunk(1004), Error);
  EXPECT_THROW(exhibit.frame_chunk(-1), Error);
}

TEST_F(ExhibitTest, GrowingCacheIsFollowedToItsEnd) {
  std::optional<CacheWriter> writer(CacheWriter::create(cache, info(3)));
  const CacheExhibit exhibit(cache);
  EXPECT_EQ(exhibit.availability(), (Availability{0, "running"}));
  writer->write_frame(record(1001));
  EXPECT_EQ(exhibit.availability(), (Availability{1, "running"}));
  writer.reset();  // the run was killed: nobody writes any more
  EXPECT_EQ(exhibit.availability(), (Availability{1, "interrupted"}));
}

TEST_F(ExhibitTest, CacheMadeAnewIsNoticed) {
  {
    const CacheWriter writer = CacheWriter::create(cache, info(3));
    for (int frame = 1001; frame <= 1003; ++frame) writer.write_frame(record(frame));
  }
  const CacheExhibit exhibit(cache);
  EXPECT_EQ(exhibit.availability().frames, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file times are coarse
  const CacheWriter writer = CacheWriter::create(cache, info(5));
  writer.write_frame(record(1001));
  EXPECT_EQ(exhibit.availability(), (Availability{1, "running"}));
  EXPECT_EQ(exhibit.facts()["frames"]["last"], 1005);
}

TEST_F(ExhibitTest, RemovedCacheFailsWithWords) {
  { const CacheWriter writer = CacheWriter::create(cache, info(3)); }
  const CacheExhibit exhibit(cache);
  fs::remove_all(cache);
  EXPECT_TRUE(exhibit.availability().status.starts_with("failed: "));
  EXPECT_THROW(exhibit.static_chunk(), Error);
}

TEST_F(ExhibitTest, ReportStartsWhereAsked) {
  { const CacheWriter writer = CacheWriter::create(cache, info(3)); }
  RunReport report;
  for (int frame = 1001; frame <= 1003; ++frame) {
    report.frames.emplace_back();
    report.frames.back().frame = frame;
  }
  const CacheExhibit exhibit(cache);
  EXPECT_TRUE(exhibit.report(0).is_null());
  write_report(cache / "report.json", report, {}, {}, "done");
  EXPECT_EQ(exhibit.report(-1000)["frames"].size(), 3u);
  EXPECT_EQ(exhibit.report(1003)["frames"].size(), 1u);
  EXPECT_EQ(exhibit.report(1003)["frames"][0]["frame"], 1003);
  write_file(cache / "report.json", std::string_view("{\"frames\": 3}"));
  EXPECT_THROW(exhibit.report(0), Error);
}

TEST_F(ExhibitTest, LiveReportIsToldFromMemory) {
  const CacheWriter writer = CacheWriter::create(cache, info(3));
  const auto live = std::make_shared<LiveReport>();
  const CacheExhibit exhibit(cache, live);
  EXPECT_EQ(exhibit.availability().status, "running");
  FrameReport frame;
  frame.frame = 1001;
  frame.volume = 0.25;
  live->add(frame);
  live->set_status("done");
  EXPECT_EQ(exhibit.availability().status, "done");
  EXPECT_EQ(exhibit.report(0)["frames"][0]["volume"], 0.25);
  EXPECT_EQ(exhibit.report(1002)["frames"].size(), 0u);
}

TEST_F(ExhibitTest, CharacterGivesOneExhibitPerClip) {
  const auto exhibits = open_exhibits({(folder / "tube.glb").string()}, {});
  ASSERT_EQ(exhibits.size(), std::max<size_t>(1, character.clips.size()));
  const Json facts = exhibits[0]->facts();
  EXPECT_EQ(facts["kind"], "character");
  const int first = facts["frames"]["first"], last = facts["frames"]["last"];
  EXPECT_EQ(exhibits[0]->availability().frames, last - first + 1);
  const Chunk chunk = Chunk::parse(exhibits[0]->frame_chunk(first), "frame");
  const auto vertices = static_cast<int64_t>(character.skin.positions.size());
  EXPECT_EQ(chunk.get<float>("positions", 3, vertices, "frame").size(),
            character.skin.positions.size() * 3);
  EXPECT_THROW(exhibits[0]->frame_chunk(last + 1), Error);
  const Chunk fixed = Chunk::parse(exhibits[0]->static_chunk(), "static");
  EXPECT_NE(fixed.find("rest"), nullptr);
  EXPECT_NE(fixed.find("triangles"), nullptr);
}

TEST_F(ExhibitTest, UnknownClipIsRefused) {
  EXPECT_THROW(open_exhibits({(folder / "tube.glb").string()}, {"nonsense", ""}), Error);
}

TEST_F(ExhibitTest, OneBadFileAmongGoodOnesIsShownAsSuch) {
  const std::string good = (folder / "tube.glb").string(), bad = (folder / "none.glb").string();
  const auto exhibits = open_exhibits({good, bad}, {});
  const Json facts = exhibits.back()->facts();
  EXPECT_EQ(facts["file"], "none.glb");
  EXPECT_NE(facts["error"].get<std::string>().find("none.glb"), std::string::npos);
  EXPECT_THROW(exhibits.back()->frame_chunk(1), Error);
  EXPECT_THROW(open_exhibits({bad, bad}, {}), Error);
}

TEST_F(ExhibitTest, TetrahedraAreAnOverlay) {
  write_file(folder / "one.mesh", std::string_view("MeshVersionFormatted 1\nDimension 3\n"
                                                   "Vertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"
                                                   "0 0 1 0\nTetrahedra 1\n1 2 3 4 0\nEnd\n"));
  const auto exhibits = open_exhibits({(folder / "one.mesh").string()}, {});
  EXPECT_EQ(exhibits[0]->facts()["kind"], "mesh");
  const Chunk fixed = Chunk::parse(exhibits[0]->static_chunk(), "static");
  EXPECT_EQ(fixed.get<int32_t>("mesh/tetrahedra", 4, 1, "static").size(), 4u);
  EXPECT_EQ(fixed.get<float>("mesh/nodes", 3, 4, "static").size(), 12u);
}

TEST_F(ExhibitTest, MotionHasBonesAndNoSkin) {
  write_file(folder / "walk.bvh",
             std::string_view("HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition "
                              "Yposition Zposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\n"
                              "Frames: 2\nFrame Time: 0.04\n0 0 0\n1 2 3\n"));
  const auto exhibits = open_exhibits({(folder / "walk.bvh").string()}, {});
  const Json facts = exhibits[0]->facts();
  EXPECT_EQ(facts["kind"], "motion");
  EXPECT_EQ(facts["vertices"], 0);
  const Chunk chunk = Chunk::parse(exhibits[0]->frame_chunk(facts["frames"]["last"]), "frame");
  EXPECT_NEAR(chunk.get<float>("joints", 12, -1, "frame")[7], 2, 1e-6);
}

}  // namespace
}  // namespace supple::viewer
