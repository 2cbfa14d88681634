// Scenes of toys for bodies of type 'surface', after those of [Diziol 2011].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "supple/rig/character.h"
#include "supple/sim/scene.h"

namespace supple::actors {

/// A model that a scene of toys reads: NAME.glb, with about so many vertices (0 for the toy's own
/// number).
struct ToyModel {
  std::string toy;
  int vertices = 0;
};

/// A scene of toys that is ready to run, with its models beside it.
struct ToyScene {
  std::string name;
  std::string line;              ///< what is to be seen, in one line
  std::vector<ToyModel> models;  ///< the files it reads
  std::string text;              ///< the scene file
};

/// All scenes.
const std::vector<ToyScene>& toy_scenes();

/// A scene of toys as if it had been read, with its objects in place, without any file.
struct StagedToys {
  Scene scene;
  std::shared_ptr<const Character> character;
};

/// Stages the scene of that name, which has objects.
StagedToys stage_toys(const std::string& name);

}  // namespace supple::actors
