#include "supple/rig/bone_shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/parallel.h"
#include "supple/rig/bind_pose.h"

namespace supple {
namespace {

// A bone's ends lie in joints, where it may be near the skin; what is between counts.
constexpr double ends = 0.15;
constexpr int samples = 9;

double nearest_distance(std::span<const Vec3f> points, const Vec3d& to) {
  const Vec3f place = to.cast<float>();
  const float square = parallel_reduce(
      points.size(), 16384, std::numeric_limits<float>::max(),
      [&](size_t begin, size_t end) {
        float least = std::numeric_limits<float>::max();
        for (size_t i = begin; i < end; ++i)
          least = std::min(least, (points[i] - place).squaredNorm());
        return least;
      },
      [](float a, float b) { return std::min(a, b); });
  return std::sqrt(static_cast<double>(square));
}

// A distance within which all is flesh, by cells; surfaces inside the flesh do not count.
double least_distance_out(const VoxelGrid& solid, const Vec3d& from) {
  const Vec3i centre = solid.cell_at(from);
  double nearest = std::numeric_limits<double>::max();  // in cells
  const auto look_at = [&](const Vec3i& offset) {
    const Vec3i cell = centre + offset;
    if (solid.has(cell) && solid.kinds[solid.index(cell)] != CellKind::outside) return;
    nearest = std::min(nearest, offset.cast<double>().norm());
  };
  for (int shell = 0; shell <= solid.size.maxCoeff() && shell < nearest; ++shell)
    for (int a = -shell; a <= shell; ++a)
      for (int b = -shell; b <= shell; ++b)
        for (const int c : {-shell, shell})
          for (const Vec3i& offset : {Vec3i(a, b, c), Vec3i(a, c, b), Vec3i(c, a, b)})
            look_at(offset);
  // Points may lie half a diagonal from the middles of their cells, and the skin anywhere in the
  // last cells.
  return std::max(0.0, nearest - 2 * std::sqrt(3.0)) * solid.spacing;
}

double room_around(std::span<const Vec3f> flesh, const VoxelGrid& solid, const BoneShape& bone) {
  double room = std::numeric_limits<double>::max();
  for (int s = 0; s < samples; ++s) {
    const double along = ends + (1 - 2 * ends) * s / (samples - 1);
    const Vec3d at = bone.from + along * (bone.to - bone.from);
    room = std::min(room, std::max(nearest_distance(flesh, at), least_distance_out(solid, at)));
  }
  return room;
}

// The middle of the vertices that follow a bind more than all others together; no number where none
// do.
std::vector<Vec3d> centres_of_binds(const Character& character) {
  std::vector<Vec3d> sums(character.binds.size(), Vec3d::Zero());
  std::vector<double> weights(character.binds.size(), 0);
  for (size_t v = 0; v < character.weights.vertices(); ++v)
    for (const Influence& i : character.weights.of(v)) {
      if (i.weight <= 0.5f) continue;
      const auto bind = static_cast<size_t>(i.bind);
      sums[bind] += static_cast<double>(i.weight) * character.skin.positions[v].cast<double>();
      weights[bind] += static_cast<double>(i.weight);
    }
  for (size_t b = 0; b < sums.size(); ++b) sums[b] /= weights[b];
  return sums;
}

// A bone without an end: from the joint through the middle of its vertices and as far again, as far
// as all of that is in the flesh; a ball in the middle where the way to the joint is not.
BoneShape through_centre(int joint, int32_t bind, const Vec3d& place, const Vec3d& centre,
                         const VoxelGrid& solid) {
  constexpr int steps = 20;
  const auto reach = [&](const Vec3d& way) {
    Vec3d last = centre;
    for (int s = 1; s <= steps; ++s) {
      const Vec3d next = centre + way * s / steps;
      if (solid.kind_at(next) != CellKind::inside) break;
      last = next;
    }
    return last;
  };
  if (solid.kind_at(centre) != CellKind::inside) return {joint, bind, centre, centre, 0};
  const Vec3d from = reach(place - centre);
  if (from != place) return {joint, bind, centre, centre, 0};
  // The outer end keeps as far from the skin as bones do.
  return {joint, bind, from, centre + 0.8 * (reach(centre - place) - centre), 0};
}

}  // namespace

double BoneShape::axis_distance(const Vec3d& point) const {
  const Vec3d way = to - from;
  const double square = way.squaredNorm();
  const double along = square > 0 ? std::clamp((point - from).dot(way) / square, 0.0, 1.0) : 0;
  return (from + along * way - point).norm();
}

std::vector<BoneShape> bone_shapes(const Character& character, std::span<const Vec3f> flesh,
                                   const VoxelGrid& solid, double thickness) {
  const std::vector<int32_t> binds = binds_by_joint(character);
  std::vector<uint8_t> wanted;
  wanted.reserve(binds.size());
  for (const int32_t bind : binds) wanted.push_back(bind >= 0 ? 1 : 0);
  std::vector<BoneShape> shapes;
  std::vector<bool> has_bone(binds.size(), false);
  const Skeleton bound = bind_skeleton(character);
  for (const Bone& bone : find_bones(bound, wanted, solid)) {
    const auto joint = static_cast<size_t>(bone.joint);
    if (binds[joint] < 0) continue;
    for (const BoneSegment& segment : bone.segments) {
      shapes.push_back({bone.joint, binds[joint], segment.from, segment.to, 0});
      has_bone[joint] = true;
    }
  }
  const std::vector<Vec3d> centres = centres_of_binds(character);
  const std::vector<Affine> globals = global_matrices(bound, rest_pose(bound));
  for (size_t j = 0; j < binds.size(); ++j) {
    if (binds[j] < 0 || has_bone[j]) continue;
    const Vec3d& centre = centres[static_cast<size_t>(binds[j])];
    if (!centre.allFinite() || solid.kind_at(centre) == CellKind::outside) continue;
    shapes.push_back(
        through_centre(static_cast<int>(j), binds[j], globals[j].translation(), centre, solid));
  }
  for (BoneShape& shape : shapes) shape.radius = thickness * room_around(flesh, solid, shape);
  return shapes;
}

}  // namespace supple
