#include "supple/sim/objects.h"

#include <cmath>
#include <numbers>
#include <random>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr int64_t most_vertices = 1 << 24;

Vec3d vector_of(const Numbers3& numbers) { return Vec3d(numbers.data()); }

Vec3i counts_of(const ObjectSettings& settings) {
  return vector_of(settings.copies).array().round().cast<int>();
}

// A rotation like any other, always the same for a number [Shoemake 1992].
Quatd tumbled(int number) {
  std::mt19937 random(static_cast<unsigned>(number) + 1);
  const auto part = [&] { return static_cast<double>(random()) / 4294967296.0; };
  const double u = part(), a = 2 * std::numbers::pi * part(), b = 2 * std::numbers::pi * part();
  return Quatd(std::sqrt(1 - u) * std::sin(a), std::sqrt(1 - u) * std::cos(a),
               std::sqrt(u) * std::sin(b), std::sqrt(u) * std::cos(b));
}

void check_object(const ObjectSettings& settings, const ObjectModel& model, const std::string& file,
                  const std::string& here) {
  for (const double count : settings.copies)
    if (count != std::floor(count) || !(count >= 1))
      throw_input_error(file, here + ".copies",
                        fmt::format("{} is no whole number from 1 on", count));
  if (!(vector_of(settings.turn.axis).stableNorm() > 0))
    throw_input_error(file, here + ".turn.axis", "must not be 0 0 0");
  if (model.shown.skin.triangles.empty())
    throw_input_error(file, here + ".file", "has no triangles");
}

// Values of an attribute for vertices that have none of it.
float missing_value(const std::string& name) { return name.starts_with("COLOR") ? 1.0f : 0.0f; }

// Adds the attributes of a copy, and what is missing on either side.
void add_attributes(const Character& from, size_t before, Character& to) {
  const size_t added = from.skin.positions.size();
  for (const VertexAttribute& own : from.attributes) {
    if (to.attribute(own.name) != nullptr) continue;
    const auto numbers = before * static_cast<size_t>(own.components);
    to.attributes.push_back(
        {own.name, own.components, std::vector<float>(numbers, missing_value(own.name))});
  }
  for (VertexAttribute& all : to.attributes) {
    const VertexAttribute* own = from.attribute(all.name);
    if (own != nullptr && own->components == all.components)
      all.values.insert(all.values.end(), own->values.begin(), own->values.end());
    else
      all.values.resize(all.values.size() + added * static_cast<size_t>(all.components),
                        missing_value(all.name));
  }
}

// Adds a copy's mesh and parts, and says where they are.
PlacedObject add_copy(const ObjectModel& model, const Affine& place, int copy, Character& to) {
  const Character& from = model.shown;
  PlacedObject placed;
  placed.first_vertex = static_cast<int32_t>(to.skin.positions.size());
  placed.vertices = static_cast<int32_t>(from.skin.positions.size());
  placed.first_triangle = static_cast<int32_t>(to.skin.triangles.size());
  placed.triangles = static_cast<int32_t>(from.skin.triangles.size());
  const auto moved = [&](const Vec3f& p) {
    return Vec3f((place * p.cast<double>()).cast<float>());
  };
  add_attributes(from, to.skin.positions.size(), to);
  for (const Vec3f& p : from.skin.positions) to.skin.positions.push_back(moved(p));
  for (const Vec3i& t : from.skin.triangles)
    to.skin.triangles.emplace_back(t.array() + placed.first_vertex);
  for (Part part : from.parts) {
    part.name += fmt::format("_{}", copy + 1);
    part.joint = -1;
    part.rigid = false;
    part.vertices.first += placed.first_vertex;
    part.triangles.first += placed.first_triangle;
    to.parts.push_back(std::move(part));
  }
  placed.mesh = model.coarse;
  for (Vec3f& p : placed.mesh.positions) p = moved(p);
  return placed;
}

}  // namespace

Affine placement(const ObjectSettings& settings, const Box3f& box, int copy) {
  const Vec3i counts = counts_of(settings);
  const Vec3d step =
      Vec3i(copy % counts[0], copy / counts[0] % counts[1], copy / counts[0] / counts[1])
          .cast<double>();
  const Vec3d axis = vector_of(settings.turn.axis).stableNormalized();
  const Vec3d about = vector_of(settings.turn.about);
  Affine place = Affine::Identity();
  place.translate(vector_of(settings.at) + step.cwiseProduct(vector_of(settings.apart)));
  if (settings.tumble) {
    // About the middle, after the turn.
    const Vec3d middle = settings.scale * box.center().cast<double>();
    place.translate(middle).rotate(tumbled(copy)).translate(-middle);
  }
  place.translate(about)
      .rotate(Eigen::AngleAxisd(settings.turn.angle * std::numbers::pi / 180, axis))
      .translate(-about);
  place.scale(settings.scale);
  return place;
}

Character pack_objects(Scene& scene, std::span<const ObjectModel> models, const std::string& file) {
  Character packed;
  packed.name = scene.name.empty() ? "objects" : scene.name;
  scene.placed.clear();
  for (size_t i = 0; i < scene.objects.size(); ++i) {
    const ObjectSettings& settings = scene.objects[i];
    const std::string here = fmt::format("objects[{}]", i);
    check_object(settings, models[i], file, here);
    const Box3f box = bounding_box(models[i].shown.skin.positions);
    const Vec3d counts = vector_of(settings.copies);
    const double total = counts.prod() * static_cast<double>(models[i].shown.skin.positions.size());
    if (!(total + static_cast<double>(packed.skin.positions.size()) < most_vertices))
      throw_input_error(file, here + ".copies",
                        fmt::format("more than {} vertices in all", most_vertices));
    for (int copy = 0; copy < static_cast<int>(counts.prod()); ++copy) {
      scene.placed.push_back(add_copy(models[i], placement(settings, box, copy), copy, packed));
      scene.placed.back().settings = static_cast<int>(i);
    }
  }
  bind_rigidly(packed);
  return packed;
}

}  // namespace supple
