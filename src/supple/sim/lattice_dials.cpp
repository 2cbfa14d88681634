#include "supple/sim/lattice_dials.h"

#include "supple/adjust/lattice_modes.h"
#include "supple/core/error.h"

namespace supple {
namespace {

// How many modes are looked at.
constexpr int mode_count = 6;

DialPlaces places_of(const FleshModel& model) {
  DialPlaces places{model.rest, {}};
  for (size_t c = 0; c < model.mesh.cells.size(); ++c)
    places.elements.push_back(model.cell_centre(c));
  return places;
}

}  // namespace

StepMethod step_method(LatticeSteps steps) {
  return steps == LatticeSteps::backward_euler ? StepMethod::backward_euler : StepMethod::tr_bdf2;
}

// Cells are damped, springs of the rig are not: the lowest mode has its share of that.
LatticeDials::LatticeDials(const BodySettings& settings, const FleshModel& model,
                           const LatticeDynamicsModel& base, double h, bool sags,
                           const std::string& file)
    : BodyDials(settings.adjust, base.masses.size(), file) {
  if (!wanted()) return;
  LatticeModes found = lowest_modes(base, mode_count);
  if (found.modes.omegas.empty())
    throw_input_error(file, "body.adjust", "the body's natural frequencies could not be found");
  m_elastic_share = found.elastic_share;
  const LatticeSettings& own = settings.lattice;
  turn(dial_body(step_method(own.integrator), own.mass_damping,
                 own.stiffness_damping * m_elastic_share, h, sags),
       std::move(found.modes), model, places_of(model));
}

LatticeDynamicsModel LatticeDials::adjusted(LatticeDynamicsModel base) const {
  if (base.stiffness_damping.empty() && added_damping() > 0)
    base.stiffness_damping.assign(base.moduli.size(), added_damping() / m_elastic_share);
  for (size_t c = 0; c < m_stiffness.size(); ++c) {
    base.moduli[c].mu *= m_stiffness[c];
    base.moduli[c].lambda *= m_stiffness[c];
    // Damping is by the stiffness before it is scaled.
    if (!base.stiffness_damping.empty()) base.stiffness_damping[c] *= m_damping[c] / m_stiffness[c];
  }
  for (size_t n = 0; n < m_hold.size() && !base.pulls.empty(); ++n) base.pulls[n] *= m_hold[n];
  return base;
}

}  // namespace supple
