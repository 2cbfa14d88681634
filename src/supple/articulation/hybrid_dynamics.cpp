#include "supple/articulation/hybrid_dynamics.h"

#include <Eigen/LU>

namespace supple {
namespace {

// A joint counts as singular where the inertia along it is less than this part of the inertia its
// bone has in all directions: rounding alone leaves about 1e-15.
constexpr double singular_part = 1e-13;

using Vector3Map = Eigen::Map<const Vec3d>;

void store(const Vec3d& x, double* to) { Eigen::Map<Vec3d>{to} = x; }

// Copies commands; none stand for zeros.
void take(std::span<const double> from, Eigen::VectorXd& to) {
  if (from.empty())
    to.setZero();
  else
    to = Eigen::Map<const Eigen::VectorXd>(from.data(), to.size());
}

// What an acceleration of the parent gives to the bone's origin at `offset` from the parent's.
Twist carried_along(const Twist& parent, const Vec3d& offset) {
  return {parent.angular, parent.linear + parent.angular.cross(offset)};
}

}  // namespace

// The parts of the recursions that depend on the type of the joint.
struct JointAlgebra {
  using Freedom = HybridDynamics::Freedom;
  using Work = HybridDynamics::Work;

  // S_i's columns in the world, where the joint has axes, and η_i: how the bone's acceleration
  // differs from that of its parent's frame there with no acceleration of the joint.
  static void find_axes(const BoneConstants& bone, const BoneMotion& motion,
                        const BoneMotion& parent, const double* v, Work& work) {
    const Vec3d& w = parent.velocity.angular;
    work.drift.angular = w.cross(motion.velocity.angular);
    work.drift.linear = w.cross(w.cross(motion.offset));
    switch (bone.joint) {
      case JointType::free:
        work.drift = {};
        break;
      case JointType::universal:
        work.freedom[0].axis = parent.rotation * (bone.frame * bone.axis);
        work.freedom[1].axis = motion.rotation * bone.axis2;
        work.drift.angular += (v[0] * v[1]) * work.freedom[0].axis.cross(work.freedom[1].axis);
        break;
      case JointType::hinge:
        work.freedom[0].axis = motion.rotation * bone.axis;
        break;
      case JointType::prismatic:
        work.freedom[0].axis = motion.rotation * bone.axis;
        work.drift.linear += (2 * v[0]) * w.cross(work.freedom[0].axis);
        break;
      default:
        break;
    }
  }

  // S_i a: the acceleration of the bone by that of its joint.
  static Twist spread(JointType joint, const Work& work, const Mat3d& rotation, const double* a) {
    const Vec3d zero = Vec3d::Zero();
    switch (joint) {
      case JointType::free:
        return {rotation * Vector3Map(a), Vector3Map(a + 3)};
      case JointType::ball:
        return {rotation * Vector3Map(a), zero};
      case JointType::universal:
        return {a[0] * work.freedom[0].axis + a[1] * work.freedom[1].axis, zero};
      case JointType::hinge:
        return {a[0] * work.freedom[0].axis, zero};
      case JointType::prismatic:
        return {zero, a[0] * work.freedom[0].axis};
      case JointType::fixed:
        break;
    }
    return {};
  }

  // S_iᵀ F: the part of a wrench that the joint's drive bears.
  static void project(JointType joint, const Work& work, const Mat3d& rotation, const Wrench& f,
                      double* torque) {
    switch (joint) {
      case JointType::free:
        store(f.force, torque + 3);
        [[fallthrough]];
      case JointType::ball:
        store(rotation.transpose() * f.torque, torque);
        break;
      case JointType::universal:
        torque[1] = work.freedom[1].axis.dot(f.torque);
        [[fallthrough]];
      case JointType::hinge:
        torque[0] = work.freedom[0].axis.dot(f.torque);
        break;
      case JointType::prismatic:
        torque[0] = work.freedom[0].axis.dot(f.force);
        break;
      case JointType::fixed:
        break;
    }
  }

  // Takes one degree of freedom out of Π and β:
  // Π = Ĵ - Ĵ S Ψ Sᵀ Ĵ, β = B + Ĵ {η + S Ψ (τ - Sᵀ (Ĵ η + B))}.
  // Those of a joint are taken out one after the other, the last one first.
  template <bool turns>
  static bool take_out(Freedom& f, double torque, double resistance, double least,
                       SpatialInertia& inertia, Wrench& force) {
    if constexpr (turns)
      f.carried = {inertia.a * f.axis, inertia.b.transpose() * f.axis};
    else
      f.carried = {inertia.b * f.axis, inertia.c * f.axis};
    const double along = f.axis.dot(turns ? f.carried.torque : f.carried.force) + resistance;
    if (!(along > least)) return false;
    f.inverse = 1 / along;
    f.own = f.inverse * (torque - f.axis.dot(turns ? force.torque : force.force));
    inertia.a.subtract_square(f.carried.torque, f.inverse);
    const Vec3d scaled = f.inverse * f.carried.torque;
    inertia.b.noalias() -= scaled * f.carried.force.transpose();
    inertia.c.subtract_square(f.carried.force, f.inverse);
    force.torque += f.own * f.carried.torque;
    force.force += f.own * f.carried.force;
    return true;
  }

  // The same for the three of a ball joint at once: S spans all rotations, so Π keeps its linear
  // part only, C - Bᵀ A⁻¹ B, and the torque passed on is that of the joint.
  static bool take_out_ball(Work& work, const Vec3d& torque, double least, SpatialInertia& inertia,
                            Wrench& force) {
    work.factors = Factored3d(inertia.a, least);
    const Factored3d& f = work.factors;
    if (f.singular) return false;
    work.own = f.solve(torque - force.torque);
    force.torque = torque;
    force.force += inertia.b.transpose() * work.own;
    const Vec3d x = f.forward(inertia.b.col(0)), y = f.forward(inertia.b.col(1)),
                z = f.forward(inertia.b.col(2));
    const Vec3d d(f.inverse0, f.inverse1, f.inverse2);
    const Vec3d dx = d.cwiseProduct(x), dy = d.cwiseProduct(y), dz = d.cwiseProduct(z);
    Symmetric3d& c = inertia.c;
    c.xx -= dx.dot(x), c.yy -= dy.dot(y), c.zz -= dz.dot(z);
    c.yz -= dy.dot(z), c.xz -= dx.dot(z), c.xy -= dx.dot(y);
    inertia.a = {};
    inertia.b.setZero();
    return true;
  }

  // And for a ball joint that resists with R: Ψ = (A + R)⁻¹, and all of Π stays.
  static bool take_out_resisting_ball(Work& work, const Vec3d& torque, const Mat3d& resistance,
                                      SpatialInertia& inertia, Wrench& force) {
    const Mat3d a = inertia.a.matrix();
    work.inverse = (a + resistance).inverse();
    if (!work.inverse.allFinite()) return false;
    work.own = work.inverse * (torque - force.torque);
    const Mat3d kept = a * work.inverse, b = inertia.b;
    force.torque += a * work.own;
    force.force += b.transpose() * work.own;
    inertia.a = Symmetric3d::of(a - kept * a);
    inertia.b = b - kept * b;
    inertia.c = Symmetric3d::of(inertia.c.matrix() - b.transpose() * work.inverse * b);
    return true;
  }

  // Takes a joint with given torques out of `inertia` and `force`; false where it is singular.
  static bool take_out_joint(JointType joint, Work& work, const Mat3d& rotation,
                             const double* torque, const double* resistance,
                             SpatialInertia& inertia, Wrench& force) {
    const double least = singular_part * inertia.a.trace();
    const auto resists = [resistance](int k) { return resistance ? resistance[k] : 0; };
    switch (joint) {
      case JointType::ball:
        work.resists = resists(0) > 0 || resists(1) > 0 || resists(2) > 0;
        if (work.resists)
          return take_out_resisting_ball(
              work, rotation * Vector3Map(torque),
              rotation * Vector3Map(resistance).asDiagonal() * rotation.transpose(), inertia,
              force);
        return take_out_ball(work, rotation * Vector3Map(torque), least, inertia, force);
      case JointType::universal:
        return take_out<true>(work.freedom[1], torque[1], resists(1), least, inertia, force) &&
               take_out<true>(work.freedom[0], torque[0], resists(0), least, inertia, force);
      case JointType::hinge:
        return take_out<true>(work.freedom[0], torque[0], resists(0), least, inertia, force);
      case JointType::prismatic:
        return take_out<false>(work.freedom[0], torque[0], resists(0),
                               singular_part * inertia.c.trace(), inertia, force);
      default:
        return true;
    }
  }

  // q̈ = Ψ {τ - Sᵀ Ĵ (parent + η) - Sᵀ B} and with it the bone's acceleration.
  static Twist follow(JointType joint, const Work& work, const Mat3d& rotation, const Twist& parent,
                      double* a) {
    const auto along = [&work](int k, const Twist& base) {
      const Freedom& f = work.freedom[k];
      return f.own -
             f.inverse * (f.carried.torque.dot(base.angular) + f.carried.force.dot(base.linear));
    };
    Twist result{parent.angular + work.drift.angular, parent.linear + work.drift.linear};
    switch (joint) {
      case JointType::ball: {
        const Vec3d turn =
            work.resists ? Vec3d(work.own - work.inverse * (work.inertia.a * parent.angular +
                                                            work.inertia.b * parent.linear))
                         : Vec3d(work.own - work.factors.solve(work.inertia.b * parent.linear) -
                                 parent.angular);
        store(rotation.transpose() * turn, a);
        result.angular += turn;
        break;
      }
      case JointType::universal: {
        a[0] = along(0, parent);
        const Vec3d first = a[0] * work.freedom[0].axis;
        a[1] = along(1, {parent.angular + first, parent.linear});
        result.angular += first + a[1] * work.freedom[1].axis;
        break;
      }
      case JointType::hinge:
        a[0] = along(0, parent);
        result.angular += a[0] * work.freedom[0].axis;
        break;
      case JointType::prismatic:
        a[0] = along(0, parent);
        result.linear += a[0] * work.freedom[0].axis;
        break;
      default:
        break;
    }
    return result;
  }

  // Ĵ V̇ + B = F for V̇ of a free bone, by blocks; false where Ĵ is singular.
  static bool solve_free(const Work& work, const Wrench& f, Twist& acceleration) {
    const SpatialInertia& s = work.inertia;
    const Factored3d c(s.c, singular_part * s.c.trace());
    if (c.singular) return false;
    // Without linear part: A - B C⁻¹ Bᵀ.
    const Mat3d bt = s.b.transpose();
    const Vec3d x = c.solve(bt.col(0)), y = c.solve(bt.col(1)), z = c.solve(bt.col(2));
    Symmetric3d a = s.a;
    a.xx -= x.dot(bt.col(0)), a.yy -= y.dot(bt.col(1)), a.zz -= z.dot(bt.col(2));
    a.yz -= y.dot(bt.col(2)), a.xz -= x.dot(bt.col(2)), a.xy -= x.dot(bt.col(1));
    const Factored3d turn(a, singular_part * s.a.trace());
    if (turn.singular) return false;
    const Vec3d force = f.force - work.bias.force;
    acceleration.angular = turn.solve(f.torque - work.bias.torque - s.b * c.solve(force));
    acceleration.linear = c.solve(force - bt * acceleration.angular);
    return true;
  }
};

HybridDynamics::HybridDynamics(const ArticulatedBody& body)
    : m_body(&body),
      m_motions(body.size()),
      m_velocities(Eigen::VectorXd::Zero(body.velocity_numbers())),
      m_work(body.size()) {
  m_result.accelerations = m_result.torques = m_velocities;
  m_result.bones.resize(body.size());
  m_result.reactions.resize(body.size());
}

std::span<const BoneMotion> HybridDynamics::move(const ArticulatedState& state) {
  m_velocities = state.v;
  move_bones(*m_body, state, m_motions);
  return m_motions;
}

const DynamicsResult& HybridDynamics::solve(const JointCommands& commands) {
  m_result.singular_bone = -1;
  take(commands.torques, m_result.torques);
  take(commands.accelerations, m_result.accelerations);
  prepare(commands);
  gather(commands.resistances);
  accelerate(commands.gravity);
  return m_result;
}

// Each bone by itself: its inertia and bias, and how its joint moves it.
void HybridDynamics::prepare(const JointCommands& commands) {
  const BoneMotion world;
  for (size_t i = 0; i < m_work.size(); ++i) {
    const BoneConstants& bone = m_body->constants()[i];
    const BoneMotion& motion = m_motions[i];
    Work& work = m_work[i];
    // J_i, and -ad*_V J V - F_ext about the bone's origin in the world's axes:
    // (ω × I ω, m ω × (ω × c)) less what acts from outside.
    const Vec3d c = motion.rotation * bone.centre, &w = motion.velocity.angular;
    work.inertia = SpatialInertia::rigid(bone.mass, c, rotated(bone.inertia, motion.rotation));
    work.bias.torque = w.cross(work.inertia.a * w);
    work.bias.force = bone.mass * w.cross(w.cross(c));
    if (!commands.wrenches.empty()) {
      work.bias.torque -= commands.wrenches[i].torque;
      work.bias.force -= commands.wrenches[i].force;
    }
    const BoneMotion& parent =
        bone.parent < 0 ? world : m_motions[static_cast<size_t>(bone.parent)];
    JointAlgebra::find_axes(bone, motion, parent, m_velocities.data() + bone.v, work);
    work.prescribed = !commands.prescribed.empty() && commands.prescribed[i] != 0;
  }
}

// The backward recursion: Ĵ and B of all bones from their children's Π and β.
void HybridDynamics::gather(std::span<const double> resistances) {
  const double *torques = m_result.torques.data(), *given = m_result.accelerations.data();
  for (size_t i = m_work.size(); i-- > 0;) {
    const BoneConstants& bone = m_body->constants()[i];
    Work& work = m_work[i];
    const Mat3d& rotation = m_motions[i].rotation;
    if (work.prescribed) {
      const Twist own = JointAlgebra::spread(bone.joint, work, rotation, given + bone.v);
      work.drift.angular += own.angular;
      work.drift.linear += own.linear;
    }
    // Nothing is passed on to the world; a free bone is solved for when going back.
    if (bone.joint == JointType::free) continue;
    SpatialInertia carried = work.inertia;
    Wrench force = work.bias + work.inertia * work.drift;
    if (!work.prescribed &&
        !JointAlgebra::take_out_joint(bone.joint, work, rotation, torques + bone.v,
                                      resistances.empty() ? nullptr : resistances.data() + bone.v,
                                      carried, force)) {
      m_result.singular_bone = static_cast<int>(i);
      m_result.accelerations.segment(bone.v, velocity_numbers(bone.joint)).setZero();
      work.prescribed = true;
      carried = work.inertia;
      force = work.bias + work.inertia * work.drift;
    }
    if (bone.parent < 0) continue;
    Work& parent = m_work[static_cast<size_t>(bone.parent)];
    const Vec3d& r = m_motions[i].offset;
    add_moved(parent.inertia, carried, r);
    parent.bias.torque += force.torque + r.cross(force.force);
    parent.bias.force += force.force;
  }
}

// The forward recursion: accelerations of bones and joints, and torques.
void HybridDynamics::accelerate(const Vec3d& gravity) {
  // Instead of bones falling the ground rises; taken off in the end.
  const Twist ground{Vec3d::Zero(), -gravity};
  double* torques = m_result.torques.data();
  for (size_t i = 0; i < m_work.size(); ++i) {
    const BoneConstants& bone = m_body->constants()[i];
    Work& work = m_work[i];
    const Mat3d& rotation = m_motions[i].rotation;
    double* acceleration = m_result.accelerations.data() + bone.v;
    const Twist parent =
        bone.parent < 0
            ? ground
            : carried_along(m_result.bones[static_cast<size_t>(bone.parent)], m_motions[i].offset);
    Twist& own = m_result.bones[i];
    if (bone.joint == JointType::free && !work.prescribed) {
      const Wrench given{rotation * Vector3Map(torques + bone.v), Vector3Map(torques + bone.v + 3)};
      if (JointAlgebra::solve_free(work, given, own)) {
        store(rotation.transpose() * own.angular, acceleration);
        store(own.linear - parent.linear, acceleration + 3);
      } else {
        m_result.singular_bone = static_cast<int>(i);
        m_result.accelerations.segment<6>(bone.v).setZero();
        work.prescribed = true;
      }
    }
    if (work.prescribed)
      own = {parent.angular + work.drift.angular, parent.linear + work.drift.linear};
    else if (bone.joint != JointType::free)
      own = JointAlgebra::follow(bone.joint, work, rotation, parent, acceleration);
    // F_i = Ĵ V̇ + B.
    m_result.reactions[i] = work.bias + work.inertia * own;
    if (work.prescribed)
      JointAlgebra::project(bone.joint, work, rotation, m_result.reactions[i], torques + bone.v);
  }
  for (Twist& bone : m_result.bones) bone.linear += gravity;
}

}  // namespace supple
