#include "supple/sim/instant.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/core/error.h"
#include "supple/rig/bind_pose.h"
#include "supple/sim/pose_path.h"

namespace supple {
namespace {

// A turn between two frames, in radians, that is a cut and no motion.
constexpr double cut_turn = 1.2;

// A shift of the whole rig between two frames, in lengths of the body, that is one.
constexpr double cut_shift = 0.5;

}  // namespace

Instant instant_between(const Character& character, const Instant& from, const Instant& to,
                        double part, bool rigged) {
  Instant now;
  now.moment = {from.moment.time + part * (to.moment.time - from.moment.time),
                from.moment.frame + part * (to.moment.frame - from.moment.frame)};
  if (!rigged) return now;
  now.pose = pose_between(from.pose, to.pose, part);
  global_matrices(character.skeleton, now.pose, now.joints);
  return now;
}

int parts_of_path(const Instant& from, const Instant& to) {
  constexpr double part_turn = 0.5;
  constexpr int most_parts = 16;
  const double turn = largest_turn(from.pose, to.pose);
  return std::min(most_parts, static_cast<int>(std::ceil(turn / part_turn)));
}

Instant bind_instant(const Character& character, const Instant& when) {
  Instant result = when;
  const Skeleton bound = bind_skeleton(character);
  result.joints = global_matrices(bound, rest_pose(bound));
  for (size_t j = 0; j < bound.size(); ++j)
    if (const auto local = decompose(*bound.joints[j].sheared)) result.pose.local[j] = *local;
  return result;
}

bool is_cut(const Character& character, const Instant& from, const Instant& to, double length) {
  if (largest_turn(from.pose, to.pose) > cut_turn) return true;
  double least = std::numeric_limits<double>::max();
  for (const Bind& bind : character.binds) {
    const auto j = static_cast<size_t>(bind.joint);
    least = std::min(least, (to.joints[j].translation() - from.joints[j].translation()).norm());
  }
  return least > cut_shift * length;
}

void save_instant(const Instant& instant, const std::string& name, Chunk& state) {
  const std::vector<double> moment = {instant.moment.time, instant.moment.frame};
  state.add<double>(name + "/moment", moment);
  std::vector<double> pose;
  for (const Transform& t : instant.pose.local)
    for (const double number :
         {t.translation[0], t.translation[1], t.translation[2], t.rotation.x(), t.rotation.y(),
          t.rotation.z(), t.rotation.w(), t.scale[0], t.scale[1], t.scale[2]})
      pose.push_back(number);
  state.add<double>(name + "/pose", pose, 10);
  state.add<double>(name + "/shapes", instant.pose.shape_weights);
}

Instant load_instant(const Chunk& state, const std::string& name, const Character& character,
                     bool rigged, std::string_view file) {
  const auto moment = state.get<double>(name + "/moment", 1, 2, file);
  const auto joints = static_cast<int64_t>(character.skeleton.size());
  const auto pose = state.get<double>(name + "/pose", 10, rigged ? joints : -1, file);
  Instant result;
  result.pose.shape_weights = state.get<double>(name + "/shapes", 1, -1, file);
  require_finite(moment, file, name);
  require_finite(pose, file, name);
  require_finite(result.pose.shape_weights, file, name);
  result.moment = {moment[0], moment[1]};
  for (size_t i = 0; i < pose.size(); i += 10) {
    const double* p = pose.data() + i;
    result.pose.local.push_back(
        {{p[0], p[1], p[2]}, Quatd(p[6], p[3], p[4], p[5]), {p[7], p[8], p[9]}});
  }
  if (rigged) global_matrices(character.skeleton, result.pose, result.joints);
  return result;
}

void require_finite(std::span<const double> numbers, std::string_view file,
                    std::string_view field) {
  for (const double number : numbers)
    if (!std::isfinite(number)) throw_input_error(file, field, "holds a number that is not finite");
}

std::span<const double> as_doubles(const std::vector<Vec3d>& vectors) {
  return {vectors.empty() ? nullptr : vectors.data()->data(), 3 * vectors.size()};
}

std::vector<Vec3d> as_vectors(std::span<const double> numbers) {
  std::vector<Vec3d> result;
  for (size_t i = 0; i + 2 < numbers.size(); i += 3)
    result.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
  return result;
}

}  // namespace supple
