// The dials of a body of tetrahedra: what they make of its model, its weight and its inertia, over
// the body and over time.
#pragma once

#include "supple/adjust/dials.h"
#include "supple/adjust/modes.h"
#include "supple/sim/tet_model.h"
#include "supple/tets/tet_system.h"

namespace supple {

/// Dials of one body.
class TetDials {
 public:
  /// For a body that is `base` without them, in steps of h seconds. Throws an input error naming
  /// `file` for what is not possible.
  TetDials(const BodySettings& settings, const TetModel& model, const TetSystemModel& base,
           double h, bool sags, const std::string& file);

  /// Whether the dials do anything.
  bool act() const { return m_acts; }

  /// Whether they change over time.
  bool move() const { return !m_settings.keys.empty(); }

  /// The model with what differs over the body.
  TetSystemModel adjusted(TetSystemModel base) const;

  /// Factors of the whole body at a moment.
  DialFactors at(const Moment& moment) const;

  /// Inertia of every node for the factors of a moment.
  std::vector<double> inertia(const DialFactors& factors) const;

  /// Factor of a node's weight beside that of the whole body.
  double weight_of(size_t node) const { return m_weight.empty() ? 1 : m_weight[node]; }

  /// The lowest modes of the body as it is without dials.
  const Modes& modes() const { return m_modes; }
  const DialBody& body() const { return m_body; }

 private:
  DialFactors factors_of(const DialRatios& ratios) const;
  void find_regions(const TetModel& model);

  AdjustSettings m_settings;
  std::string m_file;
  size_t m_nodes = 0;
  DialBody m_body;
  Modes m_modes;
  bool m_acts = false;
  DialFactors m_whole;
  DialFactors m_correction;                              // by calibration
  std::vector<double> m_stiffness, m_damping, m_weight;  // per element, element, node
  std::vector<double> m_inertia;                         // per node
};

}  // namespace supple
