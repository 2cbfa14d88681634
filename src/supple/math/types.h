// The vector, matrix and transform types used everywhere; Eigen underneath.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <cstdint>

namespace supple {

using Vec2f = Eigen::Vector2f;
using Vec3f = Eigen::Vector3f;
using Vec4f = Eigen::Vector4f;
using Vec3d = Eigen::Vector3d;
using Vec3i = Eigen::Matrix<int32_t, 3, 1>;
using Vec4i = Eigen::Matrix<int32_t, 4, 1>;
using Mat3d = Eigen::Matrix3d;
using Mat4d = Eigen::Matrix4d;
using Quatd = Eigen::Quaterniond;
using Affine = Eigen::Affine3d;
using Box3f = Eigen::AlignedBox3f;
using Box3d = Eigen::AlignedBox3d;

/// Translation, rotation and scale, applied to a point as T · R · S · x.
struct Transform {
  Vec3d translation = Vec3d::Zero();
  Quatd rotation = Quatd::Identity();
  Vec3d scale = Vec3d::Ones();

  /// The transform as an affine matrix.
  Affine matrix() const {
    Affine result;
    result.linear() = rotation.toRotationMatrix() * scale.asDiagonal();
    result.translation() = translation;
    result.makeAffine();
    return result;
  }
};

}  // namespace supple
