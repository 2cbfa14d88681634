// Flesh on a rig: bones that hold, weight that does not show, contact that parts, and frames that
// depend on nothing but the scene. The character is a bar of two bones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sim/two_bones.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/primitives.h"
#include "supple/sim/lattice_body.h"
#include "supple/sim/session.h"
#include "support/skin_overlap.h"

namespace supple {
namespace {

using test::pose;
using test::two_bones;

BodySettings settings() { return test::bar_settings(20); }

FrameRange frames() { return test::hundred_frames(); }

double largest_difference(std::span<const Vec3d> a, std::span<const Vec3d> b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, (a[i] - b[i]).norm());
  return largest;
}

// The furthest that any vertex is from where it was modelled in 20 frames of standing still.
double sag_of(const Character& bar, LatticeBody& body) {
  BodyFrame out;
  double sag = 0;
  for (int frame = 1; frame <= 20; ++frame) {
    body.step(pose(bar, frame, 0), 1.0 / 24);
    body.skin(out);
    for (size_t v = 0; v < out.positions.size(); ++v)
      sag = std::max(sag, static_cast<double>((out.positions[v] - bar.skin.positions[v]).norm()));
  }
  return sag;
}

TEST(FleshBody, HasItsModelledShapeUnderItsWeight) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.young = 5e3;
  s.gravity.acceleration = {0, 0, -9.81};  // across the bar
  for (const WeightCarrier carrier : {WeightCarrier::tension, WeightCarrier::rest_shape}) {
    s.gravity.compensate_by = carrier;
    LatticeBody body(bar, s, frames(), "s.json");
    EXPECT_LT(sag_of(bar, body), 1e-3);
  }
  s.gravity.compensate = false;
  LatticeBody body(bar, s, frames(), "s.json");
  EXPECT_GT(sag_of(bar, body), 5e-3);
}

// With a rest shape stresses of the cells carry the weight, and the rig next to nothing.
TEST(FleshBody, RestShapesCarryTheWeight) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.young = 5e3;
  s.gravity.acceleration = {0, 0, -9.81};
  s.gravity.compensate_by = WeightCarrier::rest_shape;
  const LatticeBody body(bar, s, frames(), "s.json");
  double stretch = 0, left = 100;
  for (const BodyFact& fact : body.facts()) {
    if (fact.name == "rest stretch") stretch = fact.value;
    if (fact.name == "sag left to the rig") left = fact.value;
  }
  EXPECT_GT(stretch, 1);
  EXPECT_LT(stretch, 60);
  EXPECT_LT(left, 5);
}

TEST(FleshBody, MaterialInsideABoneFollowsIt) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.dynamic = false;
  LatticeBody body(bar, s, frames(), "s.json");
  ASSERT_EQ(body.model().rig->bones().size(), 2u);
  const Drive bent = pose(bar, 2, 70);
  body.step(pose(bar, 1, 0), 1.0 / 24);
  body.step(bent, 1.0 / 24);
  const std::vector<Vec3d> x = body.node_positions();
  int points = 0;
  for (const FleshBone& held : body.model().rig->bones()) {
    const BoneShape& bone = held.shape;
    EXPECT_GT(bone.radius, 0.01);
    const Affine motion = bent.joints[static_cast<size_t>(bone.joint)] *
                          bar.binds[static_cast<size_t>(bone.bind)].rest_to_joint;
    for (size_t n = 0; n < x.size(); ++n) {
      const Vec3d& rest = body.model().rest[n];
      // Away from the joint, where two bones pull.
      if (bone.axis_distance(rest) > bone.radius || std::abs(rest[1]) < 0.1) continue;
      if ((rest[1] > 0) != (bone.joint == 1)) continue;
      EXPECT_LT((x[n] - motion * rest).norm(), 0.01 * bone.length());
      ++points;
    }
  }
  EXPECT_GE(points, 10);
}

// Bones look like bones: what is in them follows them, and so does the skin close to them.
TEST(FleshBody, SkinCloseToABoneFollowsIt) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.cells = 40;
  s.dynamic = false;
  s.attach.thickness = 0.75;
  LatticeBody body(bar, s, frames(), "s.json");
  const Drive bent = pose(bar, 2, 60);
  body.step(pose(bar, 1, 0), 1.0 / 24);
  body.step(bent, 1.0 / 24);
  BodyFrame out;
  body.skin(out);
  const std::vector<Vec3d> x = body.node_positions();
  int inside = 0, skin = 0;
  double worst_inside = 0, worst_skin = 0;
  for (const FleshBone& held : body.model().rig->bones()) {
    const BoneShape& bone = held.shape;
    const Affine motion = bent.joints[static_cast<size_t>(bone.joint)] *
                          bar.binds[static_cast<size_t>(bone.bind)].rest_to_joint;
    // Away from the fold, where the two bones disagree.
    const auto counts = [&](const Vec3d& rest, double reach) {
      return std::abs(rest[1]) > 0.2 && (rest[1] > 0) == (bone.joint == 1) &&
             bone.axis_distance(rest) < reach;
    };
    for (size_t n = 0; n < x.size(); ++n) {
      const Vec3d& rest = body.model().rest[n];
      if (!counts(rest, bone.radius)) continue;
      worst_inside = std::max(worst_inside, (x[n] - motion * rest).norm() / bone.length());
      ++inside;
    }
    for (size_t v = 0; v < out.positions.size(); ++v) {
      const Vec3d rest = bar.skin.positions[v].cast<double>();
      if (!counts(rest, 2 * bone.radius)) continue;
      worst_skin = std::max(
          worst_skin, (out.positions[v].cast<double>() - motion * rest).norm() / bone.length());
      ++skin;
    }
  }
  fmt::print("{} points inside bones follow to {:.4f} of their length, {} of the skin to {:.4f}\n",
             inside, worst_inside, skin, worst_skin);
  EXPECT_GE(inside, 100);
  EXPECT_GE(skin, 100);
  EXPECT_LT(worst_inside, 0.01);
  EXPECT_LT(worst_skin, 0.05);
}

// Weights change along triangles, however large these are.
TEST(FleshBody, CoarseSkinsHoldAsFineOnes) {
  const Character fine = two_bones();
  Character coarse = fine;
  // The sides of a box with a ring of vertices where the weights bend.
  coarse.skin = {};
  coarse.weights = {};
  const float rings[] = {-0.5f, -0.125f, 0.125f, 0.5f};
  for (const float y : rings)
    for (const auto& [x, z] :
         {std::pair{-0.1f, -0.1f}, {0.1f, -0.1f}, {0.1f, 0.1f}, {-0.1f, 0.1f}}) {
      coarse.skin.positions.emplace_back(x, y, z);
      const float upper = std::clamp(0.5f + 4 * y, 0.0f, 1.0f);
      const Influence both[] = {{0, 1 - upper}, {1, upper}};
      coarse.weights.add_vertex(both, 0);
    }
  const auto quad = [&](int a, int b, int c, int d) {
    coarse.skin.triangles.emplace_back(a, b, c);
    coarse.skin.triangles.emplace_back(a, c, d);
  };
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 4; ++k)
      quad(4 * r + k, 4 * r + 4 + k, 4 * r + 4 + (k + 1) % 4, 4 * r + (k + 1) % 4);
  quad(0, 1, 2, 3);
  quad(15, 14, 13, 12);
  coarse.parts.resize(1);
  coarse.parts[0].vertices = {0, 16};
  coarse.parts[0].triangles = {0, static_cast<int32_t>(coarse.skin.triangles.size())};
  const LatticeModel a(fine, settings(), frames(), "s.json"),
      b(coarse, settings(), frames(), "s.json");
  ASSERT_EQ(a.rest.size(), b.rest.size());
  double worst = 0;
  for (size_t n = 0; n < a.rest.size(); ++n) {
    ASSERT_LT((a.rest[n] - b.rest[n]).norm(), 1e-6);
    const auto upper = [&](const LatticeModel& model) {
      double weight = 0;
      for (const Influence& i : model.rig->weights().of(n))
        if (i.bind == 1) weight += static_cast<double>(i.weight);
      return weight;
    };
    worst = std::max(worst, std::abs(upper(a) - upper(b)));
  }
  EXPECT_LT(worst, 0.1);
}

// Files give every part of a skin binds of its own, of the same joints.
TEST(FleshBody, BonesHoldPartsWithTheirOwnBinds) {
  Character one = two_bones(), several = one;
  const size_t binds = one.binds.size();
  several.binds.insert(several.binds.end(), one.binds.begin(), one.binds.end());
  several.weights = {};
  for (size_t v = 0; v < one.skin.positions.size(); ++v) {
    std::vector<Influence> own(one.weights.of(v).begin(), one.weights.of(v).end());
    for (Influence& i : own) i.bind += static_cast<int32_t>(v % 4 == 0 ? 0 : binds);
    several.weights.add_vertex(own, 0);
  }
  BodySettings s = settings();
  s.cells = 12;
  LatticeBody expected(one, s, frames(), "s.json"), body(several, s, frames(), "s.json");
  for (int frame = 1; frame <= 4; ++frame) {
    expected.step(pose(one, frame, 20.0 * (frame - 1)), 1.0 / 24);
    body.step(pose(several, frame, 20.0 * (frame - 1)), 1.0 / 24);
  }
  EXPECT_LT(largest_difference(expected.node_positions(), body.node_positions()), 2e-3);
}

TEST(FleshBody, EquilibriumDoesNotDependOnTheWay) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.cells = 12;
  s.dynamic = false;
  s.contact.self = false;
  s.solver.tolerance = 1e-5;
  s.solver.iterations = 100;
  LatticeBody straight(bar, s, frames(), "s.json"), round(bar, s, frames(), "s.json");
  straight.step(pose(bar, 1, 50), 1.0 / 24);
  round.step(pose(bar, 1, 0), 1.0 / 24);
  round.step(pose(bar, 2, 20, 60), 1.0 / 24);
  round.step(pose(bar, 3, -40), 1.0 / 24);
  round.step(pose(bar, 4, 50), 1.0 / 24);
  EXPECT_LT(largest_difference(straight.node_positions(), round.node_positions()),
            1e-3 * straight.model().solid.spacing);
}

TEST(FleshBody, ComesToRestWhereEquilibriumIs) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.cells = 12;
  s.contact.self = false;
  s.solver.tolerance = 1e-5;
  s.solver.iterations = 60;
  s.damping = 5;
  LatticeBody moving(bar, s, frames(), "s.json");
  s.dynamic = false;
  LatticeBody still(bar, s, frames(), "s.json");
  moving.step(pose(bar, 1, 0), 1.0 / 24);
  for (int frame = 2; frame <= 80; ++frame)
    moving.step(pose(bar, frame, std::min(40.0, 8.0 * (frame - 1))), 1.0 / 24);
  still.step(pose(bar, 1, 40), 1.0 / 24);
  EXPECT_LT(largest_difference(moving.node_positions(), still.node_positions()),
            2e-2 * still.model().solid.spacing);
}

TEST(FleshBody, SameBitsAfterACheckpointAndForAnyThreads) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.cells = 14;
  const auto play = [&](LatticeBody& body, int first, int last) {
    for (int frame = first; frame <= last; ++frame)
      body.step(pose(bar, frame, 25.0 * (frame - 1)), 1.0 / 24);
  };
  LatticeBody whole(bar, s, frames(), "s.json"), first(bar, s, frames(), "s.json");
  play(whole, 1, 7);
  play(first, 1, 4);
  Chunk state;
  first.save(state);
  LatticeBody second(bar, s, frames(), "s.json");
  second.load(state, "c");
  play(second, 5, 7);
  EXPECT_EQ(whole.node_positions(), second.node_positions());
  EXPECT_EQ(whole.node_velocities(), second.node_velocities());
  set_thread_count(1);
  LatticeBody alone(bar, s, frames(), "s.json");
  play(alone, 1, 7);
  set_thread_count(0);
  EXPECT_EQ(whole.node_positions(), alone.node_positions());
}

TEST(FleshBody, LengthUnitsDoNotMatter) {
  std::vector<Vec3d> expected;
  for (const double scale : {1.0, 1e-3, 1e3}) {
    const Character bar = two_bones(scale);
    BodySettings s = settings();
    s.young = 2e4;
    s.solver.tolerance = 1e-4;
    LatticeBody body(bar, s, frames(), "s.json");
    for (int frame = 1; frame <= 6; ++frame)
      body.step(pose(bar, frame, 10.0 * (frame - 1)), 1.0 / 24);
    std::vector<Vec3d> x = body.node_positions();
    for (Vec3d& p : x) p /= scale;
    if (expected.empty()) expected = x;
    ASSERT_EQ(x.size(), expected.size());
    EXPECT_LT(largest_difference(x, expected), 1e-4) << scale;
  }
}

// A bar folded onto itself, as far as its bones allow: how much of it is deep in the other half.
TEST(FleshBody, SelfContactPartsWhatFolds) {
  const Character bar = two_bones(1, 0.2);
  test::SkinOverlap found[2];
  for (const bool contact : {false, true}) {
    BodySettings s = settings();
    s.cells = 32;
    s.dynamic = false;
    s.contact.self = contact;
    LatticeBody body(bar, s, frames(), "s.json");
    for (int frame = 1; frame <= 12; ++frame)
      body.step(pose(bar, frame, 12.0 * (frame - 1)), 1.0 / 24);
    BodyFrame out;
    body.skin(out);
    const FleshSkin& skin = body.model().skin;
    std::vector<Vec3f> points;
    for (const int32_t v : skin.vertex_of_point)
      points.push_back(out.positions[static_cast<size_t>(v)]);
    const double cell = body.model().solid.spacing;
    found[contact] = test::OverlapMeter(skin.mesh, 2 * cell).measure(points, cell / 2);
  }
  fmt::print("deepest {:.3g} and {:.3g} m, sums {:.3g} and {:.3g} m, {} and {} vertices deep\n",
             found[0].deepest, found[1].deepest, found[0].depth, found[1].depth, found[0].deep,
             found[1].deep);
  EXPECT_GT(found[0].deepest, 0.05);
  EXPECT_GE(found[0].deep, 40u);
  EXPECT_EQ(found[1].deep, 0u);
  EXPECT_LT(found[1].depth, 0.1 * found[0].depth);
}

TEST(FleshBody, CollidersKeepFleshOut) {
  const Character bar = two_bones();
  BodySettings s = settings();
  ColliderSettings ball;
  ball.type = ColliderType::sphere;
  ball.radius = 0.12;
  ball.centre = {0, 0.25, 0.4};
  ScriptSettings script;
  script.translate = {0, 0, -0.25};
  script.keys = {{1, 0}, {8, 1}};
  script.unit = TimeUnit::frames;
  ball.motion = {script};
  s.contact.colliders = {ball};
  LatticeBody body(bar, s, frames(), "s.json");
  BodyFrame out;
  for (int frame = 1; frame <= 12; ++frame) body.step(pose(bar, frame, 0), 1.0 / 24);
  body.skin(out);
  double deepest = 0, moved = 0;
  for (size_t v = 0; v < out.positions.size(); ++v) {
    const Vec3d p = out.positions[v].cast<double>();
    deepest = std::max(deepest, 0.12 - (p - Vec3d(0, 0.25, 0.15)).norm());
    moved = std::max(moved, static_cast<double>((out.positions[v] - bar.skin.positions[v]).norm()));
  }
  EXPECT_LT(deepest, 0.5 / 20);
  EXPECT_GT(moved, 0.03);
}

TEST(FleshBody, FleshMapLeavesTheRestToTheRig) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.flesh.bones = {"upper"};
  s.flesh.blend = 0.02;
  LatticeBody body(bar, s, frames(), "s.json");
  Drive drive;
  BodyFrame out;
  for (int frame = 1; frame <= 5; ++frame) {
    drive = pose(bar, frame, 10.0 * (frame - 1));
    body.step(drive, 1.0 / 24);
  }
  body.skin(out);
  std::vector<Vec3f> plain(out.positions.size());
  Skinner(bar.weights, bar.binds)
      .skin(SkinningMethod::linear, drive.joints, bar.skin.positions, plain);
  double below = 0, above = 0;
  for (size_t v = 0; v < plain.size(); ++v) {
    const double away = static_cast<double>((out.positions[v] - plain[v]).norm());
    if (bar.skin.positions[v][1] < -0.3f) below = std::max(below, away);
    if (bar.skin.positions[v][1] > 0.3f) above = std::max(above, away);
  }
  EXPECT_LT(below, 1e-3);
  EXPECT_GT(above, 3e-3);
}

TEST(FleshBody, ACutThrowsNoFlesh) {
  const Character bar = two_bones();
  LatticeBody body(bar, settings(), frames(), "s.json");
  body.step(pose(bar, 1, 0), 1.0 / 24);
  body.step(pose(bar, 2, 120), 1.0 / 24);
  for (const Vec3d& v : body.node_velocities()) EXPECT_EQ(v, Vec3d(0, 0, 0));
  body.step(pose(bar, 3, 120), 1.0 / 24);
  double fastest = 0;
  for (const Vec3d& v : body.node_velocities()) fastest = std::max(fastest, v.norm());
  EXPECT_LT(fastest, 0.1);
}

// A rig that turns its flesh inside out for a frame: the body says so, stays finite, and comes back
// without the speed it was put there with.
TEST(FleshBody, OutlivesARigThatMirrorsIt) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.cells = 12;
  LatticeBody body(bar, s, frames(), "s.json");
  body.step(pose(bar, 1, 0), 1.0 / 24);
  Drive mirrored = pose(bar, 2, 0);
  mirrored.pose.local[0].scale = {-1, 1, 1};
  mirrored.joints = global_matrices(bar.skeleton, mirrored.pose);
  EXPECT_FALSE(body.step(mirrored, 1.0 / 24).warnings.empty());
  for (const Vec3d& x : body.node_positions()) ASSERT_LT(x.norm(), 2);
  for (int frame = 3; frame <= 30; ++frame) body.step(pose(bar, frame, 0), 1.0 / 24);
  EXPECT_LT(largest_difference(body.node_positions(), body.model().rest), 0.05);
}

// How far flesh within two cells of the upper bone's middle has moved along y and along x.
Vec3d moved_around_bone(const LatticeBody& body) {
  Vec3d sum = Vec3d::Zero();
  double count = 0;
  const std::vector<Vec3d> x = body.node_positions();
  for (size_t n = 0; n < x.size(); ++n) {
    const Vec3d& rest = body.model().rest[n];
    if (std::abs(rest[1] - 0.25) > 0.1 || rest.cwiseProduct(Vec3d(1, 0, 1)).norm() > 0.08) continue;
    sum += x[n] - rest;
    count += 1;
  }
  return sum / count;
}

// A bone that is drawn along its axis takes flesh that holds on to it with it, but slides through
// flesh that does not; drawn sideways it takes both.
TEST(FleshBody, SlidingBonesPushButDoNotPull) {
  const Character bar = two_bones();
  Vec3d along[2], across[2];
  for (const bool slides : {false, true}) {
    BodySettings s = settings();
    s.dynamic = false;
    s.attach.follow = 0;
    s.contact.self = false;
    s.gravity.acceleration = {0, 0, 0};
    s.attach.bones.resize(1);
    s.attach.bones[0].joint = "upper";
    s.attach.bones[0].thickness = 0.3;
    s.attach.bones[0].hold = slides ? BoneHold::sliding : BoneHold::soft;
    for (const bool sideways : {false, true}) {
      LatticeBody body(bar, s, frames(), "s.json");
      Drive drive = pose(bar, 1, 0);
      body.step(drive, 1.0 / 24);
      for (int frame = 2; frame <= 5; ++frame) {
        drive = pose(bar, frame, 0);
        const double way = 0.01 * (frame - 1);
        drive.pose.local[1].translation += sideways ? Vec3d(way, 0, 0) : Vec3d(0, way, 0);
        drive.joints = global_matrices(bar.skeleton, drive.pose);
        body.step(drive, 1.0 / 24);
      }
      (sideways ? across : along)[slides ? 1 : 0] = moved_around_bone(body);
    }
  }
  EXPECT_GT(along[0][1], 0.02);
  EXPECT_LT(along[1][1], 0.3 * along[0][1]);
  EXPECT_GT(across[0][0], 0.02);
  EXPECT_GT(across[1][0], 0.4 * across[0][0]);
}

TEST(FleshBody, MeshesTakeThePlaceOfBones) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.dynamic = false;
  auto box = std::make_shared<TriangleMesh>(box_surface({0.1, 0.3, 0.1}, 0.1));
  for (Vec3f& p : box->positions) p[1] += 0.25f;
  s.attach.bones.resize(1);
  s.attach.bones[0].joint = "upper";
  s.attach.bones[0].mesh = box;
  LatticeBody body(bar, s, frames(), "s.json");
  ASSERT_EQ(body.model().rig->bones().size(), 2u);
  const Drive bent = pose(bar, 2, 60);
  body.step(pose(bar, 1, 0), 1.0 / 24);
  body.step(bent, 1.0 / 24);
  const std::vector<Vec3d> x = body.node_positions();
  int inside = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    const Vec3d rest = body.model().rest[n], from = rest - Vec3d(0, 0.25, 0);
    if ((from.cwiseAbs() - Vec3d(0.05, 0.15, 0.05)).maxCoeff() > 0) continue;
    EXPECT_LT((x[n] - bent.joints[1] * rest).norm(), 0.01 * 0.5);
    ++inside;
  }
  EXPECT_GE(inside, 20);
}

TEST(FleshBody, StiffnessFollowsBonesPaintAndDepth) {
  Character bar = two_bones();
  VertexAttribute paint{"_HARD", 1, {}};
  for (const Vec3f& p : bar.skin.positions) paint.values.push_back(p[0] > 0 ? 1.0f : 0.0f);
  bar.attributes.push_back(paint);
  BodySettings s = settings();
  s.young = 1e4;
  s.cells = 40;
  RegionSettings region;
  region.young = 1e6;
  // Young's modulus around the node nearest to a place, in pascals.
  const auto young_at = [&](const RegionSettings& own, const Vec3d& place) {
    BodySettings with = s;
    with.materials = {own};
    const LatticeModel model(bar, with, frames(), "s.json");
    size_t best = 0;
    for (size_t n = 0; n < model.rest.size(); ++n)
      if ((model.rest[n] - place).norm() < (model.rest[best] - place).norm()) best = n;
    return model.young[best];
  };
  RegionSettings upper = region, painted = region, core = region, hide = region;
  upper.bones = {"upper"};
  EXPECT_NEAR(young_at(upper, {0, 0.4, 0}), 1e6, 1e4);
  EXPECT_NEAR(young_at(upper, {0, -0.4, 0}), 1e4, 1e2);
  // Half of each in between: the geometric mean.
  EXPECT_NEAR(std::log10(young_at(upper, {0, 0, 0})), 5, 0.3);
  painted.attribute = "_HARD";
  EXPECT_GT(young_at(painted, {0.1, 0.2, 0}), 5e5);
  EXPECT_LT(young_at(painted, {-0.1, 0.2, 0}), 2e4);
  core.depth = DepthSettings{0, 0.5};
  EXPECT_GT(young_at(core, {0, 0.25, 0}), 3e5);
  EXPECT_LT(young_at(core, {0.1, 0.25, 0.1}), 2e4);
  hide.depth = DepthSettings{1, 0.5};
  EXPECT_LT(young_at(hide, {0, 0.25, 0}), 2e4);
  EXPECT_GT(young_at(hide, {0.1, 0.25, 0.1}), 3e5);
}

// Drawn characters are as thick as they like: their flesh keeps up nevertheless, unless told.
TEST(FleshBody, ThickFleshIsStiffer) {
  const Character slim = two_bones(1, 0.2), thick = two_bones(1, 0.9);
  BodySettings s = settings();
  const auto largest = [&](const Character& c) {
    const LatticeModel model(c, s, frames(), "s.json");
    return *std::max_element(model.young.begin(), model.young.end());
  };
  EXPECT_DOUBLE_EQ(largest(slim), 2e4);
  EXPECT_GT(largest(thick), 3e4);
  s.young = 2e4;
  EXPECT_DOUBLE_EQ(largest(thick), 2e4);
}

TEST(FleshBody, HeadsAreSkulls) {
  Character bar = two_bones(1, 0.5);
  bar.skeleton.joints[1].name = "Head";
  BodySettings s = settings();
  s.dynamic = false;
  s.attach.follow = 0;
  const LatticeBody body(bar, s, frames(), "s.json");
  const auto hold = [&](const Vec3d& place) {
    const auto& rest = body.model().rest;
    size_t best = 0;
    for (size_t n = 0; n < rest.size(); ++n)
      if ((rest[n] - place).norm() < (rest[best] - place).norm()) best = n;
    return body.model().attachment->stiffness()[best];
  };
  EXPECT_GT(hold({0.1, 0.3, 0}), 0);
  EXPECT_EQ(hold({0.1, -0.3, 0}), 0);
  EXPECT_EQ(hold({0.25, 0.3, 0}), 0);
}

TEST(FleshBody, CollidersAreShownWhereTheyAre) {
  const Character bar = two_bones();
  BodySettings s = settings();
  s.cells = 8;
  for (const ColliderType type :
       {ColliderType::plane, ColliderType::sphere, ColliderType::capsule, ColliderType::box}) {
    ColliderSettings thing;
    thing.type = type;
    thing.centre = {0, -3, 0};
    ScriptSettings script;
    script.translate = {1, 0, 0};
    script.keys = {{1, 0}, {3, 1}};
    script.unit = TimeUnit::frames;
    thing.motion = {script};
    s.contact.colliders.push_back(thing);
  }
  LatticeBody body(bar, s, frames(), "s.json");
  size_t triangles = 0;
  for (const ChunkArray& array : body.shown_once())
    if (array.name == "collider/triangles") triangles = array.rows();
  EXPECT_GT(triangles, 100u);
  Vec3f middle[2];
  for (int frame = 1; frame <= 3; ++frame) {
    body.step(pose(bar, frame, 0), 1.0 / 24);
    BodyFrame out;
    body.skin(out);
    Chunk chunk;
    for (const ChunkArray& array : out.extras) chunk.add(array);
    const auto numbers = chunk.get<float>("collider/vertices", 3, -1, "c");
    Vec3f sum = Vec3f::Zero();
    for (size_t i = 0; i < numbers.size(); i += 3)
      sum += Vec3f(numbers[i], numbers[i + 1], numbers[i + 2]);
    if (frame != 2) middle[frame / 2] = sum / static_cast<float>(numbers.size() / 3);
  }
  EXPECT_LT((middle[1] - middle[0] - Vec3f(1, 0, 0)).norm(), 1e-3f);
}

// What files have: all gives a sensible result or one clear error.
TEST(FleshBody, OddCharactersMoveOrAreRefused) {
  const auto plays = [](const Character& c, double largest) {
    BodySettings s = settings();
    s.cells = 10;
    LatticeBody body(c, s, frames(), "s.json");
    BodyFrame out;
    for (int frame = 1; frame <= 4; ++frame) {
      body.step(pose(c, frame, 20.0 * (frame - 1)), 1.0 / 24);
      body.skin(out);
      for (const Vec3f& p : out.positions) {
        ASSERT_TRUE(p.allFinite());
        ASSERT_LT(p.norm(), largest);
      }
    }
  };
  // Bones beside the flesh.
  Character beside = two_bones();
  beside.skeleton.joints[0].rest.translation[0] += 3;
  for (Bind& bind : beside.binds) bind.rest_to_joint.translation()[0] -= 3;
  plays(beside, 8);
  // Two bones in the same place, of which the skin follows both.
  Character doubled = two_bones();
  Joint twin = doubled.skeleton.joints[1];
  twin.name = "twin";
  doubled.skeleton.joints.push_back(twin);
  doubled.binds.push_back({3, doubled.binds[1].rest_to_joint});
  doubled.weights = {};
  for (const Vec3f& p : doubled.skin.positions) {
    const float upper = std::clamp(0.5f + 4 * p[1], 0.0f, 1.0f);
    const Influence all[] = {{0, 1 - upper}, {1, upper / 2}, {2, upper / 2}};
    doubled.weights.add_vertex(all, 0);
  }
  plays(doubled, 2);
  // A sliding bone in other units than the flesh, which lies deep in it.
  BodySettings large = settings();
  large.attach.bones.resize(1);
  large.attach.bones[0].joint = "upper";
  large.attach.bones[0].hold = BoneHold::sliding;
  large.attach.bones[0].mesh = std::make_shared<TriangleMesh>(box_surface({900, 900, 900}, 900));
  const Character bar = two_bones();
  LatticeBody engulfed(bar, large, frames(), "s.json");
  engulfed.step(pose(bar, 1, 0), 1.0 / 24);
  EXPECT_LT(largest_difference(engulfed.node_positions(), engulfed.model().rest), 0.1);
  // One triangle; the other vertices follow the rig.
  Character triangle = two_bones();
  triangle.skin.triangles.resize(1);
  triangle.parts[0].triangles = {0, 1};
  plays(triangle, 2);
  // None.
  Character nothing = two_bones();
  nothing.skin.triangles.clear();
  nothing.parts[0].triangles = {0, 0};
  EXPECT_THROW(plays(nothing, 2), Error);
}

TEST(FleshBody, MistakesAreNamed) {
  const Character bar = two_bones();
  const auto problem = [&](const BodySettings& s) -> std::string {
    try {
      const LatticeBody body(bar, s, frames(), "s.json");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  BodySettings s = settings();
  s.attach.bones.resize(1);
  s.attach.bones[0].joint = "uper";
  EXPECT_EQ(problem(s),
            "s.json: body.attach.bones[0].joint: the character has no joint 'uper'; did you mean "
            "'upper'?");
  s = settings();
  s.flesh.attribute = "_FLESH";
  EXPECT_EQ(problem(s), "s.json: body.flesh.attribute: the character has no attribute '_FLESH'");
  s = settings();
  s.contact.colliders.emplace_back().type = ColliderType::mesh;
  EXPECT_EQ(problem(s),
            "s.json: body.contact.colliders[0].file: a collider of type 'mesh' needs a file");
  s = settings();
  s.gravity.compensate_by = WeightCarrier::rest_shape;
  s.solver.quadrature = Quadrature::eight_point;
  EXPECT_EQ(problem(s),
            "s.json: body.gravity.compensate_by: 'rest_shape' is not for \"quadrature\": "
            "\"eight_point\" in body.solver");
}

TEST(FleshBody, OnlyPlainLatticesHaveRestShapes) {
  const auto bar = std::make_shared<Character>(two_bones());
  for (const char* type : {"voxels", "tets", "surface"}) {
    Scene scene;
    scene.body.type = type;
    scene.body.gravity.compensate_by = WeightCarrier::rest_shape;
    try {
      const Session session(bar, scene, nullptr, "s.json");
      ADD_FAILURE() << type;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "s.json: body.gravity.compensate_by: 'rest_shape' is for bodies of type "
                   "'lattice' in steps of 'plain'");
    }
  }
}

TEST(WorldScale, TakesLengthsForWhatIsPlausible) {
  EXPECT_EQ(world_scale(1.8, 0).metres_per_unit, 1);
  EXPECT_EQ(world_scale(155, 0).metres_per_unit, 0.01);
  EXPECT_EQ(world_scale(1800, 0).metres_per_unit, 0.001);
  EXPECT_DOUBLE_EQ(world_scale(0.2, 0).metres_per_unit, 1.7 / 0.2);
  EXPECT_EQ(world_scale(4, 2).metres_per_unit, 0.5);
  EXPECT_EQ(world_scale(0, 0).metres_per_unit, 1);
}

}  // namespace
}  // namespace supple
