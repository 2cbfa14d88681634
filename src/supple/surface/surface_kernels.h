// The inner loops of surfaces, compiled for every instruction set. Records of 8 or 16 whole numbers
// per slot (RegionTable) are summed over regions; what follows from the sums is computed for many
// regions side by side in lanes. Blocks are whole paths.
#pragma once

#include <cstddef>
#include <cstdint>

namespace supple {

inline constexpr size_t region_group = 16;   ///< regions worked on at a time
inline constexpr size_t shape_record = 16;   ///< numbers per slot of sums of shapes and transforms
inline constexpr size_t motion_record = 16;  ///< of momenta and inertia
inline constexpr size_t turn_record = 8;     ///< of regions' velocities

/// Intervals of slots (RegionTable), and how they are summed.
struct RegionView {
  const uint32_t* offsets = nullptr;
  const uint32_t* intervals = nullptr;
  const int32_t* sizes = nullptr;
  // For naive sums, else none: what particles add is computed for every region they are in.
  const uint32_t* member_offsets = nullptr;
  const int32_t* members = nullptr;

  bool naive() const { return members != nullptr; }
};

/// Particles of whole paths.
struct PathRange {
  size_t begin = 0, end = 0;         ///< particles
  size_t path = 0;                   ///< the first path
  const uint32_t* starts = nullptr;  ///< first particle of every path, and the total
};

/// The space an object is in at a step, in which coordinates go from -1 to 1.
struct SurfaceFrame {
  float centre[3] = {};       ///< metres
  float reach = 1;            ///< metres
  float rest_centre[3] = {};  ///< the same at rest
  float rest_reach = 1;
  float turn_unit = 1;   ///< whole numbers per unit of a transform's matrix
  float shift_unit = 1;  ///< whole numbers per metre of its translation
  float speed = 1;       ///< largest component of a velocity, m/s
  float spin = 1;        ///< largest component of a region's spin, in units of speed per reach
  float spin_unit = 1;   ///< whole numbers per unit of region velocities and spins
};

/// Lower and upper corner of a box.
struct Bounds {
  float low[3], high[3];
};

/// v += dt a, x += dt v for [begin, end); what is not finite comes to rest at `refuge`. Returns the
/// box of the positions.
Bounds predict_particles(float* x, float* v, float dt, const float* acceleration,
                         const float* refuge, size_t begin, size_t end);

/// Constant tables of the model, see SurfaceModel.
struct ShapeTables {
  const float* rest = nullptr;
  const float* moments = nullptr;
  const int32_t* centres = nullptr;
  const float* normal_points = nullptr;
  const float* rest_inverse = nullptr;
};

/// Records of x x₀ᵀ and x weighted by mass, summed along paths; not needed for naive sums.
void shape_records(const PathRange& range, const SurfaceFrame& frame, const float* moments,
                   const float* x, int32_t* records);

/// Plastic flow of a step.
struct PlasticFlow {
  float* stretch = nullptr;              ///< 9 per region; none: no plasticity
  float yield = 0, rate = 0, limit = 0;  ///< rate: part of the strain per step
};

/// What a match changes beside the transforms; per region.
struct MatchState {
  float* rotations = nullptr;  ///< 4 per region: unit quaternions x y z w, found from the last ones
  PlasticFlow flow;
};

/// Transforms T of regions [Diziol 2011, eq. 1 to 4] as records, from sums of shape records and the
/// gradients of the volume for the direction of normals. Returns how many regions are turned inside
/// out or collapsed.
size_t match_regions(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                     const ShapeTables& tables, const int32_t* records, const float* x,
                     const float* gradients, const MatchState& state, int32_t* transforms);

/// What reach_goals does with goals.
struct GoalUse {
  float stiffness = 1;             ///< s
  float dt = 0;                    ///< s
  const float* targets = nullptr;  ///< 3 per particle, or none
  const float* pulls = nullptr;    ///< 1 per particle
  float* goals = nullptr;          ///< 3 per particle; none: goals are not kept
};

/// Goals from sums of transforms; moves positions towards them, changes velocities by as much
/// [Diziol 2011, eq. 3], and writes how far matching moved each particle, in metres. Returns the
/// largest component of a velocity.
float reach_goals(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                  const float* rest, const int32_t* transforms, const GoalUse& use, float* x,
                  float* v, float* changes);

/// Particles in motion.
struct MovingParticles {
  const float* moments = nullptr;  ///< see SurfaceModel
  const int32_t* centres = nullptr;
  const float* x = nullptr;
  const float* v = nullptr;
};

/// Records of momenta and inertia, summed along paths; not needed for naive sums.
void motion_records(const PathRange& range, const SurfaceFrame& frame,
                    const MovingParticles& particles, int32_t* records);

/// Velocities and spins of regions as records, from sums of motion records.
void region_motions(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                    const MovingParticles& particles, const int32_t* records, int32_t* motions);

/// Draws velocities towards the mean of those of the regions around, by the part `damping`, and
/// moves positions along; particles held by pulls by as much less.
void damp_particles(const PathRange& range, const SurfaceFrame& frame, const RegionView& regions,
                    const int32_t* motions, float damping, float dt, const float* pulls, float* x,
                    float* v);

/// Sums over particles, about a centre.
struct MomentumSums {
  double mass = 0;
  double first[3] = {};    ///< Σ m y
  double second[6] = {};   ///< Σ m y yᵀ: xx yy zz yz xz xy
  double linear[3] = {};   ///< Σ m v
  double angular[3] = {};  ///< Σ m y × v
};

/// The sums over particles [begin, end); places y are in metres from `centre` (three numbers).
MomentumSums momentum_sums(const float* x, const float* v, const float* masses, const float* centre,
                           size_t begin, size_t end);

/// A velocity field: base + spin × (x - centre).
struct RigidField {
  float base[3] = {}, spin[3] = {}, centre[3] = {};
};

/// v += field, x += dt field for particles [begin, end).
void add_rigid_motion(const RigidField& field, float dt, float* x, float* v, size_t begin,
                      size_t end);

/// Where volume changed.
struct ChangeTables {
  const float* changes = nullptr;     ///< of reach_goals
  const int32_t* partners = nullptr;  ///< 1 per particle: where the partner's x is
  const float* lengths = nullptr;     ///< at rest
  const float* stiffness = nullptr;   ///< 0 where there is no partner
  float inner = 0;                    ///< β
};

/// β s d + (1 - β) |c| of particles [begin, end) [Diziol 2011, section 5]; returns the sum.
double volume_changes(const ChangeTables& tables, const float* x, float* weights, size_t begin,
                      size_t end);

/// The mean of `in` over the ring of every particle, by sums of whole numbers along paths in
/// `sums` (1 per slot); `unit` is what one of them is worth. ring_sums comes first, for all blocks.
void ring_sums(const PathRange& range, const float* in, float unit, int32_t* sums);
void ring_means(const PathRange& range, const RegionView& rings, const int32_t* sums, float unit,
                float* out);

}  // namespace supple
