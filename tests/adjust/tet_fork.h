// A fork of two arms that can be pressed together, for tests of contact of a body with itself.
#pragma once

#include <memory>

#include <Eigen/LU>
#include "supple/adjust/tet_contact.h"

#include "supple/contact/contact_points.h"
#include "support/tet_boxes.h"

namespace supple::test {

/// Two upright arms on a foot that is held: 0.25 x 0.4 x 0.1 m, arms of 0.1 x 0.3 x 0.1 m, 0.05 m
/// apart.
struct Fork {
  static constexpr double edge = 0.05;

  explicit Fork(double epsilon, bool tracks = false) {
    TetSystemModel model;
    make_mesh(model.mesh);
    model.matter.law = Law::neo_hookean;
    model.masses.assign(model.mesh.positions.size(), 0);
    for (const Vec4i& tet : model.mesh.tets) {
      const double volume = six_volumes(model.mesh, tet) / 6;
      model.matter.volumes.push_back(volume);
      model.matter.materials.push_back(lame_moduli(young, 0.3));
      for (int c = 0; c < 4; ++c) model.masses[static_cast<size_t>(tet[c])] += 1000 * volume / 4;
    }
    model.stiffness_damping.assign(model.mesh.tets.size(), 0.01);
    for (size_t n = 0; n < model.masses.size(); ++n)
      if (model.mesh.positions[n].y() < 1e-9) {
        const auto node = static_cast<int32_t>(n);
        model.held.push_back({{node, node, node, node}, {1, 0, 0, 0}});
      }
    make_contact(model);
    AdjustedOptions options;
    options.always_track = tracks;
    body = std::make_unique<AdjustedTets>(model, std::vector<double>(model.masses.size(), epsilon),
                                          options, "test");
    drive.places = [this](double part, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled) {
      held.clear();
      pulled.clear();
      for (const TetTie& tie : body->system().model().held)
        held.push_back(tie.of(mesh.positions) + Vec3d(before + part * (aside - before), 0, 0));
    };
    drive.forces = body->system().zero();
    touch_by(*contact, body->system());
    drive.contact =
        contact_drive(*contact, [](double) { return std::span<const Collider* const>(); });
    body->start(drive);
  }
  Fork(const Fork&) = delete;

  /// Presses the upper halves together, by so many newtons each.
  void press(double newtons) {
    drive.forces.setZero();
    std::vector<size_t> left, right;
    for (size_t n = 0; n < mesh.positions.size(); ++n)
      if (mesh.positions[n].y() > 0.29) (mesh.positions[n].x() < 0.125 ? left : right).push_back(n);
    for (const size_t n : left)
      drive.forces.node(n).x() = newtons / static_cast<double>(left.size());
    for (const size_t n : right)
      drive.forces.node(n).x() = -newtons / static_cast<double>(right.size());
  }

  /// Moves the foot aside (m) in the next step.
  void shake(double to) { aside = to; }

  AdjustedReport step(double h) {
    const AdjustedReport report = body->step(drive, h);
    before = aside;
    return report;
  }

  struct Distance {
    double deepest = 0;     ///< of a node of one arm in the other, m
    double nearest = 0;     ///< between the arms, m; 0 when they touch
    double pushed_gap = 0;  ///< before a node that is pushed, m
  };

  /// How far the arms are from each other, by their own nodes and elements.
  Distance distance() const {
    Distance result;
    result.nearest = 1;
    const TetVector& x = body->now.position;
    std::vector<Vec3d> at;
    for (const int32_t n : node_of_vertex) at.emplace_back(x.node(static_cast<size_t>(n)));
    const auto side = [&](int32_t v) {
      const Vec3d& rest =
          mesh.positions[static_cast<size_t>(node_of_vertex[static_cast<size_t>(v)])];
      return rest.y() < 0.12 ? 0 : rest.x() < 0.125 ? -1 : 1;
    };
    for (int32_t v = 0; v < static_cast<int32_t>(at.size()); ++v) {
      if (side(v) == 0) continue;
      const Vec3d& p = at[static_cast<size_t>(v)];
      double closest = 1;
      for (const Vec3i& t : surface.triangles) {
        if (side(t[0]) != -side(v) || side(t[1]) != -side(v) || side(t[2]) != -side(v)) continue;
        const TriangleCorners corners{at[static_cast<size_t>(t[0])], at[static_cast<size_t>(t[1])],
                                      at[static_cast<size_t>(t[2])]};
        closest = std::min(closest, (at_weights(corners, closest_weights(corners, p)) - p).norm());
      }
      const bool inside = is_in_other(p, side(v), x);
      if (inside) result.deepest = std::max(result.deepest, closest);
      result.nearest = std::min(result.nearest, inside ? 0 : closest);
      if (!inside && is_pushed(v)) result.pushed_gap = std::max(result.pushed_gap, closest);
    }
    return result;
  }

  TetMesh mesh;
  TriangleMesh surface;
  std::vector<int32_t> node_of_vertex;
  std::unique_ptr<SkinSurface> skin;
  std::vector<TetTie> ties;
  std::vector<TetLocation> places;
  std::unique_ptr<ImplicitContact> contact;
  std::unique_ptr<AdjustedTets> body;
  AdjustedDrive drive;
  double before = 0, aside = 0;

 private:
  static constexpr double young = 3e4;

  void make_mesh(TetMesh& out) {
    const TetMesh box = box_of_tets(5, 8, 2, edge, 0);
    std::vector<int32_t> number(box.positions.size(), -1);
    for (const Vec4i& tet : box.tets) {
      Vec3d middle = Vec3d::Zero();
      for (int c = 0; c < 4; ++c) middle += box.positions[static_cast<size_t>(tet[c])] / 4;
      if (middle.y() > 2 * edge && middle.x() > 2 * edge && middle.x() < 3 * edge) continue;
      Vec4i own;
      for (int c = 0; c < 4; ++c) {
        int32_t& n = number[static_cast<size_t>(tet[c])];
        if (n < 0) {
          n = static_cast<int32_t>(out.positions.size());
          out.positions.push_back(box.positions[static_cast<size_t>(tet[c])]);
        }
        own[c] = n;
      }
      out.tets.push_back(own);
    }
    mesh = out;
  }

  void make_contact(const TetSystemModel& model) {
    surface = boundary_surface(mesh, &node_of_vertex);
    skin = std::make_unique<SkinSurface>(surface.positions, surface.triangles, edge / 2);
    for (const int32_t node : node_of_vertex) {
      ties.push_back({{node, node, node, node}, {1, 0, 0, 0}});
      for (size_t e = 0; e < mesh.tets.size(); ++e)
        if ((mesh.tets[e].array() == node).any()) {
          places.push_back({static_cast<int32_t>(e), Eigen::Vector4d::Zero()});
          break;
        }
    }
    std::vector<ContactPoint> points = choose_contact_points(*skin);
    ImplicitContactModel touch;
    touch.masses = model.masses;
    touch.cap = edge / 2;
    touch.self_friction = 0.2;
    for (const ContactPoint& point : points)
      touch.self_stiffness.push_back(160 * young / edge * point.area);
    contact = std::make_unique<ImplicitContact>(
        touch, std::make_unique<TetSelfCollision>(TetSelfModel{mesh, *skin, ties, places, edge},
                                                  std::move(points)));
  }

  bool is_in_other(const Vec3d& p, int side, const TetVector& x) const {
    for (const Vec4i& tet : mesh.tets) {
      const Vec3d& rest = mesh.positions[static_cast<size_t>(tet[0])];
      if (rest.y() < 0.08 || (rest.x() < 0.125 ? -1 : 1) == side) continue;
      Mat3d edges;
      const Vec3d origin = x.node(static_cast<size_t>(tet[0]));
      for (int c = 0; c < 3; ++c) edges.col(c) = x.node(static_cast<size_t>(tet[c + 1])) - origin;
      const Vec3d w = edges.inverse() * (p - origin);
      if (w.minCoeff() > 0 && w.sum() < 1) return true;
    }
    return false;
  }

  bool is_pushed(int32_t vertex) const {
    for (size_t i = 0; i < contact->self()->points().size(); ++i)
      if (contact->self()->points()[i].vertex == vertex) return contact->self_depths()[i] > 0;
    return false;
  }
};

}  // namespace supple::test
