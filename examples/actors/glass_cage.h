// The cage of the escaping starfish [Kim 2011, figure 2]: a box of five plates without a bottom.
#pragma once

#include <array>

#include "supple/rig/character.h"

namespace supple::actors {

/// A plate of the cage: a box with its axes along the model's, in metres.
struct CagePlate {
  Vec3d centre = Vec3d::Zero();
  Vec3d size = Vec3d::Zero();
};

/// The cage standing on y = 0, its middle over the origin. The plates touch but do not overlap, and
/// together they are what the mesh encloses.
struct GlassCage {
  /// Of its plates, kg/m³: 1.2 kg in all. Solid glass (2,500) would be 15 kg, too much for a
  /// starfish.
  static constexpr double density = 192;

  double width = 0.36;              ///< inside, along x and z, m
  double height = 0.10;             ///< inside, m
  double thickness = 0.02;          ///< of all plates, m
  TriangleMesh mesh;                ///< closed, corners shared
  std::array<CagePlate, 5> plates;  ///< lid, then the walls at +X, -X, +Z and -Z

  /// Of all plates, m³.
  double volume() const;

  /// Of all plates, kg.
  double mass() const { return density * volume(); }
};

/// The cage; `detail` is into how many pieces the inner width and height are cut for the mesh.
GlassCage glass_cage(int detail = 1);

/// The cage's mesh as a character of one part without bones, as files hold it.
Character glass_cage_model(int detail = 1);

}  // namespace supple::actors
