#include "supple/sim/tet_control.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/math/polar.h"

namespace supple {
namespace {

constexpr double degree = std::numbers::pi / 180;

// No joint turns faster than this (rad/s, or lengths of the body per second): what asks for it is a
// jump in the input.
constexpr double fastest = 60;

// Numbers that a key has for a joint: angles of balls are rotation vectors.
size_t key_numbers(JointType type) { return static_cast<size_t>(velocity_numbers(type)); }

// A skeleton that carries all its flesh.
ArticulatedBody laden(const TetModel& model) {
  std::vector<BoneDescription> bones = model.skeleton;
  merge_free_masses(model.flesh, bones);
  return ArticulatedBody(bones);
}

// The angle of a rotation about an axis, with what it does otherwise left out.
double twist_about(const Quatd& q, const Vec3d& axis) {
  const double angle = 2 * std::atan2(q.vec().dot(axis), q.w());
  return angle > std::numbers::pi    ? angle - 2 * std::numbers::pi
         : angle < -std::numbers::pi ? angle + 2 * std::numbers::pi
                                     : angle;
}

}  // namespace

TetControl::TetControl(const Character& character, const TetModel& model,
                       const ArticulatedBody& skeleton, const SkeletonSettings& settings,
                       const FrameRange& range, const std::string& file)
    : m_model(model),
      m_skeleton(skeleton),
      m_laden(laden(model)),
      m_laden_dynamics(m_laden),
      m_range(range) {
  for (size_t i = 0; i < settings.control.size(); ++i) {
    const ControlSettings& own = settings.control[i];
    const std::string here = fmt::format("body.skeleton.control[{}]", i);
    Control control;
    control.settings = &own;
    const auto bone_of = [&](const std::string& name, const std::string& field) {
      const int bone = skeleton.find(name);
      if (bone >= 0) return static_cast<size_t>(bone);
      character.skeleton.require(name, file, field);
      throw_input_error(file, field, fmt::format("joint '{}' carries no flesh", printable(name)));
    };
    for (const std::string& name : own.joints)
      control.bones.push_back(bone_of(name, here + ".joints"));
    if (own.joints.empty())
      for (size_t b = 0; b < skeleton.size(); ++b)
        if (skeleton.bone(b).joint != JointType::free) control.bones.push_back(b);
    if (own.to != 0 && !(own.to > own.from))
      throw_input_error(file, here + ".to", "must lie after 'from', or be 0");
    if (own.type == ControlType::keys) set_path(control, here, file);
    if (own.type == ControlType::direct) {
      control.bone = static_cast<int>(bone_of(own.bone, here + ".bone"));
      const TetBone& bone = model.tet_bones[static_cast<size_t>(control.bone)];
      const Vec3d point(own.point.data());
      control.point = point.isZero(0) ? Vec3d(Vec3d::Zero()) : Vec3d(point - bone.origin);
      control.script = Script(own.motion, range, file, here + ".motion");
      std::vector<uint8_t> active(skeleton.size(), 0);
      for (const size_t b : control.bones) active[b] = 1;
      control.direct =
          std::make_unique<DirectControl>(m_laden, std::move(active), false, ControlLimits{});
    }
    m_controls.push_back(std::move(control));
  }
  for (size_t b = 0; b < skeleton.size(); ++b)
    m_inertia.push_back(hanging_inertia(model.skeleton, b));
}

void TetControl::set_path(Control& control, const std::string& here, const std::string& file) {
  size_t count = 0;
  for (const size_t b : control.bones) count += key_numbers(m_skeleton.bone(b).joint);
  std::vector<double> times;
  std::vector<std::vector<double>> keys;
  for (const std::vector<double>& row : control.settings->keys) {
    if (row.size() != count + 1)
      throw_input_error(
          file, here + ".keys",
          fmt::format("a key has {} numbers; a time and {} angles are needed", row.size(), count));
    times.push_back(row[0]);
    keys.emplace_back(row.begin() + 1, row.end());
    size_t at = 0;
    for (const size_t b : control.bones) {
      const JointType type = m_skeleton.bone(b).joint;
      for (size_t i = 0; i < key_numbers(type); ++i, ++at)
        keys.back()[at] *= type == JointType::prismatic ? 1 : degree;
    }
  }
  if (keys.empty()) throw_input_error(file, here + ".keys", "there are none");
  // A key later than the beginning starts from where the joints are then.
  try {
    control.path = JointPath(std::move(times), std::move(keys));
  } catch (const Error& error) {
    throw_input_error(file, here + ".keys", error.what());
  }
}

bool TetControl::tracks() const {
  return std::any_of(m_controls.begin(), m_controls.end(), [](const Control& control) {
    return control.settings->type == ControlType::track;
  });
}

Eigen::VectorXd TetControl::numbers_of(std::span<const Affine> joints) const {
  Eigen::VectorXd q = rest_state(m_skeleton).q;
  std::vector<Quatd> turned(m_skeleton.size());
  for (size_t b = 0; b < m_skeleton.size(); ++b) {
    const TetBone& bone = m_model.tet_bones[b];
    const Affine change = joints[static_cast<size_t>(bone.joint)] * bone.bind.inverse();
    turned[b] = Quatd(nearest_rotation(change.linear())).normalized();
    const ArticulatedBone& own = m_skeleton.bone(b);
    const Quatd relative =
        own.parent >= 0
            ? (turned[static_cast<size_t>(own.parent)].conjugate() * turned[b]).normalized()
            : turned[b];
    const int at = own.q;
    switch (own.joint) {
      case JointType::free:
        q.segment<3>(at) = change * bone.origin;
        q.segment<4>(at + 3) = turned[b].coeffs();
        break;
      case JointType::ball:
        q.segment<4>(at) = relative.coeffs();
        break;
      case JointType::universal: {
        q[at] = twist_about(relative, own.axis);
        const Quatd rest = Quatd(Eigen::AngleAxisd(q[at], own.axis)).conjugate() * relative;
        q[at + 1] = twist_about(rest, own.axis2);
        break;
      }
      case JointType::hinge:
        q[at] = twist_about(relative, own.axis);
        break;
      case JointType::prismatic: {
        Affine parent = Affine::Identity();
        if (own.parent >= 0) {
          const TetBone& above = m_model.tet_bones[static_cast<size_t>(own.parent)];
          parent = joints[static_cast<size_t>(above.joint)] * above.bind.inverse();
        }
        const Vec3d way = parent.inverse() * (change * bone.origin);
        q[at] = (way - bone.origin).dot(own.axis);
        break;
      }
      case JointType::fixed:
        break;
    }
    // Joints that cannot turn as the clip wants leave their children to the rest.
    if (own.joint == JointType::hinge || own.joint == JointType::universal ||
        own.joint == JointType::prismatic || own.joint == JointType::fixed) {
      Quatd done = Quatd::Identity();
      if (own.joint == JointType::hinge) done = Eigen::AngleAxisd(q[at], own.axis);
      if (own.joint == JointType::universal)
        done = Quatd(Eigen::AngleAxisd(q[at], own.axis)) *
               Quatd(Eigen::AngleAxisd(q[at + 1], own.axis2));
      turned[b] = own.parent >= 0 ? turned[static_cast<size_t>(own.parent)] * done : done;
    }
  }
  return q;
}

void TetControl::begin_frame(std::span<const Affine> from, std::span<const Affine> to) {
  if (!tracks() || from.empty() || to.empty()) return;
  m_tracked = numbers_of(from);
  m_track = difference(m_skeleton, m_tracked, numbers_of(to));
}

// Where a control wants its joints at a time.
void TetControl::aim(const Control& control, double time, double part,
                     Eigen::VectorXd& target) const {
  if (control.settings->type == ControlType::track) {
    if (m_track.size() == 0) return;
    target = m_tracked;
    advance(m_skeleton, target, m_track, part);
    return;
  }
  if (control.settings->type != ControlType::keys) {
    target = began;  // hold
    return;
  }
  std::vector<double> key(control.path.size());
  control.path.at(time, key);
  // Until the first key the joints go there smoothly from where they were.
  const double lead = control.path.begin();
  const double led = lead > 0 ? std::clamp(time / lead, 0.0, 1.0) : 1;
  const double blend = led * led * (3 - 2 * led);
  size_t at = 0;
  for (const size_t b : control.bones) {
    const ArticulatedBone& bone = m_skeleton.bone(b);
    const size_t count = key_numbers(bone.joint);
    if (bone.joint == JointType::ball) {
      const Quatd from(began[bone.q + 3], began[bone.q], began[bone.q + 1], began[bone.q + 2]);
      const Quatd to = rotation_of(Vec3d(key[at], key[at + 1], key[at + 2]));
      target.segment<4>(bone.q) = from.slerp(blend, to).coeffs();
    } else {
      for (size_t i = 0; i < count; ++i) {
        const auto n = static_cast<Eigen::Index>(bone.q) + static_cast<Eigen::Index>(i);
        target[n] = (1 - blend) * began[n] + blend * key[at + i];
      }
    }
    at += count;
  }
}

// Prescribes accelerations that put joints at the target, or servo torques towards it.
void TetControl::drive(const Control& control, TetCharacter& body, const Eigen::VectorXd& target,
                       double h, JointOrders& orders) {
  for (const size_t b : control.bones) {
    const ArticulatedBone& bone = m_skeleton.bone(b);
    if (bone.joint == JointType::free || bone.v_count == 0) continue;
    if (!control.settings->torque) {
      orders.prescribed[b] = 1;
      following_acceleration(m_skeleton, body.joints, b, target.data() + bone.q, h,
                             orders.accelerations.data() + bone.v);
      continue;
    }
    // A servo of 8 Hz, critically damped, for what hangs on the joint.
    const double rate = 2 * std::numbers::pi * 8;
    Servo servo;
    servo.bone = b;
    servo.stiffness =
        control.settings->stiffness > 0 ? control.settings->stiffness : m_inertia[b] * rate * rate;
    servo.damping = control.settings->damping > 0 ? control.settings->damping
                                                  : 2 * std::sqrt(servo.stiffness * m_inertia[b]);
    add_servo_torque(m_skeleton, body.joints, servo,
                     {target.data() + bone.q, static_cast<size_t>(bone.q_count)}, {},
                     orders.torques);
    orders.resistances.segment(bone.v, bone.v_count).array() +=
        h * (servo.damping + h * servo.stiffness);
  }
}

// Finds what joints must do to bring a bone where the control's script wants it. This is planned
// for a skeleton that carries its flesh, at ease on whatever supports it: what a step's forces of
// the flesh would do to the bare bones is gone within milliseconds, and would drown all else.
void TetControl::reach(const Control& control, TetCharacter& body, const Moment& moment,
                       const Vec3d& gravity, double h, JointOrders& orders) {
  const ControlSettings& own = *control.settings;
  const auto bone = static_cast<size_t>(control.bone);
  // From where the bone was when this began, as its script goes on from then.
  const Affine then =
      control.script.at({m_range.clip_time + own.from, m_range.first + own.from * m_range.rate});
  const Affine motion = control.script.at(moment) * then.inverse();
  const Affine earlier =
      control.script.at({moment.time - h, moment.frame - h * m_range.rate}) * then.inverse();
  BoneGoal goal;
  goal.bone = bone;
  goal.point = control.point;
  const Vec3d start = bones_then[bone] * control.point;
  goal.position = motion * start;
  goal.velocity = (motion * start - earlier * start) / h;
  goal.turns = own.turns;
  goal.orientation = Quatd(Mat3d(motion.linear() * bones_then[bone].linear())).normalized();
  goal.frequency = own.frequency;
  goal.posture = began;
  const auto prescribed = control.direct->prescribed();
  JointCommands commands{.prescribed = {},
                         .accelerations = {},
                         .torques = {},
                         .wrenches = {},
                         .gravity = Vec3d::Zero(),
                         .resistances = {}};
  // What touches something has a support that its topmost bone does not leave; a body in the air
  // pushes itself off from its own mass alone.
  m_supported.assign(prescribed.begin(), prescribed.end());
  for (size_t b = 0; b < m_skeleton.size(); ++b)
    if (m_skeleton.bone(b).parent < 0 && body.contact.touching() > 0) m_supported[b] = 1;
  commands.prescribed = m_supported;
  m_laden_dynamics.move(body.joints);
  control.direct->find(body.joints, goal, commands, h, m_laden_dynamics, orders.accelerations,
                       orders.torques);
  if (!own.torque) {
    orders.prescribed.assign(prescribed.begin(), prescribed.end());
    return;
  }
  // The torques that do the same to the bones with all that pulls at them now, as far as they may.
  Eigen::VectorXd& passive = orders.torques;
  passive.setZero();
  add_passive_torques(m_skeleton, body.joints, passive);
  m_resistances.setZero(passive.size());
  add_passive_resistances(m_skeleton, body.joints, h, m_resistances);
  commands.prescribed = prescribed;
  commands.accelerations = numbers(orders.accelerations);
  commands.torques = numbers(passive);
  commands.wrenches = body.wrenches();
  commands.gravity = gravity;
  const Eigen::VectorXd& needed = body.dynamics().solve(commands).torques;
  const double most = ControlLimits{}.torque;
  for (size_t b = 0; b < m_skeleton.size(); ++b)
    for (int i = m_skeleton.bone(b).v; i < m_skeleton.bone(b).v + m_skeleton.bone(b).v_count; ++i) {
      const double torque = needed[i] + m_resistances[i] * orders.accelerations[i] - passive[i];
      orders.torques[i] = prescribed[b] ? std::clamp(torque, -most, most) : 0;
    }
}

int TetControl::order(TetCharacter& body, double time, const Moment& moment, double part,
                      const Vec3d& gravity, double h, JointOrders& orders) {
  orders.prescribed.assign(m_skeleton.size(), 0);
  orders.accelerations.setZero(m_skeleton.velocity_numbers());
  orders.torques.setZero(m_skeleton.velocity_numbers());
  orders.resistances.setZero(m_skeleton.velocity_numbers());
  // The last of the controls that are on has a joint.
  int on = -1;
  for (size_t i = 0; i < m_controls.size(); ++i) {
    const ControlSettings& own = *m_controls[i].settings;
    if (time >= own.from && (own.to == 0 || time < own.to)) on = static_cast<int>(i);
  }
  if (on != on_since) {
    on_since = on;
    began = body.joints.q;
    bones_then.clear();
    for (const BoneMotion& bone : body.dynamics().motions()) bones_then.push_back(bone.matrix());
  }
  if (on < 0) return 0;
  const Control& control = m_controls[static_cast<size_t>(on)];
  const ControlSettings& own = *control.settings;
  if (own.type == ControlType::passive) return 0;
  if (own.type == ControlType::direct) {
    reach(control, body, moment, gravity, h, orders);
    return 0;
  }
  m_target = began;
  aim(control, time + h - own.from, part, m_target);
  drive(control, body, m_target, h, orders);
  // What would be faster than any animation means is a jump in the input.
  int slowed = 0;
  for (size_t b = 0; b < m_skeleton.size(); ++b) {
    const ArticulatedBone& bone = m_skeleton.bone(b);
    const double most = bone.joint == JointType::prismatic ? fastest * m_model.length : fastest;
    for (int i = bone.v; orders.prescribed[b] && i < bone.v + bone.v_count; ++i) {
      const double then = body.joints.v[i] + h * orders.accelerations[i];
      if (std::abs(then) <= most) continue;
      orders.accelerations[i] = (std::copysign(most, then) - body.joints.v[i]) / h;
      ++slowed;
    }
  }
  return slowed;
}

}  // namespace supple
