#include "supple/contact/level_set.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/Dense.h>
#include <openvdb/tools/Interpolation.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "supple/contact/piece_tree.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr double most_voxels = 1 << 26;
constexpr double infinity = std::numeric_limits<double>::infinity();

Box3d box_of_triangles(std::span<const Vec3f> positions, std::span<const Vec3i> triangles) {
  Box3d box;
  const auto count = static_cast<int64_t>(positions.size());
  for (const Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k)
      if (t[k] >= 0 && t[k] < count && positions[static_cast<size_t>(t[k])].allFinite())
        box.extend(Vec3d(positions[static_cast<size_t>(t[k])].cast<double>()));
  return box;
}

double voxel_of(const Box3d& box, const LevelSetOptions& options) {
  if (options.voxel < 0 || !std::isfinite(options.voxel))
    throw_input_error("level set", "voxel",
                      fmt::format("{} m; 0 or more is needed", options.voxel));
  if (options.voxel > 0) return options.voxel;
  const double longest = box.isEmpty() ? 0 : box.sizes().maxCoeff();
  return longest > 0 ? longest / 64 : 1;
}

// Grid points: a box of them around the object, and their signed distances.
struct Samples {
  Vec3i low, size;
  std::vector<float> values;  // z fastest

  size_t count() const { return values.size(); }
  Vec3i at(size_t index) const {
    const auto ny = static_cast<size_t>(size[1]), nz = static_cast<size_t>(size[2]);
    return low + Vec3i(static_cast<int32_t>(index / nz / ny), static_cast<int32_t>(index / nz % ny),
                       static_cast<int32_t>(index % nz));
  }
};

Samples make_samples(const Box3d& box, double voxel, double band) {
  const Eigen::Array3d low = (box.min() / voxel).array().floor() - std::ceil(band) - 1,
                       high = (box.max() / voxel).array().ceil() + std::ceil(band) + 1,
                       size = high - low + 1;
  const bool fits = low.abs().maxCoeff() < 1e9 && high.abs().maxCoeff() < 1e9;
  if (!fits || !(size.prod() <= most_voxels))
    throw_input_error(
        "level set", "voxel",
        fmt::format("{:.4g} m gives {:.4g} voxels; at most 2^26 are possible", voxel, size.prod()));
  Samples samples;
  samples.low = low.cast<int32_t>();
  samples.size = size.cast<int32_t>();
  samples.values.resize(static_cast<size_t>(size.prod()));
  return samples;
}

// The signed distance at every grid point inside or within the band, that of the band elsewhere.
void measure(Samples& samples, const SkinSurface& surface, double voxel, double band) {
  std::vector<int32_t> all(surface.pieces().size());
  std::iota(all.begin(), all.end(), 0);
  const PieceTree tree(surface.pieces(), all);  // sheets too
  parallel_for(samples.count(), 4096, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Vec3d point = voxel * samples.at(i).cast<double>();
      const bool inside = surface.is_inside(point);
      const double distance = inside ? -surface.nearest(point).distance
                                     : std::min(band, tree.closest(point, band).distance);
      samples.values[i] = static_cast<float>(std::max(distance, -1e30));
    }
  });
}

openvdb::FloatGrid::Ptr grid_of(Samples& samples, double band) {
  const openvdb::Coord low(samples.low[0], samples.low[1], samples.low[2]);
  const openvdb::Coord high =
      low.offsetBy(samples.size[0] - 1, samples.size[1] - 1, samples.size[2] - 1);
  const openvdb::tools::Dense<float> dense(openvdb::CoordBBox(low, high), samples.values.data());
  auto grid = openvdb::FloatGrid::create(static_cast<float>(band));
  openvdb::tools::copyFromDense(dense, *grid, 0.0f);
  return grid;
}

}  // namespace

struct LevelSet::Grid {
  Box3d box;
  double voxel = 0, band = 0;  // in metres
  openvdb::FloatGrid::Ptr grid;

  // The distance at a point within the grid, in metres.
  double sample(const Vec3d& point) const {
    const Vec3d at = point / voxel;
    return static_cast<double>(
        openvdb::tools::BoxSampler::sample(grid->constTree(), openvdb::Vec3d(at[0], at[1], at[2])));
  }

  // Twice `half` times the gradient of the distance, by central differences.
  Vec3d slope(const Vec3d& point, double half) const {
    Vec3d result;
    for (int c = 0; c < 3; ++c) {
      const Vec3d step = half * Vec3d::Unit(c);
      result[c] = sample(point + step) - sample(point - step);
    }
    return result;
  }
};

LevelSet::LevelSet(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                   const LevelSetOptions& options) {
  auto result = std::make_shared<Grid>();
  result->box = box_of_triangles(positions, triangles);
  result->voxel = voxel_of(result->box, options);
  result->band = result->voxel * std::max(2.0, std::min(options.band, 1e6));
  Samples samples;
  if (!result->box.isEmpty())
    samples = make_samples(result->box, result->voxel, result->band / result->voxel);
  const SkinSurface surface(positions, triangles, result->voxel);
  if (surface.pieces().empty())
    throw_input_error("level set", "triangles", "none of them has an area");
  measure(samples, surface, result->voxel, result->band);
  result->grid = grid_of(samples, result->band);
  m_grid = std::move(result);
}

double LevelSet::distance(const Vec3d& point) const {
  if (!point.allFinite()) return infinity;
  const double beyond = m_grid->box.exteriorDistance(point);
  return beyond >= m_grid->band ? beyond : m_grid->sample(point);
}

Vec3d LevelSet::normal(const Vec3d& point) const {
  if (!point.allFinite()) return Vec3d::UnitZ();
  const Box3d& box = m_grid->box;
  const Vec3d clamped = point.cwiseMax(box.min()).cwiseMin(box.max());
  if ((point - clamped).stableNorm() >= m_grid->band) return (point - clamped).stableNormalized();
  // Halfway between surfaces the distance is flat: a wider look, then the way from the middle.
  for (const double half : {0.5, 2.0, 8.0}) {
    const Vec3d slope = m_grid->slope(point, half * m_grid->voxel);
    if (slope.norm() > 0.05 * half * m_grid->voxel) return slope.normalized();
  }
  const Vec3d away = point - box.center();
  return away.norm() > 1e-12 * box.diagonal().norm() ? away.normalized() : Vec3d::UnitZ();
}

// Linear between grid points that are each off by no more than their way to the point: at most half
// the diagonal of a voxel on average.
double LevelSet::inaccuracy() const { return std::sqrt(3.0) / 2 * m_grid->voxel; }

double LevelSet::voxel() const { return m_grid->voxel; }
const Box3d& LevelSet::box() const { return m_grid->box; }

}  // namespace supple
