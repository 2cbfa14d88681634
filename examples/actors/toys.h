// Toys for heaps of incompressible surfaces, after the models of [Diziol 2011, section 7]: closed
// skins without bones, in metres, on y = 0; and the glass and the plates they meet.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "supple/rig/character.h"

namespace supple::actors {

/// A rubber duck, 0.32 m long, facing +Z.
Character duck(int vertices);

/// A ring, 0.3 m across, lying.
Character torus(int vertices);

/// A ball of radius 0.1 m with two colours.
Character toy_ball(int vertices);

/// A bar, 0.2 x 1 x 0.2 m, upright, with stripes that show how it is twirled.
Character twirl_bar(int vertices);

/// A horned beast of scales, claws and a tail, 1 m high, facing +Z.
Character gnarl(int vertices);

/// A drinking glass, 0.62 m high, with a thick bottom and a wall of 45 mm: a thing to fall into.
Character glass(int vertices);

/// A round plate of radius 0.5 m and 60 mm thickness with a rounded rim.
Character plate(int vertices);

/// A toy that can be made by its name.
struct Toy {
  std::string name;
  std::string line;  ///< what it is, in one line
  int vertices = 0;  ///< of its skin at full resolution
  std::function<Character(int vertices)> make;
};

/// All toys.
const std::vector<Toy>& toys();

/// The toy of that name, or null.
const Toy* find_toy(const std::string& name);

}  // namespace supple::actors
