// Shape matching on a box of lattice particles [Rivers 2007], small and for comparison only:
// regions are cubes of 2 ω + 1 particles a side, summed particle by particle or, fast, axis by axis
// with running sums. On all threads, with wide polar decompositions; unit masses; no volume kept.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/math/svd3_batch.h"
#include "supple/math/types.h"

namespace supple {

/// A box of particles, `size` along each axis, `spacing` metres apart.
class LatticeMatching {
 public:
  LatticeMatching(const Vec3i& size, float spacing, int width, bool fast)
      : m_size(size), m_width(width), m_fast(fast) {
    for (int z = 0; z < size[2]; ++z)
      for (int y = 0; y < size[1]; ++y)
        for (int x = 0; x < size[0]; ++x) rest.emplace_back(spacing * Vec3i(x, y, z).cast<float>());
    const size_t count = rest.size();
    positions = rest;
    velocities.assign(count, Vec3f::Zero());
    held.assign(count, 0);
    m_records.resize(12 * count);
    m_sums.resize(12 * count);
    m_swap.resize(12 * count);
    for (auto& entry : m_shapes) entry.resize(count);
    for (auto& entry : m_turns) entry.resize(count);
    // Sizes and rest centres of regions do not change.
    for (size_t i = 0; i < count; ++i) {
      float* r = &m_records[12 * i];
      std::fill(r, r + 12, 0.0f);
      for (int k = 0; k < 3; ++k) r[k] = rest[i][k];
      r[3] = 1;
    }
    sum_regions();
    for (size_t i = 0; i < count; ++i) {
      m_counts.push_back(m_sums[12 * i + 3]);
      m_centres.emplace_back(m_sums[12 * i] / m_counts[i], m_sums[12 * i + 1] / m_counts[i],
                             m_sums[12 * i + 2] / m_counts[i]);
    }
  }

  /// Takes a step with stiffness 1 (seconds, m/s²).
  void step(float dt, const Vec3f& gravity) {
    const size_t count = rest.size();
    parallel_for(count, 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        if (held[i]) continue;
        velocities[i] += dt * gravity;
        positions[i] += dt * velocities[i];
      }
    });
    each([&](size_t i) {
      float* r = &m_records[12 * i];
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) r[3 * a + b] = positions[i][a] * rest[i][b];
        r[9 + a] = positions[i][a];
      }
    });
    sum_regions();
    match();
    sum_regions();
    each([&](size_t i) {
      if (held[i]) return;
      const float* s = &m_sums[12 * i];
      Vec3f goal;
      for (int a = 0; a < 3; ++a)
        goal[a] = (s[3 * a] * rest[i][0] + s[3 * a + 1] * rest[i][1] + s[3 * a + 2] * rest[i][2] +
                   s[9 + a]) /
                  m_counts[i];
      velocities[i] += (goal - positions[i]) / dt;
      positions[i] = goal;
    });
  }

  std::vector<Vec3f> rest, positions, velocities;
  std::vector<uint8_t> held;

 private:
  template <class Body>
  void each(const Body& body) {
    parallel_for(rest.size(), 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) body(i);
    });
  }

  // Turns sums of shapes into transforms, in the records.
  void match() {
    each([&](size_t i) {
      const float* s = &m_sums[12 * i];
      for (size_t a = 0; a < 3; ++a)
        for (size_t b = 0; b < 3; ++b)
          m_shapes[3 * a + b][i] = s[3 * a + b] - s[9 + a] * m_centres[i][static_cast<int>(b)];
    });
    parallel_for(rest.size(), 1024, [&](size_t begin, size_t end) {
      Matrix3Arrays<float> shapes;
      std::array<std::span<float>, 4> turns;
      for (size_t k = 0; k < 9; ++k)
        shapes.entries[k] = std::span<const float>(m_shapes[k]).subspan(begin, end - begin);
      for (size_t k = 0; k < 4; ++k)
        turns[k] = std::span<float>(m_turns[k]).subspan(begin, end - begin);
      polar_batch(shapes, turns);
      for (size_t i = begin; i < end; ++i) {
        const Eigen::Matrix3f turn =
            Eigen::Quaternionf(m_turns[3][i], m_turns[0][i], m_turns[1][i], m_turns[2][i])
                .toRotationMatrix();
        const float* s = &m_sums[12 * i];
        const Vec3f centre = Vec3f(s[9], s[10], s[11]) / m_counts[i];
        const Vec3f shift = centre - turn * m_centres[i];
        float* r = &m_records[12 * i];
        for (int a = 0; a < 3; ++a) {
          for (int b = 0; b < 3; ++b) r[3 * a + b] = turn(a, b);
          r[9 + a] = shift[a];
        }
      }
    });
  }

  void sum_regions() {
    if (m_fast) {
      const auto line = [&](int axis) {
        return axis == 0 ? 1 : axis == 1 ? m_size[0] : m_size[0] * m_size[1];
      };
      sum_axis(m_records, m_sums, 0, line(0));
      sum_axis(m_sums, m_swap, 1, line(1));
      sum_axis(m_swap, m_sums, 2, line(2));
      return;
    }
    parallel_for(rest.size(), 256, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const int x = static_cast<int>(i) % m_size[0],
                  y = static_cast<int>(i) / m_size[0] % m_size[1],
                  z = static_cast<int>(i) / (m_size[0] * m_size[1]);
        std::array<float, 12> sum{};
        for (int c = std::max(0, z - m_width); c <= std::min(m_size[2] - 1, z + m_width); ++c)
          for (int b = std::max(0, y - m_width); b <= std::min(m_size[1] - 1, y + m_width); ++b)
            for (int a = std::max(0, x - m_width); a <= std::min(m_size[0] - 1, x + m_width); ++a) {
              const float* r =
                  &m_records[12 * static_cast<size_t>((c * m_size[1] + b) * m_size[0] + a)];
              for (size_t k = 0; k < 12; ++k) sum[k] += r[k];
            }
        std::copy(sum.begin(), sum.end(), &m_sums[12 * i]);
      }
    });
  }

  // Running sums along an axis: a record comes in, one falls out.
  void sum_axis(const std::vector<float>& from, std::vector<float>& to, int axis, int stride) {
    const int length = m_size[axis];
    const size_t lines = rest.size() / static_cast<size_t>(length);
    parallel_for(lines, 32, [&](size_t begin, size_t end) {
      for (size_t line = begin; line < end; ++line) {
        const size_t inner = line % static_cast<size_t>(stride),
                     outer = line / static_cast<size_t>(stride);
        const size_t first = outer * static_cast<size_t>(stride * length) + inner;
        std::array<float, 12> sum{};
        const auto add = [&](int at, float sign) {
          const float* r = &from[12 * (first + static_cast<size_t>(at * stride))];
          for (size_t k = 0; k < 12; ++k) sum[k] += sign * r[k];
        };
        for (int at = 0; at < std::min(m_width, length); ++at) add(at, 1);
        for (int at = 0; at < length; ++at) {
          if (at + m_width < length) add(at + m_width, 1);
          if (at - m_width - 1 >= 0) add(at - m_width - 1, -1);
          std::copy(sum.begin(), sum.end(), &to[12 * (first + static_cast<size_t>(at * stride))]);
        }
      }
    });
  }

  Vec3i m_size;
  int m_width;
  bool m_fast;
  std::vector<float> m_records, m_sums, m_swap, m_counts;
  std::vector<Vec3f> m_centres;
  std::array<std::vector<float>, 9> m_shapes;
  std::array<std::vector<float>, 4> m_turns;
};

}  // namespace supple
