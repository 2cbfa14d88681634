// Skin weights for the inside of a body: from the skin's vertices to all nodes of a lattice.
#pragma once

#include "supple/mesh/lattice_mesh.h"
#include "supple/rig/skin_weights.h"

namespace supple {

/// Numbers given per point of a skin, carried to all nodes: near the skin the mean of the points in
/// the cells around, further in the mean of the neighbours. `channels` numbers per point and node.
std::vector<float> spread_to_nodes(const SolidLattice& solid, const LatticeMesh& mesh,
                                   std::span<const Vec3f> points, std::span<const float> values,
                                   size_t channels);

/// Weights of the nodes of a lattice from those of points of a skin, of `binds` joints; at most
/// eight per node.
SkinWeights node_weights(const SolidLattice& solid, const LatticeMesh& mesh,
                         std::span<const Vec3f> points, const SkinWeights& weights, size_t binds);

}  // namespace supple
