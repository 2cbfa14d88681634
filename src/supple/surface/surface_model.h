// Surfaces that keep their shape and volume [Diziol 2011]: many objects, each a welded triangle
// mesh, packed into one array of particles. Particles are vertices in the order of paths
// (surface_paths.h), object after object and shell after shell. Constant once built.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "supple/surface/surface_paths.h"
#include "supple/surface/volume_constraint.h"

namespace supple {

/// How an object behaves. Names in brackets are the symbols of [Diziol 2011].
struct SurfaceParameters {
  int region_width = 2;     ///< regions reach this many edges (ω, 1 to 32); more is stiffer
  double stiffness = 1;     ///< part of the way to the matched shape a step goes (s, 0 to 1)
  double damping = 0.1;     ///< part of the motion against the region's a step takes (0 to 1)
  double support = 0;       ///< how far wide regions reach that carry the weight, as a part of the
                            ///< object's length (0 to 1); 0 for none
  bool keep_volume = true;  ///< whether closed shells keep their volume
  bool recover = true;      ///< whether it is led back to its shape when it was turned inside out
  double spread = 0.2;      ///< 0 corrects volume where it changed, 1 everywhere alike (α, 0 to 1)
  double inner = 0.1;       ///< how much inner distances count in where (β, 0 to 1)
  double thick_stiffness = 0.01;   ///< of the longest inner distance (s_min, 0 to 1)
  double thin_stiffness = 0.1;     ///< of the shortest (s_max, 0 to 1)
  double volume_tolerance = 1e-4;  ///< part of the volume that may be wrong (1e-6 to 1)
  double plastic_yield = 0;        ///< strain that stays reversible; see plastic_limit
  double plastic_creep = 0;        ///< part of the strain beyond it that stays, per second
  double plastic_limit = 0;        ///< largest strain that stays, 0 for none (0 to 3)

  /// Throws an input error that names a field out of its range; `where` comes before the field.
  void check(const std::string& where) const;
};

/// A mesh to simulate, at rest. Vertices at the same place are different particles: weld first.
struct SurfaceObject {
  std::span<const Vec3f> positions;    ///< metres
  std::span<const Vec3i> triangles;    ///< counter-clockwise seen from outside
  std::span<const float> masses = {};  ///< kg per vertex; none: 1 each
  SurfaceParameters parameters;
};

/// Consecutive particles of one shell, whole paths, that are worked on at a time.
struct SurfaceBlock {
  uint32_t begin = 0, end = 0;             ///< particles
  uint32_t first_path = 0, last_path = 0;  ///< paths, the last one excluded
  uint32_t object = 0, shell = 0;
};

/// What the model knows of an object.
struct PackedObject {
  SurfaceParameters parameters;
  uint32_t begin = 0, end = 0;                     ///< particles
  uint32_t first_triangle = 0, last_triangle = 0;  ///< triangles, the last one excluded
  uint32_t first_shell = 0, last_shell = 0;        ///< shells, the last one excluded
  uint32_t first_block = 0, last_block = 0;        ///< blocks, the last one excluded
  Vec3f rest_centre = Vec3f::Zero();               ///< of its box at rest
  float rest_reach = 1;                            ///< largest coordinate from there, metres
  int32_t largest_region = 1;                      ///< particles
  float shortest_region = 1;  ///< mean distance from the centre, of the smallest region, as a part
                              ///< of rest_reach
  int open_shells = 0;        ///< shells with triangles that enclose nothing
  int loose_vertices = 0;     ///< vertices of no triangle
};

/// All objects, ready to be simulated.
struct SurfaceModel {
  SurfaceModel() = default;
  /// Packs objects. Throws an input error for parameters out of range, positions that are not
  /// finite, triangles of missing vertices, masses that are not positive, and more than 2^24
  /// particles and paths in all.
  explicit SurfaceModel(std::span<const SurfaceObject> objects);

  /// Number of particles.
  size_t size() const { return rest.size(); }

  std::vector<PackedObject> objects;
  std::vector<SurfaceBlock> blocks;
  std::vector<int32_t> vertex_of_particle;  ///< vertices of all objects, one object after the other
  std::vector<int32_t> particle_of_vertex;
  std::vector<Vec3f> rest;              ///< metres
  std::vector<float> masses;            ///< kg
  std::vector<float> rest_areas;        ///< area vectors at rest, m²
  std::vector<Vec3i> triangles;         ///< particles; in the order of the objects
  std::vector<uint32_t> path_starts;    ///< first particle of every path, and the total
  RegionTable regions;                  ///< ω edges wide
  RegionTable rings;                    ///< one edge wide
  VolumeSurface volume;                 ///< fans and shells
  std::vector<int32_t> inner_partners;  ///< the other end of a particle's inner distance, or -1
  std::vector<float> inner_lengths;     ///< metres
  std::vector<float> inner_stiffness;   ///< s_i, 0 to 1

  // What the sums over regions need; numbers per particle or region.
  std::vector<float> moments;    ///< 4: mass times place at rest (-1 to 1 in the object), and mass
  std::vector<int32_t> centres;  ///< 4: sums of these over the region, exactly
  std::vector<float> normal_points;  ///< 4: mean mass times the rest place of the extra point of
                                     ///< the region from its centre, and the length l
  std::vector<float> rest_inverse;   ///< 6: inverse second moments of regions at rest, the extra
                                     ///< point included: xx yy zz yz xz xy; only with plasticity

  /// Slots of prefix sums: one per particle, and one more per path.
  size_t slots() const { return rest.size() + path_starts.size() - 1; }
  bool has_plasticity() const { return !rest_inverse.empty(); }

  /// One line for each thing a user should know: open shells, loose vertices.
  std::vector<std::string> remarks() const;

  /// Positions or velocities of particles, put in the order of the objects' vertices.
  void to_vertices(std::span<const Vec3f> particles, std::span<Vec3f> vertices) const;
  /// The other way round.
  void to_particles(std::span<const Vec3f> vertices, std::span<Vec3f> particles) const;
};

}  // namespace supple
