// The dials of a body: what they make of its stiffness, its weight and its inertia, over the body
// and over time. What a body makes of these factors is its own affair.
#pragma once

#include "supple/adjust/dials.h"
#include "supple/adjust/modes.h"
#include "supple/sim/flesh_model.h"

namespace supple {

/// Where the nodes and the elements (or cells) of a body are at rest, m.
struct DialPlaces {
  std::vector<Vec3d> nodes, elements;
};

/// Dials of one body.
class BodyDials {
 public:
  /// Whether the dials do anything.
  bool act() const { return m_acts; }

  /// Whether they change over time.
  bool move() const { return !m_settings.keys.empty(); }

  /// Factors of the whole body at a moment.
  DialFactors at(const Moment& moment) const;

  /// Inertia of every node for the factors of a moment.
  std::vector<double> inertia(const DialFactors& factors) const;

  /// Factor of a node's weight beside that of the whole body.
  double weight_of(size_t node) const { return m_weight.empty() ? 1 : m_weight[node]; }

  /// The lowest modes of the body as it is without dials.
  const Modes& modes() const { return m_modes; }
  const DialBody& body() const { return m_body; }

 protected:
  /// For a body of so many nodes. Throws an input error naming `file` for what is not possible.
  BodyDials(const AdjustSettings& settings, size_t nodes, const std::string& file);

  /// Whether the dials act, or somebody wants to measure the body.
  bool wanted() const { return m_acts || m_settings.run; }

  /// Finds the factors for a body that is `body` without them, and has these modes.
  void turn(const DialBody& body, Modes modes, const FleshModel& model, const DialPlaces& places);

  /// Damping by stiffness to be added where there is none to scale, s.
  double added_damping() const { return m_whole.added_damping; }

  /// Factors of single elements, and of what holds single nodes, beside those of the whole body;
  /// all empty where there are no regions.
  std::vector<double> m_stiffness, m_damping, m_hold;

 private:
  DialFactors factors_of(const DialRatios& ratios) const;
  void find_regions(const FleshModel& model, const DialPlaces& places);

  AdjustSettings m_settings;
  std::string m_file;
  size_t m_nodes = 0;
  DialBody m_body;
  Modes m_modes;
  bool m_acts = false;
  DialFactors m_whole;
  DialFactors m_correction;                 // by calibration
  std::vector<double> m_weight, m_inertia;  // per node
};

/// What dials' formulas know beforehand of a body in steps of h seconds by a method of the scene's.
DialBody dial_body(StepMethod method, double mass_damping, double stiffness_damping, double h,
                   bool sags);

}  // namespace supple
