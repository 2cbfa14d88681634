#include "supple/tets/tet_character.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <cmath>

namespace supple {

namespace {

// Adds the masses of nodes to bones: `bone_of` and `place_of` tell, of a node, which bone carries
// it, or -1, and where in its frame.
template <class BoneOf, class PlaceOf>
void merge_masses(std::span<const double> masses, const BoneOf& bone_of, const PlaceOf& place_of,
                  std::vector<BoneDescription>& bones) {
  // About the bone's origin: m, m c, and ∫ (x·x I - x xᵀ).
  const auto about_origin = [](double m, const Vec3d& x) -> Mat3d {
    return m * (x.squaredNorm() * Mat3d::Identity() - x * x.transpose());
  };
  for (size_t b = 0; b < bones.size(); ++b) {
    BoneDescription& bone = bones[b];
    double mass = bone.mass;
    Vec3d first = bone.mass * bone.centre;
    Mat3d second = bone.inertia + about_origin(bone.mass, bone.centre);
    for (size_t n = 0; n < masses.size(); ++n) {
      if (bone_of(n) != static_cast<int32_t>(b)) continue;
      const Vec3d place = place_of(n);
      mass += masses[n];
      first += masses[n] * place;
      second += about_origin(masses[n], place);
    }
    if (!(mass > 0)) continue;
    bone.mass = mass;
    bone.centre = first / mass;
    bone.inertia = second - about_origin(mass, bone.centre);
    bone.inertia = (bone.inertia + bone.inertia.transpose().eval()) / 2;
  }
}

}  // namespace

void merge_fixed_masses(const TetFleshModel& flesh, std::vector<BoneDescription>& bones) {
  merge_masses(
      flesh.masses, [&](size_t n) { return flesh.bone_of_node[n]; },
      [&](size_t n) { return flesh.place_on_bone[n]; }, bones);
}

void merge_free_masses(const TetFleshModel& flesh, std::vector<BoneDescription>& bones) {
  std::vector<Vec3d> origins;
  for (const BoneDescription& bone : bones)
    origins.push_back(bone.parent >= 0
                          ? Vec3d(origins[static_cast<size_t>(bone.parent)] + bone.position)
                          : bone.position);
  const auto bone_of = [&](size_t n) {
    return flesh.bone_of_node[n] < 0 ? flesh.reference[n] : -1;
  };
  merge_masses(
      flesh.masses, bone_of,
      [&](size_t n) -> Vec3d {
        return flesh.mesh.positions[n] - origins[static_cast<size_t>(bone_of(n))];
      },
      bones);
}

TetCharacter::TetCharacter(ArticulatedBody skeleton, TetFleshModel flesh_model,
                           SkinContactModel contact_model, TetPrecision precision,
                           const std::string& file)
    : joints(rest_state(skeleton)),
      flesh(std::move(flesh_model), precision, file),
      contact(std::move(contact_model), flesh),
      m_skeleton(std::move(skeleton)),
      m_dynamics(m_skeleton),
      m_wrenches(m_skeleton.size()),
      m_torques(Eigen::VectorXd::Zero(m_skeleton.velocity_numbers())) {
  for (const ArticulatedBone& bone : m_skeleton.bones()) m_roots += bone.parent < 0;
  joint_mode.setConstant(m_skeleton.velocity_numbers(), 1);
  const TetFleshModel& model = flesh.model();
  m_damped.assign(m_skeleton.size(), 0);
  m_greatest.assign(m_skeleton.size(), 0);
  const std::vector<BoneMotion> rest = bone_motions(m_skeleton, joints);
  for (size_t n = 0; n < model.masses.size(); ++n) {
    if (model.reference[n] < 0 || model.bone_of_node[n] >= 0) continue;
    const auto b = static_cast<size_t>(model.reference[n]);
    if (b >= m_skeleton.size()) continue;
    const ArticulatedBone& bone = m_skeleton.bone(b);
    const Vec3d arm = model.mesh.positions[n] - rest[b].point(bone.centre);
    const double least = Eigen::SelfAdjointEigenSolver<Mat3d>(bone.inertia).eigenvalues()[0];
    if (bone.mass > 0) m_damped[b] += model.masses[n] / bone.mass;
    if (least > 0) m_damped[b] += model.masses[n] * arm.squaredNorm() / least;
  }
}

std::span<const BoneMotion> TetCharacter::update() {
  const std::span<const BoneMotion> bones = m_dynamics.move(joints);
  flesh.place_fixed(bones);
  return bones;
}

// Contacts of the skin, with colliders and with the parts of free bodies.
void TetCharacter::touch(std::span<const Collider* const> colliders, double h) {
  m_colliders.assign(colliders.begin(), colliders.end());
  m_given = colliders.size();
  for (const FreeBody& free : free_bodies)
    for (const Collider& part : free.parts) m_colliders.push_back(&part);
  m_reactions.assign(m_colliders.size(), Wrench());
  contact.add_forces(m_colliders, h, flesh, m_reactions);
}

void TetCharacter::find_forces(std::span<const Collider* const> colliders, double h) {
  const std::span<const BoneMotion> bones = m_dynamics.motions();
  std::fill(m_wrenches.begin(), m_wrenches.end(), Wrench());
  flesh.find_elastic_forces();
  touch(colliders, h);
  // Dampers pull at bones too: more than this would make light ones swing.
  for (size_t b = 0; b < m_damped.size(); ++b)
    m_greatest[b] = m_damped[b] > 0 ? 0.5 / (h * m_damped[b]) : flesh.model().damping;
  flesh.add_damping(bones, m_greatest, m_wrenches);
  flesh.pull_bones(bones, m_wrenches);
}

void TetCharacter::advance(const JointOrders& orders, const Vec3d& gravity, double h) {
  m_torques = orders.torques;
  add_passive_torques(m_skeleton, joints, m_torques);
  if (orders.resistances.size() > 0)
    m_resistances = orders.resistances;
  else
    m_resistances.setZero(m_torques.size());
  add_passive_resistances(m_skeleton, joints, h, m_resistances);
  const DynamicsResult& result = m_dynamics.solve({.prescribed = orders.prescribed,
                                                   .accelerations = numbers(orders.accelerations),
                                                   .torques = numbers(m_torques),
                                                   .wrenches = m_wrenches,
                                                   .gravity = gravity,
                                                   .resistances = numbers(m_resistances)});
  flesh.integrate(h, gravity);
  integrate_skeleton(result.accelerations, gravity, h);
  move_free_bodies({m_colliders.data(), m_given}, gravity, h);
}

// Symplectic Euler in joint coordinates, then a small rigid motion of all bones, such that
// p₁ = p₀ + h F, L₁ = L₀ + h T, and the centre of mass moves by h p₁/m.
void TetCharacter::integrate_skeleton(const Eigen::VectorXd& accelerations, const Vec3d& gravity,
                                      double h) {
  const double mass = m_skeleton.mass();
  const bool flies = m_skeleton.size() > 0 && mass > 0 &&
                     m_skeleton.bone(0).joint == JointType::free && m_roots == 1;
  if (!flies) {
    integrate(m_skeleton, joints, accelerations, h);
    return;
  }
  const std::span<const BoneMotion> motions = m_dynamics.motions();
  const Vec3d before = supple::centre_of_mass(m_skeleton, motions);
  Wrench expected = total_momentum(m_skeleton, motions, Vec3d::Zero());
  Wrench outer{before.cross(mass * gravity), mass * gravity};
  for (size_t b = 0; b < m_wrenches.size(); ++b) {
    outer.torque += m_wrenches[b].torque + motions[b].position.cross(m_wrenches[b].force);
    outer.force += m_wrenches[b].force;
  }
  expected.torque += h * outer.torque;
  expected.force += h * outer.force;

  integrate(m_skeleton, joints, accelerations, h);
  m_dynamics.move(joints);
  const ArticulatedBone& root = m_skeleton.bone(0);
  const Vec3d centre = before + h * expected.force / mass;
  joints.q.segment<3>(root.q) += centre - supple::centre_of_mass(m_skeleton, motions);
  m_dynamics.move(joints);
  const Wrench actual = total_momentum(m_skeleton, motions, centre);
  const Vec3d push = expected.force - actual.force;
  const Vec3d turn = expected.torque - centre.cross(expected.force) - actual.torque;
  Mat3d inertia = Mat3d::Zero();
  for (size_t b = 0; b < m_skeleton.size(); ++b) {
    const ArticulatedBone& bone = m_skeleton.bone(b);
    const Vec3d arm = motions[b].point(bone.centre) - centre;
    inertia += motions[b].rotation * bone.inertia * motions[b].rotation.transpose() +
               bone.mass * (arm.squaredNorm() * Mat3d::Identity() - arm * arm.transpose());
  }
  const Vec3d spin = inertia.ldlt().solve(turn);
  joints.v.segment<3>(root.v) += motions[0].rotation.transpose() * spin;
  joints.v.segment<3>(root.v + 3) += push / mass + spin.cross(motions[0].position - centre);
}

void TetCharacter::follow(std::span<const BoneMotion> bones, std::span<const BoneMotion> next,
                          std::span<const Collider* const> colliders, const Vec3d& gravity,
                          bool carried, double h) {
  m_wrenches.assign(bones.size(), Wrench());
  flesh.find_elastic_forces();
  touch(colliders, h);
  flesh.add_damping(bones, {}, m_wrenches);
  if (carried) flesh.take_off_weight(bones, gravity);
  flesh.integrate(h, gravity);
  flesh.place_fixed(next);
  move_free_bodies({m_colliders.data(), m_given}, gravity, h);
}

void TetCharacter::move_free_bodies(std::span<const Collider* const> colliders,
                                    const Vec3d& gravity, double h) {
  size_t number = m_given;
  for (FreeBody& free : free_bodies) {
    Wrench wrench = free.body.contacts(colliders);
    for (size_t p = 0; p < free.parts.size(); ++p, ++number) {
      // From about the world's origin to about the centre of mass.
      const Wrench& pushed = m_reactions[number];
      wrench.torque += pushed.torque - free.body.position.cross(pushed.force);
      wrench.force += pushed.force;
    }
    const Affine before = free.body.placed();
    free.body.integrate(h, wrench, gravity);
    for (Collider& part : free.parts) part.set_motion(before, free.body.placed(), h);
  }
}

namespace {

// The joints in the fastest vibration: they move the fixed nodes, and feel what pulls at these.
class VibratingSkeleton final : public TetFlesh::Companion {
 public:
  VibratingSkeleton(const ArticulatedBody& skeleton, const ArticulatedState& joints,
                    const TetFleshModel& flesh, std::span<const Vec3d> nodes, Eigen::VectorXd& mode)
      : m_skeleton(skeleton),
        m_still{joints.q, Eigen::VectorXd::Zero(joints.v.size())},
        m_flesh(flesh),
        m_nodes(nodes),
        m_mode(mode),
        m_dynamics(skeleton),
        m_motions(skeleton.size()) {
    m_dynamics.move(m_still);
    for (size_t n = 0; n < nodes.size(); ++n)
      m_length = std::max(m_length, (nodes[n] - nodes[0]).norm());
  }

  double largest() const override {
    double most = 0;
    for (const ArticulatedBone& bone : m_skeleton.bones())
      for (int k = 0; k < bone.v_count; ++k)
        most = std::max(most, std::abs(m_mode[bone.v + k]) * (slides(bone, k) ? 1 : m_length));
    return most;
  }

  void displace(double step, std::span<Vec3d> nodes) override {
    ArticulatedState near = m_still;
    advance(m_skeleton, near.q, m_mode, step);
    move_bones(m_skeleton, near, m_motions);
    for (size_t n = 0; n < nodes.size(); ++n)
      if (m_flesh.bone_of_node[n] >= 0)
        nodes[n] =
            m_motions[static_cast<size_t>(m_flesh.bone_of_node[n])].point(m_flesh.place_on_bone[n]);
  }

  Eigen::Vector2d respond(double step, std::span<const Vec3d> change) override {
    std::vector<Wrench> wrenches(m_skeleton.size());
    for (size_t n = 0; n < change.size(); ++n) {
      if (m_flesh.bone_of_node[n] < 0) continue;
      const auto bone = static_cast<size_t>(m_flesh.bone_of_node[n]);
      wrenches[bone].torque +=
          (m_nodes[n] - m_dynamics.motions()[bone].position).cross(change[n] / step);
      wrenches[bone].force += change[n] / step;
    }
    JointCommands commands;
    commands.wrenches = wrenches;
    const Eigen::VectorXd next = m_dynamics.solve(commands).accelerations;
    // Any measure will do: turns count as displacements of the whole body's length.
    Eigen::Vector2d squares = Eigen::Vector2d::Zero();
    for (const ArticulatedBone& bone : m_skeleton.bones())
      for (int k = 0; k < bone.v_count; ++k) {
        const double arm = slides(bone, k) ? 1 : m_length, mass = m_skeleton.mass() * arm * arm;
        squares[0] += mass * m_mode[bone.v + k] * m_mode[bone.v + k];
        squares[1] += mass * next[bone.v + k] * next[bone.v + k];
      }
    // The change of force is -K u: signs as for the nodes.
    m_mode = -next;
    return squares;
  }

  void scale(double factor) override { m_mode *= factor; }

 private:
  static bool slides(const ArticulatedBone& bone, int k) {
    return bone.joint == JointType::prismatic || (bone.joint == JointType::free && k >= 3);
  }

  const ArticulatedBody& m_skeleton;
  ArticulatedState m_still;
  const TetFleshModel& m_flesh;
  std::span<const Vec3d> m_nodes;
  Eigen::VectorXd& m_mode;
  HybridDynamics m_dynamics;
  std::vector<BoneMotion> m_motions;
  double m_length = 0;
};

}  // namespace

double TetCharacter::stable_step(int iterations, double safety) {
  double elastic = 0;
  if (m_skeleton.size() > 0) {
    VibratingSkeleton skeleton(m_skeleton, joints, flesh.model(), flesh.positions, joint_mode);
    elastic = flesh.highest_frequency(iterations, &skeleton);
  } else {
    elastic = flesh.highest_frequency(iterations);
  }
  // Once and for all, at the first call: contacts must not depend on when they were looked at.
  if (!m_limited && elastic > 0) contact.limit_frequency(elastic);
  m_limited = true;
  double highest = elastic + contact.highest_frequency();
  for (const FreeBody& free : free_bodies)
    highest = std::max(highest, free.body.highest_frequency());
  // Symplectic Euler is stable for h ω < 2.
  return highest > 0 ? safety * 2 / std::sqrt(highest) : 1;
}

Wrench TetCharacter::momentum(const Vec3d& about) const {
  Wrench total = total_momentum(m_skeleton, m_dynamics.motions(), about);
  for (size_t n = 0; n < flesh.positions.size(); ++n) {
    if (flesh.model().bone_of_node[n] >= 0) continue;
    const Vec3d p = flesh.model().masses[n] * flesh.velocities[n];
    total.torque += (flesh.positions[n] - about).cross(p);
    total.force += p;
  }
  return total;
}

double TetCharacter::mass() const {
  double mass = m_skeleton.mass();
  for (size_t n = 0; n < flesh.positions.size(); ++n)
    if (flesh.model().bone_of_node[n] < 0) mass += flesh.model().masses[n];
  return mass;
}

Vec3d TetCharacter::centre_of_mass() const {
  Vec3d first = m_skeleton.mass() * supple::centre_of_mass(m_skeleton, m_dynamics.motions());
  for (size_t n = 0; n < flesh.positions.size(); ++n)
    if (flesh.model().bone_of_node[n] < 0) first += flesh.model().masses[n] * flesh.positions[n];
  return first / mass();
}

bool TetCharacter::is_sound(double limit) const {
  if (!is_finite(joints)) return false;
  for (size_t n = 0; n < flesh.positions.size(); ++n)
    if (!flesh.positions[n].allFinite() || !(flesh.velocities[n].squaredNorm() < limit * limit))
      return false;
  for (const FreeBody& free : free_bodies)
    if (!free.body.position.allFinite() || !free.body.orientation.coeffs().allFinite() ||
        !(free.body.velocity.norm() < limit))
      return false;
  return true;
}

}  // namespace supple
