// Posing a character from its fields alone, in double precision, written apart from the library's
// own evaluation so that readers can be tested against it.
#pragma once

#include <algorithm>
#include <vector>

#include "supple/rig/character.h"

namespace supple::test {

/// The value of a linear channel at `time`, rotations by slerp.
inline std::vector<double> channel_value(const Channel& channel, double time) {
  const size_t w = static_cast<size_t>(channel.width);
  size_t next = 0;
  while (next < channel.times.size() && channel.times[next] < time - 1e-9) ++next;
  const auto key = [&](size_t k) {
    return std::vector<double>(channel.values.begin() + static_cast<ptrdiff_t>(k * w),
                               channel.values.begin() + static_cast<ptrdiff_t>((k + 1) * w));
  };
  if (next == 0) return key(0);
  if (next == channel.times.size()) return key(next - 1);
  const double u =
      (time - channel.times[next - 1]) / (channel.times[next] - channel.times[next - 1]);
  std::vector<double> a = key(next - 1);
  const std::vector<double> b = key(next);
  if (channel.target == ChannelTarget::rotation) {
    const Quatd q = Quatd(a[3], a[0], a[1], a[2]).slerp(u, Quatd(b[3], b[0], b[1], b[2]));
    return {q.x(), q.y(), q.z(), q.w()};
  }
  for (size_t i = 0; i < w; ++i) a[i] += u * (b[i] - a[i]);
  return a;
}

/// Joint-to-model matrices at `time` of a clip (none for the rest pose), and shape weights.
struct ReferencePose {
  std::vector<Mat4d> globals;
  std::vector<double> shape_weights;
};

inline ReferencePose reference_pose(const Character& character, const Clip* clip, double time) {
  std::vector<Transform> local;
  ReferencePose pose;
  for (const Joint& joint : character.skeleton.joints) local.push_back(joint.rest);
  for (const BlendShape& shape : character.shapes) pose.shape_weights.push_back(shape.rest_weight);
  for (const Channel& channel : clip ? clip->channels : std::vector<Channel>{}) {
    const std::vector<double> v = channel_value(channel, time);
    if (channel.target == ChannelTarget::translation)
      local[channel.joint].translation = Vec3d(v[0], v[1], v[2]);
    if (channel.target == ChannelTarget::rotation)
      local[channel.joint].rotation = Quatd(v[3], v[0], v[1], v[2]);
    if (channel.target == ChannelTarget::scale)
      local[channel.joint].scale = Vec3d(v[0], v[1], v[2]);
    if (channel.target == ChannelTarget::shape_weights)
      std::copy(v.begin(), v.end(), pose.shape_weights.begin() + channel.first_shape);
  }
  for (size_t j = 0; j < local.size(); ++j) {
    const Joint& joint = character.skeleton.joints[j];
    Mat4d matrix = Mat4d::Identity();
    matrix.topLeftCorner<3, 3>() =
        local[j].rotation.normalized().toRotationMatrix() * local[j].scale.asDiagonal();
    matrix.topRightCorner<3, 1>() = local[j].translation;
    if (joint.sheared) matrix = joint.sheared->matrix();
    pose.globals.push_back(joint.parent < 0 ? matrix : Mat4d(pose.globals[joint.parent] * matrix));
  }
  return pose;
}

/// Vertices by linear blend skinning: x = sum of w · global · rest_to_joint · (rest + shapes).
inline std::vector<Vec3d> reference_skin(const Character& character, const Clip* clip,
                                         double time) {
  const ReferencePose pose = reference_pose(character, clip, time);
  std::vector<Vec3d> rest;
  for (const Vec3f& p : character.skin.positions) rest.push_back(p.cast<double>());
  for (size_t s = 0; s < character.shapes.size(); ++s)
    for (size_t i = 0; i < character.shapes[s].vertices.size(); ++i)
      rest[character.shapes[s].vertices[i]] +=
          pose.shape_weights[s] * character.shapes[s].offsets[i].cast<double>();
  std::vector<Vec3d> result;
  for (size_t v = 0; v < rest.size(); ++v) {
    Vec3d sum = Vec3d::Zero();
    for (const Influence& influence : character.weights.of(v)) {
      const Bind& bind = character.binds[influence.bind];
      sum += influence.weight *
             (pose.globals[bind.joint] * bind.rest_to_joint.matrix() * rest[v].homogeneous())
                 .head<3>();
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace supple::test
