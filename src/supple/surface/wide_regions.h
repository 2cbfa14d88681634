// Wide regions: what carries the weight of an object. Matching regions of a few edges carries a
// push only so far in a step, and under its weight a body of length L with regions of radius R
// gives way by a part of about g dt² L / R²: things of toys' size collapse in steps of 5 ms. So
// neighbouring particles are gathered in clusters about as wide as the regions, the middles of the
// clusters are matched over regions that are a good part of the object wide, and particles follow
// the middles of the clusters around them smoothly, as in the coarse step of a multigrid method.
// What is smaller than a cluster is left to the regions. The same clusters damp motions that are
// wider than regions, which is what makes a body bounce.
//
// A deviation from [Diziol 2011], which has regions of one width only.
#pragma once

#include <span>
#include <vector>

#include "supple/surface/surface_kernels.h"
#include "supple/surface/surface_model.h"

namespace supple {

struct SurfaceState;

/// The clusters of all objects that have wide regions, constant once built, and what a step needs.
class WideRegions {
 public:
  explicit WideRegions(const SurfaceModel& model);

  /// Whether any object has them.
  bool any() const { return !m_clusters.empty(); }

  /// Matches the middles of clusters and takes their motion against each other away, by the
  /// stiffness and damping of their objects; particles follow, their velocities (m/s) too, in a
  /// step of `dt` seconds. Held particles (weight 1) stay.
  void match(double dt, std::span<const float> held, SurfaceState& state);

 private:
  // Particles that lie together, and the region of clusters around them.
  struct Cluster {
    uint32_t object = 0;
    int32_t middle_particle = 0;
    double mass = 0;
    Vec3d rest = Vec3d::Zero();
    Mat3d turn = Mat3d::Identity();            // of its region
    Vec3d centre = Vec3d::Zero();              // of its region, at rest
    uint32_t first_share = 0, last_share = 0;  // particles
    uint32_t first_near = 0, last_near = 0;    // clusters of its region
    double region_mass = 0;
  };
  // How a particle follows: weights add up to 1, or to 0 for those that follow none.
  static constexpr size_t most_followed = 4;
  struct Follower {
    int32_t clusters[most_followed] = {};
    float weights[most_followed] = {};
  };
  struct Share {
    int32_t particle;
    float weight;  // mass times how much it follows, over the cluster's mass
  };
  // Where a cluster or a region is and how it moves.
  struct Motion {
    Vec3d x = Vec3d::Zero(), v = Vec3d::Zero(), spin = Vec3d::Zero();
    Mat3d turn = Mat3d::Identity();
  };
  struct Graph;

  void add_object(const SurfaceModel& model, const VertexLists& neighbours, uint32_t object);
  void gather(const SurfaceModel& model, size_t first);
  void find_region(const Graph& graph, size_t first, size_t cluster, double reach);
  void locate(const SurfaceState& state);
  void match_region(const Cluster& cluster, const SurfaceState& state, Motion& region) const;

  const SurfaceModel& m_model;
  std::vector<Cluster> m_clusters;
  std::vector<Follower> m_followers;  // of particles
  std::vector<Share> m_shares;
  std::vector<uint32_t> m_near;
  std::vector<Motion> m_motions, m_regions;  // of clusters
  std::vector<Vec3f> m_shifts, m_kicks;      // of clusters, m and m/s
};

}  // namespace supple
