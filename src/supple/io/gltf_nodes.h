// The parts of the glTF reader: node tree, meshes and animations, each in a file of its own.
#pragma once

#include <vector>

#include "supple/io/gltf_document.h"
#include "supple/rig/character.h"

namespace supple {

/// What the parts of the glTF reader share while a character is being built.
struct GltfReading {
  const GltfDocument& document;
  Character character;
  std::vector<int> joint_of_node;         ///< joint of every node of the file
  std::vector<int> node_order;            ///< the scene's nodes, parents first, in the file's order
  std::vector<Affine> rest;               ///< joint-to-model matrices of the node tree's rest pose
  std::vector<int> first_shape_of_joint;  ///< first blend shape of the mesh on a joint, or -1
  std::vector<int> shapes_of_joint;       ///< number of blend shapes of the mesh on a joint
};

/// Reads all nodes into the skeleton and lists those of the default scene.
void read_gltf_nodes(GltfReading& reading);

/// Reads the meshes, skins and blend shapes of the scene's nodes.
void read_gltf_meshes(GltfReading& reading);

/// Reads all animations as clips.
void read_gltf_animations(GltfReading& reading);

}  // namespace supple
