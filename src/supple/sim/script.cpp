#include "supple/sim/script.h"

#include <algorithm>
#include <numbers>

#include "supple/core/error.h"
#include "supple/math/smooth_step.h"

namespace supple {

Script::Script(const std::vector<ScriptSettings>& motions, const FrameRange& range,
               const std::string& file, const std::string& field) {
  for (size_t i = 0; i < motions.size(); ++i) {
    const ScriptSettings& given = motions[i];
    const std::string here = fmt::format("{}[{}]", field, i);
    Step step;
    step.translate = Vec3d(given.translate.data());
    step.about = Vec3d(given.rotate.about.data());
    step.angle = given.rotate.angle * std::numbers::pi / 180;
    step.axis = Vec3d(given.rotate.axis.data());
    step.unit = given.unit;
    step.ramp = given.ramp;
    if (!(step.axis.stableNorm() > 0))
      throw_input_error(file, here + ".rotate.axis", "must not be 0 0 0");
    step.axis.stableNormalize();
    for (size_t k = 0; k < given.keys.size(); ++k) {
      const std::vector<double>& key = given.keys[k];
      const std::string place = fmt::format("{}.keys[{}]", here, k);
      if (key.size() != 2)
        throw_input_error(file, place,
                          fmt::format("must be [time, amount], found {} numbers", key.size()));
      if (k > 0 && !(key[0] > step.keys.back().time))
        throw_input_error(
            file, place,
            fmt::format("time {} is not after the one before, {}", key[0], step.keys.back().time));
      step.keys.push_back({key[0], key[1]});
    }
    if (step.keys.empty()) {
      step.unit = TimeUnit::frames;
      step.keys = {{static_cast<double>(range.first), 0}, {static_cast<double>(range.last), 1}};
      if (range.last == range.first) step.keys.erase(step.keys.begin());
    }
    m_steps.push_back(std::move(step));
  }
}

double Script::amount_at(const Step& step, const Moment& moment) {
  const double time = step.unit == TimeUnit::seconds ? moment.time : moment.frame;
  const auto next = std::upper_bound(step.keys.begin(), step.keys.end(), time,
                                     [](double t, const Key& key) { return t < key.time; });
  if (next == step.keys.begin()) return step.keys.front().amount;
  if (next == step.keys.end()) return step.keys.back().amount;
  const Key& before = *(next - 1);
  const double part = (time - before.time) / (next->time - before.time);
  const double eased = step.ramp == Ramp::smooth ? smooth_step(part) : part;
  return before.amount + eased * (next->amount - before.amount);
}

// x -> about + R (x - about) + shift, one after the other.
Affine Script::at(const Moment& moment) const {
  Affine result = Affine::Identity();
  for (const Step& step : m_steps) {
    const double amount = amount_at(step, moment);
    const Affine turn = Eigen::Translation3d(step.about + amount * step.translate) *
                        Eigen::AngleAxisd(amount * step.angle, step.axis) *
                        Eigen::Translation3d(-step.about);
    result = turn * result;
  }
  return result;
}

}  // namespace supple
