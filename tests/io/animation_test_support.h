// What the tests of the animation readers share: a random figure that stands upright and moves, the
// cache an export would have left, and plain files written without care.
#pragma once

#include <cstring>
#include <fstream>

#include "export_test_support.h"
#include "supple/io/animation_reader.h"
#include "supple/io/cache.h"
#include "support/test_support.h"

namespace supple::test {

/// A temporary folder for thousands of files.
class MemoryFolder : public TemporaryFolder {
 public:
  MemoryFolder() : TemporaryFolder(FolderPlace::memory) {}
};

/// Random triangles over a figure that is tallest along Y: it turns about Y, walks and trembles;
/// one to three parts, zero to three maps, texture coordinates and colours.
inline AnimatedSkin random_figure(unsigned seed, int first_frame, int frame_count, double rate) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::uniform_real_distribution<float> unit(-1, 1);
  AnimatedSkin skin;
  skin.name = "figure";
  skin.first_frame = first_frame;
  skin.frame_count = frame_count;
  skin.rate = rate;
  const int parts = 1 + below(3);
  for (int p = 0; p < parts; ++p) {
    Part part;
    part.name = "part" + std::to_string(p);
    part.vertices = {static_cast<int32_t>(skin.rest.size()), 4 + below(40)};
    part.triangles = {static_cast<int32_t>(skin.triangles.size()), 1 + below(60)};
    for (int v = 0; v < part.vertices.count; ++v)
      skin.rest.emplace_back(0.3f * unit(random), 0.9f + 0.9f * unit(random), 0.2f * unit(random));
    for (int t = 0; t < part.triangles.count; ++t) {
      const auto corner = [&] { return part.vertices.first + below(part.vertices.count); };
      skin.triangles.emplace_back(corner(), corner(), corner());
    }
    // The first and the last vertex are used, so that the part's vertices follow from its
    // triangles.
    skin.triangles.back()[0] = part.vertices.first;
    skin.triangles.back()[1] = part.vertices.end() - 1;
    skin.parts.push_back(part);
  }
  skin.attributes = {{"TEXCOORD_0", 2, {}}, {"COLOR_0", 3, {}}};
  for (VertexAttribute& a : skin.attributes)
    for (size_t i = 0; i < skin.rest.size() * static_cast<size_t>(a.components); ++i)
      a.values.push_back(0.5f + 0.5f * unit(random));
  for (int m = below(4); m > 0; --m) skin.map_names.push_back("map <" + std::to_string(m) + ">");
  skin.frame = [rest = skin.rest, maps = skin.map_names.size(), seed](int index) {
    std::mt19937 shake(seed * 1000 + static_cast<unsigned>(index));
    std::normal_distribution<float> tremble(0, 0.02f);
    const float turn = 0.7f * static_cast<float>(seed + static_cast<unsigned>(index));
    SkinFrame frame;
    for (const Vec3f& p : rest)
      frame.positions.emplace_back(
          std::cos(turn) * p[0] + std::sin(turn) * p[2] + tremble(shake) + 0.1f * turn,
          p[1] + tremble(shake), -std::sin(turn) * p[0] + std::cos(turn) * p[2] + tremble(shake));
    frame.positions[0][2] = 0.0f;
    frame.positions[1][0] = 1.2345678e-30f;
    for (size_t m = 0; m < maps; ++m) {
      frame.maps.emplace_back();
      for (const Vec3f& p : frame.positions) frame.maps[m].push_back(p[0] * static_cast<float>(m));
    }
    return frame;
  };
  return skin;
}

/// The cache a run of the skin would have left.
inline void write_cache(const std::filesystem::path& folder, const AnimatedSkin& skin) {
  CacheInfo info;
  info.name = skin.name;
  info.source = "figure.glb";
  info.settings = Json::object();
  info.range.first = skin.first_frame;
  info.range.last = skin.first_frame + skin.frame_count - 1;
  info.range.rate = skin.rate;
  info.skin.positions = skin.rest;
  info.skin.triangles = skin.triangles;
  info.parts = skin.parts;
  info.attributes = skin.attributes;
  const CacheWriter writer = CacheWriter::create(folder, info);
  for (int f = 0; f < skin.frame_count; ++f) {
    FrameRecord record;
    record.frame = skin.first_frame + f;
    record.body.positions = skin.frame(f).positions;
    writer.write_frame(record);
  }
}

/// Writes a file as it is, without the care for crashes that takes time.
inline void write_plainly(const std::filesystem::path& path, ByteView content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));
}

inline void write_plainly(const std::filesystem::path& path, std::string_view text) {
  write_plainly(path, as_bytes(text));
}

/// True when two lists hold the same bits.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Expects an input error of one line that contains each of `needles`.
inline void expect_input_error(const std::function<void()>& action,
                               const std::vector<std::string>& needles) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; expected " << (needles.empty() ? "" : needles.back());
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::input) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& needle : needles)
      EXPECT_NE(message.find(needle), std::string::npos) << message << "\nlacks " << needle;
  }
}

}  // namespace supple::test
