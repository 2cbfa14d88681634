#include "supple/sim/shape.h"

#include <algorithm>
#include <numbers>

#include "supple/core/error.h"
#include "supple/mesh/primitives.h"

namespace supple {
namespace {

constexpr double finest = 1e-3;  // edges of the skin, relative to the longest extent

void check_tube(const ShapeSettings& shape, const std::string& file) {
  if (!(shape.radius < shape.ring))
    throw_input_error(file, "character.shape.radius",
                      fmt::format("{} is not less than the ring's {}", shape.radius, shape.ring));
  if (!(shape.bore < shape.radius))
    throw_input_error(file, "character.shape.bore",
                      fmt::format("{} is not less than the radius {}", shape.bore, shape.radius));
}

TriangleMesh surface_of(const ShapeSettings& shape, double edge) {
  const Vec3d size(shape.size.data());
  if (shape.type == ShapeType::box) return box_surface(size, edge);
  if (shape.type == ShapeType::sphere) return sphere_surface(shape.radius, edge);
  return tube_surface({shape.ring, shape.radius, shape.bore, shape.angle * std::numbers::pi / 180},
                      edge);
}

double longest_extent(const ShapeSettings& shape) {
  if (shape.type == ShapeType::box) return Vec3d(shape.size.data()).maxCoeff();
  if (shape.type == ShapeType::sphere) return 2 * shape.radius;
  return std::max(shape.ring * shape.angle * std::numbers::pi / 180, 2 * shape.radius);
}

const char* name_of(ShapeType type) {
  return type == ShapeType::box ? "box" : type == ShapeType::sphere ? "sphere" : "tube";
}

}  // namespace

Character character_from_shape(const ShapeSettings& shape, const std::string& file) {
  if (shape.type == ShapeType::tube) check_tube(shape, file);
  const double longest = longest_extent(shape);
  const double edge = shape.edge > 0 ? shape.edge : longest / 48;
  if (edge < finest * longest)
    throw_input_error(
        file, "character.shape.edge",
        fmt::format("{} is too short; at least {:.4g} is possible", edge, finest * longest));
  Character character;
  character.name = name_of(shape.type);
  character.skin = surface_of(shape, edge);
  const Vec3f centre = Vec3d(shape.centre.data()).cast<float>();
  for (Vec3f& p : character.skin.positions) p += centre;
  Part part;
  part.name = character.name;
  part.vertices = {0, static_cast<int32_t>(character.skin.positions.size())};
  part.triangles = {0, static_cast<int32_t>(character.skin.triangles.size())};
  character.parts.push_back(part);
  bind_rigidly(character);
  return character;
}

}  // namespace supple
