#include "supple/rig/bones.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Segments shorter than this part of the skeleton have no extent.
constexpr double shortest_segment = 1e-4;

// A joint at the end of a chain needs flesh beyond it of this part of its parent's bone.
constexpr double least_flesh = 0.25;

// How much of the flesh beyond the end of a chain its bone runs through, and how far at most, in
// parts of the solid's diagonal.
constexpr double end_share = 0.8, longest_end = 0.25;

// Bones without a bone above them need this part of their length in the solid.
constexpr double least_inside = 0.5;

class BoneFinder {
 public:
  BoneFinder(const Skeleton& skeleton, std::span<const uint8_t> wanted, const VoxelGrid& solid)
      : m_skeleton(skeleton), m_solid(solid), m_children(skeleton.size()) {
    const std::vector<Affine> globals = global_matrices(skeleton, rest_pose(skeleton));
    Box3d box;
    for (const Affine& global : globals) {
      m_positions.emplace_back(global.translation());
      box.extend(m_positions.back());
    }
    m_shortest = globals.empty() ? 0 : shortest_segment * box.diagonal().norm();
    for (size_t j = 0; j < skeleton.size(); ++j)
      m_wanted.push_back(wanted.empty() || wanted[j] != 0);
    m_leads_to_wanted = m_wanted;
    for (size_t j = skeleton.size(); j-- > 0;) {
      const int parent = skeleton.joints[j].parent;
      if (parent < 0) continue;
      m_children[parent].push_back(static_cast<int>(j));
      if (m_leads_to_wanted[j]) m_leads_to_wanted[parent] = true;
    }
    for (std::vector<int>& children : m_children) std::reverse(children.begin(), children.end());
  }

  std::vector<Bone> find() {
    std::vector<Bone> bones;
    std::vector<bool> bone_above(m_positions.size(), false);
    for (size_t j = 0; j < m_positions.size(); ++j) {
      const int joint = static_cast<int>(j), parent = m_skeleton.joints[j].parent;
      if (parent >= 0) bone_above[j] = bone_above[parent];
      if (!m_wanted[j]) continue;
      Bone bone{joint, segments_of(joint)};
      if (!bone_above[j])
        std::erase_if(bone.segments,
                      [&](const BoneSegment& s) { return inside_share(s) < least_inside; });
      if (bone.segments.empty()) continue;
      bone_above[j] = true;
      bones.push_back(std::move(bone));
    }
    const auto first = std::find(m_wanted.begin(), m_wanted.end(), true);
    if (bones.empty() && first != m_wanted.end()) {
      const auto joint = static_cast<int>(first - m_wanted.begin());
      bones.push_back({joint, {{m_positions[joint], m_positions[joint], {}}}});
    }
    return bones;
  }

 private:
  // A joint's bone runs to children that carry flesh or lead to a joint that does. At the end of a
  // chain it runs to the others, or on through the flesh, whichever is longer: a hat hung on a head
  // is not where the head ends.
  std::vector<BoneSegment> segments_of(int joint) const {
    std::vector<BoneSegment> segments, others;
    bool ends_chain = true;
    for (const int child : m_children[joint]) {
      const bool leads = m_leads_to_wanted[child];
      ends_chain = ends_chain && !leads;
      const BoneSegment segment{m_positions[joint], m_positions[child], {}};
      if ((segment.to - segment.from).norm() <= m_shortest) continue;
      if (leads)
        segments.push_back(segment);
      else if (inside_share(segment) >= least_inside)
        others.push_back(segment);
    }
    if (!ends_chain) return segments;
    add_end(joint, segments);
    const auto length = [](const std::vector<BoneSegment>& list) {
      double longest = 0;
      for (const BoneSegment& s : list) longest = std::max(longest, (s.to - s.from).norm());
      return longest;
    };
    return length(segments) > length(others) ? segments : others;
  }

  // Continues the bone that leads to a joint without children.
  void add_end(int joint, std::vector<BoneSegment>& segments) const {
    if (m_skeleton.joints[joint].name.ends_with("_end")) return;
    Vec3d direction = Vec3d::Zero();
    for (int above = m_skeleton.joints[joint].parent; above >= 0 && direction.isZero(0);
         above = m_skeleton.joints[above].parent) {
      const Vec3d way = m_positions[joint] - m_positions[above];
      if (way.norm() > m_shortest) direction = way;
    }
    if (direction.isZero(0)) return;
    const double flesh = flesh_along(m_positions[joint], direction.normalized());
    if (flesh < least_flesh * direction.norm()) return;
    segments.push_back(
        {m_positions[joint], m_positions[joint] + end_share * flesh * direction.normalized(), {}});
  }

  bool in_flesh(const Vec3d& point) const { return m_solid.kind_at(point) != CellKind::outside; }

  double flesh_along(const Vec3d& from, const Vec3d& direction) const {
    const double step = m_solid.spacing / 2;
    const double limit = longest_end * m_solid.spacing * m_solid.size.cast<double>().norm();
    double length = 0;
    while (length + step < limit && in_flesh(from + (length + step) * direction)) length += step;
    return length;
  }

  double inside_share(const BoneSegment& segment) const {
    const Vec3d way = segment.to - segment.from;
    const int samples = 2 + static_cast<int>(std::min(2 * way.norm() / m_solid.spacing, 1e4));
    int inside = 0;
    for (int i = 0; i < samples; ++i) inside += in_flesh(segment.from + (i + 0.5) / samples * way);
    return static_cast<double>(inside) / samples;
  }

  const Skeleton& m_skeleton;
  const VoxelGrid& m_solid;
  std::vector<Vec3d> m_positions;
  std::vector<std::vector<int>> m_children;
  std::vector<bool> m_wanted, m_leads_to_wanted;
  double m_shortest = 0;
};

// Linear between equal steps; `along` from 0 to 1.
double radius_along(const std::vector<double>& radii, double along) {
  if (radii.empty()) return 1;
  const double at = along * static_cast<double>(radii.size() - 1);
  const auto step = std::min(static_cast<size_t>(at), radii.size() - 1);
  const size_t next = std::min(step + 1, radii.size() - 1);
  return radii[step] + (at - static_cast<double>(step)) * (radii[next] - radii[step]);
}

}  // namespace

BonePoint Bone::nearest(const Vec3d& point) const {
  BonePoint best{INFINITY, 1, point, Vec3d::Zero()};
  for (const BoneSegment& segment : segments) {
    const Vec3d way = segment.to - segment.from;
    const double square = way.squaredNorm();
    const double along =
        square > 0 ? std::clamp((point - segment.from).dot(way) / square, 0.0, 1.0) : 0;
    const Vec3d place = segment.from + along * way;
    const double distance = (place - point).norm();
    if (distance >= best.distance) continue;
    best = {distance, radius_along(segment.radii, along), place, way.normalized()};
  }
  return best;
}

std::vector<Bone> find_bones(const Skeleton& skeleton, std::span<const uint8_t> wanted,
                             const VoxelGrid& solid) {
  return BoneFinder(skeleton, wanted, solid).find();
}

}  // namespace supple
