#include "modelling/sculpture.h"
#include "supple/math/smooth_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace supple::modelling {
namespace {

Vec3d mirror(const Vec3d& p) { return {-p[0], p[1], p[2]}; }

// The smaller of two distances, rounded over a seam of width k where they are close: a cubic
// that is the minimum beyond k and has continuous second derivatives.
double smooth_min(double a, double b, double k) {
  if (k <= 0) return std::min(a, b);
  const double h = std::max(k - std::abs(a - b), 0.0) / k;
  return std::min(a, b) - h * h * h * k / 6;
}

double round_cone_distance(const Shape& cone, const Vec3d& point) {
  // The surface is the tangent cone of two balls, capped by the balls themselves.
  const Vec3d axis = cone.end - cone.start;
  const double length2 = axis.squaredNorm();
  const double difference = cone.start_radius - cone.end_radius;
  const double slant2 = length2 - difference * difference;
  const Vec3d from_start = point - cone.start;
  if (slant2 <= 0)  // one ball holds the other
    return difference > 0 ? from_start.norm() - cone.start_radius
                          : (point - cone.end).norm() - cone.end_radius;
  const double along = from_start.dot(axis);
  const double beyond = along - length2;
  const double aside2 = std::max(0.0, from_start.squaredNorm() * length2 - along * along) * length2;
  const double start2 = along * along * length2;
  const double end2 = beyond * beyond * length2;
  const double tilt = std::copysign(1.0, difference) * difference * difference * aside2;
  if (std::copysign(1.0, beyond) * slant2 * end2 > tilt)
    return std::sqrt(aside2 + end2) / length2 - cone.end_radius;
  if (std::copysign(1.0, along) * slant2 * start2 < tilt)
    return std::sqrt(aside2 + start2) / length2 - cone.start_radius;
  return (std::sqrt(aside2 * slant2 / length2) + along * difference) / length2 - cone.start_radius;
}

double ellipsoid_distance(const Shape& shape, const Vec3d& point) {
  // First-order estimate: f / |grad f| of f = |p / r| - 1, symmetrised so that it stays finite.
  const Vec3d p = shape.to_axes * (point - shape.start);
  const Vec3d scaled = p.cwiseQuotient(shape.radii);
  const double level = scaled.norm();
  const double slope = scaled.cwiseQuotient(shape.radii).norm();
  if (slope < 1e-12) return -shape.radii.minCoeff();
  return level * (level - 1) / slope;
}

// A rod along a circle: its ends are balls, and between them the distance is that to the circle.
double arc_distance(const Shape& arc, const Vec3d& point) {
  const Vec3d p = arc.to_axes * (point - arc.start);
  const double angle = std::atan2(std::abs(p[0]), p[1]);
  const double near = std::min(angle, arc.half_angle);
  const Vec3d nearest(std::copysign(arc.start_radius * std::sin(near), p[0]),
                      arc.start_radius * std::cos(near), 0);
  return (p - nearest).norm() - arc.end_radius;
}

// Distance of a shape, or of the nearer of it and its mirror image, with the seam between them.
double distance_of(const Shape& shape, bool mirrored, double seam, const Vec3d& point) {
  const double here = shape.distance(point);
  return mirrored ? smooth_min(here, shape.distance(mirror(point)), seam) : here;
}

}  // namespace

Vec3d screen_colour(double red, double green, double blue) {
  const auto linear = [](double value) {
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return {linear(red), linear(green), linear(blue)};
}

double Shape::distance(const Vec3d& point) const {
  switch (kind) {
    case Kind::round_cone:
      return round_cone_distance(*this, point);
    case Kind::ellipsoid:
      return ellipsoid_distance(*this, point);
    case Kind::arc:
      return arc_distance(*this, point);
    case Kind::half_space:
      return end.dot(point - start);
  }
  return 0;
}

bool Shape::is_beyond(double reach, const Vec3d& point) const {
  if (kind == Kind::half_space) return false;
  const bool round = kind == Kind::round_cone;
  const Vec3d centre = round ? Vec3d(0.5 * (start + end)) : start;
  const double radius = round ? 0.5 * (end - start).norm() + std::max(start_radius, end_radius)
                        : kind == Kind::arc ? start_radius + end_radius
                                            : radii.maxCoeff();
  const double bound = reach + radius;
  return bound < 0 || (point - centre).squaredNorm() > bound * bound;
}

Shape round_cone(const Vec3d& start, double start_radius, const Vec3d& end, double end_radius) {
  Shape shape;
  shape.start = start;
  shape.end = end;
  shape.start_radius = start_radius;
  shape.end_radius = end_radius;
  return shape;
}

Shape ellipsoid(const Vec3d& centre, const Vec3d& radii, const Mat3d& turn) {
  Shape shape;
  shape.kind = Shape::Kind::ellipsoid;
  shape.start = centre;
  shape.radii = radii;
  shape.to_axes = turn.transpose();
  return shape;
}

Shape ball(const Vec3d& centre, double radius) {
  return ellipsoid(centre, Vec3d::Constant(radius));
}

Shape arc(const Vec3d& centre, double radius, double half_angle, double thickness,
          const Mat3d& turn) {
  Shape shape;
  shape.kind = Shape::Kind::arc;
  shape.start = centre;
  shape.start_radius = radius;
  shape.end_radius = thickness;
  shape.half_angle = half_angle;
  shape.to_axes = turn.transpose();
  return shape;
}

Shape half_space(const Vec3d& point, const Vec3d& normal) {
  Shape shape;
  shape.kind = Shape::Kind::half_space;
  shape.start = point;
  shape.end = normal;
  return shape;
}

Mat3d turn(double angle, const Vec3d& axis) {
  return Eigen::AngleAxisd(angle * std::numbers::pi / 180, axis.normalized()).toRotationMatrix();
}

void Sculpture::add(const Shape& shape, double seam, bool mirrored) {
  m_strokes.push_back({shape, seam, mirrored, false});
}

void Sculpture::carve(const Shape& shape, double seam, bool mirrored) {
  m_strokes.push_back({shape, seam, mirrored, true});
}

void Sculpture::paint(const Shape& shape, const Vec3d& colour, double softness, double strength,
                      bool mirrored) {
  m_paints.push_back({shape, colour, softness, strength, mirrored});
}

// A stroke further away than the surface found so far and its seam changes nothing; most are.
double Sculpture::distance(const Vec3d& point) const {
  const Vec3d image = mirror(point);
  double distance = std::numeric_limits<double>::max();
  for (const Stroke& stroke : m_strokes) {
    const double reach = 2 * (stroke.carved ? -distance : distance) + stroke.seam;
    if (stroke.shape.is_beyond(reach, point) &&
        (!stroke.mirrored || stroke.shape.is_beyond(reach, image)))
      continue;
    const double own = distance_of(stroke.shape, stroke.mirrored, stroke.seam, point);
    distance = stroke.carved ? -smooth_min(-distance, own, stroke.seam)
                             : smooth_min(distance, own, stroke.seam);
  }
  return distance;
}

std::pair<double, Vec3d> Sculpture::distance_and_normal(const Vec3d& point, double step) const {
  // Four corners of a tetrahedron give the gradient, and their mean the distance.
  static const Vec3d corners[4] = {{1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {1, 1, 1}};
  Vec3d gradient = Vec3d::Zero();
  double sum = 0;
  for (const Vec3d& corner : corners) {
    const double there = distance(point + step * corner);
    gradient += there * corner;
    sum += there;
  }
  return {sum / 4, gradient.normalized()};
}

Vec3d Sculpture::colour(const Vec3d& point) const {
  Vec3d result = m_ground;
  for (const Paint& paint : m_paints) {
    const double depth = -distance_of(paint.shape, paint.mirrored, 0, point);
    const double cover = paint.strength * smooth_step(depth / std::max(paint.softness, 1e-9) + 0.5);
    result += cover * (paint.colour - result);
  }
  return result;
}

bool Sculpture::is_symmetric() const {
  // A simple shape that looks alike from points in general position and from their images is.
  const Vec3d points[] = {{0.31, 0.57, -0.23}, {-1.13, 0.29, 0.71}, {0.19, -0.83, 0.47}};
  for (const Stroke& stroke : m_strokes)
    for (const Vec3d& p : points)
      if (!stroke.mirrored &&
          std::abs(stroke.shape.distance(p) - stroke.shape.distance(mirror(p))) > 1e-12)
        return false;
  return true;
}

Box3d Sculpture::box() const {
  Box3d box;
  for (const Stroke& stroke : m_strokes) {
    if (stroke.carved) continue;
    const Shape& shape = stroke.shape;
    const bool round = shape.kind == Shape::Kind::round_cone;
    // A seam swells the surface by at most a sixth of its width.
    const double swell = stroke.seam / 6;
    const double reach =
        swell + (round                            ? std::max(shape.start_radius, shape.end_radius)
                 : shape.kind == Shape::Kind::arc ? shape.start_radius + shape.end_radius
                                                  : shape.radii.maxCoeff());
    Box3d own(shape.start - Vec3d::Constant(reach), shape.start + Vec3d::Constant(reach));
    if (round) {
      own.extend(shape.end - Vec3d::Constant(reach));
      own.extend(shape.end + Vec3d::Constant(reach));
    }
    box.extend(own);
    if (stroke.mirrored) {
      box.extend(mirror(own.min()));
      box.extend(mirror(own.max()));
    }
  }
  return box;
}

}  // namespace supple::modelling
