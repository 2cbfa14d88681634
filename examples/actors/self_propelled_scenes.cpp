// Motions of the self-propelled animals: what their joints do is all that moves them.
#include <fmt/format.h>

#include "actors/glass_cage.h"
#include "actors/self_propelled.h"
#include "actors/self_propelled_scenes.h"

namespace supple::actors {
namespace {

std::string vector_text(const Vec3d& v) {
  return fmt::format("[{:.6f}, {:.6f}, {:.6f}]", v[0], v[1], v[2]);
}

std::string joint_text(const ActorJoint& joint) {
  std::string limits;
  for (const TurnLimits& l : joint.limits)
    limits += fmt::format("{}[{}, {}]", limits.empty() ? "" : ", ", l.least, l.most);
  std::string text = fmt::format(R"({{"joint": "{}", "type": "{}", "axis": {}, "limits": [{}])",
                                 joint.joint, joint.type, vector_text(joint.axes[0]), limits);
  if (joint.axes.size() > 1) text += fmt::format(R"(, "axis2": {})", vector_text(joint.axes[1]));
  return text + R"(, "stiffness": 0.3, "damping": 0.02})";
}

// A key with the same four angles for every arm.
std::string five_arms(double time, const char* angles) {
  std::string text = fmt::format("[{}", time);
  for (int arm = 0; arm < 5; ++arm) text += fmt::format(", {}", angles);
  return text + "]";
}

std::string joint_names(const SelfPropelled& animal) {
  std::string names;
  for (const ActorJoint& joint : animal.joints)
    if (joint.type != "free")
      names += fmt::format(R"({}"{}")", names.empty() ? "" : ", ", joint.joint);
  return names;
}

std::string keys_control(const SelfPropelled& animal, const std::string& keys) {
  return fmt::format(R"({{"type": "keys", "joints": [{}], "keys": [{}]}})", joint_names(animal),
                     keys);
}

std::string passive_from(double time) {
  return fmt::format(R"({{"type": "passive", "from": {}}})", time);
}

// A key with angles for the first arm, and others for the rest.
std::string one_arm(double time, const char* first, const char* others) {
  std::string text = fmt::format("[{}, {}", time, first);
  for (int arm = 1; arm < 5; ++arm) text += fmt::format(", {}", others);
  return text + "]";
}

// The plates of the cage as one free body, as JSON.
std::string cage_colliders() {
  std::string text;
  for (const CagePlate& plate : glass_cage().plates)
    text += fmt::format(
        R"(, {{"type": "box", "centre": {}, "size": {}, "free": "cage", "density": {}, "friction": 0.4}})",
        vector_text(plate.centre), vector_text(plate.size), GlassCage::density);
  return text;
}

}  // namespace

std::string self_propelled_body(const SelfPropelled& animal, double size, double young,
                                int elements, const std::string& control,
                                const std::string& colliders, const std::string& skeleton,
                                int contact_points) {
  std::string joints;
  for (const ActorJoint& joint : animal.joints)
    if (joint.type != "free") joints += (joints.empty() ? "" : ", ") + joint_text(joint);
  return fmt::format(R"({{"type": "tets", "size": {}, "young": {}, "poisson": 0.3, "damping": 4,
      "tets": {{"elements": {}}}, "contact": {{"points": {}, "colliders": [{}]}},
      "skeleton": {{"mode": "two-way", {}"joints": [{}], "control": [{}]}}}})",
                     size, young, elements, contact_points, colliders, skeleton, joints, control);
}

ActorScene rolling_worm() {
  const SelfPropelled animal = worm();
  // Head up and over the back, then round like a wheel.
  const std::string keys =
      "[0, 0, 0, 0], [0.493, 26, 100, 100], [0.858, 49, 71, 61], [1.135, 102, 102, 102]";
  return {"worm", "it rolls up into a wheel, and away",
          "curl", 4,
          24,     self_propelled_body(animal, 0.4, 3e4, 714, keys_control(animal, keys))};
}

ActorScene leaping_fish() {
  const SelfPropelled animal = fish();
  // On its side it bends, strikes the ground with head and tail, and lets go.
  const std::string keys = "[0, 0, 0, 0], [0.77, 56, 39, -16], [0.839, -39, -33, 17]";
  return {
      "fish",
      "lying on its side, it leaps by striking the ground",
      "swim",
      3,
      24,
      self_propelled_body(animal, 0.4, 6e4, 415,
                          keys_control(animal, keys) + ", " + passive_from(0.859), ground_collider,
                          R"("turn": {"axis": [1, 0, 0], "angle": 90, "about": [0, 0.09, 0]}, )")};
}

ActorScene turning_starfish() {
  const SelfPropelled animal = starfish();
  const std::string keys =
      five_arms(0, "0, 0, 0, 0") + ", " + five_arms(0.475, "59, -28, 59, -17") + ", " +
      five_arms(0.655, "-43, 17, -38, -50") + ", " + five_arms(0.904, "0, 0, 0, 0");
  return {"starfish",
          "it jumps, and turns in the air",
          "wave",
          2.5,
          24,
          self_propelled_body(animal, 0.335, 8e4, 200,
                              keys_control(animal, keys) + ", " + passive_from(0.954))};
}

ActorScene escaping_starfish() {
  const SelfPropelled animal = starfish();
  // It stands up under the lid, lifts it, and puts an arm out under the rim.
  const std::string keys = one_arm(0, "0, 0, 0, 0", "0, 0, 0, 0") + ", " +
                           one_arm(0.477, "-28.5, 0, -57.3, 34.9", "-28.5, 0, -57.3, 34.9") + ", " +
                           one_arm(0.577, "33.2, -30.4, -32.3, -8.7", "-28.5, 0, -57.3, 34.9") +
                           ", " + one_arm(0.798, "-9, 2.1, -2.4, 7", "-49.4, 0, -69, -5.6") + ", " +
                           one_arm(0.97, "9.1, -14.2, -28.9, -21.6", "-7.5, 0, 39.3, 15.3");
  return {"escape",
          "under a glass cage, it lifts the lid and gets an arm out",
          "wave",
          3.5,
          24,
          self_propelled_body(animal, 0.335, 8e4, 200, keys_control(animal, keys),
                              ground_collider + cage_colliders(), "", 2)};
}

ActorScene reaching_starfish() {
  const SelfPropelled animal = starfish();
  // Up, and to one side: what the joints do is found on the way. Then back by a key.
  const std::string motion = R"({"translate": [-0.035, 0.06, 0], "keys": [[0.25, 0], [0.75, 1]]},)"
                             R"({"translate": [-0.005, 0, 0.03], "keys": [[1, 0], [1.5, 1]]})";
  const std::string direct =
      fmt::format(R"({{"type": "direct", "bone": "arm1_tip", "motion": [{}]}})", motion);
  const std::string back =
      fmt::format(R"({{"type": "keys", "from": 2, "joints": [{}], "keys": [{}]}})",
                  joint_names(animal), five_arms(0.6, "0, 0, 0, 0"));
  return {
      "reach",
      "an arm is led through the air by its end; the joints find their way",
      "wave",
      3,
      24,
      self_propelled_body(animal, 0.335, 8e4, 200, direct + ", " + back, ground_collider, "", 1)};
}

}  // namespace supple::actors
