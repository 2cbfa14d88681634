#include "actors/cast.h"

#include "actors/forearm.h"
#include "actors/pomelo.h"
#include "actors/shoulder.h"
#include "actors/wriggler.h"

namespace supple::actors {

namespace {

CastMember sculpted(std::string name, std::string line, std::string clip, double seconds,
                    int vertices, modelling::Actor (*actor)()) {
  return {std::move(name),
          std::move(line),
          std::move(clip),
          seconds,
          vertices,
          [actor](int count) { return modelling::build(actor(), count); },
          [actor](int count) { return modelling::model(actor(), count); }};
}

}  // namespace

const std::vector<CastMember>& cast() {
  const auto caterpillar = [](int vertices) { return wriggler(wriggler_rings(vertices)); };
  static const std::vector<CastMember> members = {
      sculpted("pomelo", "a round-bellied creature that dances, idles, walks and crouches", "dance",
               4, 35000, pomelo),
      sculpted("forearm", "an elbow that bends and a hand of five fingers that makes a fist",
               "fist", 3, 24000, forearm),
      sculpted("shoulder", "a bust whose collarbones slide under the skin when it shrugs", "shrug",
               4, 20000, shoulder),
      {"wriggler", "a caterpillar on a chain of bones, the quickest to make", "wriggle", 4, 12000,
       caterpillar, caterpillar}};
  return members;
}

}  // namespace supple::actors
