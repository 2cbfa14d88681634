// Bodies on proxies that move, for tests of adjusted dynamics.
#pragma once

#include <cmath>

#include "supple/adjust/adjusted_body.h"

namespace supple {

/// Where a proxy's points are at a time (s), from where they are at rest.
using ProxyMotion = std::function<Vec3d(const Vec3d& rest, double time)>;

/// A body and its proxy on their way.
template <class S>
struct DrivenBody {
  DrivenBody(const typename S::Model& model, double epsilon, const AdjustedOptions& options,
             ProxyMotion motion, const Vec3d& gravity = Vec3d(0, -9.81, 0))
      : body(model, std::vector<double>(model.masses.size(), epsilon), options, "test"),
        moves(std::move(motion)) {
    drive.forces = body.system().zero();
    for (size_t n = 0; n < model.masses.size(); ++n)
      drive.forces.node(n) = model.masses[n] * gravity;
    drive.places = [this](double part, std::vector<Vec3d>& held, std::vector<Vec3d>& pulled) {
      held.clear();
      pulled.clear();
      for (const Vec3d& rest : body.system().held_at_rest())
        held.push_back(moves(rest, time + part * h));
    };
    body.start(drive);
  }
  DrivenBody(const DrivenBody&) = delete;

  AdjustedReport step(double seconds) {
    h = seconds;
    const AdjustedReport report = body.step(drive, seconds);
    time += seconds;
    return report;
  }

  /// How far nodes are from equilibrium, m.
  BodyVector swing() const { return body.now.position - body.equilibrium.position; }

  AdjustedBody<S> body;
  AdjustedDrive drive;
  ProxyMotion moves;
  double time = 0, h = 0;
};

/// Motions of proxies that are tried.
struct ProxyCase {
  const char* name;
  ProxyMotion motion;
};

inline std::vector<ProxyCase> proxy_motions() {
  const auto turned = [](const Vec3d& at, double angle) -> Vec3d {
    return Eigen::AngleAxisd(angle, Vec3d(0.2, 1, 0.1).normalized()) * at;
  };
  return {
      {"still", [](const Vec3d& r, double) { return r; }},
      {"translation",
       [](const Vec3d& r, double t) -> Vec3d {
         return r + Vec3d(0.3 * std::sin(9 * t), 0, t * t);
       }},
      {"jerk",
       [](const Vec3d& r, double t) -> Vec3d { return r + Vec3d(t > 0.1 ? t - 0.1 : 0, 0, 0); }},
      {"spin", [=](const Vec3d& r, double t) { return turned(r, 8 * t * t); }},
      {"both",
       [=](const Vec3d& r, double t) -> Vec3d {
         return turned(r, std::sin(4 * t)) + Vec3d(0, 0.2 * std::sin(11 * t), 0);
       }},
      {"deforming",
       [=](const Vec3d& r, double t) -> Vec3d {
         return turned(r, std::sin(4 * t)) + 0.01 * std::sin(12 * t) * Vec3d(r.y() / 0.05, 0, 1);
       }},
  };
}

/// How far q gets is what errors make: those that are usual, and those of tight tolerances.
inline AdjustedOptions tight() {
  AdjustedOptions options;
  options.tolerance = 1e-7;
  options.false_inertia = 2e-4;
  return options;
}

}  // namespace supple
