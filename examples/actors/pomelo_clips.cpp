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

void dance_pelvis(Routine& r) {
  const double up = -0.030;  // where the legs leave the ground and meet it again
  r.slide("height", dance_beats({{0.00, -0.060},
                                 {0.25, -0.030},
                                 {0.50, -0.060},
                                 {0.75, -0.030},
                                 {1.02, -0.100},
                                 {first_hop.begin, up, first_hop.speed()},
                                 {first_hop.end, up, -first_hop.speed()},
                                 {1.60, -0.105},
                                 {second_hop.begin, up, second_hop.speed()},
                                 {second_hop.end, up, -second_hop.speed()},
                                 {2.16, -0.095},
                                 {2.36, -0.050},
                                 {2.86, -0.055},
                                 {3.12, -0.120},
                                 {jump.begin, up, jump.speed()},
                                 {jump.end, up, -jump.speed()},
                                 {3.81, -0.115}}));
  r.slide("side", dance_beats({{0.25, 0.045}, {0.75, -0.045}, {1.05, 0}, {3.85, 0}}));
  r.slide("ahead", dance_beats({{0.0, 0.0},
                                {1.02, -0.03},
                                {1.3, 0},
                                {1.60, -0.03},
                                {1.9, 0},
                                {2.16, -0.02},
                                {2.45, 0.01},
                                {2.85, 0.01},
                                {3.12, -0.05},
                                {3.48, 0.0},
                                {3.81, -0.04}}));
  r.turn("pelvis", "lean", dance_beats({{0.25, -7}, {0.75, 7}, {1.05, 0}, {3.85, 0}}));
  r.turn("pelvis", "twist",
         dance_beats({{0, 0},
                      {0.25, 12},
                      {0.75, -12},
                      {1.02, -14},
                      {1.46, 34},
                      {1.58, 36},
                      {2.02, -32},
                      {2.16, -34},
                      {2.40, 0},
                      {3.9, 0}}));
  r.turn("pelvis", "twist", shake(dance_length, 2.20, 3.10, 3, 17));
  r.turn("pelvis", "bend",
         dance_beats({{0.0, 5},
                      {0.25, 2},
                      {0.5, 5},
                      {0.75, 2},
                      {1.02, 18},
                      {1.30, -3},
                      {1.60, 18},
                      {1.88, -3},
                      {2.16, 14},
                      {2.45, -4},
                      {2.85, -2},
                      {3.12, 26},
                      {3.46, -8},
                      {3.81, 20}}));
}

void dance_spine(Routine& r) {
  const Curve sway = dance_beats({{0.25, 7}, {0.75, -7}, {1.10, 0}, {3.9, 0}});
  r.turn("spine", "lean", sway);
  r.turn("chest", "lean", late(sway, 0.05));
  r.turn("head", "lean", late(scaled(sway, -1.6), 0.08));
  const Curve counter = dance_beats({{0, 0},
                                     {0.25, -8},
                                     {0.75, 8},
                                     {1.02, 12},
                                     {1.40, -12},
                                     {1.62, -16},
                                     {1.98, 14},
                                     {2.2, 14},
                                     {2.45, 0},
                                     {3.9, 0}});
  r.turn("spine", "twist", counter);
  r.turn("chest", "twist", late(counter, 0.04));
  r.turn("head", "twist", late(scaled(counter, 1.2), 0.06));
  r.turn("spine", "twist", shake(dance_length, 2.22, 3.12, 3, -9));
  r.turn("chest", "twist", shake(dance_length, 2.24, 3.14, 3, -8));
  const Curve fold = dance_beats({{0.0, 2},
                                  {0.25, 0},
                                  {0.5, 2},
                                  {0.75, 0},
                                  {1.04, 5},
                                  {1.32, -5},
                                  {1.62, 5},
                                  {1.90, -5},
                                  {2.18, 4},
                                  {2.5, -6},
                                  {2.85, -5},
                                  {3.14, 7},
                                  {3.48, -8},
                                  {3.84, 6}});
  r.turn("spine", "bend", fold);
  r.turn("chest", "bend", late(fold, 0.04));
  // The face stays with its audience.
  r.turn("neck", "bend", late(scaled(fold, -1.5), 0.05));
  r.turn("head", "bend",
         late(dance_beats({{0.0, -4},
                           {1.04, -16},
                           {1.32, 4},
                           {1.62, -16},
                           {1.90, 4},
                           {2.18, -10},
                           {2.5, 4},
                           {2.85, 2},
                           {3.14, -20},
                           {3.48, -2},
                           {3.84, -16}}),
              0.04));
}

void dance_arms(Routine& r) {
  // Curls by turns, then wings at the hops, hands up for the shake, and a star in the jump.
  const auto arm = [&](const std::string& side, double curl_at, double rest_at) {
    r.turn(side + "_shoulder", "raise",
           dance_beats({{curl_at, 22},
                        {rest_at, 2},
                        {1.04, -2},
                        {1.30, 42},
                        {1.60, 2},
                        {1.88, 42},
                        {2.16, 6},
                        {2.45, 34},
                        {2.90, 32},
                        {3.14, -4},
                        {3.46, 54},
                        {3.60, 50},
                        {3.84, 2}}));
    r.turn(side + "_shoulder", "swing",
           dance_beats({{curl_at, 42},
                        {rest_at, 6},
                        {1.04, -22},
                        {1.30, 15},
                        {1.60, -20},
                        {1.88, 15},
                        {2.16, 0},
                        {2.45, 22},
                        {2.90, 22},
                        {3.14, -38},
                        {3.46, 26},
                        {3.84, 8}}));
    r.turn(side + "_shoulder", "roll",
           dance_beats({{curl_at, -38},
                        {rest_at, 0},
                        {1.04, 0},
                        {2.16, 0},
                        {2.45, -55},
                        {2.90, -55},
                        {3.14, 0},
                        {3.46, -20},
                        {3.84, 0}}));
    r.turn(side + "_elbow", "curl",
           dance_beats({{curl_at, 112},
                        {rest_at, 18},
                        {1.04, 40},
                        {1.30, 14},
                        {1.60, 40},
                        {1.88, 14},
                        {2.16, 40},
                        {2.45, 66},
                        {2.90, 64},
                        {3.14, 20},
                        {3.46, 8},
                        {3.84, 36}}));
    r.turn(side + "_wrist", "bend",
           dance_beats({{curl_at, 25},
                        {rest_at, -10},
                        {1.06, 20},
                        {1.34, -25},
                        {1.62, 20},
                        {1.92, -25},
                        {2.2, 10},
                        {2.5, -15},
                        {2.9, -10},
                        {3.16, 20},
                        {3.5, -25},
                        {3.88, 10}}));
    r.turn(side + "_clavicle", "lean",
           dance_beats({{curl_at, 4},
                        {rest_at, 0},
                        {1.04, -4},
                        {1.30, 8},
                        {1.60, -4},
                        {1.88, 8},
                        {2.16, 0},
                        {2.45, 5},
                        {2.9, 5},
                        {3.14, -6},
                        {3.46, 10},
                        {3.84, -4}}));
    r.curl(side, dance_beats({{curl_at, 0.95},
                              {rest_at, 0.25},
                              {1.04, 0.6},
                              {1.32, 0.0},
                              {1.62, 0.6},
                              {1.90, 0.0},
                              {2.16, 0.4},
                              {2.5, 0.15},
                              {2.9, 0.2},
                              {3.14, 0.8},
                              {3.46, 0.0},
                              {3.85, 0.4}}));
  };
  arm("left", 0.25, 0.75);
  arm("right", 0.75, 0.25);
}

void dance_feet(Routine& r) {
  const Curve turn = dance_beats({{0, 0},
                                  {first_hop.begin, 0},
                                  {first_hop.end, 24},
                                  {second_hop.begin, 24},
                                  {second_hop.end, -24},
                                  {3.30, -24},
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
                             {0.50, 0},  {0.75, left ? 22.0 : 0.0},
                             {1.0, 0},   {1.06, 0},
                             {1.18, 26}, {1.32, 20},
                             {1.46, 6},  {1.52, 0},
                             {1.64, 0},  {1.74, 26},
                             {1.88, 20}, {2.02, 6},
                             {2.08, 0},  {3.16, 0},
                             {3.31, 30}, {3.48, 34},
                             {3.66, 8},  {3.72, 0}});
    r.stand(side, step);
  }
}

}  // namespace

Clip pomelo_dance(const Armature& armature) {
  Routine r(armature, "dance", dance_length);
  dance_pelvis(r);
  dance_spine(r);
  dance_arms(r);
  dance_feet(r);
  return r.clip();
}

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
         through(length, {{0.2, 0},
                          {0.55, 7},
                          {0.95, -3},
                          {2.0, -4},
                          {2.6, -12},
                          {3.2, -10},
                          {3.5, 5},
                          {3.9, 0},
                          {4.8, 2},
                          {5.2, 6}}));
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
    r.turn(side + "_shoulder", "raise", sum(still(3), late(scaled(bounce, -3), 0.05)));
    r.turn(side + "_shoulder", "swing", late(scaled(stride, 26 * sign), 0.03));
    r.turn(side + "_elbow", "curl", sum(still(34), late(scaled(stride, 14 * sign), 0.10)));
    r.turn(side + "_wrist", "bend", late(scaled(stride, 12 * sign), 0.14));
    r.curl(side, still(0.35));
    // On the ground the foot runs back evenly; then it swings ahead.
    const double begin = side == "left" ? 0 : 0.5;
    const double reach = 0.085, speed = -2 * reach / 0.55;
    Step step;
    step.ahead = through(length, {{begin, reach, speed},
                                  {begin + 0.55, -reach, speed},
                                  {begin + 0.62, -reach - 0.012},
                                  {begin + 0.93, reach + 0.010}});
    step.height = bump(length, begin + 0.56, begin + 1.0, 0.055);
    step.heel = through(length, {{begin + 0.02, 0},
                                 {begin + 0.36, 0},
                                 {begin + 0.60, 32},
                                 {begin + 0.80, 10},
                                 {begin + 0.90, -6}});
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
  r.turn_pair("shoulder", "raise", late(scaled(down, 12), 0.06));
  r.turn_pair("shoulder", "swing", sum(still(6), late(scaled(down, 42), 0.06)));
  r.turn_pair("elbow", "curl", sum(still(20), late(scaled(down, 26), 0.10)));
  r.turn_pair("wrist", "bend", late(scaled(down, -14), 0.14));
  for (const std::string& side : {std::string("left"), std::string("right")}) {
    r.curl(side, sum(still(0.25), late(scaled(down, 0.15), 0.15)));
    r.stand(side, {});
  }
  return r.clip();
}

}  // namespace supple::actors
