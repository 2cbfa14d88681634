#include "supple/math/polar.h"

#include <Eigen/LU>
#include <Eigen/SVD>

namespace supple {
namespace {

// U and V of M = U Σ Vᵀ; no rotation at all where M is not finite.
std::pair<Mat3d, Mat3d> singular_vectors(const Mat3d& matrix) {
  if (!matrix.allFinite()) return {Mat3d::Identity(), Mat3d::Identity()};
  const Eigen::JacobiSVD<Mat3d> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.matrixV()};
}

}  // namespace

Polar polar_decomposition(const Mat3d& matrix) {
  // M = U Σ Vᵀ = (U Vᵀ)(V Σ Vᵀ); a mirroring M takes both factors negative.
  const auto [u, v] = singular_vectors(matrix);
  Mat3d rotation = u * v.transpose();
  if (rotation.determinant() < 0) rotation = -rotation;
  return {rotation, rotation.transpose() * matrix};
}

Mat3d nearest_rotation(const Mat3d& matrix) {
  auto [u, v] = singular_vectors(matrix);
  // Where U Vᵀ mirrors, turning round the axis of least stretch costs least. [Kabsch 1976]
  if ((u * v.transpose()).determinant() < 0) u.col(2) *= -1;
  return u * v.transpose();
}

// The mean of a matrix and its inverse transposed, again and again [Higham 1986].
Mat3d rotation_of_matter(const Mat3d& gradient) {
  Mat3d r = gradient;
  for (int i = 0; i < 12; ++i) {
    Mat3d cofactors;
    cofactors << r.col(1).cross(r.col(2)), r.col(2).cross(r.col(0)), r.col(0).cross(r.col(1));
    const double determinant = r.col(0).dot(cofactors.col(0));
    if (!(determinant > 0.02)) return nearest_rotation(gradient);
    const Mat3d next = 0.5 * (r + cofactors / determinant);
    const double change = (next - r).squaredNorm();
    r = next;
    if (change < 1e-13) return r;  // it converges quadratically
  }
  return nearest_rotation(gradient);
}

Quatd smallest_rotation(const Vec3d& from, const Vec3d& to) {
  // q = (1 + a·b, a × b) / |.| turns by the angle between them.
  const double w = 1 + from.dot(to);
  if (w < 1e-12) return Quatd(Eigen::AngleAxisd(EIGEN_PI, from.unitOrthogonal()));
  const Vec3d axis = from.cross(to);
  return Quatd(w, axis[0], axis[1], axis[2]).normalized();
}

}  // namespace supple
