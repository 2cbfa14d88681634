// What a lattice body is built from: the cells of a skin with their materials, the nodes that a
// scene holds or pulls, and the skin's place in the cells. Everything that does not change.
#pragma once

#include <memory>

#include "supple/lattice/lattice_system.h"
#include "supple/mesh/lattice_mesh.h"
#include "supple/sim/attachment.h"
#include "supple/sim/script.h"

namespace supple {

/// Nodes that follow a script.
struct ScriptedNodes {
  std::vector<int32_t> nodes;  ///< numbers in the model's mesh
  Script script;
};

/// A material in simulation units.
struct Substance {
  double young = 0, poisson = 0, density = 0;
};

/// The constant part of a lattice body.
///
/// Positions are in the character's length units. So that results do not depend on these, the
/// materials' units are such that equal bodies move equally: with s metres per unit, moduli are
/// s Pa, densities s³ kg/m³, accelerations 1/s m/s².
struct LatticeModel {
  /// Fills the skin with cells and looks up what the scene says about them. Throws an
  /// input error naming `file` when that is not possible.
  LatticeModel(const Character& character, const BodySettings& settings, const FrameRange& range,
               const std::string& file);

  FleshSkin skin;
  double length = 0;  ///< of the longest side of the skin at rest
  WorldScale scale;
  SolidLattice solid;
  LatticeMesh mesh;
  LatticeEmbedding embedding;        ///< of the skin's points
  std::vector<Vec3d> rest;           ///< places of the nodes, in metres
  std::vector<CellMaterial> moduli;  ///< of the cells, scaled by how much of them is filled
  std::vector<double> filled;        ///< share of every cell in all the matter there is
  std::vector<double> young;         ///< around the nodes: mean Young's modulus of the cells
  std::vector<double> masses;        ///< of the nodes, in kg
  std::vector<ScriptedNodes> fixed;  ///< no node is in two of them
  std::vector<ScriptedNodes> pulled;
  std::vector<double> pulls;      ///< stiffness per node of each of `pulled`, in newtons per metre
  double stiffness = 0;           ///< mean Young's modulus, in simulation units
  Vec3d gravity = Vec3d::Zero();  ///< in simulation units
  std::unique_ptr<FleshRig> rig;  ///< null without one
  std::unique_ptr<Attachment> attachment;  ///< null without a rig
  std::string rest_reach;                  ///< where the body lies at rest, for messages

  /// Whether the body has inertia: by default characters do, plain solids do not.
  bool is_dynamic(const BodySettings& settings) const {
    return settings.dynamic.value_or(skin.rigged);
  }

  /// The centre of a cell at rest, in metres.
  Vec3d cell_centre(size_t cell) const;

  /// The springs of pulled nodes, at rest.
  std::vector<TargetSpring> springs() const;

  /// The equations of the body at rest, without springs.
  std::unique_ptr<LatticeSystem> make_system() const;

 private:
  struct Depth {
    double to_bone = 0, to_skin = 0;  // in metres
  };

  void set_materials(const BodySettings& settings, const std::string& file);
  std::vector<float> amount_of(const RegionSettings& region, const std::string& field,
                               const std::string& file) const;
  std::vector<Depth> depths() const;
  void hold_nodes(const BodySettings& settings, const FrameRange& range, const std::string& file);
  void pull_nodes(const BodySettings& settings, const FrameRange& range, const std::string& file);
  void refuse_loose_pieces(const std::string& file) const;
  Substance base_material(const BodySettings& settings) const;
};

}  // namespace supple
