#include "actors/elephant.h"

#include <cmath>
#include <numbers>

#include "modelling/actor.h"
#include "modelling/choreography.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double radians = std::numbers::pi / 180;

// Left side, metres.
const Vec3d shoulder(0.25, 0.80, 0.27), elbow(0.255, 0.46, 0.25), wrist(0.255, 0.12, 0.29);
const Vec3d hip(0.25, 0.78, -0.52), knee(0.26, 0.45, -0.50), ankle(0.26, 0.12, -0.54);
const Vec3d neck(0, 1.20, 0.40), skull(0, 1.30, 0.60);

// The trunk from its root down.
const Vec3d trunk[] = {{0, 1.20, 0.93}, {0, 1.02, 1.03}, {0, 0.82, 1.07},
                       {0, 0.63, 1.07}, {0, 0.45, 1.05}, {0, 0.30, 1.06}};
constexpr double trunk_radius[] = {0.125, 0.108, 0.092, 0.079, 0.068, 0.060};

// An ear stands out and back; the inner rim is in the head.
const Vec3d ear(0.435, 1.30, 0.55);
const Mat3d ear_axes = turn(32, Vec3d::UnitY()) * turn(-8, Vec3d::UnitZ());

Sculpture sculpt() {
  Sculpture s;
  s.add(ellipsoid({0, 1.02, -0.16}, {0.43, 0.42, 0.62}), 0);
  s.add(ellipsoid({0, 0.84, -0.10}, {0.37, 0.27, 0.48}), 0.12);
  s.add(round_cone({0, 1.10, 0.25}, 0.31, skull, 0.25), 0.12);
  s.add(ellipsoid({0, 1.31, 0.70}, {0.27, 0.31, 0.28}), 0.08);
  s.add(ellipsoid({0.10, 1.50, 0.66}, {0.13, 0.11, 0.17}), 0.08, true);
  s.add(ellipsoid({0, 1.10, 0.78}, {0.15, 0.11, 0.16}), 0.07);
  for (size_t i = 0; i + 1 < std::size(trunk); ++i)
    s.add(round_cone(trunk[i], trunk_radius[i], trunk[i + 1], trunk_radius[i + 1]),
          i == 0 ? 0.08 : 0.02);
  s.add(ellipsoid(ear, {0.24, 0.25, 0.045}, ear_axes), 0.035, true);
  s.add(arc(ear, 0.225, std::numbers::pi, 0.034, ear_axes), 0.03, true);
  s.add(round_cone(shoulder, 0.175, elbow, 0.150), 0.07, true);
  s.add(round_cone(elbow, 0.150, wrist, 0.135), 0.04, true);
  s.add(ellipsoid({0.255, 0.07, 0.305}, {0.15, 0.075, 0.165}), 0.04, true);
  s.add(round_cone(hip, 0.20, knee, 0.155), 0.07, true);
  s.add(round_cone(knee, 0.155, ankle, 0.135), 0.04, true);
  s.add(ellipsoid({0.26, 0.07, -0.525}, {0.15, 0.075, 0.165}), 0.04, true);
  s.add(round_cone({0, 1.13, -0.74}, 0.05, {0, 0.86, -0.88}, 0.035), 0.04);
  s.carve(half_space(Vec3d::Zero(), Vec3d::UnitY()), 0.01);
  s.set_focus({{0, 1.38, 0.85}, 0.25, 1.7});
  return s;
}

void paint(Sculpture& s) {
  s.set_ground_colour(screen_colour(0.56, 0.58, 0.66));
  s.paint(ellipsoid(ear + Vec3d(0.02, 0, 0.04), {0.17, 0.18, 0.06}, ear_axes),
          screen_colour(0.86, 0.62, 0.66), 0.04, 0.8, true);
  for (const double z : {0.305, -0.525})
    for (const double x : {0.17, 0.255, 0.34})
      s.paint(ellipsoid({x, 0.05, z + 0.15}, {0.035, 0.045, 0.06}), screen_colour(0.90, 0.86, 0.80),
              0.01, 1, true);
  s.paint(ball({0.185, 1.37, 0.885}, 0.045), screen_colour(0.97, 0.97, 0.95), 0.014, 1, true);
  s.paint(ball({0.178, 1.37, 0.908}, 0.030), screen_colour(0.07, 0.06, 0.08), 0.012, 1, true);
  s.paint(ball(trunk[5] - Vec3d(0, 0.06, 0), 0.045), screen_colour(0.78, 0.55, 0.58), 0.02);
}

Armature rig() {
  Armature a;
  std::vector<Freedom> free = ball_joint();
  for (const auto& [name, axis] : {std::pair{"side", 0}, {"height", 1}, {"ahead", 2}})
    free.push_back({name, Vec3d::Unit(axis), true});
  const Freedom bend{"bend", Vec3d::UnitX()}, lean{"lean", Vec3d::UnitZ()};
  const std::vector<Freedom> leg = {
      {"bend", -Vec3d::UnitX()}, {"twist", Vec3d::UnitY()}, {"spread", Vec3d::UnitZ()}};
  a.add("pelvis", "", {0, 1.06, -0.50}, free);
  a.add("spine", "pelvis", {0, 1.12, -0.16}, ball_joint());
  a.add("chest", "spine", {0, 1.10, 0.16}, ball_joint());
  // Marks at the ends of bones: the belly follows the spine, not the legs.
  a.add("belly_end", "spine", {0, 0.86, -0.12});
  a.add_pair("flank_end", "spine", {0.22, 0.98, -0.14});
  a.add("tail_end", "pelvis", {0, 1.10, -0.72});
  a.add("neck", "chest", neck, ball_joint());
  a.add("head", "neck", skull, ball_joint());
  a.add("head_end", "head", {0, 1.42, 0.76});
  a.add_pair("cheek_end", "head", {0.14, 1.28, 0.70});
  for (int i = 0; i < 6; ++i)
    a.add("trunk" + std::to_string(i), i == 0 ? "head" : "trunk" + std::to_string(i - 1), trunk[i],
          ball_joint());
  a.add_pair("ear", "head", {0.24, 1.32, 0.64}, ball_joint());
  a.add_pair("ear_end", "ear", ear + ear_axes * Vec3d(0.17, 0, 0));
  for (const auto& [top, middle, foot, toe, from, to, at, end] :
       {std::tuple{"shoulder", "elbow", "wrist", "hand_end", shoulder, elbow, wrist,
                   Vec3d(0.255, 0.05, 0.40)},
        {"hip", "knee", "ankle", "toe_end", hip, knee, ankle, Vec3d(0.26, 0.05, -0.43)}}) {
    a.add_pair(top, std::string(top) == "hip" ? "pelvis" : "chest", from, leg);
    a.add_pair(middle, top, to, {bend});
    a.add_pair(foot, middle, at, {bend, lean});
    a.add_pair(toe, foot, end);
  }
  return a;
}

// It raises a foreleg and lays its trunk over the foot, which lifts the trunk and holds it up;
// shakes its head, so that the ears flap; bounces; and stands still.
Clip frolic(const Armature& armature) {
  constexpr double length = 5;
  Choreography c(armature, "frolic", length);
  // Down is positive.
  const Curve nod = through(
      length, {{0, 0}, {0.4, -0.45}, {0.75, -0.45}, {1.4, 0.42}, {1.9, 0.42}, {2.4, 0}, {4.9, 0}});
  const Curve lift = through(length, {{0.1, 0}, {0.8, 1}, {1.9, 1}, {2.4, 0}, {4.9, 0}});
  const Curve shaking = shake(length, 2.2, 4.0, 2.5, 1);
  const Curve bounce =
      through(length, {{3.9, 0}, {4.2, 1}, {4.42, -0.25}, {4.6, 0.7}, {4.85, 0}, {4.95, 0}});
  c.move("neck", "bend", scaled(nod, 22 * radians));
  c.move("head", "bend", scaled(nod, 20 * radians));
  c.move("trunk0", "bend", scaled(nod, 14 * radians));
  c.move("trunk1", "bend", late(scaled(nod, 8 * radians), 0.03));
  c.move("neck", "twist", scaled(shaking, 22 * radians));
  c.move("head", "twist", scaled(shaking, 24 * radians));
  c.move("head", "lean", late(scaled(shaking, 10 * radians), 0.06));
  c.move("chest", "twist", scaled(shaking, 5 * radians));
  c.move("pelvis", "height", scaled(bounce, -0.10));
  c.move("pelvis", "side", scaled(lift, -0.02));
  c.move("pelvis", "bend", scaled(nod, 2.5 * radians));
  for (const std::string side : {"left_", "right_"}) {
    const double out = side == "left_" ? 1 : -1;
    for (const auto& [top, middle, foot, at] :
         {std::tuple{"shoulder", "elbow", "wrist", wrist}, {"hip", "knee", "ankle", ankle}}) {
      Footing footing;
      footing.pivot = Vec3d(out * at.x(), at.y(), at.z());
      if (side + top == "left_shoulder") {
        footing.x = scaled(lift, -0.27);
        footing.y = scaled(lift, 0.34);
        footing.z = scaled(lift, 0.46);
        footing.pitch = scaled(lift, -40 * radians);
      }
      c.place_foot(side + top, side + middle, side + foot, footing);
    }
  }
  return c.clip();
}

// A lowered head pushes the throat forward and down.
void add_throat(Character& character) {
  BlendShape throat;
  throat.name = "throat";
  for (size_t v = 0; v < character.skin.positions.size(); ++v) {
    const Vec3f& p = character.skin.positions[v];
    const double away = (p.cast<double>() - Vec3d(0, 0.98, 0.58)).norm() / 0.22;
    if (away >= 1) continue;
    const double amount = std::pow(1 - away * away, 2);
    throat.vertices.push_back(static_cast<int32_t>(v));
    throat.offsets.emplace_back(Vec3d(0, -0.02 * amount, 0.025 * amount).cast<float>());
  }
  character.shapes.push_back(std::move(throat));
}

Actor actor() {
  Actor a;
  a.name = "elephant";
  a.armature = rig();
  Sculpture body = sculpt();
  paint(body);
  a.pieces.push_back({"body", body, 1, ""});
  a.weighting.smoothness = 0.7;
  a.clips.push_back(frolic(a.armature));
  return a;
}

// Held by the bones of trunk root, head, back and legs, by skin at the crown and the feet; the
// throat is drawn to where its skin is. Trunk and ears hang free. `more` are further fields.
std::string body(const std::string& more) {
  return R"({
  "type": "tets", "young": 120000, "poisson": 0.4, "substeps": 6,
  "materials": [{"select": {"sphere": {"centre": [0, 0.72, -0.1], "radius": 0.36}}, "young": 60000}],
  "tets": {"elements": 7000, "law": "neo_hookean", "dynamics": "implicit", "integrator": "backward_euler",
           "stiffness_damping": 0.002},
  "attach": {"thickness": 0.3, "bones": [
    {"joint": "trunk1", "hold": "none"}, {"joint": "trunk2", "hold": "none"}, {"joint": "trunk3", "hold": "none"},
    {"joint": "trunk4", "hold": "none"}, {"joint": "left_ear", "hold": "none"}, {"joint": "right_ear", "hold": "none"}]},
  "proxies": [{"select": {"sphere": {"centre": [0, 1.52, 0.64], "radius": 0.17}}},
              {"bones": ["left_wrist", "right_wrist", "left_ankle", "right_ankle"]},
              {"select": {"sphere": {"centre": [0, 0.98, 0.58], "radius": 0.2}}, "soft": true, "stiffness": 20000}],
  "contact": {"self": true, "points": 4, "stiffness": 24})" +
         more + "\n}";
}

// Less inertia everywhere, calm ears and trunk, a lively belly.
constexpr const char* adjust = R"(,
  "adjust": {"inertia": 0.8, "regions": [
    {"bones": ["left_ear", "right_ear"], "amplitude": 0.4},
    {"bones": ["trunk1", "trunk2", "trunk3", "trunk4", "trunk5"], "amplitude": 0.6},
    {"select": {"sphere": {"centre": [0, 0.72, -0.1], "radius": 0.36}}, "amplitude": 1.6}]})";

// The shape is on where the head is lowered.
constexpr const char* corrected = R"({
  "pose_space": [{"joints": ["neck"],
                  "samples": [{"rotations": [[0, 0, 0, 1]], "shape": ""},
                              {"rotations": [[0.22, 0, 0, 0.975]], "shape": "throat"}]}]
})";

}  // namespace

CastMember elephant() {
  CastMember member;
  member.name = "elephant";
  member.line = "a soft elephant whose trunk and ears swing and touch it";
  member.scenes = {{"elephant", "it lays its trunk over its foot, shakes its head and bounces",
                    "frolic", 5, 24, body(""), corrected},
                   {"elephant_adjusted", "the same with calm ears and a lively belly", "frolic", 5,
                    24, body(adjust), corrected}};
  member.vertices = 14000;
  member.make = [](int vertices) {
    Character character = build(actor(), vertices);
    add_throat(character);
    return character;
  };
  member.skin = [](int vertices) { return model(actor(), vertices); };
  return member;
}

}  // namespace supple::actors
