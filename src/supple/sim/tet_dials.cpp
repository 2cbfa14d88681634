#include "supple/sim/tet_dials.h"

#include <algorithm>

#include "supple/core/error.h"

namespace supple {
namespace {

// How many modes are looked at.
constexpr int mode_count = 6;

// Bits of a cage that hang by a corner or an edge turn freely. Such modes, of frequency 0, move
// less than this part of the body's mass.
constexpr double loose_part = 0.02;
constexpr int most_modes = 96;  // that are looked at to get past them

// The part of the body's mass that a mode moves: (Σ m φ²)² / (M Σ m φ⁴).
double moved_part(const TetSystem& system, const TetVector& shape) {
  double mass = 0, squares = 0, fourths = 0;
  for (size_t n = 0; n < system.nodes(); ++n) {
    const double m = system.masses()[n], square = shape.node(n).squaredNorm();
    mass += m;
    squares += m * square;
    fourths += m * square * square;
  }
  return squares * squares / (mass * fourths);
}

// The lowest modes of the body as a whole.
Modes whole_modes(TetSystem& system, const std::string& file) {
  Eigen::SparseMatrix<double> stiffness, mass;
  system.matrices_at_rest(stiffness, mass);
  for (int count = mode_count;; count = 2 * count) {
    const Modes all = lowest_modes(stiffness, mass, count);
    if (all.omegas.empty())
      throw_input_error(file, "body.adjust", "the body's natural frequencies could not be found");
    size_t first = 0;
    while (first < all.omegas.size() && all.omegas[first] == 0 &&
           moved_part(system, system.expand(all.shapes.col(static_cast<Eigen::Index>(first)))) <
               loose_part)
      ++first;
    if (first + mode_count > all.omegas.size() && first > 0 && count < most_modes &&
        all.shapes.cols() == count)
      continue;
    const auto kept =
        std::min<Eigen::Index>(mode_count, all.shapes.cols() - static_cast<Eigen::Index>(first));
    Modes modes;
    modes.omegas.assign(all.omegas.begin() + static_cast<ptrdiff_t>(first),
                        all.omegas.begin() + static_cast<ptrdiff_t>(first) + kept);
    modes.shapes = all.shapes.middleCols(static_cast<Eigen::Index>(first), kept);
    return modes;
  }
}

DialPlaces places_of(const TetMesh& mesh) {
  DialPlaces places{mesh.positions, {}};
  for (const Vec4i& tet : mesh.tets) {
    Vec3d middle = Vec3d::Zero();
    for (int c = 0; c < 4; ++c) middle += mesh.positions[static_cast<size_t>(tet[c])] / 4;
    places.elements.push_back(middle);
  }
  return places;
}

}  // namespace

TetDials::TetDials(const BodySettings& settings, const TetModel& model, const TetSystemModel& base,
                   double h, bool sags, const std::string& file)
    : BodyDials(settings.adjust, base.masses.size(), file) {
  if (!wanted()) return;
  TetSystem system(base, file);
  turn(dial_body(settings.tets.integrator, settings.tets.mass_damping,
                 settings.tets.stiffness_damping, h, sags),
       whole_modes(system, file), model, places_of(model.flesh.mesh));
}

TetSystemModel TetDials::adjusted(TetSystemModel base) const {
  if (base.stiffness_damping.empty() && added_damping() > 0)
    base.stiffness_damping.assign(base.mesh.tets.size(), added_damping());
  for (size_t e = 0; e < m_stiffness.size(); ++e) {
    base.matter.materials[e].mu *= m_stiffness[e];
    base.matter.materials[e].lambda *= m_stiffness[e];
    // Damping is by the stiffness before it is scaled.
    if (!base.stiffness_damping.empty()) base.stiffness_damping[e] *= m_damping[e] / m_stiffness[e];
  }
  for (size_t i = 0; i < base.pulled.size() && !m_hold.empty(); ++i) {
    double hold = 0;
    for (size_t c = 0; c < 4; ++c)
      hold += base.pulled[i].weights[c] * m_hold[static_cast<size_t>(base.pulled[i].nodes[c])];
    base.pulls[i] *= hold;
  }
  return base;
}

}  // namespace supple
