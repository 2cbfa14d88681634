// The body of tetrahedra on a skeleton [Kim 2011]: its flesh moves by explicit steps, as many per
// frame as stability asks for. The skeleton follows the clip (kinematic), or moves by joints, flesh
// and contacts alone (two-way).
#pragma once

#include "supple/sim/body.h"
#include "supple/sim/instant.h"
#include "supple/sim/moving_colliders.h"
#include "supple/sim/skin_volume.h"
#include "supple/sim/tet_control.h"
#include "supple/sim/tet_skin.h"

namespace supple {

/// Flesh of tetrahedra on a skeleton.
class TetBody final : public Body {
 public:
  /// Builds cage, flesh and skeleton of a character at rest; throws an input error naming `file`
  /// when the scene asks for something that is not possible. The character must outlive the body. A
  /// prop that nothing holds stands on the ground.
  TetBody(const Character& character, const BodySettings& settings, const FrameRange& range,
          const std::string& file, SkinningMethod skinning = SkinningMethod::linear);

  StepReport step(const Drive& drive, double dt) override;
  void skin(BodyFrame& out) const override;
  void save(Chunk& state) const override;
  void load(const Chunk& state, std::string_view file) override;
  std::vector<ChunkArray> shown_once() const override;
  std::vector<BodyFact> facts() const override;

  /// What does not change.
  const TetModel& model() const { return m_model; }

  /// Flesh, skeleton and free bodies.
  TetCharacter& simulated() { return *m_body; }
  const TetCharacter& simulated() const { return *m_body; }

  /// The time step of the last frame, in seconds.
  double time_step() const { return m_step; }

 private:
  struct Saved;

  void add_free_bodies(const BodySettings& settings, const std::string& file);
  void start(const Instant& first, StepReport& report);
  void settle(const Instant& to, StepReport& report);
  void put_at(const Instant& now);
  void advance(const Instant& to, double dt, StepReport& report);
  bool run_steps(const Instant& from, const Instant& to, double dt, int steps, StepReport& report);
  void move_colliders(const Instant& from, const Instant& to, double part, double h);
  void bones_between(const Instant& from, const Instant& to, double dt);
  void bones_at(double time, std::vector<BoneMotion>& out) const;
  int find_step(double dt, int iterations);
  std::vector<Affine> joints_now() const;
  bool is_two_way() const { return m_control != nullptr; }

  const Character& m_character;
  BodySettings m_settings;
  SkinningMethod m_skinning;
  TetModel m_model;
  FrameRange m_range;
  std::unique_ptr<TetCharacter> m_body;
  std::unique_ptr<TetControl> m_control;  // null where the clip moves the skeleton
  std::unique_ptr<MovingColliders> m_colliders;
  std::unique_ptr<Skinner> m_skinner;    // of the whole skin
  std::unique_ptr<SkinVolume> m_volume;  // null where the scene does not ask for it
  std::unique_ptr<SmoothTetSkin> m_smooth;
  std::vector<TriangleMesh> m_free_outlines;
  bool m_joints_carry = false;  // colliders
  bool m_carried = false;       // the modelled shape is that under weight

  // State, beside that of m_body and m_control.
  bool m_started = false;
  Instant m_now;
  double m_time = 0;  // seconds simulated
  double m_step = 0;

  // Made anew in every step.
  struct BoneWay {
    Vec3d position, velocity, axis;
    Mat3d rotation;
    double rate = 0;
  };
  std::vector<BoneWay> m_ways;
  std::vector<BoneMotion> m_bones, m_next_bones;
  std::vector<const Collider*> m_collider_list;
  JointOrders m_orders;
  std::vector<Vec3f> m_plain;
  std::vector<Affine> m_joints;  // of the rig, moved by the skeleton
};

}  // namespace supple
