#include "supple/io/gltf_nodes.h"

#include <algorithm>

#include "supple/core/error.h"

namespace supple {
namespace {

Vec3d vector3(const JsonField& field) {
  const std::vector<double> v = field.numbers(3);
  return {v[0], v[1], v[2]};
}

void read_local_transform(const JsonField& node, Joint& joint) {
  if (const auto matrix = node.find("matrix")) {
    const std::vector<double> m = matrix->numbers(16);
    Affine affine;
    affine.matrix() = Eigen::Map<const Mat4d>(m.data());
    affine.makeAffine();
    if (const auto transform = decompose(affine))
      joint.rest = *transform;
    else
      joint.sheared = affine;
    return;
  }
  if (const auto field = node.find("translation")) joint.rest.translation = vector3(*field);
  if (const auto field = node.find("scale")) joint.rest.scale = vector3(*field);
  if (const auto field = node.find("rotation")) {
    const std::vector<double> q = field->numbers(4);
    joint.rest.rotation = Quatd(q[3], q[0], q[1], q[2]);
    if (joint.rest.rotation.norm() < 1e-12) field->fail("is not a rotation");
    joint.rest.rotation.normalize();
  }
}

std::vector<std::vector<int>> read_children(const JsonField& nodes) {
  std::vector<std::vector<int>> children(nodes.size());
  std::vector<int> parent(nodes.size(), -1);
  for (size_t n = 0; n < nodes.size(); ++n) {
    const auto list = nodes[n].object().find("children");
    if (!list) continue;
    for (size_t i = 0; i < list->size(); ++i) {
      const int child = (*list)[i].index(nodes.size(), "nodes");
      if (parent[static_cast<size_t>(child)] >= 0)
        (*list)[i].fail(fmt::format("node {} has two parents", child));
      parent[static_cast<size_t>(child)] = static_cast<int>(n);
      children[n].push_back(child);
    }
  }
  return children;
}

// Nodes below `roots`, depth first, parents before children.
std::vector<int> depth_first(const std::vector<int>& roots,
                             const std::vector<std::vector<int>>& children) {
  std::vector<int> order;
  std::vector<bool> seen(children.size(), false);
  std::vector<int> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (seen[static_cast<size_t>(node)]) continue;
    seen[static_cast<size_t>(node)] = true;
    order.push_back(node);
    const auto& below = children[static_cast<size_t>(node)];
    stack.insert(stack.end(), below.rbegin(), below.rend());
  }
  return order;
}

std::vector<int> parentless(const std::vector<std::vector<int>>& children) {
  std::vector<bool> is_child(children.size(), false);
  for (const auto& list : children)
    for (const int child : list) is_child[static_cast<size_t>(child)] = true;
  std::vector<int> roots;
  for (size_t n = 0; n < children.size(); ++n)
    if (!is_child[n]) roots.push_back(static_cast<int>(n));
  return roots;
}

// The default scene's root nodes; every root of the file where it has no scene.
std::vector<int> scene_roots(const JsonField& root, size_t node_count,
                             const std::vector<int>& all) {
  const auto scenes = root.find("scenes");
  if (!scenes || scenes->size() == 0) return all;
  const auto chosen = root.find("scene");
  const JsonField scene =
      (*scenes)[chosen ? static_cast<size_t>(chosen->index(scenes->size(), "scenes")) : 0];
  std::vector<int> roots;
  if (const auto list = scene.find("nodes"))
    for (size_t i = 0; i < list->size(); ++i)
      roots.push_back((*list)[i].index(node_count, "nodes"));
  return roots;
}

}  // namespace

void read_gltf_nodes(GltfReading& reading) {
  const JsonField root = reading.document.fields();
  const auto found = root.find("nodes");
  if (!found || found->size() == 0) root.fail("has no nodes: nothing to load");
  const JsonField& nodes = *found;
  const std::vector<std::vector<int>> children = read_children(nodes);
  const std::vector<int> roots = parentless(children);
  const std::vector<int> order = depth_first(roots, children);
  if (order.size() != nodes.size()) {
    std::vector<bool> reached(nodes.size(), false);
    for (const int n : order) reached[static_cast<size_t>(n)] = true;
    const auto first = std::find(reached.begin(), reached.end(), false) - reached.begin();
    nodes[static_cast<size_t>(first)].fail("is part of a cycle: it is its own ancestor");
  }

  reading.joint_of_node.assign(nodes.size(), -1);
  auto& joints = reading.character.skeleton.joints;
  for (const int n : order) {
    const JsonField node = nodes[static_cast<size_t>(n)];
    Joint joint;
    const auto name = node.find("name");
    joint.name = name ? name->text() : fmt::format("node{}", n);
    joint.source_node = n;
    read_local_transform(node, joint);
    reading.joint_of_node[static_cast<size_t>(n)] = static_cast<int>(joints.size());
    joints.push_back(std::move(joint));
  }
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const int child : children[n])
      joints[static_cast<size_t>(reading.joint_of_node[static_cast<size_t>(child)])].parent =
          reading.joint_of_node[n];

  reading.node_order = depth_first(scene_roots(root, nodes.size(), roots), children);
  reading.rest = global_matrices(reading.character.skeleton, rest_pose(reading.character.skeleton));
}

}  // namespace supple
