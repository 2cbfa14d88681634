#include "actors/swaying.h"

#include <cmath>
#include <numbers>

#include "modelling/actor.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double pi = std::numbers::pi;

Sculpture sunflower_sculpture() {
  Sculpture s;
  s.add(round_cone({0, 0.02, 0}, 0.030, {0, 0.40, -0.01}, 0.022), 0);
  s.add(round_cone({0, 0.40, -0.01}, 0.022, {0, 0.70, 0.02}, 0.020), 0.01);
  s.add(round_cone({0, 0.70, 0.02}, 0.020, {0, 0.74, 0.06}, 0.022), 0.01);
  // The head looks a little up.
  const Mat3d look = turn(-20, Vec3d::UnitX());
  const Vec3d centre(0, 0.75, 0.08);
  s.add(ellipsoid(centre, {0.085, 0.085, 0.035}, look), 0.015);
  for (int i = 0; i < 7; ++i) {
    const double angle = (i + 0.5) * pi / 7;  // the other half is mirrored
    const Vec3d way = look * Vec3d(std::sin(angle), std::cos(angle), 0);
    const Mat3d along = look * turn(-angle * 180 / pi, Vec3d::UnitZ());
    s.add(ellipsoid(centre + 0.105 * way, {0.022, 0.055, 0.011}, along), 0.008, true);
  }
  // Leaves.
  const Mat3d leaf = turn(62, Vec3d::UnitZ());
  s.add(ellipsoid({-0.075, 0.33, 0.0}, {0.03, 0.085, 0.011}, leaf), 0.012, true);
  s.set_ground_colour(screen_colour(0.35, 0.58, 0.22));
  s.paint(ellipsoid(centre, {0.175, 0.175, 0.06}, look), screen_colour(0.98, 0.78, 0.10), 0.01);
  s.paint(ellipsoid(centre + look * Vec3d(0, 0, 0.02), {0.078, 0.078, 0.05}, look),
          screen_colour(0.32, 0.18, 0.08), 0.01);
  s.paint(round_cone({0, 0.0, 0}, 0.05, {0, 0.70, 0.0}, 0.034), screen_colour(0.35, 0.58, 0.22),
          0.01);
  return s;
}

Sculpture jellyfish_sculpture() {
  Sculpture s;
  s.add(ellipsoid({0, 0.62, 0}, {0.20, 0.15, 0.20}), 0);
  s.carve(ellipsoid({0, 0.52, 0}, {0.165, 0.13, 0.165}), 0.02);
  s.add(round_cone({0, 0.66, 0}, 0.06, {0, 0.50, 0}, 0.045), 0.02);
  for (int i = 0; i < 4; ++i) {
    const double angle = (i + 0.5) * pi / 4;
    const Vec3d out(std::sin(angle), 0, std::cos(angle));
    s.add(
        round_cone(0.165 * out + Vec3d(0, 0.58, 0), 0.026, 0.175 * out + Vec3d(0, 0.33, 0), 0.020),
        0.015, true);
    s.add(
        round_cone(0.175 * out + Vec3d(0, 0.33, 0), 0.020, 0.165 * out + Vec3d(0, 0.10, 0), 0.015),
        0.01, true);
  }
  s.set_ground_colour(screen_colour(0.85, 0.55, 0.75));
  s.paint(ellipsoid({0, 0.72, 0}, {0.17, 0.08, 0.17}), screen_colour(0.95, 0.75, 0.88), 0.05);
  s.paint(round_cone({0, 0.64, 0}, 0.055, {0, 0.46, 0}, 0.06), screen_colour(0.55, 0.35, 0.75),
          0.02);
  return s;
}

// A caramel pudding, flat below.
Sculpture pudding_sculpture() {
  Sculpture s;
  s.add(round_cone({0, 0.03, 0}, 0.14, {0, 0.15, 0}, 0.09), 0);
  s.carve(ellipsoid({0, -0.6, 0}, {1.2, 0.6, 1.2}), 0.008);
  s.set_ground_colour(screen_colour(0.96, 0.84, 0.55));
  s.paint(ellipsoid({0, 0.26, 0}, {0.13, 0.07, 0.13}), screen_colour(0.55, 0.24, 0.06), 0.012);
  return s;
}

// Held by its root, yanked to the right at constant speed, and stopped as abruptly.
constexpr const char* yanked_linear = R"({
  "type": "tets", "young": 2.4e7, "poisson": 0.3, "density": 600, "substeps": 2,
  "tets": {"elements": 1400, "law": "linear", "dynamics": "implicit", "stiffness_damping": 0.014},
  "fixed": [{"select": {"box": {"min": [-0.2, -0.1, -0.2], "max": [0.2, 0.06, 0.2]}},
             "motion": [{"translate": [1.6, 0, 0], "keys": [[0.25, 0], [3, 1]], "ramp": "linear"}]}]
})";

constexpr const char* yanked_stvk = R"({
  "type": "tets", "young": 2.4e7, "poisson": 0.3, "density": 600, "substeps": 2,
  "tets": {"elements": 1400, "law": "stvk", "dynamics": "implicit", "stiffness_damping": 0.014},
  "fixed": [{"select": {"box": {"min": [-0.2, -0.1, -0.2], "max": [0.2, 0.06, 0.2]}},
             "motion": [{"translate": [1.6, 0, 0], "keys": [[0.25, 0], [3, 1]], "ramp": "linear"}]}]
})";

// Its core, which is rigid, rises, spins and stops; it weighs nothing in the water.
constexpr const char* spun = R"({
  "type": "tets", "young": 8e5, "poisson": 0.35, "density": 1000, "substeps": 4, "gravity": [0, 0, 0],
  "tets": {"elements": 2600, "law": "stvk", "dynamics": "implicit", "stiffness_damping": 0.01},
  "fixed": [{"select": {"box": {"min": [-0.05, 0.45, -0.05], "max": [0.05, 0.72, 0.05]}},
             "motion": [{"rotate": {"axis": [0, 1, 0], "angle": 540}, "keys": [[0.2, 0], [3, 1]]},
                        {"translate": [0, 0.15, 0], "keys": [[0.2, 0], [1.2, 1]]}]}]
})";

constexpr const char* spun_twice = R"({
  "type": "tets", "young": 8e5, "poisson": 0.35, "density": 1000, "substeps": 4, "gravity": [0, 0, 0],
  "tets": {"elements": 2600, "law": "stvk", "dynamics": "implicit", "stiffness_damping": 0.01},
  "adjust": {"inertia": 2},
  "fixed": [{"select": {"box": {"min": [-0.05, 0.45, -0.05], "max": [0.05, 0.72, 0.05]}},
             "motion": [{"rotate": {"axis": [0, 1, 0], "angle": 540}, "keys": [[0.2, 0], [3, 1]]},
                        {"translate": [0, 0.15, 0], "keys": [[0.2, 0], [1.2, 1]]}]}]
})";

// What it stands on is pushed along, and stopped.
constexpr const char* pushed = R"({
  "type": "lattice", "budget": 3000, "young": 1.5e4, "poisson": 0.45, "density": 1000, "substeps": 2,
  "lattice": {"integrator": "tr_bdf2", "stiffness_damping": 0.006},
  "fixed": [{"select": {"box": {"min": [-0.3, -0.1, -0.3], "max": [0.3, 0.02, 0.3]}},
             "motion": [{"translate": [0.15, 0, 0], "keys": [[0.2, 0], [0.5, 1]], "ramp": "linear"}]}]
})";

constexpr const char* pushed_slow = R"({
  "type": "lattice", "budget": 3000, "young": 1.5e4, "poisson": 0.45, "density": 1000, "substeps": 2,
  "lattice": {"integrator": "tr_bdf2", "stiffness_damping": 0.006},
  "adjust": {"frequency": 0.5, "inertia": 0.364},
  "fixed": [{"select": {"box": {"min": [-0.3, -0.1, -0.3], "max": [0.3, 0.02, 0.3]}},
             "motion": [{"translate": [0.15, 0, 0], "keys": [[0.2, 0], [0.5, 1]], "ramp": "linear"}]}]
})";

}  // namespace

Character sunflower(int vertices) {
  return sculpted_prop("sunflower", sunflower_sculpture(), vertices);
}

Character jellyfish(int vertices) {
  return sculpted_prop("jellyfish", jellyfish_sculpture(), vertices);
}

Character pudding(int vertices) { return sculpted_prop("pudding", pudding_sculpture(), vertices); }

std::vector<Prop> swaying_props() {
  return {{"sunflower",
           "a sunflower that is yanked by its root, for adjusted dynamics",
           ".glb",
           {{"sunflower", "it is yanked to the right and stopped; linear elasticity", 7.5,
             yanked_linear},
            {"sunflower_stvk", "the same with nonlinear elasticity", 7.5, yanked_stvk}},
           6000,
           sunflower},
          {"jellyfish",
           "a jellyfish with a rigid core and tentacles, for adjusted dynamics",
           ".glb",
           {{"jellyfish", "its core spins, and its tentacles trail", 6.5, spun},
            {"jellyfish_inertia", "the same with twice the inertia", 6.5, spun_twice}},
           9000,
           jellyfish},
          {"pudding",
           "a pudding that is pushed along, for adjusted dynamics",
           ".glb",
           {{"pudding", "it wobbles when it is stopped", 4, pushed},
            {"pudding_slow", "the same half as fast, and as far", 4, pushed_slow}},
           6000,
           pudding}};
}

}  // namespace supple::actors
