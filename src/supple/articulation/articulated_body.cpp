#include "supple/articulation/articulated_body.h"

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include <set>

#include "supple/articulation/hybrid_dynamics.h"
#include "supple/core/error.h"

namespace supple {
namespace {

[[noreturn]] void refuse(const BoneDescription& bone, std::string_view problem) {
  throw Error(ErrorKind::input, fmt::format("bone '{}': {}", printable(bone.name), problem));
}

bool is_unit(double length) { return std::abs(length - 1) < 1e-6; }

void check_joint(const BoneDescription& bone) {
  const JointType joint = bone.joint;
  if (joint == JointType::free && bone.parent != -1)
    refuse(bone, "a free joint is for bones without a parent");
  if (!bone.position.allFinite()) refuse(bone, "the position of its joint is not finite");
  if (!is_unit(bone.orientation.norm()))
    refuse(bone, "the orientation of its joint is not a unit quaternion");
  const bool has_axis =
      joint == JointType::hinge || joint == JointType::prismatic || joint == JointType::universal;
  if (has_axis && !is_unit(bone.axis.norm())) refuse(bone, "its axis is not of unit length");
  if (joint != JointType::universal) return;
  if (!is_unit(bone.axis2.norm())) refuse(bone, "its second axis is not of unit length");
  if (!(std::abs(bone.axis.dot(bone.axis2)) < 1e-6))
    refuse(bone, "the axes of its universal joint are not at right angles");
}

void check_mass(const BoneDescription& bone) {
  if (!(bone.mass >= 0) || !std::isfinite(bone.mass))
    refuse(bone, fmt::format("mass {} kg is not a finite number of at least 0", bone.mass));
  if (!bone.centre.allFinite()) refuse(bone, "its centre of mass is not finite");
  const Mat3d& inertia = bone.inertia;
  if (!inertia.allFinite()) refuse(bone, "its inertia is not finite");
  const double size = inertia.cwiseAbs().maxCoeff();
  if ((inertia - inertia.transpose()).cwiseAbs().maxCoeff() > 1e-9 * size)
    refuse(bone, "its inertia is not symmetric");
  const Eigen::SelfAdjointEigenSolver<Mat3d> solver(inertia, Eigen::EigenvaluesOnly);
  if (solver.eigenvalues()[0] < -1e-9 * size)
    refuse(bone, fmt::format("its inertia has the negative principal moment {} kg m²",
                             solver.eigenvalues()[0]));
}

void check_passive(const BoneDescription& bone) {
  const JointPassive& passive = bone.passive;
  for (const auto& [value, what] :
       {std::pair(passive.stiffness, "stiffness"), std::pair(passive.damping, "damping"),
        std::pair(passive.limit_stiffness, "stiffness of limits"),
        std::pair(passive.limit_damping, "damping of limits")}) {
    if (!(value >= 0) || !std::isfinite(value))
      refuse(bone, fmt::format("{} {} is not a finite number of at least 0", what, value));
    const bool none = bone.joint == JointType::free || bone.joint == JointType::fixed;
    if (none && value != 0)
      refuse(bone, fmt::format("a joint that is free or fixed has no {}", what));
  }
  for (size_t k = 0; k < 2; ++k) {
    if (!(passive.lower[k] <= passive.upper[k]))
      refuse(bone, fmt::format("its lower limit {} is not below its upper limit {}",
                               passive.lower[k], passive.upper[k]));
    if (!std::isfinite(passive.rest[k])) refuse(bone, "its spring's rest is not finite");
  }
  if (!is_unit(passive.rest_turn.norm()))
    refuse(bone, "its spring's rest is not a unit quaternion");
  if (bone.joint == JointType::ball && passive.upper[0] < 0)
    refuse(bone,
           fmt::format("the greatest angle {} of its ball joint is negative", passive.upper[0]));
}

BoneConstants constants_of(const ArticulatedBone& bone) {
  const Vec3d& c = bone.centre;
  const Mat3d about_origin =
      bone.inertia + bone.mass * (c.squaredNorm() * Mat3d::Identity() - c * c.transpose());
  return {bone.orientation.normalized().toRotationMatrix(),
          bone.position,
          bone.axis.normalized(),
          bone.axis2.normalized(),
          c,
          Symmetric3d::of(about_origin),
          bone.mass,
          bone.parent,
          bone.q,
          bone.v,
          bone.joint};
}

// A joint that moves nothing that has mass is found where joints stand at no special angles, all
// free to move.
void check_inertia(const ArticulatedBody& body) {
  ArticulatedState state = rest_state(body);
  for (const ArticulatedBone& bone : body.bones()) {
    const double value = 0.3 + 0.7 * std::sin(1.7 * bone.v);
    if (bone.joint == JointType::ball)
      state.q.segment<4>(bone.q) = rotation_of(Vec3d(value, 0.4, -0.7 * value)).coeffs();
    else if (bone.joint != JointType::free)
      state.q.segment(bone.q, bone.q_count).setLinSpaced(value, value + 0.2);
  }
  HybridDynamics dynamics(body);
  const int singular = dynamics.solve(state, {}).singular_bone;
  if (singular >= 0)
    refuse(body.bone(static_cast<size_t>(singular)),
           "its joint can move without moving any mass; give it or the bones it carries mass and "
           "inertia");
}

}  // namespace

int position_numbers(JointType type) {
  switch (type) {
    case JointType::free:
      return 7;
    case JointType::ball:
      return 4;
    case JointType::universal:
      return 2;
    case JointType::hinge:
    case JointType::prismatic:
      return 1;
    case JointType::fixed:
      break;
  }
  return 0;
}

int velocity_numbers(JointType type) {
  switch (type) {
    case JointType::free:
      return 6;
    case JointType::ball:
      return 3;
    case JointType::universal:
      return 2;
    case JointType::hinge:
    case JointType::prismatic:
      return 1;
    case JointType::fixed:
      break;
  }
  return 0;
}

ArticulatedBody::ArticulatedBody(const std::vector<BoneDescription>& bones) {
  std::set<std::string_view> names;
  m_bones.reserve(bones.size());
  m_constants.reserve(bones.size());
  for (const BoneDescription& description : bones) {
    const auto index = static_cast<int>(m_bones.size());
    if (description.parent < -1 || description.parent >= index)
      refuse(description, fmt::format("parent {} is not before it (index {}); parents come first",
                                      description.parent, index));
    if (!names.insert(description.name).second) refuse(description, "the name is there twice");
    check_joint(description);
    check_mass(description);
    check_passive(description);
    ArticulatedBone bone{description, m_position_numbers, m_velocity_numbers,
                         supple::position_numbers(description.joint),
                         supple::velocity_numbers(description.joint)};
    m_position_numbers += bone.q_count;
    m_velocity_numbers += bone.v_count;
    m_mass += bone.mass;
    m_constants.push_back(constants_of(bone));
    m_bones.push_back(std::move(bone));
  }
  check_inertia(*this);
}

int ArticulatedBody::find(std::string_view name) const {
  for (size_t i = 0; i < m_bones.size(); ++i)
    if (m_bones[i].name == name) return static_cast<int>(i);
  return -1;
}

double hanging_inertia(std::span<const BoneDescription> bones, size_t bone) {
  double sum = 0;
  for (size_t k = bone; k < bones.size(); ++k) {
    Vec3d arm = bones[k].centre;
    int up = static_cast<int>(k);
    while (up > static_cast<int>(bone)) {
      arm += bones[static_cast<size_t>(up)].position;
      up = bones[static_cast<size_t>(up)].parent;
    }
    if (up == static_cast<int>(bone))
      sum += bones[k].inertia.trace() / 3 + bones[k].mass * arm.squaredNorm();
  }
  return sum;
}

ArticulatedState rest_state(const ArticulatedBody& body) {
  ArticulatedState state{Eigen::VectorXd::Zero(body.position_numbers()),
                         Eigen::VectorXd::Zero(body.velocity_numbers())};
  for (const ArticulatedBone& bone : body.bones()) {
    if (bone.joint == JointType::ball) state.q[bone.q + 3] = 1;
    if (bone.joint != JointType::free) continue;
    state.q.segment<3>(bone.q) = bone.position;
    state.q.segment<4>(bone.q + 3) = bone.orientation.normalized().coeffs();
  }
  return state;
}

bool is_finite(const ArticulatedState& state) { return state.q.allFinite() && state.v.allFinite(); }

}  // namespace supple
