#include "actors/pomelo.h"

#include "actors/pomelo_clips.h"
#include "actors/pomelo_parts.h"

namespace supple::actors {
namespace {

using namespace modelling;

const Vec3d rind = screen_colour(1.00, 0.66, 0.18);
const Vec3d peel = screen_colour(0.93, 0.38, 0.14);
const Vec3d cream = screen_colour(1.00, 0.92, 0.70);
const Vec3d flesh = screen_colour(0.98, 0.46, 0.38);
const Vec3d dark = screen_colour(0.15, 0.07, 0.06);
const Vec3d glow = screen_colour(0.50, 0.24, 0.13);
const Vec3d white = screen_colour(1.00, 1.00, 0.98);
const Vec3d leaf = screen_colour(0.40, 0.65, 0.10);

void sculpt_torso(Sculpture& s) {
  s.add(ellipsoid({0, 0.375, -0.015}, {0.205, 0.150, 0.185}), 0);
  s.add(ellipsoid({0, 0.470, 0.045}, {0.248, 0.225, 0.238}), 0.06);
  s.add(ellipsoid({0, 0.665, -0.005}, {0.160, 0.130, 0.138}), 0.12);
  s.add(ball({0, 0.365, -0.225}, 0.065), 0.025);  // tail
  s.carve(ellipsoid({0, 0.465, 0.290}, {0.012, 0.009, 0.020}), 0.016);
}

Mat3d ear_axes() { return turn(24, Vec3d::UnitZ()) * turn(-24, Vec3d::UnitY()); }

void sculpt_head(Sculpture& s) {
  s.add(ellipsoid({0, 0.935, 0.005}, {0.222, 0.188, 0.198}), 0.05);
  s.add(ball({0.142, 0.858, 0.092}, 0.100), 0.07, true);             // cheeks
  s.add(ellipsoid({0, 0.868, 0.165}, {0.085, 0.050, 0.060}), 0.04);  // muzzle
  // Ears: broad leaves that cup forward, with tips that hang.
  s.add(ellipsoid({0.295, 1.060, -0.015}, {0.165, 0.098, 0.036}, ear_axes()), 0.06, true);
  s.add(ellipsoid({0.425, 1.070, 0.035}, {0.050, 0.085, 0.032}, turn(-55, Vec3d::UnitZ())), 0.06,
        true);
  s.carve(ellipsoid({0.310, 1.070, 0.055}, {0.125, 0.062, 0.048}, ear_axes()), 0.025, true);
  // A sprout of two leaves.
  s.add(round_cone({0, 1.09, 0}, 0.018, {0, 1.15, -0.01}, 0.014), 0.02);
  s.add(ellipsoid({0.055, 1.178, -0.01}, {0.060, 0.034, 0.018}, turn(25, Vec3d::UnitZ())), 0.012,
        true);
  s.carve(eye_shape(eye_gap), 0.016, true);
  s.add(ellipsoid(nose, {0.026, 0.018, 0.018}), 0.012);
  s.carve(smile(), 0.008);
  s.set_focus({{0, 0.91, 0.17}, 0.11, 1.6});
}

void sculpt_arm(Sculpture& s) {
  s.add(round_cone(on_arm(0.0), 0.072, on_arm(0.155), 0.057), 0.05, true);
  s.add(round_cone(on_arm(0.155), 0.057, on_arm(0.285), 0.050), 0.02, true);
  s.add(ellipsoid(on_arm(0.345), {0.064, 0.035, 0.068}, hand_axes()), 0.035, true);
  for (int f = 0; f < 3; ++f)
    s.add(round_cone(on_finger(f, 0.365), 0.0250, on_finger(f, 0.468), 0.0225), 0.010, true);
  s.add(round_cone(on_arm(0.312, 0.040), 0.028, on_arm(0.352, 0.108), 0.025), 0.018, true);
}

void sculpt_leg(Sculpture& s) {
  s.add(round_cone(hip, 0.105, knee, 0.084), 0.05, true);
  s.add(round_cone(knee, 0.084, ankle, 0.072), 0.03, true);
  s.add(ellipsoid({0.152, 0.050, 0.055}, {0.086, 0.068, 0.132}, turn(12, Vec3d::UnitY())), 0.04,
        true);
  for (const double side : {-0.048, 0.0, 0.048})
    s.add(ball({0.177 + side, 0.038, 0.165 - 6 * side * side}, 0.038), 0.02, true);
  s.carve(half_space(Vec3d::Zero(), Vec3d::UnitY()), 0.02);
}

void paint(Sculpture& s) {
  s.set_ground_colour(rind);
  s.paint(ellipsoid({0, 0.465, 0.22}, {0.178, 0.180, 0.16}), cream, 0.030);
  s.paint(ellipsoid({0, 0.866, 0.195}, {0.108, 0.060, 0.08}), cream, 0.014);
  s.paint(ball({0.170, 0.868, 0.175}, 0.052), flesh, 0.06, 0.8, true);
  s.paint(ellipsoid(on_arm(0.415, 0.02), {0.130, 0.100, 0.160}, hand_axes()), peel, 0.035, 1, true);
  s.paint(ellipsoid({0.16, 0.02, 0.08}, {0.14, 0.085, 0.19}), peel, 0.035, 1, true);
  s.paint(ball({0, 0.365, -0.26}, 0.075), cream, 0.03);
  s.paint(ball({0.455, 1.09, 0.02}, 0.095), peel, 0.06, 1, true);
  s.paint(ellipsoid({0.310, 1.070, 0.048}, {0.118, 0.055, 0.046}, ear_axes()), flesh, 0.014, 0.9,
          true);
  s.paint(ellipsoid({0, 1.19, -0.01}, {0.16, 0.075, 0.06}), leaf, 0.02);
  s.paint(ellipsoid(nose, {0.032, 0.024, 0.024}), peel, 0.010);
  s.paint(eye_shape(0.007), dark, 0.008, 1, true);
  s.paint(smile(0.003), dark, 0.008, 0.9);
}

// Highlights sit on the same side of both eyes, where one lamp would leave them.
Sculpture sculpt_eyes() {
  Sculpture s;
  s.add(eye_shape(0), 0, true);
  s.set_ground_colour(dark);
  for (const double side : {-1.0, 1.0}) {
    const Vec3d middle(side * eye[0], eye[1], eye[2]);
    s.paint(ellipsoid(middle + Vec3d(0, -0.034, 0.030), {0.034, 0.028, 0.04}), glow, 0.03);
    s.paint(ball(middle + Vec3d(0.015, 0.026, 0.028), 0.0165), white, 0.008);
    s.paint(ball(middle + Vec3d(-0.016, -0.020, 0.032), 0.0085), white, 0.006, 0.9);
  }
  return s;
}

}  // namespace

modelling::Actor pomelo() {
  Actor actor;
  actor.name = "pomelo";
  actor.armature = pomelo_armature();
  Sculpture body;
  sculpt_torso(body);
  sculpt_head(body);
  sculpt_arm(body);
  sculpt_leg(body);
  paint(body);
  actor.pieces.push_back({"body", body, 0.89, ""});
  actor.pieces.push_back({"eyes", sculpt_eyes(), 0.11, "head"});
  actor.weighting.resolution = 80;
  actor.weighting.smoothness = 0.7;
  actor.grips.push_back({"head", eye_shape(0.015), 0.06, true});  // sockets stay with their eyes
  actor.clips = {pomelo_dance(actor.armature), pomelo_idle(actor.armature),
                 pomelo_walk(actor.armature), pomelo_crouch(actor.armature)};
  return actor;
}

}  // namespace supple::actors
