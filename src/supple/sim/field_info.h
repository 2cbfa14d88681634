// What is said of a field of a scene besides its name and value.
#pragma once

#include <limits>
#include <string_view>

namespace supple {

/// What a visitor is told about a field besides its name and value.
struct FieldInfo {
  std::string_view meaning;
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
  bool min_excluded = false;
};

}  // namespace supple
