// Every field of a scene, described once: name, place, meaning, range. A visitor that reads JSON,
// one that writes the JSON Schema and one that writes JSON back all walk these descriptions, so
// that none of them can disagree.
#pragma once

#include "supple/sim/field_info.h"
#include "supple/sim/scene.h"
#include "supple/sim/scene_words.h"
#include "supple/sim/surface_fields.h"
#include "supple/sim/tet_fields.h"

namespace supple {

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

/// Fields of ShapeSettings.
template <class Visitor>
void describe(Visitor& visit, ShapeSettings& s) {
  constexpr double most = 1e6;
  visit.words("type", s.type, shape_words,
              {.meaning = "The solid: 'box', 'sphere', or 'tube' (bent round the z axis)."});
  visit.field("centre", s.centre, {.meaning = "Where the solid's centre lies, in metres."});
  visit.field("size", s.size,
              {.meaning = "Of a box along x, y and z, in metres.",
               .min = 0,
               .max = most,
               .min_excluded = true});
  visit.field("radius", s.radius,
              {.meaning = "Of a sphere, or of a tube's cross-section, in metres.",
               .min = 0,
               .max = most,
               .min_excluded = true});
  visit.field("ring", s.ring,
              {.meaning = "Radius of a tube's bend, to its middle, in metres.",
               .min = 0,
               .max = most,
               .min_excluded = true});
  visit.field("bore", s.bore,
              {.meaning = "Radius of a tube's free bore, in metres; 0 for a solid rod.",
               .min = 0,
               .max = most});
  visit.field("angle", s.angle,
              {.meaning = "How far a tube goes round from the x axis towards y, in degrees.",
               .min = 1,
               .max = 350});
  visit.field("edge", s.edge,
              {.meaning = "Length of the skin's triangle edges, in metres; 0 takes 1/48 of the "
                          "longest extent.",
               .min = 0,
               .max = most});
}

/// Fields of CharacterSettings.
template <class Visitor>
void describe(Visitor& visit, CharacterSettings& s) {
  visit.field(
      "file", s.file,
      {.meaning =
           "Rigged character (.glb, .gltf, .fbx) or mesh (.obj), relative to the scene file."});
  visit.group("shape", s.shape, {.meaning = "A simple solid instead of a file."});
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

/// Fields of BoxSelection.
template <class Visitor>
void describe(Visitor& visit, BoxSelection& s) {
  visit.field("min", s.min, {.meaning = "Corner with the smallest coordinates, in metres."});
  visit.field("max", s.max, {.meaning = "Corner with the largest coordinates, in metres."});
}

/// Fields of SphereSelection.
template <class Visitor>
void describe(Visitor& visit, SphereSelection& s) {
  visit.field("centre", s.centre, {.meaning = "Centre of the ball, in metres."});
  visit.field("radius", s.radius, {.meaning = "Radius of the ball, in metres.", .min = 0});
}

/// Fields of PlaneSelection.
template <class Visitor>
void describe(Visitor& visit, PlaneSelection& s) {
  visit.field("point", s.point, {.meaning = "A point of the plane, in metres."});
  visit.field("normal", s.normal,
              {.meaning = "What lies on the side this points to is selected; of any length."});
}

/// Fields of SelectSettings.
template <class Visitor>
void describe(Visitor& visit, SelectSettings& s) {
  visit.optional("box", s.box, {.meaning = "A box with sides parallel to the axes."});
  visit.optional("sphere", s.sphere, {.meaning = "A ball."});
  visit.optional("plane", s.plane, {.meaning = "One side of a plane."});
}

/// Fields of TurnSettings.
template <class Visitor>
void describe(Visitor& visit, TurnSettings& s) {
  visit.field("axis", s.axis, {.meaning = "Direction of the axis; of any length."});
  visit.field("angle", s.angle, {.meaning = "Angle in degrees, counter-clockwise."});
  visit.field("about", s.about, {.meaning = "A point of the axis, in metres."});
}

/// Fields of ScriptSettings.
template <class Visitor>
void describe(Visitor& visit, ScriptSettings& s) {
  visit.field("translate", s.translate, {.meaning = "Shift, in metres; after the turn."});
  visit.group("rotate", s.rotate, {.meaning = "Turn about an axis."});
  visit.field("keys", s.keys,
              {.meaning = "Pairs [time, amount]: 0 is no motion, 1 the whole of it, more goes "
                          "beyond; from 0 at the first frame to 1 at the last when empty."});
  visit.words("unit", s.unit, time_unit_words,
              {.meaning = "What the keys' times are: seconds in the clip (0 at the first frame "
                          "without a clip), or frame numbers."});
  visit.words("ramp", s.ramp, ramp_words,
              {.meaning = "Between keys: at rest at each of them, or at constant speed."});
}

/// Fields of FixedSettings.
template <class Visitor>
void describe(Visitor& visit, FixedSettings& s) {
  visit.group("select", s.select, {.meaning = "Which nodes, by their places at rest."});
  visit.field(
      "skin", s.skin,
      {.meaning = "Whether points of the skin are held instead of nodes; for bodies of type "
                  "'voxels'."});
  visit.list("motion", s.motion,
             {.meaning = "Motions of these nodes, one after the other; none holds them still."});
}

/// Fields of PulledSettings.
template <class Visitor>
void describe(Visitor& visit, PulledSettings& s) {
  visit.group("select", s.select, {.meaning = "Which nodes, by their places at rest."});
  visit.field("skin", s.skin,
              {.meaning = "Whether points of the skin are pulled instead of nodes."});
  visit.field("stiffness", s.stiffness,
              {.meaning = "Of all these nodes' springs together, in newtons per metre.",
               .min = 0,
               .max = 1e12});
  visit.list("motion", s.motion, {.meaning = "Motions of the places the nodes are pulled to."});
}

/// Fields of PokeSettings.
template <class Visitor>
void describe(Visitor& visit, PokeSettings& s) {
  visit.field("at", s.at, {.meaning = "Middle of the spot, at rest, in metres."});
  visit.field("radius", s.radius,
              {.meaning = "Of the spot, in metres; 0 takes a tenth of the body.", .min = 0});
  visit.field("force", s.force, {.meaning = "On all of the spot, in newtons."});
  visit.field("from", s.from, {.meaning = "When it begins."});
  visit.field("to", s.to, {.meaning = "When it ends."});
  visit.words("unit", s.unit, time_unit_words, {.meaning = "What 'from' and 'to' count."});
}

/// The ranges of materials, shared by a body and its regions.
inline constexpr FieldInfo young_info = {
    .meaning = "Young's modulus, in pascals: fat 6e3, flesh 2e4, muscle 5e4, rubber 1e6.",
    .min = 1e-3,
    .max = 1e12};
inline constexpr FieldInfo poisson_info = {
    .meaning = "Poisson's ratio: how much a body keeps its volume; flesh 0.45.",
    .min = 0,
    .max = 0.495};
inline constexpr FieldInfo density_info = {
    .meaning = "Mass per volume, in kilograms per cubic metre.", .min = 1e-3, .max = 1e6};

/// Fields of DepthSettings.
template <class Visitor>
void describe(Visitor& visit, DepthSettings& s) {
  visit.field("full", s.full,
              {.meaning = "Where on the way from the nearest bone (0) to the skin (1) the material "
                          "is there fully.",
               .min = 0,
               .max = 1});
  visit.field("none", s.none,
              {.meaning = "Where on that way nothing of it is left.", .min = 0, .max = 1});
}

/// Fields of RegionSettings.
template <class Visitor>
void describe(Visitor& visit, RegionSettings& s) {
  visit.group("select", s.select,
              {.meaning = "Which cells, by their centres at rest; all when nothing is given."});
  visit.field("bones", s.bones,
              {.meaning = "Joints by name: flesh has as much of this material as its skin follows "
                          "them."});
  visit.field("attribute", s.attribute,
              {.meaning = "Vertex attribute (its first number counts) that says how much of this "
                          "material there is: 1 is all, 0 none, and inwards what is nearest."});
  visit.optional("depth", s.depth,
                 {.meaning = "How the amount of this material changes from bone to skin."});
  visit.words("material", s.material, region_material_words,
              {.meaning = "What it is made of, where the numbers below do not say otherwise."});
  visit.optional("young", s.young, young_info);
  visit.optional("poisson", s.poisson, poisson_info);
  visit.optional("density", s.density, density_info);
}

/// The ranges of bones' settings, shared by all bones and single ones.
inline constexpr FieldInfo thickness_info = {
    .meaning = "Radius of a bone, relative to the distance between its axis and the skin.",
    .min = 0,
    .max = 1};
inline constexpr FieldInfo hold_stiffness_info = {
    .meaning = "Of the springs that tie flesh to bones, relative to the flesh's own.",
    .min = 0,
    .max = 1e4};

/// Fields of BoneSettings.
template <class Visitor>
void describe(Visitor& visit, BoneSettings& s) {
  visit.field("joint", s.joint, {.meaning = "Name of the joint the bone moves with."});
  visit.words("hold", s.hold, bone_hold_words,
              {.meaning = "How flesh holds on to this bone; 'same' is as to the others."});
  visit.field("file", s.file,
              {.meaning = "Mesh (.obj, .glb, .gltf, .fbx) of the bone in the character's bind pose "
                          "and units, instead of a capsule; relative to the scene file."});
  visit.optional("thickness", s.thickness, thickness_info);
  visit.optional("stiffness", s.stiffness, hold_stiffness_info);
}

/// Fields of AttachSettings.
template <class Visitor>
void describe(Visitor& visit, AttachSettings& s) {
  visit.words(
      "hold", s.hold, hold_words,
      {.meaning = "How flesh holds on to bones: 'soft' by springs, 'hard' as one with them, "
                  "'sliding' over them, or not."});
  visit.field("stiffness", s.stiffness, hold_stiffness_info);
  visit.field("thickness", s.thickness, thickness_info);
  visit.field("follow", s.follow,
              {.meaning = "How strongly all flesh is drawn to where plain skinning would put it: "
                          "the frequency, in hertz, it would swing at by that alone.",
               .min = 0,
               .max = 1000});
  visit.list("bones", s.bones, {.meaning = "Bones that differ from the others."});
}

/// Fields of FleshSettings.
template <class Visitor>
void describe(Visitor& visit, FleshSettings& s) {
  visit.field("attribute", s.attribute,
              {.meaning = "Vertex attribute (such as _FLESH, or COLOR_0, of which the first number "
                          "counts) that says where flesh is: 1 there, 0 where the skin follows the "
                          "rig."});
  visit.field("bones", s.bones,
              {.meaning = "Joints whose skin has flesh, by name; all when nothing is given."});
  visit.list("regions", s.regions, {.meaning = "Parts of the body at rest that have flesh."});
  visit.field("blend", s.blend,
              {.meaning = "Width of the seam between flesh and rig, relative to the body's longest "
                          "side.",
               .min = 0,
               .max = 1});
}

/// Fields of ColliderSettings.
template <class Visitor>
void describe(Visitor& visit, ColliderSettings& s) {
  constexpr double most = 1e6;
  visit.words("type", s.type, collider_words,
              {.meaning = "What it is: all below a 'plane', a 'sphere', a 'capsule' along y, a "
                          "'box', or the 'mesh' of a file."});
  visit.field("file", s.file,
              {.meaning = "Of a mesh (.obj, .glb, .gltf, .fbx), relative to the scene file."});
  visit.field("centre", s.centre,
              {.meaning = "Where it lies, in metres: its middle, a point of the plane, or the "
                          "place of the file's origin."});
  visit.field("normal", s.normal, {.meaning = "Of a plane, pointing out of it; of any length."});
  visit.field("size", s.size,
              {.meaning = "Of a box along x, y and z, in metres.",
               .min = 0,
               .max = most,
               .min_excluded = true});
  visit.field("radius", s.radius,
              {.meaning = "Of a sphere or capsule, in metres.",
               .min = 0,
               .max = most,
               .min_excluded = true});
  visit.field(
      "length", s.length,
      {.meaning = "Between the middles of a capsule's ends, in metres.", .min = 0, .max = most});
  visit.field("joint", s.joint, {.meaning = "Joint of the character it moves with."});
  visit.list("motion", s.motion, {.meaning = "Its motions, one after the other."});
  visit.field("friction", s.friction,
              {.meaning = "Coefficient of friction; 0 lets flesh slide.", .min = 0, .max = 10});
  visit.field("thickness", s.thickness,
              {.meaning = "Distance it keeps flesh at, in metres.", .min = 0, .max = most});
  visit.field("free", s.free,
              {.meaning = "A name makes it move by itself, pushed by bodies of type 'tets' and by "
                          "its weight; colliders with the same name are one body."});
  visit.field("density", s.density,
              {.meaning = "Of one that moves by itself, in kg/m³.",
               .min = 0,
               .max = 1e6,
               .min_excluded = true});
}

/// Fields of ContactSettings.
template <class Visitor>
void describe(Visitor& visit, ContactSettings& s) {
  visit.optional("self", s.self,
                 {.meaning = "Whether the body collides with itself. By default bodies of type "
                             "'lattice' do, those of type 'voxels' and, with implicit steps, "
                             "'tets' do not."});
  visit.field("stiffness", s.stiffness,
              {.meaning = "Of the springs that part what collides, relative to the flesh's own.",
               .min = 0,
               .max = 1e4});
  visit.field("grip", s.grip,
              {.meaning = "Stiffness of these springs along the surface, relative to that across "
                          "it, where the body touches itself; for 'tets' the coefficient of "
                          "friction there.",
               .min = 0,
               .max = 1});
  visit.field(
      "points", s.points,
      {.meaning = "Contact points along the side of a cell; for 'tets' into how many parts edges "
                  "of the skin are cut for contact, and how many times as close together points "
                  "are at which the body meets itself.",
       .min = 0.1,
       .max = 10});
  visit.field("clear_skin", s.clear_skin,
              {.meaning = "Whether the skin that is shown is moved out of itself where cells leave "
                          "it in."});
  visit.field("props", s.props, {.meaning = "Whether rigid meshes hung on bones are colliders."});
  visit.list("colliders", s.colliders, {.meaning = "Rigid things flesh collides with."});
}

/// Fields of GravitySettings.
template <class Visitor>
void describe(Visitor& visit, GravitySettings& s) {
  visit.field("acceleration", s.acceleration, {.meaning = "In metres per second squared."});
  visit.optional("compensate", s.compensate,
                 {.meaning = "Whether the body is made so that it has its modelled shape under its "
                             "own weight; by default characters are, plain solids are not."});
  visit.words("compensate_by", s.compensate_by, weight_carrier_words,
              {.meaning = "What carries that weight: a tension that turns with the rig, or cells "
                          "with a rest shape found by an inverse static solve."});
}

/// Fields of SolverSettings.
template <class Visitor>
void describe(Visitor& visit, SolverSettings& s) {
  visit.field(
      "iterations", s.iterations,
      {.meaning =
           "Most iterations of Newton's method per step; 0 takes 15 for characters and 50 for "
           "plain solids.",
       .min = 0,
       .max = 10000});
  visit.field("tolerance", s.tolerance,
              {.meaning = "Imbalance of forces at which a step is solved, relative to its start.",
               .min = 0,
               .max = 1});
  visit.field("linear_tolerance", s.linear_tolerance,
              {.meaning = "Relative residual at which a linear solve ends.", .min = 0, .max = 1});
  visit.field(
      "linear_iterations", s.linear_iterations,
      {.meaning = "Most iterations of a linear solve; 0 takes 60 for characters, 200 for plain "
                  "solids and 10 for 'voxels'.",
       .min = 0,
       .max = 100000});
  visit.field("seconds", s.seconds,
              {.meaning = "Wall-clock time after which a step begins no further iteration, in "
                          "seconds; 0 for none. With it results depend on the machine's speed, and "
                          "frames that it cut short say so in the report.",
               .min = 0,
               .max = 1e6});
  visit.words("method", s.method, method_words,
              {.meaning = "Linear solver; all but 'multigrid_cg' are there for comparison."});
  visit.words("differential", s.differential, differential_words,
              {.meaning = "Derivative of the elastic forces; 'automatic' is 'projected' far from "
                          "the solution and 'exact' near it, the others are for comparison."});
  visit.words("quadrature", s.quadrature, quadrature_words,
              {.meaning = "How a cell's energy is integrated, for 'lattice'; 'one_point' lets "
                          "cells fold like an hourglass, 'eight_point' takes many times the time "
                          "and memory, and both are for comparison."});
}

/// Fields of VoxelSettings.
template <class Visitor>
void describe(Visitor& visit, VoxelSettings& s) {
  visit.field("levels", s.levels,
              {.meaning = "How often cells are halved to see where in them the matter is.",
               .min = 0,
               .max = 8});
  visit.words(
      "law", s.law, law_words,
      {.meaning =
           "Whether matter is felt where it is in a cell, bends there too, or is felt evenly."});
  visit.words(
      "fill", s.fill, fill_words,
      {.meaning = "How much of the finest cells on the surface is matter: what is measured, "
                  "or one half."});
  visit.field("sheets", s.sheets,
              {.meaning = "How much of the finest cells is matter where there are only open sheets "
                          "and lines.",
               .min = 0.001,
               .max = 1});
  visit.field("hollow", s.hollow, {.meaning = "Whether closed cavities stay empty."});
  visit.field("split", s.split,
              {.meaning = "Whether triangles of the skin are split where they cross from cell to "
                          "cell, so that large ones bend with the body. Results then have more "
                          "vertices than the input, and a map to its own."});
}

/// Fields of LatticeSettings.
template <class Visitor>
void describe(Visitor& visit, LatticeSettings& s) {
  visit.words("integrator", s.integrator, lattice_steps_words,
              {.meaning = "How a dynamic body goes through time: by steps of backward Euler whose "
                          "motion relative to the rig dies down as 'damping' says ('plain'), or by "
                          "steps of a method whose dynamics can be adjusted."});
  visit.field("stiffness_damping", s.stiffness_damping,
              {.meaning = "Unless steps are 'plain': damping forces over elastic ones at the same "
                          "speed, in seconds; fast swings die down first.",
               .min = 0,
               .max = 10});
  visit.field("mass_damping", s.mass_damping,
              {.meaning = "Unless steps are 'plain': damping forces over momentum, in parts per "
                          "second; as by air that stands still.",
               .min = 0,
               .max = 1e4});
}

/// Fields of BodySettings.
template <class Visitor>
void describe(Visitor& visit, BodySettings& s) {
  visit.choice(
      "type", s.type, body_words,
      {.meaning =
           "Kind of body: 'skinning' follows the rig without flesh; 'lattice' is "
           "elastic, cut into many cubic cells; 'voxels' is elastic, cut into few "
           "cells, for games and previews; 'tets' is elastic, in a cage of "
           "tetrahedra on a skeleton that can feel it; 'surface' keeps shape and volume of the "
           "skin alone, for heaps of things; 'automatic' takes 'lattice' for rigged "
           "characters, else 'skinning'. The other fields are for 'lattice', "
           "'voxels', 'tets' and 'surface'."});
  visit.field("budget", s.budget,
              {.meaning = "About how many cells a body of type 'lattice' has, when neither 'cells' "
                          "nor 'spacing' is given.",
               .min = 1,
               .max = 1e8});
  visit.field("cells", s.cells,
              {.meaning = "Cells along the longest side of the body; 0 takes 'budget', and 10 for "
                          "'voxels'.",
               .min = 0,
               .max = 1000});
  visit.field("spacing", s.spacing,
              {.meaning = "Side of a cell, in metres; 0 takes 'cells' or 'budget'.", .min = 0});
  visit.field("size", s.size,
              {.meaning = "How long the longest side of the body is in the world, in metres, for "
                          "weight and stiffness; 0 takes what the file says where that is "
                          "plausible.",
               .min = 0,
               .max = 1e6});
  visit.words("material", s.material, material_words,
              {.meaning = "What the body is made of: sets Young's modulus, Poisson's ratio and "
                          "density."});
  visit.optional("young", s.young, young_info);
  visit.optional("poisson", s.poisson, poisson_info);
  visit.optional("density", s.density, density_info);
  visit.list("materials", s.materials,
             {.meaning = "Parts of other materials; later ones take precedence."});
  visit.field(
      "keep_volume", s.keep_volume,
      {.meaning = "Whether a character's cells answer to changes of their volume also where "
                  "they are stretched far."});
  visit.field("volume", s.volume,
              {.meaning = "Whether the skin keeps its volume to a ten-thousandth, if it is closed: "
                          "nodes are moved a little after every step."});
  visit.group_or_main("gravity", s.gravity, "acceleration",
                      {.meaning = "Weight; three numbers alone are the acceleration."});
  visit.optional("damping", s.damping,
                 {.meaning = "How fast a dynamic body's motion relative to its rig dies down, in "
                             "parts per second; 6 for tets, whose steps take nothing away by "
                             "themselves, and 1 for others.",
                  .min = 0,
                  .max = 1e4});
  visit.group("attach", s.attach, {.meaning = "How flesh is tied to the rig."});
  visit.group("contact", s.contact, {.meaning = "What the body collides with."});
  visit.group("flesh", s.flesh, {.meaning = "Where there is flesh; everywhere by default."});
  visit.optional("dynamic", s.dynamic,
                 {.meaning = "Whether the body has inertia; else every frame is an equilibrium. By "
                             "default characters and bodies of type 'voxels' have it, plain solids "
                             "do not."});
  visit.field("substeps", s.substeps, {.meaning = "Steps per frame.", .min = 1, .max = 1000});
  visit.words("start", s.start, start_words,
              {.meaning = "Where a dynamic body begins: as it was modelled, or sagged already."});
  visit.field("velocity", s.velocity,
              {.meaning = "Of a dynamic body at the start, in metres per second."});
  visit.field("spin", s.spin,
              {.meaning = "Turning of a dynamic body about its centre of mass at the start: its "
                          "axis, as long as the degrees per second."});
  visit.list("fixed", s.fixed,
             {.meaning = "Nodes that are held, or moved by a script; the last one holds a node."});
  visit.list("pulled", s.pulled, {.meaning = "Nodes that springs pull where a script says."});
  visit.list("pokes", s.pokes, {.meaning = "Forces on spots of the skin."});
  visit.group("lattice", s.lattice, {.meaning = "What is special to bodies of type 'lattice'."});
  visit.group("voxels", s.voxels, {.meaning = "What is special to bodies of type 'voxels'."});
  visit.group("tets", s.tets, {.meaning = "What is special to bodies of type 'tets'."});
  visit.group("skeleton", s.skeleton,
              {.meaning = "How the skeleton of a body of type 'tets' moves."});
  visit.list("proxies", s.proxies,
             {.meaning = "Points of the skin that drive bodies of type 'tets' with implicit steps, "
                         "beside its bones."});
  visit.group("adjust", s.adjust,
              {.meaning = "The animator's dials: frequency, amplitude, sag and half-life of the "
                          "dynamics, relative to how they would be."});
  visit.group("surface", s.surface, {.meaning = "What is special to bodies of type 'surface'."});
  visit.words("embedding", s.embedding, embedding_words,
              {.meaning = "How the skin moves with its cells: each with its own, or blended from "
                          "those around it, without creases between cells."});
  visit.group("solver", s.solver, {.meaning = "How the equations are solved."});
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
  visit.group_or_main("character", s.character, "file",
                      {.meaning = "The rigged character; a text alone is its file."});
  visit.list("objects", s.objects,
             {.meaning = "Objects for a body of type 'surface', instead of a character: they meet "
                         "each other and the body's colliders."});
  visit.group_or_main("body", s.body, "type",
                      {.meaning = "The simulated body; a text alone is its type."});
  visit.group("frames", s.frames, {.meaning = "Which frames are simulated."});
  visit.group("output", s.output, {.meaning = "What is written, and where."});
}

}  // namespace supple
