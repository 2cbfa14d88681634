// Smooth periodic functions of time, the material of choreographies. All have a continuous first
// derivative, also across the end of their period.
#pragma once

#include <functional>
#include <limits>
#include <vector>

namespace supple::modelling {

/// A value over time (seconds).
using Curve = std::function<double(double)>;

/// A value to be met at a time. Without a slope (value per second) the curve passes as an animator
/// would draw it: level at peaks and valleys, and never beyond the values around it.
struct Beat {
  double time = 0;
  double value = 0;
  double slope = std::numeric_limits<double>::quiet_NaN();
};

/// A curve through beats (in any order, at times within one period), repeated every `period`
/// seconds.
Curve through(double period, std::vector<Beat> beats);

/// amplitude * sin(2 pi (time / period - phase)): `phase` is a delay in periods.
Curve wave(double period, double amplitude, double phase = 0);

/// A bump from 0 at `begin` to `height` half way to `end` and back, once every `period`; `begin`
/// and `end` may lie beyond the period's ends.
Curve bump(double period, double begin, double end, double height);

/// A wave that swells up and dies away between `begin` and `end`, once every `period`: `cycles`
/// whole swings below a bump of the height `amplitude`.
Curve shake(double period, double begin, double end, double cycles, double amplitude);

/// A curve that is always the same.
Curve still(double value);

/// The sum of two curves.
Curve sum(Curve a, Curve b);

/// A curve times a number.
Curve scaled(Curve curve, double factor);

/// A curve that runs `seconds` late.
Curve late(Curve curve, double seconds);

}  // namespace supple::modelling
