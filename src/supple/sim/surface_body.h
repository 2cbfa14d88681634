// The body of incompressible surfaces [Diziol 2011]: a character's skin, a mesh, or many objects of
// a scene, packed into one array of particles. Regions keep their shape, closed shells their
// volume, and everything meets everything. The fastest body there is: no inside is simulated.
#pragma once

#include "supple/sim/body.h"
#include "supple/sim/instant.h"
#include "supple/sim/moving_colliders.h"
#include "supple/sim/surface_pieces.h"
#include "supple/surface/detail_mesh.h"
#include "supple/surface/surface_solver.h"

namespace supple {

/// Surfaces that keep their shape and volume.
class SurfaceBody final : public Body {
 public:
  /// Builds the body of the character's skin at rest or of the scene's placed objects; throws an
  /// input error naming `file` when the scene asks for something that is not possible. A mesh that
  /// nothing holds falls on the ground. The character must outlive the body.
  SurfaceBody(const Character& character, const Scene& scene, const FrameRange& range,
              const std::string& file);

  StepReport step(const Drive& drive, double dt) override;
  void skin(BodyFrame& out) const override;
  void save(Chunk& state) const override;
  void load(const Chunk& state, std::string_view file) override;
  std::vector<ChunkArray> shown_once() const override;
  std::vector<BodyFact> facts() const override;

  /// The particles and how they are matched.
  const SurfaceModel& model() const { return m_model; }
  /// Where the particles are.
  const SurfaceState& state() const { return m_state; }
  /// Which particles touch something since the last step.
  std::span<const uint8_t> touching() const { return m_touching; }
  /// The rigid things, where they are.
  const MovingColliders& colliders() const { return m_colliders; }
  /// Largest |V - V₀| / V₀ of a closed shell after the last step, also of those not kept.
  double volume_error() const;

 private:
  // Particles that a script moves.
  struct Held {
    std::vector<int32_t> particles;
    Script script;
  };

  // A detailed mesh that is shown instead of an object.
  struct Detail {
    DetailMesh mesh;
    int32_t first_point, first_vertex, points;
  };

  void hold(const BodySettings& settings, const FrameRange& range, const std::string& file);
  void weigh_pulls(const BodySettings& settings, const std::string& file);
  void start(const Instant& first);
  void place(const SurfacePiece& piece);
  void pose_targets(const Instant& at, std::vector<Vec3f>& out);
  void aim(const Instant& now, double part);
  void advance(const Instant& now, double part, double dt, StepReport& report);

  const Character& m_character;
  SurfacePieces m_pieces;
  BodySettings m_settings;
  SkinningMethod m_skinning;
  double m_length;           // of the body, m
  double m_metres_per_unit;  // of the world
  Vec3d m_gravity;
  SurfaceModel m_model;
  SurfaceSolver m_solver;
  MovingColliders m_colliders;
  std::vector<const Collider*> m_collider_list;
  std::unique_ptr<SurfaceContact> m_contact;
  std::unique_ptr<Skinner> m_skinner;
  std::vector<Held> m_held;
  std::vector<Detail> m_details;
  std::vector<float> m_pull_weights;  // of particles, for a step; empty when all are free

  // State: what a checkpoint holds, with what the contact remembers.
  SurfaceState m_state;
  Instant m_now;
  bool m_started = false;

  // Made anew in every step.
  std::vector<Vec3f> m_from, m_to, m_targets;  // of particles
  std::vector<Vec3f> m_plain;                  // plain skinning, of the character's vertices
  std::vector<uint8_t> m_touching;
};

}  // namespace supple
