// The fields of bodies of tetrahedra: cages, skeletons, controls, proxies and dials; part of
// scene_fields.h.
#pragma once

#include "supple/sim/field_info.h"
#include "supple/sim/scene.h"
#include "supple/sim/scene_words.h"

namespace supple {

/// Fields of TetSettings.
template <class Visitor>
void describe(Visitor& visit, TetSettings& s) {
  visit.field("elements", s.elements,
              {.meaning = "About how many tetrahedra the cage has; 0 takes 1000, and 8600 for "
                          "skins of more than 10,000 vertices.",
               .min = 0,
               .max = 1e7});
  visit.words(
      "cage", s.cage, cage_words,
      {.meaning = "How the cage is made: of a lattice whose nodes move onto the bones, or a "
                  "Delaunay triangulation."});
  visit.field("file", s.file,
              {.meaning = "A tetrahedral mesh (.mesh, .msh, .node) to use instead of a cage made "
                          "for the skin, relative to the scene file."});
  visit.words("law", s.law, tet_law_words, {.meaning = "The constitutive law of the elements."});
  visit.field("lower", s.lower,
              {.meaning = "Stretch below which 'invertible_stvk' goes on linearly; raised where "
                          "the material would not be stable.",
               .min = 0.6,
               .max = 1});
  visit.field(
      "upper", s.upper,
      {.meaning = "Stretch above which 'invertible_stvk' goes on linearly.", .min = 1, .max = 10});
  visit.field("volume", s.volume,
              {.meaning = "Stiffness of the volume term of 'stvk_volume', over the bulk modulus.",
               .min = 0,
               .max = 1000});
  visit.field("step", s.step,
              {.meaning = "Longest time step, in seconds; 0 takes 0.001, or less where stability "
                          "asks for it.",
               .min = 0,
               .max = 0.1});
  visit.field("deepest_only", s.deepest_only,
              {.meaning = "Whether only the deepest vertex of every element is pushed out of "
                          "things, instead of all."});
  visit.words(
      "dynamics", s.dynamics, tet_dynamics_words,
      {.meaning = "Many short steps with a skeleton that can feel the flesh ('explicit'), or "
                  "'substeps' long ones whose dynamics can be adjusted and whose bodies "
                  "can touch themselves."});
  visit.words("integrator", s.integrator, step_method_words,
              {.meaning = "Method of implicit steps: of second order, or of first, which damps."});
  visit.field("stiffness_damping", s.stiffness_damping,
              {.meaning = "Of implicit steps: damping forces over elastic ones at the same speed, "
                          "in seconds; fast swings die down first.",
               .min = 0,
               .max = 10});
  visit.field("mass_damping", s.mass_damping,
              {.meaning = "Of implicit steps: damping forces over momentum, in parts per second; "
                          "as by air that stands still.",
               .min = 0,
               .max = 1e4});
}

/// Fields of JointSettings.
template <class Visitor>
void describe(Visitor& visit, JointSettings& s) {
  visit.field("joint", s.joint, {.meaning = "Name of the joint."});
  visit.words("type", s.type, joint_words, {.meaning = "How the joint can move."});
  visit.field("axis", s.axis,
              {.meaning = "Axis of a hinge or slider, or first axis of a universal joint, in the "
                          "model's axes in the bind pose."});
  visit.field("axis2", s.axis2,
              {.meaning = "Second axis of a universal joint, at a right angle to the first."});
  visit.field("limits", s.limits,
              {.meaning = "Least and greatest angle in degrees (metres for sliders), a pair for "
                          "each axis; of a ball joint one pair, of which the second is the "
                          "greatest turn."});
  visit.field(
      "stiffness", s.stiffness,
      {.meaning = "Spring to the bind pose, in N m per radian (N/m for sliders).", .min = 0});
  visit.field("damping", s.damping,
              {.meaning = "Damper, in N m s per radian (N s/m for sliders).", .min = 0});
}

/// Fields of ControlSettings.
template <class Visitor>
void describe(Visitor& visit, ControlSettings& s) {
  visit.words("type", s.type, control_words,
              {.meaning = "'keys' takes joints through angles, 'track' follows the clip, 'direct' "
                          "brings a bone to a place, 'hold' keeps joints as they are, 'passive' "
                          "lets them go."});
  visit.field("from", s.from, {.meaning = "When it begins, in seconds.", .min = 0});
  visit.field("to", s.to,
              {.meaning = "When it ends, in seconds; 0 for never. One entry counts at a time, the "
                          "last one that is on.",
               .min = 0});
  visit.field("joints", s.joints, {.meaning = "The joints it is for; all when empty."});
  visit.field("keys", s.keys,
              {.meaning = "Key poses for 'keys': a time in seconds from the beginning, then the "
                          "angles of the joints in degrees, in the order of 'joints' (two for "
                          "universal joints, a rotation vector for balls)."});
  visit.field("bone", s.bone, {.meaning = "The bone that 'direct' moves."});
  visit.field("point", s.point,
              {.meaning = "The point of that bone, in the model's space in the bind pose; its "
                          "joint when 0 0 0."});
  visit.list("motion", s.motion,
             {.meaning = "Where 'direct' wants the bone: how it moves from where it was when the "
                         "control began. Times are those of the scene."});
  visit.field("turns", s.turns, {.meaning = "Whether 'direct' wants the bone to turn along."});
  visit.field("frequency", s.frequency,
              {.meaning = "How quickly 'direct' closes in, in hertz.",
               .min = 0,
               .max = 100,
               .min_excluded = true});
  visit.field("torque", s.torque,
              {.meaning = "Whether joints are driven by torques, not by accelerations: then they "
                          "give way. 'keys', 'track' and 'hold' use servos."});
  visit.field("stiffness", s.stiffness,
              {.meaning = "Of these servos, in N m per radian; 0 takes what suits the bones' mass.",
               .min = 0});
  visit.field(
      "damping", s.damping,
      {.meaning = "Of these servos, in N m s per radian; 0 takes critical damping.", .min = 0});
}

/// Fields of SkeletonSettings.
template <class Visitor>
void describe(Visitor& visit, SkeletonSettings& s) {
  visit.words("mode", s.mode, skeleton_words,
              {.meaning = "Whether the clip moves the skeleton whatever the flesh does, or flesh, "
                          "contacts and joints move it by the laws of motion."});
  visit.words("others", s.others, joint_words,
              {.meaning = "Type of the joints that 'joints' does not name."});
  visit.list("joints", s.joints, {.meaning = "How joints can move."});
  visit.list("control", s.control,
             {.meaning = "What joints do over time; passive where nothing is said."});
  visit.group("turn", s.turn,
              {.meaning = "How a skeleton that moves by itself is turned before it begins."});
  visit.field("shift", s.shift,
              {.meaning = "How far it is shifted then, in metres, after the turn."});
  visit.field("density", s.density,
              {.meaning = "Of the bones' own shapes, in kg/m³.",
               .min = 0,
               .max = 1e6,
               .min_excluded = true});
}

/// What says where, of proxies and of parts with other dials.
inline constexpr FieldInfo where_bones_info = {
    .meaning = "Joints by name: what follows them, as much as it does."};
inline constexpr FieldInfo where_attribute_info = {
    .meaning = "Vertex attribute (its first number counts) that says how much: 1 is all, 0 none."};

/// Fields of ProxySettings.
template <class Visitor>
void describe(Visitor& visit, ProxySettings& s) {
  visit.group("select", s.select,
              {.meaning = "Which points of the skin, by their places at rest."});
  visit.field("bones", s.bones, where_bones_info);
  visit.field("attribute", s.attribute, where_attribute_info);
  visit.field("soft", s.soft,
              {.meaning = "Whether springs pull the points, instead of holding them exactly."});
  visit.field("stiffness", s.stiffness,
              {.meaning = "Of all these springs together, in newtons per metre; 0 takes ten times "
                          "what the body's own stiffness is.",
               .min = 0,
               .max = 1e12});
}

/// The ranges of dials, shared by the whole body and its parts.
inline constexpr FieldInfo frequency_dial_info = {
    .meaning = "How fast it swings, relative to how it would.", .min = 0.01, .max = 100};
inline constexpr FieldInfo amplitude_dial_info = {
    .meaning = "How far it swings, relative to how it would.", .min = 0, .max = 100};
inline constexpr FieldInfo sag_dial_info = {
    .meaning = "How far its weight pulls it down, relative to how it would.", .min = 0, .max = 100};
inline constexpr FieldInfo half_life_dial_info = {
    .meaning = "How long a swing takes to die down to a half, relative to how long it would.",
    .min = 0.01,
    .max = 100};

/// Fields of AdjustRegionSettings.
template <class Visitor>
void describe(Visitor& visit, AdjustRegionSettings& s) {
  visit.group("select", s.select, {.meaning = "Which part, by places at rest."});
  visit.field("bones", s.bones, where_bones_info);
  visit.field("attribute", s.attribute, where_attribute_info);
  visit.field("frequency", s.frequency, frequency_dial_info);
  visit.field("amplitude", s.amplitude, amplitude_dial_info);
  visit.field("sag", s.sag, sag_dial_info);
  visit.field("half_life", s.half_life, half_life_dial_info);
}

/// Fields of AdjustSettings.
template <class Visitor>
void describe(Visitor& visit, AdjustSettings& s) {
  visit.field("frequency", s.frequency, frequency_dial_info);
  visit.field("amplitude", s.amplitude, amplitude_dial_info);
  visit.field("sag", s.sag, sag_dial_info);
  visit.field("half_life", s.half_life, half_life_dial_info);
  visit.optional("inertia", s.inertia,
                 {.meaning = "Factor of inertia that gives this amplitude, as 'supple tune' finds "
                             "it; without it, runs find it before they begin.",
                  .min = 0,
                  .max = 1e4});
  visit.optional("stiffness", s.stiffness,
                 {.meaning = "Factor of stiffness found along with it; else what linear elasticity "
                             "says.",
                  .min = 1e-6,
                  .max = 1e6});
  visit.optional("weight", s.weight,
                 {.meaning = "Factor of weight found along with it.", .min = 0, .max = 1e6});
  visit.optional("damping_factor", s.damping_factor,
                 {.meaning = "Factor of damping found along with it.", .min = 0, .max = 1e6});
  visit.list(
      "regions", s.regions,
      {.meaning = "Parts whose dials stand differently: their ratios multiply those above."});
  visit.field(
      "keys", s.keys,
      {.meaning = "Rows [time, frequency, amplitude, sag, half_life] of ratios that multiply "
                  "those above from time to time."});
  visit.words("unit", s.unit, time_unit_words, {.meaning = "What the keys' times are."});
  visit.words("damping", s.damping, adjust_damping_words,
              {.meaning = "What damping resists: motion 'scaled' as inertia is, 'moving' relative "
                          "to the equilibrium, or in space that stands 'still'."});
  visit.words("derivatives", s.derivatives, adjust_derivative_words,
              {.meaning = "How accelerations of equilibria are formed: by the steps' 'own' "
                          "differences, or from five steps ('five_point'; tetrahedra in steps of "
                          "backward Euler)."});
}

}  // namespace supple
