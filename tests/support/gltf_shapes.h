// Small closed surfaces and joint transforms that the test assets are made of.
#pragma once

#include <Eigen/Geometry>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace supple::test {

/// A triangle mesh: points and three indices per triangle, counter-clockwise seen from outside.
struct TestShape {
  std::vector<Eigen::Vector3d> points;
  std::vector<int> indices;
};

/// A closed tube around +y from `base`: rings of `sides` vertices, and a centre on each cap.
TestShape make_tube(int rings, int sides, double length, double radius,
                    const Eigen::Vector3d& base = Eigen::Vector3d::Zero());

/// A cube of 8 vertices around the origin.
TestShape make_cube(double half_edge);

/// A cube of 24 vertices: each corner three times, once per face; vertex 4 f + c is on face f.
TestShape make_split_cube(double half_edge);

/// A node's translation, rotation and scale.
struct TestTransform {
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();
  Eigen::Vector3d scale = Eigen::Vector3d::Ones();

  /// T R S.
  Eigen::Matrix4d matrix() const;

  /// A glTF node with this transform.
  nlohmann::json node(const std::string& name) const;
};

/// A rotation of `angle` radians about an axis of any length.
Eigen::Quaterniond turn(double angle, const Eigen::Vector3d& axis);

/// Appends x y z w of a quaternion times `factor` (-1: the same rotation, the other sign).
void append_rotation(std::vector<double>& numbers, const Eigen::Quaterniond& q, double factor = 1);

}  // namespace supple::test
