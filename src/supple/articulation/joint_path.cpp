#include "supple/articulation/joint_path.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"

namespace supple {

JointPath::JointPath(std::vector<double> times, std::vector<std::vector<double>> keys)
    : m_times(std::move(times)), m_keys(std::move(keys)) {
  const auto refuse = [](const char* why) { throw Error(ErrorKind::usage, why); };
  if (m_times.size() != m_keys.size() || m_times.empty()) refuse("a path needs a time per key");
  for (size_t k = 0; k < m_times.size(); ++k) {
    if (m_keys[k].size() != m_keys[0].size()) refuse("keys of a path need the same numbers each");
    if (!std::isfinite(m_times[k]) || (k > 0 && !(m_times[k] > m_times[k - 1])))
      refuse("times of a path's keys must increase");
  }
  // Slopes at inner keys such that second derivatives meet: a tridiagonal system, solved by
  // elimination: s₋/a + 2 s (1/a + 1/b) + s₊/b = 3 (Δ₋/a² + Δ₊/b²).
  const size_t count = m_times.size(), numbers = size();
  m_slopes.assign(count, std::vector<double>(numbers, 0));
  if (count < 3) return;
  for (size_t i = 0; i < numbers; ++i) {
    std::vector<double> diagonal(count, 1), right(count, 0), above(count, 0);
    for (size_t k = 1; k + 1 < count; ++k) {
      const double a = m_times[k] - m_times[k - 1], b = m_times[k + 1] - m_times[k];
      const double below = k > 1 ? 1 / a : 0;
      above[k] = k + 2 < count ? 1 / b : 0;
      diagonal[k] = 2 * (1 / a + 1 / b) - below * above[k - 1] / diagonal[k - 1];
      right[k] = 3 * ((m_keys[k][i] - m_keys[k - 1][i]) / (a * a) +
                      (m_keys[k + 1][i] - m_keys[k][i]) / (b * b)) -
                 below * right[k - 1] / diagonal[k - 1];
    }
    for (size_t k = count - 2; k > 0; --k)
      m_slopes[k][i] = (right[k] - above[k] * m_slopes[k + 1][i]) / diagonal[k];
  }
}

void JointPath::at(double time, std::span<double> out) const {
  if (m_times.empty()) return;
  const auto next = std::upper_bound(m_times.begin(), m_times.end(), time);
  if (next == m_times.begin() || next == m_times.end()) {
    const auto& key = next == m_times.begin() ? m_keys.front() : m_keys.back();
    std::copy(key.begin(), key.end(), out.begin());
    return;
  }
  const auto k = static_cast<size_t>(next - m_times.begin()) - 1;
  const double length = m_times[k + 1] - m_times[k], t = (time - m_times[k]) / length;
  // Hermite's polynomials.
  const double up = t * t * (3 - 2 * t), leave = t * (1 - t) * (1 - t), arrive = t * t * (t - 1);
  for (size_t i = 0; i < size(); ++i)
    out[i] = (1 - up) * m_keys[k][i] + up * m_keys[k + 1][i] +
             length * (leave * m_slopes[k][i] + arrive * m_slopes[k + 1][i]);
}

}  // namespace supple
