// Where the bones of an articulated body are and how they move, and what follows from that alone:
// velocities and Jacobians of points, momenta and energies. All in the world's axes.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "supple/articulation/articulated_body.h"

namespace supple {

/// Where a bone is, and how it moves.
struct BoneMotion {
  Mat3d rotation = Mat3d::Identity();  ///< from the bone's axes to the world's
  Vec3d position = Vec3d::Zero();      ///< of the bone's origin, m
  Vec3d offset = Vec3d::Zero();        ///< of the bone's origin from its parent's, m
  Twist velocity;                      ///< angular, and of the bone's origin

  /// Where a point of the bone is in the world, m.
  Vec3d point(const Vec3d& local) const { return position + rotation * local; }

  /// Velocity of the point of the bone that is now at `at` in the world, m/s.
  Vec3d velocity_at(const Vec3d& at) const {
    return velocity.linear + velocity.angular.cross(at - position);
  }

  /// The bone's frame as a matrix.
  Affine matrix() const {
    Affine result;
    result.linear() = rotation;
    result.translation() = position;
    result.makeAffine();
    return result;
  }
};

/// Acceleration of the point of a bone that is now at `at`, m/s², from the accelerations of the
/// bone and of its origin.
inline Vec3d acceleration_at(const BoneMotion& bone, const Twist& acceleration, const Vec3d& at) {
  const Vec3d arm = at - bone.position, &w = bone.velocity.angular;
  return acceleration.linear + acceleration.angular.cross(arm) + w.cross(w.cross(arm));
}

/// Moves the bones, one entry each, to a state: the first recursion of [Kim 2011, table I].
void move_bones(const ArticulatedBody& body, const ArticulatedState& state,
                std::span<BoneMotion> motions);

/// Bones in a state.
std::vector<BoneMotion> bone_motions(const ArticulatedBody& body, const ArticulatedState& state);

/// How the point of a bone that is now at `at` in the world moves with v: rows 0 to 2 are the
/// bone's angular velocity, rows 3 to 5 the point's velocity; 6 rows, a column per number of v.
void point_jacobian(const ArticulatedBody& body, std::span<const BoneMotion> motions, size_t bone,
                    const Vec3d& at, Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> result);

/// Centre of mass of all bones, m; the origin where there is no mass.
Vec3d centre_of_mass(const ArticulatedBody& body, std::span<const BoneMotion> motions);

/// Angular momentum about a point (as torque, kg m²/s), and momentum (as force, kg m/s).
Wrench total_momentum(const ArticulatedBody& body, std::span<const BoneMotion> motions,
                      const Vec3d& about);

/// How momenta change, N m and N, when bones accelerate so (as DynamicsResult has them).
Wrench momentum_rate(const ArticulatedBody& body, std::span<const BoneMotion> motions,
                     std::span<const Twist> accelerations, const Vec3d& about);

/// Kinetic energy, J.
double kinetic_energy(const ArticulatedBody& body, std::span<const BoneMotion> motions);

/// Energy in gravity (m/s²), J; zero with the centre of mass at the world's origin.
double potential_energy(const ArticulatedBody& body, std::span<const BoneMotion> motions,
                        const Vec3d& gravity);

}  // namespace supple
