// What the test assets of gltf_samples.h are put together with.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/gltf_builder.h"
#include "support/gltf_samples.h"

namespace supple::test {

/// exp(-((x - centre) / width)^2).
double bell(double x, double centre, double width);

/// Adds JOINTS_0 and WEIGHTS_0 (float): up to four weights per vertex, of joints 0, 1, ..., scaled
/// to sum one. Weights below 1/200 of the sum are dropped.
void add_influences(GltfBuilder& builder, nlohmann::json& attributes,
                    const std::vector<std::vector<double>>& weights, Component joint_component);

/// Adds a mesh of one indexed primitive; returns its index.
int add_mesh(GltfBuilder& builder, const std::string& name, const nlohmann::json& attributes,
             int indices);

/// Adds a skin; returns its index. Without matrices it has no inverseBindMatrices.
int add_skin(GltfBuilder& builder, const std::vector<int>& joints,
             const std::vector<Eigen::Matrix4d>& inverse_binds);

/// Sets the root nodes of the first scene.
void set_roots(GltfBuilder& builder, const std::vector<int>& nodes);

/// The finished asset.
GltfSample finish(const std::string& name, const GltfBuilder& builder);

}  // namespace supple::test
