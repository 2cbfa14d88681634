#include "supple/sim/flesh_shown.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

#include "supple/core/parallel.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

// How deep the skin was before it was pushed out: of the contact points, and none elsewhere; each
// vertex shows the deepest point of its cell.
std::vector<float> contact_map(const FleshView& view) {
  std::vector<float> nodes(view.model.rest.size(), 0);
  const auto points = view.contact->points();
  for (size_t p = 0; p < points.size(); ++p) {
    const float depth = view.contact->depths()[p];
    if (depth <= 0) continue;
    for (const int32_t node : view.contact->ties()[p].nodes)
      nodes[static_cast<size_t>(node)] = std::max(nodes[static_cast<size_t>(node)], depth);
  }
  std::vector<float> of_points(view.model.embedding.size());
  view.model.embedding.interpolate(nodes, of_points);
  std::vector<float> map(view.character.skin.positions.size(), 0);
  for (size_t v = 0; v < map.size(); ++v) {
    const int32_t point = view.model.skin.point_of_vertex[v];
    if (point >= 0) map[v] = std::max(0.0f, of_points[static_cast<size_t>(point)]);
  }
  return map;
}

// The mean over all matter of measure(how much of its cell's volume is left).
template <class Measure>
double mean_over_matter(const FleshModel& model, std::span<const Vec3d> nodes,
                        const Measure& measure) {
  const auto& corners = model.mesh.corners;
  return parallel_reduce(
      corners.size(), 1024, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t c = begin; c < end; ++c)
          sum += model.filled[c] *
                 measure(cell_gradient(nodes, corners[c], model.solid.spacing).determinant());
        return sum;
      },
      std::plus<>());
}

}  // namespace

std::vector<Vec3f> carried_skin(const FleshModel& model, std::span<const Vec3d> nodes,
                                const FleshContact* contact) {
  std::vector<Vec3f> points(model.embedding.size());
  if (model.smooth)
    model.smooth->interpolate(nodes, points);
  else
    model.embedding.interpolate(nodes, points);
  if (contact) contact->clear_skin(nodes, points);
  return points;
}

void show_skin(const FleshView& view, BodyFrame& out) {
  const FleshModel& model = view.model;
  const std::span<const float> flesh =
      model.attachment ? model.attachment->flesh() : std::span<const float>();
  std::vector<Vec3f> shaped = view.character.skin.positions;
  add_blend_shapes(view.character.shapes, view.now.pose.shape_weights, shaped);
  out.positions.resize(shaped.size());
  parallel_for(shaped.size(), 2048, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      const int32_t point = model.skin.point_of_vertex[v];
      if (point < 0) {
        out.positions[v] = view.plain[v];
        continue;
      }
      const auto p = static_cast<size_t>(point);
      out.positions[v] = view.points[p];
      const Vec3f added = shaped[v] - view.character.skin.positions[v];
      if (!added.isZero(0))
        out.positions[v] +=
            (cell_gradient(view.nodes, model.embedding.ties()[p].nodes, model.solid.spacing) *
             added.cast<double>())
                .cast<float>();
      if (!flesh.empty())
        out.positions[v] = view.plain[v] + flesh[p] * (out.positions[v] - view.plain[v]);
    }
  });
}

void show_extras(const FleshView& view, std::span<const float> stretch, BodyFrame& out) {
  const FleshModel& model = view.model;
  // Stretch as the mean of the cells around a node.
  std::vector<float> of_nodes(view.nodes.size(), 0), shares(view.nodes.size(), 0);
  for (size_t c = 0; c < model.mesh.cells.size(); ++c)
    for (const int32_t node : model.mesh.corners[c]) {
      of_nodes[static_cast<size_t>(node)] += stretch[c] - 1;
      shares[static_cast<size_t>(node)] += 1;
    }
  for (size_t n = 0; n < of_nodes.size(); ++n) of_nodes[n] /= shares[n];
  std::vector<float> of_points(model.embedding.size());
  model.embedding.interpolate(of_nodes, of_points);
  std::vector<float> map(out.positions.size(), 0), distance(out.positions.size(), 0);
  for (size_t v = 0; v < map.size(); ++v) {
    const int32_t point = model.skin.point_of_vertex[v];
    if (point >= 0) map[v] = of_points[static_cast<size_t>(point)];
    if (!view.plain.empty()) distance[v] = (out.positions[v] - view.plain[v]).norm();
  }
  std::vector<Vec3f> shown;
  shown.reserve(view.nodes.size());
  for (const Vec3d& p : view.nodes) shown.push_back(p.cast<float>());
  Chunk extras;
  extras.add<float>("map/stretch", map);
  if (model.attachment) extras.add<float>("map/distance", distance);
  if (view.contact) extras.add<float>("map/contact", contact_map(view));
  extras.add<float>("mesh/nodes", as_floats(shown), 3);
  if (view.contact && !view.contact->colliders().triangles().empty())
    extras.add<float>(
        "collider/vertices",
        as_floats(view.contact->colliders().vertices({view.now.moment, view.now.joints})), 3);
  for (const ChunkArray& array : extras.arrays()) out.extras.push_back(array);
}

std::vector<ChunkArray> show_once(const FleshModel& model, const FleshContact* contact) {
  const auto& corners = model.mesh.corners;
  Chunk chunk;
  chunk.add<int32_t>("mesh/hexahedra",
                     std::span<const int32_t>(corners.data()->data(), 8 * corners.size()), 8);
  if (contact && !contact->colliders().triangles().empty()) {
    const std::vector<Vec3i>& triangles = contact->colliders().triangles();
    chunk.add<int32_t>("collider/triangles",
                       std::span<const int32_t>(triangles.data()->data(), 3 * triangles.size()), 3);
  }
  return chunk.arrays();
}

double measure_cells(const FleshModel& model, std::span<const Vec3d> nodes,
                     std::span<float> stretch) {
  const auto& corners = model.mesh.corners;
  return parallel_reduce(
      corners.size(), 1024, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t c = begin; c < end; ++c) {
          const Mat3d f = cell_gradient(nodes, corners[c], model.solid.spacing);
          Eigen::SelfAdjointEigenSolver<Mat3d> solver;
          solver.computeDirect(f.transpose() * f, Eigen::EigenvaluesOnly);
          stretch[c] = static_cast<float>(std::sqrt(std::max(0.0, solver.eigenvalues()[2])));
          if (!(f.determinant() > 0)) sum += model.filled[c];
        }
        return sum;
      },
      std::plus<>());
}

double inverted_part(const FleshModel& model, std::span<const Vec3d> nodes) {
  return mean_over_matter(model, nodes, [](double volume) { return volume > 0 ? 0.0 : 1.0; });
}

double volume_part(const FleshModel& model, std::span<const Vec3d> nodes) {
  return mean_over_matter(model, nodes, [](double volume) { return volume; });
}

}  // namespace supple
