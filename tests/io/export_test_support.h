// What the tests of the exports share: a small skin in motion with awkward numbers and names, and
// the promises every export makes about failures.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/io/animated_skin.h"
#include "support/test_support.h"

namespace supple::test {

using Writer =
    std::function<void(const std::filesystem::path&, const AnimatedSkin&, const ExportOptions&)>;

/// Two strips of triangles that meet in a seam of doubled vertices, moving at random: positions of
/// many magnitudes, names with spaces, quotes and umlauts, texture coordinates, colours, two maps.
inline AnimatedSkin moving_strips(int first_frame, int frame_count, double rate = 24,
                                  int columns = 5) {
  AnimatedSkin skin;
  skin.name = "Bär 7 \"big\"";
  skin.first_frame = first_frame;
  skin.frame_count = frame_count;
  skin.rate = rate;
  for (int part = 0; part < 2; ++part) {
    supple::Part p;
    p.name = "fur & <skin>";
    p.material = part == 0 ? "red fur" : "";
    p.vertices = {static_cast<int32_t>(skin.rest.size()), 2 * columns};
    p.triangles = {static_cast<int32_t>(skin.triangles.size()), 2 * (columns - 1)};
    for (int row = 0; row < 2; ++row)
      for (int c = 0; c < columns; ++c)
        skin.rest.emplace_back(0.1f * static_cast<float>(c), 0.3f * static_cast<float>(part + row),
                               0.01f * static_cast<float>(c * c));
    for (int c = 0; c + 1 < columns; ++c) {
      const int32_t a = p.vertices.first + c, b = a + columns;
      skin.triangles.emplace_back(a, a + 1, b);
      skin.triangles.emplace_back(a + 1, b + 1, b);
    }
    skin.parts.push_back(p);
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<float> unit(0, 1);
  const size_t vertices = skin.rest.size();
  skin.attributes = {{"TEXCOORD_0", 2, {}}, {"COLOR_0", 4, {}}, {"_STIFFNESS", 1, {}}};
  for (VertexAttribute& a : skin.attributes)
    for (size_t i = 0; i < vertices * static_cast<size_t>(a.components); ++i)
      a.values.push_back(unit(random));
  skin.map_names = {"strain", "a < \"b\""};
  skin.frame = [rest = skin.rest](int index) {
    std::mt19937 shake(static_cast<unsigned>(index) + 100);
    std::uniform_real_distribution<float> exponent(-12, 2);
    SkinFrame frame{rest, {{}, {}}};
    for (Vec3f& p : frame.positions)
      for (int k = 0; k < 3; ++k) {
        const float size = std::pow(10.0f, exponent(shake));
        p[k] = (shake() & 1 ? p[k] : 0.0f) + (shake() & 1 ? size : -size) * 0.01f;
      }
    for (size_t v = 0; v < rest.size(); ++v) {
      frame.maps[0].push_back(frame.positions[v][0] * 3);
      frame.maps[1].push_back(static_cast<float>(v) + static_cast<float>(index) / 7);
    }
    return frame;
  };
  return skin;
}

/// A position of ours in a Z-up file, written out independently of the library.
inline Vec3f z_up(const Vec3f& p) { return {p.x(), -p.z(), p.y()}; }

/// Every file under a folder (and the names of folders) with its bytes.
inline std::map<std::string, std::string> snapshot(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (entry.is_directory())
      files[name] = "(folder)";
    else
      files[name] = std::string(as_text(read_file(entry.path())));
  }
  return files;
}

/// Expects an output error of one line that contains each of `needles`.
inline void expect_output_error(const std::function<void()>& action,
                                const std::vector<std::string>& needles) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::output) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& needle : needles)
      EXPECT_NE(message.find(needle), std::string::npos) << message << "\nlacks " << needle;
  }
}

/// What every export promises: clear errors, and on any failure nothing changed on disk.
inline void expect_failures_leave_no_trace(const Writer& write, const std::string& name) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / name;
  const AnimatedSkin good = moving_strips(1001, 4);

  AnimatedSkin none = good;
  none.frame_count = 0;
  expect_output_error([&] { write(path, none, {}); }, {path.string(), "no frames to write"});
  none.frame_count = 3;
  none.frame = nullptr;
  expect_output_error([&] { write(path, none, {}); }, {path.string(), "no frames to write"});
  AnimatedSkin damaged = good;
  damaged.triangles[2][1] = 1000;
  expect_output_error([&] { write(path, damaged, {}); }, {path.string(), "triangle 2", "1000"});
  damaged = good;
  damaged.attributes[1].values.pop_back();
  expect_output_error([&] { write(path, damaged, {}); }, {path.string(), "COLOR_0"});
  damaged = good;
  damaged.rest[3][2] = INFINITY;
  expect_output_error([&] { write(path, damaged, {}); }, {path.string(), "vertex 3", "not finite"});
  damaged = good;
  damaged.rate = 0;
  expect_output_error([&] { write(path, damaged, {}); }, {path.string(), "rate"});
  damaged = good;
  damaged.first_frame = 2147483647;
  expect_output_error([&] { write(path, damaged, {}); }, {path.string(), "2147483647"});

  // Frames that fail late, without and with an older output in place.
  const auto failing = [&](const std::function<void(SkinFrame&)>& spoil) {
    AnimatedSkin skin = good;
    skin.frame = [spoil, frame = good.frame](int index) {
      SkinFrame result = frame(index);
      if (index == 2) spoil(result);
      return result;
    };
    return skin;
  };
  const AnimatedSkin throwing = failing([](SkinFrame&) { throw std::runtime_error("lost"); });
  for (int older = 0; older < 2; ++older) {
    if (older) write(path, moving_strips(1000, 3), {});
    const auto before = snapshot(folder.path());
    EXPECT_EQ(before.empty(), older == 0);
    EXPECT_THROW(write(path, throwing, {}), std::runtime_error);
    EXPECT_EQ(snapshot(folder.path()), before);
    expect_output_error(
        [&] { write(path, failing([](SkinFrame& f) { f.positions.pop_back(); }), {}); },
        {path.string(), "frame 1003", "19", "20"});
    expect_output_error([&] { write(path, failing([](SkinFrame& f) { f.maps[1].clear(); }), {}); },
                        {path.string(), "frame 1003", "map"});
    expect_output_error(
        [&] { write(path, failing([](SkinFrame& f) { f.positions[5][1] = NAN; }), {}); },
        {path.string(), "frame 1003", "vertex 5", "not finite"});
    ExportOptions cancelled;
    cancelled.progress = [](int done, int) {
      if (done == 3) throw Error(ErrorKind::interrupted, "stopped");
    };
    EXPECT_THROW(write(path, good, cancelled), Error);
    EXPECT_EQ(snapshot(folder.path()), before);
  }

  // A folder that cannot be written to: a file stands in its place (root may write anywhere else).
  write_file(folder / "plain", std::string_view("text"));
  const auto before = snapshot(folder.path());
  const std::filesystem::path blocked = folder.path() / "plain" / name;
  expect_output_error([&] { write(blocked, good, {}); }, {(folder / "plain").string()});
  EXPECT_EQ(snapshot(folder.path()), before);
}

/// Expects progress to count every frame in order.
inline void expect_progress(const Writer& write, const std::string& name) {
  TemporaryFolder folder;
  std::vector<std::pair<int, int>> seen;
  ExportOptions options;
  options.progress = [&](int done, int total) { seen.emplace_back(done, total); };
  write(folder / name, moving_strips(-1, 3), options);
  EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{1, 3}, {2, 3}, {3, 3}}));
  for (const auto& [file, bytes] : snapshot(folder.path()))
    EXPECT_FALSE(is_temporary_file(file)) << file;
}

}  // namespace supple::test
