// Every field of a scene, described once: name, place, meaning, range. A visitor that reads JSON,
// one that writes the JSON Schema and one that writes JSON back all walk these descriptions, so
// that none of them can disagree.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "supple/sim/scene.h"

namespace supple {

/// What a visitor is told about a field besides its name and value.
struct FieldInfo {
  std::string_view meaning;
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
  bool min_excluded = false;
};

/// The words a text field may hold, with the value each stands for.
template <class T>
struct Word {
  std::string_view word;
  T value;
};

inline constexpr std::array<Word<SkinningMethod>, 2> skinning_words = {
    {{"linear", SkinningMethod::linear}, {"dual_quaternion", SkinningMethod::dual_quaternion}}};

/// Words for the types of bodies.
inline constexpr std::array<std::string_view, 1> body_words = {"skinning"};

/// Fields of MotionSettings.
template <class Visitor>
void describe(Visitor& visit, MotionSettings& s) {
  visit.field(
      "file", s.file,
      {.meaning = "Motion file (.bvh, or a rigged .glb or .fbx), relative to the scene file."});
  visit.field("clip", s.clip, {.meaning = "Clip of the motion file; the first one when empty."});
  visit.field("joint_map", s.joint_map,
              {.meaning = "Joints of the motion file by joints of the character; pairs are found "
                          "by name when empty."});
  visit.field(
      "scale", s.scale,
      {.meaning =
           "Metres per length unit of the motion file; 0 measures it from the two skeletons.",
       .min = 0});
}

/// Fields of PoseSampleSettings.
template <class Visitor>
void describe(Visitor& visit, PoseSampleSettings& s) {
  visit.field("rotations", s.rotations,
              {.meaning = "Local rotation of each joint, as a quaternion [x, y, z, w], in the "
                          "order of 'joints'."});
  visit.field("shape", s.shape,
              {.meaning = "Blend shape that is fully on at these rotations; empty for a pose "
                          "without correction."});
}

/// Fields of PoseSpaceSettings.
template <class Visitor>
void describe(Visitor& visit, PoseSpaceSettings& s) {
  visit.field("joints", s.joints, {.meaning = "Joints whose rotations drive the shapes."});
  visit.field("radius", s.radius,
              {.meaning = "Angle in degrees over which an example fades; 0 picks the mean distance "
                          "between the examples.",
               .min = 0,
               .max = 360});
  visit.list("samples", s.samples, {.meaning = "Example poses and the shapes they turn on."});
}

/// Fields of CharacterSettings.
template <class Visitor>
void describe(Visitor& visit, CharacterSettings& s) {
  visit.field(
      "file", s.file,
      {.meaning =
           "Rigged character (.glb, .gltf, .fbx) or mesh (.obj), relative to the scene file."});
  visit.field("clip", s.clip, {.meaning = "Clip to play; the first one when empty."});
  visit.field("scale", s.scale,
              {.meaning = "Metres per length unit of the file (0.01 for centimetres).",
               .min = 0,
               .min_excluded = true});
  visit.words("skinning", s.skinning, skinning_words,
              {.meaning = "How joint motions are blended."});
  visit.group("motion", s.motion,
              {.meaning = "Motion capture to put on the character instead of its own clips."});
  visit.list("pose_space", s.pose_space,
             {.meaning = "Corrective shapes driven by joint rotations."});
}

/// Fields of BodySettings.
template <class Visitor>
void describe(Visitor& visit, BodySettings& s) {
  visit.choice("type", s.type, body_words,
               {.meaning = "Kind of body; 'skinning' follows the rig without flesh."});
}

/// Fields of FrameSettings.
template <class Visitor>
void describe(Visitor& visit, FrameSettings& s) {
  constexpr double most = 1e9;
  visit.field(
      "first", s.first,
      {.meaning = "Number of the first frame, where the clip starts.", .min = -most, .max = most});
  visit.automatic("last", s.last, FrameSettings::automatic,
                  {.meaning = "Number of the last frame; the clip's end when left out.",
                   .min = -most,
                   .max = most});
  visit.field("rate", s.rate,
              {.meaning = "Frames per second; 0 takes the clip's.", .min = 0, .max = 10000});
  visit.field(
      "start", s.start,
      {.meaning = "Time in the clip at the first frame, in seconds from the clip's first key."});
  visit.field("preroll", s.preroll,
              {.meaning = "Frames the body settles in the first pose before the first frame.",
               .min = 0,
               .max = 100000});
}

/// Fields of OutputSettings.
template <class Visitor>
void describe(Visitor& visit, OutputSettings& s) {
  visit.field("files", s.files,
              {.meaning = "Files to write (.supple, .glb, .pc2, .mdd, .usda, .pvd, or a folder "
                          "name ending in / for OBJ files), relative to the scene file."});
  visit.field(
      "checkpoint_every", s.checkpoint_every,
      {.meaning = "Frames between checkpoints; 0 writes one only at the end or when interrupted.",
       .min = 0,
       .max = 1000000});
}

/// Fields of Scene.
template <class Visitor>
void describe(Visitor& visit, Scene& s) {
  visit.field(
      "name", s.name,
      {.meaning = "Name of the scene, and of its outputs; the scene file's name when empty."});
  visit.group_or_text("character", s.character, "file",
                      {.meaning = "The rigged character; a text alone is its file."});
  visit.group_or_text("body", s.body, "type",
                      {.meaning = "The simulated body; a text alone is its type."});
  visit.group("frames", s.frames, {.meaning = "Which frames are simulated."});
  visit.group("output", s.output, {.meaning = "What is written, and where."});
}

}  // namespace supple
