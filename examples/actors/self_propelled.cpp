#include "actors/self_propelled.h"

#include <algorithm>
#include <cmath>

#include "actors/self_propelled_scenes.h"

namespace supple::actors {
namespace {

CastMember member(std::string name, std::string line, std::vector<ActorScene> scenes, int vertices,
                  SelfPropelled (*animal)(int)) {
  const auto make = [animal, vertices](int count) {
    return animal(detail_for(count, vertices)).character;
  };
  return {std::move(name), std::move(line), std::move(scenes), vertices, make, make, vertices};
}

}  // namespace

int detail_for(int vertices, int least) {
  const double ratio = static_cast<double>(vertices) / least;
  return std::max(1, static_cast<int>(std::lround(std::sqrt(ratio))));
}

const std::vector<CastMember>& self_propelled() {
  static const std::vector<CastMember> members = {
      member("worm", "an earthworm of 262 vertices with three motors", {rolling_worm()}, 262, worm),
      member("fish", "a fish of 958 vertices with three motors", {leaping_fish()}, 958, fish),
      member("starfish", "a starfish of 1,162 vertices with twenty motors",
             {turning_starfish(), escaping_starfish(), reaching_starfish()}, 1162, starfish)};
  return members;
}

}  // namespace supple::actors
