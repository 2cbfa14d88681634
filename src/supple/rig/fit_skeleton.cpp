#include "supple/rig/fit_skeleton.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/mesh/voxel_grid.h"
#include "supple/rig/bone_pull.h"

namespace supple {
namespace {

constexpr int resolution = 64;
constexpr size_t most_points = 6000;

// The lowest joint is this part of the mesh's height above its lowest point, the highest one below
// its top.
constexpr double headroom = 0.025;

// A skeleton fits as it is when this part of its bones lies in the mesh and its height is at least
// this part of the mesh's.
constexpr double fits_inside = 0.85, fits_height = 0.6;

// Boxes have the same shape when their sides differ by less than this part of the longest one.
constexpr double same_shape = 0.02;

// A turn by a quarter must explain the mesh this much better than none to be believed.
constexpr double turn_gain = 0.8;

struct Placement {
  double scale = 1;
  Quatd turn = Quatd::Identity();
  Vec3d shift = Vec3d::Zero();

  Vec3d operator()(const Vec3d& p) const { return scale * (turn * p) + shift; }
};

std::vector<Vec3d> joint_positions(const Skeleton& skeleton, const Pose& pose) {
  std::vector<Vec3d> positions;
  for (const Affine& global : global_matrices(skeleton, pose))
    positions.emplace_back(global.translation());
  return positions;
}

Box3d box_of(const std::vector<Vec3d>& points) {
  Box3d box;
  for (const Vec3d& point : points) box.extend(point);
  return box;
}

// Bones from joints to their children. The line from a root on the floor up to the hips is none.
std::vector<BoneLine> bone_lines(const Skeleton& skeleton, const std::vector<bool>& bones,
                                 const std::vector<Vec3d>& positions) {
  const Box3d box = box_of(positions);
  const double height = box.sizes()[1];
  std::vector<BoneLine> lines;
  for (size_t j = 0; j < skeleton.size(); ++j) {
    const int parent = skeleton.joints[j].parent;
    if (parent < 0 || (positions[j] - positions[parent]).norm() <= 1e-6 * box.diagonal().norm())
      continue;
    if (!bones.empty() && !bones[parent]) continue;
    const bool helper = skeleton.joints[parent].parent < 0 &&
                        positions[parent][1] < box.min()[1] + 0.05 * height &&
                        positions[j][1] > box.min()[1] + 0.3 * height;
    if (!helper) lines.push_back({parent, static_cast<int>(j)});
  }
  return lines;
}

std::vector<Vec3d> line_ends(const std::vector<BoneLine>& lines,
                             const std::vector<Vec3d>& positions) {
  std::vector<Vec3d> ends;
  for (const BoneLine& line : lines) {
    ends.push_back(positions[line.joint]);
    ends.push_back(positions[line.child]);
  }
  return ends;
}

// Part of the bones' length that lies in the solid.
double inside_share(const VoxelGrid& solid, const std::vector<BoneLine>& lines,
                    const std::vector<Vec3d>& positions) {
  double inside = 0, total = 0;
  for (const BoneLine& line : lines) {
    const Vec3d& from = positions[line.joint];
    const Vec3d way = positions[line.child] - from;
    constexpr int samples = 16;
    for (int i = 0; i < samples; ++i)
      if (solid.kind_at(from + (i + 0.5) / samples * way) != CellKind::outside)
        inside += way.norm() / samples;
    total += way.norm();
  }
  return total > 0 ? inside / total : 0;
}

// Height onto height and middle over middle; a skeleton that lies flat is measured along its
// longest side instead.
Placement place_by_height(const Box3d& mesh, const std::vector<Vec3d>& ends, const Quatd& turn) {
  Box3d box;
  for (const Vec3d& end : ends) box.extend(Vec3d(turn * end));
  int axis = 1;
  if (box.sizes()[1] < 0.1 * box.sizes().maxCoeff()) box.sizes().maxCoeff(&axis);
  Placement placement;
  placement.turn = turn;
  placement.scale = (1 - 2 * headroom) * mesh.sizes()[axis] / box.sizes()[axis];
  placement.shift = mesh.center() - placement.scale * box.center();
  return placement;
}

// The placement that lays the skeleton's own skin over the mesh, if their boxes are alike.
bool place_by_skin(const Box3d& mesh, const TriangleMesh& own_skin, Placement& placement) {
  if (own_skin.triangles.empty()) return false;
  const Box3d skin = bounding_box(own_skin.positions).cast<double>();
  const double scale = mesh.sizes().maxCoeff() / skin.sizes().maxCoeff();
  if (!std::isfinite(scale)) return false;
  if ((mesh.sizes() - scale * skin.sizes()).cwiseAbs().maxCoeff() >
      same_shape * mesh.sizes().maxCoeff())
    return false;
  placement.scale = scale;
  placement.shift = mesh.center() - scale * skin.center();
  return true;
}

// The cells of a solid as points, every n-th of them.
std::vector<PullPoint> solid_points(const VoxelGrid& solid) {
  std::vector<PullPoint> points;
  for (size_t i = 0; i < solid.cells(); ++i)
    if (solid.kinds[i] != CellKind::outside)
      points.push_back(
          {solid.centre(solid.cell(i)), solid.kinds[i] == CellKind::inside ? 1.0 : 0.5});
  const size_t stride = 1 + points.size() / most_points;
  std::vector<PullPoint> some;
  for (size_t i = 0; i < points.size(); i += stride) some.push_back(points[i]);
  return some;
}

// Mean square distance of the points from the bones.
double misfit(const std::vector<BoneLine>& lines, const std::vector<Vec3d>& positions,
              const std::vector<PullPoint>& points) {
  double sum = 0;
  for (const PullPoint& point : points) {
    double least = INFINITY;
    for (const BoneLine& line : lines) {
      const Vec3d& from = positions[line.joint];
      const Vec3d way = positions[line.child] - from;
      const double along =
          std::clamp((point.position - from).dot(way) / way.squaredNorm(), 0.0, 1.0);
      least = std::min(least, (from + along * way - point.position).squaredNorm());
    }
    sum += point.weight * least;
  }
  return sum;
}

std::vector<Vec3d> placed(const std::vector<Vec3d>& positions, const Placement& placement) {
  std::vector<Vec3d> result;
  result.reserve(positions.size());
  for (const Vec3d& position : positions) result.push_back(placement(position));
  return result;
}

double angle_of(const Quatd& q) {
  return 2 * std::atan2(q.vec().norm(), std::abs(q.w())) * 180 / std::numbers::pi;
}

// Scales and moves the rest pose: joints below the roots by S M S⁻¹, roots by the whole placement.
void place_rest(const Placement& placement, Skeleton& skeleton) {
  for (Joint& joint : skeleton.joints) {
    Affine root = Affine::Identity();
    if (joint.parent < 0) {
      root.linear() = placement.turn.toRotationMatrix();
      root.translation() = placement.shift;
      joint.rest.translation = placement(joint.rest.translation);
      joint.rest.rotation = (placement.turn * joint.rest.rotation).normalized();
    } else {
      joint.rest.translation *= placement.scale;
    }
    if (!joint.sheared) continue;
    joint.sheared->translation() *= placement.scale;
    *joint.sheared = root * *joint.sheared;
  }
}

// Scales, turns and moves a channel's keys; tangents are not moved.
void place_channel(const Placement& placement, bool root, Channel& channel) {
  const bool rotates = channel.target == ChannelTarget::rotation;
  if (channel.target != ChannelTarget::translation && !(rotates && root)) return;
  const size_t width = rotates ? 4 : 3;
  const bool spline = channel.interpolation == Interpolation::cubic_spline;
  for (size_t i = 0; i + width <= channel.values.size(); i += width) {
    double* value = channel.values.data() + i;
    const bool is_key = !spline || i / width % 3 == 1;
    if (rotates) {
      Eigen::Map<Eigen::Vector4d> q(value);
      q = (placement.turn * Quatd(Eigen::Vector4d(q))).coeffs().eval();
      continue;
    }
    Eigen::Map<Vec3d> t(value);
    const Vec3d scaled = placement.scale * t;
    if (root)
      t = placement.turn * scaled + (is_key ? placement.shift : Vec3d(Vec3d::Zero()));
    else
      t = scaled;
  }
}

// Puts a clip on the placed skeleton; roots start above where the rest pose stands, and the lowest
// joint of all frames is as high as at rest.
void place_clip(const Placement& placement, const Skeleton& skeleton, Clip& clip) {
  Placement unmoved = placement;
  unmoved.shift.setZero();
  for (Channel& channel : clip.channels)
    if (channel.joint >= 0)
      place_channel(unmoved, skeleton.joints[channel.joint].parent < 0, channel);
  const bool travels =
      std::any_of(clip.channels.begin(), clip.channels.end(), [&](const Channel& channel) {
        return channel.target == ChannelTarget::translation && channel.joint >= 0 &&
               skeleton.joints[channel.joint].parent < 0;
      });
  if (!travels) return;

  const Pose rest = rest_pose(skeleton);
  const std::vector<Vec3d> at_rest = joint_positions(skeleton, rest);
  Pose pose = rest;
  apply_clip(clip, clip.start(), pose);
  const Vec3d start = joint_positions(skeleton, pose)[0];
  double lowest = INFINITY;
  const double length = clip.end() - clip.start();
  const int frames = static_cast<int>(std::min(length * clip_rate(clip), 2000.0));
  for (int i = 0; i <= frames; ++i) {
    apply_clip(clip, clip.start() + (frames > 0 ? i * length / frames : 0), pose);
    lowest = std::min(lowest, box_of(joint_positions(skeleton, pose)).min()[1]);
  }
  Placement move;
  move.shift = at_rest[0] - start;
  move.shift[1] = box_of(at_rest).min()[1] - lowest;
  for (Channel& channel : clip.channels)
    if (channel.target == ChannelTarget::translation && channel.joint >= 0)
      if (skeleton.joints[channel.joint].parent < 0) place_channel(move, true, channel);
}

// Turns the joints of a placed skeleton by what the pose says.
void bend_rest(const PulledPose& pose, Skeleton& skeleton, double& largest_bend) {
  std::vector<Quatd> old_rotation(skeleton.size()), new_rotation(skeleton.size());
  for (size_t j = 0; j < skeleton.size(); ++j) {
    Joint& joint = skeleton.joints[j];
    const int parent = joint.parent;
    const Quatd above = parent < 0 ? Quatd::Identity() : old_rotation[parent];
    old_rotation[j] = above * joint.rest.rotation;
    new_rotation[j] = pose.turns[j] * old_rotation[j];
    const Quatd turned_above = parent < 0 ? Quatd::Identity() : new_rotation[parent];
    const Quatd local = (turned_above.conjugate() * new_rotation[j]).normalized();
    largest_bend = std::max(largest_bend, angle_of(local * joint.rest.rotation.conjugate()));
    joint.rest.rotation = local;
  }
}

// Poses a placed skeleton in a solid, turned by a quarter if that is clearly better, and corrects
// its placement.
PulledPose pull_into(const VoxelGrid& solid, const Skeleton& skeleton,
                     const std::vector<BoneLine>& lines, const std::vector<Vec3d>& positions,
                     Placement& placement, double& turn) {
  const std::vector<PullPoint> points = solid_points(solid);
  PulledPose pulled = pull_bones(skeleton, lines, placed(positions, placement), points);
  const Quatd quarter(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3d::UnitY()));
  const Box3d box(solid.centre(Vec3i::Ones()), solid.centre(solid.size - 2 * Vec3i::Ones()));
  const Placement turned = place_by_height(box, line_ends(lines, positions), quarter);
  PulledPose other = pull_bones(skeleton, lines, placed(positions, turned), points);
  if (misfit(lines, other.positions, points) <
      turn_gain * misfit(lines, pulled.positions, points)) {
    placement = turned;
    pulled = std::move(other);
    turn = 90;
  }
  placement.scale *= pulled.scale;
  placement.shift = pulled.positions[0] - placement.scale * (placement.turn * positions[0]);
  return pulled;
}

}  // namespace

SkeletonFit fit_skeleton(const TriangleMesh& mesh, FitKind kind, const TriangleMesh& own_skin,
                         const std::vector<bool>& bones, Skeleton& skeleton,
                         std::vector<Clip>& clips) {
  SkeletonFit fit;
  const std::vector<Vec3d> positions = joint_positions(skeleton, rest_pose(skeleton));
  const std::vector<BoneLine> lines = bone_lines(skeleton, bones, positions);
  const std::vector<Vec3d> ends = line_ends(lines, positions);
  VoxelOptions voxels;
  voxels.resolution = resolution;
  const VoxelGrid solid = voxelise(mesh.positions, mesh.triangles, voxels);
  const Box3d box = bounding_box(mesh.positions).cast<double>();
  fit.inside = inside_share(solid, lines, positions);
  if (kind == FitKind::none) return fit;
  if (lines.empty())
    throw_input_error("skeleton", "joints",
                      "all are in one place, so their size cannot be fitted to the mesh");
  fit.fitted_before =
      fit.inside >= fits_inside && box_of(ends).sizes()[1] >= fits_height * box.sizes()[1];
  if (fit.fitted_before) return fit;

  Placement placement;
  PulledPose pulled;
  if (!place_by_skin(box, own_skin, placement)) {
    placement = place_by_height(box, ends, Quatd::Identity());
    if (kind == FitKind::pose)
      pulled = pull_into(solid, skeleton, lines, positions, placement, fit.turn);
  }
  fit.scale = placement.scale;
  fit.shift = placement.shift;
  place_rest(placement, skeleton);
  if (!pulled.turns.empty()) bend_rest(pulled, skeleton, fit.largest_bend);
  for (Clip& clip : clips) place_clip(placement, skeleton, clip);
  fit.inside = inside_share(solid, lines, joint_positions(skeleton, rest_pose(skeleton)));
  return fit;
}

}  // namespace supple
