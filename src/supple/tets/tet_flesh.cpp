#include "supple/tets/tet_flesh.h"

#include <Eigen/Cholesky>

#include <cmath>
#include <numeric>

#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t node_block = 1024;

std::variant<TetElements<float>, TetElements<double>> make_elements(const TetFleshModel& model,
                                                                    TetPrecision precision,
                                                                    const std::string& file) {
  if (precision == TetPrecision::single) return TetElements<float>(model.mesh, model.matter, file);
  return TetElements<double>(model.mesh, model.matter, file);
}

}  // namespace

double TetFleshModel::mass() const { return std::accumulate(masses.begin(), masses.end(), 0.0); }

std::vector<double> lumped_masses(const TetMesh& mesh, std::span<const Eigen::Vector4d> shares,
                                  std::span<const double> densities, double least) {
  std::vector<double> masses(mesh.positions.size(), 0), even(masses.size(), 0);
  for (size_t e = 0; e < mesh.tets.size(); ++e)
    for (int c = 0; c < 4; ++c) {
      const auto n = static_cast<size_t>(mesh.tets[e][c]);
      masses[n] += densities[e] * shares[e][c];
      even[n] += densities[e] * shares[e].sum() / 4;
    }
  // What light nodes lack is taken from what others have above their own least, in proportion.
  double lacking = 0, spare = 0;
  for (size_t n = 0; n < masses.size(); ++n) {
    const double above = masses[n] - least * even[n];
    (above < 0 ? lacking : spare) += std::abs(above);
  }
  const double kept = spare > 0 ? 1 - lacking / spare : 1;
  for (size_t n = 0; n < masses.size(); ++n) {
    const double floor = least * even[n], above = masses[n] - floor;
    masses[n] = floor + (above > 0 ? kept * above : 0);
  }
  return masses;
}

TetFlesh::TetFlesh(TetFleshModel model, TetPrecision precision, const std::string& file)
    : positions(model.mesh.positions),
      velocities(positions.size(), Vec3d::Zero()),
      forces(positions.size(), Vec3d::Zero()),
      m_model(std::move(model)),
      m_elements(make_elements(m_model, precision, file)),
      m_inverse(positions.size(), 0),
      m_mode(positions.size()),
      m_near(positions.size()),
      m_near_forces(positions.size()) {
  for (size_t n = 0; n < positions.size(); ++n) {
    if (m_model.bone_of_node[n] >= 0) {
      m_fixed.push_back(static_cast<int32_t>(n));
      m_mode[n] = Vec3d::Zero();
      continue;
    }
    if (!(m_model.masses[n] > 0) || !std::isfinite(m_model.masses[n]))
      throw_input_error(file, fmt::format("node {}", n), "it has no mass: no element reaches it");
    m_inverse[n] = 1 / m_model.masses[n];
    if (m_model.reference[n] < 0) m_boneless.push_back(static_cast<int32_t>(n));
    // Any start will do that is not orthogonal to the mode.
    const double k = static_cast<double>(n) + 1;
    m_mode[n] = Vec3d(std::sin(12.9898 * k), std::sin(78.233 * k), std::sin(37.719 * k));
  }
  const double elements = static_cast<double>(std::max<size_t>(m_model.mesh.tets.size(), 1));
  m_size = std::cbrt(6 * volume(m_model.mesh) / elements);
}

void TetFlesh::place_fixed(std::span<const BoneMotion> bones) {
  for (const int32_t i : m_fixed) {
    const auto n = static_cast<size_t>(i);
    const BoneMotion& bone = bones[static_cast<size_t>(m_model.bone_of_node[n])];
    positions[n] = bone.point(m_model.place_on_bone[n]);
    velocities[n] = bone.velocity_at(positions[n]);
  }
}

void TetFlesh::elastic_forces_at(std::span<const Vec3d> x, std::span<Vec3d> out) {
  std::fill(out.begin(), out.end(), Vec3d::Zero());
  std::visit([&](auto& elements) { elements.add_forces(x, out); }, m_elements);
}

void TetFlesh::find_elastic_forces() { elastic_forces_at(positions, forces); }

void TetFlesh::add_damping(std::span<const BoneMotion> bones, std::span<const double> greatest,
                           std::span<Wrench> wrenches) {
  if (m_model.damping <= 0) return;
  damp_free_flesh();
  for (size_t n = 0; n < positions.size(); ++n) {
    const int32_t reference = m_model.reference[n];
    if (reference < 0 || m_model.bone_of_node[n] >= 0) continue;
    const BoneMotion& bone = bones[static_cast<size_t>(reference)];
    const double damping =
        greatest.empty() ? m_model.damping
                         : std::min(m_model.damping, greatest[static_cast<size_t>(reference)]);
    const Vec3d force =
        -damping * m_model.masses[n] * (velocities[n] - bone.velocity_at(positions[n]));
    forces[n] += force;
    Wrench& wrench = wrenches[static_cast<size_t>(reference)];
    wrench.torque -= (positions[n] - bone.position).cross(force);
    wrench.force -= force;
  }
}

// Against v + ω × r about the centre of mass, with their momenta: p = m v, L = I ω.
void TetFlesh::damp_free_flesh() {
  if (m_boneless.empty()) return;
  double mass = 0;
  Vec3d centre = Vec3d::Zero(), push = Vec3d::Zero(), spin = Vec3d::Zero();
  for (const int32_t i : m_boneless) {
    const auto n = static_cast<size_t>(i);
    mass += m_model.masses[n];
    centre += m_model.masses[n] * positions[n];
    push += m_model.masses[n] * velocities[n];
  }
  centre /= mass;
  Mat3d inertia = Mat3d::Zero();
  for (const int32_t i : m_boneless) {
    const auto n = static_cast<size_t>(i);
    const Vec3d arm = positions[n] - centre;
    spin += m_model.masses[n] * arm.cross(velocities[n]);
    inertia += m_model.masses[n] * (arm.squaredNorm() * Mat3d::Identity() - arm * arm.transpose());
  }
  const Vec3d turn = inertia.ldlt().solve(spin);
  if (!turn.allFinite()) return;
  for (const int32_t i : m_boneless) {
    const auto n = static_cast<size_t>(i);
    forces[n] -= m_model.damping * m_model.masses[n] *
                 (velocities[n] - push / mass - turn.cross(positions[n] - centre));
  }
}

void TetFlesh::pull_bones(std::span<const BoneMotion> bones, std::span<Wrench> wrenches) const {
  for (const int32_t i : m_fixed) {
    const auto n = static_cast<size_t>(i);
    const auto bone = static_cast<size_t>(m_model.bone_of_node[n]);
    wrenches[bone].torque += (positions[n] - bones[bone].position).cross(forces[n]);
    wrenches[bone].force += forces[n];
  }
}

void TetFlesh::integrate(double h, const Vec3d& gravity) {
  parallel_for(positions.size(), node_block, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      if (m_inverse[n] == 0) continue;
      velocities[n] += h * (m_inverse[n] * forces[n] + gravity);
      positions[n] += h * velocities[n];
    }
  });
}

void TetFlesh::take_off_weight(std::span<const BoneMotion> bones, const Vec3d& gravity) {
  for (size_t n = 0; n < positions.size(); ++n)
    if (m_model.reference[n] >= 0 && m_inverse[n] > 0)
      forces[n] -=
          m_model.masses[n] * (bones[static_cast<size_t>(m_model.reference[n])].rotation * gravity);
}

// The power method for M⁻¹K: K u is minus the change of force over a small step along u.
double TetFlesh::highest_frequency(int iterations, Companion* companion) {
  find_elastic_forces();
  double frequency = 0;
  for (int i = 0; i < iterations; ++i) {
    double most = companion ? companion->largest() : 0;
    for (const Vec3d& u : m_mode) most = std::max(most, u.norm());
    if (!(most > 0) || !std::isfinite(most)) return 0;
    const double step = 1e-3 * m_size / most;
    for (size_t n = 0; n < positions.size(); ++n) m_near[n] = positions[n] + step * m_mode[n];
    if (companion) companion->displace(step, m_near);
    elastic_forces_at(m_near, m_near_forces);
    for (size_t n = 0; n < positions.size(); ++n) m_near_forces[n] -= forces[n];
    double before = 0, after = 0;
    if (companion) {
      const Eigen::Vector2d squares = companion->respond(step, m_near_forces);
      before = squares[0];
      after = squares[1];
    }
    for (size_t n = 0; n < positions.size(); ++n) {
      const Vec3d next = -m_inverse[n] / step * m_near_forces[n];
      before += m_model.masses[n] * m_mode[n].squaredNorm();
      after += m_model.masses[n] * next.squaredNorm();
      m_mode[n] = next;
    }
    frequency = std::sqrt(after / before);
    const double scale = std::sqrt(after);
    if (!(scale > 0) || !std::isfinite(scale)) return 0;
    for (Vec3d& u : m_mode) u /= scale;
    if (companion) companion->scale(1 / scale);
  }
  return frequency;
}

double TetFlesh::elastic_energy() const {
  return std::visit([&](const auto& elements) { return elements.energy(positions); }, m_elements);
}

size_t TetFlesh::element_count() const {
  return std::visit([](const auto& elements) { return elements.size(); }, m_elements);
}

size_t TetFlesh::bytes() const {
  const size_t nodes = positions.size() * (6 * sizeof(Vec3d) + 2 * sizeof(double) + 8);
  return nodes + std::visit([](const auto& elements) { return elements.bytes(); }, m_elements);
}

void TetFlesh::set_diagonalise(Diagonalise which) {
  std::visit([&](auto& elements) { elements.set_diagonalise(which); }, m_elements);
}

}  // namespace supple
