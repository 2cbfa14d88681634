#include "actors/pomelo_clips.h"

#include "actors/pomelo_stance.h"

namespace supple::actors {

using namespace modelling;

// Scores are kept as lines of beats, time and value.
// clang-format off

Clip pomelo_idle(const Armature& armature) {
  constexpr double length = 6;
  Routine r(armature, "idle", length);
  const Curve breath = wave(length / 2, 1);
  // Weight goes to the left leg, then to the right one.
  const Curve shift = through(length, {{0.0, 0}, {1.0, 1}, {2.4, 1}, {3.6, -1}, {5.0, -1}});
  r.slide("height", sum(still(-0.022), sum(scaled(breath, 0.003), [shift](double t) {
                          return -0.006 * shift(t) * shift(t);
                        })));
  r.slide("side", scaled(shift, 0.028));
  r.turn("pelvis", "lean", scaled(shift, 3));
  r.turn("pelvis", "twist", scaled(shift, 4));
  r.turn("spine", "lean", late(scaled(shift, -4), 0.10));
  r.turn("chest", "lean", late(scaled(shift, -2), 0.15));
  r.turn("spine", "bend", sum(still(1), scaled(breath, -1.5)));
  r.turn("chest", "bend", scaled(breath, -2.0));
  r.turn("neck", "bend", scaled(breath, 1.6));
  // A look to the left, up at something, and to the right.
  r.turn(
      "head", "twist",
      through(
          length,
          {{0.2, 0}, {0.9, 34}, {1.9, 30}, {2.5, 6}, {3.1, 0}, {3.8, -32}, {4.7, -34}, {5.4, 0}}));
  r.turn("head", "bend",
         through(length, {{0.2, 0}, {0.55, 7}, {0.95, -3}, {2.0, -4}, {2.6, -12}, {3.2, -10},
                          {3.5, 5}, {3.9, 0}, {4.8, 2}, {5.2, 6}}));
  r.turn(
      "head", "lean",
      through(length,
              {{0.2, 0}, {1.0, -6}, {2.2, -5}, {2.8, 6}, {3.3, 3}, {3.9, 5}, {4.8, 6}, {5.5, 0}}));
  r.turn("chest", "twist",
         through(length, {{0.3, 0}, {1.2, 8}, {2.2, 6}, {3.2, 0}, {4.1, -8}, {4.9, -7}, {5.7, 0}}));
  for (const std::string& side : {std::string("left"), std::string("right")}) {
    const double sign = side == "left" ? 1 : -1;
    r.turn(side + "_clavicle", "lean", scaled(breath, 2.0));
    r.turn(side + "_shoulder", "raise", sum(still(-1), scaled(shift, 2 * sign)));
    r.turn(side + "_shoulder", "swing", sum(still(8), late(scaled(shift, 3 * sign), 0.2)));
    r.turn(side + "_elbow", "curl", sum(still(22), late(scaled(breath, 3), 0.2)));
    r.turn(side + "_wrist", "bend", sum(still(4), late(scaled(breath, 4), 0.35)));
    r.curl(side, sum(still(0.28), late(scaled(breath, 0.06), 0.3)));
    r.stand(side, {});
  }
  return r.clip();
}

Clip pomelo_walk(const Armature& armature) {
  constexpr double length = 1;
  Routine r(armature, "walk", length);
  const Curve stride = wave(length, 1, 0.25);  // -1 when the left foot is in front
  const Curve bounce = wave(length / 2, 1);    // up while one leg passes the other
  r.slide("height", sum(still(-0.040), scaled(late(bounce, 0.06), 0.014)));
  r.slide("side", late(wave(length, 0.030, 0.0), 0.02));
  r.turn("pelvis", "lean", wave(length, 5, 0.02));
  r.turn("pelvis", "twist", scaled(stride, 9));
  r.turn("pelvis", "bend", sum(still(3), scaled(bounce, 1.5)));
  r.turn("spine", "lean", wave(length, -5, 0.06));
  r.turn("spine", "twist", late(scaled(stride, -7), 0.03));
  r.turn("chest", "twist", late(scaled(stride, -7), 0.05));
  r.turn("chest", "lean", wave(length, -3, 0.10));
  r.turn("chest", "bend", late(scaled(bounce, 2), 0.05));
  r.turn("head", "twist", late(scaled(stride, 5), 0.04));
  r.turn("head", "lean", wave(length, 5, 0.10));
  r.turn("head", "bend", sum(still(-3), late(scaled(bounce, -3), 0.08)));
  for (const std::string& side : {std::string("left"), std::string("right")}) {
    const double sign = side == "left" ? 1 : -1;
    r.turn(side + "_shoulder", "raise", sum(still(9), late(scaled(bounce, -3), 0.05)));
    r.turn(side + "_shoulder", "swing", sum(still(-4), late(scaled(stride, 22 * sign), 0.03)));
    r.turn(side + "_elbow", "curl", sum(still(26), late(scaled(stride, 10 * sign), 0.10)));
    r.turn(side + "_wrist", "bend", late(scaled(stride, 12 * sign), 0.14));
    r.curl(side, still(0.35));
    // On the ground the foot runs back evenly; then it swings ahead.
    const double begin = side == "left" ? 0 : 0.5;
    const double reach = 0.085, speed = -2 * reach / 0.55;
    Step step;
    step.ahead = through(length, {{begin, reach, speed}, {begin + 0.55, -reach, speed},
                                  {begin + 0.62, -reach - 0.012}, {begin + 0.93, reach + 0.010}});
    step.height = bump(length, begin + 0.56, begin + 1.0, 0.055);
    step.heel = through(length, {{begin + 0.02, 0}, {begin + 0.36, 0}, {begin + 0.60, 32},
                                 {begin + 0.80, 10}, {begin + 0.90, -6}});
    step.side = still(-0.015);
    r.stand(side, step);
  }
  return r.clip();
}

Clip pomelo_crouch(const Armature& armature) {
  constexpr double length = 3;
  Routine r(armature, "crouch", length);
  // Up a little first, then down, a settle, and up past the stand.
  const Curve down = through(
      length,
      {{0.0, 0}, {0.25, -0.10}, {0.85, 1.03}, {1.10, 0.97}, {1.75, 1.0}, {2.40, -0.06}, {2.70, 0}});
  r.slide("height", sum(still(-0.025), scaled(down, -0.150)));
  r.slide("ahead", scaled(down, -0.055));
  r.turn("pelvis", "bend", sum(still(2), scaled(down, 30)));
  r.turn("spine", "bend", late(scaled(down, 8), 0.05));
  r.turn("chest", "bend", late(scaled(down, 6), 0.08));
  r.turn("neck", "bend", late(scaled(down, -12), 0.06));
  r.turn("head", "bend", late(scaled(down, -24), 0.10));
  r.turn_pair("clavicle", "lean", late(scaled(down, 4), 0.08));
  r.turn_pair("shoulder", "raise", late(scaled(down, 30), 0.06));
  r.turn_pair("shoulder", "swing", sum(still(6), late(scaled(down, 34), 0.06)));
  r.turn_pair("elbow", "curl", sum(still(20), late(scaled(down, 10), 0.10)));
  r.turn_pair("wrist", "bend", late(scaled(down, -14), 0.14));
  for (const std::string& side : {std::string("left"), std::string("right")}) {
    r.curl(side, sum(still(0.25), late(scaled(down, 0.15), 0.15)));
    r.stand(side, {});
  }
  return r.clip();
}

// clang-format on

}  // namespace supple::actors
