// Parts of a body by their place at rest: boxes, balls and sides of planes.
#pragma once

#include <string>

#include "supple/math/types.h"
#include "supple/sim/scene.h"

namespace supple {

/// How far beyond a selection's border nodes and matter of a body of cells still belong to it, in
/// cells.
inline constexpr double selection_border = 1e-3;

/// A part of space. Points within `slack` of it belong to it, so that nodes in a side of a box do.
class Selection {
 public:
  /// Throws an input error naming `file` and `field` when the settings select nothing or are not
  /// possible. `slack` is in metres.
  Selection(const SelectSettings& settings, double slack, const std::string& file,
            const std::string& field);

  /// Whether a point, in metres, is selected.
  bool contains(const Vec3d& point) const;

 private:
  SelectSettings m_settings;
  double m_slack;
};

}  // namespace supple
