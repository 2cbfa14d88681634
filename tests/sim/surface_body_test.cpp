// Bodies of surfaces in scenes: falling, being held, following a rig, many objects, checkpoints,
// threads, and what is refused.
#include "supple/sim/surface_body.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/solids.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/primitives.h"
#include "supple/mesh/weld.h"
#include "supple/sim/objects.h"

namespace supple {
namespace {

using test::box;
using test::frames;
using test::side;

constexpr double rate = 25;

// A character of one part without bones.
Character plain(TriangleMesh mesh) {
  Character character;
  character.name = "thing";
  character.skin = std::move(mesh);
  Part part;
  part.name = "thing";
  part.vertices = {0, static_cast<int32_t>(character.skin.positions.size())};
  part.triangles = {0, static_cast<int32_t>(character.skin.triangles.size())};
  character.parts.push_back(part);
  bind_rigidly(character);
  return character;
}

Scene surface_scene() {
  Scene scene;
  scene.body.type = "surface";
  return scene;
}

ColliderSettings ground() {
  ColliderSettings plane;
  plane.friction = 0.5;
  return plane;
}

// Steps from frame to frame; calls each(body) after every one.
template <class Each>
StepReport run(SurfaceBody& body, int first, int last, const Each& each) {
  StepReport report;
  Drive drive;
  for (int frame = first; frame <= last; ++frame) {
    drive.frame = frame;
    drive.time = (frame - 1) / rate;
    report = body.step(drive, 1 / rate);
    each(body);
  }
  return report;
}
StepReport run(SurfaceBody& body, int first, int last) {
  return run(body, first, last, [](const SurfaceBody&) {});
}

std::vector<Vec3f> skin_of(const SurfaceBody& body) {
  BodyFrame frame;
  body.skin(frame);
  return frame.positions;
}

float lowest(std::span<const Vec3f> positions) {
  float y = 1e9f;
  for (const Vec3f& p : positions) y = std::min(y, p[1]);
  return y;
}

bool same(std::span<const Vec3f> a, std::span<const Vec3f> b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const Vec3f& p, const Vec3f& q) {
           return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
         });
}

TEST(SurfaceBody, AMeshFallsOnTheGroundWhateverItsSize) {
  for (const double size : {0.02, 1.0, 150.0}) {
    const Character ball = plain(sphere_surface(size / 2, size / 16));
    SurfaceBody body(ball, surface_scene(), frames(100), "s.json");
    const float start = lowest(ball.skin.positions);
    // The ground is half a length below.
    const float floor = start - 0.5f * static_cast<float>(size);
    float least = start;
    run(body, 1, 100,
        [&](const SurfaceBody& now) { least = std::min(least, lowest(skin_of(now))); });
    const std::vector<Vec3f> skin = skin_of(body);
    EXPECT_NEAR(least, floor, 3e-3 * size) << size;
    EXPECT_NEAR(lowest(skin), floor, 3e-3 * size) << size;
    EXPECT_GT(static_cast<double>(bounding_box(skin).sizes()[1]), 0.9 * size) << size;
    EXPECT_LT(body.volume_error(), 2e-4);
  }
}

TEST(SurfaceBody, SplitVerticesStayTogether) {
  const Character cube = box({0.5, 0.5, 0.5});  // doubled along its edges
  SurfaceBody body(cube, surface_scene(), frames(40), "s.json");
  run(body, 1, 40);
  const std::vector<Vec3f> skin = skin_of(body);
  const Weld weld = weld_by_position(cube.skin.positions);
  for (size_t v = 0; v < skin.size(); ++v)
    EXPECT_EQ(skin[v], skin[static_cast<size_t>(
                           weld.vertex_of_point[static_cast<size_t>(weld.point_of_vertex[v])])]);
}

// Everything a scene can do at once: two kinds of objects, a moving plate, held points.
Scene busy_scene(Character& packed) {
  Scene scene = surface_scene();
  scene.objects.resize(2);
  scene.objects[0].copies = {2, 2, 1};
  scene.objects[0].apart = {0.23, 0.25, 0};
  scene.objects[0].at = {0, 0.12, 0};
  scene.objects[0].tumble = true;
  scene.objects[0].spin = {0, 90, 0};
  scene.objects[1].at = {-0.4, 0.1, 0};
  scene.objects[1].velocity = {1, 0, 0};
  scene.objects[1].density = 200;
  ColliderSettings plate;
  plate.type = ColliderType::box;
  plate.centre = {0, 0.8, 0};
  plate.size = {2, 0.1, 1};
  plate.motion = {{{0, -0.45, 0}, {}, {{0, 0}, {1, 1}}}};
  scene.body.contact.colliders = {ground(), plate};
  const ObjectModel models[] = {{plain(sphere_surface(0.1, 0.025)), {}},
                                {plain(box_surface({0.15, 0.15, 0.15}, 0.03)), {}}};
  packed = pack_objects(scene, models, "s.json");
  return scene;
}

TEST(SurfaceBody, GoesOnFromACheckpointToTheSameBits) {
  Character packed;
  const Scene scene = busy_scene(packed);
  SurfaceBody whole(packed, scene, frames(40), "s.json");
  run(whole, 1, 30);
  SurfaceBody first(packed, scene, frames(40), "s.json");
  run(first, 1, 17);
  Chunk state;
  first.save(state);
  SurfaceBody second(packed, scene, frames(40), "s.json");
  second.load(Chunk::parse(state.serialise(), "c"), "c");
  run(second, 18, 30);
  EXPECT_TRUE(same(skin_of(whole), skin_of(second)));
}

TEST(SurfaceBody, IsTheSameForAnyNumberOfThreads) {
  Character packed;
  const Scene scene = busy_scene(packed);
  std::vector<Vec3f> before;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    SurfaceBody body(packed, scene, frames(40), "s.json");
    run(body, 1, 30);
    if (!before.empty()) {
      EXPECT_TRUE(same(before, skin_of(body))) << threads;
    }
    before = skin_of(body);
  }
  set_thread_count(0);
}

// Correcting volumes must not push what touches the plate or the ground into it: vertex by vertex.
TEST(SurfaceBody, VolumesAreKeptWithoutViolatingContacts) {
  Scene scene = surface_scene();
  scene.body.surface.region_width = 2;
  scene.objects.resize(4);
  for (size_t i = 0; i < 4; ++i) scene.objects[i].at = {0.36 * static_cast<double>(i), 0.1, 0};
  scene.objects[0].spread = 1;
  scene.objects[1].spread = 0;
  scene.objects[2].spread = 0;
  scene.objects[2].inner = 0;
  scene.objects[3].keep_volume = false;
  ColliderSettings plate;
  plate.type = ColliderType::box;
  plate.centre = {0.5, 0.26, 0};
  plate.size = {2, 0.1, 1};
  plate.friction = 0.5;
  plate.motion = {{{0, -0.11, 0}, {}, {{0, 0}, {0.8, 1}}}};
  scene.body.contact.colliders = {ground(), plate};
  const Character ball = plain(sphere_surface(0.1, 0.02));
  const std::vector<ObjectModel> models(4, {ball, {}});
  const Character packed = pack_objects(scene, models, "s.json");
  SurfaceBody body(packed, scene, frames(30), "s.json");
  size_t touched = 0;
  double kept = 0, lost = 0;
  run(body, 1, 30, [&](const SurfaceBody& now) {
    for (size_t p = 0; p < now.model().size(); ++p) {
      if (now.touching()[p] == 0) continue;
      ++touched;
      for (size_t c = 0; c < now.colliders().size(); ++c)
        EXPECT_GT(now.colliders()[c].distance(now.state().positions[p].cast<double>()), -1e-5);
    }
    for (size_t o = 0; o < 4; ++o) {
      const PackedObject& object = now.model().objects[o];
      const std::span<const Vec3i> triangles(now.model().triangles.data() + object.first_triangle,
                                             object.last_triangle - object.first_triangle);
      const double volume = signed_volume(now.state().positions, triangles);
      const double rest = now.model().volume.shells[o].rest_volume;
      (o < 3 ? kept : lost) = std::max(o < 3 ? kept : lost, 1 - volume / rest);
    }
  });
  EXPECT_GT(touched, 500u);
  EXPECT_LT(kept, 0.003);
  EXPECT_GT(lost, 0.15);
}

TEST(SurfaceBody, HeldPointsAreWhereTheScriptPutsThem) {
  const Character bar = box({0.2, 1, 0.2});
  Scene scene = surface_scene();
  scene.body.gravity.acceleration = {0, 0, 0};
  const std::vector<ScriptSettings> motion = {{{0.3, 0, 0}, {{0, 1, 0}, 90, {}}, {{0, 0}, {1, 1}}}};
  scene.body.fixed = {{side({0, -0.499, 0}, {0, -1, 0}), {}},
                      {side({0, 0.499, 0}, {0, 1, 0}), motion}};
  SurfaceBody body(bar, scene, frames(60), "s.json");
  run(body, 1, 60);
  const std::vector<Vec3f> skin = skin_of(body);
  for (size_t v = 0; v < skin.size(); ++v) {
    const Vec3f& rest = bar.skin.positions[v];
    const bool is_top = rest[1] > 0.499f;
    if (!is_top && rest[1] > -0.499f) continue;
    const Vec3f expected = is_top ? Vec3f(rest[2] + 0.3f, rest[1], -rest[0]) : rest;
    EXPECT_LT((skin[v] - expected).norm(), 1e-4f);
  }
}

// A rod on two bones whose upper half swings to and fro.
Character rod() {
  Character character = plain(box({0.2, 1, 0.2}).skin);
  character.skeleton = {};
  character.binds.clear();
  character.weights = {};
  for (int j = 0; j < 2; ++j) {
    Joint joint;
    joint.name = j == 0 ? "root" : "top";
    joint.parent = j - 1;
    character.skeleton.joints.push_back(joint);
    character.binds.push_back({j, Affine::Identity()});
  }
  for (const Vec3f& p : character.skin.positions) {
    const Influence own[] = {{p[1] > 0 ? 1 : 0, 1.0f}};
    character.weights.add_vertex(own, 0);
  }
  for (Part& part : character.parts) {
    part.rigid = false;
    part.joint = -1;
  }
  character.attributes.push_back({"_FLESH", 1, {}});
  for (const Vec3f& p : character.skin.positions)
    character.attributes[0].values.push_back(p[0] > 0 ? 1.0f : 0.0f);
  return character;
}

TEST(SurfaceBody, FollowsARigSoftly) {
  const Character character = rod();
  ASSERT_TRUE(is_skinned(character));
  Scene scene = surface_scene();
  scene.body.flesh.attribute = "_FLESH";
  SurfaceBody body(character, scene, frames(60), "s.json");
  double lag = 0;
  Drive drive;
  for (int frame = 1; frame <= 60; ++frame) {
    drive.frame = frame;
    drive.time = (frame - 1) / rate;
    drive.pose = rest_pose(character);
    const double shift = frame < 10 ? 0.02 * frame : 0.2;
    drive.pose.local[1].translation = Vec3d(shift, 0, 0);
    global_matrices(character.skeleton, drive.pose, drive.joints);
    body.step(drive, 1 / rate);
    const std::vector<Vec3f> skin = skin_of(body);
    for (size_t v = 0; v < skin.size(); ++v) {
      const Vec3f& rest = character.skin.positions[v];
      const Vec3f target = rest + Vec3f(rest[1] > 0 ? static_cast<float>(shift) : 0, 0, 0);
      const auto away = static_cast<double>((skin[v] - target).norm());
      // Where there is no flesh the skin is where the rig has it.
      const bool is_soft = rest[0] > 0 && rest[1] > 0.2f;
      if (is_soft) lag = std::max(lag, away);
      EXPECT_LT(away, rest[0] <= 0 ? 1e-4 : is_soft && frame == 60 ? 0.06 : 1.0);
    }
  }
  EXPECT_GT(lag, 0.001);
}

TEST(SurfaceBody, ADetailedMeshFollows) {
  const Character fine = plain(sphere_surface(0.5, 0.04));
  Scene scene = surface_scene();
  scene.placed = {{-1, sphere_surface(0.495, 0.12), 0,
                   static_cast<int32_t>(fine.skin.positions.size()), 0,
                   static_cast<int32_t>(fine.skin.triangles.size())}};
  SurfaceBody body(fine, scene, frames(60), "s.json");
  const std::vector<Vec3f> start = skin_of(body);
  for (size_t v = 0; v < start.size(); ++v)
    EXPECT_LT((start[v] - fine.skin.positions[v]).norm(), 1e-3f);
  float least = 0;
  run(body, 1, 60, [&](const SurfaceBody& now) { least = std::min(least, lowest(skin_of(now))); });
  const std::vector<Vec3f> skin = skin_of(body);
  EXPECT_NEAR(least, -1, 0.03);
  EXPECT_NEAR(signed_volume(skin, fine.skin.triangles),
              signed_volume(fine.skin.positions, fine.skin.triangles), 0.01);
}

TEST(SurfaceBody, SpoiltStartsRecover) {
  for (const ObjectStart start : {ObjectStart::random, ObjectStart::flat, ObjectStart::point}) {
    Scene scene = surface_scene();
    scene.objects.resize(1);
    scene.objects[0].start = start;
    scene.body.gravity.acceleration = {0, 0, 0};
    const ObjectModel models[] = {{plain(sphere_surface(0.5, 0.1)), {}}};
    const Character packed = pack_objects(scene, models, "s.json");
    SurfaceBody body(packed, scene, frames(130), "s.json");
    run(body, 1, 126);
    const std::vector<Vec3f> skin = skin_of(body);
    Vec3f middle = Vec3f::Zero();
    for (const Vec3f& p : skin) middle += p / static_cast<float>(skin.size());
    double squares = 0;
    for (const Vec3f& p : skin)
      squares += std::pow(static_cast<double>((p - middle).norm()) - 0.5, 2);
    EXPECT_LT(std::sqrt(squares / static_cast<double>(skin.size())), 0.01)
        << static_cast<int>(start);
  }
}

TEST(SurfaceBody, SaysOnceWhatIsOpen) {
  TriangleMesh mesh = sphere_surface(0.5, 0.1);
  mesh.triangles.pop_back();
  mesh.positions.emplace_back(0, 0, 0);  // of no triangle
  SurfaceBody body(plain(mesh), surface_scene(), frames(5), "s.json");
  Drive drive;
  const StepReport first = body.step(drive, 1 / rate);
  EXPECT_GE(first.warnings.size(), 1u);
  drive.time = 1 / rate;
  EXPECT_TRUE(body.step(drive, 1 / rate).warnings.empty());
  for (const Vec3f& p : skin_of(body)) EXPECT_TRUE(p.allFinite());
}

std::string refusal(const Scene& scene) {
  static const Character cube = box({0.5, 0.5, 0.5});
  try {
    const SurfaceBody body(cube, scene, frames(10), "s.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "was built";
}

TEST(SurfaceBody, RefusesWhatIsNotPossible) {
  Scene scene = surface_scene();
  scene.body.pokes.resize(1);
  EXPECT_EQ(refusal(scene), "s.json: body.pokes: is not for bodies of type 'surface'");
  scene = surface_scene();
  scene.body.dynamic = false;
  EXPECT_EQ(refusal(scene), "s.json: body.dynamic: is not for bodies of type 'surface'");
  scene = surface_scene();
  scene.body.surface.stiffness = 2;
  EXPECT_NE(refusal(scene).find("stiffness"), std::string::npos);
  scene = surface_scene();
  scene.body.flesh.attribute = "_NONE";
  scene.body.fixed = {{side({0, -0.2, 0}, {0, -1, 0}), {}}};
  EXPECT_NE(refusal(scene).find("body.flesh.attribute"), std::string::npos);
  scene = surface_scene();
  scene.body.fixed = {{side({0, -5, 0}, {0, -1, 0}), {}}};
  EXPECT_NE(refusal(scene).find("body.fixed[0].select"), std::string::npos);
}

TEST(Objects, ArePutInPlace) {
  Scene scene = surface_scene();
  scene.objects.resize(2);
  scene.objects[0].copies = {2, 1, 3};
  scene.objects[0].apart = {1, 0, 2};
  scene.objects[0].scale = 2;
  scene.objects[0].turn = {{0, 0, 1}, 90, {0, 0, 0}};
  scene.objects[0].at = {10, 0, 0};
  ObjectModel models[] = {{box({0.2, 0.1, 0.1}), {}}, {box({0.1, 0.1, 0.1}), {}}};
  models[1].shown.attributes.push_back(
      {"COLOR_0", 3, std::vector<float>(3 * models[1].shown.skin.positions.size(), 0.5f)});
  const Character packed = pack_objects(scene, models, "s.json");
  ASSERT_EQ(scene.placed.size(), 7u);
  const size_t count = models[0].shown.skin.positions.size();
  EXPECT_EQ(packed.skin.positions.size(), 6 * count + models[1].shown.skin.positions.size());
  // The last copy of the first: turned so that its x is y, twice as large, at (11, 0, 4).
  for (size_t v = 0; v < count; ++v) {
    const Vec3f& p = models[0].shown.skin.positions[v];
    const Vec3f expected(11 - 2 * p[1], 2 * p[0], 4 + 2 * p[2]);
    EXPECT_LT((packed.skin.positions[5 * count + v] - expected).norm(), 1e-5f);
  }
  EXPECT_EQ(packed.parts.size(), 7u);
  const VertexAttribute* colours = packed.attribute("COLOR_0");
  ASSERT_NE(colours, nullptr);
  EXPECT_EQ(colours->values.size(), 3 * packed.skin.positions.size());
  EXPECT_EQ(colours->values.front(), 1.0f);
  EXPECT_EQ(colours->values.back(), 0.5f);
  scene.objects[0].copies = {1.5, 1, 1};
  EXPECT_THROW(pack_objects(scene, models, "s.json"), Error);
  scene.objects[0].copies = {1000, 1000, 1000};
  EXPECT_THROW(pack_objects(scene, models, "s.json"), Error);
}

}  // namespace
}  // namespace supple
