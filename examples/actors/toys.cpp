#include "actors/toys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "modelling/actor.h"
#include "modelling/quilt.h"
#include "modelling/sculpture.h"
#include "supple/math/smooth_step.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double pi = std::numbers::pi;

// A skin of rings about the y axis; `profile` gives radius and height, from 0 to 1, and runs
// counter-clockwise seen with the axis on the left: up along the outside. Where it begins and ends
// on the axis there are poles; else it is a closed loop.
Quilt turned(const std::vector<Vec3d>& profile, int around, bool poles) {
  Quilt quilt;
  std::vector<std::vector<int>> rings;
  const size_t first = poles ? 1 : 0, last = profile.size() - first;
  int bottom = 0, top = 0;
  if (poles) bottom = quilt.add_vertex({0, profile.front()[1], 0});
  for (size_t i = first; i < last; ++i) {
    std::vector<int> ring;
    for (int k = 0; k < around; ++k) {
      const double angle = 2 * pi * k / around;
      ring.push_back(quilt.add_vertex(
          {profile[i][0] * std::cos(angle), profile[i][1], -profile[i][0] * std::sin(angle)}));
    }
    ring.push_back(ring.front());
    rings.push_back(std::move(ring));
  }
  if (poles) top = quilt.add_vertex({0, profile.back()[1], 0});
  for (size_t i = 0; i + 1 < rings.size(); ++i) quilt.add_strip(rings[i], rings[i + 1]);
  if (poles) {
    quilt.add_fan(std::vector<int>(rings.front().rbegin(), rings.front().rend()), bottom);
    quilt.add_fan(rings.back(), top);
  } else {
    quilt.add_strip(rings.back(), rings.front());
  }
  return quilt;
}

// Corners of a profile, joined by pieces of about equal length.
std::vector<Vec3d> along(const std::vector<Vec3d>& corners, double edge) {
  std::vector<Vec3d> points = {corners.front()};
  for (size_t i = 0; i + 1 < corners.size(); ++i) {
    const Vec3d way = corners[i + 1] - corners[i];
    const int pieces = std::max(1, static_cast<int>(std::lround(way.norm() / edge)));
    for (int k = 1; k <= pieces; ++k) points.emplace_back(corners[i] + way * k / pieces);
  }
  return points;
}

// An arc of a profile about a centre, from one angle to another, in degrees from outwards.
void add_arc(std::vector<Vec3d>& corners, double r, double y, double radius, double from,
             double to) {
  constexpr int pieces = 4;
  for (int k = 0; k <= pieces; ++k) {
    const double angle = (from + (to - from) * k / pieces) * pi / 180;
    corners.emplace_back(r + radius * std::cos(angle), y + radius * std::sin(angle), 0);
  }
}

Sculpture duck_sculpture() {
  Sculpture s;
  s.add(ellipsoid({0, 0.092, -0.01}, {0.100, 0.088, 0.135}), 0);
  s.add(ball({0, 0.105, 0.055}, 0.085), 0.05);
  s.add(round_cone({0, 0.125, -0.10}, 0.058, {0, 0.180, -0.150}, 0.030), 0.04);
  s.add(ball({0, 0.235, 0.070}, 0.074), 0.035);
  s.add(ellipsoid({0, 0.218, 0.155}, {0.042, 0.022, 0.045}, turn(-6, Vec3d::UnitX())), 0.014);
  s.add(ellipsoid({0.088, 0.118, -0.025}, {0.028, 0.045, 0.080}, turn(10, Vec3d::UnitX())), 0.02,
        true);
  s.carve(half_space({0, 0.018, 0}, {0, 1, 0}), 0.02);
  s.set_ground_colour(screen_colour(0.98, 0.80, 0.16));
  s.paint(ellipsoid({0, 0.216, 0.162}, {0.060, 0.032, 0.052}), screen_colour(0.95, 0.45, 0.12),
          0.008);
  s.paint(ball({0.044, 0.258, 0.126}, 0.022), screen_colour(0.98, 0.98, 0.96), 0.004, 1, true);
  s.paint(ball({0.047, 0.259, 0.133}, 0.013), screen_colour(0.05, 0.05, 0.08), 0.003, 1, true);
  return s;
}

// Limbs, claws and tail of the beast.
void add_limbs(Sculpture& s) {
  // Legs with three toes each.
  s.add(round_cone({0.11, 0.36, 0}, 0.105, {0.16, 0.17, 0.02}, 0.07), 0.06, true);
  s.add(round_cone({0.16, 0.17, 0.02}, 0.068, {0.16, 0.06, 0}, 0.06), 0.04, true);
  s.add(ellipsoid({0.165, 0.045, 0.05}, {0.07, 0.045, 0.10}), 0.03, true);
  for (const double x : {0.118, 0.165, 0.212})
    s.add(round_cone({x, 0.030, 0.125}, 0.026, {x + 0.4 * (x - 0.165), 0.02, 0.175}, 0.012), 0.012,
          true);
  // Arms raised to the sides, with hands of three claws.
  s.add(round_cone({0.17, 0.64, 0}, 0.085, {0.30, 0.56, 0.04}, 0.062), 0.05, true);
  s.add(round_cone({0.30, 0.56, 0.04}, 0.06, {0.40, 0.68, 0.12}, 0.048), 0.03, true);
  s.add(ellipsoid({0.415, 0.715, 0.135}, {0.052, 0.055, 0.040}), 0.025, true);
  for (int k = -1; k <= 1; ++k)
    s.add(round_cone({0.42 + 0.030 * k, 0.755, 0.145 + 0.006 * k}, 0.018,
                     {0.43 + 0.054 * k, 0.825, 0.170}, 0.012),
          0.012, true);
  s.add(round_cone({0.385, 0.715, 0.150}, 0.017, {0.345, 0.755, 0.195}, 0.012), 0.012, true);
  // A tail that tapers off and turns up.
  const Vec3d tail[] = {
      {0, 0.30, -0.12}, {0, 0.20, -0.28}, {0, 0.16, -0.42}, {0, 0.19, -0.55}, {0, 0.28, -0.63}};
  for (int i = 0; i < 4; ++i)
    s.add(round_cone(tail[i], 0.105 - 0.022 * i, tail[i + 1], 0.083 - 0.022 * i), 0.03);
}

// Scales in rows down the back, rims of the belly's plates.
void add_scales(Sculpture& s) {
  for (int row = 0; row < 7; ++row) {
    const double y = 0.74 - 0.072 * row;
    // The back's depth at this height.
    const double z = -0.150 - 0.035 * std::sin(pi * (row + 0.5) / 7);
    s.add(ellipsoid({0, y, z}, {0.036, 0.040, 0.026}, turn(25, Vec3d::UnitX())), 0.018);
    const double x = 0.085;
    s.add(ellipsoid({x, y - 0.03, z + 0.035}, {0.032, 0.036, 0.024},
                    turn(-28, Vec3d::UnitY()) * turn(25, Vec3d::UnitX())),
          0.018, true);
    if (row > 0 && row < 6)
      s.add(ellipsoid({0.152, y, z + 0.095}, {0.026, 0.032, 0.022},
                      turn(-58, Vec3d::UnitY()) * turn(20, Vec3d::UnitX())),
            0.018, true);
  }
  for (int k = 0; k < 5; ++k) {
    // Round the belly at this height, half sunk into it.
    const double y = 0.38 + 0.062 * k, t = (y - 0.50) / 0.235;
    s.add(arc({0, y, -0.012}, 0.178 * std::sqrt(1 - t * t), 0.19 * pi, 0.011,
              turn(90, Vec3d::UnitX())),
          0.016);
  }
  for (int k = 0; k < 3; ++k)
    s.add(round_cone({0, 0.30 - 0.055 * k, -0.255 - 0.125 * k}, 0.030,
                     {0, 0.35 - 0.055 * k, -0.295 - 0.125 * k}, 0.010),
          0.012);
}

void add_head(Sculpture& s) {
  s.add(round_cone({0, 0.70, 0.02}, 0.11, {0, 0.82, 0.06}, 0.10), 0.05);
  s.add(ellipsoid({0, 0.855, 0.075}, {0.112, 0.100, 0.115}), 0.04);
  s.add(ellipsoid({0, 0.825, 0.185}, {0.066, 0.050, 0.075}), 0.03);  // the snout
  s.add(ball({0.030, 0.850, 0.245}, 0.020), 0.012, true);            // nostrils
  s.add(ellipsoid({0, 0.785, 0.165}, {0.060, 0.028, 0.070}), 0.012);
  s.add(ball({0.055, 0.900, 0.155}, 0.032), 0.012, true);  // eyes
  s.add(ellipsoid({0.060, 0.930, 0.140}, {0.042, 0.016, 0.030}, turn(-15, Vec3d::UnitZ())), 0.012,
        true);
  // Ears and horns.
  s.add(ellipsoid({0.150, 0.890, 0.045}, {0.065, 0.036, 0.018}, turn(28, Vec3d::UnitZ())), 0.02,
        true);
  s.add(round_cone({0.060, 0.930, 0.035}, 0.030, {0.095, 0.990, 0.005}, 0.022), 0.014, true);
  s.add(round_cone({0.095, 0.990, 0.005}, 0.022, {0.085, 1.050, -0.020}, 0.009), 0.010, true);
}

Sculpture gnarl_sculpture() {
  Sculpture s;
  s.add(ellipsoid({0, 0.50, 0}, {0.185, 0.235, 0.165}), 0);
  s.add(ellipsoid({0, 0.66, -0.01}, {0.185, 0.110, 0.135}), 0.06);
  add_limbs(s);
  add_scales(s);
  add_head(s);
  const Vec3d horn = screen_colour(0.93, 0.87, 0.72);
  s.set_ground_colour(screen_colour(0.46, 0.36, 0.58));
  s.paint(ellipsoid({0, 0.50, -0.24}, {0.17, 0.34, 0.15}), screen_colour(0.28, 0.22, 0.40), 0.03);
  s.paint(ellipsoid({0, 0.50, 0.20}, {0.11, 0.20, 0.12}), screen_colour(0.86, 0.70, 0.62), 0.03);
  s.paint(ellipsoid({0, 0.80, 0.22}, {0.09, 0.06, 0.08}), screen_colour(0.66, 0.52, 0.68), 0.03);
  s.paint(ball({0.088, 1.01, -0.005}, 0.055), horn, 0.012, 1, true);
  s.paint(ball({0.165, 0.02, 0.185}, 0.062), horn, 0.012, 1, true);
  s.paint(ball({0.43, 0.835, 0.175}, 0.062), horn, 0.014, 1, true);
  s.paint(ball({0.068, 0.908, 0.184}, 0.020), screen_colour(0.97, 0.85, 0.25), 0.004, 1, true);
  s.paint(ball({0.071, 0.909, 0.192}, 0.011), screen_colour(0.05, 0.04, 0.06), 0.003, 1, true);
  s.paint(ellipsoid({0.150, 0.888, 0.062}, {0.048, 0.022, 0.016}, turn(28, Vec3d::UnitZ())),
          screen_colour(0.85, 0.55, 0.60), 0.008, 1, true);
  return s;
}

// A cube's sides blown up to a ball: the fewest pieces along a side for so many vertices.
int ball_pieces(int vertices) {
  return std::max(2, static_cast<int>(std::lround(std::sqrt(std::max(0, vertices - 2) / 6.0))));
}

}  // namespace

Character duck(int vertices) { return sculpted_prop("duck", duck_sculpture(), vertices); }

Character gnarl(int vertices) { return sculpted_prop("gnarl", gnarl_sculpture(), vertices); }

Character torus(int vertices) {
  constexpr double ring = 0.105, thick = 0.045;
  // As many pieces along as make squares of those around.
  const int round = std::max(6, static_cast<int>(std::lround(std::sqrt(vertices * thick / ring))));
  const int long_way = std::max(8, static_cast<int>(std::lround(vertices / double(round))));
  std::vector<Vec3d> profile;
  for (int k = 0; k < round; ++k) {
    const double angle = 2 * pi * k / round;
    profile.emplace_back(ring + thick * std::cos(angle), thick + thick * std::sin(angle), 0);
  }
  const Quilt quilt = turned(profile, long_way, false);
  return quilt.character("torus", [&](int v) {
    const Vec3d& p = quilt.place(v);
    const double turn = std::atan2(-p[2], p[0]) / (2 * pi) + 0.5;
    const bool dark = static_cast<int>(std::floor(turn * 8 + 0.01)) % 2 != 0;
    return dark ? screen_colour(0.90, 0.25, 0.28) : screen_colour(0.95, 0.93, 0.90);
  });
}

Character toy_ball(int vertices) {
  constexpr double radius = 0.1;
  const int n = ball_pieces(vertices);
  Quilt quilt;
  std::map<std::array<int, 3>, int> known;
  const auto at = [&](const Vec3i& cell) {
    const std::array<int, 3> key = {cell[0], cell[1], cell[2]};
    const auto [place, is_new] = known.try_emplace(key, 0);
    if (is_new) {
      Vec3d p;
      for (int c = 0; c < 3; ++c) p[c] = std::tan((2.0 * cell[c] / n - 1) * pi / 4);
      place->second = quilt.add_vertex(radius * p.normalized() + Vec3d(0, radius, 0));
    }
    return place->second;
  };
  for (int axis = 0; axis < 3; ++axis)
    for (const int side : {0, n})
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) {
          const auto corner = [&](int da, int db) {
            Vec3i cell;
            cell[axis] = side;
            cell[(axis + 1) % 3] = a + da;
            cell[(axis + 2) % 3] = b + db;
            return at(cell);
          };
          if (side == n)
            quilt.add_quad(corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
          else
            quilt.add_quad(corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0));
        }
  return quilt.character("ball", [&](int v) {
    const Vec3d p = (quilt.place(v) - Vec3d(0, radius, 0)) / radius;
    const double stripe = smooth_step((0.42 - std::abs(p[1])) / 0.1);
    return Vec3d(stripe * screen_colour(0.96, 0.94, 0.88) +
                 (1 - stripe) * screen_colour(0.16, 0.46, 0.78));
  });
}

Character twirl_bar(int vertices) {
  constexpr double half = 0.1, height = 1;
  // Squares of one size on all sides.
  const double edge = std::sqrt((8 * half * height + 8 * half * half) / std::max(100, vertices));
  const int n = std::max(2, static_cast<int>(std::lround(2 * half / edge)));
  const int rows = std::max(4, static_cast<int>(std::lround(height / edge)));
  Quilt quilt;
  const auto place = [&](int a, int b, int r) {
    return Vec3d(half * (2.0 * a / n - 1), height * r / rows, half * (1 - 2.0 * b / n));
  };
  // Once round the square: a and b in pieces, counter-clockwise seen from above.
  std::vector<std::pair<int, int>> loop;
  for (int k = 0; k < n; ++k) loop.emplace_back(k, 0);
  for (int k = 0; k < n; ++k) loop.emplace_back(n, k);
  for (int k = n; k > 0; --k) loop.emplace_back(k, n);
  for (int k = n; k > 0; --k) loop.emplace_back(0, k);
  std::vector<std::vector<int>> rings;
  for (int r = 0; r <= rows; ++r) {
    std::vector<int> ring;
    for (const auto& [a, b] : loop) ring.push_back(quilt.add_vertex(place(a, b, r)));
    ring.push_back(ring.front());
    if (r > 0) quilt.add_strip(rings.back(), ring);
    rings.push_back(std::move(ring));
  }
  for (const bool is_top : {false, true}) {
    const std::vector<int>& rim = is_top ? rings.back() : rings.front();
    std::map<std::pair<int, int>, int> cap;
    for (size_t k = 0; k < loop.size(); ++k) cap[loop[k]] = rim[k];
    for (int a = 1; a < n; ++a)
      for (int b = 1; b < n; ++b) cap[{a, b}] = quilt.add_vertex(place(a, b, is_top ? rows : 0));
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        const int corners[] = {cap[{a, b}], cap[{a + 1, b}], cap[{a + 1, b + 1}], cap[{a, b + 1}]};
        if (is_top)
          quilt.add_quad(corners[0], corners[1], corners[2], corners[3]);
        else
          quilt.add_quad(corners[0], corners[3], corners[2], corners[1]);
      }
  }
  return quilt.character("bar", [&](int v) {
    const Vec3d& p = quilt.place(v);
    const bool dark = (static_cast<int>(std::floor(p[1] / height * 9.999)) +
                       (std::abs(p[0]) > std::abs(p[2]) ? 1 : 0)) %
                          2 !=
                      0;
    return dark ? screen_colour(0.20, 0.55, 0.52) : screen_colour(0.94, 0.80, 0.52);
  });
}

Character glass(int vertices) {
  std::vector<Vec3d> corners = {{0, 0, 0}};
  add_arc(corners, 0.270, 0.02, 0.02, -90, 0);
  add_arc(corners, 0.3575, 0.5975, 0.0225, 0, 180);
  add_arc(corners, 0.205, 0.10, 0.04, 0, -90);
  corners.emplace_back(0, 0.06, 0);
  const double edge = std::sqrt(2.6 / std::max(200, vertices));
  const std::vector<Vec3d> profile = along(corners, edge);
  const Quilt quilt =
      turned(profile, std::max(16, static_cast<int>(std::lround(1.9 / edge))), true);
  return quilt.character("glass", [](int) { return screen_colour(0.72, 0.86, 0.90); });
}

Character plate(int vertices) {
  constexpr double radius = 0.5, half = 0.03;
  std::vector<Vec3d> corners = {{0, 0, 0}};
  add_arc(corners, radius - half, half, half, -90, 90);
  corners.emplace_back(0, 2 * half, 0);
  const double edge = std::sqrt(1.8 / std::max(200, vertices));
  const Quilt quilt =
      turned(along(corners, edge),
             std::max(24, static_cast<int>(std::lround(2 * pi * radius / edge))), true);
  return quilt.character("plate", [](int) { return screen_colour(0.80, 0.80, 0.84); });
}

const std::vector<Toy>& toys() {
  static const std::vector<Toy> all = {
      {"duck", "a rubber duck", 532, duck},
      {"torus", "a striped ring", 532, torus},
      {"ball", "a ball", 386, toy_ball},
      {"bar", "an upright bar with stripes", 2402, twirl_bar},
      {"gnarl", "a horned beast of scales and claws", 16221, gnarl},
      {"glass", "a drinking glass to fall into", 3000, glass},
      {"plate", "a round plate to press with", 1200, plate}};
  return all;
}

const Toy* find_toy(const std::string& name) {
  for (const Toy& toy : toys())
    if (toy.name == name) return &toy;
  return nullptr;
}

}  // namespace supple::actors
