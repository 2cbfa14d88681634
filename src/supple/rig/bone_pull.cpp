#include "supple/rig/bone_pull.h"

#include <algorithm>
#include <cmath>

#include "supple/core/parallel.h"
#include "supple/math/polar.h"

namespace supple {
namespace {

constexpr int rounds = 60;
constexpr size_t block = 256;

// Joints turn only where this part of all bone length hangs below them: hands stay as they are.
constexpr double least_limb = 0.05;

// How much the rest pose counts against the points' pull.
constexpr double loyalty = 0.15;

// How much the pose of the round before counts.
constexpr double inertia = 0.1;

// Largest turn of a joint in one round, in radians, and largest change of scale.
constexpr double largest_turn = 0.2, largest_growth = 0.05;

// How far a joint may be bent in all, in radians.
constexpr double largest_bend = 1.4;

// A point and the place of the bone it draws.
struct Pull {
  Vec3d bone = Vec3d::Zero();
  Vec3d point = Vec3d::Zero();
  double weight = 0;
  int joint = 0;
};

class BonePuller {
 public:
  BonePuller(const Skeleton& skeleton, std::span<const BoneLine> lines,
             std::vector<Vec3d> positions, std::span<const PullPoint> points)
      : m_skeleton(skeleton), m_lines(lines), m_points(points), m_limb(skeleton.size(), 0) {
    m_pose.positions = std::move(positions);
    m_pose.turns.assign(skeleton.size(), Quatd::Identity());
    m_bends.assign(skeleton.size(), false);
    double total = 0;
    for (const BoneLine& line : lines) {
      m_bends[line.child] = true;
      const double length = (m_pose.positions[line.child] - m_pose.positions[line.joint]).norm();
      m_limb[line.joint] += length;
      total += length;
    }
    for (size_t j = skeleton.size(); j-- > 1;)
      if (const int parent = skeleton.joints[j].parent; parent >= 0) m_limb[parent] += m_limb[j];
    for (double& limb : m_limb) limb = total > 0 ? limb / total : 0;
  }

  PulledPose pull() {
    for (int round = 0; round < rounds; ++round) {
      find_pulls();
      place();
      for (size_t j = 0; j < m_skeleton.size(); ++j)
        if (m_bends[j] && m_limb[j] > least_limb) turn(static_cast<int>(j));
    }
    return m_pose;
  }

 private:
  void find_pulls();
  void place();
  void turn(int joint);

  // Which joints are `top` or below it; joints come after their parents.
  std::vector<bool> below(int top) const {
    std::vector<bool> result(m_skeleton.size(), false);
    for (size_t j = static_cast<size_t>(top); j < m_skeleton.size(); ++j) {
      const int parent = m_skeleton.joints[j].parent;
      result[j] = static_cast<int>(j) == top || (parent >= 0 && result[parent]);
    }
    return result;
  }

  const Skeleton& m_skeleton;
  std::span<const BoneLine> m_lines;
  std::span<const PullPoint> m_points;
  std::vector<double> m_limb;  // part of all bone length at and below each joint
  std::vector<bool> m_bends;   // joints with a bone above: only they turn
  PulledPose m_pose;
  std::vector<Pull> m_pulls;
};

// Pairs every point with the nearest place on a bone.
void BonePuller::find_pulls() {
  m_pulls.resize(m_points.size());
  parallel_for(m_points.size(), block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Vec3d& point = m_points[i].position;
      double least = INFINITY;
      for (const BoneLine& line : m_lines) {
        const Vec3d& from = m_pose.positions[line.joint];
        const Vec3d way = m_pose.positions[line.child] - from;
        const double square = way.squaredNorm();
        const double along =
            square > 0 ? std::clamp((point - from).dot(way) / square, 0.0, 1.0) : 0;
        const Vec3d place = from + along * way;
        const double distance = (place - point).squaredNorm();
        if (distance >= least) continue;
        least = distance;
        m_pulls[i] = {place, point, m_points[i].weight, line.joint};
      }
    }
  });
}

// Scale and translation that bring bones closest to their points, in the sense of least squares.
void BonePuller::place() {
  double mass = 0;
  Vec3d bones = Vec3d::Zero(), points = Vec3d::Zero();
  for (const Pull& pull : m_pulls) {
    mass += pull.weight;
    bones += pull.weight * pull.bone;
    points += pull.weight * pull.point;
  }
  if (!(mass > 0)) return;
  bones /= mass;
  points /= mass;
  double both = 0, square = 0;
  for (const Pull& pull : m_pulls) {
    both += pull.weight * (pull.bone - bones).dot(pull.point - points);
    square += pull.weight * (pull.bone - bones).squaredNorm();
  }
  const double scale =
      square > 0 ? std::clamp(both / square, 1 - largest_growth, 1 + largest_growth) : 1;
  const auto moved = [&](const Vec3d& p) -> Vec3d { return points + scale * (p - bones); };
  for (Vec3d& position : m_pose.positions) position = moved(position);
  for (Pull& pull : m_pulls) pull.bone = moved(pull.bone);
  m_pose.scale *= scale;
}

// Turns everything below a joint about it: the rotation that brings bones closest to their points,
// held back by the pose at rest.
void BonePuller::turn(int joint) {
  const std::vector<bool> moves = below(joint);
  const Vec3d pivot = m_pose.positions[joint];
  const int parent = m_skeleton.joints[joint].parent;
  const Quatd back = m_pose.turns[parent] * m_pose.turns[joint].conjugate();
  Mat3d sum = Mat3d::Zero();
  for (const Pull& pull : m_pulls) {
    if (!moves[pull.joint]) continue;
    const Vec3d arm = pull.bone - pivot;
    // A straight limb fixes no turn about itself: it had better not turn.
    sum += inertia * pull.weight * arm.squaredNorm() * Mat3d::Identity();
    sum += pull.weight * (pull.point - pivot) * arm.transpose();
    sum += loyalty * pull.weight * (back * arm) * arm.transpose();
  }
  if (sum.norm() == 0) return;
  Eigen::AngleAxisd rotation(nearest_rotation(sum));
  rotation.angle() = std::clamp(rotation.angle(), -largest_turn, largest_turn);
  const Quatd turned(rotation);
  const Quatd bend = m_pose.turns[parent].conjugate() * turned * m_pose.turns[joint];
  if (bend.angularDistance(Quatd::Identity()) > largest_bend) return;
  for (size_t j = 0; j < moves.size(); ++j) {
    if (!moves[j]) continue;
    m_pose.positions[j] = pivot + turned * (m_pose.positions[j] - pivot);
    m_pose.turns[j] = (turned * m_pose.turns[j]).normalized();
  }
  for (Pull& pull : m_pulls)
    if (moves[pull.joint]) pull.bone = pivot + turned * (pull.bone - pivot);
}

}  // namespace

PulledPose pull_bones(const Skeleton& skeleton, std::span<const BoneLine> lines,
                      std::vector<Vec3d> positions, std::span<const PullPoint> points) {
  return BonePuller(skeleton, lines, std::move(positions), points).pull();
}

}  // namespace supple
