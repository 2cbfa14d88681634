// Everyone in the examples, by name.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "supple/rig/character.h"

namespace supple::actors {

/// An actor that can be made by its name.
struct CastMember {
  std::string name;
  std::string line;    ///< what it is, in one line
  std::string clip;    ///< the clip its scene plays
  double seconds = 0;  ///< length of that clip
  int vertices = 0;    ///< of its skin at full resolution
  std::function<Character(int vertices)> make;
  std::function<Character(int vertices)> skin;  ///< without a rig, which is quicker
};

/// All actors, the demo character first.
const std::vector<CastMember>& cast();

}  // namespace supple::actors
