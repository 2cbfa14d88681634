#include "modelling/actor.h"

#include "modelling/surface.h"
#include "supple/core/error.h"

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

// Number of a joint's bind.
int32_t bind_of(const Character& character, int joint) {
  for (size_t b = 0; b < character.binds.size(); ++b)
    if (character.binds[b].joint == joint) return static_cast<int32_t>(b);
  throw Error(ErrorKind::usage, fmt::format("joint {} carries no flesh", joint));
}

}  // namespace

Character build(const Actor& actor, int vertices) {
  Character character;
  character.name = actor.name;
  character.skeleton = actor.armature.skeleton();
  character.clips = actor.clips;
  VertexAttribute colours{"COLOR_0", 3, {}};
  for (const Piece& piece : actor.pieces) {
    add_piece(piece, static_cast<int>(piece.share * vertices), character, colours);
    const Part& part = character.parts.back();
    if (piece.joint.empty()) {
      const AutoWeights made =
          automatic_weights(mesh_of(character, part), character.skeleton, actor.weighting);
      character.binds = made.binds;
      for (size_t v = 0; v < made.weights.vertices(); ++v)
        character.weights.add_vertex(made.weights.of(v), 0);
    } else {
      const Influence whole[] = {{bind_of(character, actor.armature.joint(piece.joint)), 1.0f}};
      for (int32_t v = 0; v < part.vertices.count; ++v) character.weights.add_vertex(whole, 0);
    }
  }
  character.attributes.push_back(std::move(colours));
  return character;
}

}  // namespace supple::modelling
