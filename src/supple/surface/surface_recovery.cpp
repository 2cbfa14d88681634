#include "supple/surface/surface_recovery.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "supple/core/parallel.h"
#include "supple/math/polar.h"
#include "supple/surface/surface_solver.h"

namespace supple {
namespace {

constexpr double inverted_share = 0.2;  // of regions that are in distress
constexpr double volume_share = 0.1;    // of the volume below which a shell is
constexpr double pull = 0.02;           // part of the way back in a step
constexpr double calm = 0.1;            // part of the motion that is taken in a step
constexpr double settling = 0.5;        // seconds for which motion may still take it away
constexpr double arrived = 0.003;  // mean distance at which it is let go, as a part of the reach

// Sums over an object: masses, moments and momenta, about the first particle.
struct ObjectSums {
  double mass = 0;
  Vec3d x = Vec3d::Zero(), x0 = Vec3d::Zero(), v = Vec3d::Zero(), momentum = Vec3d::Zero();
  Mat3d shape = Mat3d::Zero(), moments = Mat3d::Zero();
};

ObjectSums joined(ObjectSums a, const ObjectSums& b) {
  a.mass += b.mass;
  a.x += b.x;
  a.x0 += b.x0;
  a.v += b.v;
  a.momentum += b.momentum;
  a.shape += b.shape;
  a.moments += b.moments;
  return a;
}

// The rigid motion of an object: x = R (x0 - t0) + t, v = velocity + spin × (x - t).
struct RigidMotion {
  Mat3d turn;
  Vec3d t, t0, velocity, spin;
};

RigidMotion rigid_motion(const ObjectSums& s, const Vec3d& origin, const Vec3d& rest_origin) {
  RigidMotion motion;
  const Vec3d t = s.x / s.mass, t0 = s.x0 / s.mass;
  motion.velocity = s.v / s.mass;
  motion.turn = nearest_rotation(s.shape - s.mass * t * t0.transpose());
  const Mat3d moments = s.moments - s.mass * t * t.transpose();
  Mat3d inertia = moments.trace() * Mat3d::Identity() - moments;
  inertia.diagonal().array() += 1e-6 * moments.trace() + 1e-30;
  motion.spin = inertia.inverse() * (s.momentum - s.mass * t.cross(motion.velocity));
  if (!motion.spin.allFinite()) motion.spin.setZero();
  motion.t = t + origin;
  motion.t0 = t0 + rest_origin;
  return motion;
}

}  // namespace

void SurfaceRecovery::judge(size_t object, const SurfaceDistress& distress,
                            SurfaceState& state) const {
  const PackedObject& o = m_model.objects[object];
  const auto regions = static_cast<double>(o.end - o.begin);
  if (!o.parameters.recover) return;
  if (static_cast<double>(distress.inverted) > inverted_share * regions ||
      distress.volume_ratio < volume_share)
    state.recovering[object] = 1;
}

void SurfaceRecovery::lead_back(size_t object, double dt, std::span<const float> held,
                                SurfaceState& state) const {
  const PackedObject& o = m_model.objects[object];
  if (!state.recovering[object] || o.begin == o.end || !(dt > 0)) return;
  const Vec3d origin = state.positions[o.begin].cast<double>(),
              rest_origin = m_model.rest[o.begin].cast<double>();
  const size_t count = o.end - o.begin;
  const ObjectSums sums = parallel_reduce(
      count, 1024, ObjectSums(),
      [&](size_t begin, size_t end) {
        ObjectSums s;
        for (size_t i = o.begin + begin; i < o.begin + end; ++i) {
          const double m = static_cast<double>(m_model.masses[i]);
          const Vec3d x = state.positions[i].cast<double>() - origin,
                      x0 = m_model.rest[i].cast<double>() - rest_origin,
                      v = state.velocities[i].cast<double>();
          s.mass += m;
          s.x += m * x;
          s.x0 += m * x0;
          s.v += m * v;
          s.momentum += m * x.cross(v);
          s.shape += m * x * x0.transpose();
          s.moments += m * x * x.transpose();
        }
        return s;
      },
      joined);
  const RigidMotion motion = rigid_motion(sums, origin, rest_origin);
  const double away = parallel_reduce(
      count, 1024, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = o.begin + begin; i < o.begin + end; ++i) {
          const double free = held.empty() ? 1.0 : 1.0 - static_cast<double>(held[i]);
          const Vec3d x = state.positions[i].cast<double>(), v = state.velocities[i].cast<double>();
          const Vec3d way =
              motion.turn * (m_model.rest[i].cast<double>() - motion.t0) + motion.t - x;
          const Vec3d brake = motion.velocity + motion.spin.cross(x - motion.t) - v;
          const Vec3d step = free * (pull * way + calm * dt * brake);
          state.positions[i] = (x + step).cast<float>();
          state.velocities[i] = (v + step / dt).cast<float>();
          sum += way.squaredNorm() + settling * settling * brake.squaredNorm();
        }
        return sum;
      },
      std::plus<>());
  const double reach = static_cast<double>(o.rest_reach);
  if (std::sqrt(away / static_cast<double>(count)) < arrived * reach) state.recovering[object] = 0;
}

}  // namespace supple
