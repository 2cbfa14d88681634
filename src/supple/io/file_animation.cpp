#include "supple/io/file_animation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr double least_rate = 1e-6, most_rate = 1e6;

bool rate_is_allowed(double rate) { return rate >= least_rate && rate <= most_rate; }

// True when frames numbered from round(first * rate) on lie exactly at the file's times.
bool gives_times(double rate, const FrameTimes& times) {
  const double first = std::round(times.seconds[0] * rate);
  if (times.first_number && first != *times.first_number) return false;
  for (size_t i = 0; i < times.seconds.size(); ++i) {
    const double seconds = (first + static_cast<double>(i)) / rate;
    const bool same =
        times.single_precision
            ? static_cast<float>(seconds) == static_cast<float>(times.seconds[i])
            : std::abs(seconds - times.seconds[i]) <= 1e-15 * std::abs(times.seconds[i]);
    if (!same) return false;
  }
  return true;
}

// Frames per second as far as the file's times say.
double estimated_rate(const FrameTimes& times, double likely_rate) {
  const std::vector<double>& t = times.seconds;
  if (t.size() > 1) return static_cast<double>(t.size() - 1) / (t.back() - t.front());
  if (times.first_number && *times.first_number != 0 && t[0] != 0)
    return *times.first_number / t[0];
  return likely_rate;
}

// True when the times lie apart evenly, but for the rounding of the largest.
bool is_even(double rate, const FrameTimes& times) {
  const std::vector<double>& t = times.seconds;
  const double rounding =
      (times.single_precision ? 2.4e-7 : 1e-14) * std::max(std::abs(t.front()), std::abs(t.back()));
  for (size_t i = 0; i < t.size(); ++i)
    if (std::abs(t[0] + static_cast<double>(i) / rate - t[i]) > rounding) return false;
  return true;
}

// Rates worth trying, the simplest first.
std::vector<double> candidate_rates(double estimate, double likely_rate, bool single_frame) {
  std::vector<double> rates = {likely_rate};
  for (int scale = 1; scale < 10000000; scale *= 10) {
    rates.push_back(std::round(estimate * scale) / scale);
    if (scale == 1) rates.push_back(std::round(estimate * 1.001) * 1000 / 1001);  // NTSC
  }
  if (single_frame) rates.insert(rates.end(), {24, 25, 30, 23.976, 24000.0 / 1001, 50, 60, 120});
  return rates;
}

void check_times(const FrameTimes& times, const std::string& file) {
  constexpr double longest = 1e9;
  for (size_t i = 0; i < times.seconds.size(); ++i) {
    const std::string field = fmt::format("time of frame {}", i);
    if (!(std::abs(times.seconds[i]) <= longest))
      throw_input_error(file, field,
                        fmt::format("{} s is not allowed (-1e9 to 1e9)", times.seconds[i]));
    if (i > 0 && times.seconds[i] <= times.seconds[i - 1])
      throw_input_error(
          file, field,
          fmt::format("{} s does not come after {} s", times.seconds[i], times.seconds[i - 1]));
  }
}

}  // namespace

FrameClock clock_from_times(const FrameTimes& times, double likely_rate, const std::string& file) {
  check_times(times, file);
  const std::vector<double>& t = times.seconds;
  const double estimate = estimated_rate(times, likely_rate);
  double rate = t.size() == 1 || is_even(estimate, times) ? estimate : 1 / (t[1] - t[0]);
  for (const double candidate : candidate_rates(estimate, likely_rate, t.size() == 1))
    if (rate_is_allowed(candidate) && gives_times(candidate, times)) {
      rate = candidate;
      break;
    }
  if (!rate_is_allowed(rate))
    throw_input_error(file, "times",
                      fmt::format("{} frames per second are not allowed ({} to {})", rate,
                                  least_rate, most_rate));
  const double first =
      times.first_number ? *times.first_number : std::round(times.seconds[0] * rate);
  constexpr double largest = std::numeric_limits<int32_t>::max();
  if (first < -largest || first + static_cast<double>(t.size()) > largest)
    throw_input_error(
        file, "times",
        fmt::format("the first frame would be number {:.0f}, more than {:.0f}", first, largest));
  return {rate, static_cast<int>(first)};
}

void check_finite(const std::vector<Vec3f>& positions, const std::string& file, int64_t frame) {
  for (size_t v = 0; v < positions.size(); ++v)
    if (!positions[v].allFinite())
      throw_input_error(file, fmt::format("frame {}", frame),
                        fmt::format("the position of vertex {} is not finite", v));
}

std::vector<Part> parts_of_triangles(const std::vector<int>& part_of_triangle,
                                     const std::vector<Vec3i>& triangles, size_t vertices) {
  std::vector<Part> parts;
  const auto vertex_count = static_cast<int32_t>(vertices);
  bool separate = true;
  int32_t used = 0;  // end of the vertices of earlier parts
  for (size_t begin = 0; begin < triangles.size();) {
    size_t end = begin;
    Vec3i least = triangles[begin], most = triangles[begin];
    for (; end < triangles.size() && part_of_triangle[end] == part_of_triangle[begin]; ++end) {
      least = least.cwiseMin(triangles[end]);
      most = most.cwiseMax(triangles[end]);
    }
    Part part;
    part.name = fmt::format("part{}", part_of_triangle[begin]);
    part.triangles = {static_cast<int32_t>(begin), static_cast<int32_t>(end - begin)};
    part.vertices.first = parts.empty() ? 0 : least.minCoeff();
    separate &= part.vertices.first >= used;
    used = most.maxCoeff() + 1;
    parts.push_back(std::move(part));
    begin = end;
  }
  for (size_t p = 0; p < parts.size(); ++p) {
    const int32_t next = p + 1 < parts.size() ? parts[p + 1].vertices.first : vertex_count;
    parts[p].vertices = separate ? Range{parts[p].vertices.first, next - parts[p].vertices.first}
                                 : Range{0, vertex_count};
  }
  return parts;
}

}  // namespace supple
