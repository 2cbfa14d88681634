#include "actors/cast.h"

#include "actors/forearm.h"
#include "actors/pomelo.h"
#include "actors/shoulder.h"
#include "actors/wriggler.h"

namespace supple::actors {

const std::vector<CastMember>& cast() {
  using modelling::build;
  static const std::vector<CastMember> members = {
      {"pomelo", "a round-bellied creature that dances, idles, walks and crouches", "dance", 35000,
       [](int vertices) { return build(pomelo(), vertices); }},
      {"forearm", "an elbow that bends and a hand of five fingers that makes a fist", "fist", 24000,
       [](int vertices) { return build(forearm(), vertices); }},
      {"shoulder", "a bust whose collarbones slide under the skin when it shrugs", "shrug", 20000,
       [](int vertices) { return build(shoulder(), vertices); }},
      {"wriggler", "a caterpillar on a chain of bones, the quickest to make", "wriggle", 5000,
       [](int vertices) { return wriggler(wriggler_rings(vertices)); }}};
  return members;
}

}  // namespace supple::actors
