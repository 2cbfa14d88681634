#include "supple/sim/surface_pieces.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/mesh/weld.h"
#include "supple/sim/flesh_skin.h"

namespace supple {
namespace {

// A region width that is still to be chosen.
constexpr int by_length = 0;

Vec3d vector_of(const Numbers3& numbers) { return Vec3d(numbers.data()); }

SurfaceParameters parameters_of(const SurfaceSettings& s) {
  SurfaceParameters p;
  p.region_width = s.region_width.value_or(by_length);
  p.stiffness = s.stiffness;
  p.damping = s.damping;
  p.support = s.support;
  p.keep_volume = s.keep_volume;
  p.spread = s.spread;
  p.inner = s.inner;
  p.thick_stiffness = s.thick_stiffness;
  p.thin_stiffness = s.thin_stiffness;
  p.volume_tolerance = s.volume_tolerance;
  p.plastic_yield = s.plastic_yield;
  p.plastic_creep = s.plastic_creep;
  p.plastic_limit = s.plastic_limit;
  return p;
}

// An object with the body's settings.
SurfacePiece usual_piece(const BodySettings& body) {
  SurfacePiece piece;
  piece.parameters = parameters_of(body.surface);
  piece.touch = {body.surface.friction, body.surface.gap, body.contact.self.value_or(true),
                 body.surface.firmness};
  piece.density = body.density.value_or(1000);
  piece.velocity = vector_of(body.velocity);
  piece.spin = vector_of(body.spin) * (std::numbers::pi / 180);
  return piece;
}

// What an entry of the scene's objects says otherwise.
void apply(const ObjectSettings& object, SurfacePiece& piece) {
  SurfaceParameters& p = piece.parameters;
  p.region_width = object.region_width.value_or(p.region_width);
  p.stiffness = object.stiffness.value_or(p.stiffness);
  p.damping = object.damping.value_or(p.damping);
  p.support = object.support.value_or(p.support);
  p.keep_volume = object.keep_volume.value_or(p.keep_volume);
  p.spread = object.spread.value_or(p.spread);
  p.inner = object.inner.value_or(p.inner);
  piece.touch.friction = object.friction.value_or(piece.touch.friction);
  piece.density = object.density;
  piece.velocity += vector_of(object.velocity);
  piece.spin += vector_of(object.spin) * (std::numbers::pi / 180);
  piece.start = object.start;
}

// Edges along a tenth of the longest side.
int usual_width(const TriangleMesh& mesh) {
  double sum = 0;
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c)
      sum += static_cast<double>((mesh.positions[static_cast<size_t>(t[c])] -
                                  mesh.positions[static_cast<size_t>(t[(c + 1) % 3])])
                                     .norm());
  const double edge = sum / (3 * static_cast<double>(mesh.triangles.size()));
  const double length = static_cast<double>(bounding_box(mesh.positions).sizes().maxCoeff());
  return edge > 0 ? std::clamp(static_cast<int>(std::lround(0.1 * length / edge)), 2, 8) : 2;
}

void refuse_others(const BodySettings& body, const std::string& file) {
  const auto refuse = [&](bool is_given, const char* field) {
    if (is_given) throw_input_error(file, field, "is not for bodies of type 'surface'");
  };
  refuse(!body.pulled.empty(), "body.pulled");
  refuse(!body.pokes.empty(), "body.pokes");
  refuse(!body.materials.empty(), "body.materials");
  refuse(body.dynamic == false, "body.dynamic");
  refuse(body.start == StartState::equilibrium, "body.start");
}

}  // namespace

SurfacePieces::SurfacePieces(const Character& character, const Scene& scene,
                             const std::string& file) {
  refuse_others(scene.body, file);
  point_of_vertex.assign(character.skin.positions.size(), -1);
  if (scene.placed.empty()) {
    FleshSkin skin(character);
    rigged = skin.rigged;
    point_of_vertex = skin.point_of_vertex;
    vertex_of_point = skin.vertex_of_point;
    points = static_cast<int32_t>(skin.mesh.positions.size());
    pieces.push_back(usual_piece(scene.body));
    pieces.back().mesh = std::move(skin.mesh);
    // The rig carries a character.
    if (rigged) pieces.back().parameters.support = 0;
  }
  for (size_t i = 0; i < scene.placed.size(); ++i) {
    const PlacedObject& placed = scene.placed[i];
    SurfacePiece piece = usual_piece(scene.body);
    if (placed.settings >= 0) apply(scene.objects[static_cast<size_t>(placed.settings)], piece);
    piece.first_point = points;
    const bool is_detailed = !placed.mesh.positions.empty();
    TriangleMesh mesh = placed.mesh;
    if (is_detailed) {
      piece.placed = static_cast<int>(i);
    } else {
      const auto first = character.skin.positions.begin() + placed.first_vertex;
      mesh.positions.assign(first, first + placed.vertices);
      for (int32_t t = placed.first_triangle; t < placed.first_triangle + placed.triangles; ++t)
        mesh.triangles.emplace_back(character.skin.triangles[static_cast<size_t>(t)].array() -
                                    placed.first_vertex);
    }
    const Weld weld = weld_by_position(mesh.positions);
    piece.mesh = welded_mesh(weld, mesh.positions, mesh.triangles);
    for (size_t v = 0; v < mesh.positions.size() && !is_detailed; ++v)
      point_of_vertex[static_cast<size_t>(placed.first_vertex) + v] =
          points + weld.point_of_vertex[v];
    for (const int32_t v : weld.vertex_of_point)
      vertex_of_point.push_back(is_detailed ? -1 : placed.first_vertex + v);
    points += static_cast<int32_t>(piece.mesh.positions.size());
    pieces.push_back(std::move(piece));
  }
  for (SurfacePiece& piece : pieces) {
    if (piece.mesh.triangles.empty())
      throw_input_error(file, "", "a body of type 'surface' needs triangles");
    if (piece.parameters.region_width == by_length)
      piece.parameters.region_width = usual_width(piece.mesh);
    if (!(piece.parameters.support > 0)) piece.touch.firmness = 0;
    const std::string where =
        piece.placed >= 0 || scene.placed.empty() ? "body.surface" : "objects";
    piece.parameters.check(fmt::format("{}: {}", file, where));
  }
}

std::vector<SurfaceObject> SurfacePieces::objects(std::vector<std::vector<float>>& masses) const {
  std::vector<SurfaceObject> result;
  masses.clear();
  for (const SurfacePiece& piece : pieces) {
    const TriangleMesh& mesh = piece.mesh;
    // Shells that enclose nothing weigh as if they were a fiftieth of their length thick.
    double volume = std::abs(signed_volume(mesh.positions, mesh.triangles));
    const double sheet = surface_area(mesh.positions, mesh.triangles) *
                         static_cast<double>(bounding_box(mesh.positions).sizes().maxCoeff()) / 50;
    volume = std::max(volume, 0.1 * sheet);
    const double mass = piece.density * volume / static_cast<double>(mesh.positions.size());
    masses.emplace_back(mesh.positions.size(),
                        static_cast<float>(mass > 1e-30 && std::isfinite(mass) ? mass : 1));
    result.push_back({mesh.positions, mesh.triangles, masses.back(), piece.parameters});
  }
  return result;
}

}  // namespace supple
