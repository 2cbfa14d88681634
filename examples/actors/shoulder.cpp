#include "actors/shoulder.h"

#include <numbers>

#include "modelling/choreography.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double radians = std::numbers::pi / 180;

// Left side, metres.
const Vec3d breastbone(0.025, 0.425, 0.070), joint(0.188, 0.405, -0.005),
    arm_end(0.262, 0.165, 0.0);

Sculpture sculpt() {
  Sculpture s;
  s.add(ellipsoid({0, 0.230, 0}, {0.158, 0.270, 0.112}), 0);
  s.add(ellipsoid({0, 0.060, 0.005}, {0.135, 0.160, 0.100}), 0.08);
  s.add(round_cone({0, 0.420, -0.015}, 0.068, {0, 0.560, 0.012}, 0.056), 0.05);
  s.add(round_cone({0.020, 0.475, -0.030}, 0.050, {0.150, 0.420, -0.020}, 0.046), 0.05, true);
  s.add(ellipsoid({0.085, 0.352, 0.064}, {0.088, 0.056, 0.046}, turn(12, Vec3d::UnitZ())), 0.07,
        true);
  s.add(ellipsoid({0.092, 0.345, -0.066}, {0.055, 0.080, 0.034}, turn(14, Vec3d::UnitZ())), 0.08,
        true);
  s.add(ellipsoid(joint + Vec3d(0.010, -0.020, 0.002), {0.064, 0.080, 0.064},
                  turn(16, Vec3d::UnitZ())),
        0.05, true);
  s.add(round_cone(joint, 0.056, arm_end, 0.046), 0.03, true);
  s.add(ellipsoid({0.238, 0.240, 0.018}, {0.036, 0.072, 0.036}, turn(17, Vec3d::UnitZ())), 0.03,
        true);
  // The collarbone shows as a ridge with a hollow behind it.
  s.add(round_cone(breastbone, 0.012, {0.158, 0.437, 0.034}, 0.011), 0.022, true);
  s.carve(ellipsoid({0.078, 0.476, 0.040}, {0.045, 0.010, 0.018}, turn(-12, Vec3d::UnitZ())), 0.035,
          true);
  s.carve(ball({0, 0.447, 0.082}, 0.012), 0.025);
  s.carve(half_space(Vec3d::Zero(), Vec3d::UnitY()), 0.02);
  return s;
}

// A tailor's bust: cream, with the collarbones and the cut ends in orange.
void paint(Sculpture& s) {
  const Vec3d orange = screen_colour(0.93, 0.48, 0.24);
  s.set_ground_colour(screen_colour(0.95, 0.87, 0.74));
  s.paint(round_cone(breastbone, 0.021, {0.158, 0.437, 0.034}, 0.020), orange, 0.016, 0.85, true);
  s.paint(ball(arm_end + Vec3d(0.012, -0.04, 0), 0.058), orange, 0.012, 1, true);
  s.paint(ellipsoid({0, 0, 0}, {0.5, 0.022, 0.5}), orange, 0.012);
  s.paint(ellipsoid({0, 0.640, 0.01}, {0.1, 0.055, 0.1}), orange, 0.012);
}

Armature rig() {
  Armature a;
  a.add("torso", "", {0, 0.080, 0}, {{"bend", Vec3d::UnitX()}, {"twist", Vec3d::UnitY()}});
  a.add("chest", "torso", {0, 0.260, -0.010},
        {{"bend", Vec3d::UnitX()}, {"twist", Vec3d::UnitY()}});
  a.add_pair("rib_end", "chest", {0.090, 0.300, 0.020});
  a.add("neck", "chest", {0, 0.450, -0.015}, ball_joint());
  a.add("neck_end", "neck", {0, 0.580, 0.012});
  a.add_pair("collarbone", "chest", breastbone,
             {{"lift", Vec3d::UnitZ()},
              {"sweep", -Vec3d::UnitY()},
              {"up", Vec3d::UnitY(), true},
              {"out", Vec3d::UnitX(), true}});
  a.add_pair("shoulder", "collarbone", joint,
             {{"raise", Vec3d::UnitZ()}, {"swing", Vec3d::UnitX()}, {"roll", arm_end - joint}});
  a.add_pair("arm_end", "shoulder", arm_end);
  return a;
}

// A shrug of both shoulders, then one after the other; collarbones slide up and outwards as they
// turn, and the arms keep hanging.
Clip shrug(const Armature& armature) {
  constexpr double length = 4;
  Choreography c(armature, "shrug", length);
  for (const std::string& side : {std::string("left_"), std::string("right_")}) {
    const bool left = side == "left_";
    const double own = left ? 2.35 : 3.10;
    const Curve lift = through(length, {{0.15, 0},
                                        {0.30, -0.10},
                                        {0.80, 1.0},
                                        {1.30, 0.96},
                                        {1.65, -0.06},
                                        {1.90, 0},
                                        {own - 0.35, 0},
                                        {own, 0.85},
                                        {own + 0.40, 0}});
    const Curve sweep = late(lift, left ? 0.08 : 0.08);
    c.move(side + "collarbone", "lift", scaled(lift, 17 * radians));
    c.move(side + "collarbone", "sweep", scaled(sweep, 9 * radians));
    c.move(side + "collarbone", "up", scaled(lift, 0.016));
    c.move(side + "collarbone", "out", scaled(lift, 0.010));
    c.move(side + "shoulder", "raise", scaled(late(lift, 0.06), -13 * radians));
    c.move(side + "shoulder", "roll", scaled(late(lift, 0.10), 18 * radians));
  }
  const Curve both = through(length, {{0.15, 0}, {0.80, 1}, {1.30, 1}, {1.75, 0}});
  const Curve turns = through(length, {{1.9, 0}, {2.40, 1}, {3.15, -1}, {3.75, 0}});
  c.move("neck", "bend", scaled(both, 9 * radians));
  c.move("neck", "lean", scaled(late(turns, 0.05), -9 * radians));
  c.move("chest", "bend", scaled(both, -3 * radians));
  c.move("chest", "twist", scaled(turns, -6 * radians));
  c.move("torso", "twist", scaled(late(turns, 0.05), -4 * radians));
  return c.clip();
}

}  // namespace

Actor shoulder() {
  Actor actor;
  actor.name = "shoulder";
  actor.armature = rig();
  Sculpture sculpture = sculpt();
  paint(sculpture);
  actor.pieces.push_back({"bust", sculpture, 1, ""});
  actor.clips.push_back(shrug(actor.armature));
  return actor;
}

}  // namespace supple::actors
