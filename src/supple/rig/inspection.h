// Facts about a character, and what may go wrong with it, in plain words.
#pragma once

#include <string>
#include <vector>

#include "supple/mesh/topology.h"
#include "supple/rig/character.h"

namespace supple {

/// Something a user should know about before simulating.
struct Problem {
  std::string code;     ///< short fixed word for programs, such as "open_edges"
  std::string message;  ///< one sentence: what it is and what to do
};

/// What there is to say about a character.
struct Inspection {
  size_t vertices = 0;
  size_t points = 0;  ///< vertices after welding by position
  size_t triangles = 0;
  size_t bones = 0;
  size_t joints = 0;
  size_t most_influences = 0;  ///< largest number of bones any vertex follows
  Vec3d size = Vec3d::Zero();  ///< extent of the bind pose, in metres
  double volume = 0;           ///< enclosed by the bind pose, in cubic metres
  double area = 0;             ///< in square metres
  Topology topology;           ///< of the welded skin
  double rest_difference =
      0;  ///< largest distance between bind pose and node tree's rest pose, in metres
  std::vector<Problem> problems;
};

/// Looks a character over.
Inspection inspect(const Character& character);

}  // namespace supple
