// Paths of joints through key poses: cubic B-splines in the joints' numbers, that begin and end at
// rest [Kim 2011, section 7].
#pragma once

#include <span>
#include <vector>

namespace supple {

/// A smooth path of some numbers through keys: twice continuously differentiable, and without
/// velocity at both ends. Before the first key and after the last it stands still.
class JointPath {
 public:
  JointPath() = default;

  /// A path through `keys`, each with as many numbers as the first, at increasing `times` (s).
  /// Throws a usage error for others.
  JointPath(std::vector<double> times, std::vector<std::vector<double>> keys);

  /// Numbers per key.
  size_t size() const { return m_keys.empty() ? 0 : m_keys[0].size(); }

  /// Writes the numbers at a time (s) to `out`.
  void at(double time, std::span<double> out) const;

  /// Time of the first key, and of the last (s).
  double begin() const { return m_times.empty() ? 0 : m_times.front(); }
  double end() const { return m_times.empty() ? 0 : m_times.back(); }

 private:
  std::vector<double> m_times;
  std::vector<std::vector<double>> m_keys;
  std::vector<std::vector<double>> m_slopes;  // at the keys, per second
};

}  // namespace supple
