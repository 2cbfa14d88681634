// What a lattice body is built from: the cells of a skin with their materials, the nodes that a
// scene holds or pulls, and the skin's place in the cells. Everything that does not change.
#pragma once

#include <memory>

#include "supple/lattice/lattice_system.h"
#include "supple/mesh/lattice_mesh.h"
#include "supple/rig/character.h"
#include "supple/sim/script.h"

namespace supple {

/// Nodes that follow a script.
struct ScriptedNodes {
  std::vector<int32_t> nodes;  ///< numbers in the model's mesh
  Script script;
};

/// The constant part of a lattice body.
struct LatticeModel {
  /// Fills the skin with cells and looks up what the scene says about them. Throws an input error
  /// naming `file` when that is not possible.
  LatticeModel(const TriangleMesh& skin, const BodySettings& settings, const FrameRange& range,
               const std::string& file);

  SolidLattice solid;
  LatticeMesh mesh;
  LatticeEmbedding embedding;        ///< of the skin
  std::vector<Vec3d> rest;           ///< places of the nodes, in metres
  std::vector<CellMaterial> moduli;  ///< of the cells, scaled by how much of them is filled
  std::vector<double> masses;        ///< of the nodes, in kg
  std::vector<ScriptedNodes> fixed;  ///< no node is in two of them
  std::vector<ScriptedNodes> pulled;
  std::vector<double> pulls;  ///< stiffness per node of each of `pulled`, in newtons per metre
  double stiffness = 0;       ///< mean Young's modulus, in Pa
  std::string rest_reach;     ///< where the body lies at rest, for messages

  /// The equations of the body at rest.
  std::unique_ptr<LatticeSystem> make_system() const;

 private:
  void set_materials(const BodySettings& settings, const std::string& file);
  void hold_nodes(const BodySettings& settings, const FrameRange& range, const std::string& file);
  void pull_nodes(const BodySettings& settings, const FrameRange& range, const std::string& file);
  void refuse_loose_pieces(const BodySettings& settings, const std::string& file) const;
  std::vector<TargetSpring> springs() const;
};

}  // namespace supple
