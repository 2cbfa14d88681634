#include "supple/sim/tet_dials.h"

#include <cmath>

#include "supple/core/error.h"
#include "supple/math/smooth_step.h"
#include "supple/sim/adjust_run.h"

namespace supple {
namespace {

// How many modes are looked at.
constexpr int mode_count = 6;

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

TetDials::TetDials(const BodySettings& settings, const TetModel& model, const TetSystemModel& base,
                   double h, bool sags, const std::string& file)
    : m_settings(settings.adjust), m_file(file), m_nodes(base.masses.size()) {
  m_acts = adjusts(m_settings);
  if (!m_acts && !m_settings.run) return;
  check_keys(m_settings, file);
  m_body.mass_damping = settings.tets.mass_damping;
  m_body.stiffness_damping = settings.tets.stiffness_damping;
  m_body.method = settings.tets.integrator == StepMethod::tr_bdf2 ? Integrator::tr_bdf2
                                                                  : Integrator::backward_euler;
  m_body.step = h;
  m_body.sag = sags ? 1 : 0;
  m_body.amplitude = 1;  // what it is shows when it has run
  TetSystem system(base, file);
  Eigen::SparseMatrix<double> stiffness, mass;
  system.matrices_at_rest(stiffness, mass);
  m_modes = lowest_modes(stiffness, mass, mode_count);
  m_body.omega = m_modes.omegas.empty() ? 0 : m_modes.omegas[0];
  m_whole = factors_of(ratios_of(m_settings));
  const auto found = [](const std::optional<double>& is, double said) {
    return is && said > 0 ? *is / said : 1;
  };
  m_correction = {found(m_settings.stiffness, m_whole.stiffness),
                  found(m_settings.weight, m_whole.gravity),
                  found(m_settings.damping_factor, m_whole.damping),
                  found(m_settings.inertia, m_whole.inertia)};
  find_regions(model);
}

DialFactors TetDials::factors_of(const DialRatios& ratios) const {
  try {
    return find_factors(ratios, m_body);
  } catch (const Error& error) {
    throw_input_error(m_file, "body.adjust", error.what());
  }
}

void TetDials::find_regions(const TetModel& model) {
  if (m_settings.regions.empty()) return;
  std::vector<MaterialPlace> places;
  const TetMesh& mesh = model.flesh.mesh;
  const auto add = [&](const Vec3d& at) {
    places.push_back({at, static_cast<size_t>(nearest_cell(model.solid, model.mesh, at)), 0});
  };
  for (const Vec3d& at : mesh.positions) add(at);
  for (const Vec4i& tet : mesh.tets) {
    Vec3d middle = Vec3d::Zero();
    for (int c = 0; c < 4; ++c) middle += mesh.positions[static_cast<size_t>(tet[c])] / 4;
    add(middle);
  }
  const size_t nodes = mesh.positions.size();
  m_stiffness.assign(mesh.tets.size(), 1);
  m_damping.assign(mesh.tets.size(), 1);
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
    }
    for (size_t e = 0; e < mesh.tets.size(); ++e) {
      const auto part = static_cast<double>(amount[nodes + e]);
      m_stiffness[e] *= std::pow(there.stiffness / m_whole.stiffness, part);
      m_damping[e] *= std::pow(there.damping / m_whole.damping, part);
    }
  }
}

TetSystemModel TetDials::adjusted(TetSystemModel base) const {
  if (base.stiffness_damping.empty() && m_whole.added_damping > 0)
    base.stiffness_damping.assign(base.mesh.tets.size(), m_whole.added_damping);
  for (size_t e = 0; e < m_stiffness.size(); ++e) {
    base.matter.materials[e].mu *= m_stiffness[e];
    base.matter.materials[e].lambda *= m_stiffness[e];
    // Damping is by the stiffness before it is scaled.
    if (!base.stiffness_damping.empty()) base.stiffness_damping[e] *= m_damping[e] / m_stiffness[e];
  }
  return base;
}

DialFactors TetDials::at(const Moment& moment) const {
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

std::vector<double> TetDials::inertia(const DialFactors& factors) const {
  std::vector<double> result(m_nodes, m_acts ? factors.inertia : 1);
  for (size_t n = 0; n < m_inertia.size(); ++n) result[n] *= m_inertia[n];
  return result;
}

}  // namespace supple
