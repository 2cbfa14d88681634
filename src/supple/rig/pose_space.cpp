#include "supple/rig/pose_space.h"

#include <Eigen/LU>

#include <cmath>

#include "supple/core/error.h"

namespace supple {
namespace {

// Examples closer than this (radians) cannot be told apart.
constexpr double coincident = 1e-6;

// How exactly the examples must come back.
constexpr double reproduction_tolerance = 1e-6;

// Angle of the rotation from `a` to `b`, the same for q and -q and for any length.
double rotation_angle(const Quatd& a, const Quatd& b) {
  const Quatd between = a.conjugate() * b;
  return 2 * std::atan2(between.vec().norm(), std::abs(between.w()));
}

void check_samples(const std::vector<int>& joints, const std::vector<PoseSample>& samples) {
  for (const int joint : joints)
    if (joint < 0) throw_input_error("pose space", "joints", fmt::format("no joint {}", joint));
  for (size_t s = 0; s < samples.size(); ++s) {
    const std::vector<Quatd>& rotations = samples[s].rotations;
    const std::string field = fmt::format("sample {}", s);
    if (rotations.size() != joints.size())
      throw_input_error(
          "pose space", field,
          fmt::format("has {} rotations for {} joints", rotations.size(), joints.size()));
    for (const Quatd& q : rotations)
      if (!q.coeffs().allFinite() || q.norm() == 0)
        throw_input_error("pose space", field, "has a rotation that is zero or not finite");
  }
}

}  // namespace

PoseSpace::PoseSpace(std::vector<int> joints, std::vector<PoseSample> samples, double radius)
    : m_joints(std::move(joints)), m_samples(std::move(samples)), m_radius(radius) {
  check_samples(m_joints, m_samples);
  if (!(radius >= 0) || !std::isfinite(radius))
    throw_input_error("pose space", "radius", fmt::format("{} is not an angle", radius));
  const auto n = static_cast<Eigen::Index>(m_samples.size());
  if (n == 0) return;  // an empty matrix has no inverse to look at
  Eigen::MatrixXd distances = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < i; ++j) {
      const double d = distance(m_samples[i].rotations, m_samples[j].rotations);
      if (d < coincident)
        throw_input_error("pose space", fmt::format("samples {} and {}", j, i),
                          "are the same pose; their rotations must differ");
      distances(i, j) = distances(j, i) = d;
    }
  // A single example has no distances to take the mean of: it fades over one radian.
  if (m_radius == 0) m_radius = n > 1 ? distances.sum() / static_cast<double>(n * (n - 1)) : 1;

  // Weights w of the samples at kernel values k: K w = k, where K holds the kernel between samples.
  const Eigen::MatrixXd kernels = distances.unaryExpr([this](double d) { return kernel(d); });
  m_inverse = Eigen::FullPivLU<Eigen::MatrixXd>(kernels).inverse();
  const double error =
      (m_inverse * kernels - Eigen::MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff();
  if (!(error <= reproduction_tolerance))
    throw_input_error(
        "pose space", "radius",
        fmt::format("{} radians cannot tell the samples apart; use a smaller one", m_radius));
}

double PoseSpace::distance(const std::vector<Quatd>& a, const std::vector<Quatd>& b) const {
  double sum = 0;
  for (size_t j = 0; j < m_joints.size(); ++j) {
    const double angle = rotation_angle(a[j], b[j]);
    sum += angle * angle;
  }
  return std::sqrt(sum);
}

double PoseSpace::distance(const PoseSample& sample, const Pose& pose) const {
  double sum = 0;
  for (size_t j = 0; j < m_joints.size(); ++j) {
    const double angle = rotation_angle(sample.rotations[j], pose.local[m_joints[j]].rotation);
    sum += angle * angle;
  }
  return std::sqrt(sum);
}

double PoseSpace::kernel(double distance) const {
  const double ratio = distance / m_radius;
  return std::exp(-ratio * ratio);
}

void PoseSpace::apply(Pose& pose) const {
  for (size_t k = 0; k < m_samples.size(); ++k) {
    const double value = kernel(distance(m_samples[k], pose));
    for (size_t s = 0; s < m_samples.size(); ++s) {
      const auto shape = static_cast<size_t>(m_samples[s].shape);
      if (shape < pose.shape_weights.size())
        pose.shape_weights[shape] +=
            m_inverse(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(k)) * value;
    }
  }
}

std::vector<double> PoseSpace::weights(const Pose& pose) const {
  Eigen::VectorXd values(static_cast<Eigen::Index>(m_samples.size()));
  for (size_t k = 0; k < m_samples.size(); ++k)
    values[static_cast<Eigen::Index>(k)] = kernel(distance(m_samples[k], pose));
  const Eigen::VectorXd result = m_inverse * values;
  return {result.begin(), result.end()};
}

}  // namespace supple
