#include "actors/pomelo_clips.h"

#include <cmath>

#include "actors/pomelo_stance.h"

namespace supple::actors {
namespace {

using namespace modelling;

// Height of a body between take-off and landing: a parabola, as long as nothing holds it.
// For feet, which start and land at rest, `power` above 1 rounds its ends.
Curve flight(double period, double begin, double end, double height, double power = 1.5) {
  return [=](double time) {
    double t = std::fmod(time - begin, period);
    if (t < 0) t += period;
    const double s = t / (end - begin);
    return s < 1 ? height * std::pow(4 * s * (1 - s), power) : 0.0;
  };
}

constexpr double dance_length = 4;

Curve dance_beats(std::vector<Beat> beats) { return through(dance_length, std::move(beats)); }

// Hops: take-off, landing, height of the body's path.
struct Hop {
  double begin, end, height;
  double speed() const { return 4 * height / (end - begin); }
};
constexpr Hop first_hop{1.16, 1.48, 0.10}, second_hop{1.72, 2.04, 0.10}, jump{3.28, 3.68, 0.19};

// Scores are kept as lines of beats, time and value.
// clang-format off

void dance_pelvis(Routine& r) {
  const double up = -0.030;  // where the legs leave the ground and meet it again
  r.slide("height", dance_beats({{0.00, -0.060}, {0.25, -0.030}, {0.50, -0.060}, {0.75, -0.030},
                                 {1.02, -0.100}, {first_hop.begin, up, first_hop.speed()},
                                 {first_hop.end, up, -first_hop.speed()}, {1.60, -0.105},
                                 {second_hop.begin, up, second_hop.speed()},
                                 {second_hop.end, up, -second_hop.speed()}, {2.16, -0.095},
                                 {2.36, -0.050}, {2.86, -0.055}, {3.12, -0.120},
                                 {jump.begin, up, jump.speed()}, {jump.end, up, -jump.speed()},
                                 {3.81, -0.115}}));
  r.slide("side", dance_beats({{0.25, 0.045}, {0.75, -0.045}, {1.05, 0}, {3.85, 0}}));
  r.slide("ahead", dance_beats({{0.0, 0.0}, {1.02, -0.03}, {1.3, 0}, {1.60, -0.03}, {1.9, 0},
                                {2.16, -0.02}, {2.45, 0.01}, {2.85, 0.01}, {3.12, -0.05},
                                {3.48, 0.0}, {3.81, -0.04}}));
  r.turn("pelvis", "lean", dance_beats({{0.25, -7}, {0.75, 7}, {1.05, 0}, {3.85, 0}}));
  r.turn("pelvis", "twist",
         dance_beats({{0, 0}, {0.25, 12}, {0.75, -12}, {1.02, -14}, {1.46, 34}, {1.58, 36},
                      {2.02, -32}, {2.16, -34}, {2.40, 0}, {3.9, 0}}));
  r.turn("pelvis", "twist", shake(dance_length, 2.20, 3.10, 3, 17));
  r.turn("pelvis", "bend",
         dance_beats({{0.0, 5}, {0.25, 2}, {0.5, 5}, {0.75, 2}, {1.02, 18}, {1.30, -3}, {1.60, 18},
                      {1.88, -3}, {2.16, 14}, {2.45, -4}, {2.85, -2}, {3.12, 26}, {3.46, -8},
                      {3.81, 20}}));
}

void dance_spine(Routine& r) {
  const Curve sway = dance_beats({{0.25, 7}, {0.75, -7}, {1.10, 0}, {3.9, 0}});
  r.turn("spine", "lean", sway);
  r.turn("chest", "lean", late(sway, 0.05));
  r.turn("head", "lean", late(scaled(sway, -1.6), 0.08));
  const Curve counter = dance_beats({{0, 0}, {0.25, -8}, {0.75, 8}, {1.02, 12}, {1.40, -12},
                                     {1.62, -16}, {1.98, 14}, {2.2, 14}, {2.45, 0}, {3.9, 0}});
  r.turn("spine", "twist", counter);
  r.turn("chest", "twist", late(counter, 0.04));
  r.turn("head", "twist", late(scaled(counter, 1.2), 0.06));
  r.turn("spine", "twist", shake(dance_length, 2.22, 3.12, 3, -9));
  r.turn("chest", "twist", shake(dance_length, 2.24, 3.14, 3, -8));
  const Curve fold = dance_beats({{0.0, 2}, {0.25, 0}, {0.5, 2}, {0.75, 0}, {1.04, 5}, {1.32, -5},
                                  {1.62, 5}, {1.90, -5}, {2.18, 4}, {2.5, -6}, {2.85, -5},
                                  {3.14, 7}, {3.48, -8}, {3.84, 6}});
  r.turn("spine", "bend", fold);
  r.turn("chest", "bend", late(fold, 0.04));
  // The face stays with its audience.
  r.turn("neck", "bend", late(scaled(fold, -1.5), 0.05));
  r.turn("head", "bend",
         late(dance_beats({{0.0, -4}, {1.04, -16}, {1.32, 4}, {1.62, -16}, {1.90, 4}, {2.18, -10},
                           {2.5, 4}, {2.85, 2}, {3.14, -20}, {3.48, -2}, {3.84, -16}}),
              0.04));
}

void dance_arms(Routine& r) {
  // Curls by turns, then wings at the hops, hands up for the shake, and a star in the jump.
  const auto arm = [&](const std::string& side, double curl_at, double rest_at) {
    r.turn(side + "_shoulder", "raise",
           dance_beats({{curl_at, 34}, {rest_at, 6}, {1.04, -2}, {1.30, 42}, {1.60, 2}, {1.88, 42},
                        {2.16, 6}, {2.45, 34}, {2.90, 32}, {3.14, -4}, {3.46, 54}, {3.60, 50},
                        {3.84, 2}}));
    r.turn(side + "_shoulder", "swing",
           dance_beats({{curl_at, 38}, {rest_at, 2}, {1.04, -22}, {1.30, 15}, {1.60, -20},
                        {1.88, 15}, {2.16, 0}, {2.45, 22}, {2.90, 22}, {3.14, -38}, {3.46, 26},
                        {3.84, 8}}));
    r.turn(side + "_shoulder", "roll",
           dance_beats({{curl_at, -46}, {rest_at, 0}, {1.04, 0}, {2.16, 0}, {2.45, -55},
                        {2.90, -55}, {3.14, 0}, {3.46, -20}, {3.84, 0}}));
    r.turn(side + "_elbow", "curl",
           dance_beats({{curl_at, 98}, {rest_at, 18}, {1.04, 40}, {1.30, 14}, {1.60, 40},
                        {1.88, 14}, {2.16, 40}, {2.45, 66}, {2.90, 64}, {3.14, 20}, {3.46, 8},
                        {3.84, 36}}));
    r.turn(side + "_wrist", "bend",
           dance_beats({{curl_at, 25}, {rest_at, -10}, {1.06, 20}, {1.34, -25}, {1.62, 20},
                        {1.92, -25}, {2.2, 10}, {2.5, -15}, {2.9, -10}, {3.16, 20}, {3.5, -25},
                        {3.88, 10}}));
    r.turn(side + "_clavicle", "lean",
           dance_beats({{curl_at, 4}, {rest_at, 0}, {1.04, -4}, {1.30, 8}, {1.60, -4}, {1.88, 8},
                        {2.16, 0}, {2.45, 5}, {2.9, 5}, {3.14, -6}, {3.46, 10}, {3.84, -4}}));
    r.curl(side, dance_beats({{curl_at, 0.95}, {rest_at, 0.25}, {1.04, 0.6}, {1.32, 0.0},
                              {1.62, 0.6}, {1.90, 0.0}, {2.16, 0.4}, {2.5, 0.15}, {2.9, 0.2},
                              {3.14, 0.8}, {3.46, 0.0}, {3.85, 0.4}}));
  };
  arm("left", 0.25, 0.75);
  arm("right", 0.75, 0.25);
}

void dance_feet(Routine& r) {
  const Curve turn = dance_beats({{0, 0}, {first_hop.begin, 0}, {first_hop.end, 24},
                                  {second_hop.begin, 24}, {second_hop.end, -24}, {3.30, -24},
                                  {3.62, 0}});
  for (const std::string& side : {std::string("left"), std::string("right")}) {
    Step step;
    step.turn = turn;
    step.height = sum(sum(flight(dance_length, first_hop.begin, first_hop.end, 0.085),
                          flight(dance_length, second_hop.begin, second_hop.end, 0.085)),
                      flight(dance_length, jump.begin, jump.end, 0.165));
    step.side = dance_beats({{0, 0}, {jump.begin, 0}, {3.47, 0.07}, {jump.end, 0}});
    const bool left = side == "left";
    // The foot without weight lifts its heel; feet point down in the air.
    step.heel = dance_beats({{0.00, 0},  {0.25, left ? 0.0 : 22.0},
                             {0.50, 0},  {0.75, left ? 22.0 : 0.0}, {1.0, 0},   {1.06, 0},
                             {1.18, 26}, {1.32, 20}, {1.46, 6},  {1.52, 0}, {1.64, 0},  {1.74, 26},
                             {1.88, 20}, {2.02, 6}, {2.08, 0},  {3.16, 0}, {3.31, 30}, {3.48, 34},
                             {3.66, 8},  {3.72, 0}});
    r.stand(side, step);
  }
}

// clang-format on

}  // namespace

Clip pomelo_dance(const Armature& armature) {
  Routine r(armature, "dance", dance_length);
  dance_pelvis(r);
  dance_spine(r);
  dance_arms(r);
  dance_feet(r);
  return r.clip();
}

}  // namespace supple::actors
