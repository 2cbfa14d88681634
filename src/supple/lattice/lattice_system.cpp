#include "supple/lattice/lattice_system.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <bit>

#include "supple/lattice/elasticity_kernels.h"
#include "supple/lattice/gauss_cells.h"

namespace supple {
namespace {

const float* traces_of(const Level& level) {
  return level.rest_traces.empty() ? nullptr : level.rest_traces.data();
}

const float* stretches_of(const Level& level) {
  return level.rest_stretches.empty() ? nullptr : level.rest_stretches.data();
}

// Calls visit(f, number) with the deformation gradient of every cell at x, multiplied with
// `stretches`, and the cell's number in arrays of 64 per slot; returns the largest answer.
template <class Visit>
float visit_gradients(const Level& level, const BlockVector<double>& x, const float* stretches,
                      const Visit& visit) {
  const SparseLattice& l = level.lattice();
  const SweepPlan plan = sweep_plan(l);
  const auto visit_tiles = [&](size_t begin, size_t end) {
    AlignedArray<float> gradients;
    float largest = 0;
    for (size_t r = l.row_offsets[begin]; r < l.row_offsets[end]; ++r) {
      const TileRow* row = &l.rows[r];
      gradients.resize((row[1].block - row[0].block) * gradient_block);
      gradient_row(plan, row, level.spacing(), x.data(), stretches, gradients.data());
      const float* from = gradients.data();
      for (size_t b = row[0].block; b < row[1].block; ++b) {
        if (l.cell_slots[b] < 0) continue;
        const size_t first = static_cast<size_t>(l.cell_slots[b]) * block_cells;
        for_bits(l.cells[b], [&](int32_t local) {
          const auto at = static_cast<size_t>(local);
          Eigen::Matrix3f f;
          for (int n = 0; n < 9; ++n)
            f(n / 3, n % 3) = from[static_cast<size_t>(n) * block_cells + at];
          largest = std::max(largest, visit(f, first + at));
        });
        from += gradient_block;
      }
    }
    return largest;
  };
  return parallel_reduce(l.tile_count(), 1, 0.0f, visit_tiles,
                         [](float a, float b) { return std::max(a, b); });
}

// Where number n of a cell's stretch is.
size_t stretch_index(size_t cell, size_t n) {
  return cell / block_cells * stretch_block + n * block_cells + cell % block_cells;
}

// The stretch V of f = V R, its principal values kept between 1 / most and most.
Eigen::Matrix3f left_stretch(const Eigen::Matrix3f& f, float most) {
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3f> solver(f * f.transpose());
  const Eigen::Vector3f stretches =
      solver.eigenvalues().cwiseMax(0).cwiseSqrt().cwiseMax(1 / most).cwiseMin(most);
  return solver.eigenvectors() * stretches.asDiagonal() * solver.eigenvectors().transpose();
}

// The singular values of f from the least to the largest, the least taken negative where f is
// inside out.
Eigen::Vector3f signed_stretches(const Eigen::Matrix3f& f) {
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3f> solver;
  solver.computeDirect(f.transpose() * f, Eigen::EigenvaluesOnly);
  Eigen::Vector3f stretches = solver.eigenvalues().cwiseMax(0).cwiseSqrt();
  if (f.determinant() < 0) stretches[0] = -stretches[0];
  return stretches;
}

}  // namespace

LatticeSystem::LatticeSystem(SparseLattice lattice, double spacing,
                             const std::function<CellMaterial(const Vec3i&)>& material,
                             const std::function<bool(const Vec3i&)>& is_fixed,
                             size_t coarsest_nodes) {
  auto finest = std::make_unique<Level>(std::move(lattice), spacing);
  const SparseLattice& l = finest->lattice();
  for (size_t b = 0; b < l.block_count(); ++b) {
    const auto block = static_cast<int32_t>(b);
    for_bits(l.cells[b], [&](int32_t local) {
      const CellMaterial m = material(l.coordinates(block, local));
      float* to =
          finest->materials.data() + static_cast<size_t>(l.cell_slots[b]) * material_block + local;
      to[0] = static_cast<float>(m.mu * spacing / 8);
      to[block_cells] = static_cast<float>(m.lambda * spacing / 16);
    });
    for_bits(l.nodes[b], [&](int32_t local) {
      if (is_fixed(l.coordinates(block, local))) finest->free[b] &= ~(uint64_t{1} << local);
    });
  }
  m_hierarchy = std::make_unique<Hierarchy>(std::move(finest), coarsest_nodes);
  m_solver = std::make_unique<LinearSolver<float>>(*m_hierarchy);
}

LatticeSystem::Positions LatticeSystem::rest() const {
  Positions x = zero();
  const SparseLattice& l = lattice();
  for (size_t b = 0; b < l.block_count(); ++b)
    for (int32_t local = 0; local < 64; ++local) {
      const auto block = static_cast<int32_t>(b);
      x.set({block, local}, l.coordinates(block, local).cast<double>() * spacing());
    }
  return x;
}

void LatticeSystem::place_points(std::span<const Vec3d> points) {
  m_springs.clear();
  m_hierarchy->place_points(points);
  m_point_corners.clear();
  for (const PointInCell& point : m_hierarchy->points(0)) {
    std::array<size_t, 8>& to = m_point_corners.emplace_back();
    if (point.cell.block < 0) continue;
    const auto corners = lattice().corners(point.cell.block, point.cell.local);
    for (size_t i = 0; i < 8; ++i) to[i] = Positions::index(corners[i]);
  }
}

void LatticeSystem::set_springs(std::span<const ActiveSpring> springs) {
  m_springs.assign(springs.begin(), springs.end());
  std::vector<PlacedSpring> placed;
  placed.reserve(springs.size());
  for (const ActiveSpring& s : m_springs) placed.push_back(s.spring);
  m_hierarchy->set_springs(placed);
}

void LatticeSystem::set_springs(const std::vector<TargetSpring>& springs) {
  std::vector<Vec3d> points;
  std::vector<ActiveSpring> active;
  for (const TargetSpring& s : springs) {
    active.push_back({{static_cast<int32_t>(points.size()), s.spring.stiffness}, s.target});
    points.push_back(s.spring.at);
  }
  place_points(points);
  set_springs(active);
}

void LatticeSystem::set_pulls(std::span<const float> stiffness, Positions targets) {
  m_masses.assign(stiffness.begin(), stiffness.end());
  m_predicted = std::move(targets);
  m_hierarchy->set_masses(m_masses);
}

void LatticeSystem::set_inertia(std::span<const float> masses, double dt, Positions predicted) {
  std::vector<float> stiffness(masses.begin(), masses.end());
  for (float& m : stiffness) m = static_cast<float>(static_cast<double>(m) / (dt * dt));
  set_pulls(stiffness, std::move(predicted));
}

// tr(S) - rest = J - 1 at x, or (J - 1) / c, kept within bounds. Where a cell is broad, with
// stretches σ₁ σ₂ > 1, its volume changes by σ₁ σ₂ for every unit of thickness, but the sum of
// stretches by one: c = σ₁ σ₂ keeps the answer of one solve from overshooting, so that bounds may
// be wide. Then a cell turned inside out has no volume, rather than a negative one.
double LatticeSystem::keep_volume(const Positions& x, VolumeAnswer answer) {
  const float most = most_rest(answer);
  Level& finest = m_hierarchy->finest();
  if (finest.eight_points) return keep_gauss_volume(finest, x, answer);
  if (finest.rest_traces.empty()) finest.rest_traces.assign(lattice().slot_count * block_cells, 3);
  const auto set_rest = [&](const Eigen::Matrix3f& f, size_t cell) {
    const Eigen::Vector3f stretches = signed_stretches(f);
    const float broad = stretches[1] * stretches[2], volume = f.determinant();
    const float growth = answer == VolumeAnswer::gentle
                             ? (std::max(volume, 0.0f) - 1) / std::max(broad, 1.0f)
                             : volume - 1;
    const float rest = 3 + std::clamp(stretches.sum() - 3 - growth, -most, most);
    const float change = std::abs(rest - finest.rest_traces[cell]);
    finest.rest_traces[cell] = rest;
    return change;
  };
  return static_cast<double>(visit_gradients(finest, x, stretches_of(finest), set_rest));
}

// The gradient of cells that are stretched by A at rest is F A. Moving nodes from rest would make
// it (1 + D) A, of which what turns the cell, the skew part of D, is left out, and what turns the
// material before is of no account to it.
double LatticeSystem::stretch_rest(const Positions& moved, double most) {
  Level& finest = m_hierarchy->finest();
  AlignedArray<float>& stretches = finest.rest_stretches;
  if (stretches.empty()) {
    stretches.assign(lattice().slot_count * stretch_block, 0);
    for (size_t cell = 0; cell < lattice().slot_count * block_cells; ++cell)
      for (size_t n = 0; n < 3; ++n) stretches[stretch_index(cell, n)] = 1;
  }
  const auto stretch = [&](const Eigen::Matrix3f& f, size_t cell) {
    constexpr std::array<std::array<int, 2>, 6> entries = {
        {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}}};
    Eigen::Matrix3f a;
    for (size_t n = 0; n < 6; ++n)
      a(entries[n][0], entries[n][1]) = a(entries[n][1], entries[n][0]) =
          stretches[stretch_index(cell, n)];
    a = left_stretch((f + f.transpose()) / 2 * a, static_cast<float>(most));
    for (size_t n = 0; n < 6; ++n)
      stretches[stretch_index(cell, n)] = a(entries[n][0], entries[n][1]);
    return (a - Eigen::Matrix3f::Identity()).cwiseAbs().maxCoeff();
  };
  return static_cast<double>(visit_gradients(finest, moved, nullptr, stretch));
}

void LatticeSystem::resist_inversion(double stiffness, double flat) {
  for (size_t l = 0; l < m_hierarchy->levels(); ++l) {
    m_hierarchy->level(l).inversion = static_cast<float>(stiffness);
    m_hierarchy->level(l).flat = static_cast<float>(flat);
  }
}

double LatticeSystem::energy(const Positions& x) const {
  const Level& finest = m_hierarchy->finest();
  if (finest.eight_points)
    return gauss_energy(finest, x) + add_springs(x, nullptr) + add_nodal(x, nullptr);
  const SweepPlan plan = sweep_plan(lattice());
  const ForceInput input{.materials = finest.materials.data(),
                         .spacing = spacing(),
                         .hourglass = static_cast<double>(finest.hourglass),
                         .inversion = static_cast<double>(finest.inversion),
                         .flat = static_cast<double>(finest.flat),
                         .rest_traces = traces_of(finest),
                         .rest_stretches = stretches_of(finest)};
  const double elastic = parallel_reduce(
      lattice().tile_count(), 1, 0.0,
      [&](size_t t, size_t) { return force_tile(plan, t, input, x.data(), {}); },
      [](double a, double b) { return a + b; });
  return elastic + add_springs(x, nullptr) + add_nodal(x, nullptr);
}

double LatticeSystem::force(const Positions& x, Positions& f) const {
  const Level& finest = m_hierarchy->finest();
  if (finest.eight_points) {
    const double elastic = gauss_force(finest, x, f);
    return elastic + add_springs(x, &f) + add_nodal(x, &f);
  }
  const SparseLattice& l = lattice();
  const SweepPlan plan = sweep_plan(l);
  m_ghosts.resize(l.ghosts.size() * ghost_record);
  const ForceInput input{.materials = finest.materials.data(),
                         .spacing = spacing(),
                         .hourglass = static_cast<double>(finest.hourglass),
                         .inversion = static_cast<double>(finest.inversion),
                         .flat = static_cast<double>(finest.flat),
                         .rest_traces = traces_of(finest),
                         .rest_stretches = stretches_of(finest)};
  const double elastic = parallel_reduce(
      l.tile_count(), 1, 0.0,
      [&](size_t t, size_t) {
        return force_tile(plan, t, input, x.data(),
                          {f.data() + l.tiles[t] * vector_block, m_ghosts.data()});
      },
      [](double a, double b) { return a + b; });
  // Ghosts in, gradient to force; fixed nodes feel none.
  const FinishInput<double> finish{
      l.incoming_offsets.data(), l.incoming.data(), l.ghosts.data(), m_ghosts.data(),
      finest.free.data(),        nullptr,           x.data()};
  const Positions nothing = zero();
  parallel_for(l.block_count(), blocks_per_range, [&](size_t begin, size_t end) {
    finish_residual(finish, begin, end, nothing.data(), f.data());
  });
  return elastic + add_springs(x, &f) + add_nodal(x, &f);
}

// Springs one after the other: there are few, and sums stay in order.
double LatticeSystem::add_springs(const Positions& x, Positions* force) const {
  const Level& finest = m_hierarchy->finest();
  const std::span<const PointInCell> points = m_hierarchy->points(0);
  double total = 0;
  for (const ActiveSpring& s : m_springs) {
    const auto point = static_cast<size_t>(s.spring.point);
    if (points[point].cell.block < 0) continue;
    const auto& weights = points[point].weights;
    const auto& corners = m_point_corners[point];
    Vec3d away = -s.target;
    for (size_t i = 0; i < 8; ++i)
      for (size_t c = 0; c < 3; ++c)
        away[static_cast<int>(c)] +=
            static_cast<double>(weights[i]) * x[corners[i] + c * block_cells];
    const auto& k = s.spring.stiffness;
    Eigen::Matrix3f stiffness;
    stiffness << k[0], k[5], k[4], k[5], k[1], k[3], k[4], k[3], k[2];
    const Vec3d pull = stiffness.cast<double>() * away;
    total += pull.dot(away) / 2;
    if (force == nullptr) continue;
    for (size_t i = 0; i < 8; ++i) {
      const size_t block = corners[i] / vector_block, node = corners[i] % block_cells;
      if ((finest.free[block] >> node & 1) == 0) continue;
      for (size_t c = 0; c < 3; ++c)
        (*force)[corners[i] + c * block_cells] -=
            static_cast<double>(weights[i]) * pull[static_cast<int>(c)];
    }
  }
  return total;
}

// External forces and inertia.
double LatticeSystem::add_nodal(const Positions& x, Positions* force) const {
  const bool has_external = m_external.blocks() > 0, has_inertia = !m_masses.empty();
  if (!has_external && !has_inertia) return 0;
  const Level& finest = m_hierarchy->finest();
  return sum_over_blocks(lattice().block_count(), [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t b = begin; b < end; ++b)
      for (size_t n = 0; n < block_cells; ++n) {
        if ((finest.free[b] >> n & 1) == 0) continue;
        for (size_t c = 0; c < 3; ++c) {
          const size_t i = b * vector_block + c * block_cells + n;
          double f = 0;
          if (has_external) {
            f += m_external[i];
            sum -= m_external[i] * x[i];
          }
          if (has_inertia) {
            const double m = static_cast<double>(m_masses[b * block_cells + n]);
            const double away = x[i] - m_predicted[i];
            f -= m * away;
            sum += m * away * away / 2;
          }
          if (force != nullptr) (*force)[i] += f;
        }
      }
    return sum;
  });
}

LinearReport LatticeSystem::solve(const Positions& force, BlockVector<float>& dx,
                                  const LinearOptions& options) {
  // Of length 1, as single precision has few exponents to spare.
  const double length = std::sqrt(dot(force, force));
  if (!(length > 0)) {
    dx.set_zero();
    return {};
  }
  const auto attempt = [&](const LinearOptions& limited) {
    BlockVector<float>& right = m_hierarchy->finest().b;
    parallel_for(force.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) right[i] = static_cast<float>(force[i] / length);
    });
    LinearReport report = m_solver->solve(right, dx, limited);
    parallel_for(dx.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        dx[i] = static_cast<float>(static_cast<double>(dx[i]) * length);
    });
    return report;
  };
  LinearReport report = attempt(options);
  if (slope(force, dx) > 0) return report;
  // Nearly singular systems, of bodies collapsed to a line, can lead conjugate gradients astray by
  // rounding; the first of their steps always follows the force.
  LinearOptions once = options;
  once.limits.iterations = 1;
  const LinearReport again = attempt(once);
  report.iterations += again.iterations;
  report.products += again.products;
  report.residual = again.residual;
  return report;
}

double LatticeSystem::largest(const Step& dx) const {
  return parallel_reduce(
      dx.size(), blocks_per_range * vector_block, 0.0,
      [&](size_t begin, size_t end) {
        float most = 0;
        for (size_t i = begin; i < end; ++i) most = std::max(most, std::abs(dx[i]));
        return static_cast<double>(most);
      },
      [](double a, double b) { return std::max(a, b); });
}

void LatticeSystem::move(const Positions& x, double step, const BlockVector<float>& dx,
                         Positions& to) const {
  parallel_for(x.size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = x[i] + step * static_cast<double>(dx[i]);
  });
}

}  // namespace supple
