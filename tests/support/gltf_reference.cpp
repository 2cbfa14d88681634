#include "support/gltf_reference.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/gltf_document.h"
#include "support/gltf_track.h"

namespace supple::test {
namespace {

using Eigen::Matrix4d;
using Eigen::Vector3d;
using nlohmann::json;

/// The movable state of a node: its TRS properties, and the weights of its mesh's morph targets.
struct NodeState {
  std::vector<double> translation{0, 0, 0}, rotation{0, 0, 0, 1}, scale{1, 1, 1}, weights;
};

struct Node {
  NodeState rest;
  bool has_matrix = false;
  Matrix4d matrix = Matrix4d::Identity();
  int parent = -1, mesh = -1, skin = -1;
  std::vector<int> children;
};

struct Primitive {
  std::vector<Vector3d> positions;
  std::vector<std::vector<Vector3d>> targets;
  std::vector<AccessorValues> joints, weights;  // the sets JOINTS_n, WEIGHTS_n
  size_t triangles = 0;
};

struct Skin {
  std::vector<int> joints;
  std::vector<Matrix4d> inverse_bind;
};

struct Channel {
  int node = 0;
  std::string path, interpolation;
  std::vector<double> times, values;
};

struct Animation {
  std::string name;
  std::vector<Channel> channels;
};

std::vector<Vector3d> to_points(const AccessorValues& values) {
  if (values.components != 3) throw std::runtime_error("positions must be VEC3");
  std::vector<Vector3d> points(values.count);
  for (size_t i = 0; i < values.count; ++i) {
    points[i] = {values(i, 0), values(i, 1), values(i, 2)};
  }
  return points;
}

/// A 4x4 matrix from its sixteen numbers, column by column.
Matrix4d to_matrix(const double* numbers) { return Eigen::Map<const Matrix4d>(numbers); }

Node read_node(const json& source) {
  Node node;
  node.mesh = source.value("mesh", -1);
  node.skin = source.value("skin", -1);
  node.children = source.value("children", std::vector<int>());
  node.has_matrix = source.contains("matrix");
  if (node.has_matrix) {
    const std::vector<double> numbers = source["matrix"];
    if (numbers.size() != 16) throw std::runtime_error("a node's matrix has 16 numbers");
    node.matrix = to_matrix(numbers.data());
  }
  node.rest.translation = source.value("translation", node.rest.translation);
  node.rest.rotation = source.value("rotation", node.rest.rotation);
  node.rest.scale = source.value("scale", node.rest.scale);
  return node;
}

/// Triangles of n vertices or indices drawn in a glTF mode (4: list, 5: strip, 6: fan).
size_t count_triangles(int mode, size_t n) {
  if (mode == 4) return n / 3;
  if (mode == 5 || mode == 6) return n < 3 ? 0 : n - 2;
  return 0;
}

Primitive read_primitive(const GltfDocument& document, const json& source) {
  Primitive primitive;
  const json& attributes = source.at("attributes");
  const auto has = [&](const std::string& name) { return attributes.contains(name); };
  const auto values = [&](const std::string& name) {
    return document.accessor(attributes.at(name).get<size_t>());
  };
  if (has("POSITION")) primitive.positions = to_points(values("POSITION"));
  for (int set = 0; has("JOINTS_" + std::to_string(set)); ++set) {
    primitive.joints.push_back(values("JOINTS_" + std::to_string(set)));
    primitive.weights.push_back(values("WEIGHTS_" + std::to_string(set)));
  }
  for (const json& target : source.value("targets", json::array())) {
    primitive.targets.push_back(
        target.contains("POSITION")
            ? to_points(document.accessor(target["POSITION"].get<size_t>()))
            : std::vector<Vector3d>(primitive.positions.size(), Vector3d::Zero()));
  }
  const size_t drawn = source.contains("indices")
                           ? document.accessor(source["indices"].get<size_t>()).count
                           : primitive.positions.size();
  primitive.triangles = count_triangles(source.value("mode", 4), drawn);
  return primitive;
}

Skin read_skin(const GltfDocument& document, const json& source) {
  Skin skin;
  skin.joints = source.at("joints").get<std::vector<int>>();
  skin.inverse_bind.assign(skin.joints.size(), Matrix4d::Identity());
  if (source.contains("inverseBindMatrices")) {
    const AccessorValues values = document.accessor(source["inverseBindMatrices"].get<size_t>());
    if (values.components != 16) throw std::runtime_error("inverse bind matrices must be MAT4");
    for (size_t j = 0; j < skin.joints.size(); ++j) {
      skin.inverse_bind[j] = to_matrix(&values.values.at(16 * j));
    }
  }
  return skin;
}

/// The channels that move a node; those without a node belong to extensions and are left out.
Animation read_animation(const GltfDocument& document, const json& source) {
  Animation animation;
  animation.name = source.value("name", "");
  for (const json& channel : source.at("channels")) {
    const json& target = channel.at("target");
    if (!target.contains("node")) continue;
    const json& sampler = source.at("samplers").at(channel.at("sampler").get<size_t>());
    animation.channels.push_back({target["node"], target.at("path"),
                                  sampler.value("interpolation", "LINEAR"),
                                  document.accessor(sampler.at("input").get<size_t>()).values,
                                  document.accessor(sampler.at("output").get<size_t>()).values});
  }
  return animation;
}

}  // namespace

struct GltfReference::Scene {
  std::vector<Node> nodes;
  std::vector<std::vector<Primitive>> meshes;
  std::vector<Skin> skins;
  std::vector<Animation> animations;
  std::vector<int> roots;  // of the default scene

  /// The nodes' states at a time of an animation (-1: as the file has them).
  std::vector<NodeState> states(int animation, double time) const {
    std::vector<NodeState> result;
    for (const Node& node : nodes) result.push_back(node.rest);
    if (animation < 0) return result;
    for (const Channel& channel : animations.at(static_cast<size_t>(animation)).channels) {
      NodeState& state = result.at(static_cast<size_t>(channel.node));
      const bool is_rotation = channel.path == "rotation";
      std::vector<double>* target = nullptr;
      if (channel.path == "translation") target = &state.translation;
      if (is_rotation) target = &state.rotation;
      if (channel.path == "scale") target = &state.scale;
      if (channel.path == "weights") target = &state.weights;
      if (!target) continue;
      if (target != &state.weights && nodes[static_cast<size_t>(channel.node)].has_matrix) {
        throw std::runtime_error("an animated node may not have a matrix");
      }
      *target = sample_gltf_track(channel.interpolation, is_rotation, target->size(), channel.times,
                                  channel.values, time);
    }
    return result;
  }

  /// T R S, or the node's matrix.
  Matrix4d local(size_t node, const NodeState& state) const {
    if (nodes[node].has_matrix) return nodes[node].matrix;
    const std::vector<double>&t = state.translation, &r = state.rotation, &s = state.scale;
    Eigen::Affine3d transform = Eigen::Affine3d::Identity();
    transform.translate(Vector3d(t.at(0), t.at(1), t.at(2)));
    transform.rotate(Eigen::Quaterniond(r.at(3), r.at(0), r.at(1), r.at(2)).normalized());
    transform.scale(Vector3d(s.at(0), s.at(1), s.at(2)));
    return transform.matrix();
  }

  /// The product of the local transforms from the root to the node.
  Matrix4d global(int node, const std::vector<NodeState>& states) const {
    Matrix4d result = Matrix4d::Identity();
    size_t depth = 0;
    for (int at = node; at >= 0; at = nodes[static_cast<size_t>(at)].parent) {
      if (++depth > nodes.size()) throw std::runtime_error("the node tree has a cycle");
      result = local(static_cast<size_t>(at), states.at(static_cast<size_t>(at))) * result;
    }
    return result;
  }

  /// The vertices of a primitive with its morph targets applied: p + sum of w_i d_i.
  static std::vector<Vector3d> morphed(const Primitive& primitive,
                                       const std::vector<double>& weights) {
    std::vector<Vector3d> points = primitive.positions;
    for (size_t target = 0; target < primitive.targets.size(); ++target) {
      for (size_t i = 0; i < points.size(); ++i) {
        points[i] += weights.at(target) * primitive.targets[target].at(i);
      }
    }
    return points;
  }

  /// Moves point i by the weighted mean of its joints' matrices; weights are divided by their sum.
  static Vector3d skinned(const Primitive& primitive, const std::vector<Matrix4d>& joint_matrices,
                          size_t i, const Vector3d& point) {
    Vector3d moved = Vector3d::Zero();
    double sum = 0;
    for (size_t set = 0; set < primitive.joints.size(); ++set) {
      for (size_t c = 0; c < 4; ++c) {
        const double weight = primitive.weights[set](i, c);
        const auto joint = static_cast<size_t>(primitive.joints[set](i, c));
        moved += weight * (joint_matrices.at(joint) * point.homogeneous()).head<3>();
        sum += weight;
      }
    }
    if (!(sum > 0)) throw std::runtime_error("a skinned vertex has no weight");
    return moved / sum;
  }

  std::vector<Matrix4d> joint_matrices(int skin, const std::vector<NodeState>& states) const {
    std::vector<Matrix4d> matrices;
    const Skin& source = skins.at(static_cast<size_t>(skin));
    for (size_t j = 0; j < source.joints.size(); ++j) {
      matrices.push_back(global(source.joints[j], states) * source.inverse_bind[j]);
    }
    return matrices;
  }

  /// Appends the parts of a node and of the nodes below it.
  void visit(int index, const std::vector<NodeState>& states, std::vector<Part>& parts) const {
    const Node& node = nodes.at(static_cast<size_t>(index));
    if (node.mesh >= 0) {
      const Matrix4d own = global(index, states);
      const std::vector<Matrix4d> joints =
          node.skin >= 0 ? joint_matrices(node.skin, states) : std::vector<Matrix4d>();
      const auto& primitives = meshes.at(static_cast<size_t>(node.mesh));
      for (size_t p = 0; p < primitives.size(); ++p) {
        Part part{index, node.mesh, static_cast<int>(p), {}, primitives[p].triangles};
        part.positions = morphed(primitives[p], states.at(static_cast<size_t>(index)).weights);
        const bool is_skinned = node.skin >= 0 && !primitives[p].joints.empty();
        for (size_t i = 0; i < part.positions.size(); ++i) {
          Vector3d& x = part.positions[i];
          x = is_skinned ? skinned(primitives[p], joints, i, x)
                         : Vector3d((own * x.homogeneous()).head<3>());
        }
        parts.push_back(std::move(part));
      }
    }
    for (const int child : node.children) visit(child, states, parts);
  }
};

std::shared_ptr<const GltfReference::Scene> GltfReference::build(const GltfDocument& document) {
  auto scene = std::make_shared<Scene>();
  const json& source = document.root();
  const auto list = [&](const char* name) { return source.value(name, json::array()); };
  std::vector<std::vector<double>> default_weights;
  for (const json& mesh : list("meshes")) {
    std::vector<Primitive>& primitives = scene->meshes.emplace_back();
    for (const json& p : mesh.at("primitives")) primitives.push_back(read_primitive(document, p));
    const std::vector<double> zeros(primitives.at(0).targets.size(), 0.0);
    default_weights.push_back(mesh.value("weights", zeros));
  }
  for (const json& skin : list("skins")) scene->skins.push_back(read_skin(document, skin));
  for (const json& node : list("nodes")) {
    Node& added = scene->nodes.emplace_back(read_node(node));
    if (added.mesh < 0) continue;
    added.rest.weights = node.value("weights", default_weights.at(static_cast<size_t>(added.mesh)));
  }
  for (size_t i = 0; i < scene->nodes.size(); ++i) {
    for (const int child : scene->nodes[i].children) {
      int& parent = scene->nodes.at(static_cast<size_t>(child)).parent;
      if (parent >= 0) throw std::runtime_error("a node has two parents");
      parent = static_cast<int>(i);
    }
  }
  for (const json& a : list("animations")) {
    scene->animations.push_back(read_animation(document, a));
  }
  if (source.contains("scenes")) {
    const json& chosen = source["scenes"].at(source.value("scene", size_t{0}));
    scene->roots = chosen.value("nodes", std::vector<int>());
  } else {
    for (size_t i = 0; i < scene->nodes.size(); ++i) {
      if (scene->nodes[i].parent < 0) scene->roots.push_back(static_cast<int>(i));
    }
  }
  return scene;
}

GltfReference::GltfReference(const std::filesystem::path& file)
    : m_scene(build(GltfDocument(file))) {}

GltfReference::GltfReference(std::span<const std::byte> bytes)
    : m_scene(build(GltfDocument(bytes))) {}

size_t GltfReference::animation_count() const { return m_scene->animations.size(); }

std::string GltfReference::animation_name(size_t animation) const {
  return m_scene->animations.at(animation).name;
}

double GltfReference::animation_start(size_t animation) const {
  double start = std::numeric_limits<double>::infinity();
  for (const Channel& channel : m_scene->animations.at(animation).channels) {
    start = std::min(start, channel.times.at(0));
  }
  return std::isfinite(start) ? start : 0;
}

double GltfReference::animation_end(size_t animation) const {
  double end = 0;
  for (const Channel& channel : m_scene->animations.at(animation).channels) {
    end = std::max(end, channel.times.back());
  }
  return end;
}

std::vector<Part> GltfReference::evaluate(int animation, double time) const {
  std::vector<Part> parts;
  const std::vector<NodeState> states = m_scene->states(animation, time);
  for (const int root : m_scene->roots) m_scene->visit(root, states, parts);
  return parts;
}

}  // namespace supple::test
