// Arrays of small vectors seen as plain numbers, and back; what file formats and kernels want.
#pragma once

#include <span>
#include <vector>

#include "supple/math/types.h"

namespace supple {

/// The numbers of an array of float vectors, one vector after the other.
template <class Vector>
std::span<const float> as_floats(const std::vector<Vector>& values) {
  static_assert(sizeof(Vector) % sizeof(float) == 0);
  return {reinterpret_cast<const float*>(values.data()),
          values.size() * (sizeof(Vector) / sizeof(float))};
}

/// The numbers of an array of index vectors, one vector after the other.
template <class Vector>
std::span<const int32_t> as_ints(const std::vector<Vector>& values) {
  static_assert(sizeof(Vector) % sizeof(int32_t) == 0);
  return {reinterpret_cast<const int32_t*>(values.data()),
          values.size() * (sizeof(Vector) / sizeof(int32_t))};
}

/// Three numbers each as vectors; numbers left over at the end are dropped.
inline std::vector<Vec3f> to_vectors(std::span<const float> values) {
  std::vector<Vec3f> result;
  result.reserve(values.size() / 3);
  for (size_t i = 0; i + 2 < values.size(); i += 3)
    result.emplace_back(values[i], values[i + 1], values[i + 2]);
  return result;
}

}  // namespace supple
