#include "modelling/actor.h"

#include "modelling/surface.h"

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

// TEMPORARY stand-in until automatic_weights is there.
SkinWeights weights_of(const TriangleMesh& mesh, const Skeleton& skeleton) {
  const auto globals = global_matrices(skeleton, rest_pose(skeleton));
  const size_t n = mesh.positions.size(), b = skeleton.size();
  std::vector<Vec3d> tips(b);
  for (size_t j = 0; j < b; ++j) tips[j] = globals[j].translation();
  std::vector<int> kids(b, 0);
  for (size_t j = 0; j < b; ++j) {
    const int p = skeleton.joints[j].parent;
    if (p >= 0 && kids[static_cast<size_t>(p)]++ == 0) tips[static_cast<size_t>(p)] = globals[j].translation();
  }
  Eigen::MatrixXf w(n, b);
  for (size_t v = 0; v < n; ++v) {
    const Vec3d p = mesh.positions[v].cast<double>();
    double best = 1e9;
    std::vector<double> d(b);
    for (size_t j = 0; j < b; ++j) {
      const Vec3d a = globals[j].translation(), e = tips[j] - a;
      double t = e.squaredNorm() > 0 ? std::clamp((p - a).dot(e) / e.squaredNorm(), 0.0, 1.0) : 0;
      d[j] = (p - a - t * e).norm();
      best = std::min(best, d[j]);
    }
    for (size_t j = 0; j < b; ++j) w(v, j) = static_cast<float>(std::pow(best / d[j], 6));
    w.row(v) /= w.row(v).sum();
  }
  std::vector<std::vector<int>> near(n);
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c) near[static_cast<size_t>(t[c])].push_back(t[(c + 1) % 3]);
  for (int round = 0; round < 30; ++round) {
    Eigen::MatrixXf next = w;
    for (size_t v = 0; v < n; ++v) {
      for (int u : near[v]) next.row(v) += w.row(u);
      next.row(v) /= 1.0f + near[v].size();
    }
    w = next;
  }
  SkinWeights result;
  for (size_t v = 0; v < n; ++v) {
    std::vector<Influence> all;
    for (size_t j = 0; j < b; ++j) all.push_back({static_cast<int32_t>(j), w(v, j)});
    std::sort(all.begin(), all.end(), [](auto& x, auto& y) { return x.weight > y.weight; });
    all.resize(4);
    result.add_vertex(all, 0);
  }
  return result;
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

}  // namespace

Character build(const Actor& actor, int vertices) {
  Character character;
  character.name = actor.name;
  character.skeleton = actor.armature.skeleton();
  character.clips = actor.clips;
  const std::vector<Affine> globals =
      global_matrices(character.skeleton, rest_pose(character.skeleton));
  for (size_t j = 0; j < globals.size(); ++j)
    character.binds.push_back({static_cast<int>(j), globals[j].inverse()});
  VertexAttribute colours{"COLOR_0", 3, {}};
  for (const Piece& piece : actor.pieces) {
    add_piece(piece, static_cast<int>(piece.share * vertices), character, colours);
    const Part& part = character.parts.back();
    if (piece.joint.empty()) {
      const SkinWeights weights = weights_of(mesh_of(character, part), character.skeleton);
      for (size_t v = 0; v < weights.vertices(); ++v) character.weights.add_vertex(weights.of(v), 0);
    } else {
      const Influence whole[] = {{actor.armature.joint(piece.joint), 1.0f}};
      for (int32_t v = 0; v < part.vertices.count; ++v) character.weights.add_vertex(whole, 0);
    }
  }
  character.attributes.push_back(std::move(colours));
  return character;
}

}  // namespace supple::modelling
