// Bodies of tetrahedra with implicit steps in scenes with contact: falling, pushed aside, resumed.
#include <gtest/gtest.h>

#include "sim/rigged_bar.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/sim/implicit_tet_body.h"
#include "supple/sim/session.h"

namespace supple {
namespace {

using test::box_character;

Character prop(const Vec3d& size, const Vec3d& centre) {
  Character character = box_character(size, centre, 0.4);
  character.parts[0].rigid = true;
  bind_rigidly(character);
  return character;
}

Scene implicit_scene(int frames) {
  Scene scene;
  scene.body.type = "tets";
  scene.body.size = 0.3;
  scene.body.young = 1e5;
  scene.body.poisson = 0.3;
  scene.body.tets.elements = 100;
  scene.body.tets.law = Law::neo_hookean;
  scene.body.tets.dynamics = TetDynamics::implicit_steps;
  scene.body.tets.stiffness_damping = 0.005;
  scene.body.substeps = 2;
  scene.body.contact.colliders.resize(1);
  scene.body.contact.colliders[0].friction = 0.5;
  scene.frames.last = frames;
  scene.frames.rate = 48;
  return scene;
}

// A post that a ball pushes aside.
Scene pushed_post(int frames) {
  Scene scene = implicit_scene(frames);
  scene.body.size = 0.8;
  scene.body.gravity.acceleration = {0, 0, 0};
  scene.body.fixed.resize(1);
  scene.body.fixed[0].select.plane = PlaneSelection{{0, 0.12, 0}, {0, -1, 0}};
  ColliderSettings& ball = scene.body.contact.colliders[0];
  ball.type = ColliderType::sphere;
  ball.radius = 0.1;
  ball.centre = {-0.2, 0.6, 0};
  ScriptSettings across;
  across.translate = {0.2, 0, 0};
  across.keys = {{0, 0}, {0.4, 1}};
  ball.motion = {across};
  return scene;
}

Character post() { return prop({0.16, 0.8, 0.16}, {0, 0.4, 0}); }

TEST(ImplicitTetContact, FallsAndComesToRest) {
  Scene scene = implicit_scene(60);
  const auto character = std::make_shared<Character>(prop({0.2, 0.2, 0.3}, {0, 0.2, 0}));
  Session session(character, scene, nullptr, "test");
  FrameRecord record, before;
  while (!session.done()) {
    before = record;
    EXPECT_TRUE(session.advance(record).warnings.empty());
    for (const Vec3f& p : record.body.positions) EXPECT_GT(p.y(), -1e-3f);
  }
  float lowest = 1, moved = 0;
  for (size_t v = 0; v < record.body.positions.size(); ++v) {
    lowest = std::min(lowest, record.body.positions[v].y());
    moved = std::max(moved, (record.body.positions[v] - before.body.positions[v]).norm());
  }
  EXPECT_LT(lowest, 0);
  EXPECT_LT(moved, 1e-4f);
}

TEST(ImplicitTetContact, IsPushedAsideByABall) {
  const Scene scene = pushed_post(24);
  const auto character = std::make_shared<Character>(post());
  Session session(character, scene, nullptr, "test");
  FrameRecord record;
  double deepest = 0;
  while (!session.done()) session.advance(record);
  const Vec3f ball(0, 0.6f, 0);
  float pushed = 0;
  for (size_t v = 0; v < record.body.positions.size(); ++v) {
    deepest =
        std::max(deepest, 0.1 - static_cast<double>((record.body.positions[v] - ball).norm()));
    pushed = std::max(pushed, record.body.positions[v].x() - character->skin.positions[v].x());
  }
  EXPECT_LT(deepest, 2e-3);
  EXPECT_GT(pushed, 0.15f);
}

TEST(ImplicitTetContact, GoesOnWithTheSameBits) {
  Scene scene = pushed_post(16);
  scene.body.adjust.inertia = 0.5;
  const auto character = std::make_shared<Character>(post());
  Session whole(character, scene, nullptr, "test"), first(character, scene, nullptr, "test"),
      second(character, scene, nullptr, "test");
  FrameRecord a, b;
  for (int f = 0; f < 12; ++f) first.advance(b);
  second.load(first.save(), "test");
  for (int f = 0; f < 16; ++f) whole.advance(a);
  for (int f = 12; f < 16; ++f) second.advance(b);
  EXPECT_EQ(a.body.positions, b.body.positions);
}

TEST(ImplicitTetContact, BodiesOnNothingAreRefused) {
  Scene scene = implicit_scene(2);
  scene.body.contact.colliders.clear();
  const auto character = std::make_shared<Character>(post());
  EXPECT_THROW(Session(character, scene, nullptr, "test"), Error);
  scene = implicit_scene(2);
  scene.body.adjust.frequency = 0.5;
  EXPECT_THROW(Session(character, scene, nullptr, "test"), Error);
}

}  // namespace
}  // namespace supple
