#include <algorithm>
#include <cmath>
#include <numbers>

#include "actors/self_propelled.h"
#include "modelling/choreography.h"
#include "modelling/quilt.h"
#include "modelling/sculpture.h"
#include "supple/math/smooth_step.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr int arms = 5;
constexpr double half_sector = std::numbers::pi / arms;
constexpr double valley = 0.055;  // metres from the centre to where arms part
constexpr double reach = 0.175;   // to the tip of an arm
constexpr double height = 0.06;
constexpr double brim = 0.010;                      // height of the edge
constexpr double hinges[] = {0.050, 0.093, 0.134};  // from the centre
// At detail 1: quads across an arm, rings along it, rings of the disc without its edge.
constexpr int across = 6, along = 14, discs = 2;

// Height of the back along the middle of an arm.
double crest(double x) { return 0.016 + (height - 0.016) * std::pow(1 - x / (1.03 * reach), 1.3); }

// How much of its size an arm still has towards its round tip.
double roundness(double u) {
  const double t = 0.9 * std::clamp((u - 0.84) / 0.16, 0.0, 1.0);
  return std::sqrt(1 - t * t);
}

// Half the width of an arm, wider where it comes out of the disc.
double half_width(double x) {
  const double begin = valley * std::cos(half_sector);
  const double t = (x - begin) / (reach - begin);
  const double full = valley * std::sin(half_sector);
  return 0.0265 - 0.015 * t + (full - 0.0265) * std::exp(-(x - begin) / 0.012);
}

// A point of the arm along +X: u from where it begins to its tip, s across from -1 to 1, towards
// the next arm.
Vec3d arm_place(double u, double s, bool is_above) {
  const double bow =
      0.0105 - 0.0075 * u * u;  // its rings bulge outwards, as the disc and the tip do
  const double begin = valley * std::cos(half_sector);
  const double edge = begin + (reach - bow - begin) * u;
  const double x = edge + bow * (1 - s * s);
  // Above, points keep about even distances along the arched section.
  const double arched = std::sin(s * std::numbers::pi / 2);
  const double even = std::sin(s * half_sector) / std::sin(half_sector);
  const double side = even + 0.75 * smooth_step(u / 0.25) * (arched - even);
  const double round = roundness(u), width = half_width(edge) * (0.3 + 0.7 * round);
  if (!is_above) {
    // The edge is drawn in below: between arms towards the centre, then towards the arm's middle.
    const double own = smooth_step(u / 0.2), in = 1 - 0.06 * (1 - own) * s * s;
    return {in * x - 0.003 * smooth_step(6 * u - 5), 0, -in * (1 - 0.1 * own) * width * even};
  }
  const double rim = brim * (0.5 + 0.5 * round), top = rim + (crest(x) - rim) * (0.1 + 0.9 * round);
  const double arch = std::pow(std::max(0.0, 1 - side * side), 0.6);
  return {x, rim + (top - rim) * arch, -width * side};
}

// A point of the disc: q from the centre to where arms begin.
Vec3d disc_place(double q, double s, bool is_above) {
  const Vec3d end = arm_place(0, s, is_above);
  return {q * end[0], is_above ? height + q * q * (end[1] - height) : 0, q * end[2]};
}

Vec3d turned(const Vec3d& p, int arm) {
  return Eigen::AngleAxisd(2 * half_sector * arm, Vec3d::UnitY()) * p;
}

using Row = std::vector<int>;

Row reversed(const Row& row) { return {row.rbegin(), row.rend()}; }

// Sews one side of the disc, whose last row is where arms begin.
Row sew_disc(Quilt& quilt, int detail, bool is_above) {
  const int quads = across * detail, rows = (discs + 1) * detail;
  const int pole = quilt.add_vertex({0, is_above ? height : 0, 0});
  Row before;
  for (int r = 1; r <= rows; ++r) {
    Row row;
    for (int arm = 0; arm < arms; ++arm)
      for (int m = 0; m < quads; ++m)
        row.push_back(quilt.add_vertex(
            turned(disc_place(static_cast<double>(r) / rows, 2.0 * m / quads - 1, is_above), arm)));
    row.push_back(row.front());
    if (r == 1)
      quilt.add_fan(is_above ? row : reversed(row), pole);
    else
      quilt.add_strip(is_above ? row : before, is_above ? before : row);
    before = std::move(row);
  }
  return before;
}

void sew_arm(Quilt& quilt, int detail, int arm, Row above, Row below) {
  const int quads = across * detail, rings = along * detail;
  for (int j = 1; j <= rings; ++j) {
    Row next[2];
    for (const bool is_above : {true, false})
      for (int m = 0; m <= quads; ++m)
        next[is_above ? 0 : 1].push_back(quilt.add_vertex(
            turned(arm_place(static_cast<double>(j) / rings, 2.0 * m / quads - 1, is_above), arm)));
    quilt.add_strip(next[0], above);
    quilt.add_strip(below, next[1]);
    quilt.add_quad(above.back(), next[0].back(), next[1].back(), below.back());
    quilt.add_quad(below.front(), next[1].front(), next[0].front(), above.front());
    above = std::move(next[0]);
    below = std::move(next[1]);
  }
  quilt.add_strip(below, above);
}

Quilt sew(int detail) {
  Quilt quilt;
  const Row above = sew_disc(quilt, detail, true), below = sew_disc(quilt, detail, false);
  const int quads = across * detail;
  for (int arm = 0; arm < arms; ++arm) {
    const auto of_arm = [&](const Row& row) {
      return Row(row.begin() + arm * quads, row.begin() + (arm + 1) * quads + 1);
    };
    sew_arm(quilt, detail, arm, of_arm(above), of_arm(below));
  }
  return quilt;
}

std::string joint_name(int arm, const std::string& part) {
  return "arm" + std::to_string(arm + 1) + "_" + part;
}

Motors make_motors() {
  Motors motors;
  motors.add_root("centre", {0, 0.022, 0});
  const char* parts[] = {"base", "middle", "tip"};
  const double heights[] = {0.020, 0.016, 0.012};
  for (int arm = 0; arm < arms; ++arm)
    for (int j = 0; j < 3; ++j) {
      std::vector<Freedom> turns = {{"lift", turned(Vec3d::UnitZ(), arm)}};
      std::vector<TurnLimits> limits = {j == 0 ? TurnLimits{-60, 90} : TurnLimits{-70, 100}};
      if (j == 0) {
        turns.push_back({"swing", Vec3d::UnitY()});
        limits.push_back({-35, 35});
      }
      motors.add(joint_name(arm, parts[j]), j == 0 ? "centre" : joint_name(arm, parts[j - 1]),
                 turned({hinges[j], heights[j], 0}, arm), turns, limits);
    }
  return motors;
}

// Weights pass from bone to bone along the arm; between two arms they are shared by both.
BoneShares shares(const Vec3d& place) {
  const double angle = std::atan2(-place[2], place[0]);
  const int arm = static_cast<int>(std::lround(angle / (2 * half_sector)) + arms) % arms;
  const Vec3d own = turned(place, -arm);
  // Distance from the plane between this arm and the one beside it.
  const double apart = own[0] * std::sin(half_sector) - std::abs(own[2]) * std::cos(half_sector);
  const int beside = (arm + (own[2] < 0 ? 1 : arms - 1)) % arms;
  const double kept = smooth_step(0.5 + apart / 0.05);
  const double radius = std::hypot(own[0], own[2]);
  const double base = smooth_step((radius - hinges[0] + 0.036) / 0.072);
  const double middle = smooth_step((own[0] - hinges[1] + 0.02) / 0.04);
  const double tip = smooth_step((own[0] - hinges[2] + 0.02) / 0.04);
  return {{0, 1 - base},
          {1 + 3 * arm, base * (1 - middle) * kept},
          {1 + 3 * beside, base * (1 - middle) * (1 - kept)},
          {2 + 3 * arm, base * middle * (1 - tip)},
          {3 + 3 * arm, base * middle * tip}};
}

// Orange, paler below and along the middle of its arms, where it is dotted.
Vec3d colour(const Vec3d& place) {
  const double angle = std::atan2(-place[2], place[0]);
  const Vec3d own = turned(place, -static_cast<int>(std::lround(angle / (2 * half_sector))));
  if (place[1] < 0.5 * brim) return screen_colour(0.96, 0.80, 0.62);
  const double line = smooth_step(1.5 - std::abs(own[2]) / 0.008);
  const double dots = 0.5 + 0.5 * std::cos(2 * std::numbers::pi * own[0] / 0.026);
  const double pale = 0.85 * line * dots;
  const double rim = smooth_step((place[1] - brim) / 0.014);
  const Vec3d skin =
      screen_colour(0.93, 0.47, 0.24) * (1 - rim) + screen_colour(0.86, 0.31, 0.16) * rim;
  return skin * (1 - pale) + screen_colour(0.99, 0.82, 0.52) * pale;
}

Clip wave_arms(const Armature& armature) {
  Choreography choreography(armature, "wave", 2);
  for (int arm = 0; arm < arms; ++arm) {
    const double begin = 2.0 * arm / arms;
    choreography.move(joint_name(arm, "base"), "lift", bump(2, begin, begin + 1.4, 0.45));
    choreography.move(joint_name(arm, "base"), "swing", shake(2, begin, begin + 1.4, 1, 0.2));
    choreography.move(joint_name(arm, "middle"), "lift", bump(2, begin + 0.1, begin + 1.5, 0.5));
    choreography.move(joint_name(arm, "tip"), "lift", bump(2, begin + 0.2, begin + 1.6, 0.6));
  }
  return choreography.clip();
}

}  // namespace

SelfPropelled starfish(int detail) {
  const Quilt quilt = sew(std::max(1, detail));
  const Motors motors = make_motors();
  SelfPropelled star{quilt.character("starfish", [&](int v) { return colour(quilt.place(v)); }),
                     motors.joints()};
  std::vector<BoneShares> all;
  for (int v = 0; v < quilt.size(); ++v) all.push_back(shares(quilt.place(v)));
  rig(star.character, motors, all);
  star.character.clips.push_back(wave_arms(motors.armature()));
  return star;
}

}  // namespace supple::actors
