#include "supple/sim/body_dials.h"

#include <cmath>

#include "supple/core/error.h"
#include "supple/math/smooth_step.h"
#include "supple/sim/adjust_run.h"

namespace supple {
namespace {

RegionSettings region_of(const AdjustRegionSettings& own) {
  RegionSettings region;
  region.select = own.select;
  region.bones = own.bones;
  region.attribute = own.attribute;
  return region;
}

void check_keys(const AdjustSettings& settings, const std::string& file) {
  double last = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < settings.keys.size(); ++i) {
    const std::vector<double>& key = settings.keys[i];
    const std::string field = fmt::format("body.adjust.keys[{}]", i);
    if (key.size() != 5)
      throw_input_error(file, field,
                        "must be [time, frequency, amplitude, sag, half_life], five numbers");
    if (!(key[0] > last)) throw_input_error(file, field, "times must ascend");
    last = key[0];
    if (!(key[1] > 0) || !(key[2] >= 0) || !(key[3] >= 0) || !(key[4] > 0))
      throw_input_error(file, field,
                        "frequency and half_life must be greater than 0, and no ratio "
                        "less than 0");
  }
}

}  // namespace

DialRatios ratios_of(const AdjustSettings& s) {
  return {s.frequency, s.amplitude, s.sag, s.half_life};
}

bool adjusts(const AdjustSettings& s) {
  return s.frequency != 1 || s.amplitude != 1 || s.sag != 1 || s.half_life != 1 ||
         s.inertia.value_or(1) != 1 || s.stiffness.value_or(1) != 1 || s.weight.value_or(1) != 1 ||
         s.damping_factor.value_or(1) != 1 || !s.regions.empty() || !s.keys.empty() ||
         s.damping == AdjustDamping::moving;
}

bool needs_tuning(const AdjustSettings& s) {
  return !s.inertia && (s.frequency != 1 || s.amplitude != 1 || s.sag != 1 || s.half_life != 1);
}

BodyDials::BodyDials(const AdjustSettings& settings, size_t nodes, const std::string& file)
    : m_settings(settings), m_file(file), m_nodes(nodes), m_acts(adjusts(settings)) {
  if (wanted()) check_keys(m_settings, file);
}

DialBody dial_body(StepMethod method, double mass_damping, double stiffness_damping, double h,
                   bool sags) {
  DialBody body;
  body.mass_damping = mass_damping;
  body.stiffness_damping = stiffness_damping;
  body.method = method == StepMethod::tr_bdf2 ? Integrator::tr_bdf2 : Integrator::backward_euler;
  body.step = h;
  body.sag = sags ? 1 : 0;
  body.amplitude = 1;  // what it is shows when it has run
  return body;
}

void BodyDials::turn(const DialBody& body, Modes modes, const FleshModel& model,
                     const DialPlaces& places) {
  m_body = body;
  m_modes = std::move(modes);
  m_body.omega = m_modes.omegas.empty() ? 0 : m_modes.omegas[0];
  m_whole = factors_of(ratios_of(m_settings));
  const auto found = [](const std::optional<double>& is, double said) {
    return is && said > 0 ? *is / said : 1;
  };
  m_correction = {found(m_settings.stiffness, m_whole.stiffness),
                  found(m_settings.weight, m_whole.gravity),
                  found(m_settings.damping_factor, m_whole.damping),
                  found(m_settings.inertia, m_whole.inertia)};
  find_regions(model, places);
}

DialFactors BodyDials::factors_of(const DialRatios& ratios) const {
  try {
    return find_factors(ratios, m_body);
  } catch (const Error& error) {
    throw_input_error(m_file, "body.adjust", error.what());
  }
}

void BodyDials::find_regions(const FleshModel& model, const DialPlaces& at) {
  if (m_settings.regions.empty()) return;
  std::vector<MaterialPlace> places;
  for (const std::vector<Vec3d>* list : {&at.nodes, &at.elements})
    for (const Vec3d& p : *list)
      places.push_back({p, static_cast<size_t>(nearest_cell(model.solid, model.mesh, p)), 0});
  const size_t nodes = at.nodes.size(), elements = at.elements.size();
  m_stiffness.assign(elements, 1);
  m_damping.assign(elements, 1);
  m_hold.assign(nodes, 1);
  m_weight.assign(nodes, 1);
  m_inertia.assign(nodes, 1);
  for (size_t r = 0; r < m_settings.regions.size(); ++r) {
    const AdjustRegionSettings& own = m_settings.regions[r];
    const std::vector<float> amount =
        model.amount_of(region_of(own), places, fmt::format("body.adjust.regions[{}]", r), m_file);
    const DialRatios whole = ratios_of(m_settings);
    const DialFactors there =
        factors_of({whole.frequency * own.frequency, whole.amplitude * own.amplitude,
                    whole.sag * own.sag, whole.half_life * own.half_life});
    const auto mixed = [](double from, double to, float part) {
      return from + static_cast<double>(part) * (to - from);
    };
    for (size_t n = 0; n < nodes; ++n) {
      // Where the whole has none there is nothing to multiply.
      if (m_whole.inertia > 0) m_inertia[n] *= mixed(1, there.inertia / m_whole.inertia, amount[n]);
      if (m_whole.gravity > 0) m_weight[n] *= mixed(1, there.gravity / m_whole.gravity, amount[n]);
      m_hold[n] *= std::pow(there.stiffness / m_whole.stiffness, static_cast<double>(amount[n]));
    }
    for (size_t e = 0; e < elements; ++e) {
      const auto part = static_cast<double>(amount[nodes + e]);
      m_stiffness[e] *= std::pow(there.stiffness / m_whole.stiffness, part);
      m_damping[e] *= std::pow(there.damping / m_whole.damping, part);
    }
  }
}

DialFactors BodyDials::at(const Moment& moment) const {
  const auto corrected = [&](DialFactors factors) {
    factors.stiffness *= m_correction.stiffness;
    factors.gravity *= m_correction.gravity;
    factors.damping *= m_correction.damping;
    factors.inertia *= m_correction.inertia;
    return factors;
  };
  if (m_settings.keys.empty()) return corrected(m_whole);
  const double time = m_settings.unit == TimeUnit::seconds ? moment.time : moment.frame;
  const auto& keys = m_settings.keys;
  size_t next = 0;
  while (next < keys.size() && keys[next][0] <= time) ++next;
  const std::vector<double>&a = keys[next > 0 ? next - 1 : 0],
        &b = keys[next < keys.size() ? next : keys.size() - 1];
  const double part = b[0] > a[0] ? smooth_step((time - a[0]) / (b[0] - a[0])) : 0;
  const auto mixed = [&](size_t i) { return a[i] + part * (b[i] - a[i]); };
  const DialRatios whole = ratios_of(m_settings);
  return corrected(factors_of({whole.frequency * mixed(1), whole.amplitude * mixed(2),
                               whole.sag * mixed(3), whole.half_life * mixed(4)}));
}

std::vector<double> BodyDials::inertia(const DialFactors& factors) const {
  std::vector<double> result(m_nodes, m_acts ? factors.inertia : 1);
  for (size_t n = 0; n < m_inertia.size(); ++n) result[n] *= m_inertia[n];
  return result;
}

}  // namespace supple
