#include "actors/cast.h"

#include "actors/forearm.h"
#include "actors/pomelo.h"
#include "actors/shoulder.h"
#include "actors/wriggler.h"

namespace supple::actors {

namespace {

// A ball that flies into the belly and back.
constexpr const char* ball = R"({
  "contact": {
    "colliders": [
      {
        "type": "sphere",
        "centre": [0, 0.47, 1.1],
        "radius": 0.12,
        "motion": [{"translate": [0, 0, -0.81], "keys": [[0.3, 0], [0.8, 1], [1.6, 0]]}]
      }
    ]
  }
})";

// The belly's weight must not press the feet into the ground.
constexpr const char* ground =
    R"({"contact": {"colliders": [{"type": "plane", "friction": 0.5}]}})";

// Collarbones slip under the skin that lies on them.
constexpr const char* sliding = R"({
  "attach": {
    "bones": [
      {"joint": "left_collarbone", "hold": "sliding", "thickness": 0.5},
      {"joint": "right_collarbone", "hold": "sliding", "thickness": 0.5}
    ]
  }
})";

// Flesh as soft as it is by name, however thick.
constexpr const char* jolly = R"({"young": 20000})";

// Firm enough for ears, with nothing but its own motion to shake it.
constexpr const char* jiggly = R"({"type": "tets", "young": 50000, "tets": {"elements": 8600}})";

// The flesh of the dance with twice the inertia: belly and ears swing twice as far, and no slower.
constexpr const char* wobbly = R"({
  "young": 20000, "lattice": {"integrator": "tr_bdf2", "stiffness_damping": 0.01}, "adjust": {"inertia": 2}
})";

CastMember sculpted(std::string name, std::string line, std::vector<ActorScene> scenes,
                    int vertices, modelling::Actor (*actor)()) {
  return {std::move(name),
          std::move(line),
          std::move(scenes),
          vertices,
          [actor](int count) { return modelling::build(actor(), count); },
          [actor](int count) { return modelling::model(actor(), count); }};
}

}  // namespace

const std::vector<CastMember>& cast() {
  const auto caterpillar = [](int vertices) { return wriggler(wriggler_rings(vertices)); };
  static const std::vector<CastMember> members = {
      sculpted("pomelo", "a round-bellied creature that dances, idles, walks and crouches",
               {{"pomelo", "it dances", "dance", 4, 24, jolly},
                {"crouch", "its belly comes to rest on its thighs", "crouch", 3, 24, ground},
                {"ball", "a ball flies into its belly", "idle", 3, 24, ball},
                {"jiggle", "the same dance as tetrahedra, in real time", "dance", 4, 24, jiggly},
                {"wobble", "the dance with twice the inertia", "dance", 4, 24, wobbly}},
               35000, pomelo),
      sculpted("forearm", "an elbow that bends and a hand of five fingers that makes a fist",
               {{"forearm", "it makes a fist", "fist", 3},
                {"sudden", "it makes a fist from one frame to the next", "fist", 3, 2.0 / 3}},
               24000, forearm),
      sculpted("shoulder", "a bust whose collarbones slide under the skin when it shrugs",
               {{"shoulder", "it shrugs", "shrug", 4, 24, sliding}}, 20000, shoulder),
      {"wriggler",
       "a caterpillar on a chain of bones, the quickest to make",
       {{"wriggler", "it wriggles", "wriggle", 4}},
       12000,
       caterpillar,
       caterpillar}};
  return members;
}

}  // namespace supple::actors
