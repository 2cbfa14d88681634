// The elastic body on a lattice: a skin filled with cubic cells of corotated elasticity [McAdams
// 2011], in equilibrium or with inertia (backward Euler), its nodes held, moved or pulled by
// scripts. Not there yet: bones, and collisions.
#pragma once

#include "supple/sim/body.h"
#include "supple/sim/lattice_model.h"
#include "supple/solve/newton.h"

namespace supple {

/// A skin that moves with an elastic lattice.
class LatticeBody final : public Body {
 public:
  /// Builds the lattice of the character's skin at rest; throws an input error naming `file` when
  /// the scene asks for something that is not possible.
  LatticeBody(const Character& character, const BodySettings& settings, const FrameRange& range,
              const std::string& file);

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

  void start(const Moment& moment, StepReport& report);
  void set_in_motion();
  void settle(const Moment& moment, StepReport& report);
  void advance(const Moment& moment, double dt, StepReport& report);
  void move_held(const Moment& moment);
  void solve(StepReport& report);
  void measure_cells(StepReport& report);
  void set_nodes(Positions& to, std::span<const Vec3d> values) const;
  std::vector<Vec3d> node_values(const Positions& from) const;

  LatticeModel m_model;
  BodySettings m_settings;
  std::unique_ptr<LatticeSystem> m_system;
  NewtonWork<LatticeSystem> m_work;
  NewtonOptions<LinearOptions> m_newton;

  // State: what a checkpoint holds.
  Positions m_positions, m_velocities;
  bool m_started = false;
  Moment m_moment;

  // Made anew in every step.
  Positions m_before, m_predicted;
  double m_inertia_step = 0;          // time step the system's masses are set up for
  std::vector<float> m_cell_stretch;  // largest stretch of each cell
};

}  // namespace supple
