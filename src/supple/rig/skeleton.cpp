#include "supple/rig/skeleton.h"

#include <Eigen/LU>

#include <array>
#include <cmath>

#include "supple/core/error.h"
#include "supple/math/polar.h"

namespace supple {
namespace {

// A column this much shorter than the longest one has no direction worth keeping.
constexpr double negligible_column = 1e-12;

// What shear may leave unexplained, relative to the matrix.
constexpr double shear_tolerance = 1e-6;

// Unit axes along the columns of a matrix; columns of negligible length get an axis perpendicular
// to the others.
Mat3d column_axes(const Mat3d& matrix) {
  const Vec3d lengths = matrix.colwise().norm();
  const double longest = lengths.maxCoeff();
  if (longest == 0) return Mat3d::Identity();
  std::array<bool, 3> known{};
  Mat3d axes = Mat3d::Zero();
  for (int k = 0; k < 3; ++k) {
    known[k] = lengths[k] > negligible_column * longest;
    if (known[k]) axes.col(k) = matrix.col(k) / lengths[k];
  }
  for (int k = 0; k < 3; ++k) {
    if (known[k]) continue;
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    if (known[a] && known[b])
      axes.col(k) = axes.col(a).cross(axes.col(b)).normalized();
    else
      axes.col(k) = Vec3d(axes.col(known[a] ? a : b)).unitOrthogonal();
    known[k] = true;
  }
  return axes;
}

}  // namespace

int Skeleton::find(std::string_view name) const {
  for (size_t j = 0; j < joints.size(); ++j)
    if (joints[j].name == name) return static_cast<int>(j);
  return -1;
}

int Skeleton::require(std::string_view name, std::string_view file, std::string_view field) const {
  const int joint = find(name);
  if (joint >= 0) return joint;
  std::vector<std::string> names;
  for (const Joint& j : joints) names.push_back(j.name);
  throw_input_error(
      file, field,
      fmt::format("the character has no joint '{}'{}", printable(name), suggestion(name, names)));
}

Pose rest_pose(const Skeleton& skeleton, size_t shape_count) {
  Pose pose;
  pose.local.reserve(skeleton.size());
  for (const Joint& joint : skeleton.joints) pose.local.push_back(joint.rest);
  pose.shape_weights.assign(shape_count, 0);
  return pose;
}

void global_matrices(const Skeleton& skeleton, const Pose& pose, std::vector<Affine>& globals) {
  globals.resize(skeleton.size());
  for (size_t j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[j];
    const Affine local = joint.sheared ? *joint.sheared : pose.local[j].matrix();
    globals[j] = joint.parent < 0 ? local : globals[joint.parent] * local;
  }
}

std::vector<Affine> global_matrices(const Skeleton& skeleton, const Pose& pose) {
  std::vector<Affine> globals;
  global_matrices(skeleton, pose, globals);
  return globals;
}

std::optional<Transform> decompose(const Affine& matrix) {
  const Mat3d linear = matrix.linear();
  if (!linear.allFinite() || !matrix.translation().allFinite()) return std::nullopt;
  Mat3d axes = column_axes(linear);
  if (axes.determinant() < 0) axes.col(0) *= -1;
  const Mat3d rotation = nearest_rotation(axes);
  // The scale that explains most: s_k = r_k · m_k.
  Transform result;
  result.translation = matrix.translation();
  result.rotation = Quatd(rotation).normalized();
  result.scale = (rotation.transpose() * linear).diagonal();
  const Mat3d unexplained = linear - rotation * result.scale.asDiagonal();
  if (!(unexplained.norm() <= shear_tolerance * linear.norm())) return std::nullopt;
  return result;
}

}  // namespace supple
