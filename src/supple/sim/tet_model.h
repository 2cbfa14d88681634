// What a body of tetrahedra is built from: a cage around the skin, the bones in it, which nodes
// hold on to which, masses and materials.
#pragma once

#include <optional>

#include "supple/mesh/tet_limbs.h"
#include "supple/sim/flesh_model.h"
#include "supple/sim/instant.h"
#include "supple/sim/selection.h"
#include "supple/tets/skin_contact.h"
#include "supple/tets/tet_character.h"

namespace supple {

/// A bone that flesh holds on to: of the rig, or a group of nodes that a script moves.
struct TetBone {
  int joint = -1;                    ///< of the character, or -1
  Affine bind = Affine::Identity();  ///< of the joint in the bind pose
  Vec3d origin = Vec3d::Zero();      ///< of the bone's frame at rest, whose axes are the world's
  Script script;                     ///< of a group of nodes
};

/// The frame of a bone at an instant: at rest its axes are the world's.
Affine bone_frame(const TetBone& bone, const Instant& instant);

/// The constant part of a body of tetrahedra.
struct TetModel : FleshModel {
  /// Makes the cage, or takes the scene's, and finds what is in it. Throws an input error naming
  /// `file` when that is not possible.
  TetModel(const Character& character, const BodySettings& settings, const FrameRange& range,
           const std::string& file);

  TetFleshModel flesh;
  SkinContactModel contact;               ///< of the skin's points, and more between them
  std::vector<TetTie> ties;               ///< of the skin's points
  std::vector<TetLocation> places;        ///< of the same
  std::vector<double> contact_moduli;     ///< of the same: pressure over depth of contacts, Pa/m
  std::vector<TetBone> tet_bones;         ///< those of the rig first, parents before children
  size_t rig_bones = 0;                   ///< how many are of the rig
  std::vector<BoneDescription> skeleton;  ///< of the rig's bones, with dynamics; empty without any
  std::vector<std::string> notes;         ///< about the cage, for the user
  double smallest_angle = 0;              ///< of the cage, degrees
  size_t copies = 0;                      ///< elements that are there for each of several limbs
  double cage_spacing = 0;                ///< m

 private:
  void find_rig_bones(const Character& character, const BodySettings& settings,
                      const std::string& file);
  void find_scripted_bones(const BodySettings& settings, const FrameRange& range,
                           const std::string& file);
  std::vector<Vec3d> points_on_bones(double spacing, std::vector<int32_t>& bone_of_point) const;
  void make_cage(const Character& character, const BodySettings& settings, const std::string& file);
  void fill(const BodySettings& settings, const std::string& file);
  void hold_nodes(const std::string& file);
  void tie_skin(const BodySettings& settings);

  std::optional<CutCage> m_cut;                             // of cages of our own
  TetFilling m_filling;                                     // of the elements
  std::vector<std::pair<Selection, int32_t>> m_selections;  // of scripted nodes, and their bone
  std::vector<int32_t> m_bone_of_node;                      // by placed points
  std::vector<double> m_young;                              // of the elements
};

/// The joints of a scene as bones with dynamics, with masses from their shapes alone; `bones` are
/// the rig's. Throws an input error naming `file` for joints that are not possible.
std::vector<BoneDescription> describe_skeleton(const Character& character, const TetModel& model,
                                               const SkeletonSettings& settings,
                                               const std::string& file);

}  // namespace supple
