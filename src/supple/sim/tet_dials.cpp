#include "supple/sim/tet_dials.h"

namespace supple {
namespace {

// How many modes are looked at.
constexpr int mode_count = 6;

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
  Eigen::SparseMatrix<double> stiffness, mass;
  system.matrices_at_rest(stiffness, mass);
  turn(dial_body(settings.tets.integrator, settings.tets.mass_damping,
                 settings.tets.stiffness_damping, h, sags),
       lowest_modes(stiffness, mass, mode_count), model, places_of(model.flesh.mesh));
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
  return base;
}

}  // namespace supple
