#include "actors/self_propelled.h"

#include <algorithm>
#include <cmath>

namespace supple::actors {
namespace {

CastMember member(std::string name, std::string line, ActorScene scene, int vertices,
                  SelfPropelled (*animal)(int)) {
  const auto make = [animal, vertices](int count) {
    return animal(detail_for(count, vertices)).character;
  };
  return {std::move(name), std::move(line), {std::move(scene)}, vertices, make, make, vertices};
}

}  // namespace

int detail_for(int vertices, int least) {
  const double ratio = static_cast<double>(vertices) / least;
  return std::max(1, static_cast<int>(std::lround(std::sqrt(ratio))));
}

const std::vector<CastMember>& self_propelled() {
  static const std::vector<CastMember> members = {
      member("worm", "an earthworm of 262 vertices with three motors",
             {"worm", "it curls up at both ends", "curl", 2, 24, R"({"size": 0.4})"}, 262, worm),
      member("fish", "a fish of 958 vertices with three motors",
             {"fish", "it beats its tail", "swim", 1, 24, R"({"size": 0.4})"}, 958, fish),
      member("starfish", "a starfish of 1,162 vertices with twenty motors",
             {"starfish", "its arms rise and fall in turn", "wave", 2, 24, R"({"size": 0.335})"},
             1162, starfish)};
  return members;
}

}  // namespace supple::actors
