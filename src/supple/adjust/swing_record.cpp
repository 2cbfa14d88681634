#include "supple/adjust/swing_record.h"

#include <algorithm>
#include <cmath>

#include "supple/lattice/lattice_dynamics.h"
#include "supple/tets/tet_system.h"

namespace supple {
namespace {

// The equilibrium rests where its acceleration is below this part of the greatest.
constexpr double at_rest = 1e-3;

// Crossings from which on a swing is measured.
constexpr int fewest_crossings = 5;

double square_sum(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return sum;
}

}  // namespace

void SwingRecord::begin(std::span<const double> masses, std::vector<BodyVector> shapes) {
  *this = {};
  m_masses.assign(masses.begin(), masses.end());
  m_shapes = std::move(shapes);
  for (BodyVector& shape : m_shapes)
    for (size_t n = 0; n < m_masses.size(); ++n) shape.node(n) *= m_masses[n];
  m_signals.resize(m_shapes.size());
}

void SwingRecord::add(const Moving<BodyVector>& now, const Moving<BodyVector>& equilibrium,
                      const NodeGradients& gradients, double h, const BodyVector* weightless) {
  m_step = h;
  m_squares.push_back(mean_square(m_masses, now.position, equilibrium.position));
  m_pushes.push_back(equilibrium.acceleration.norm());
  BodyVector q = now.position - equilibrium.position;
  for (size_t n = 0; n < m_masses.size(); ++n) {
    const Mat3d turn =
        node_turn(gradients.at(n, equilibrium.position.data()), Mat3d::Zero(), Mat3d::Zero())
            .rotation;
    q.node(n) = (turn.transpose() * q.node(n)).eval();
  }
  for (size_t k = 0; k < m_shapes.size(); ++k) m_signals[k].push_back(m_shapes[k].dot(q));
  if (weightless) {
    m_offsets.emplace_back(now.position - *weightless);
  } else {
    m_offsets.emplace_back();
  }
}

size_t SwingRecord::rest_begins() const {
  const double most = m_pushes.empty() ? 0 : *std::ranges::max_element(m_pushes);
  size_t from = m_pushes.size();
  while (from > 0 && m_pushes[from - 1] <= at_rest * most) --from;
  return from;
}

bool SwingRecord::moved() const {
  constexpr double least = 0.02;  // m/s²
  const double scale = std::sqrt(static_cast<double>(std::max<size_t>(m_masses.size(), 1)));
  return std::ranges::any_of(m_pushes, [&](double push) { return push > least * scale; });
}

size_t SwingRecord::loudest() const {
  size_t from = rest_begins();
  if (!rests(from)) from = 0;
  size_t best = 0;
  double most = -1;
  for (size_t k = 0; k < m_signals.size(); ++k) {
    const double sum = square_sum(std::span(m_signals[k]).subspan(from));
    if (sum > most) best = k;
    most = std::max(most, sum);
  }
  return best;
}

DialReading SwingRecord::read(size_t mode) const {
  DialReading reading;
  for (const double square : m_squares) reading.amplitude += m_step * square;
  reading.amplitude = std::sqrt(reading.amplitude);
  const size_t from = rest_begins();
  if (mode >= m_signals.size() || !rests(from)) return reading;
  const Swing swing = measure_swing(std::span(m_signals[mode]).subspan(from), m_step);
  if (swing.crossings < fewest_crossings) return reading;
  reading.frequency = swing.frequency;
  reading.half_life = swing.half_life;
  // Other modes have died down in the second half.
  const auto rest = std::span(m_offsets).subspan(from + (m_offsets.size() - from) / 2);
  if (std::ranges::any_of(rest, [](const BodyVector& x) { return x.size() == 0; })) return reading;
  const BodyVector offset = rest_of(rest, m_step, swing);
  double sum = 0, mass = 0;
  for (size_t n = 0; n < m_masses.size(); ++n) {
    sum += m_masses[n] * offset.node(n).squaredNorm();
    mass += m_masses[n];
  }
  reading.sag = std::sqrt(sum / mass);
  return reading;
}

std::vector<std::pair<double, double>> SwingRecord::signal(std::optional<size_t> mode) const {
  std::vector<std::pair<double, double>> result;
  if (m_signals.empty()) return result;
  const std::vector<double>& swing = m_signals[mode.value_or(loudest())];
  for (size_t i = 0; i < swing.size(); ++i)
    result.emplace_back(m_step * static_cast<double>(i + 1), swing[i]);
  return result;
}

double mean_square(std::span<const double> masses, const BodyVector& u, const BodyVector& p) {
  double sum = 0, mass = 0;
  for (size_t n = 0; n < masses.size(); ++n) {
    sum += masses[n] * (u.node(n) - p.node(n)).squaredNorm();
    mass += masses[n];
  }
  return mass > 0 ? sum / mass : 0;
}

template <class S>
Swing pluck(AdjustedBody<S>& body, const AdjustedDrive& drive, const Modes& modes, double height,
            double h, double seconds) {
  const Moving<BodyVector> now = body.now, equilibrium = body.equilibrium;
  const BodyVector zero = body.system().zero();
  SwingRecord record;
  Modes lowest = modes;
  lowest.shapes = modes.shapes.leftCols(1);
  record.begin(body.system().masses(), shapes_of(body.system(), lowest));
  BodyVector shape = body.system().expand(lowest.shapes.col(0));
  // Along the mode in the axes of the material.
  for (size_t n = 0; n < body.system().nodes(); ++n)
    shape.node(n) = (node_turn(body.system().gradients().at(n, equilibrium.position.data()),
                               Mat3d::Zero(), Mat3d::Zero())
                         .rotation *
                     shape.node(n))
                        .eval();
  shape *= height / shape.cwiseAbs().maxCoeff();
  body.equilibrium = {equilibrium.position, zero, zero};
  body.now = body.equilibrium;
  body.now.position += shape;
  // What holds the body stands still, and so does its equilibrium: none is to be solved for.
  auto standing = std::make_shared<EquilibriumPath>();
  standing->still = true;
  body.use_path(standing);
  std::vector<double> samples;
  for (int s = 0; s < static_cast<int>(seconds / h); ++s) {
    if (!body.step(drive, h).sound) break;
    record.add(body.now, body.equilibrium, body.system().gradients(), h, nullptr);
  }
  for (const auto& [time, value] : record.signal()) samples.push_back(value);
  body.use_path(nullptr);
  body.now = now;
  body.equilibrium = equilibrium;
  return measure_swing(samples, h);
}

template Swing pluck(AdjustedTets&, const AdjustedDrive&, const Modes&, double, double, double);
template Swing pluck(AdjustedLattice&, const AdjustedDrive&, const Modes&, double, double, double);

}  // namespace supple
