// What the tests of baked glTF files share: characters as skins in motion, written files read back
// by the library and by the independent evaluator, and the Khronos validator.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "supple/core/file.h"
#include "supple/io/gltf_reader.h"
#include "supple/io/gltf_writer.h"
#include "support/gltf_reference.h"
#include "support/gltf_samples.h"
#include "support/posed.h"
#include "support/test_support.h"

namespace supple::test {

/// A skin that shows `frames` one after the other.
inline AnimatedSkin with_frames(AnimatedSkin skin, std::vector<std::vector<Vec3f>> frames) {
  skin.frame_count = static_cast<int>(frames.size());
  skin.frame =
      [shared = std::make_shared<std::vector<std::vector<Vec3f>>>(std::move(frames))](int index) {
        return SkinFrame{shared->at(static_cast<size_t>(index)), {}};
      };
  return skin;
}

/// A character in `count` frames spread over a clip.
inline AnimatedSkin animated(const Character& character, const Clip* clip, int count) {
  AnimatedSkin skin;
  skin.name = clip ? clip->name : "still";
  skin.rest = character.skin.positions;
  skin.triangles = character.skin.triangles;
  skin.parts = character.parts;
  skin.attributes = character.attributes;
  const double start = clip ? clip->start() : 0, end = clip ? clip->end() : 1;
  std::vector<std::vector<Vec3f>> frames;
  for (int f = 0; f < count; ++f)
    frames.push_back(posed(character, clip, start + (end - start) * f / std::max(count - 1, 1)));
  return with_frames(std::move(skin), std::move(frames));
}

/// Largest distance of a part's vertices from those of a frame.
template <class Positions>
double part_error(const supple::Part& part, const Positions& found, size_t first,
                  const std::vector<Vec3f>& frame) {
  double worst = 0;
  for (size_t v = 0; v < static_cast<size_t>(part.vertices.count); ++v)
    worst = std::max(worst, (found[first + v].template cast<double>() -
                             frame[static_cast<size_t>(part.vertices.first) + v].cast<double>())
                                .norm());
  return worst;
}

/// Largest error of any vertex of any frame, in scene units and as a share of its frame's diagonal.
struct ReadBack {
  double largest = 0;
  double share = 0;
};

/// Reads a written file back at every frame's time, with the library's reader (`library`) or the
/// independent evaluator, and compares it with the skin, part by part in the order of the skin's
/// parts; `order[i]` is the skin's part that the file's part i shows (empty: as they stand).
inline ReadBack read_back(const std::filesystem::path& path, const AnimatedSkin& skin, bool library,
                          std::vector<size_t> order = {}) {
  const GltfReference reference(path);
  const Character character = read_gltf(path);
  const bool moves = reference.animation_count() > 0;
  EXPECT_EQ(moves, !character.clips.empty());
  if (order.empty()) {
    order.resize(skin.parts.size());
    std::iota(order.begin(), order.end(), size_t{0});
  }
  ReadBack result;
  for (int f = 0; f < skin.frame_count; ++f) {
    const std::vector<Vec3f> frame = skin.frame(f).positions;
    const double time = static_cast<float>(f / skin.rate);
    double worst = 0;
    if (library) {
      const auto found = posed(character, moves ? character.clips.data() : nullptr, time);
      EXPECT_EQ(character.parts.size(), order.size());
      for (size_t i = 0; i < std::min(order.size(), character.parts.size()); ++i) {
        const supple::Part& part = skin.parts.at(order[i]);
        EXPECT_EQ(character.parts[i].vertices.count, part.vertices.count);
        EXPECT_EQ(character.parts[i].triangles.count, part.triangles.count);
        const auto first = static_cast<size_t>(character.parts[i].vertices.first);
        worst = std::max(worst, part_error(part, found, first, frame));
      }
    } else {
      const auto found = reference.evaluate(moves ? 0 : -1, time);
      EXPECT_EQ(found.size(), order.size());
      for (size_t i = 0; i < std::min(order.size(), found.size()); ++i) {
        const supple::Part& part = skin.parts.at(order[i]);
        EXPECT_EQ(found[i].positions.size(), static_cast<size_t>(part.vertices.count));
        EXPECT_EQ(found[i].triangles, static_cast<size_t>(part.triangles.count));
        worst = std::max(worst, part_error(part, found[i].positions, 0, frame));
      }
    }
    Box3f box;
    for (const Vec3f& p : frame) box.extend(p);
    result.largest = std::max(result.largest, worst);
    result.share = std::max(result.share, worst / static_cast<double>(box.diagonal().norm()));
  }
  return result;
}

/// Expects a written file to show the skin to a millionth of its size in both readers.
inline void expect_shows(const std::filesystem::path& path, const AnimatedSkin& skin,
                         const std::vector<size_t>& order = {}) {
  EXPECT_LE(read_back(path, skin, false, order).share, 1e-6) << path << " (evaluator)";
  EXPECT_LE(read_back(path, skin, true, order).share, 1e-6) << path << " (library)";
}

/// What the Khronos validator says, and whether it found no error; nothing where it is not
/// installed.
struct Verdict {
  bool valid = false;
  std::string report;
};
inline std::optional<Verdict> validate(const std::vector<std::filesystem::path>& files) {
  const std::filesystem::path folder = source_folder() / "tests/node";
  if (!std::filesystem::exists(folder / "node_modules/gltf-validator") ||
      std::system("node --version > /dev/null 2>&1") != 0)
    return std::nullopt;
  std::string command = "node '" + (folder / "validate.mjs").string() + "'";
  for (const auto& file : files) command += " '" + file.string() + "'";
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  Verdict verdict;
  std::array<char, 4096> piece;
  for (size_t n; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    verdict.report.append(piece.data(), n);
  verdict.valid = pclose(pipe) == 0;
  return verdict;
}

}  // namespace supple::test

/// Expects valid glTF files; skips the test, saying so, where the validator is absent.
#define SUPPLE_EXPECT_VALID_GLTF(files)                   \
  if (const auto verdict = supple::test::validate(files)) \
    EXPECT_TRUE(verdict->valid) << verdict->report;       \
  else                                                    \
    GTEST_SKIP() << "node or tests/node/node_modules is absent (npm ci): nothing validated"
