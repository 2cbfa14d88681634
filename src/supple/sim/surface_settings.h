// Settings of surfaces that keep their shape and volume, and of scenes with many of them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// Bodies of type 'surface'. Names in brackets are the symbols of [Diziol 2011].
struct SurfaceSettings {
  std::optional<int> region_width = {};  // ω; without, by the object's length
  double stiffness = 1;                  // s
  double damping = 0.1;
  double support = 0.3;
  double firmness = 0.8;
  bool keep_volume = true;
  double spread = 0.2;            // α
  double inner = 0.1;             // β
  double thick_stiffness = 0.01;  // s_min
  double thin_stiffness = 0.1;    // s_max
  double volume_tolerance = 1e-4;
  double plastic_yield = 0;
  double plastic_creep = 0;
  double plastic_limit = 0;
  double step = 0.005;
  double friction = 0.3;
  double gap = 0.1;
  double follow = 0.05;
  std::string detail;
};

/// Where an object of a scene begins.
enum class ObjectStart { rest, random, flat, point, inverted };

}  // namespace supple
