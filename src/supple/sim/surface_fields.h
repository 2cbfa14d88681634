// The fields of surface_settings.h; part of scene_fields.h.
#pragma once

#include "supple/sim/field_info.h"
#include "supple/sim/scene.h"
#include "supple/sim/scene_words.h"

namespace supple {

inline constexpr FieldInfo region_width_info = {
    .meaning =
        "How many edges wide the regions are that keep their shape: more is stiffer. By "
        "default a tenth of the object's length, from 2 to 8 edges.",
    .min = 1,
    .max = 32};
inline constexpr FieldInfo surface_stiffness_info = {
    .meaning = "Part of the way to the shape at rest that every step goes.", .min = 0, .max = 1};
inline constexpr FieldInfo surface_damping_info = {
    .meaning = "Part of the motion within regions that every step takes away.", .min = 0, .max = 1};
inline constexpr FieldInfo support_info = {
    .meaning =
        "How far wide regions reach that carry an object's weight, as a part of its length: "
        "more is firmer, 0 is for none.",
    .min = 0,
    .max = 1};
inline constexpr FieldInfo surface_volume_info = {.meaning =
                                                      "Whether closed shells keep their volume."};
inline constexpr FieldInfo spread_info = {
    .meaning = "Where volume is corrected: 0 where the shape has changed, 1 everywhere alike.",
    .min = 0,
    .max = 1};
inline constexpr FieldInfo inner_info = {
    .meaning = "How much distances through the inside count in where that is.", .min = 0, .max = 1};
inline constexpr FieldInfo surface_friction_info = {
    .meaning =
        "Coefficient of friction between objects; of two the mean counts. Colliders have "
        "their own.",
    .min = 0,
    .max = 10};

/// Fields of SurfaceSettings.
template <class Visitor>
void describe(Visitor& visit, SurfaceSettings& s) {
  visit.optional("region_width", s.region_width, region_width_info);
  visit.field("stiffness", s.stiffness, surface_stiffness_info);
  visit.field("damping", s.damping, surface_damping_info);
  visit.field("support", s.support, support_info);
  visit.field("firmness", s.firmness,
              {.meaning = "Part of an impact that an object with wide regions takes as a whole: 1 "
                          "stops it at once, less lets it squash and bounce.",
               .min = 0,
               .max = 1});
  visit.field("keep_volume", s.keep_volume, surface_volume_info);
  visit.field("spread", s.spread, spread_info);
  visit.field("inner", s.inner, inner_info);
  visit.field(
      "thick_stiffness", s.thick_stiffness,
      {.meaning = "How much the longest distance through the inside counts.", .min = 0, .max = 1});
  visit.field("thin_stiffness", s.thin_stiffness,
              {.meaning = "How much the shortest one counts.", .min = 0, .max = 1});
  visit.field("volume_tolerance", s.volume_tolerance,
              {.meaning = "Part of the volume that may be wrong.", .min = 1e-7, .max = 1});
  visit.field("plastic_yield", s.plastic_yield,
              {.meaning = "Strain that is still reversible.", .min = 0, .max = 10});
  visit.field(
      "plastic_creep", s.plastic_creep,
      {.meaning = "Part of the strain beyond it that stays, per second.", .min = 0, .max = 1000});
  visit.field("plastic_limit", s.plastic_limit,
              {.meaning = "Largest strain that stays; 0 for none at all.", .min = 0, .max = 3});
  visit.field(
      "step", s.step,
      {.meaning = "Longest time step, in seconds.", .min = 0, .max = 0.1, .min_excluded = true});
  visit.field("friction", s.friction, surface_friction_info);
  visit.field("gap", s.gap,
              {.meaning = "Kept free between objects, in mean lengths of their edges.",
               .min = 0,
               .max = 1});
  visit.field("follow", s.follow,
              {.meaning = "Part of the way to where plain skinning would put it that the skin of a "
                          "rigged character goes in 5 ms.",
               .min = 0,
               .max = 1});
  visit.field("detail", s.detail,
              {.meaning = "Detailed mesh (.obj, .glb, .gltf, .fbx) that is shown instead of the "
                          "simulated one and follows it, relative to the scene file."});
}

/// Fields of ObjectSettings.
template <class Visitor>
void describe(Visitor& visit, ObjectSettings& s) {
  constexpr double most = 1e6;
  visit.field("file", s.file,
              {.meaning = "Mesh of the object (.obj, .glb, .gltf, .fbx), relative to the scene "
                          "file."});
  visit.group("shape", s.shape, {.meaning = "A simple solid instead of a file."});
  visit.field("detail", s.detail,
              {.meaning = "Detailed mesh that is shown instead and follows the object, relative "
                          "to the scene file."});
  visit.field("scale", s.scale,
              {.meaning = "Metres per length unit of the file.",
               .min = 0,
               .max = most,
               .min_excluded = true});
  visit.group("turn", s.turn, {.meaning = "How it is turned first."});
  visit.field("at", s.at, {.meaning = "Where its origin lies then, in metres."});
  visit.field(
      "copies", s.copies,
      {.meaning = "How many there are along x, y and z: whole numbers.", .min = 1, .max = 1000});
  visit.field("apart", s.apart, {.meaning = "From one to the next along x, y and z, in metres."});
  visit.field(
      "tumble", s.tumble,
      {.meaning = "Whether every copy is turned its own way, about the middle of its box."});
  visit.field("velocity", s.velocity, {.meaning = "At the start, in metres per second."});
  visit.field("spin", s.spin,
              {.meaning = "Turning about the middle at the start: the axis, as long as the degrees "
                          "per second."});
  visit.words("start", s.start, object_start_words,
              {.meaning = "Where it begins: as it was modelled, at random places in its box, "
                          "pressed flat, in one point, or turned inside out."});
  visit.field("density", s.density,
              {.meaning = "In kg/m³; heavy objects push light ones.",
               .min = 0,
               .max = 1e6,
               .min_excluded = true});
  visit.optional("region_width", s.region_width, region_width_info);
  visit.optional("stiffness", s.stiffness, surface_stiffness_info);
  visit.optional("damping", s.damping, surface_damping_info);
  visit.optional("support", s.support, support_info);
  visit.optional("keep_volume", s.keep_volume, surface_volume_info);
  visit.optional("spread", s.spread, spread_info);
  visit.optional("inner", s.inner, inner_info);
  visit.optional("friction", s.friction, surface_friction_info);
}

}  // namespace supple
