#include "support/gltf_shapes.h"

#include <cmath>
#include <numbers>

namespace supple::test {

using Eigen::Vector3d;

TestShape make_tube(int rings, int sides, double length, double radius, const Vector3d& base) {
  TestShape tube;
  for (int r = 0; r < rings; ++r) {
    for (int s = 0; s < sides; ++s) {
      const double angle = 2 * std::numbers::pi * s / sides;
      tube.points.push_back(base + Vector3d(radius * std::cos(angle), length * r / (rings - 1),
                                            -radius * std::sin(angle)));
    }
  }
  const auto add = [&](int a, int b, int c) { tube.indices.insert(tube.indices.end(), {a, b, c}); };
  for (int r = 0; r + 1 < rings; ++r) {
    for (int s = 0; s < sides; ++s) {
      const int a = r * sides + s, b = r * sides + (s + 1) % sides;
      add(a, b, b + sides);
      add(a, b + sides, a + sides);
    }
  }
  const int bottom = rings * sides, top = bottom + 1, last = (rings - 1) * sides;
  tube.points.push_back(base);
  tube.points.push_back(base + Vector3d(0, length, 0));
  for (int s = 0; s < sides; ++s) {
    add(bottom, (s + 1) % sides, s);
    add(top, last + s, last + (s + 1) % sides);
  }
  return tube;
}

TestShape make_split_cube(double half_edge) {
  TestShape cube;
  for (int face = 0; face < 6; ++face) {
    const int axis = face / 2;
    const double side = face % 2 ? 1 : -1;
    const Vector3d normal = side * Vector3d::Unit(axis), u = Vector3d::Unit((axis + 1) % 3);
    const Vector3d v = normal.cross(u);
    for (const auto& [a, b] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
      cube.points.push_back(half_edge * (normal + a * u + b * v));
    }
    for (const int corner : {0, 1, 2, 0, 2, 3}) cube.indices.push_back(4 * face + corner);
  }
  return cube;
}

TestShape make_cube(double half_edge) {
  const TestShape split = make_split_cube(half_edge);
  TestShape cube;
  for (const int index : split.indices) {
    const Vector3d& point = split.points[static_cast<size_t>(index)];
    size_t found = 0;
    while (found < cube.points.size() && cube.points[found] != point) ++found;
    if (found == cube.points.size()) cube.points.push_back(point);
    cube.indices.push_back(static_cast<int>(found));
  }
  return cube;
}

Eigen::Matrix4d TestTransform::matrix() const {
  Eigen::Affine3d transform = Eigen::Affine3d::Identity();
  transform.translate(translation).rotate(rotation).scale(scale);
  return transform.matrix();
}

nlohmann::json TestTransform::node(const std::string& name) const {
  std::vector<double> turned;
  append_rotation(turned, rotation);
  return {{"name", name},
          {"translation", {translation.x(), translation.y(), translation.z()}},
          {"rotation", turned},
          {"scale", {scale.x(), scale.y(), scale.z()}}};
}

Eigen::Quaterniond turn(double angle, const Vector3d& axis) {
  return Eigen::Quaterniond(Eigen::AngleAxisd(angle, axis.normalized()));
}

void append_rotation(std::vector<double>& numbers, const Eigen::Quaterniond& q, double factor) {
  for (const double x : {q.x(), q.y(), q.z(), q.w()}) numbers.push_back(factor * x);
}

}  // namespace supple::test
