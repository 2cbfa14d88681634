// A bar of tetrahedra on proxies that move, for tests of adjusted dynamics.
#pragma once

#include "adjust/driven_body.h"
#include "supple/mesh/tet_locate.h"
#include "supple/tets/tet_system.h"
#include "support/tet_boxes.h"

namespace supple {

/// A bar that stands on a cloud of points in its lowest layer: 0.1 x 0.5 x 0.1 m.
inline TetSystemModel bar_model(Law law, double damping = 0.004, int tall = 10) {
  TetSystemModel model;
  model.mesh = box_of_tets(2, tall, 2, 0.05, 0.1);
  model.matter.law = law;
  model.masses.assign(model.mesh.positions.size(), 0);
  for (const Vec4i& tet : model.mesh.tets) {
    const double volume = six_volumes(model.mesh, tet) / 6;
    model.matter.volumes.push_back(volume);
    model.matter.materials.push_back(lame_moduli(2e5, 0.3));
    for (int c = 0; c < 4; ++c) model.masses[static_cast<size_t>(tet[c])] += 1000 * volume / 4;
  }
  model.stiffness_damping.assign(model.mesh.tets.size(), damping);
  std::vector<Vec3d> points;
  for (const double x : {0.01, 0.05, 0.09})
    for (const double y : {0.01, 0.04})
      for (const double z : {0.01, 0.05, 0.09}) points.emplace_back(x, y, z);
  for (const TetLocation& at : locate_points(model.mesh, points)) {
    TetTie tie;
    for (size_t c = 0; c < 4; ++c) {
      tie.nodes[c] = model.mesh.tets[static_cast<size_t>(at.tet)][static_cast<int>(c)];
      tie.weights[c] = at.weights[static_cast<int>(c)];
    }
    model.held.push_back(tie);
  }
  return model;
}

using Driven = DrivenBody<TetSystem>;  ///< of tetrahedra

}  // namespace supple
