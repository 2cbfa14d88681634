#include "supple/rig/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace supple {
namespace {

// Where a time falls among a channel's keys: the key before it, and how far on to the next.
struct KeyPosition {
  size_t key = 0;
  double fraction = 0;  // 0 at the key (and outside the keys), below 1 at the next one
  double length = 0;    // seconds from this key to the next
};

KeyPosition locate(const std::vector<double>& times, double time) {
  const auto next = std::upper_bound(times.begin(), times.end(), time);
  if (next == times.begin()) return {};
  const size_t key = static_cast<size_t>(next - times.begin()) - 1;
  if (next == times.end()) return {key, 0, 0};
  const double length = *next - times[key];
  return {key, (time - times[key]) / length, length};
}

// The value a channel holds at a key.
const double* key_value(const Channel& channel, size_t key) {
  const size_t width = static_cast<size_t>(channel.width);
  if (channel.interpolation != Interpolation::cubic_spline)
    return channel.values.data() + key * width;
  return channel.values.data() + (3 * key + 1) * width;
}

// A Hermite segment; tangents are per second, so they scale with its length.
// p(t) = (2t³-3t²+1) v0 + l (t³-2t²+t) b0 + (-2t³+3t²) v1 + l (t³-t²) a1   [glTF 2.0, appendix C]
double hermite(const Channel& channel, const KeyPosition& at, int component) {
  const double* v0 = key_value(channel, at.key) + component;
  const double* v1 = key_value(channel, at.key + 1) + component;
  const double t = at.fraction, t2 = t * t, t3 = t2 * t;
  const double out_tangent = v0[channel.width], in_tangent = v1[-channel.width];
  return (2 * t3 - 3 * t2 + 1) * v0[0] + at.length * (t3 - 2 * t2 + t) * out_tangent +
         (3 * t2 - 2 * t3) * v1[0] + at.length * (t3 - t2) * in_tangent;
}

double sample_component(const Channel& channel, const KeyPosition& at, int component) {
  const double value = key_value(channel, at.key)[component];
  if (at.fraction == 0 || channel.interpolation == Interpolation::step) return value;
  if (channel.interpolation == Interpolation::cubic_spline) return hermite(channel, at, component);
  return value + at.fraction * (key_value(channel, at.key + 1)[component] - value);
}

// A unit quaternion from x y z w; the identity where they are zero.
Quatd unit_quaternion(const Eigen::Vector4d& xyzw) {
  const double length = xyzw.stableNorm();
  return length > 0 ? Quatd(Eigen::Vector4d(xyzw / length)) : Quatd::Identity();
}

// Along the shorter arc from `a` to `b`, at constant speed. The angle comes from the half-angle
// tangent |b-a| / |b+a|, which stays exact for close and for opposite quaternions.
Quatd slerp(const Quatd& a, const Quatd& b, double t) {
  const Eigen::Vector4d& from = a.coeffs();
  const Eigen::Vector4d to = a.dot(b) < 0 ? Eigen::Vector4d(-b.coeffs()) : b.coeffs();
  const double angle = 2 * std::atan2((to - from).norm(), (to + from).norm());
  const double sine = std::sin(angle);
  if (sine < 1e-12) return unit_quaternion(from + t * (to - from));
  return unit_quaternion((std::sin((1 - t) * angle) * from + std::sin(t * angle) * to) / sine);
}

Quatd sample_rotation(const Channel& channel, const KeyPosition& at) {
  const auto key = [&](size_t k) {
    return unit_quaternion(Eigen::Map<const Eigen::Vector4d>(key_value(channel, k)));
  };
  if (at.fraction == 0 || channel.interpolation == Interpolation::step) return key(at.key);
  if (channel.interpolation == Interpolation::linear)
    return slerp(key(at.key), key(at.key + 1), at.fraction);
  Eigen::Vector4d xyzw;
  for (int c = 0; c < 4; ++c) xyzw[c] = hermite(channel, at, c);
  return unit_quaternion(xyzw);
}

bool complete(const Channel& channel) {
  const size_t per_key = channel.interpolation == Interpolation::cubic_spline ? 3 : 1;
  return channel.width > 0 && !channel.times.empty() &&
         channel.values.size() >= channel.times.size() * per_key * channel.width;
}

void apply_to_joint(const Channel& channel, const KeyPosition& at, Transform& local) {
  if (channel.target == ChannelTarget::rotation) {
    if (channel.width == 4) local.rotation = sample_rotation(channel, at);
    return;
  }
  if (channel.width != 3) return;
  Vec3d& driven = channel.target == ChannelTarget::translation ? local.translation : local.scale;
  for (int c = 0; c < 3; ++c) driven[c] = sample_component(channel, at, c);
}

void apply_to_shapes(const Channel& channel, const KeyPosition& at, std::span<double> weights) {
  for (int c = 0; c < channel.width; ++c) {
    const size_t shape = static_cast<size_t>(channel.first_shape) + static_cast<size_t>(c);
    if (shape < weights.size()) weights[shape] = sample_component(channel, at, c);
  }
}

// Whether every key of a clip falls on a whole frame, to within the rounding of float times.
bool on_whole_frames(const Clip& clip, double rate) {
  for (const Channel& channel : clip.channels)
    for (const double time : channel.times) {
      const double frame = time * rate;
      const double tolerance = 1e-3 + 2 * std::numeric_limits<float>::epsilon() * std::abs(frame);
      if (!(std::abs(frame - std::round(frame)) <= tolerance)) return false;
    }
  return true;
}

}  // namespace

double Clip::start() const {
  double first = std::numeric_limits<double>::infinity();
  for (const Channel& channel : channels)
    if (!channel.times.empty()) first = std::min(first, channel.times.front());
  return std::isfinite(first) ? first : 0;
}

double Clip::end() const {
  double last = -std::numeric_limits<double>::infinity();
  for (const Channel& channel : channels)
    if (!channel.times.empty()) last = std::max(last, channel.times.back());
  return std::isfinite(last) ? last : 0;
}

void apply_clip(const Clip& clip, double time, Pose& pose) {
  for (const Channel& channel : clip.channels) {
    if (!complete(channel)) continue;
    const KeyPosition at = locate(channel.times, time);
    if (channel.target == ChannelTarget::shape_weights)
      apply_to_shapes(channel, at, pose.shape_weights);
    else if (channel.joint >= 0 && static_cast<size_t>(channel.joint) < pose.local.size())
      apply_to_joint(channel, at, pose.local[channel.joint]);
  }
}

double clip_rate(const Clip& clip, double fallback) {
  if (clip.rate > 0) return clip.rate;
  const bool moves = std::any_of(clip.channels.begin(), clip.channels.end(),
                                 [](const Channel& c) { return c.times.size() > 1; });
  if (!moves) return fallback;
  for (const double rate : {24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 120.0})
    if (on_whole_frames(clip, rate)) return rate;
  return fallback;
}

}  // namespace supple
