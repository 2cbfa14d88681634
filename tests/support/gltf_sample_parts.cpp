#include "support/gltf_sample_parts.h"

#include <cmath>
#include <numeric>

namespace supple::test {

using nlohmann::json;

double bell(double x, double centre, double width) {
  const double d = (x - centre) / width;
  return std::exp(-d * d);
}

void add_influences(GltfBuilder& builder, json& attributes,
                    const std::vector<std::vector<double>>& weights, Component joint_component) {
  std::vector<double> stored_joints, stored_weights;
  for (const std::vector<double>& of_vertex : weights) {
    const double sum = std::accumulate(of_vertex.begin(), of_vertex.end(), 0.0);
    double kept = 0;
    for (const double w : of_vertex) kept += w < sum / 200 ? 0 : w;
    for (size_t i = 0; i < 4; ++i) {
      const bool used = i < of_vertex.size() && of_vertex[i] >= sum / 200;
      stored_joints.push_back(used ? static_cast<double>(i) : 0);
      stored_weights.push_back(used ? of_vertex[i] / kept : 0);
    }
  }
  attributes["JOINTS_0"] =
      builder.add_accessor(stored_joints, vertex_format("VEC4", joint_component));
  attributes["WEIGHTS_0"] = builder.add_accessor(stored_weights, vertex_format("VEC4"));
}

int add_mesh(GltfBuilder& builder, const std::string& name, const json& attributes, int indices) {
  const json primitive = {{"attributes", attributes}, {"indices", indices}};
  return builder.add("meshes", {{"name", name}, {"primitives", json::array({primitive})}});
}

int add_skin(GltfBuilder& builder, const std::vector<int>& joints,
             const std::vector<Eigen::Matrix4d>& inverse_binds) {
  json skin = {{"joints", joints}};
  if (!inverse_binds.empty()) skin["inverseBindMatrices"] = builder.add_matrices(inverse_binds);
  return builder.add("skins", skin);
}

void set_roots(GltfBuilder& builder, const std::vector<int>& nodes) {
  builder.document["scenes"][0]["nodes"] = nodes;
}

GltfSample finish(const std::string& name, const GltfBuilder& builder) {
  return {name, make_glb(builder.document, builder.binary), builder.document, builder.binary};
}

}  // namespace supple::test
