#include "supple/contact/collider.h"

#include <cmath>

#include "supple/core/error.h"

namespace supple {
namespace {

// The scale of a motion; throws where it is none of rotation, shift and one scale.
double scale_of(const Affine& motion) {
  const Mat3d& linear = motion.linear();
  if (!motion.matrix().allFinite())
    throw_input_error("collider", "motion", "is not a finite number");
  const double scale = std::sqrt(linear.squaredNorm() / 3);
  if (!(scale > 0)) throw_input_error("collider", "motion", "has the scale 0");
  const Mat3d turn = linear / scale;
  if ((turn.transpose() * turn - Mat3d::Identity()).cwiseAbs().maxCoeff() > 1e-3)
    throw_input_error("collider", "motion",
                      "stretches or shears; rotations, shifts and one scale are possible");
  return scale;
}

void check_option(const char* field, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw_input_error("collider", field, fmt::format("{}; 0 or more is needed", value));
}

}  // namespace

Collider::Collider(ColliderShape shape, const ColliderOptions& options)
    : m_shape(std::move(shape)), m_options(options) {
  check_shape(m_shape);
  check_option("friction", options.friction);
  check_option("thickness", options.thickness);
}

void Collider::set_motion(const Affine& before, const Affine& now, double dt) {
  scale_of(before);
  const double scale = scale_of(now);
  check_option("dt", dt);
  m_scale = scale;
  m_before = before;
  m_now = now;
  m_step = now * before.inverse();
  m_moves = dt > 0 && before.matrix() != now.matrix();
  m_to_shape = now.inverse();
  m_turn = now.linear() / scale;
  m_rate = dt > 0 ? 1 / dt : 0;
}

Vec3d Collider::moved_along(const Vec3d& world_point_before) const {
  return m_moves ? m_step * world_point_before : world_point_before;
}

double Collider::distance(const Vec3d& world_point) const {
  const Vec3d point = m_to_shape * world_point;
  const double own = std::visit([&](const auto& shape) { return shape.distance(point); }, m_shape);
  return m_scale * own - m_options.thickness;
}

double Collider::inaccuracy() const {
  const auto* level_set = std::get_if<LevelSet>(&m_shape);
  return level_set ? m_scale * level_set->inaccuracy() : 0;
}

std::optional<RigidContact> Collider::test(const Vec3d& world_point) const {
  const double away = distance(world_point);
  if (!(away < 0)) return std::nullopt;
  const Vec3d point = m_to_shape * world_point;
  RigidContact contact;
  contact.depth = -away;
  contact.normal =
      (m_turn * std::visit([&](const auto& shape) { return shape.normal(point); }, m_shape))
          .normalized();
  contact.surface = world_point + contact.depth * contact.normal;
  // v = (x(t) - x(t - dt)) / dt of the matter that is at the surface now.
  const Vec3d matter = m_to_shape * contact.surface;
  contact.velocity = m_rate * (m_now * matter - m_before * matter);
  return contact;
}

}  // namespace supple
