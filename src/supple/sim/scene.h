// A scene: everything a run depends on, as plain settings with defaults. Files are read by io/;
// scene_fields.h describes every field once, for the reader, the schema and the documentation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "supple/rig/skinning.h"

namespace supple {

/// Motion capture put on the character instead of one of its own clips.
struct MotionSettings {
  std::string file;
  std::string clip;
  std::map<std::string, std::string> joint_map;
  double scale = 0;
};

/// One example of a pose-space deformation: joint rotations at which a shape is fully on.
struct PoseSampleSettings {
  std::vector<std::vector<double>> rotations;
  std::string shape;
};

/// Corrective shapes driven by the rotations of some joints.
struct PoseSpaceSettings {
  std::vector<std::string> joints;
  double radius = 0;
  std::vector<PoseSampleSettings> samples;
};

/// The rigged character and its animation.
struct CharacterSettings {
  std::string file;
  std::string clip;
  double scale = 1;
  SkinningMethod skinning = SkinningMethod::linear;
  MotionSettings motion;
  std::vector<PoseSpaceSettings> pose_space;
};

/// The simulated thing.
struct BodySettings {
  std::string type = "skinning";
};

/// Which frames are simulated, and their times.
struct FrameSettings {
  int first = 1;
  int last = automatic;
  double rate = 0;
  double start = 0;
  int preroll = 0;

  static constexpr int automatic = -2147483647;  ///< `last` follows from the clip's length
};

/// What is written.
struct OutputSettings {
  std::vector<std::string> files;
  int checkpoint_every = 10;
};

/// A whole scene.
struct Scene {
  std::string name;
  CharacterSettings character;
  BodySettings body;
  FrameSettings frames;
  OutputSettings output;
};

}  // namespace supple
