// Animation files read back: every format through its writer, with and without the cache or mesh
// that completes it.
#include "supple/io/animation_reader.h"

#include "animation_test_support.h"
#include "supple/io/mdd_writer.h"
#include "supple/io/obj_sequence_writer.h"
#include "supple/io/pc2_writer.h"
#include "supple/io/usda_writer.h"
#include "supple/io/vtu_writer.h"

namespace supple::test {
namespace {

namespace fs = std::filesystem;

struct Format {
  const char* name;
  const char* file;
  Writer write;
  bool triangles, rate, up, maps, parts;  // what the file says
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"pc2", "walk.pc2", write_pc2, false, false, false, false, false},
      {"mdd", "walk.mdd", write_mdd, false, true, false, false, false},
      {"obj", "walk", write_obj_sequence, true, false, false, false, false},
      {"obj by name", "walk.obj", write_obj_sequence, true, false, false, false, false},
      {"usda", "walk.usda", write_usda, true, true, true, false, true},
      {"pvd", "walk.pvd", write_vtu, true, true, false, true, true}};
  return all;
}

void expect_frames(const AnimatedSkin& read, const AnimatedSkin& skin, bool maps) {
  ASSERT_EQ(read.frame_count, skin.frame_count);
  EXPECT_EQ(read.map_names, maps ? skin.map_names : std::vector<std::string>{});
  // Backwards, so that nothing depends on the order.
  for (int f = skin.frame_count - 1; f >= 0; --f) {
    const SkinFrame found = read.frame(f), expected = skin.frame(f);
    EXPECT_TRUE(same_bits(found.positions, expected.positions)) << "frame " << f;
    ASSERT_EQ(found.maps.size(), read.map_names.size());
    for (size_t m = 0; m < found.maps.size(); ++m)
      EXPECT_TRUE(same_bits(found.maps[m], expected.maps[m])) << "frame " << f << " map " << m;
  }
  expect_input_error([&] { read.frame(skin.frame_count); }, {"does not exist"});
  expect_input_error([&] { read.frame(-1); }, {"does not exist"});
}

void expect_part_ranges(const AnimatedSkin& read, const AnimatedSkin& skin) {
  ASSERT_EQ(read.parts.size(), skin.parts.size());
  for (size_t p = 0; p < skin.parts.size(); ++p) {
    EXPECT_EQ(read.parts[p].name, skin.parts[p].name);
    EXPECT_EQ(read.parts[p].vertices.first, skin.parts[p].vertices.first);
    EXPECT_EQ(read.parts[p].vertices.count, skin.parts[p].vertices.count);
    EXPECT_EQ(read.parts[p].triangles.first, skin.parts[p].triangles.first);
    EXPECT_EQ(read.parts[p].triangles.count, skin.parts[p].triangles.count);
  }
}

void expect_attributes(const AnimatedSkin& read, const AnimatedSkin& skin, float tolerance) {
  ASSERT_EQ(read.attributes.size(), skin.attributes.size());
  for (size_t a = 0; a < skin.attributes.size(); ++a) {
    EXPECT_EQ(read.attributes[a].name, skin.attributes[a].name);
    EXPECT_EQ(read.attributes[a].components, skin.attributes[a].components);
    ASSERT_EQ(read.attributes[a].values.size(), skin.attributes[a].values.size());
    for (size_t i = 0; i < skin.attributes[a].values.size(); ++i)
      EXPECT_NEAR(read.attributes[a].values[i], skin.attributes[a].values[i], tolerance);
  }
}

// What a file tells by itself; `up` helps where it does not say.
void expect_alone(const Format& format, const fs::path& path, const AnimatedSkin& skin, UpAxis up) {
  const std::optional<UpAxis> hint = format.up ? std::nullopt : std::optional(up);
  const AnimatedSkin read = read_animation(path, {}, hint);
  EXPECT_EQ(read.name, std::string_view(format.name) == "usda" || format.file == std::string("walk")
                           ? "figure"
                           : "walk");
  const bool rate_is_known = format.rate && (skin.frame_count > 1 || format.up || format.maps);
  if (rate_is_known) {
    EXPECT_EQ(read.rate, skin.rate);
    EXPECT_EQ(read.first_frame, skin.first_frame);
  } else if (format.rate) {  // one time: any rate that has a frame there
    EXPECT_NEAR(read.first_frame / read.rate, skin.first_frame / skin.rate, 1e-5);
  } else {
    EXPECT_EQ(read.rate, 24);
    EXPECT_EQ(read.first_frame, skin.first_frame);
  }
  expect_frames(read, skin, format.maps);
  EXPECT_EQ(read.triangles, format.triangles ? skin.triangles : std::vector<Vec3i>{});
  ASSERT_EQ(read.rest.size(), skin.rest.size());
  const std::vector<Vec3f> rest = format.maps ? skin.rest : skin.frame(0).positions;
  for (size_t v = 0; v < rest.size(); ++v) EXPECT_LT((read.rest[v] - rest[v]).norm(), 1e-6f);
  if (format.parts) expect_part_ranges(read, skin);
  if (format.up) expect_attributes(read, skin, 1e-7f);
}

// With the cache beside it nothing is missing, and no hint is needed.
void expect_with_cache(const Format& format, const fs::path& path, const AnimatedSkin& skin) {
  const AnimatedSkin read = read_animation(path);
  EXPECT_EQ(read.name, "figure");
  EXPECT_EQ(read.rate, skin.rate);
  EXPECT_EQ(read.first_frame, skin.first_frame);
  expect_frames(read, skin, format.maps);
  EXPECT_TRUE(same_bits(read.rest, skin.rest));
  EXPECT_EQ(read.triangles, skin.triangles);
  expect_part_ranges(read, skin);
  expect_attributes(read, skin, 0);
}

TEST(AnimationReader, EveryFormatRoundTrips) {
  unsigned seed = 0;
  for (const Format& format : formats())
    for (const UpAxis up : {UpAxis::y, UpAxis::z})
      for (const int first : {1, 1001, -5})
        for (const double rate : {23.976, 24.0, 30.0, 24000.0 / 1001}) {
          const int frames = ++seed % 3 == 0 ? 1 : 4;
          SCOPED_TRACE(fmt::format("{} up {} first {} rate {} frames {}", format.name,
                                   up == UpAxis::y ? "y" : "z", first, rate, frames));
          const AnimatedSkin skin = random_figure(seed, first, frames, rate);
          MemoryFolder folder;
          const fs::path path = folder / format.file;
          format.write(path, skin, {up, {}});
          EXPECT_TRUE(is_animation(path));
          expect_alone(format, path, skin, up);
          write_cache(folder / "walk.supple", skin);
          expect_with_cache(format, path, skin);
          if (HasFailure()) return;
        }
}

// Numbers of all magnitudes, names with quotes and umlauts, seams.
TEST(AnimationReader, AwkwardNumbersAndNames) {
  for (const Format& format : formats())
    for (const UpAxis up : {UpAxis::y, UpAxis::z}) {
      SCOPED_TRACE(format.name);
      MemoryFolder folder;
      const AnimatedSkin skin = moving_strips(7, 3);
      format.write(folder / format.file, skin, {up, {}});
      const AnimatedSkin read = read_animation(folder / format.file, {}, up);
      expect_frames(read, skin, format.maps);
      write_cache(folder / "walk.supple", skin);
      expect_frames(read_animation(folder / format.file), skin, format.maps);
      EXPECT_EQ(read_animation(folder / format.file).name, skin.name);
    }
}

TEST(AnimationReader, LongClipsKeepTheirRate) {
  for (const double rate : {23.976, 24000.0 / 1001, 25.0, 29.97, 59.94, 12.5, 1000.0 / 3})
    for (const int first : {0, 1, 86400}) {
      if (rate > 300 && first > 1) continue;  // float32 cannot tell these times apart well enough
      AnimatedSkin skin = moving_strips(first, 300, rate);
      MemoryFolder folder;
      write_mdd(folder / "a.mdd", skin, {});
      const AnimatedSkin read = read_animation(folder / "a.mdd");
      EXPECT_EQ(read.first_frame, first) << rate;
      EXPECT_NEAR(read.rate, rate, rate * 1e-4) << first;
    }
}

TEST(AnimationReader, PartsThatShareVertices) {
  AnimatedSkin skin = moving_strips(1, 2);
  for (Part& part : skin.parts) part.vertices = {0, 20};
  skin.triangles[3] = {0, 19, 4};
  skin.parts[0].name = "upper";
  skin.parts[1].name = "lower";
  MemoryFolder folder;
  write_usda(folder / "a.usda", skin, {});
  const AnimatedSkin read = read_animation(folder / "a.usda");
  EXPECT_EQ(read.triangles, skin.triangles);
  expect_part_ranges(read, skin);
  EXPECT_EQ(read.parts[0].material, "red fur");
}

TEST(AnimationReader, MeshGivesTriangles) {
  for (const UpAxis up : {UpAxis::y, UpAxis::z})
    for (const char* file : {"walk.pc2", "walk.mdd"}) {
      MemoryFolder folder;
      const AnimatedSkin skin = random_figure(5, 1, 3, 24);
      (file[5] == 'p' ? write_pc2 : write_mdd)(folder / file, skin, {up, {}});
      AnimatedSkin still = skin;  // the mesh: the rest shape as an OBJ, Y up
      still.frame_count = 1;
      still.frame = [&](int) { return SkinFrame{skin.rest, {}}; };
      still.map_names.clear();
      write_obj_sequence(folder / "rest.obj", still, {});
      const fs::path mesh = folder / "rest.0001.obj";
      AnimatedSkin read = read_animation(folder / file, mesh);
      EXPECT_EQ(read.triangles, skin.triangles);
      EXPECT_TRUE(same_bits(read.rest, skin.rest));
      EXPECT_EQ(read.parts.size(), 1u);
      expect_frames(read, skin, false);

      // A model in centimetres gives the same axes and a rest shape in metres.
      still.frame = [&](int) {
        SkinFrame frame{skin.rest, {}};
        for (Vec3f& p : frame.positions) p *= 100;
        return frame;
      };
      write_obj_sequence(folder / "rest.obj", still, {});
      read = read_animation(folder / file, mesh);
      expect_frames(read, skin, false);
      for (size_t v = 0; v < skin.rest.size(); ++v)
        EXPECT_LT((read.rest[v] - skin.rest[v]).norm(), 1e-5f);

      // A mesh in the file's own axes, said to be so.
      write_obj_sequence(folder / "rest.obj", still, {up, {}});
      read = read_animation(folder / file, mesh, up);
      expect_frames(read, skin, false);
      for (size_t v = 0; v < skin.rest.size(); ++v)
        EXPECT_LT((read.rest[v] - skin.rest[v]).norm(), 1e-5f);

      // The cache may stand elsewhere.
      write_cache(folder / "run.supple", skin);
      read = read_animation(folder / file, folder / "run.supple");
      expect_frames(read, skin, false);
      EXPECT_TRUE(same_bits(read.rest, skin.rest));
    }
}

TEST(AnimationReader, RestShapeTellsTheAxisWhereFramesAreGone) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const UpAxis up : {UpAxis::y, UpAxis::z}) {
      MemoryFolder folder;
      const AnimatedSkin skin = random_figure(seed, 1, 2, 24);
      write_pc2(folder / "a.pc2", skin, {up, {}});
      write_cache(folder / "a.supple", skin);
      fs::remove_all(folder / "a.supple/frames");
      std::vector<std::string> notes;
      const AnimatedSkin read = read_animation(folder / "a.pc2", AnimationHints{}, &notes);
      expect_frames(read, skin, false);
      EXPECT_EQ(notes.size(), up == UpAxis::z ? 1u : 0u);
    }
}

TEST(AnimationReader, CompanionsThatDoNotFit) {
  MemoryFolder folder;
  const AnimatedSkin skin = random_figure(5, 1, 3, 24), other = moving_strips(1, 3);
  const std::string count = std::to_string(skin.rest.size());
  write_obj_sequence(folder / "rest.obj", other, {});
  const fs::path mesh = folder / "rest.0001.obj";
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const fs::path path = folder / format.file;
    format.write(path, skin, {});
    expect_input_error([&] { read_animation(path, mesh); },
                       {path.string(), count, mesh.string(), "20 vertices"});
    expect_input_error([&] { read_animation(path, folder / "missing.obj"); }, {"missing.obj"});
    write_cache(folder / "walk.supple", other);
    if (format.triangles)  // the cache is of another run: the file is enough
      EXPECT_EQ(read_animation(path).triangles, skin.triangles);
    else
      expect_input_error([&] { read_animation(path); },
                         {path.string(), count, "walk.supple", "20 vertices"});
    write_plainly(folder / "walk.supple/index.json", "{}");
    if (format.triangles)
      EXPECT_EQ(read_animation(path).triangles, skin.triangles);
    else
      expect_input_error([&] { read_animation(path); }, {"index.json"});
    fs::remove_all(folder / "walk.supple");
    std::vector<std::string> notes;
    const AnimatedSkin read = read_animation(path, AnimationHints{}, &notes);
    EXPECT_EQ(read.triangles.empty(), !format.triangles);
    EXPECT_EQ(notes.size(), format.triangles ? 0u : 1u);
    fs::remove_all(path);
  }
}

TEST(AnimationReader, RateCanBeSaid) {
  MemoryFolder folder;
  for (const Format& format : formats()) {
    format.write(folder / format.file, moving_strips(5, 2, 24), {});
    const AnimatedSkin read =
        read_animation(folder / format.file, AnimationHints{{}, UpAxis::y, 30.0});
    EXPECT_EQ(read.rate, 30) << format.name;
    EXPECT_EQ(read.frame_count, 2) << format.name;
  }
}

TEST(AnimationReader, RecognisesByName) {
  MemoryFolder folder;
  for (const char* name : {"a.pc2", "a.MDD", "a.usda", "a.pvd", "a.vtu"})
    EXPECT_TRUE(is_animation(folder / name)) << name;
  for (const char* name : {"a.glb", "a.obj", "a", "a.json", "a.usdc", ""})
    EXPECT_FALSE(is_animation(folder / name)) << name;
  EXPECT_FALSE(is_animation(folder.path()));
  write_plainly(folder / "b.obj", "v 0 0 0\n");
  EXPECT_FALSE(is_animation(folder.path()));
  EXPECT_FALSE(is_animation(folder / "b.obj"));
  write_plainly(folder / "a.0007.obj", "v 0 0 0\n");
  EXPECT_TRUE(is_animation(folder.path()));
  EXPECT_TRUE(is_animation(folder / "a.obj"));
  EXPECT_FALSE(is_animation(folder / "a.0007.obj"));
  write_cache(folder / "c.supple", moving_strips(1, 1));
  EXPECT_FALSE(is_animation(folder / "c.supple"));
  for (const char* name : {"none.pc2", "none.mdd", "none.usda", "none.pvd", "none", "none.obj"})
    expect_input_error([&] { read_animation(folder / name); }, {"none"});
}

}  // namespace
}  // namespace supple::test
