// Bodies of tetrahedra in scenes: held and sagging, resumed, with bad input, on bones.
#include "supple/sim/tet_body.h"

#include <gtest/gtest.h>

#include <numbers>

#include "sim/rigged_bar.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/primitives.h"
#include "supple/mesh/tet_cage.h"
#include "supple/sim/session.h"

namespace supple {
namespace {

using test::box_character;
using test::rigged_bar;

// A box as files without bones are read: hung on one joint.
Character prop(const Vec3d& size, const Vec3d& centre = Vec3d::Zero()) {
  Character character = box_character(size, centre);
  character.parts[0].rigid = true;
  bind_rigidly(character);
  return character;
}

Scene scene_of(int frames) {
  Scene scene;
  scene.body.type = "tets";
  scene.body.size = 0.8;
  scene.body.young = 3e4;
  scene.body.poisson = 0.3;
  scene.body.tets.elements = 300;
  scene.frames.last = frames;
  scene.frames.rate = 24;
  return scene;
}

struct Course {
  std::vector<std::vector<Vec3f>> skins;
  std::vector<std::string> warnings;
};

Course run_scene(const Character& character, const Scene& scene) {
  Session session(std::make_shared<Character>(character), scene, nullptr, "test");
  Course course;
  FrameRecord record;
  while (!session.done()) {
    const FrameReport report = session.advance(record);
    course.skins.push_back(record.body.positions);
    course.warnings.insert(course.warnings.end(), report.warnings.begin(), report.warnings.end());
  }
  return course;
}

Vec3d mean(const std::vector<Vec3f>& skin) {
  Vec3d sum = Vec3d::Zero();
  for (const Vec3f& p : skin) sum += p.cast<double>();
  return sum / static_cast<double>(skin.size());
}

TEST(TetBody, RefusesWhatItCannotDo) {
  const Character box = prop({0.4, 0.4, 0.4});
  const auto message = [&](const auto& change) {
    Scene scene = scene_of(2);
    change(scene);
    try {
      run_scene(box, scene);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([](Scene& s) { s.body.pokes.emplace_back(); }).find("body.pokes"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) { s.body.contact.self = true; }).find("body.contact.self"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) {
              s.body.skeleton.mode = SkeletonMode::two_way;
            }).find("body.skeleton.mode"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) { s.body.dynamic = false; }).find("body.dynamic"),
            std::string::npos);
}

TEST(TetBody, FreeCollidersAreForTets) {
  Scene scene = scene_of(2);
  scene.body.type = "voxels";
  scene.body.contact.colliders.resize(1);
  scene.body.contact.colliders[0].type = ColliderType::box;
  scene.body.contact.colliders[0].free = "crate";
  EXPECT_THROW(run_scene(prop({0.4, 0.4, 0.4}), scene), Error);
}

// A prop falls on the ground, bounces little, and comes to rest on it.
TEST(TetBody, PropComesToRestOnTheGround) {
  Scene scene = scene_of(96);
  scene.body.size = 0.4;
  scene.body.damping = 4;
  scene.body.young = 1e5;
  scene.body.contact.colliders.resize(1);
  scene.body.contact.colliders[0].friction = 0.5;
  const Course course = run_scene(prop({0.4, 0.4, 0.4}, {0, 0.3, 0}), scene);
  EXPECT_TRUE(course.warnings.empty());
  double low = 1, moved = 0;
  for (size_t v = 0; v < course.skins[0].size(); ++v) {
    low = std::min(low, static_cast<double>(course.skins.back()[v][1]));
    moved =
        std::max(moved, static_cast<double>((course.skins.back()[v] - course.skins[90][v]).norm()));
  }
  EXPECT_GT(low, -0.02);
  EXPECT_LT(low, 0.01);
  EXPECT_LT(moved, 0.01);
  EXPECT_NEAR(mean(course.skins.back())[1], 0.2, 0.03);
}

// A block with a cavity of some width inside.
Character hollow_block(double cavity) {
  Character character = prop({0.24, 0.12, 0.24});
  if (cavity == 0) return character;
  const TriangleMesh inside = box_surface({cavity, 0.07, cavity}, 0.03);
  const auto first = static_cast<int32_t>(character.skin.positions.size());
  TriangleMesh& skin = character.skin;
  skin.positions.insert(skin.positions.end(), inside.positions.begin(), inside.positions.end());
  for (const Vec3i& t : inside.triangles)
    skin.triangles.emplace_back(first + t[0], first + t[2], first + t[1]);
  character.parts[0].vertices.count = static_cast<int32_t>(skin.positions.size());
  character.parts[0].triangles.count = static_cast<int32_t>(skin.triangles.size());
  character.weights = {};
  character.binds.clear();
  character.skeleton.joints.clear();
  bind_rigidly(character);
  return character;
}

// [Kim 2011, fig. 8]: bodies that fill the same cage differently give way to the same load in
// order.
TEST(TetBody, LessMatterInTheSameCageGivesWayMore) {
  TetCageOptions options;
  options.elements = 2500;
  const TriangleMesh whole = box_surface({0.24, 0.12, 0.24}, 0.04);
  const auto cage = std::make_shared<TetMesh>(make_tet_cage(whole, {}, options).mesh);
  std::vector<double> heights, masses;
  for (const double cavity : {0.0, 0.12, 0.18}) {
    Scene scene = scene_of(72);
    scene.body.size = 0.24;
    scene.body.young = 1e5;
    scene.body.damping = 12;
    scene.body.tets.mesh = cage;
    FixedSettings foot;
    foot.select.plane = PlaneSelection{{0, -0.058, 0}, {0, -1, 0}};
    scene.body.fixed.push_back(foot);
    ColliderSettings load;
    load.type = ColliderType::box;
    load.centre = {0, 0.076, 0};
    load.size = {0.2, 0.03, 0.2};
    load.free = "load";
    load.density = 6000;
    load.friction = 0.8;
    scene.body.contact.colliders.push_back(load);
    Session session(std::make_shared<Character>(hollow_block(cavity)), scene, nullptr, "test");
    FrameRecord record;
    while (!session.done()) session.advance(record);
    const TetCharacter& body = dynamic_cast<const TetBody&>(session.body()).simulated();
    // Of the skin under the load, at the places where it touched it first.
    double sum = 0, count = 0;
    const std::vector<Vec3f> rest = hollow_block(cavity).skin.positions;
    for (size_t v = 0; v < rest.size(); ++v)
      if (rest[v][1] > 0.0599f && std::abs(rest[v][0]) < 0.09f && std::abs(rest[v][2]) < 0.09f) {
        sum += static_cast<double>(record.body.positions[v][1]);
        count += 1;
      }
    heights.push_back(sum / count);
    masses.push_back(body.flesh.model().mass());
  }
  EXPECT_NEAR(masses[0], 1000 * 0.24 * 0.12 * 0.24, 0.07);
  EXPECT_NEAR(masses[0] - masses[2], 1000 * 0.18 * 0.07 * 0.18, 0.07);
  EXPECT_LT(heights[0], 0.06);
  EXPECT_GT(heights[0], heights[1] + 0.0005);
  EXPECT_GT(heights[1], heights[2] + 0.0005);
  EXPECT_GT(heights[2], 0.04);
}

// Where a clip is missing, bones stand still and flesh is carried by them: nothing moves.
TEST(TetBody, CarriedFleshStaysAsModelled) {
  const Character bar = rigged_bar();
  const Course course = run_scene(bar, scene_of(12));
  EXPECT_TRUE(course.warnings.empty());
  for (size_t v = 0; v < bar.skin.positions.size(); ++v)
    EXPECT_LT((course.skins.back()[v] - bar.skin.positions[v]).norm(), 0.01);
}

// Without a hold a rigged body falls as one, its joints bending as they like.
TEST(TetBody, TwoWayBodyFallsFreely) {
  Scene scene = scene_of(12);
  scene.body.skeleton.mode = SkeletonMode::two_way;
  const Course course = run_scene(rigged_bar(), scene);
  EXPECT_TRUE(course.warnings.empty());
  const double t = 11 / 24.0;
  EXPECT_NEAR((mean(course.skins.back()) - mean(course.skins.front()))[1], -9.81 * t * t / 2,
              0.01 * 9.81 * t * t);
}

TEST(TetBody, GoesOnAfterACheckpointBitForBit) {
  for (const bool two_way : {false, true}) {
    Scene scene = scene_of(24);
    if (two_way) scene.body.skeleton.mode = SkeletonMode::two_way;
    scene.body.contact.colliders.resize(2);
    scene.body.contact.colliders[0].centre = {0, -0.2, 0};
    scene.body.contact.colliders[0].friction = 0.5;
    scene.body.contact.colliders[1].type = ColliderType::box;
    scene.body.contact.colliders[1].centre = {0.4, 0.25, 0};
    scene.body.contact.colliders[1].size = {0.2, 0.1, 0.2};
    scene.body.contact.colliders[1].free = "crate";
    ControlSettings control;
    control.type = ControlType::keys;
    control.joints = {"tip"};
    control.keys = {{0, 0, 0, 0}, {0.4, 0, 0, 50}, {0.9, 0, 0, -30}};
    if (two_way) scene.body.skeleton.control.push_back(control);
    const auto character = std::make_shared<Character>(rigged_bar());
    Session whole(character, scene, nullptr, "test");
    FrameRecord record;
    Chunk saved;
    for (int f = 1; f <= 24; ++f) {
      whole.advance(record);
      if (f == 11) saved = whole.save();
    }
    const std::vector<Vec3f> expected = record.body.positions;
    Session resumed(character, scene, nullptr, "test");
    resumed.load(saved, "checkpoint");
    while (!resumed.done()) resumed.advance(record);
    EXPECT_EQ(record.body.positions, expected) << (two_way ? "two-way" : "kinematic");
  }
}

TEST(TetBody, SameBitsForAnyNumberOfThreads) {
  Scene scene = scene_of(10);
  scene.body.tets.elements = 3000;
  std::vector<Vec3f> expected;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    const Course course = run_scene(rigged_bar(), scene);
    if (expected.empty()) expected = course.skins.back();
    EXPECT_EQ(course.skins.back(), expected) << threads;
  }
  set_thread_count(0);
}

// Forces, keys and clips that no body could follow end in warnings, not in numbers that are none.
TEST(TetBody, ViolentInputIsCaught) {
  for (const int kind : {0, 1, 2, 3}) {
    Scene scene = scene_of(12);
    scene.body.contact.colliders.resize(1);
    scene.body.contact.colliders[0].centre = {0, -0.2, 0};
    if (kind == 0) scene.body.gravity.acceleration = {0, -9810, 0};
    if (kind > 0) scene.body.skeleton.mode = SkeletonMode::two_way;
    if (kind == 1) {
      ControlSettings control;
      control.type = ControlType::keys;
      control.joints = {"tip"};
      control.keys = {{0, 0, 0, 0}, {0.1, 0, 0, 0}, {0.1001, 0, 0, 170}, {0.1002, 0, 0, -170}};
      scene.body.skeleton.control.push_back(control);
    }
    if (kind == 2) scene.body.gravity.acceleration = {0, 0, 9810};
    if (kind == 3) scene.body.velocity = {0, -400, 0};
    const Course course = run_scene(rigged_bar(), scene);
    for (const std::vector<Vec3f>& skin : course.skins)
      for (const Vec3f& p : skin) ASSERT_TRUE(p.allFinite()) << kind;
    if (kind == 1) {
      EXPECT_FALSE(course.warnings.empty());
    }
  }
}

// A clip that bends the bar's joint by 40 degrees in half a second.
Clip bending() {
  Clip clip;
  clip.name = "bend";
  Channel channel;
  channel.joint = 1;
  channel.target = ChannelTarget::rotation;
  channel.width = 4;
  channel.times = {0, 0.5};
  const double half = 20 * std::numbers::pi / 180;
  channel.values = {0, 0, 0, 1, 0, 0, std::sin(half), std::cos(half)};
  clip.channels.push_back(channel);
  return clip;
}

// A skeleton that feels its flesh follows the clip joint by joint, through all steps of a frame.
TEST(TetBody, TracksAClipThroughTheFrame) {
  Character bar = rigged_bar();
  bar.clips.push_back(bending());
  Scene scene = scene_of(13);
  scene.body.gravity.acceleration = {0, 0, 0};
  scene.body.skeleton.mode = SkeletonMode::two_way;
  ControlSettings control;
  control.type = ControlType::track;
  scene.body.skeleton.control.push_back(control);
  const auto character = std::make_shared<Character>(bar);
  Session session(character, scene, character->clip("bend"), "test");
  FrameRecord record;
  for (int frame = 0; !session.done(); ++frame) {
    const FrameReport report = session.advance(record);
    EXPECT_TRUE(report.warnings.empty()) << frame << " " << report.warnings.front();
    if (frame > 0) {
      EXPECT_NEAR(report.iterations * report.time_step, 1 / 24.0, 1e-12);
    }
    const TetCharacter& body = dynamic_cast<const TetBody&>(session.body()).simulated();
    const ArticulatedBone& tip = body.skeleton().bone(1);
    const double angle = 2 * std::atan2(body.joints.q[tip.q + 2], body.joints.q[tip.q + 3]);
    EXPECT_NEAR(angle * 180 / std::numbers::pi, 40 * frame / 12.0, 0.1) << frame;
    // 40 degrees in half a second, at every frame after the first.
    if (frame > 0) {
      EXPECT_NEAR(body.joints.v[tip.v + 2] * 180 / std::numbers::pi, 80, 2) << frame;
    }
  }
}

// Speed limits are for joints that are told what to do: a body may fall as fast as it likes, and be
// modelled in any unit.
TEST(TetBody, FastFallsAreNoJumps) {
  Character bar = rigged_bar();
  for (Vec3f& p : bar.skin.positions) p *= 100;
  bar.skeleton.joints[1].rest.translation *= 100;
  bar.binds[1].rest_to_joint.translation() *= 100;
  Scene scene = scene_of(12);
  scene.body.skeleton.mode = SkeletonMode::two_way;
  ControlSettings control;
  control.type = ControlType::hold;
  scene.body.skeleton.control.push_back(control);
  EXPECT_TRUE(run_scene(bar, scene).warnings.empty());
}

// A smooth skin follows motions that are linear in space exactly, and its normals do not jump.
TEST(SmoothTetSkin, KeepsLinearMotions) {
  const TriangleMesh sphere = sphere_surface(0.5, 0.08);
  TetCageOptions options;
  options.elements = 400;
  const TetMesh mesh = make_tet_cage(sphere, {}, options).mesh;
  std::vector<Vec3d> points;
  for (const Vec3f& p : sphere.positions) points.push_back(p.cast<double>());
  const SmoothTetSkin skin(mesh, std::vector<double>(mesh.tets.size(), 1), sphere.positions,
                           locate_points(mesh, points));
  Mat3d linear;
  linear << 1.2, 0.3, -0.1, 0.1, 0.8, 0.2, 0, -0.4, 1.1;
  std::vector<Vec3d> nodes;
  for (const Vec3d& p : mesh.positions) nodes.emplace_back(linear * p + Vec3d(1, 2, 3));
  std::vector<Vec3f> out(sphere.positions.size());
  skin.interpolate(nodes, out);
  for (size_t v = 0; v < out.size(); ++v)
    EXPECT_LT((out[v].cast<double>() - linear * sphere.positions[v].cast<double>() - Vec3d(1, 2, 3))
                  .norm(),
              1e-5);
}

}  // namespace
}  // namespace supple
