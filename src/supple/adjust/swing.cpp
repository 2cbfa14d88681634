#include "supple/adjust/swing.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace supple {
namespace {

struct Peak {
  double time, height;
};

// Times where the samples cross a value, in samples; by a cubic through the two samples on either
// side, of which one step of the secant method finds the root.
std::vector<double> crossings_of(std::span<const double> s, double value) {
  std::vector<double> times;
  for (size_t i = 1; i < s.size(); ++i) {
    const double a = s[i - 1] - value, b = s[i] - value;
    if (!((a < 0 && b >= 0) || (a > 0 && b <= 0))) continue;
    double at = a / (a - b);
    if (i >= 2 && i + 1 < s.size()) {
      const double before = s[i - 2] - value, after = s[i + 1] - value;
      const auto cubic = [&](double t) {
        return -t * (t - 1) * (t - 2) / 6 * before + (t + 1) * (t - 1) * (t - 2) / 2 * a -
               (t + 1) * t * (t - 2) / 2 * b + (t + 1) * t * (t - 1) / 6 * after;
      };
      double low = 0, high = 1;
      for (int k = 0; k < 40; ++k) {
        at = (low + high) / 2;
        ((cubic(at) < 0) == (a < 0) ? low : high) = at;
      }
    }
    times.push_back(static_cast<double>(i - 1) + at);
  }
  return times;
}

// The highest point between crossings, by a parabola through three samples.
std::vector<Peak> peaks_of(std::span<const double> s, double rest,
                           std::span<const double> crossings) {
  std::vector<Peak> peaks;
  for (size_t k = 1; k < crossings.size(); ++k) {
    const auto from = static_cast<size_t>(std::ceil(crossings[k - 1])),
               to = static_cast<size_t>(std::floor(crossings[k]));
    size_t best = from;
    for (size_t i = from; i <= to && i < s.size(); ++i)
      if (std::abs(s[i] - rest) > std::abs(s[best] - rest)) best = i;
    Peak peak{static_cast<double>(best), std::abs(s[best] - rest)};
    if (best > 0 && best + 1 < s.size()) {
      const double a = std::abs(s[best - 1] - rest), b = peak.height,
                   c = std::abs(s[best + 1] - rest);
      const double bend = a - 2 * b + c;
      if (bend < 0) {
        const double shift = 0.5 * (a - c) / bend;
        peak = {peak.time + shift, b - 0.25 * (a - c) * shift};
      }
    }
    peaks.push_back(peak);
  }
  return peaks;
}

// What is left of a swing at a time.
double decay_at(double time, const Swing& swing) {
  return std::isfinite(swing.half_life) && swing.half_life > 0 ? std::exp2(-time / swing.half_life)
                                                               : 1;
}

// A constant and a damped sine and cosine at a time.
Eigen::Vector3d basis(double time, const Swing& swing) {
  const double decay = decay_at(time, swing);
  const double angle = 2 * std::numbers::pi * swing.frequency * time;
  return {1, decay * std::cos(angle), decay * std::sin(angle)};
}

// Peaks below this part of the first are noise of the solver, or of other modes.
constexpr double least_peak = 0.02;

// In this part of a period after the push other modes swing along, and large swings of nonlinear
// bodies die down faster than those after them.
constexpr double settling = 0.4;
constexpr size_t fewest_peaks = 4;  // where there are no more, all of them count

Swing measured_about(std::span<const double> s, double h, double rest) {
  Swing swing;
  swing.rest = rest;
  swing.half_life = std::numeric_limits<double>::infinity();
  std::vector<double> all = crossings_of(s, rest);
  std::vector<Peak> peaks = peaks_of(s, rest, all);
  const auto kept_from = [&](size_t first) {
    size_t n = first;
    while (n < peaks.size() && peaks[n].height > least_peak * peaks[first].height) ++n;
    return n - first;
  };
  size_t first = 0;
  const double half =
      peaks.empty() ? 0 : (all.back() - all.front()) / static_cast<double>(peaks.size());
  while (first < peaks.size() && peaks[first].time < 2 * settling * half) ++first;
  if (kept_from(first) < fewest_peaks) first = 0;
  const size_t kept = kept_from(first);
  peaks = {peaks.begin() + static_cast<ptrdiff_t>(first),
           peaks.begin() + static_cast<ptrdiff_t>(first + kept)};
  all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(first));
  swing.crossings = static_cast<int>(kept > 0 ? kept + 1 : 0);
  if (kept < 2) return swing;
  swing.peak = peaks[0].height;
  swing.frequency = static_cast<double>(kept) / (2 * h * (all[kept] - all[0]));
  // log height = a - decay time
  double n = 0, t = 0, y = 0, tt = 0, ty = 0;
  for (const Peak& peak : peaks) {
    const double at = h * peak.time, log = std::log(peak.height);
    n += 1;
    t += at;
    y += log;
    tt += at * at;
    ty += at * log;
  }
  const double decay = -(n * ty - t * y) / (n * tt - t * t);
  if (decay > 1e-12) swing.half_life = std::numbers::ln2 / decay;
  return swing;
}

}  // namespace

Swing measure_swing(std::span<const double> samples, double h) {
  // The rest is not known beforehand: it is found along with the swing, in a few rounds.
  Swing swing = measured_about(samples, h, 0);
  if (swing.frequency == 0 && !samples.empty()) {
    double mean = 0;
    for (const double s : samples) mean += s / static_cast<double>(samples.size());
    swing = measured_about(samples, h, mean);
  }
  for (int round = 0; round < 3 && swing.frequency > 0; ++round) {
    Eigen::Matrix3d squares = Eigen::Matrix3d::Zero();
    Eigen::Vector3d right = Eigen::Vector3d::Zero();
    for (size_t i = 0; i < samples.size(); ++i) {
      const double time = h * static_cast<double>(i);
      const Eigen::Vector3d b = basis(time, swing);
      // Late swings count as much as early ones, which are not quite of this form.
      const double weight = std::pow(std::max(decay_at(time, swing), least_peak), -2);
      squares += weight * b * b.transpose();
      right += weight * samples[i] * b;
    }
    const double rest = squares.ldlt().solve(right)[0];
    if (!std::isfinite(rest)) break;
    const Swing better = measured_about(samples, h, rest);
    if (better.frequency == 0) break;
    swing = better;
  }
  return swing;
}

BodyVector rest_of(std::span<const BodyVector> trajectory, double h, const Swing& swing) {
  Eigen::Matrix3d squares = Eigen::Matrix3d::Zero();
  for (size_t i = 0; i < trajectory.size(); ++i) {
    const Eigen::Vector3d b = basis(h * static_cast<double>(i), swing);
    squares += b * b.transpose();
  }
  const Eigen::LDLT<Eigen::Matrix3d> factor(squares);
  BodyVector rest = BodyVector::Zero(trajectory.empty() ? 0 : trajectory[0].size());
  for (size_t i = 0; i < trajectory.size(); ++i)
    rest += factor.solve(basis(h * static_cast<double>(i), swing))[0] * trajectory[i];
  return rest;
}

}  // namespace supple
