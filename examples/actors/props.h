// Things without bones, for bodies of few cells: volumes with thin parts, open surfaces, a line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "supple/rig/character.h"

namespace supple::actors {

/// A sitting rabbit with long ears, 0.6 m high, facing +Z.
Character rabbit(int vertices);

/// A winged dragon, 1.2 m long, facing +Z: its body a volume, its wings sheets without thickness.
Character dragon(int vertices);

/// The letter C, 0.3 m high, open to +X.
Character letter(int vertices);

/// A shirt as if worn: an open surface without thickness, 0.65 m high.
Character shirt(int vertices);

/// A rope of one line, 1.5 m long, hanging in a wave.
Character rope(int vertices);

/// Three blocks of the same outline, 0.24 m wide and 0.12 m high: whole, with a cavity, and with a
/// larger one, from -X to +X.
Character blocks(int vertices);

/// A scene with a prop.
struct PropScene {
  std::string name;
  std::string line;  ///< what is to be seen, in one line
  double seconds = 0;
  std::string body;  ///< settings of the body, as JSON
};

/// A prop that can be made by its name.
struct Prop {
  std::string name;
  std::string line;               ///< what it is, in one line
  std::string extension;          ///< of its file: .glb, or .obj for lines
  std::vector<PropScene> scenes;  ///< the first has the prop's name
  int vertices = 0;               ///< of its skin at full resolution
  std::function<Character(int vertices)> make;
};

/// All props.
const std::vector<Prop>& props();

}  // namespace supple::actors
