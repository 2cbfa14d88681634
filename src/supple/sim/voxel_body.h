// The body of few cells [Nesme 2006]: a skin cut into voxels that know where in them the matter is,
// moved by implicit Euler steps of one linear solve each. For games, previews and props: a step of
// some hundred cells takes a fraction of a millisecond.
#pragma once

#include "supple/sim/body.h"
#include "supple/sim/flesh_contact.h"
#include "supple/sim/instant.h"
#include "supple/sim/skin_volume.h"
#include "supple/sim/voxel_model.h"

namespace supple {

/// A skin that moves with voxels.
class VoxelBody final : public Body {
 public:
  /// Builds the voxels of the character's skin at rest; throws an input error naming `file` when
  /// the scene asks for something that is not possible. `skinning` is how joint motions are blended
  /// where the skin follows the rig. The character must outlive the body. A prop that nothing holds
  /// stands on the ground.
  VoxelBody(const Character& character, const BodySettings& settings, const FrameRange& range,
            const std::string& file, SkinningMethod skinning = SkinningMethod::linear);

  StepReport step(const Drive& drive, double dt) override;
  void skin(BodyFrame& out) const override;
  void save(Chunk& state) const override;
  void load(const Chunk& state, std::string_view file) override;
  std::vector<ChunkArray> shown_once() const override;
  std::vector<BodyFact> facts() const override;

  /// Where the nodes are, in metres, numbered as in the model's mesh.
  std::span<const Vec3d> node_positions() const { return m_positions; }

  /// What does not change.
  const VoxelModel& model() const { return m_model; }

 private:
  void start(const Instant& first, StepReport& report);
  void set_in_motion();
  void follow_path(const Instant& to, StepReport& report);
  void settle(const Instant& now, StepReport& report);
  void advance(const Instant& now, double dt, StepReport& report);
  void aim(const Instant& now);
  void set_pulls(double dt);
  void put_held(const Moment& moment);
  void set_springs(const Moment& moment, bool contacts);
  void solve(const Moment& moment, StepReport& report);
  void recover(StepReport& report);

  const Character& m_character;
  BodySettings m_settings;
  SkinningMethod m_skinning;
  VoxelModel m_model;
  bool m_dynamic;
  bool m_compensates;
  LinearLimits m_limits;
  std::unique_ptr<VoxelSystem> m_system;
  std::unique_ptr<Skinner> m_skinner;  // of the whole skin
  std::unique_ptr<FleshContact> m_contact;
  std::unique_ptr<SkinVolume> m_volume;  // null where the scene does not ask for it
  std::vector<LatticeTie> m_contact_ties;

  // State: what a checkpoint holds.
  std::vector<Vec3d> m_positions, m_velocities;
  bool m_started = false;
  bool m_fresh = true;  // the next step begins at the rig's speed
  Instant m_now;

  // Made anew in every step.
  std::vector<Vec3d> m_before, m_goals, m_forces;
  std::vector<Vec3f> m_targets, m_targets_before;  // of the nodes' springs to the rig
  std::vector<Vec3f> m_plain;                      // plain skinning, of the character's vertices
  std::vector<Vec3d> m_held_targets;               // of the points that are held
  std::vector<PointPull> m_springs;
  std::vector<ActiveSpring> m_found;
  std::vector<float> m_cell_stretch;
  double m_pull_step = -1;  // time step the pulls are set up for
};

}  // namespace supple
