#include "supple/mesh/lattice_mesh.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// Squared distance of a point from a cell, both in cells.
double distance_squared(const Vec3d& point, const Vec3i& cell) {
  const Vec3d low = cell.cast<double>();
  return (point - point.cwiseMax(low).cwiseMin(low + Vec3d::Ones())).squaredNorm();
}

// The cell nearest to a point given in cells: its own, one of those around it, or any.
LatticePlace nearest_place(const SparseLattice& lattice, const LatticeMesh& mesh,
                           const Vec3d& point) {
  constexpr double far = 1e9;
  const Vec3i own = point.array().floor().max(-far).min(far).cast<int32_t>();
  if (lattice.has_cell(own)) return lattice.place(own);
  LatticePlace best;
  double least = std::numeric_limits<double>::max();
  const auto consider = [&](const Vec3i& cell, LatticePlace place) {
    const double distance = distance_squared(point, cell);
    if (distance < least) {
      least = distance;
      best = place;
    }
  };
  for (int n = 0; n < 27; ++n) {
    const Vec3i cell = own + Vec3i(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
    if (lattice.has_cell(cell)) consider(cell, lattice.place(cell));
  }
  // Cells beyond the neighbours are at least one cell away.
  if (least <= 1) return best;
  for (const LatticePlace& cell : mesh.cells)
    consider(lattice.coordinates(cell.block, cell.local), cell);
  return best;
}

// Trilinear weights at the closest point of the unit cell, continued linearly to `at`.
std::array<double, 8> continued_weights(const Vec3d& at) {
  const Vec3d closest = at.cwiseMax(Vec3d::Zero()).cwiseMin(Vec3d::Ones()), beyond = at - closest;
  std::array<double, 8> weights;
  for (int i = 0; i < 8; ++i) {
    Vec3d part, slope;
    for (int c = 0; c < 3; ++c) {
      const bool upper = (i >> c & 1) != 0;
      part[c] = upper ? closest[c] : 1 - closest[c];
      slope[c] = upper ? 1 : -1;
    }
    weights[static_cast<size_t>(i)] =
        part[0] * part[1] * part[2] + beyond[0] * slope[0] * part[1] * part[2] +
        beyond[1] * part[0] * slope[1] * part[2] + beyond[2] * part[0] * part[1] * slope[2];
  }
  return weights;
}

}  // namespace

LatticeMesh::LatticeMesh(const SparseLattice& lattice) {
  std::vector<int32_t> numbers(lattice.block_count() * block_cells, -1);
  for (size_t b = 0; b < lattice.block_count(); ++b)
    for_bits(lattice.nodes[b], [&](int32_t local) {
      numbers[b * block_cells + static_cast<size_t>(local)] = static_cast<int32_t>(nodes.size());
      nodes.push_back({static_cast<int32_t>(b), local});
    });
  for (size_t b = 0; b < lattice.block_count(); ++b)
    for_bits(lattice.cells[b], [&](int32_t local) {
      cells.push_back({static_cast<int32_t>(b), local});
      std::array<int32_t, 8>& to = corners.emplace_back();
      const auto places = lattice.corners(static_cast<int32_t>(b), local);
      for (size_t i = 0; i < 8; ++i)
        to[i] = numbers[static_cast<size_t>(places[i].block) * block_cells +
                        static_cast<size_t>(places[i].local)];
    });
}

int32_t LatticeMesh::cell_number(LatticePlace cell) const {
  const auto at = std::lower_bound(cells.begin(), cells.end(), cell,
                                   [](const LatticePlace& a, const LatticePlace& b) {
                                     return std::tie(a.block, a.local) < std::tie(b.block, b.local);
                                   });
  const bool found = at != cells.end() && at->block == cell.block && at->local == cell.local;
  return found ? static_cast<int32_t>(at - cells.begin()) : -1;
}

LatticeMesh::Neighbours LatticeMesh::neighbours() const {
  // At most one neighbour on either side of every axis.
  std::vector<std::array<int32_t, 6>> sides(nodes.size(), {-1, -1, -1, -1, -1, -1});
  for (const auto& cell : corners)
    for (size_t i = 0; i < 8; ++i)
      for (size_t axis = 0; axis < 3; ++axis) {
        const size_t upper = i >> axis & 1;
        sides[static_cast<size_t>(cell[i])][2 * axis + (1 - upper)] = cell[i ^ (size_t{1} << axis)];
      }
  Neighbours result;
  result.offsets.push_back(0);
  for (const auto& own : sides) {
    for (const int32_t node : own)
      if (node >= 0) result.nodes.push_back(node);
    result.offsets.push_back(static_cast<int32_t>(result.nodes.size()));
  }
  return result;
}

std::vector<int32_t> LatticeMesh::pieces() const {
  std::vector<int32_t> parent(nodes.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int32_t n) {
    while (parent[static_cast<size_t>(n)] != n) {
      int32_t& above = parent[static_cast<size_t>(n)];
      above = parent[static_cast<size_t>(above)];
      n = above;
    }
    return n;
  };
  for (const auto& cell : corners)
    for (const int32_t node : cell) {
      const int32_t a = root(cell[0]), b = root(node);
      parent[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }
  std::vector<int32_t> result(nodes.size());
  int32_t count = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const int32_t r = root(static_cast<int32_t>(n));
    result[n] = static_cast<size_t>(r) == n ? count++ : result[static_cast<size_t>(r)];
  }
  return result;
}

int32_t nearest_cell(const SolidLattice& solid, const LatticeMesh& mesh, const Vec3d& point) {
  const Vec3d at = (point - solid.origin) / solid.spacing;
  return mesh.cell_number(nearest_place(solid.lattice, mesh, at));
}

LatticeTie tie_to_cell(const SolidLattice& solid, const LatticeMesh& mesh, int32_t cell,
                       const Vec3d& point) {
  const LatticePlace& place = mesh.cells[static_cast<size_t>(cell)];
  const Vec3i corner = solid.lattice.coordinates(place.block, place.local);
  const Vec3d at = (point - solid.origin) / solid.spacing;
  return {mesh.corners[static_cast<size_t>(cell)], continued_weights(at - corner.cast<double>())};
}

Mat3d cell_gradient(std::span<const Vec3d> nodes, const std::array<int32_t, 8>& corners,
                    double spacing) {
  Mat3d f = Mat3d::Zero();
  for (size_t i = 0; i < 8; ++i)
    for (size_t axis = 0; axis < 3; ++axis) {
      const Vec3d& x = nodes[static_cast<size_t>(corners[i])];
      f.col(static_cast<int>(axis)) += (i >> axis & 1) != 0 ? x : Vec3d(-x);
    }
  return f / (4 * spacing);
}

LatticeEmbedding::LatticeEmbedding(const SolidLattice& solid, const LatticeMesh& mesh,
                                   std::span<const Vec3f> points) {
  m_ties.resize(points.size());
  parallel_for(points.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Vec3d point = points[i].cast<double>();
      m_ties[i] = tie_to_cell(solid, mesh, nearest_cell(solid, mesh, point), point);
    }
  });
}

void LatticeEmbedding::interpolate(std::span<const Vec3d> nodes, std::span<Vec3f> out) const {
  parallel_for(m_ties.size(), 2048, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      out[i] = m_ties[i].position(nodes).cast<float>();
    }
  });
}

void LatticeEmbedding::interpolate(std::span<const float> nodes, std::span<float> out) const {
  parallel_for(m_ties.size(), 2048, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const LatticeTie& tie = m_ties[i];
      double sum = 0;
      for (size_t c = 0; c < 8; ++c)
        sum += tie.weights[c] * static_cast<double>(nodes[static_cast<size_t>(tie.nodes[c])]);
      out[i] = static_cast<float>(sum);
    }
  });
}

size_t LatticeEmbedding::bytes() const { return m_ties.size() * sizeof(LatticeTie); }

}  // namespace supple
