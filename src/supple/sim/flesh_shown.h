// What bodies of cells show of themselves: skin, maps, cells, colliders.
#pragma once

#include "supple/sim/body.h"
#include "supple/sim/flesh_contact.h"
#include "supple/sim/instant.h"

namespace supple {

/// A body of cells at one time.
struct FleshView {
  const Character& character;
  const FleshModel& model;
  const Instant& now;
  std::span<const Vec3f> plain;  ///< where plain skinning puts the character's vertices, if it does
  std::span<const Vec3d> nodes;  ///< in metres
  std::span<const Vec3f> points;  ///< the skin's points, moved with their cells
  const FleshContact* contact;    ///< null without any
};

/// The skin's points as cells with their nodes at `nodes` carry them, in metres, moved out of other
/// flesh where they end in it and the scene asks for that; `contact` is null without any.
std::vector<Vec3f> carried_skin(const FleshModel& model, std::span<const Vec3d> nodes,
                                const FleshContact* contact);

/// Sets the positions of the skin's vertices: points of the flesh move with their cells, also what
/// blend shapes add to them; where the scene wants no flesh, and for props, the rig decides.
void show_skin(const FleshView& view, BodyFrame& out);

/// Adds maps, nodes and colliders; `stretch` is the largest of every cell.
void show_extras(const FleshView& view, std::span<const float> stretch, BodyFrame& out);

/// What never changes: corners of cells, triangles of colliders.
std::vector<ChunkArray> show_once(const FleshModel& model, const FleshContact* contact);

/// The largest stretch of every cell with the nodes at `nodes`; returns the share of the matter
/// that is turned inside out.
double measure_cells(const FleshModel& model, std::span<const Vec3d> nodes,
                     std::span<float> stretch);

/// The share of the matter that is turned inside out, or has no volume that is a number, with the
/// nodes at `nodes`.
double inverted_part(const FleshModel& model, std::span<const Vec3d> nodes);

/// The volume of the cells' matter with the nodes at `nodes`, of that at rest.
double volume_part(const FleshModel& model, std::span<const Vec3d> nodes);

}  // namespace supple
