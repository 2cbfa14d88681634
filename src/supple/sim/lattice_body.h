// The elastic body on a lattice: a skin filled with cubic cells of corotated elasticity [McAdams
// 2011], in equilibrium or with inertia (backward Euler). Its nodes hold on to the bones of a rig,
// or are held, moved or pulled by scripts.
#pragma once

#include "supple/lattice/rest_shape.h"
#include "supple/sim/body.h"
#include "supple/sim/flesh_contact.h"
#include "supple/sim/instant.h"
#include "supple/sim/lattice_model.h"
#include "supple/sim/skin_volume.h"
#include "supple/solve/newton.h"

namespace supple {

/// A skin that moves with an elastic lattice.
class LatticeBody final : public Body {
 public:
  /// Builds the lattice of the character's skin at rest; throws an input error naming `file` when
  /// the scene asks for something that is not possible. `skinning` is how joint motions are blended
  /// where the skin follows the rig. The character must outlive the body.
  LatticeBody(const Character& character, const BodySettings& settings, const FrameRange& range,
              const std::string& file, SkinningMethod skinning = SkinningMethod::linear);

  StepReport step(const Drive& drive, double dt) override;
  void skin(BodyFrame& out) const override;
  void save(Chunk& state) const override;
  void load(const Chunk& state, std::string_view file) override;
  std::vector<ChunkArray> shown_once() const override;
  std::vector<BodyFact> facts() const override;

  /// Where the nodes are, in metres, numbered as in the model's mesh.
  std::vector<Vec3d> node_positions() const;

  /// How fast the nodes are, in metres per second; all 0 for a body without inertia.
  std::vector<Vec3d> node_velocities() const;

  /// What does not change.
  const LatticeModel& model() const { return m_model; }

 private:
  using Positions = LatticeSystem::Positions;

  // A state to which a step may go back.
  struct KeptState {
    Positions positions, velocities;
    Instant now;
    bool fresh = true;
  };

  void set_weight(const Moment& moment, std::span<const Affine> joints);
  void build_system();
  void find_rest(const std::string& file);
  void place_springs();
  bool touch(const Positions& x, bool itself);
  Instant between(const Instant& from, const Instant& to, double part) const;
  void go_carefully(const Instant& to, double dt, StepReport& report);
  void go(const Instant& to, double dt, int finer, StepReport& report);
  bool is_troubled(const StepReport& report) const;
  uint64_t node_order() const;
  void keep_state(KeptState& to) const;
  void restore_state(const KeptState& from);
  void start(const Instant& first, int finer, StepReport& report);
  void set_in_motion();
  void follow_path(const Instant& to, int finer, StepReport& report);
  void settle(const Instant& now, StepReport& report);
  void advance(const Instant& now, double dt, StepReport& report);
  void solve_keeping_volume(StepReport& report);
  void aim(const Instant& now);
  void set_pulls(double dt);
  void move_held(const Moment& moment);
  void solve(StepReport& report);
  void solve_once(bool contacts, StepReport& report);
  bool is_settled(const NewtonReport& newton, double residual) const;
  void warn_of(const NewtonReport& newton, StepReport& report) const;
  bool is_sound() const;
  void measure(StepReport& report);
  void set_nodes(Positions& to, std::span<const Vec3d> values) const;
  void set_to_targets(Positions& to) const;
  void keep_volume(bool moving, StepReport& report);
  std::vector<Vec3d> node_values(const Positions& from) const;
  std::vector<float> block_values(std::span<const double> values) const;

  const Character& m_character;
  BodySettings m_settings;
  SkinningMethod m_skinning;
  LatticeModel m_model;
  bool m_dynamic;
  bool m_compensates = false;    // the modelled shape is the one under weight
  std::vector<Vec3d> m_support;  // what the rig carries of the weight in the bind pose, newtons
  RestShapeReport m_rest_report;
  std::unique_ptr<LatticeSystem> m_system;
  std::unique_ptr<NewtonWork<LatticeSystem>> m_work;
  NewtonOptions<LinearOptions> m_newton;
  std::unique_ptr<Skinner> m_skinner;  // of the whole skin
  std::unique_ptr<FleshContact> m_contact;
  std::unique_ptr<SkinVolume> m_volume;  // null where the scene does not ask for it

  // State: what a checkpoint holds.
  Positions m_positions, m_velocities;
  bool m_started = false;
  bool m_fresh = true;  // the next step begins at the rig's speed
  Instant m_now;

  // Made anew in every step.
  Stopwatch m_step_watch;
  KeptState m_begin;       // to which it may go back
  bool m_swollen = false;  // flesh is not at its volume, as going on was no good
  std::vector<ActiveSpring> m_script_springs;
  bool m_touching = false;  // the system has springs of contacts
  Positions m_before, m_start, m_good, m_goal, m_weight;
  std::vector<Vec3f> m_targets, m_targets_before;  // of the nodes' springs to the rig
  std::vector<Vec3f> m_plain;                      // plain skinning, of the character's vertices
  double m_pull_step = -1;                         // time step the pulls are set up for, 0 for none
  std::vector<float> m_cell_stretch;               // largest stretch of each cell
};

}  // namespace supple
