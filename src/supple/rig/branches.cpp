#include "supple/rig/branches.h"

#include <algorithm>

namespace supple {
namespace {

// A line from one at `full` to zero at `none`.
double ramp(double value, double full, double none) {
  return std::clamp((none - value) / (none - full), 0.0, 1.0);
}

// How much two bones on different branches have a node between them: cosines between their
// directions, and between the ways from the node to them.
double between(const BonePoint& a, const BonePoint& b, const Vec3d& node) {
  const double alike = ramp(a.direction.dot(b.direction), 0.8, 0.5);
  const Vec3d to_a = a.place - node, to_b = b.place - node;
  const double lengths = to_a.norm() * to_b.norm();
  return lengths > 0 ? alike * ramp(to_a.dot(to_b) / lengths, -0.5, 0) : 0;
}

// From distances relative to that of the bone that hands over: of the bone across the node, so that
// a band around the middle goes over whole, and of the bone that takes over, which has to be about
// as near.
double reach(double across, double taker) { return ramp(across, 1.3, 2.5) * ramp(taker, 1.2, 1.6); }

}  // namespace

Branches::Branches(const Skeleton& skeleton, std::span<const Bone> bones)
    : m_bones(bones), m_forks(bones.size() * bones.size()) {
  std::vector<int32_t> bone_of_joint(skeleton.size(), -1);
  for (size_t b = 0; b < bones.size(); ++b) bone_of_joint[bones[b].joint] = static_cast<int32_t>(b);
  for (size_t b = 0; b < bones.size(); ++b) forks_of(b, skeleton, bone_of_joint);
}

void Branches::forks_of(size_t bone, const Skeleton& skeleton,
                        std::span<const int32_t> bone_of_joint) {
  // From the root to the bone's joint: the last bone so far takes what is handed over at a joint;
  // where there is none yet, the first one below does.
  std::vector<int> way;
  for (int j = m_bones[bone].joint; j >= 0; j = skeleton.joints[j].parent) way.push_back(j);
  std::reverse(way.begin(), way.end());
  const auto first =
      std::find_if(way.begin(), way.end(), [&](int j) { return bone_of_joint[j] >= 0; });
  int32_t taker = bone_of_joint[*first];
  std::vector<int32_t> takers(skeleton.size(), -1);
  for (const int j : way) {
    if (bone_of_joint[j] >= 0) taker = bone_of_joint[j];
    takers[j] = taker;
  }
  for (size_t other = 0; other < m_bones.size(); ++other) {
    int j = m_bones[other].joint;
    while (j >= 0 && takers[j] < 0) j = skeleton.joints[j].parent;
    if (j < 0 || j == m_bones[bone].joint || j == m_bones[other].joint) continue;
    m_forks[bone * m_bones.size() + other] = {j, takers[j]};
  }
}

void Branches::find_handovers(const Vec3d& node, std::span<const NearBone> near,
                              std::span<const double> relative, size_t own,
                              std::vector<Handover>& handovers) const {
  handovers.clear();
  const auto bone = static_cast<size_t>(near[own].bone);
  for (size_t other = 0; other < near.size(); ++other) {
    const Fork& fork = m_forks[bone * m_bones.size() + static_cast<size_t>(near[other].bone)];
    if (fork.joint < 0 || fork.taker == near[own].bone) continue;
    const auto taker =
        std::lower_bound(near.begin(), near.end(), fork.taker,
                         [](const NearBone& entry, int32_t b) { return entry.bone < b; });
    if (taker == near.end() || taker->bone != fork.taker) continue;
    const auto entry = static_cast<size_t>(taker - near.begin());
    double part = reach(relative[other] / relative[own], relative[entry] / relative[own]);
    if (part > 0)
      part *= between(m_bones[bone].nearest(node),
                      m_bones[static_cast<size_t>(near[other].bone)].nearest(node), node);
    if (part > 0) handovers.push_back({fork.joint, entry, part});
  }
}

double Branches::settle(const Vec3d& node, std::span<const NearBone> near,
                        std::span<const double> relative, std::span<double> shares) const {
  std::vector<double> given(near.size(), 0);
  std::vector<Handover> handovers;
  for (size_t own = 0; own < near.size(); ++own) {
    if (!(shares[own] > 0)) continue;
    // From the root on, every joint takes its part of what is left: by the bone it is largest for.
    find_handovers(node, near, relative, own, handovers);
    std::sort(handovers.begin(), handovers.end(), [](const Handover& a, const Handover& b) {
      return a.joint != b.joint ? a.joint < b.joint : a.part > b.part;
    });
    int32_t joint = -1;
    for (const Handover& handover : handovers) {
      if (handover.joint == joint) continue;
      joint = handover.joint;
      given[handover.taker] += handover.part * shares[own];
      shares[own] *= 1 - handover.part;
    }
  }
  double moved = 0;
  for (size_t k = 0; k < near.size(); ++k) {
    shares[k] += given[k];
    moved += given[k];
  }
  return moved;
}

}  // namespace supple
