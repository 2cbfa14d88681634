// A post whose foot is jerked aside, for tests of bodies with dials in scenes.
#pragma once

#include <gtest/gtest.h>

#include "sim/rigged_bar.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/sim/session.h"

namespace supple::test {

/// A post, 0.8 m high.
inline Character jerked_post() {
  Character character = box_character({0.16, 0.8, 0.16}, {0, 0.4, 0}, 0.4);
  character.parts[0].rigid = true;
  bind_rigidly(character);
  return character;
}

/// A jerk of the foot in a quarter of a second, by `far` metres, in a scene of so many frames.
inline void jerk_foot(Scene& scene, double far, int frames) {
  scene.body.fixed.resize(1);
  scene.body.fixed[0].select.plane = PlaneSelection{{0, 0.12, 0}, {0, -1, 0}};
  ScriptSettings aside;
  aside.translate = {far, 0, 0};
  aside.keys = {{0, 0}, {0.25, 1}};
  aside.ramp = Ramp::linear;
  scene.body.fixed[0].motion = {aside};
  scene.frames.last = frames;
  scene.frames.rate = 48;
}

/// The skins of all frames, which must not warn.
inline std::vector<std::vector<Vec3f>> run_scene(const Character& character, const Scene& scene) {
  Session session(std::make_shared<Character>(character), scene, nullptr, "test");
  std::vector<std::vector<Vec3f>> skins;
  FrameRecord record;
  while (!session.done()) {
    EXPECT_TRUE(session.advance(record).warnings.empty());
    skins.push_back(record.body.positions);
  }
  return skins;
}

/// What a scene is refused with, or nothing.
inline std::string refusal(const Character& character, const Scene& scene) {
  try {
    run_scene(character, scene);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Ten frames of a post are the same after a checkpoint, and on one thread.
inline void expect_same_bits(const Scene& scene) {
  const auto character = std::make_shared<Character>(jerked_post());
  Session whole(character, scene, nullptr, "test"), first(character, scene, nullptr, "test"),
      second(character, scene, nullptr, "test");
  FrameRecord a, b;
  for (int f = 0; f < 5; ++f) first.advance(b);
  second.load(first.save(), "test");
  for (int f = 0; f < 10; ++f) whole.advance(a);
  for (int f = 5; f < 10; ++f) second.advance(b);
  EXPECT_EQ(a.body.positions, b.body.positions);
  set_thread_count(1);
  EXPECT_EQ(run_scene(*character, scene).back(), a.body.positions);
  set_thread_count(0);
}

/// The way of a post's highest vertex, m.
inline std::vector<Vec3d> top_of(const std::vector<std::vector<Vec3f>>& skins) {
  const std::vector<Vec3f> rest = jerked_post().skin.positions;
  size_t top = 0;
  for (size_t v = 0; v < rest.size(); ++v)
    if (rest[v].y() > rest[top].y()) top = v;
  std::vector<Vec3d> way;
  for (const auto& skin : skins) way.push_back(skin[top].cast<double>());
  return way;
}

}  // namespace supple::test
