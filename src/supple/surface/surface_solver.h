// The step of surfaces that keep their shape and volume [Diziol 2011]: regions of the surface are
// matched to their shape at rest, with sums over regions from prefix sums along paths, and closed
// shells keep their volume. In stages, so that contact can come between them:
//
//   solver.predict(state, dt, gravity);
//   solver.match(state, dt);
//   ... contact moves positions and velocities, and says which particles touch something ...
//   solver.keep_volume(state, touching);
//   solver.keep_volume_velocity(state);
//
// Positions of contact are not to be turned into velocities as a whole: position corrections that
// are velocities too overshoot in the next step.
//
// Prefix sums are made of whole numbers that wrap round: differences of them are exact, whatever
// the length of a path, as long as the sum over a region fits. The unit follows from the box of an
// object at every step. So fast and naive sums agree to the bit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "supple/surface/surface_model.h"

namespace supple {

/// What changes from step to step; particles in the model's order.
struct SurfaceState {
  SurfaceState() = default;
  /// All at rest.
  explicit SurfaceState(const SurfaceModel& model);

  /// Metres; one more entry than particles, which is not used: kernels read past the last one.
  std::vector<Vec3f> positions;
  std::vector<Vec3f> velocities;  ///< m/s; one more entry, as above
  std::vector<float> plastic;     ///< 9 per region, row by row: stretch of the rest shape; or empty
  std::vector<float> rotations;   ///< 4 per region, unit quaternions x y z w: where the search for
                                  ///< the rotation starts
  std::vector<uint8_t> recovering;  ///< per object: whether it is being led back to its shape
};

/// How sums over regions are made.
enum class RegionSums {
  fast,   ///< from prefix sums along paths
  naive,  ///< member by member: the reference
};

/// Targets that particles are drawn to, for characters and things held by hand.
struct SurfacePulls {
  std::span<const Vec3f> targets;  ///< metres, of every particle
  std::span<const float> weights;  ///< part of the way a step goes: 0 free, 1 held there
};

/// Advances a state. Holds what a step needs and throws away; the model must outlive it.
class SurfaceSolver {
 public:
  explicit SurfaceSolver(const SurfaceModel& model);
  ~SurfaceSolver();
  SurfaceSolver(SurfaceSolver&&) noexcept;
  SurfaceSolver& operator=(SurfaceSolver&&) noexcept;

  /// How sums are made; results are the same to the bit.
  void use(RegionSums sums);

  /// Targets for the coming steps; the arrays must live as long as they are used. None: all free.
  void set_pulls(const SurfacePulls& pulls);

  /// v += dt a, x += dt v. Times in seconds, gravity in m/s². What is not finite is put to rest.
  void predict(SurfaceState& state, double dt, const Vec3d& gravity);

  /// Draws particles to the matched shape [eq. 3] and to their targets, and damps [Müller 2007].
  void match(SurfaceState& state, double dt);

  /// Restores volumes by moving particles; those that touch something (not 0) stay. `touching` has
  /// an entry per particle, or none.
  VolumeReport keep_volume(SurfaceState& state, std::span<const uint8_t> touching);

  /// Takes from velocities what would change volumes; of touching particles too. Comes after
  /// keep_volume of the same step. Returns the largest rate of change there was, per second.
  double keep_volume_velocity(SurfaceState& state);

  /// All of a step without contact.
  VolumeReport step(SurfaceState& state, double dt, const Vec3d& gravity);

  /// Whether goals are kept to look at.
  void keep_goals(bool keep);
  /// Goals of the last match, in metres: where matching alone would have particles; if kept.
  std::span<const Vec3f> goals() const;

  /// Volumes of shells after the last keep_volume, m³; of those that are not closed nothing useful.
  std::span<const double> volumes() const;

 private:
  struct Work;
  std::unique_ptr<Work> m_work;
};

}  // namespace supple
