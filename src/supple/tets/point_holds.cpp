#include "supple/tets/point_holds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace supple {
namespace {

// Parts smaller than this are rounding.
constexpr double nothing = 1e-13;

using Part = std::map<int32_t, double>;

void add(double scale, const Part& from, Part& to) {
  for (const auto& [key, value] : from) {
    double& sum = to[key];
    sum += scale * value;
    if (std::abs(sum) < nothing) to.erase(key);
  }
}

// node = Σ free + Σ places
struct Equation {
  Part free, places;
};

}  // namespace

// Gauss-Jordan elimination of sparse rows: Σ w_j u_j = place becomes u_pivot = ...
PointHolds::PointHolds(size_t nodes, std::span<const TetTie> points, double least_new)
    : m_row_of(nodes, -1), m_points(points.size()) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto largest = [&](size_t p) { return *std::ranges::max_element(points[p].weights); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return largest(a) > largest(b); });
  std::map<int32_t, Equation> equations;  // by dependent node
  for (const size_t p : order) {
    Equation row;
    row.places[static_cast<int32_t>(p)] = 1;
    for (size_t c = 0; c < 4; ++c) {
      const int32_t node = points[p].nodes[c];
      const double weight = points[p].weights[c];
      if (std::abs(weight) < nothing) continue;
      if (const auto known = equations.find(node); known != equations.end()) {
        add(weight, known->second.free, row.free);
        add(-weight, known->second.places, row.places);
      } else {
        add(1, {{node, weight}}, row.free);
      }
    }
    const auto pivot = std::ranges::max_element(
        row.free, {}, [](const auto& entry) { return std::abs(entry.second); });
    if (pivot == row.free.end() || std::abs(pivot->second) < least_new) continue;
    // w_pivot u_pivot = places - Σ others
    const auto [node, weight] = *pivot;
    row.free.erase(pivot);
    Equation solved;
    add(-1 / weight, row.free, solved.free);
    add(1 / weight, row.places, solved.places);
    for (auto& [other, equation] : equations) {
      const auto found = equation.free.find(node);
      if (found == equation.free.end()) continue;
      const double part = found->second;
      equation.free.erase(found);
      add(part, solved.free, equation.free);
      add(part, solved.places, equation.places);
    }
    equations[node] = std::move(solved);
  }
  for (const auto& [node, equation] : equations) {
    m_row_of[static_cast<size_t>(node)] = static_cast<int32_t>(m_rows.size());
    Row row;
    row.node = node;
    for (const auto& [key, value] : equation.free) row.free.push_back({key, value});
    for (const auto& [key, value] : equation.places) row.places.push_back({key, value});
    m_rows.push_back(std::move(row));
  }
}

void PointHolds::place(std::span<const Vec3d> places, TetVector& x) const {
  for (const Row& row : m_rows) {
    Vec3d sum = Vec3d::Zero();
    for (const Share& s : row.places) sum += s.weight * places[static_cast<size_t>(s.node)];
    for (const Share& s : row.free) sum += s.weight * x.node(static_cast<size_t>(s.node));
    x.node(static_cast<size_t>(row.node)) = sum;
  }
}

void PointHolds::extend(TetVector& dx) const {
  for (const Row& row : m_rows) {
    Vec3d sum = Vec3d::Zero();
    for (const Share& s : row.free) sum += s.weight * dx.node(static_cast<size_t>(s.node));
    dx.node(static_cast<size_t>(row.node)) = sum;
  }
}

void PointHolds::reduce(TetVector& force) const {
  for (const Row& row : m_rows) {
    const Vec3d own = force.node(static_cast<size_t>(row.node));
    for (const Share& s : row.free) force.node(static_cast<size_t>(s.node)) += s.weight * own;
    force.node(static_cast<size_t>(row.node)).setZero();
  }
}

std::span<const PointHolds::Share> PointHolds::shares_of(size_t node, Share& self) const {
  if (m_row_of[node] >= 0) return m_rows[static_cast<size_t>(m_row_of[node])].free;
  self = {static_cast<int32_t>(node), 1};
  return {&self, 1};
}

}  // namespace supple
