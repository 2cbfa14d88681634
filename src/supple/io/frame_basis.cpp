#include "supple/io/frame_basis.h"

#include <Eigen/Eigenvalues>

#include <algorithm>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

// Frame 0 is the base, every further frame a shape of its own.
FrameBasis exact_basis(const AnimatedSkin& skin, const std::function<void(int, int)>& progress) {
  FrameBasis basis;
  basis.base = skin.frame(0).positions;
  if (progress) progress(1, skin.frame_count);
  const auto shapes = static_cast<size_t>(skin.frame_count - 1);
  basis.weights.assign(static_cast<size_t>(skin.frame_count), std::vector<float>(shapes, 0.0f));
  for (size_t s = 0; s < shapes; ++s) {
    std::vector<Vec3f> offsets = skin.frame(static_cast<int>(s) + 1).positions;
    for (size_t v = 0; v < offsets.size(); ++v) offsets[v] -= basis.base[v];
    basis.shapes.push_back(std::move(offsets));
    basis.weights[s + 1][s] = 1.0f;
    if (progress) progress(static_cast<int>(s) + 2, skin.frame_count);
  }
  basis.projection = Eigen::MatrixXf::Zero(skin.frame_count - 1, skin.frame_count);
  basis.projection.rightCols(skin.frame_count - 1).setIdentity();
  return basis;
}

// All frames as rows of a matrix, their mean taken off.
Eigen::MatrixXf centred_frames(const AnimatedSkin& skin, Eigen::RowVectorXf& mean,
                               const std::function<void(int, int)>& progress) {
  const auto width = static_cast<Eigen::Index>(3 * skin.rest.size());
  Eigen::MatrixXf rows(skin.frame_count, width);
  for (int f = 0; f < skin.frame_count; ++f) {
    const SkinFrame frame = skin.frame(f);
    rows.row(f) = Eigen::Map<const Eigen::RowVectorXf>(as_floats(frame.positions).data(), width);
    if (progress) progress(f + 1, skin.frame_count);
  }
  mean = rows.cast<double>().colwise().mean().cast<float>();
  rows.rowwise() -= mean;
  return rows;
}

// Inner products of all pairs of frames, in double, over fixed blocks of columns in their order;
// each task owns some rows of the result.
Eigen::MatrixXd gram_matrix(const Eigen::MatrixXf& rows) {
  constexpr Eigen::Index block = 512;
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(rows.rows(), rows.rows());
  parallel_for(static_cast<size_t>(rows.rows()), 64, [&](size_t begin, size_t end) {
    const auto first = static_cast<Eigen::Index>(begin);
    const auto count = static_cast<Eigen::Index>(end - begin);
    for (Eigen::Index c = 0; c < rows.cols(); c += block) {
      const Eigen::MatrixXd piece =
          rows.middleCols(c, std::min(block, rows.cols() - c)).cast<double>();
      gram.middleRows(first, count).noalias() += piece.middleRows(first, count) * piece.transpose();
    }
  });
  return gram;
}

// Principal components by the method of snapshots: with the eigenvectors V of the frames' Gram
// matrix X Xᵀ, the best approximation of given rank is X ≈ V (Vᵀ X): weights V, shapes Vᵀ X.
FrameBasis compressed_basis(const AnimatedSkin& skin, int most_shapes,
                            const std::function<void(int, int)>& progress) {
  Eigen::RowVectorXf mean;
  const Eigen::MatrixXf rows = centred_frames(skin, mean, progress);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram_matrix(rows));
  const Eigen::VectorXd& values = solver.eigenvalues();  // increasing
  const Eigen::Index frames = values.size();
  const double threshold = 1e-14 * std::max(values[frames - 1], 1e-300);
  Eigen::Index count = 0;
  while (count < most_shapes && count < frames && values[frames - 1 - count] > threshold) ++count;

  const auto vertices = static_cast<Eigen::Index>(skin.rest.size());
  FrameBasis basis;
  basis.compressed = true;
  basis.projection.resize(count, frames);
  Eigen::MatrixXf weights(frames, count);
  for (Eigen::Index c = 0; c < count; ++c) {
    const Eigen::VectorXd vector = solver.eigenvectors().col(frames - 1 - c);
    // Scale each component so that its largest weight is one: weights stay in a range viewers
    // expect.
    const double largest = std::max(vector.cwiseAbs().maxCoeff(), 1e-300);
    weights.col(c) = (vector / largest).cast<float>();
    basis.projection.row(c) = (vector * largest).cast<float>();
  }

  const Eigen::MatrixXf shapes = basis.projection * rows;
  basis.base = to_vectors({mean.data(), static_cast<size_t>(mean.size())});
  for (Eigen::Index c = 0; c < count; ++c) {
    const Eigen::RowVectorXf shape = shapes.row(c);
    basis.shapes.push_back(to_vectors({shape.data(), static_cast<size_t>(shape.size())}));
  }
  double worst = 0;
  for (Eigen::Index f = 0; f < frames; ++f) {
    const Eigen::RowVectorXf list = weights.row(f);
    basis.weights.emplace_back(list.data(), list.data() + count);
    const Eigen::RowVectorXf miss = rows.row(f) - list * shapes;
    for (Eigen::Index v = 0; v < vertices; ++v)
      worst = std::max(worst, static_cast<double>(miss.segment<3>(3 * v).norm()));
  }
  basis.largest_error = worst;
  return basis;
}

}  // namespace

FrameBasis find_frame_basis(const AnimatedSkin& skin, int most_shapes,
                            const std::function<void(int, int)>& progress) {
  if (skin.frame_count <= most_shapes + 1) return exact_basis(skin, progress);
  return compressed_basis(skin, most_shapes, progress);
}

}  // namespace supple
