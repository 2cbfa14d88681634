#include "modelling/actor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "modelling/surface.h"
#include "supple/core/error.h"
#include "supple/math/smooth_step.h"

namespace supple::modelling {
namespace {

void add_piece(const Piece& piece, int vertices, Character& character, VertexAttribute& colours) {
  const TriangleMesh mesh =
      mesh_surface(piece.sculpture, cell_for_vertices(piece.sculpture, vertices));
  Part part;
  part.name = piece.name;
  part.vertices = {static_cast<int32_t>(character.skin.positions.size()),
                   static_cast<int32_t>(mesh.positions.size())};
  part.triangles = {static_cast<int32_t>(character.skin.triangles.size()),
                    static_cast<int32_t>(mesh.triangles.size())};
  for (const Vec3f& p : mesh.positions) {
    character.skin.positions.push_back(p);
    const Vec3f colour = piece.sculpture.colour(p.cast<double>()).cast<float>();
    colours.values.insert(colours.values.end(), colour.data(), colour.data() + 3);
  }
  for (const Vec3i& t : mesh.triangles)
    character.skin.triangles.push_back(t + Vec3i::Constant(part.vertices.first));
  character.parts.push_back(std::move(part));
}

TriangleMesh mesh_of(const Character& character, const Part& part) {
  TriangleMesh mesh;
  mesh.positions.assign(character.skin.positions.begin() + part.vertices.first,
                        character.skin.positions.begin() + part.vertices.end());
  for (int32_t t = part.triangles.first; t < part.triangles.end(); ++t)
    mesh.triangles.push_back(character.skin.triangles[static_cast<size_t>(t)] -
                             Vec3i::Constant(part.vertices.first));
  return mesh;
}

using VertexWeights = std::map<int32_t, double>;  // by bind

double difference(const VertexWeights& a, const VertexWeights& b) {
  double most = 0;
  for (const auto& [bind, weight] : a) {
    const auto other = b.find(bind);
    most = std::max(most, std::abs(weight - (other == b.end() ? 0 : other->second)));
  }
  for (const auto& [bind, weight] : b)
    if (!a.contains(bind)) most = std::max(most, weight);
  return most;
}

// Keeps the four strongest weights and makes them sum to one.
void keep_strongest(VertexWeights& weights) {
  std::vector<double> sorted;
  for (const auto& [bind, weight] : weights) sorted.push_back(weight);
  std::sort(sorted.rbegin(), sorted.rend());
  const double fifth = sorted.size() > 4 ? sorted[4] : 0;
  std::erase_if(weights, [&](const auto& entry) { return entry.second <= fifth; });
  double sum = 0;
  for (const auto& [bind, weight] : weights) sum += weight;
  for (auto& [bind, weight] : weights) weight /= sum;
}

std::set<size_t> with_neighbours(const std::set<size_t>& vertices,
                                 const std::vector<std::vector<size_t>>& neighbours) {
  std::set<size_t> result = vertices;
  for (const size_t v : vertices) result.insert(neighbours[v].begin(), neighbours[v].end());
  return result;
}

// Weights are made in a grid that may be coarser than what lies between two fingers. Where they
// change by more than `most` along an edge, vertices take the mean of themselves and their
// neighbours, until none does.
void soften(const TriangleMesh& mesh, double most, bool only_strongest,
            std::vector<VertexWeights>& weights) {
  std::vector<std::vector<size_t>> neighbours(weights.size());
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c)
      neighbours[static_cast<size_t>(t[c])].push_back(static_cast<size_t>(t[(c + 1) % 3]));
  std::vector<size_t> watched(weights.size());
  std::iota(watched.begin(), watched.end(), size_t{0});
  for (int round = 0; round < 60; ++round) {
    std::set<size_t> steep;
    for (const size_t v : watched)
      for (const size_t u : neighbours[v])
        if (difference(weights[v], weights[u]) > most) steep.insert({u, v});
    if (steep.empty()) break;
    // Neighbours too: between two that stay as they are, nothing gets less steep.
    const std::set<size_t> moving = with_neighbours(steep, neighbours);
    std::vector<VertexWeights> means;
    for (const size_t v : moving) {
      VertexWeights mean = weights[v];
      for (const size_t u : neighbours[v])
        for (const auto& [bind, weight] : weights[u]) mean[bind] += weight;
      for (auto& [bind, weight] : mean) weight /= 1.0 + static_cast<double>(neighbours[v].size());
      if (only_strongest) keep_strongest(mean);
      means.push_back(std::move(mean));
    }
    size_t next = 0;
    for (const size_t v : moving) weights[v] = std::move(means[next++]);
    const std::set<size_t> touched = with_neighbours(moving, neighbours);
    watched.assign(touched.begin(), touched.end());
  }
}

// Number of a joint's bind.
int32_t bind_of(const Character& character, int joint) {
  for (size_t b = 0; b < character.binds.size(); ++b)
    if (character.binds[b].joint == joint) return static_cast<int32_t>(b);
  throw Error(ErrorKind::usage, fmt::format("joint {} carries no flesh", joint));
}

// The bind of the joint on the other side, or the bind itself.
std::vector<int32_t> opposite_binds(const Character& character) {
  std::vector<int32_t> opposite;
  for (size_t b = 0; b < character.binds.size(); ++b) {
    std::string name = character.skeleton.joints[character.binds[b].joint].name;
    if (name.starts_with("left_"))
      name.replace(0, 4, "right");
    else if (name.starts_with("right_"))
      name.replace(0, 5, "left");
    opposite.push_back(bind_of(character, character.skeleton.find(name)));
  }
  return opposite;
}

// Vertices at mirrored places get mirrored weights, where solvers left them a little apart.
void symmetrise(const TriangleMesh& mesh, const std::vector<int32_t>& opposite,
                std::vector<VertexWeights>& weights) {
  using Place = std::array<float, 3>;
  std::map<Place, size_t> places;
  for (size_t v = 0; v < weights.size(); ++v) {
    const Vec3f& p = mesh.positions[v];
    places[{p[0] + 0.0f, p[1], p[2]}] = v;
  }
  for (size_t v = 0; v < weights.size(); ++v) {
    const Vec3f& p = mesh.positions[v];
    const auto found = places.find({0.0f - p[0], p[1], p[2]});
    if (p[0] < 0 || found == places.end()) continue;
    VertexWeights mean = weights[v];
    for (const auto& [bind, weight] : weights[found->second]) mean[opposite[bind]] += weight;
    keep_strongest(mean);
    VertexWeights image;
    for (const auto& [bind, weight] : mean) image[opposite[bind]] = weight;
    if (found->second == v)
      for (auto& [bind, weight] : image) weight = (weight + mean[bind]) / 2;
    weights[found->second] = image;
    if (found->second != v) weights[v] = std::move(mean);
  }
}

// The part of a vertex's weights that a grip takes over, 0 to 1 with a smooth seam.
double hold(const Grip& grip, const Vec3d& point) {
  double distance = grip.shape.distance(point);
  if (grip.mirrored)
    distance = std::min(distance, grip.shape.distance({-point[0], point[1], point[2]}));
  return smooth_step(1 - distance / grip.seam);
}

void apply_grip(const Grip& grip, int32_t bind, const TriangleMesh& mesh,
                std::vector<VertexWeights>& weights) {
  for (size_t v = 0; v < weights.size(); ++v) {
    const double part = hold(grip, mesh.positions[v].cast<double>());
    if (part == 0) continue;
    for (auto& [other, weight] : weights[v]) weight *= 1 - part;
    weights[v][bind] += part;
    std::erase_if(weights[v], [](const auto& entry) { return entry.second == 0; });
    keep_strongest(weights[v]);
  }
}

void add_smooth_weights(const Actor& actor, const Part& part, Character& character) {
  const TriangleMesh mesh = mesh_of(character, part);
  const AutoWeights made = automatic_weights(mesh, character.skeleton, actor.weighting);
  character.binds = made.binds;
  std::vector<VertexWeights> weights(mesh.positions.size());
  for (size_t v = 0; v < weights.size(); ++v)
    for (const Influence& influence : made.weights.of(v))
      weights[v][influence.bind] += double{influence.weight};
  // Dropping all but the strongest weights makes new steps, so the first goal is stricter.
  soften(mesh, 0.18, false, weights);
  for (VertexWeights& vertex : weights) keep_strongest(vertex);
  soften(mesh, 0.22, true, weights);
  for (const Grip& grip : actor.grips)
    apply_grip(grip, bind_of(character, actor.armature.joint(grip.joint)), mesh, weights);
  symmetrise(mesh, opposite_binds(character), weights);
  for (const VertexWeights& vertex : weights) {
    std::vector<Influence> influences;
    for (const auto& [bind, weight] : vertex)
      influences.push_back({bind, static_cast<float>(weight)});
    character.weights.add_vertex(influences, 0);
  }
}

}  // namespace

Character model(const Actor& actor, int vertices) {
  Character character;
  character.name = actor.name;
  VertexAttribute colours{"COLOR_0", 3, {}};
  for (const Piece& piece : actor.pieces)
    add_piece(piece, static_cast<int>(piece.share * vertices), character, colours);
  character.attributes.push_back(std::move(colours));
  return character;
}

Character build(const Actor& actor, int vertices) {
  Character character = model(actor, vertices);
  character.skeleton = actor.armature.skeleton();
  character.clips = actor.clips;
  for (size_t i = 0; i < actor.pieces.size(); ++i) {
    const Piece& piece = actor.pieces[i];
    const Part& part = character.parts[i];
    if (piece.joint.empty()) {
      add_smooth_weights(actor, part, character);
    } else {
      const Influence whole[] = {{bind_of(character, actor.armature.joint(piece.joint)), 1.0f}};
      for (int32_t v = 0; v < part.vertices.count; ++v) character.weights.add_vertex(whole, 0);
    }
  }
  return character;
}

Character sculpted_prop(const std::string& name, const Sculpture& sculpture, int vertices) {
  Actor actor;
  actor.name = name;
  actor.pieces.push_back({name, sculpture, 1, ""});
  return model(actor, vertices);
}

}  // namespace supple::modelling
