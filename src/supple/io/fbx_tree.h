// The node tree of an imported FBX file as a skeleton. Assimp splits an FBX node with pivots, pre-
// and post-rotations or geometric offsets into a row of helper nodes; here each row is one joint
// again, with its factors kept so that animations of single factors can be composed.
#pragma once

#include <assimp/scene.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "supple/rig/skeleton.h"

namespace supple::fbx {

/// What a factor of a node's transform does; everything else only moves.
enum class FactorKind { translation, rotation, scaling };

/// One factor of a node's transform, in the order T · Roff · Rp · Rpre · R · Rpost⁻¹ · ... · S.
struct Factor {
  std::string name;  ///< name of Assimp's helper node, by which animations find it
  FactorKind kind = FactorKind::translation;
  bool post_rotation = false;
  Affine matrix = Affine::Identity();
};

/// A joint as FBX describes it.
struct TreeNode {
  const aiNode* node = nullptr;
  std::vector<Factor> factors;            ///< empty where the node has one plain matrix
  Affine geometric = Affine::Identity();  ///< moves the meshes of this node, not its children
};

/// Where an animation channel leads: a joint, and one of its factors or (-1) its whole transform.
struct ChannelPlace {
  int joint = -1;
  int factor = -1;
};

/// The skeleton and what is needed to read meshes and animations onto it.
struct Tree {
  Skeleton skeleton;
  std::vector<TreeNode> nodes;  ///< one per joint
  std::unordered_map<std::string, ChannelPlace> places;
  std::vector<std::string> repeated_names;
};

/// Builds the tree; `to_model` becomes the root's transform. Throws an input error naming `file`
/// when a number is not finite or the tree is out of proportion.
Tree build_tree(const aiScene& scene, const Affine& to_model, std::string_view file);

/// Assimp's matrix as ours; throws an input error naming `file` when a number is not finite.
Affine to_affine(const aiMatrix4x4& matrix, std::string_view file, std::string_view field);

/// Splits a matrix known to be translation, rotation and scale up to single-precision noise.
std::optional<Transform> decompose_noisy(const Affine& matrix);

}  // namespace supple::fbx
