#include "supple/contact/collider_shapes.h"

#include <cmath>

#include "supple/core/error.h"

namespace supple {
namespace {

// A vector of unit length, or `other` when it has no direction.
Vec3d unit_or(const Vec3d& v, const Vec3d& other) {
  const Vec3d unit = v.stableNormalized();
  return unit.allFinite() && unit.squaredNorm() > 0.5 ? unit : other;
}

void check_length(const char* field, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw_input_error("collider", field, fmt::format("{} m; 0 or more is needed", value));
}

void check_finite(const char* field, const Vec3d& value) {
  if (!value.allFinite()) throw_input_error("collider", field, "is not a finite number");
}

// The part of a round cone a point is closest to: a plane through the axis, with the radial
// distance from the axis and the height above `a`.
struct ConeView {
  enum class Part { ball_a, side, ball_b } part = Part::ball_a;
  Vec3d axis = Vec3d::UnitY(), radial = Vec3d::UnitX();
  double sine = 0, cosine = 1;  // of the angle between the side and the axis
  double x = 0, y = 0;
};

ConeView view(const RoundConeShape& cone, const Vec3d& point) {
  ConeView v;
  const Vec3d way = cone.b - cone.a;
  const double length = way.norm(), step = cone.radius_a - cone.radius_b;
  // One ball inside the other.
  if (length <= std::abs(step)) {
    v.part = step >= 0 ? ConeView::Part::ball_a : ConeView::Part::ball_b;
    return v;
  }
  v.axis = way / length;
  v.y = v.axis.dot(point - cone.a);
  const Vec3d off = point - cone.a - v.y * v.axis;
  v.x = off.norm();
  v.radial = unit_or(off, v.axis.unitOrthogonal());
  v.sine = step / length;
  v.cosine = std::sqrt(1 - v.sine * v.sine);
  // Along the side, from where it touches ball a to where it touches ball b.
  const double along = v.cosine * v.y - v.sine * v.x;
  if (along >= length * v.cosine)
    v.part = ConeView::Part::ball_b;
  else if (along > 0)
    v.part = ConeView::Part::side;
  return v;
}

void check(const PlaneShape& plane) {
  check_finite("direction", plane.direction);
  if (!(plane.direction.stableNorm() > 0))
    throw_input_error("collider", "direction", "is 0; a direction is needed");
  if (!std::isfinite(plane.offset))
    throw_input_error("collider", "offset", "is not a finite number");
}

void check(const SphereShape& sphere) {
  check_finite("centre", sphere.centre);
  check_length("radius", sphere.radius);
}

void check(const RoundConeShape& cone) {
  check_finite("a", cone.a);
  check_finite("b", cone.b);
  check_length("radius_a", cone.radius_a);
  check_length("radius_b", cone.radius_b);
}

void check(const BoxShape& box) {
  check_finite("centre", box.centre);
  for (int c = 0; c < 3; ++c) check_length("half", box.half[c]);
}

void check(const LevelSet&) {}

}  // namespace

double PlaneShape::distance(const Vec3d& point) const {
  const double length = direction.norm();
  const bool is_usual = length > 1e-100 && length < 1e100;
  return (is_usual ? direction.dot(point) / length : normal(point).dot(point)) - offset;
}

Vec3d PlaneShape::normal(const Vec3d&) const { return unit_or(direction, Vec3d::UnitY()); }

double SphereShape::distance(const Vec3d& point) const { return (point - centre).norm() - radius; }

Vec3d SphereShape::normal(const Vec3d& point) const {
  return unit_or(point - centre, Vec3d::UnitY());
}

double RoundConeShape::distance(const Vec3d& point) const {
  const ConeView v = view(*this, point);
  switch (v.part) {
    case ConeView::Part::ball_a:
      return (point - a).norm() - radius_a;
    case ConeView::Part::ball_b:
      return (point - b).norm() - radius_b;
    case ConeView::Part::side:
      break;
  }
  return v.cosine * v.x + v.sine * v.y - radius_a;
}

Vec3d RoundConeShape::normal(const Vec3d& point) const {
  const ConeView v = view(*this, point);
  switch (v.part) {
    case ConeView::Part::ball_a:
      return unit_or(point - a, v.radial);
    case ConeView::Part::ball_b:
      return unit_or(point - b, v.radial);
    case ConeView::Part::side:
      break;
  }
  return unit_or(v.cosine * v.radial + v.sine * v.axis, v.radial);
}

double BoxShape::distance(const Vec3d& point) const {
  const Vec3d beyond = (point - centre).cwiseAbs() - half;
  return beyond.cwiseMax(0.0).norm() + std::min(0.0, beyond.maxCoeff());
}

Vec3d BoxShape::normal(const Vec3d& point) const {
  const Vec3d from = point - centre, beyond = from.cwiseAbs() - half;
  Vec3d sign;
  for (int c = 0; c < 3; ++c) sign[c] = from[c] < 0 ? -1 : 1;
  int axis = 0;
  beyond.maxCoeff(&axis);
  const Vec3d closest_side = sign[axis] * Vec3d::Unit(axis);
  return unit_or(beyond.cwiseMax(0.0).cwiseProduct(sign), closest_side);
}

void check_shape(const ColliderShape& shape) {
  std::visit([](const auto& s) { check(s); }, shape);
}

}  // namespace supple
