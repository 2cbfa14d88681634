#include "supple/rig/retarget.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/math/polar.h"
#include "supple/rig/joint_names.h"

namespace supple {
namespace {

// Bones shorter than this part of the skeleton have no direction.
constexpr double shortest_bone = 1e-4;

// Directions closer than this (sine of the angle) to one line fix no rotation around it.
constexpr double smallest_spread = 0.05;

// Hips lower than this part of the skeleton do not measure its size.
constexpr double lowest_hips = 0.1;

Quatd local_rotation(const Joint& joint, const Transform& local) {
  return joint.sheared ? Quatd(nearest_rotation(joint.sheared->linear())) : local.rotation;
}

// Model-space rotation of every joint, scales left out.
void global_rotations(const Skeleton& skeleton, const Pose& pose, std::vector<Quatd>& rotations) {
  rotations.resize(skeleton.size());
  for (size_t j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[j];
    const Quatd local = local_rotation(joint, pose.local[j]);
    rotations[j] = joint.parent < 0 ? local : (rotations[joint.parent] * local).normalized();
  }
}

// Height of the lowest joint at or below `top`.
double lowest_joint(const Skeleton& skeleton, const std::vector<Affine>& globals, int top) {
  std::vector<bool> below(skeleton.size());
  double y = globals[top].translation()[1];
  for (int j = top; j < static_cast<int>(skeleton.size()); ++j) {
    const int parent = skeleton.joints[j].parent;
    below[j] = j == top || (parent >= 0 && below[parent]);
    if (below[j]) y = std::min(y, globals[j].translation()[1]);
  }
  return y;
}

// One skeleton at rest.
struct RestPose {
  explicit RestPose(const Skeleton& s) : skeleton(s), globals(global_matrices(s, rest_pose(s))) {
    global_rotations(s, rest_pose(s), rotations);
    Box3d box;
    for (const Affine& global : globals) box.extend(Vec3d(global.translation()));
    size = box.isEmpty() ? 0 : box.diagonal().norm();
  }

  Vec3d position(int joint) const { return globals[joint].translation(); }

  // Height of the lowest joint at or below `top`.
  double lowest(int top) const { return lowest_joint(skeleton, globals, top); }

  // Where `joint` is when the part of the body below it is lifted onto the floor.
  Vec3d standing_position(int joint) const {
    return position(joint) + Vec3d(0, std::max(0.0, -lowest(joint)), 0);
  }

  const Skeleton& skeleton;
  std::vector<Affine> globals;
  std::vector<Quatd> rotations;
  double size = 0;
};

// Whether all unit directions lie on one line.
bool parallel(const std::vector<Vec3d>& directions) {
  return std::all_of(directions.begin(), directions.end(), [&](const Vec3d& d) {
    return d.cross(directions[0]).norm() < smallest_spread;
  });
}

// The rotation that turns unit directions `from` into `to`: the smallest one for a single pair (or
// parallel ones), else the best fit in the sense of least squares.
Quatd aligning_rotation(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to) {
  if (parallel(from) || parallel(to)) return smallest_rotation(from[0], to[0]);
  Mat3d sum = Mat3d::Zero();
  for (size_t i = 0; i < from.size(); ++i) sum += to[i] * from[i].transpose();
  return Quatd(nearest_rotation(sum)).normalized();
}

class Retargeter {
 public:
  Retargeter(const Skeleton& motion_skeleton, const Skeleton& skeleton,
             const RetargetOptions& options)
      : m_motion(motion_skeleton), m_character(skeleton) {
    find_pairs(options);
    find_hierarchy();
    align();
    stand();
    m_scale = options.scale > 0 ? options.scale : measured_scale();
  }

  Clip transfer(const Clip& motion) const;
  void describe(RetargetReport& report) const;

 private:
  void find_pairs(const RetargetOptions& options);
  void find_hierarchy();
  void align();
  void stand();
  std::vector<Affine> like_motion_at_rest() const;
  double measured_scale() const;
  void pose_frame(const Pose& motion_pose, Pose& pose) const;

  bool matched(int joint) const { return m_match[joint] >= 0; }

  RestPose m_motion, m_character;
  std::vector<int> m_match;       // motion joint of every character joint, or -1
  std::vector<JointKind> m_kind;  // what each matched joint is to the body
  std::vector<int> m_above;       // nearest matched joint above, or -1
  std::vector<bool> m_travels;    // joints whose translation is carried over
  std::vector<Vec3d> m_standing;  // their positions at rest, standing on the floor
  std::vector<Vec3d> m_motion_standing;
  std::vector<double> m_height;         // above their lowest joint, posed like the motion at rest
  std::vector<Quatd> m_rest_to_motion;  // A, in model space
  double m_scale = 1;
};

std::vector<std::string> joint_names(const Skeleton& skeleton) {
  std::vector<std::string> names;
  for (const Joint& joint : skeleton.joints) names.push_back(joint.name);
  return names;
}

int find_or_throw(const Skeleton& skeleton, const std::string& name, std::string_view whose) {
  const int joint = skeleton.find(name);
  if (joint < 0)
    throw_input_error("retarget", "joint map",
                      fmt::format("'{}' is not a joint of the {}{}", printable(name), whose,
                                  suggestion(name, joint_names(skeleton))));
  return joint;
}

void Retargeter::find_pairs(const RetargetOptions& options) {
  const Skeleton& skeleton = m_character.skeleton;
  m_match.assign(skeleton.size(), -1);
  m_kind.assign(skeleton.size(), JointKind::other);
  if (options.joint_map.empty()) {
    for (const JointPair& pair : pair_joints(skeleton, m_motion.skeleton)) {
      m_match[pair.a] = pair.b;
      m_kind[pair.a] = pair.kind;
    }
  }
  for (const auto& [name, source_name] : options.joint_map) {
    const int joint = find_or_throw(skeleton, name, "character");
    const int source = find_or_throw(m_motion.skeleton, source_name, "motion");
    if (skeleton.joints[joint].sheared)
      throw_input_error("retarget", "joint map",
                        fmt::format("'{}' is sheared and cannot be animated", printable(name)));
    m_match[joint] = source;
  }
  if (std::none_of(m_match.begin(), m_match.end(), [](int m) { return m >= 0; }))
    throw_input_error("retarget", "joint map",
                      "no joints of motion and character have matching names; name the pairs");
}

void Retargeter::find_hierarchy() {
  const std::vector<Joint>& joints = m_character.skeleton.joints;
  m_above.assign(joints.size(), -1);
  m_travels.assign(joints.size(), false);
  std::vector<bool> hips_above(joints.size(), false);
  for (size_t j = 0; j < joints.size(); ++j) {
    const int parent = joints[j].parent;
    if (parent >= 0) {
      m_above[j] = matched(parent) ? parent : m_above[parent];
      hips_above[j] = hips_above[parent] || (matched(parent) && is_hips(joints[parent].name));
    }
    if (!matched(static_cast<int>(j))) continue;
    m_travels[j] = m_above[j] < 0 || (is_hips(joints[j].name) && !hips_above[j]);
  }
}

// A for every matched joint.
void Retargeter::align() {
  const size_t count = m_character.skeleton.size();
  std::vector<std::vector<Vec3d>> from(count), to(count);
  for (size_t j = 0; j < count; ++j) {
    const int above = m_above[j];
    if (!matched(static_cast<int>(j)) || above < 0) continue;
    const Vec3d own = m_character.position(static_cast<int>(j)) - m_character.position(above);
    const Vec3d theirs = m_motion.position(m_match[j]) - m_motion.position(m_match[above]);
    if (own.norm() <= shortest_bone * m_character.size ||
        theirs.norm() <= shortest_bone * m_motion.size)
      continue;
    from[above].push_back(own.normalized());
    to[above].push_back(theirs.normalized());
  }
  m_rest_to_motion.assign(count, Quatd::Identity());
  for (size_t j = 0; j < count; ++j) {
    if (m_kind[j] == JointKind::trunk) continue;  // keeps the character's own build
    if (!from[j].empty())
      m_rest_to_motion[j] = aligning_rotation(from[j], to[j]);
    else if (m_above[j] >= 0)
      m_rest_to_motion[j] = m_rest_to_motion[m_above[j]];
  }
}

// The character's joints when it is posed like the motion's skeleton at rest.
std::vector<Affine> Retargeter::like_motion_at_rest() const {
  const Skeleton& skeleton = m_character.skeleton;
  Pose pose = rest_pose(skeleton);
  std::vector<Quatd> rotations(skeleton.size());
  for (size_t j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[j];
    const Quatd above = joint.parent < 0 ? Quatd::Identity() : rotations[joint.parent];
    if (matched(static_cast<int>(j)))
      pose.local[j].rotation =
          (above.conjugate() * m_rest_to_motion[j] * m_character.rotations[j]).normalized();
    rotations[j] = (above * local_rotation(joint, pose.local[j])).normalized();
  }
  return global_matrices(skeleton, pose);
}

// Where travelling joints stand. Legs that are spread at rest in the motion (as in most BVH files)
// and straight in the character reach to different heights, so both are measured in the motion's
// rest pose.
void Retargeter::stand() {
  const size_t count = m_match.size();
  m_standing.assign(count, Vec3d::Zero());
  m_motion_standing.assign(count, Vec3d::Zero());
  m_height.assign(count, 0.0);
  const std::vector<Affine> posed = like_motion_at_rest();
  for (int j = 0; j < static_cast<int>(count); ++j) {
    if (!m_travels[j]) continue;
    m_height[j] = posed[j].translation()[1] - lowest_joint(m_character.skeleton, posed, j);
    const double own_height = m_character.position(j)[1] - m_character.lowest(j);
    m_standing[j] = m_character.standing_position(j) + Vec3d(0, m_height[j] - own_height, 0);
    m_motion_standing[j] = m_motion.standing_position(m_match[j]);
  }
}

double Retargeter::measured_scale() const {
  for (size_t j = 0; j < m_match.size(); ++j) {
    if (!m_travels[j]) continue;
    const int joint = static_cast<int>(j), source = m_match[j];
    const double own = m_height[joint];
    const double theirs = m_motion.position(source)[1] - m_motion.lowest(source);
    if (own > lowest_hips * m_character.size && theirs > lowest_hips * m_motion.size)
      return own / theirs;
  }
  return m_character.size > 0 && m_motion.size > 0 ? m_character.size / m_motion.size : 1;
}

// Poses the character like one frame of the motion.
void Retargeter::pose_frame(const Pose& motion_pose, Pose& pose) const {
  const Skeleton& skeleton = m_character.skeleton;
  const std::vector<Affine> motion_globals = global_matrices(m_motion.skeleton, motion_pose);
  std::vector<Quatd> motion_rotations, rotations(skeleton.size());
  global_rotations(m_motion.skeleton, motion_pose, motion_rotations);
  std::vector<Affine> globals(skeleton.size());
  for (size_t j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[j];
    const Quatd above = joint.parent < 0 ? Quatd::Identity() : rotations[joint.parent];
    const Affine parent = joint.parent < 0 ? Affine::Identity() : globals[joint.parent];
    Transform& local = pose.local[j];
    if (const int source = m_match[j]; source >= 0) {
      // R(t) = D(t) A R(rest), with D(t) = M(t) M(rest)⁻¹.
      const Quatd turned = motion_rotations[source] * m_motion.rotations[source].conjugate();
      const Quatd global = turned * m_rest_to_motion[j] * m_character.rotations[j];
      local.rotation = (above.conjugate() * global).normalized();
      if (m_travels[j]) {
        const Vec3d travel = motion_globals[source].translation() - m_motion_standing[j];
        local.translation = parent.inverse() * (m_standing[j] + m_scale * travel);
      }
    }
    rotations[j] = (above * local_rotation(joint, local)).normalized();
    globals[j] = parent * (joint.sheared ? *joint.sheared : local.matrix());
  }
}

// All times at which any channel of the motion has a key.
std::vector<double> key_times(const Clip& motion) {
  std::vector<double> times;
  for (const Channel& channel : motion.channels) {
    if (channel.target == ChannelTarget::shape_weights || channel.times == times) continue;
    std::vector<double> merged;
    std::set_union(times.begin(), times.end(), channel.times.begin(), channel.times.end(),
                   std::back_inserter(merged));
    times = std::move(merged);
  }
  return times;
}

Channel make_channel(ChannelTarget target, int joint, const std::vector<double>& times) {
  Channel channel;
  channel.target = target;
  channel.joint = joint;
  channel.width = target == ChannelTarget::rotation ? 4 : 3;
  channel.times = times;
  channel.values.reserve(times.size() * channel.width);
  return channel;
}

// Appends a key; rotations take the sign nearer to the key before.
void add_key(Channel& channel, const Transform& local) {
  if (channel.target == ChannelTarget::translation) {
    for (int c = 0; c < 3; ++c) channel.values.push_back(local.translation[c]);
    return;
  }
  Eigen::Vector4d xyzw = local.rotation.coeffs();
  if (!channel.values.empty()) {
    const Eigen::Map<const Eigen::Vector4d> before(channel.values.data() + channel.values.size() -
                                                   4);
    if (before.dot(xyzw) < 0) xyzw = -xyzw;
  }
  for (int c = 0; c < 4; ++c) channel.values.push_back(xyzw[c]);
}

Clip Retargeter::transfer(const Clip& motion) const {
  Clip clip;
  clip.name = motion.name;
  clip.rate = motion.rate;
  const std::vector<double> times = key_times(motion);
  if (times.empty()) return clip;
  for (size_t j = 0; j < m_match.size(); ++j) {
    const int joint = static_cast<int>(j);
    if (m_travels[j])
      clip.channels.push_back(make_channel(ChannelTarget::translation, joint, times));
    if (matched(joint))
      clip.channels.push_back(make_channel(ChannelTarget::rotation, joint, times));
  }
  Pose motion_pose = rest_pose(m_motion.skeleton), pose = rest_pose(m_character.skeleton);
  for (const double time : times) {
    apply_clip(motion, time, motion_pose);
    pose_frame(motion_pose, pose);
    for (Channel& channel : clip.channels) add_key(channel, pose.local[channel.joint]);
  }
  return clip;
}

void Retargeter::describe(RetargetReport& report) const {
  report = {};
  report.scale = m_scale;
  const std::vector<Joint>& joints = m_character.skeleton.joints;
  const bool has_bones =
      std::any_of(joints.begin(), joints.end(), [](const Joint& j) { return j.is_bone; });
  for (size_t j = 0; j < joints.size(); ++j) {
    if (matched(static_cast<int>(j)))
      report.pairs.emplace_back(joints[j].name, m_motion.skeleton.joints[m_match[j]].name);
    else if (joints[j].is_bone || !has_bones)
      report.unmatched.push_back(joints[j].name);
  }
}

}  // namespace

Clip retarget(const Skeleton& motion_skeleton, const Clip& motion, const Skeleton& skeleton,
              const RetargetOptions& options, RetargetReport* report) {
  const Retargeter retargeter(motion_skeleton, skeleton, options);
  if (report) retargeter.describe(*report);
  return retargeter.transfer(motion);
}

}  // namespace supple
