#include "supple/sim/selection.h"

#include "supple/core/error.h"

namespace supple {
namespace {

Vec3d vector(const Numbers3& numbers) { return Vec3d(numbers.data()); }

}  // namespace

Selection::Selection(const SelectSettings& settings, double slack, const std::string& file,
                     const std::string& field)
    : m_settings(settings), m_slack(slack) {
  if (!settings.box && !settings.sphere && !settings.plane)
    throw_input_error(file, field, "is missing: give a box, sphere or plane");
  if (settings.box)
    for (size_t c = 0; c < 3; ++c)
      if (settings.box->min[c] > settings.box->max[c])
        throw_input_error(file, field + ".box",
                          fmt::format("min[{0}] = {1} is more than max[{0}] = {2}", c,
                                      settings.box->min[c], settings.box->max[c]));
  if (!settings.plane) return;
  const double length = vector(settings.plane->normal).stableNorm();
  if (!(length > 0)) throw_input_error(file, field + ".plane.normal", "must not be 0 0 0");
  for (double& c : m_settings.plane->normal) c /= length;
}

bool Selection::contains(const Vec3d& point) const {
  if (const auto& box = m_settings.box)
    if (((point - vector(box->min)).array() < -m_slack).any() ||
        ((vector(box->max) - point).array() < -m_slack).any())
      return false;
  if (const auto& sphere = m_settings.sphere)
    if ((point - vector(sphere->centre)).norm() > sphere->radius + m_slack) return false;
  if (const auto& plane = m_settings.plane)
    if ((point - vector(plane->point)).dot(vector(plane->normal)) < -m_slack) return false;
  return true;
}

}  // namespace supple
