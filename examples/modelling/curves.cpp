#include "modelling/curves.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::modelling {
namespace {

// Time within one period, from 0.
double within(double time, double period) {
  const double rest = std::fmod(time, period);
  return rest < 0 ? rest + period : rest;
}

// Slopes where none is given: zero at extremes, else the weighted harmonic mean of the slopes on
// either side, which keeps the curve between its beats [Fritsch 1984].
void choose_slopes(double period, std::vector<Beat>& beats) {
  const size_t n = beats.size();
  for (size_t i = 0; i < n; ++i) {
    if (!std::isnan(beats[i].slope)) continue;
    const Beat& before = beats[(i + n - 1) % n];
    const Beat& after = beats[(i + 1) % n];
    const double h0 = within(beats[i].time - before.time, period);
    const double h1 = within(after.time - beats[i].time, period);
    const double s0 = h0 > 0 ? (beats[i].value - before.value) / h0 : 0;
    const double s1 = h1 > 0 ? (after.value - beats[i].value) / h1 : 0;
    const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
    beats[i].slope = s0 * s1 > 0 ? (w0 + w1) / (w0 / s0 + w1 / s1) : 0;
  }
}

}  // namespace

Curve through(double period, std::vector<Beat> beats) {
  std::sort(beats.begin(), beats.end(),
            [](const Beat& a, const Beat& b) { return a.time < b.time; });
  choose_slopes(period, beats);
  return [period, beats = std::move(beats)](double time) {
    const double t = within(time - beats.front().time, period) + beats.front().time;
    const auto after = std::upper_bound(beats.begin(), beats.end(), t,
                                        [](double now, const Beat& b) { return now < b.time; });
    const Beat& from = *std::prev(after);
    const Beat& to = after == beats.end() ? beats.front() : *after;
    const double length = after == beats.end() ? to.time + period - from.time : to.time - from.time;
    if (length <= 0) return from.value;
    // The cubic through both values with both slopes.
    const double s = (t - from.time) / length, s2 = s * s, s3 = s2 * s;
    return (2 * s3 - 3 * s2 + 1) * from.value + length * (s3 - 2 * s2 + s) * from.slope +
           (3 * s2 - 2 * s3) * to.value + length * (s3 - s2) * to.slope;
  };
}

Curve wave(double period, double amplitude, double phase) {
  return [=](double time) {
    return amplitude * std::sin(2 * std::numbers::pi * (time / period - phase));
  };
}

Curve bump(double period, double begin, double end, double height) {
  return [=](double time) {
    const double s = within(time - begin, period) / (end - begin);
    const double rise = s < 1 ? std::sin(std::numbers::pi * s) : 0.0;
    return height * rise * rise;
  };
}

Curve shake(double period, double begin, double end, double cycles, double amplitude) {
  const Curve envelope = bump(period, begin, end, amplitude);
  return [=](double time) {
    const double s = within(time - begin, period) / (end - begin);
    return envelope(time) * std::sin(2 * std::numbers::pi * cycles * s);
  };
}

Curve still(double value) {
  return [=](double) { return value; };
}

Curve sum(Curve a, Curve b) {
  return [a = std::move(a), b = std::move(b)](double time) { return a(time) + b(time); };
}

Curve scaled(Curve curve, double factor) {
  return [curve = std::move(curve), factor](double time) { return factor * curve(time); };
}

Curve late(Curve curve, double seconds) {
  return [curve = std::move(curve), seconds](double time) { return curve(time - seconds); };
}

}  // namespace supple::modelling
