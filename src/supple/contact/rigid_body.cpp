#include "supple/contact/rigid_body.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"

namespace supple {

// Sums over tetrahedra from the origin to the triangles: volume, first and second moments.
RigidBodyModel solid_body(const TriangleMesh& surface, double density, const std::string& what) {
  double volume = 0;
  Vec3d first = Vec3d::Zero();
  Mat3d second = Mat3d::Zero();
  const Vec3d origin =
      surface.positions.empty() ? Vec3d(Vec3d::Zero()) : Vec3d(surface.positions[0].cast<double>());
  for (const Vec3i& triangle : surface.triangles) {
    const auto corner = [&](int c) -> Vec3d {
      return surface.positions[static_cast<size_t>(triangle[c])].cast<double>() - origin;
    };
    const Vec3d a = corner(0), b = corner(1), c = corner(2), sum = a + b + c;
    const double v = a.dot(b.cross(c)) / 6;
    volume += v;
    first += v / 4 * sum;
    // ∫ x xᵀ over a tetrahedron with a corner at the origin.
    second += v / 20 *
              (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  if (!(volume > 0) || !(density > 0) || !std::isfinite(volume * density))
    throw_input_error(what, "", "a free body needs a closed surface with a volume and a density");
  RigidBodyModel model;
  model.mass = density * volume;
  const Vec3d centre = first / volume;
  model.centre = origin + centre;
  const Mat3d about = density * (second - volume * centre * centre.transpose());
  model.inertia = about.trace() * Mat3d::Identity() - about;
  return model;
}

RigidBody::RigidBody(RigidBodyModel model)
    : position(model.centre),
      orientation(Quatd::Identity()),
      velocity(Vec3d::Zero()),
      spin(Vec3d::Zero()),
      grips(model.points.size()),
      m_model(std::move(model)),
      m_tree(m_model.points) {
  m_damping = 2 * m_model.damping_ratio * std::sqrt(m_model.stiffness * m_model.mass / 4);
}

Affine RigidBody::placed() const {
  Affine result;
  result.linear() = orientation.toRotationMatrix();
  result.translation() = position - result.linear() * m_model.centre;
  result.makeAffine();
  return result;
}

Wrench RigidBody::contacts(std::span<const Collider* const> colliders) {
  Wrench wrench;
  const Affine now = placed();
  m_inside.clear();
  for (size_t c = 0; c < colliders.size(); ++c) {
    m_found.clear();
    m_tree.find_near(*colliders[c], m_model.points, 0, m_found, now);
    for (const int32_t p : m_found) m_inside.emplace_back(p, static_cast<int32_t>(c));
  }
  std::sort(m_inside.begin(), m_inside.end());
  size_t next = 0;
  for (size_t p = 0; p < m_model.points.size(); ++p) {
    if (next == m_inside.size() || m_inside[next].first != static_cast<int32_t>(p))
      grips[p].collider = -1;
    for (; next < m_inside.size() && m_inside[next].first == static_cast<int32_t>(p); ++next) {
      const Vec3d at = now * m_model.points[p];
      const Collider& collider = *colliders[static_cast<size_t>(m_inside[next].second)];
      const auto contact = collider.test(at);
      if (!contact) continue;
      const Penalty penalty{m_model.stiffness, m_damping, collider.options().friction};
      const Vec3d force = penalty_force(*contact, at, velocity_at(at), penalty,
                                        m_inside[next].second, collider.placed(), grips[p]);
      wrench.torque += (at - position).cross(force);
      wrench.force += force;
    }
  }
  return wrench;
}

void RigidBody::integrate(double h, const Wrench& wrench, const Vec3d& gravity) {
  velocity += h * (wrench.force / m_model.mass + gravity);
  position += h * velocity;
  const Mat3d r = orientation.toRotationMatrix();
  const Mat3d inertia = r * m_model.inertia * r.transpose();
  // Torques change the angular momentum; the body turns with it.
  const Vec3d momentum = inertia * spin + h * wrench.torque;
  spin = inertia.ldlt().solve(momentum);
  const double angle = h * spin.norm();
  if (angle > 0) {
    orientation = Quatd(Eigen::AngleAxisd(angle, spin.normalized())) * orientation;
    orientation.normalize();
    // The momentum stays in the turned body.
    const Mat3d next = orientation.toRotationMatrix();
    spin = (next * m_model.inertia * next.transpose()).ldlt().solve(momentum);
  }
}

double RigidBody::highest_frequency() const {
  double most = 0;
  const Mat3d inverse = m_model.inertia.inverse();
  for (const Vec3d& point : m_model.points) {
    // A push at the point along n accelerates it by n/m + (I⁻¹ (r × n)) × r.
    const Vec3d r = point - m_model.centre;
    const double turn = Eigen::SelfAdjointEigenSolver<Mat3d>(inverse).eigenvalues()[2];
    most += m_model.stiffness * (1 / m_model.mass + turn * r.squaredNorm());
  }
  return most;
}

}  // namespace supple
