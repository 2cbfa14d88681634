#include "supple/tets/tet_stiffness.h"

#include <algorithm>
#include <set>

#include "supple/core/parallel.h"
#include "supple/material/law_functions.h"
#include "supple/mesh/node_gradients.h"

namespace supple {
namespace {

// Work of one thread at a time.
constexpr size_t element_block = 128, row_block = 256;

}  // namespace

double BlockMatrix::multiply(const TetVector& x, TetVector& y) const {
  return parallel_reduce(
      rows(), row_block, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t r = begin; r < end; ++r) {
          Vec3d row = Vec3d::Zero();
          for (uint32_t k = offsets[r]; k < offsets[r + 1]; ++k)
            row.noalias() += values[k] * x.node(static_cast<size_t>(columns[k]));
          y.node(r) = row;
          sum += row.dot(x.node(r));
        }
        return sum;
      },
      std::plus<>());
}

size_t BlockMatrix::find(size_t row, int32_t column) const {
  const auto begin = columns.begin() + offsets[row], end = columns.begin() + offsets[row + 1];
  return static_cast<size_t>(std::lower_bound(begin, end, column) - columns.begin());
}

TetStiffness::TetStiffness(const TetMesh& mesh, const TetMatter& matter) : m_law(matter.law) {
  std::vector<std::set<int32_t>> neighbours(mesh.positions.size());
  for (size_t n = 0; n < neighbours.size(); ++n) neighbours[n].insert(static_cast<int32_t>(n));
  for (size_t e = 0; e < mesh.tets.size(); ++e) {
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        neighbours[static_cast<size_t>(mesh.tets[e][a])].insert(mesh.tets[e][b]);
    if (!(matter.volumes[e] > 0)) continue;
    m_elements.push_back({mesh.tets[e], corner_gradients(mesh, mesh.tets[e]), matter.volumes[e],
                          elastic(matter.materials[e], matter.limits), static_cast<uint32_t>(e)});
  }
  m_matrices.resize(m_elements.size());
  m_pattern.offsets.push_back(0);
  for (const std::set<int32_t>& row : neighbours) {
    m_pattern.columns.insert(m_pattern.columns.end(), row.begin(), row.end());
    m_pattern.offsets.push_back(static_cast<uint32_t>(m_pattern.columns.size()));
  }
  m_pattern.values.assign(m_pattern.columns.size(), Mat3d::Zero());
  std::vector<std::vector<Entry>> entries(m_pattern.columns.size());
  for (size_t e = 0; e < m_elements.size(); ++e)
    for (uint8_t a = 0; a < 4; ++a)
      for (uint8_t b = 0; b < 4; ++b)
        entries[m_pattern.find(static_cast<size_t>(m_elements[e].nodes[a]), m_elements[e].nodes[b])]
            .push_back({static_cast<uint32_t>(e), a, b});
  m_entry_offsets.push_back(0);
  for (const std::vector<Entry>& of : entries) {
    m_entries.insert(m_entries.end(), of.begin(), of.end());
    m_entry_offsets.push_back(static_cast<uint32_t>(m_entries.size()));
  }
}

BlockMatrix TetStiffness::empty_matrix() const { return m_pattern; }

// K_ab = V g_a · (∂P/∂F) · g_b.
void TetStiffness::linearise(const TetVector& x, bool projected) {
  parallel_for(m_elements.size(), element_block, [&](size_t begin, size_t end) {
    for (size_t e = begin; e < end; ++e) {
      const Element& element = m_elements[e];
      Mat3d f = Mat3d::Zero();
      for (size_t c = 0; c < 4; ++c)
        f += x.node(static_cast<size_t>(element.nodes[static_cast<int>(c)])) *
             element.gradients[c].transpose();
      const StressDerivative d = stress_derivative(m_law, f, element.material, projected);
      // Rows of F are stored one after the other: dF = Σ dx_a g_aᵀ.
      Eigen::Matrix<double, 9, 12> by_nodes;
      for (int b = 0; b < 4; ++b)
        for (int k = 0; k < 3; ++k)
          by_nodes.col(3 * b + k).noalias() =
              d.middleCols<3>(3 * k) * element.gradients[static_cast<size_t>(b)];
      for (int a = 0; a < 4; ++a)
        for (int i = 0; i < 3; ++i)
          m_matrices[e].row(3 * a + i).noalias() =
              element.volume * element.gradients[static_cast<size_t>(a)].transpose() *
              by_nodes.middleRows<3>(3 * i);
    }
  });
}

void TetStiffness::add_up(double scale, std::span<const double> scales, BlockMatrix& to) const {
  parallel_for(to.values.size(), 8 * row_block, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      Mat3d sum = Mat3d::Zero();
      for (uint32_t i = m_entry_offsets[k]; i < m_entry_offsets[k + 1]; ++i) {
        const Entry& entry = m_entries[i];
        const double own =
            scales.empty() ? scale : scale * scales[m_elements[entry.element].number];
        sum += own * m_matrices[entry.element].block<3, 3>(3 * entry.row, 3 * entry.column);
      }
      to.values[k] = sum;
    }
  });
}

}  // namespace supple
