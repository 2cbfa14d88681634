#include "supple/surface/surface_solver.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "supple/core/parallel.h"
#include "supple/math/flush_denormals.h"
#include "supple/surface/block_pipeline.h"
#include "supple/surface/surface_kernels.h"
#include "supple/surface/surface_recovery.h"
#include "supple/surface/volume_kernels.h"
#include "supple/surface/wide_regions.h"

namespace supple {
namespace {

float* numbers(std::vector<Vec3f>& vectors) { return vectors.data()->data(); }
const float* numbers(std::span<const Vec3f> vectors) {
  return vectors.empty() ? nullptr : vectors.data()->data();
}

// How much a particle takes part in corrections of the volume at most, in means of all.
constexpr float most_weight = 4;

// How the momenta of an object changed.
struct MomentumChange {
  double mass = 0;
  Vec3d first = Vec3d::Zero(), linear = first, angular = first;
  Mat3d second = Mat3d::Zero();

  void add(const MomentumSums& before, const MomentumSums& after) {
    using Three = Eigen::Map<const Vec3d>;
    mass += after.mass;
    first += Three(after.first);
    linear += Three(after.linear) - Three(before.linear);
    angular += Three(after.angular) - Three(before.angular);
    const double* s = after.second;
    second += Mat3d{{s[0], s[5], s[4]}, {s[5], s[1], s[3]}, {s[4], s[3], s[2]}};
  }

  // The rigid motion that takes it back.
  RigidField reverted(const float* centre) const {
    RigidField field;
    if (!(mass > 0)) return field;
    const Vec3d t = first / mass, base = -linear / mass;
    const Mat3d moments = second - mass * t * t.transpose();
    Mat3d inertia = moments.trace() * Mat3d::Identity() - moments;
    inertia.diagonal().array() += 1e-4 * moments.trace();
    Vec3d spin = Vec3d::Zero();
    if (moments.trace() > 0) spin = inertia.inverse() * (t.cross(linear) - angular);
    if (!base.allFinite() || !spin.allFinite()) return field;
    // base + spin × (y - t)
    const Vec3f all = (base - spin.cross(t)).cast<float>();
    for (int k = 0; k < 3; ++k) {
      field.base[k] = all[k];
      field.spin[k] = static_cast<float>(spin[k]);
      field.centre[k] = centre[k];
    }
    return field;
  }
};

}  // namespace

SurfaceState::SurfaceState(const SurfaceModel& model) : positions(model.rest) {
  positions.push_back(Vec3f::Zero());
  velocities.assign(positions.size(), Vec3f::Zero());
  recovering.assign(model.objects.size(), 0);
  rotations.assign(4 * model.size(), 0.0f);
  for (size_t i = 0; i < model.size(); ++i) rotations[4 * i + 3] = 1;
  if (!model.has_plasticity()) return;
  plastic.assign(9 * model.size(), 0.0f);
  for (size_t i = 0; i < model.size(); ++i)
    for (size_t k = 0; k < 3; ++k) plastic[9 * i + 4 * k] = 1;
}

struct SurfaceSolver::Work {
  const SurfaceModel& model;
  VolumeConstraint volume;
  VertexLists members;  // of regions, for naive sums only
  SurfacePulls pulls;
  std::vector<SurfaceFrame> frames;              // per object
  std::vector<Bounds> bounds;                    // per block
  std::vector<int32_t> shapes, transforms;       // records per slot; motions take their place
  std::vector<int32_t> ring_records;             // one per slot
  std::vector<Vec3f> gradients, goals;           // per particle
  std::vector<float> changes;                    // how far matching moved particles
  std::vector<float> weights, position_weights;  // of corrections of velocities, positions
  std::vector<int32_t> partners;                 // where an inner distance's other x is
  std::vector<double> block_sums;                // per block
  std::vector<float> block_speeds;
  std::vector<size_t> block_inverted;
  std::vector<MomentumSums> momenta_before, momenta_after;  // per block
  SurfaceRecovery recovery;
  WideRegions wide;
  BlockPipeline pipeline;
  std::vector<double> shell_sums;
  std::vector<RigidField> fields;  // per object
  std::vector<uint8_t> pulled;     // per object: whether anything is drawn to a target
  bool any_damping = false;

  explicit Work(const SurfaceModel& from);
  PathRange range(const SurfaceBlock& block) const {
    return {block.begin, block.end, block.first_path, model.path_starts.data()};
  }
  RegionView view(const RegionTable& table) const {
    RegionView view{table.offsets.data(), table.intervals.data(), table.sizes.data()};
    if (!members.items.empty()) {
      view.member_offsets = members.offsets.data();
      view.members = members.items.data();
    }
    return view;
  }
  // Calls `body` with every block and its number, on all threads.
  template <class Body>
  void each_block(const Body& body) const {
    pipeline.run(body);
  }

  void set_frames(bool keep_centres);
  void match_wide(SurfaceState& state, double dt);
  PlasticFlow flow_of(const SurfaceBlock& block, SurfaceState& state, double dt) const;
  GoalUse goal_use(const SurfaceBlock& block, double dt);
  void damp(SurfaceState& state, float dt);
  void measure_momentum(const SurfaceState& state, const SurfaceBlock& block, size_t b,
                        std::vector<MomentumSums>& to) const;
  void conserve(SurfaceState& state, float dt);
  void recover(SurfaceState& state, double dt);
  void set_weights(const SurfaceState& state, std::span<const uint8_t> touching);
  void find_changes(const SurfaceState& state);
  void smooth(std::vector<float>& values);
};

SurfaceSolver::Work::Work(const SurfaceModel& from)
    : model(from), volume(from.volume), recovery(from), wide(from), pipeline(from) {
  const size_t count = model.size();
  frames.resize(model.objects.size());
  fields.resize(model.objects.size());
  pulled.assign(model.objects.size(), 0);
  bounds.resize(model.blocks.size());
  shapes.resize(shape_record * model.slots());
  transforms.resize(shape_record * model.slots());
  ring_records.resize(model.slots());
  gradients.assign(count + 1, Vec3f::Zero());
  changes.resize(count);
  weights.resize(count);
  position_weights.resize(count);
  block_sums.resize(model.blocks.size());
  block_speeds.resize(model.blocks.size());
  block_inverted.resize(model.blocks.size());
  momenta_before.resize(model.blocks.size());
  momenta_after.resize(model.blocks.size());
  shell_sums.resize(model.volume.shells.size());
  for (const int32_t p : model.inner_partners) partners.push_back(3 * std::max(p, 0));
  std::vector<uint8_t> kept(model.volume.shells.size(), 0);
  for (const PackedObject& object : model.objects) {
    for (uint32_t s = object.first_shell; s < object.last_shell; ++s)
      kept[s] = object.parameters.keep_volume ? 1 : 0;
    any_damping = any_damping || object.parameters.damping > 0;
  }
  volume.keep(kept);
}

SurfaceSolver::SurfaceSolver(const SurfaceModel& model) : m_work(std::make_unique<Work>(model)) {}
SurfaceSolver::~SurfaceSolver() = default;
SurfaceSolver::SurfaceSolver(SurfaceSolver&&) noexcept = default;
SurfaceSolver& SurfaceSolver::operator=(SurfaceSolver&&) noexcept = default;

void SurfaceSolver::use(RegionSums sums) {
  m_work->members = sums == RegionSums::naive
                        ? region_members(m_work->model.regions, m_work->model.path_starts)
                        : VertexLists();
}

void SurfaceSolver::set_pulls(const SurfacePulls& pulls) {
  Work& work = *m_work;
  work.pulls = pulls;
  for (size_t o = 0; o < work.model.objects.size(); ++o) {
    const PackedObject& object = work.model.objects[o];
    work.pulled[o] = 0;
    for (size_t i = object.begin; i < object.end && !pulls.weights.empty(); ++i)
      if (pulls.weights[i] > 0) work.pulled[o] = 1;
  }
}

void SurfaceSolver::predict(SurfaceState& state, double dt, const Vec3d& gravity) {
  Work& work = *m_work;
  const Vec3f acceleration = gravity.cast<float>();
  work.each_block([&](const SurfaceBlock& block, size_t b) {
    work.bounds[b] = predict_particles(numbers(state.positions), numbers(state.velocities),
                                       static_cast<float>(dt), acceleration.data(),
                                       work.model.objects[block.object].rest_centre.data(),
                                       block.begin, block.end);
  });
  work.set_frames(false);
}

// The box of every object, and how large the numbers of its records may be. Momenta are measured
// about the centre, which stays for a whole step.
void SurfaceSolver::Work::set_frames(bool keep_centres) {
  for (size_t o = 0; o < model.objects.size(); ++o) {
    const PackedObject& object = model.objects[o];
    SurfaceFrame& frame = frames[o];
    if (object.first_block == object.last_block) continue;
    Bounds box = bounds[object.first_block];
    for (uint32_t b = object.first_block; b < object.last_block; ++b)
      for (size_t k = 0; k < 3; ++k) {
        box.low[k] = std::min(box.low[k], bounds[b].low[k]);
        box.high[k] = std::max(box.high[k], bounds[b].high[k]);
      }
    frame.reach = 1e-6f * object.rest_reach;
    for (size_t k = 0; k < 3; ++k) {
      if (!keep_centres) frame.centre[k] = box.low[k] / 2 + box.high[k] / 2;
      frame.rest_centre[k] = object.rest_centre[static_cast<int>(k)];
      frame.reach = std::max({frame.reach, 1.000001f * (box.high[k] - frame.centre[k]),
                              1.000001f * (frame.centre[k] - box.low[k])});
    }
    frame.rest_reach = object.rest_reach;
    // Sums over a region stay below 2^30. Entries of R S are at most 1 plus the plastic limit.
    const double number = 0x1p30 / object.largest_region;
    const double stretch = 1 + object.parameters.plastic_limit;
    frame.turn_unit = static_cast<float>(number / stretch);
    frame.shift_unit =
        static_cast<float>(number / (static_cast<double>(frame.reach) +
                                     1.733 * stretch * static_cast<double>(frame.rest_reach)));
  }
}

// Wide regions move particles first; what they do is not to change momenta either.
void SurfaceSolver::Work::match_wide(SurfaceState& state, double dt) {
  each_block([&](const SurfaceBlock& block, size_t b) {
    measure_momentum(state, block, b, momenta_before);
  });
  wide.match(dt, pulls.weights, state);
  const float rest[3] = {};
  each_block([&](const SurfaceBlock& block, size_t b) {
    bounds[b] =
        predict_particles(numbers(state.positions), numbers(state.velocities), 0, rest,
                          model.objects[block.object].rest_centre.data(), block.begin, block.end);
  });
  set_frames(true);
}

void SurfaceSolver::match(SurfaceState& state, double dt) {
  Work& work = *m_work;
  const SurfaceModel& model = work.model;
  const VertexLists& fans = model.volume.fans;
  const RegionView regions = work.view(model.regions);
  const ShapeTables tables{model.rest.data()->data(), model.moments.data(), model.centres.data(),
                           model.normal_points.data(), model.rest_inverse.data()};
  float *x = numbers(state.positions), *normals = numbers(work.gradients);
  if (work.wide.any()) work.match_wide(state, dt);
  const auto sum_shapes = [&](const SurfaceBlock& block, size_t b) {
    const SurfaceFrame& frame = work.frames[block.object];
    if (!regions.naive())
      shape_records(work.range(block), frame, model.moments.data(), x, work.shapes.data());
    fan_gradients(fans.offsets.data(), fans.items.data(), x, normals, block.begin, block.end);
    if (!work.wide.any()) work.measure_momentum(state, block, b, work.momenta_before);
    work.block_sums[b] =
        volume_sums(x, normals, work.changes.data(), frame.centre, block.begin, block.end).along;
  };
  const auto match_shapes = [&](const SurfaceBlock& block, size_t b) {
    const MatchState match{state.rotations.data(), work.flow_of(block, state, dt)};
    work.block_inverted[b] =
        match_regions(work.range(block), work.frames[block.object], regions, tables,
                      work.shapes.data(), x, normals, match, work.transforms.data());
  };
  const auto move = [&](const SurfaceBlock& block, size_t b) {
    work.block_speeds[b] = reach_goals(
        work.range(block), work.frames[block.object], regions, tables.rest, work.transforms.data(),
        work.goal_use(block, dt), x, numbers(state.velocities), work.changes.data());
  };
  work.pipeline.run(sum_shapes, match_shapes, move);
  if (work.any_damping) work.damp(state, static_cast<float>(dt));
  work.conserve(state, static_cast<float>(dt));
  work.recover(state, dt);
}

PlasticFlow SurfaceSolver::Work::flow_of(const SurfaceBlock& block, SurfaceState& state,
                                         double dt) const {
  const SurfaceParameters& parameters = model.objects[block.object].parameters;
  if (!(parameters.plastic_limit > 0) || state.plastic.empty()) return {};
  return {state.plastic.data(), static_cast<float>(parameters.plastic_yield),
          static_cast<float>(std::min(1.0, dt * parameters.plastic_creep)),
          static_cast<float>(parameters.plastic_limit)};
}

GoalUse SurfaceSolver::Work::goal_use(const SurfaceBlock& block, double dt) {
  GoalUse use;
  use.stiffness = static_cast<float>(model.objects[block.object].parameters.stiffness);
  use.dt = static_cast<float>(dt);
  if (!pulls.weights.empty()) {
    use.targets = numbers(pulls.targets);
    use.pulls = pulls.weights.data();
  }
  if (!goals.empty()) use.goals = numbers(goals);
  return use;
}

void SurfaceSolver::Work::measure_momentum(const SurfaceState& state, const SurfaceBlock& block,
                                           size_t b, std::vector<MomentumSums>& to) const {
  to[b] = momentum_sums(numbers(state.positions), numbers(state.velocities), model.masses.data(),
                        frames[block.object].centre, block.begin, block.end);
}

// Takes back what has changed in the momenta of free objects since they were measured: blended
// goals, points along normals and weighted corrections make forces without a reaction. Rigid
// motions change neither shape nor volume. [Diziol 2011] does without.
void SurfaceSolver::Work::conserve(SurfaceState& state, float dt) {
  each_block([&](const SurfaceBlock& block, size_t b) {
    if (!pulled[block.object]) measure_momentum(state, block, b, momenta_after);
  });
  for (size_t o = 0; o < model.objects.size(); ++o) {
    const PackedObject& object = model.objects[o];
    if (pulled[o]) continue;
    MomentumChange change;
    for (uint32_t b = object.first_block; b < object.last_block; ++b)
      change.add(momenta_before[b], momenta_after[b]);
    fields[o] = change.reverted(frames[o].centre);
  }
  each_block([&](const SurfaceBlock& block, size_t) {
    if (pulled[block.object]) return;
    add_rigid_motion(fields[block.object], dt, numbers(state.positions), numbers(state.velocities),
                     block.begin, block.end);
  });
}

// Objects in distress are led back; what was measured before matching tells.
void SurfaceSolver::Work::recover(SurfaceState& state, double dt) {
  std::fill(shell_sums.begin(), shell_sums.end(), 0.0);
  for (size_t b = 0; b < model.blocks.size(); ++b)
    shell_sums[model.blocks[b].shell] += block_sums[b];
  for (size_t o = 0; o < model.objects.size(); ++o) {
    const PackedObject& object = model.objects[o];
    SurfaceDistress distress;
    for (uint32_t b = object.first_block; b < object.last_block; ++b)
      distress.inverted += block_inverted[b];
    double volume_now = 0, volume_then = 0;
    for (uint32_t s = object.first_shell; s < object.last_shell; ++s) {
      const VolumeShell& shell = model.volume.shells[s];
      if (!shell.closed) continue;
      volume_now += std::copysign(shell_sums[s] / 9, shell_sums[s] * shell.rest_volume);
      volume_then += std::abs(shell.rest_volume);
    }
    if (volume_then > 0) distress.volume_ratio = volume_now / volume_then;
    recovery.judge(o, distress, state);
    recovery.lead_back(o, dt, pulls.weights, state);
  }
}

void SurfaceSolver::Work::damp(SurfaceState& state, float dt) {
  for (size_t o = 0; o < model.objects.size(); ++o) {
    const PackedObject& object = model.objects[o];
    SurfaceFrame& frame = frames[o];
    frame.speed = 1e-12f;
    for (uint32_t b = object.first_block; b < object.last_block; ++b)
      frame.speed = std::max(frame.speed, 1.000001f * block_speeds[b]);
    // Positions have moved a little since the box was measured.
    frame.reach *= 1.25f;
    frame.spin = 4 * frame.reach / (object.shortest_region * frame.rest_reach);
    frame.spin = std::clamp(frame.spin, 1.0f, 1e4f);
    frame.spin_unit = static_cast<float>(
        0x1p30 / (object.largest_region * (1 + 2.0 * static_cast<double>(frame.spin))));
  }
  const auto damps = [&](const SurfaceBlock& block) {
    return model.objects[block.object].parameters.damping > 0;
  };
  const RegionView regions = view(model.regions);
  const MovingParticles particles{model.moments.data(), model.centres.data(),
                                  numbers(state.positions), numbers(state.velocities)};
  pipeline.run(
      [&](const SurfaceBlock& block, size_t) {
        if (damps(block) && !regions.naive())
          motion_records(range(block), frames[block.object], particles, shapes.data());
      },
      [&](const SurfaceBlock& block, size_t) {
        if (damps(block))
          region_motions(range(block), frames[block.object], regions, particles, shapes.data(),
                         transforms.data());
      },
      [&](const SurfaceBlock& block, size_t) {
        if (damps(block))
          damp_particles(range(block), frames[block.object], regions, transforms.data(),
                         static_cast<float>(model.objects[block.object].parameters.damping), dt,
                         pulls.weights.empty() ? nullptr : pulls.weights.data(),
                         numbers(state.positions), numbers(state.velocities));
      });
}

// Weights of corrections of positions: smoothed, 0 for what touches something or is held, and
// smoothed again around that [Diziol 2011, section 5]. Velocities are corrected alike everywhere,
// which takes as little motion as possible away and never adds any; local weights there, as
// [Diziol 2011] has them, stir a body that is kept under stress.
void SurfaceSolver::Work::set_weights(const SurfaceState& state,
                                      std::span<const uint8_t> touching) {
  find_changes(state);
  smooth(position_weights);
  if (!touching.empty()) {
    each_block([&](const SurfaceBlock& block, size_t) {
      for (size_t i = block.begin; i < block.end; ++i)
        if (touching[i] != 0) position_weights[i] = 0;
    });
    smooth(position_weights);
  }
  std::fill(weights.begin(), weights.end(), 1.0f);
  if (touching.empty() && pulls.weights.empty()) return;
  each_block([&](const SurfaceBlock& block, size_t) {
    for (size_t i = block.begin; i < block.end; ++i) {
      if (!pulls.weights.empty()) {
        weights[i] = 1 - pulls.weights[i];
        position_weights[i] *= weights[i];
      }
      if (!touching.empty() && touching[i] != 0) position_weights[i] = 0;
    }
  });
}

// w = (1 - α) n c / Σ c + α [Diziol 2011, eq. 10]; all are n times as large as there, which changes
// nothing. Two limits keep particles that give way from giving way ever more, until they are a
// bubble: none counts more than a few others, and none the more for having grown in area.
void SurfaceSolver::Work::find_changes(const SurfaceState& state) {
  each_block([&](const SurfaceBlock& block, size_t b) {
    const SurfaceParameters& parameters = model.objects[block.object].parameters;
    const ChangeTables tables{changes.data(), partners.data(), model.inner_lengths.data(),
                              model.inner_stiffness.data(), static_cast<float>(parameters.inner)};
    block_sums[b] = volume_changes(tables, numbers(state.positions), position_weights.data(),
                                   block.begin, block.end);
  });
  std::fill(shell_sums.begin(), shell_sums.end(), 0.0);
  for (size_t b = 0; b < model.blocks.size(); ++b)
    shell_sums[model.blocks[b].shell] += block_sums[b];
  each_block([&](const SurfaceBlock& block, size_t) {
    const VolumeShell& shell = model.volume.shells[block.shell];
    const double sum = shell_sums[block.shell];
    const double spread = sum > 1e-30 ? model.objects[block.object].parameters.spread : 1.0;
    const auto base = static_cast<float>(spread);
    const auto scale =
        static_cast<float>(sum > 1e-30 ? (1 - spread) * (shell.end - shell.begin) / sum : 0.0);
    for (size_t i = block.begin; i < block.end; ++i) {
      const float area = gradients[i].norm(), rest = model.rest_areas[i];
      const float local = std::min(scale * position_weights[i], most_weight);
      position_weights[i] = base + (area > rest ? rest / area : 1.0f) * local;
    }
  });
}

// The umbrella operator: means over rings, by sums along paths.
void SurfaceSolver::Work::smooth(std::vector<float>& values) {
  const RegionView rings = view(model.rings);
  const auto unit = [&](const SurfaceBlock& block) {
    return (1 + most_weight) * static_cast<float>(model.objects[block.object].largest_region) *
           0x1p-30f;
  };
  pipeline.run(
      [&](const SurfaceBlock& block, size_t) {
        ring_sums(range(block), values.data(), unit(block), ring_records.data());
      },
      [&](const SurfaceBlock& block, size_t) {
        ring_means(range(block), rings, ring_records.data(), unit(block), values.data());
      });
}

VolumeReport SurfaceSolver::keep_volume(SurfaceState& state, std::span<const uint8_t> touching) {
  Work& work = *m_work;
  work.set_weights(state, touching);
  VolumeOptions options;
  options.tolerance = 1;
  for (const PackedObject& object : work.model.objects)
    options.tolerance = std::min(options.tolerance, object.parameters.volume_tolerance);
  return work.volume.correct_positions(state.positions, work.position_weights, options);
}

double SurfaceSolver::keep_volume_velocity(SurfaceState& state) {
  Work& work = *m_work;
  work.each_block([&](const SurfaceBlock& block, size_t b) {
    work.measure_momentum(state, block, b, work.momenta_before);
  });
  const double rate = work.volume.correct_velocities(state.velocities, work.weights);
  work.conserve(state, 0);
  return rate;
}

VolumeReport SurfaceSolver::step(SurfaceState& state, double dt, const Vec3d& gravity) {
  predict(state, dt, gravity);
  match(state, dt);
  const VolumeReport report = keep_volume(state, {});
  keep_volume_velocity(state);
  return report;
}

void SurfaceSolver::keep_goals(bool keep) {
  m_work->goals.assign(keep ? m_work->model.size() + 1 : 0, Vec3f::Zero());
}

std::span<const Vec3f> SurfaceSolver::goals() const {
  return {m_work->goals.data(), m_work->goals.empty() ? 0 : m_work->model.size()};
}

std::span<const double> SurfaceSolver::volumes() const { return m_work->volume.volumes(); }

}  // namespace supple
