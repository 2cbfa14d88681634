// The body of lattice cells whose dynamics can be adjusted [Wang 2020]: steps of second or of first
// order beside the equilibrium in the same pose. Its flesh holds on to the bones of a rig, or is
// held, moved or pulled by scripts; it touches itself and colliders in its steps, while equilibria
// do not.
#pragma once

#include "supple/adjust/adjusted_body.h"
#include "supple/lattice/lattice_dynamics.h"
#include "supple/sim/adjust_run.h"
#include "supple/sim/body.h"
#include "supple/sim/flesh_contact.h"
#include "supple/sim/instant.h"
#include "supple/sim/lattice_dials.h"
#include "supple/sim/lattice_model.h"

namespace supple {

/// A skin that moves with an elastic lattice, and has dials.
class ImplicitLatticeBody final : public Body, public Adjustable {
 public:
  /// Builds the lattice of the character's skin at rest; throws an input error naming `file` when
  /// the scene asks for something that is not possible. The character must outlive the body.
  ImplicitLatticeBody(const Character& character, const BodySettings& settings,
                      const FrameRange& range, const std::string& file,
                      SkinningMethod skinning = SkinningMethod::linear);

  StepReport step(const Drive& drive, double dt) override;
  void skin(BodyFrame& out) const override;
  void save(Chunk& state) const override;
  void load(const Chunk& state, std::string_view file) override;
  std::vector<ChunkArray> shown_once() const override;
  std::vector<BodyFact> facts() const override;
  void finish(AdjustRun& run) override;

  /// The flesh and its equilibrium.
  AdjustedLattice& simulated() { return *m_body; }
  const AdjustedLattice& simulated() const { return *m_body; }
  const LatticeModel& model() const { return m_model; }

  /// What the flesh touches; null where that is nothing.
  const FleshContact* contact() const { return m_contact.get(); }

 private:
  LatticeDynamicsModel base_model();
  Instant instant_at(const Instant& from, const Instant& to, double part) const;
  AdjustedDrive drive_between(const Instant& from, const Instant& to, double begin, double end,
                              double seconds);
  void places_at(const Instant& instant, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled);
  void set_forces(const Instant& instant, BodyVector& forces) const;
  void set_dials(const Moment& moment);
  bool touch(const BodyVector& x, int look);
  void start(const Instant& to, bool anew, StepReport& report);
  void begin_anew(const Instant& to, StepReport& report);
  void advance(const Instant& to, double dt, StepReport& report);
  void record(double h);
  std::span<const Vec3d> nodes() const;

  const Character& m_character;
  BodySettings m_settings;
  SkinningMethod m_skinning;
  LatticeModel m_model;
  std::vector<int32_t> m_script_of_held;  // of every held node, or -1 where a bone holds it
  std::vector<int32_t> m_held;
  std::unique_ptr<Skinner> m_skinner;  // of the whole skin
  std::unique_ptr<FleshContact> m_contact;
  std::unique_ptr<LatticeDials> m_dials;
  std::unique_ptr<AdjustedLattice> m_body;
  bool m_compensates = false;
  double m_step = 0;  // s

  // State, beside that of m_body.
  bool m_started = false;
  Instant m_now;

  // Made anew in every step.
  DialFactors m_factors;
  bool m_touching = false;  // the system has springs of contacts
  std::vector<ActiveSpring> m_contacts;
  std::vector<Vec3f> m_targets;  // of the nodes' springs to the rig
  std::vector<Vec3f> m_plain;    // plain skinning, of the character's vertices
  std::vector<float> m_cell_stretch;
  BodyVector m_weightless;
};

}  // namespace supple
