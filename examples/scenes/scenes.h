// Scenes that need no character: simple solids of flesh, by name.
#pragma once

#include <string>
#include <vector>

namespace supple::scenes {

/// A scene that is ready to run.
struct ExampleScene {
  std::string name;
  std::string line;  ///< what it is, in one line
  std::string text;  ///< the scene file
};

/// All scenes.
const std::vector<ExampleScene>& all();

}  // namespace supple::scenes
