// The body of tetrahedra with implicit steps: its flesh hangs on bones, scripted nodes and points
// of the plainly skinned skin (proxies), and its dynamics can be adjusted [Wang 2020].
#pragma once

#include "supple/adjust/adjusted_body.h"
#include "supple/sim/adjust_run.h"
#include "supple/sim/body.h"
#include "supple/sim/implicit_tet_contact.h"
#include "supple/sim/instant.h"
#include "supple/sim/tet_carry.h"
#include "supple/sim/tet_dials.h"
#include "supple/sim/tet_skin.h"

namespace supple {

/// Flesh of tetrahedra that takes long steps.
class ImplicitTetBody final : public Body, public Adjustable {
 public:
  /// Builds the flesh of a character at rest; throws an input error naming `file` when the scene
  /// asks for something that is not possible. The character must outlive the body.
  ImplicitTetBody(const Character& character, const BodySettings& settings, const FrameRange& range,
                  const std::string& file, SkinningMethod skinning = SkinningMethod::linear);

  StepReport step(const Drive& drive, double dt) override;
  void skin(BodyFrame& out) const override;
  void save(Chunk& state) const override;
  void load(const Chunk& state, std::string_view file) override;
  std::vector<ChunkArray> shown_once() const override;
  std::vector<BodyFact> facts() const override;
  int looks_ahead() const override;
  void finish(AdjustRun& run) override;

  /// The flesh and its equilibrium.
  AdjustedTets& simulated() { return *m_body; }
  const AdjustedTets& simulated() const { return *m_body; }
  const TetModel& model() const { return m_model; }

  /// What it touches, or null.
  const ImplicitTetContact* contact() const { return m_contact.get(); }

 private:
  void find_held(const std::string& file);
  void hold_node(int32_t node);
  void hold_loose_pieces();
  void add_proxy(const ProxySettings& settings, const std::string& field, const std::string& file);
  void find_driving_shapes();
  TetSystemModel base_model() const;
  AdjustedDrive drive_between(const Instant& from, const Instant& to, double begin, double end);
  void places_at(const Instant& instant, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled);
  void set_weight(const Instant& instant, TetVector& weight) const;
  void set_dials(const Moment& moment);
  void start(const Instant& to, bool anew, StepReport& report);
  void start_free();
  void set_ahead(const Drive& drive, const Instant& to);
  void advance(const Instant& to, double dt, StepReport& report);
  void record(double h);
  void load_samples(const Chunk& state, std::string_view file);

  const Character& m_character;
  BodySettings m_settings;
  SkinningMethod m_skinning;
  TetModel m_model;
  TetCarry m_carry;
  std::vector<TetTie> m_held, m_pulled;
  std::vector<int32_t> m_held_node;    // held as a node of a bone, or -1
  std::vector<int32_t> m_held_vertex;  // held as a vertex of the skin, or -1
  std::vector<int32_t> m_pulled_vertex;
  std::vector<double> m_pulls;
  std::vector<bool> m_shape_drives;  // by shape: whether it moves proxies, and flesh by them
  std::unique_ptr<Skinner> m_skinner;
  std::unique_ptr<SmoothTetSkin> m_smooth;
  std::unique_ptr<TetDials> m_dials;
  std::unique_ptr<AdjustedTets> m_body;
  std::unique_ptr<ImplicitTetContact> m_contact;  // null where the scene has none
  bool m_free = false;                            // nothing holds the body
  bool m_compensates = false;
  double m_step = 0;  // s

  // State, beside that of m_body.
  bool m_started = false;
  Instant m_now;

  // Made anew in every step.
  std::vector<Instant> m_ahead;  // this frame and those after it, where the body looks ahead
  DialFactors m_factors;
  std::vector<Vec3f> m_plain, m_proxy_skin;
  TetVector m_weightless;
};

}  // namespace supple
