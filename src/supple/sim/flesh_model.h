// What a body of cells is built from: the cells of a skin with their materials, the nodes that a
// scene holds or pulls, and the skin's place in the cells. Everything that does not change,
// whatever the elasticity.
#pragma once

#include <functional>
#include <memory>

#include "supple/mesh/lattice_mesh.h"
#include "supple/mesh/smooth_embedding.h"
#include "supple/sim/attachment.h"
#include "supple/sim/script.h"

namespace supple {

/// Nodes that follow a script.
struct ScriptedNodes {
  std::vector<int32_t> nodes;  ///< numbers in the model's mesh
  Script script;
};

/// Points of the skin that follow a script.
struct ScriptedPoints {
  std::vector<int32_t> points;  ///< of the skin's mesh
  Script script;
};

/// Places in the body that springs pull to where a script says.
struct PulledPlaces {
  std::vector<Vec3d> rest;  ///< in metres
  std::vector<LatticeTie> ties;
  double stiffness = 0;  ///< of each spring, in newtons per metre
  Script script;
};

/// A force on a spot of the skin for a while.
struct Poke {
  std::vector<LatticeTie> ties;  ///< of the points of the spot
  Vec3d force = Vec3d::Zero();   ///< on each of them, in newtons
  double from = 0, to = 0;
  TimeUnit unit = TimeUnit::seconds;
};

/// A material in simulation units.
struct Substance {
  double young = 0, poisson = 0, density = 0;
};

/// A place in a cell that is asked for its material, at rest.
struct MaterialPlace {
  Vec3d at = Vec3d::Zero();  ///< in metres
  size_t cell = 0;
  double volume = 0;  ///< of the matter that is of this material, in cubic metres
};

/// The constant part of a body of cells.
///
/// Positions are in the character's length units. So that results do not depend on these, the
/// materials' units are such that equal bodies move equally: with s metres per unit, moduli are
/// s Pa, densities s³ kg/m³, accelerations 1/s m/s².
struct FleshModel {
  /// Cuts a skin into cells.
  using Cutter = std::function<SolidLattice(const FleshSkin&)>;

  FleshSkin skin;
  double length = 0;  ///< of the longest side of the skin at rest
  WorldScale scale;
  SolidLattice solid;
  LatticeMesh mesh;
  LatticeEmbedding embedding;               ///< of the skin's points
  std::unique_ptr<SmoothEmbedding> smooth;  ///< of these too, where the scene asks for it
  std::vector<Vec3d> rest;                  ///< places of the nodes, in metres
  std::vector<double> filled;               ///< share of every cell in all the matter there is
  std::vector<double> young;                ///< around the nodes: mean Young's modulus of the cells
  std::vector<double> masses;               ///< of the nodes, in kg
  std::vector<ScriptedNodes> fixed;         ///< no node is in two of them
  std::vector<ScriptedPoints> held_points;
  std::vector<PulledPlaces> pulled;
  std::vector<Poke> pokes;
  double stiffness = 0;                    ///< mean Young's modulus, in simulation units
  Vec3d gravity = Vec3d::Zero();           ///< in simulation units
  std::unique_ptr<FleshRig> rig;           ///< null without one
  std::unique_ptr<Attachment> attachment;  ///< null without a rig
  std::string rest_reach;                  ///< where the body lies at rest, for messages

  /// The centre of a cell at rest, in metres.
  Vec3d cell_centre(size_t cell) const;

  /// The tie of a place at rest, in metres, to its cell or the nearest one.
  LatticeTie tie(const Vec3d& at) const;

  /// Weight at every node, in newtons. When the modelled shape is to be that under weight
  /// (`compensated`), flesh has an inner tension that carries its weight in the bind pose, and
  /// turns with it: in the pose of `joints` what is left to move it is m (g - R g), with the
  /// rotations R of the rig. Where the cells themselves carry weight in their rest shape, `support`
  /// is what is left to the rig in the bind pose, instead of all of it, -m g.
  std::vector<Vec3d> weights(std::span<const Affine> joints, bool compensated,
                             std::span<const Vec3d> support = {}) const;

  /// Adds the pokes of a moment to forces at every node, in newtons.
  void add_pokes(const Moment& moment, std::span<Vec3d> forces) const;

  /// Weight and pokes at every node, in newtons.
  std::vector<Vec3d> outer_forces(const Moment& moment, std::span<const Affine> joints,
                                  bool compensated, std::span<const Vec3d> support = {}) const;

  /// How much of every place belongs to a region, from 0 to 1; throws an input error naming `file`
  /// and `field` when the region cannot be found or catches nothing.
  std::vector<float> amount_of(const RegionSettings& region, std::span<const MaterialPlace> places,
                               const std::string& field, const std::string& file) const;

 protected:
  /// Cuts the character's skin into cells and finds the rig in them. Throws an input error naming
  /// `file` when that is not possible. What cells are made of, and with it attach(), is the
  /// derived model's affair.
  FleshModel(const Character& character, const BodySettings& settings, const Cutter& cut,
             const std::string& file);

  /// The materials at some places, as the scene says; sets `stiffness`, `young` and `filled` from
  /// them.
  std::vector<Substance> set_materials(const BodySettings& settings,
                                       std::span<const MaterialPlace> places,
                                       const std::string& file);

  /// Ties the nodes to the rig, and holds and pulls them as the scene says; needs masses. Where
  /// `needs_hold`, throws an input error when nothing holds a piece against gravity.
  void attach(const BodySettings& settings, const FrameRange& range, bool needs_hold,
              const std::string& file);

 private:
  struct Depth {
    double to_bone = 0, to_skin = 0;  // in metres
  };

  std::vector<Depth> depths(std::span<const MaterialPlace> places) const;
  void hold_nodes(const BodySettings& settings, const FrameRange& range, const std::string& file);
  void hold_points(const FixedSettings& settings, Script script, const std::string& field,
                   const std::string& file);
  void pull_places(const BodySettings& settings, const FrameRange& range, const std::string& file);
  void set_pokes(const BodySettings& settings, const std::string& file);
  void refuse_loose_pieces(const std::string& file) const;
  Substance base_material(const BodySettings& settings) const;
};

/// How fast a body's motion relative to its rig dies down, 1/s: as its scene says, or as suits its
/// type.
double damping_rate(const BodySettings& settings);

}  // namespace supple
