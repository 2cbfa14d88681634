// Pose-space deformation: corrective shapes driven by joint rotations through radial basis
// functions. [Lewis 2000], used for the proxies of [Wang 2020, §7].
#pragma once

#include <string>
#include <vector>

#include "supple/math/types.h"
#include "supple/rig/skeleton.h"

namespace supple {

/// One example: at these rotations of the driving joints, this shape has weight one.
struct PoseSample {
  std::vector<Quatd> rotations;  ///< local rotation of each driving joint
  int shape = -1;  ///< index of the driven blend shape; -1 for a pose without correction
};

/// A set of examples over the same driving joints; shape weights in between come from Gaussian
/// radial basis functions of the rotation angle, which reproduce every example exactly.
class PoseSpace {
 public:
  /// `radius` is the angle (radians) over which an example's influence fades; 0 picks the mean
  /// distance between examples. Throws an input error when two examples coincide, or lie so close
  /// that this radius cannot tell them apart.
  PoseSpace(std::vector<int> joints, std::vector<PoseSample> samples, double radius = 0);

  /// Adds the weights of this set's shapes at `pose`, which has all driving joints, to
  /// `pose.shape_weights`.
  void apply(Pose& pose) const;

  /// The weight of every sample at `pose`.
  std::vector<double> weights(const Pose& pose) const;

 private:
  double distance(const std::vector<Quatd>& a, const std::vector<Quatd>& b) const;
  double distance(const PoseSample& sample, const Pose& pose) const;
  double kernel(double distance) const;

  std::vector<int> m_joints;
  std::vector<PoseSample> m_samples;
  double m_radius;
  Eigen::MatrixXd m_inverse;  // maps kernel values to sample weights
};

}  // namespace supple
