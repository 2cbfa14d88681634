#include "actors/wrestler.h"

#include <cmath>
#include <numbers>

#include "modelling/actor.h"
#include "modelling/choreography.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double radians = std::numbers::pi / 180;

// Left side, metres.
const Vec3d shoulder(0.27, 1.38, -0.01), elbow(0.47, 1.16, 0.0), wrist(0.50, 0.93, 0.12);
const Vec3d hip(0.16, 0.80, -0.01), knee(0.25, 0.45, 0.03), ankle(0.28, 0.10, -0.01);

Sculpture sculpt() {
  Sculpture s;
  s.add(ellipsoid({0, 0.86, -0.02}, {0.265, 0.18, 0.215}), 0);
  s.add(ellipsoid({0, 1.02, 0.07}, {0.305, 0.25, 0.275}), 0.10);
  s.add(ellipsoid({0, 1.29, 0.0}, {0.255, 0.19, 0.18}), 0.12);
  s.add(ellipsoid({0.115, 1.28, 0.13}, {0.115, 0.09, 0.085}), 0.05, true);
  s.add(ellipsoid({0.10, 0.84, -0.16}, {0.13, 0.14, 0.12}), 0.06, true);
  s.add(round_cone({0, 1.42, -0.01}, 0.10, {0, 1.53, 0.0}, 0.085), 0.05);
  s.add(ellipsoid({0, 1.60, 0.02}, {0.115, 0.13, 0.125}), 0.04);
  s.add(ball({0.07, 1.555, 0.075}, 0.055), 0.04, true);
  s.add(ellipsoid({0, 1.735, -0.03}, {0.04, 0.03, 0.055}), 0.02);
  s.add(round_cone(shoulder, 0.115, elbow, 0.085), 0.06, true);
  s.add(round_cone(elbow, 0.085, wrist, 0.055), 0.03, true);
  s.add(ellipsoid(wrist + Vec3d(0.01, -0.06, 0.03), {0.035, 0.075, 0.05}), 0.03, true);
  s.add(round_cone(hip, 0.165, knee, 0.115), 0.05, true);
  s.add(round_cone(knee, 0.115, ankle, 0.07), 0.04, true);
  s.add(ellipsoid({0.29, 0.05, 0.06}, {0.07, 0.05, 0.14}), 0.04, true);
  s.carve(half_space(Vec3d::Zero(), Vec3d::UnitY()), 0.01);
  return s;
}

void paint(Sculpture& s) {
  s.set_ground_colour(screen_colour(0.93, 0.74, 0.58));
  s.paint(ellipsoid({0, 0.84, -0.02}, {0.36, 0.06, 0.6}), screen_colour(0.15, 0.22, 0.50), 0.01);
  s.paint(ellipsoid({0, 0.72, 0.0}, {0.07, 0.14, 0.6}), screen_colour(0.15, 0.22, 0.50), 0.01);
  s.paint(ellipsoid({0, 1.71, -0.05}, {0.125, 0.09, 0.12}), screen_colour(0.10, 0.08, 0.08), 0.015);
  s.paint(ball({0.045, 1.62, 0.14}, 0.013), screen_colour(0.1, 0.08, 0.08), 0.004, 1, true);
  s.paint(ellipsoid({0, 1.545, 0.15}, {0.035, 0.008, 0.03}), screen_colour(0.70, 0.35, 0.32),
          0.004);
}

Armature rig() {
  Armature a;
  std::vector<Freedom> free = ball_joint();
  for (const auto& [name, axis] : {std::pair{"side", 0}, {"height", 1}, {"ahead", 2}})
    free.push_back({name, Vec3d::Unit(axis), true});
  const Freedom bend{"bend", Vec3d::UnitX()}, lean{"lean", Vec3d::UnitZ()};
  a.add("pelvis", "", {0, 0.84, -0.06}, free);
  a.add("spine", "pelvis", {0, 0.98, -0.07}, ball_joint());
  a.add("chest", "spine", {0, 1.22, -0.05}, ball_joint());
  a.add("belly_end", "spine", {0, 1.02, 0.16});
  a.add_pair("flank_end", "spine", {0.16, 1.02, 0.0});
  a.add_pair("rib_end", "chest", {0.12, 1.27, 0.06});
  a.add("neck", "chest", {0, 1.44, -0.02}, ball_joint());
  a.add("head_end", "neck", {0, 1.68, 0.02});
  a.add_pair("shoulder", "chest", shoulder,
             {{"raise", Vec3d::UnitZ()}, {"swing", -Vec3d::UnitX()}});
  a.add_pair("elbow", "shoulder", elbow, {{"curl", -Vec3d::UnitX()}});
  a.add_pair("wrist", "elbow", wrist);
  a.add_pair("hand_end", "wrist", wrist + Vec3d(0.015, -0.11, 0.05));
  a.add_pair("hip", "pelvis", hip,
             {{"bend", -Vec3d::UnitX()}, {"twist", Vec3d::UnitY()}, {"spread", Vec3d::UnitZ()}});
  a.add_pair("knee", "hip", knee, {bend});
  a.add_pair("ankle", "knee", ankle, {bend, lean});
  a.add_pair("toe_end", "ankle", {0.30, 0.04, 0.16});
  return a;
}

// He leans over one leg, lifts the other, and stomps it down; then the other way round, and waits.
Clip stomp(const Armature& armature) {
  constexpr double length = 6;
  Choreography c(armature, "stomp", length);
  const Curve over = through(length, {{0.1, 0},
                                      {0.7, -1},
                                      {1.05, -1},
                                      {1.3, -0.1},
                                      {1.6, 0},
                                      {2.0, 0},
                                      {2.6, 1},
                                      {2.95, 1},
                                      {3.2, 0.1},
                                      {3.5, 0}});
  const Curve crouch = through(length, {{0.1, 1},
                                        {0.8, 0.3},
                                        {1.1, 0.4},
                                        {1.25, 1.6},
                                        {1.5, 0.9},
                                        {1.8, 1},
                                        {2.0, 1},
                                        {2.7, 0.3},
                                        {3.0, 0.4},
                                        {3.15, 1.6},
                                        {3.4, 0.9},
                                        {3.7, 1}});
  c.move("pelvis", "side", scaled(over, 0.17));
  c.move("pelvis", "height", scaled(crouch, -0.10));
  c.move("pelvis", "lean", scaled(over, -16 * radians));
  c.move("pelvis", "bend", scaled(crouch, 10 * radians));
  c.move("spine", "lean", late(scaled(over, -9 * radians), 0.05));
  c.move("chest", "lean", late(scaled(over, 6 * radians), 0.08));
  c.move("neck", "lean", late(scaled(over, 10 * radians), 0.08));
  c.move("neck", "bend", scaled(crouch, -8 * radians));
  for (const std::string& side : {std::string("left_"), std::string("right_")}) {
    const double begin = side == "left_" ? 0.35 : 2.25;
    const double out = side == "left_" ? 1 : -1;
    // Up slowly, down at once.
    const Curve up = through(length, {{begin, 0},
                                      {begin + 0.5, 1},
                                      {begin + 0.65, 1},
                                      {begin + 0.82, 0.0, -5.0},
                                      {begin + 0.83, 0}});
    Footing foot;
    foot.pivot = Vec3d(out * ankle.x(), ankle.y(), ankle.z());
    foot.y = scaled(up, 0.36);
    foot.x = sum(still(0.06 * out), scaled(up, 0.20 * out));
    c.place_foot(side + "hip", side + "knee", side + "ankle", foot);
    c.move(side + "shoulder", "raise", sum(still(6 * radians), scaled(crouch, 8 * radians)));
    c.move(side + "shoulder", "swing", scaled(crouch, 14 * radians));
    c.move(side + "elbow", "curl", scaled(crouch, 18 * radians));
  }
  return c.clip();
}

// A lifted thigh pushes the lower belly up and out.
void add_fold(Character& character) {
  BlendShape fold;
  fold.name = "fold";
  for (size_t v = 0; v < character.skin.positions.size(); ++v) {
    const Vec3f& p = character.skin.positions[v];
    const double away = (p.cast<double>() - Vec3d(0.12, 0.88, 0.22)).norm() / 0.16;
    if (away >= 1) continue;
    const double amount = std::pow(1 - away * away, 2);
    fold.vertices.push_back(static_cast<int32_t>(v));
    fold.offsets.emplace_back(Vec3d(0.0, 0.02 * amount, 0.02 * amount).cast<float>());
  }
  character.shapes.push_back(std::move(fold));
}

Actor actor() {
  Actor a;
  a.name = "wrestler";
  a.armature = rig();
  Sculpture body = sculpt();
  paint(body);
  a.pieces.push_back({"body", body, 1, ""});
  a.weighting.smoothness = 0.7;
  a.clips.push_back(stomp(a.armature));
  return a;
}

// Held by his bones, his head, hands and feet by their skin; the fold of his belly is drawn to
// where its skin is.
constexpr const char* plain = R"({
  "type": "tets", "young": 60000, "poisson": 0.4, "substeps": 4,
  "tets": {"elements": 6000, "law": "stvk_volume", "dynamics": "implicit", "stiffness_damping": 0.004},
  "attach": {"thickness": 0.25},
  "proxies": [{"bones": ["neck", "left_wrist", "right_wrist", "left_ankle", "right_ankle"]},
              {"select": {"sphere": {"centre": [0.12, 0.88, 0.22], "radius": 0.14}}, "soft": true, "stiffness": 4000}]
})";

// Half as fast, and as far.
constexpr const char* slow = R"({
  "type": "tets", "young": 60000, "poisson": 0.4, "substeps": 4,
  "tets": {"elements": 6000, "law": "stvk_volume", "dynamics": "implicit", "stiffness_damping": 0.004},
  "attach": {"thickness": 0.25},
  "proxies": [{"bones": ["neck", "left_wrist", "right_wrist", "left_ankle", "right_ankle"]},
              {"select": {"sphere": {"centre": [0.12, 0.88, 0.22], "radius": 0.14}}, "soft": true, "stiffness": 4000}],
  "adjust": {"frequency": 0.5, "inertia": 0.29}
})";

// The shape is on where the left thigh is lifted.
constexpr const char* corrected = R"({
  "pose_space": [{"joints": ["left_hip"],
                  "samples": [{"rotations": [[0, 0, 0, 1]], "shape": ""},
                              {"rotations": [[-0.5, 0, 0, 0.866]], "shape": "fold"}]}]
})";

}  // namespace

CastMember wrestler() {
  CastMember member;
  member.name = "wrestler";
  member.line = "a heavy wrestler who stomps, for adjusted dynamics";
  member.scenes = {
      {"wrestler", "he stomps with one foot after the other", "stomp", 6, 24, plain, corrected},
      {"wrestler_slow", "the same, with flesh half as fast and moving as far", "stomp", 6, 24, slow,
       corrected}};
  member.vertices = 14000;
  member.make = [](int vertices) {
    Character character = build(actor(), vertices);
    add_fold(character);
    return character;
  };
  member.skin = [](int vertices) { return model(actor(), vertices); };
  return member;
}

}  // namespace supple::actors
