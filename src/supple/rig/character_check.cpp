// Checks of a character that came from outside: every index, order, count and number.
#include <cmath>

#include "supple/core/error.h"
#include "supple/rig/character_chunk.h"

namespace supple {
namespace {

// Refuses what is wrong with one file's character.
class Checker {
 public:
  explicit Checker(std::string_view file) : m_file(file) {}

  void index(int64_t value, size_t count, std::string_view field, bool may_be_none = false) const {
    if (value >= (may_be_none ? -1 : 0) && value < static_cast<int64_t>(count)) return;
    throw_input_error(
        m_file, field,
        fmt::format("index {} is outside 0..{}", value, static_cast<int64_t>(count) - 1));
  }

  void that(bool condition, std::string_view field, std::string_view problem) const {
    if (!condition) throw_input_error(m_file, field, problem);
  }

  template <class Numbers>
  void finite(const Numbers& numbers, std::string_view field) const {
    for (const auto& number : numbers)
      if (!std::isfinite(number)) throw_input_error(m_file, field, "a number is not finite");
  }

  void finite(const Affine& matrix, std::string_view field) const {
    that(matrix.matrix().allFinite(), field, "a number is not finite");
  }

  void finite(const std::vector<Vec3f>& points, std::string_view field) const {
    for (const Vec3f& point : points) that(point.allFinite(), field, "a number is not finite");
  }

 private:
  std::string_view m_file;
};

void check_skeleton(const Checker& check, const Skeleton& skeleton) {
  for (size_t j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[j];
    check.index(joint.parent, j, "joint parent", true);
    const Transform& rest = joint.rest;
    check.that(rest.translation.allFinite() && rest.rotation.coeffs().allFinite() &&
                   rest.scale.allFinite(),
               "joint rest", "a number is not finite");
    check.that(rest.rotation.squaredNorm() > 0, "joint rest", "a rotation is zero");
    if (joint.sheared) check.finite(*joint.sheared, "joint matrix");
  }
}

void check_range(const Checker& check, const Range& range, size_t count, std::string_view field) {
  check.that(range.first >= 0 && range.count >= 0 &&
                 int64_t{range.first} + range.count <= static_cast<int64_t>(count),
             field, fmt::format("{} + {} lies outside 0..{}", range.first, range.count, count));
}

void check_skin(const Checker& check, const Character& character) {
  const size_t vertices = character.skin.positions.size();
  check.finite(character.skin.positions, "position");
  for (const Vec3i& triangle : character.skin.triangles)
    for (int k = 0; k < 3; ++k) check.index(triangle[k], vertices, "triangle");
  for (const Part& part : character.parts) {
    check.index(part.joint, character.skeleton.size(), "part joint", true);
    check_range(check, part.vertices, vertices, "part vertices");
    check_range(check, part.triangles, character.skin.triangles.size(), "part triangles");
  }
  for (const VertexAttribute& attribute : character.attributes) {
    check.that(attribute.components > 0, "attribute", "needs at least one component");
    check.that(attribute.values.size() == vertices * static_cast<size_t>(attribute.components),
               "attribute", "has not one value per vertex and component");
    check.finite(attribute.values, "attribute");
  }
}

void check_weights(const Checker& check, const Character& character) {
  for (const Bind& bind : character.binds) {
    check.index(bind.joint, character.skeleton.size(), "bind joint");
    check.finite(bind.rest_to_joint, "bind matrix");
  }
  const SkinWeights& weights = character.weights;
  check.that(!weights.offsets.empty() && weights.offsets.front() == 0, "weight offsets",
             "must start at 0");
  check.that(weights.vertices() == 0 || weights.vertices() == character.skin.positions.size(),
             "weight offsets", "one per vertex is needed");
  for (size_t v = 0; v < weights.vertices(); ++v)
    check.that(weights.offsets[v] <= weights.offsets[v + 1], "weight offsets", "must not fall");
  check.that(static_cast<size_t>(weights.offsets.back()) == weights.influences.size(),
             "weight offsets", "must end at the number of influences");
  for (const Influence& influence : weights.influences) {
    check.index(influence.bind, character.binds.size(), "weight bind");
    check.that(std::isfinite(influence.weight) && influence.weight >= 0, "weight",
               "must be zero or more");
  }
}

void check_shapes(const Checker& check, const Character& character) {
  for (const BlendShape& shape : character.shapes) {
    check.that(shape.vertices.size() == shape.offsets.size(), "shape",
               "has not one offset per vertex");
    for (const int32_t vertex : shape.vertices)
      check.index(vertex, character.skin.positions.size(), "shape vertex");
    check.finite(shape.offsets, "shape offset");
    check.that(std::isfinite(shape.rest_weight), "shape rest weight", "is not finite");
  }
}

void check_channel(const Checker& check, const Channel& channel, const Character& character) {
  const size_t per_key = channel.interpolation == Interpolation::cubic_spline ? 3 : 1;
  check.that(
      channel.width > 0 && channel.values.size() ==
                               channel.times.size() * static_cast<size_t>(channel.width) * per_key,
      "channel", "has not one value per key and component");
  if (channel.target == ChannelTarget::shape_weights) {
    check.that(channel.first_shape >= 0 && int64_t{channel.first_shape} + channel.width <=
                                               static_cast<int64_t>(character.shapes.size()),
               "channel shapes", "lie outside the character's shapes");
  } else {
    check.index(channel.joint, character.skeleton.size(), "channel joint");
    check.that(channel.width == (channel.target == ChannelTarget::rotation ? 4 : 3), "channel",
               fmt::format("has {} components", channel.width));
  }
  check.finite(channel.times, "channel times");
  check.finite(channel.values, "channel values");
  for (size_t k = 1; k < channel.times.size(); ++k)
    check.that(channel.times[k - 1] < channel.times[k], "channel times", "must rise");
}

}  // namespace

void check_character(const Character& character, std::string_view file) {
  const Checker check(file);
  check_skeleton(check, character.skeleton);
  check_skin(check, character);
  check_weights(check, character);
  check_shapes(check, character);
  for (const Clip& clip : character.clips) {
    check.that(std::isfinite(clip.rate) && clip.rate >= 0, "clip rate", "must be zero or more");
    for (const Channel& channel : clip.channels) check_channel(check, channel, character);
  }
}

}  // namespace supple
