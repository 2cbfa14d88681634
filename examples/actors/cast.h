// Everyone in the examples, by name.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "supple/rig/character.h"

namespace supple::actors {

/// A scene an actor plays.
struct ActorScene {
  std::string name;
  std::string line;              ///< what is to be seen, in one line
  std::string clip;              ///< the clip it plays
  double seconds = 0;            ///< how much of it
  double rate = 24;              ///< frames per second
  std::string body = "{}";       ///< settings of the body that differ from the usual ones, as JSON
  std::string character = "{}";  ///< of the character, likewise
};

/// An actor that can be made by its name.
struct CastMember {
  std::string name;
  std::string line;                ///< what it is, in one line
  std::vector<ActorScene> scenes;  ///< the first has the actor's name
  int vertices = 0;                ///< of its skin at full resolution
  std::function<Character(int vertices)> make;
  std::function<Character(int vertices)> skin;  ///< without a rig, which is quicker
  int fewest = 5000;                            ///< vertices it can be made with
};

/// Actors that follow clips, the demo character first.
const std::vector<CastMember>& cast();

}  // namespace supple::actors
