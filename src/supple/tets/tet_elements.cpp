#include "supple/tets/tet_elements.h"

#include <Eigen/LU>

#include <cmath>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/material/law_functions.h"

namespace supple {
namespace {

// Work of one thread at a time: 1,024 elements, 512 nodes.
constexpr size_t group_block = 64, node_block = 512;

Mat3d edges_of(const Vec3d& x0, const Vec3d& x1, const Vec3d& x2, const Vec3d& x3) {
  Mat3d edges;
  edges << x1 - x0, x2 - x0, x3 - x0;
  return edges;
}

void check(const TetMesh& mesh, const TetMatter& matter, const std::string& file) {
  const auto nodes = static_cast<int32_t>(mesh.positions.size());
  if (matter.volumes.size() != mesh.tets.size() || matter.materials.size() != mesh.tets.size())
    throw_input_error(
        file, "",
        fmt::format("{} elements, but volumes of {} and materials of {}", mesh.tets.size(),
                    matter.volumes.size(), matter.materials.size()));
  for (size_t e = 0; e < mesh.tets.size(); ++e) {
    const std::string name = fmt::format("element {}", e);
    if (mesh.tets[e].minCoeff() < 0 || mesh.tets[e].maxCoeff() >= nodes)
      throw_input_error(file, name, "a corner is not among the nodes");
    const CellMaterial& m = matter.materials[e];
    if (!std::isfinite(matter.volumes[e]) || !std::isfinite(m.mu) || !std::isfinite(m.lambda))
      throw_input_error(file, name, "its volume or its material is not finite");
    const double volume = six_volumes(mesh, mesh.tets[e]);
    if (!(volume > 0) || !std::isfinite(volume))
      throw_input_error(file, name, "it has no volume, or is inside out at rest");
  }
}

}  // namespace

template <class Scalar>
TetElements<Scalar>::TetElements(const TetMesh& mesh, const TetMatter& matter,
                                 const std::string& file, Diagonalise diagonalise)
    : m_law(matter.law),
      m_limits(matter.limits),
      m_diagonalise(diagonalise),
      m_nodes(mesh.positions.size()) {
  check(mesh, matter, file);
  std::vector<size_t> used;
  for (size_t e = 0; e < mesh.tets.size(); ++e)
    if (matter.volumes[e] > 0) used.push_back(e);
  m_count = used.size();
  m_groups = (m_count + tet_group - 1) / tet_group;
  const size_t padded = m_groups * tet_group;
  m_corners.resize(4 * padded);
  m_inverse.resize(9 * padded);
  m_volume.assign(padded, 0);
  m_mu.resize(padded);
  m_lambda.resize(padded);
  m_forces.resize(12 * padded);
  m_x.resize(3 * m_nodes);

  std::vector<uint32_t> degree(m_nodes + 1, 0);
  for (size_t i = 0; i < padded; ++i) {
    const size_t e = used[std::min(i, m_count - 1)], group = i / tet_group, lane = i % tet_group;
    const Vec4i& tet = mesh.tets[e];
    const auto at = [&](int c) -> const Vec3d& {
      return mesh.positions[static_cast<size_t>(tet[c])];
    };
    const Mat3d inverse = edges_of(at(0), at(1), at(2), at(3)).inverse();
    for (size_t c = 0; c < 4; ++c)
      m_corners[(4 * group + c) * tet_group + lane] = 3 * tet[static_cast<int>(c)];
    for (size_t k = 0; k < 9; ++k)
      m_inverse[(9 * group + k) * tet_group + lane] = static_cast<Scalar>(
          inverse(static_cast<Eigen::Index>(k / 3), static_cast<Eigen::Index>(k % 3)));
    m_mu[i] = static_cast<Scalar>(matter.materials[e].mu);
    m_lambda[i] = static_cast<Scalar>(matter.materials[e].lambda);
    if (i >= m_count) continue;
    m_volume[i] = static_cast<Scalar>(matter.volumes[e]);
    for (int c = 0; c < 4; ++c) ++degree[static_cast<size_t>(tet[c]) + 1];
  }
  for (size_t n = 0; n < m_nodes; ++n) degree[n + 1] += degree[n];
  m_offsets = degree;
  m_entries.resize(4 * m_count);
  for (size_t i = 0; i < m_count; ++i)
    for (size_t c = 0; c < 4; ++c) {
      const size_t group = i / tet_group, lane = i % tet_group;
      const auto node = static_cast<size_t>(m_corners[(4 * group + c) * tet_group + lane] / 3);
      m_entries[degree[node]++] =
          static_cast<uint32_t>(group * force_group + 3 * c * tet_group + lane);
    }
}

template <class Scalar>
TetTables<Scalar> TetElements<Scalar>::tables() const {
  return {m_law,
          m_diagonalise,
          m_corners.data(),
          m_inverse.data(),
          m_volume.data(),
          m_mu.data(),
          m_lambda.data(),
          static_cast<Scalar>(m_limits.lower),
          static_cast<Scalar>(m_limits.upper),
          static_cast<Scalar>(m_limits.volume)};
}

template <class Scalar>
void TetElements<Scalar>::add_forces(std::span<const Vec3d> x, std::span<Vec3d> forces) {
  if (m_groups == 0) return;
  // Positions in single precision are taken from a node of the body: that keeps their digits.
  const Scalar* positions = nullptr;
  if constexpr (std::is_same_v<Scalar, double>) {
    positions = x.data()->data();
  } else {
    const Vec3d origin = x[0];
    parallel_for(m_nodes, 4 * node_block, [&](size_t begin, size_t end) {
      for (size_t n = begin; n < end; ++n)
        for (size_t c = 0; c < 3; ++c) {
          const auto axis = static_cast<Eigen::Index>(c);
          m_x[3 * n + c] = static_cast<Scalar>(x[n][axis] - origin[axis]);
        }
    });
    positions = m_x.data();
  }
  const TetTables<Scalar> t = tables();
  parallel_for(m_groups, group_block, [&](size_t begin, size_t end) {
    tet_forces(t, positions, m_forces.data(), begin, end);
  });
  const TetSums sums{m_offsets.data(), m_entries.data()};
  parallel_for(m_nodes, node_block, [&](size_t begin, size_t end) {
    add_tet_forces(sums, m_forces.data(), forces.data()->data(), begin, end);
  });
}

template <class Scalar>
double TetElements<Scalar>::energy(std::span<const Vec3d> x) const {
  const auto of_elements = [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) {
      const size_t group = i / tet_group, lane = i % tet_group;
      const auto at = [&](size_t c) -> const Vec3d& {
        return x[static_cast<size_t>(m_corners[(4 * group + c) * tet_group + lane] / 3)];
      };
      Mat3d inverse;
      for (size_t k = 0; k < 9; ++k)
        inverse(static_cast<Eigen::Index>(k / 3), static_cast<Eigen::Index>(k % 3)) =
            static_cast<double>(m_inverse[(9 * group + k) * tet_group + lane]);
      const Mat3d f = edges_of(at(0), at(1), at(2), at(3)) * inverse;
      const Elastic<double> material =
          elastic({static_cast<double>(m_mu[i]), static_cast<double>(m_lambda[i])}, m_limits);
      sum += static_cast<double>(m_volume[i]) * energy_density(m_law, f, material);
    }
    return sum;
  };
  return parallel_reduce(m_count, group_block * tet_group, 0.0, of_elements, std::plus<>());
}

template <class Scalar>
size_t TetElements<Scalar>::bytes() const {
  return sizeof(Scalar) * (m_inverse.size() + m_volume.size() + m_mu.size() + m_lambda.size() +
                           m_forces.size() + m_x.size()) +
         4 * (m_corners.size() + m_offsets.size() + m_entries.size());
}

template class TetElements<float>;
template class TetElements<double>;

}  // namespace supple
