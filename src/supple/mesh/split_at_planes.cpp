#include "supple/mesh/split_at_planes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr size_t most_vertices = size_t{1} << 27;
constexpr double most_planes = 1 << 30;  // on either side of the origin
constexpr double steps = 1 << 24;        // weights are whole multiples of 1 / steps

// A weighted mean of vertices on its way to becoming a VertexSource: corners of one triangle, as
// all that is mixed lies in it.
struct Mixture {
  std::array<int32_t, 3> vertices{};
  std::array<double, 3> weights{};
  size_t count = 0;

  void add(const VertexSource& source, double share) {
    for (int k = 0; k < 3; ++k) {
      if (source.weights[k] == 0) continue;
      size_t i = 0;
      while (i < count && vertices[i] < source.vertices[k]) ++i;
      if (i == count || vertices[i] != source.vertices[k]) insert(i, source.vertices[k]);
      weights[i] += share * static_cast<double>(source.weights[k]);
    }
  }

  void insert(size_t place, int32_t vertex) {
    for (size_t i = count++; i > place; --i) {
      vertices[i] = vertices[i - 1];
      weights[i] = weights[i - 1];
    }
    vertices[place] = vertex;
    weights[place] = 0;
  }

  // Rounds all weights but the largest, which takes what is left of one.
  VertexSource rounded() const {
    size_t largest = 0;
    for (size_t i = 1; i < count; ++i)
      if (weights[i] > weights[largest]) largest = i;
    std::array<double, 3> rounded{};
    double rest = steps;
    for (size_t i = 0; i < count; ++i) {
      if (i == largest) continue;
      // No vertex that is made is one of the input's.
      rounded[i] = std::max(std::round(weights[i] * steps), 1.0);
      rest -= rounded[i];
    }
    rounded[largest] = rest;
    VertexSource source;
    for (size_t i = 0; i < 3; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      source.vertices[k] = i < count ? vertices[i] : vertices[0];
      source.weights[k] = i < count ? static_cast<float>(rounded[i] / steps) : 0.0f;
    }
    return source;
  }
};

// Convex polygons in the planes of input triangles; two corners make a line.
struct Polygons {
  std::vector<int32_t> corners;
  std::vector<size_t> first{0};   // corner of every polygon, and the total
  std::vector<int32_t> triangle;  // of the input

  size_t size() const { return triangle.size(); }
  std::span<const int32_t> of(size_t polygon) const {
    return {corners.data() + first[polygon], corners.data() + first[polygon + 1]};
  }
  void add(std::span<const int32_t> loop, int32_t of_triangle) {
    corners.insert(corners.end(), loop.begin(), loop.end());
    first.push_back(corners.size());
    triangle.push_back(of_triangle);
  }
};

// The corners of a triangle without repetition.
std::vector<int32_t> loop_of(const Vec3i& t) {
  std::vector<int32_t> loop{t[0]};
  if (t[1] != t[0]) loop.push_back(t[1]);
  if (t[2] != t[0] && t[2] != t[1]) loop.push_back(t[2]);
  return loop;
}

// A piece of a triangle with two corners in common, which has the same two in common.
Vec3i line_like(const Vec3i& triangle, int32_t from, int32_t to) {
  Vec3i piece;
  for (int k = 0; k < 3; ++k) piece[k] = triangle[k] == triangle[0] ? from : to;
  return piece;
}

// Divides convex polygons into triangles whose worst is as good as can be.
class Triangulator {
 public:
  Triangulator(std::span<const Vec3f> positions, std::vector<Vec3i>& out)
      : m_positions(positions), m_out(out) {}

  void divide(std::span<const int32_t> loop, const Vec3d& normal) {
    const size_t n = loop.size();
    m_loop = loop;
    m_normal = normal;
    if (n == 3) {
      m_out.emplace_back(loop[0], loop[1], loop[2]);
      return;
    }
    // best(i, j): the worst triangle between the corners i to j, and the corner it stands on.
    m_worst.assign(n * n, std::numeric_limits<double>::infinity());
    m_apex.assign(n * n, 0);
    for (size_t length = 2; length < n; ++length)
      for (size_t i = 0; i + length < n; ++i) {
        const size_t j = i + length;
        double& best = m_worst[i * n + j];
        best = -std::numeric_limits<double>::infinity();
        for (size_t k = i + 1; k < j; ++k) {
          const double worst = std::min({m_worst[i * n + k], m_worst[k * n + j], quality(i, k, j)});
          if (worst <= best && k > i + 1) continue;
          best = worst;
          m_apex[i * n + j] = k;
        }
      }
    emit(0, n - 1);
  }

 private:
  // Area over the sum of squared sides; less than 0 for a triangle that is turned over.
  double quality(size_t i, size_t j, size_t k) const {
    const auto at = [&](size_t c) -> Vec3d {
      return m_positions[static_cast<size_t>(m_loop[c])].cast<double>();
    };
    const Vec3d a = at(j) - at(i), b = at(k) - at(i);
    const double sides = a.squaredNorm() + b.squaredNorm() + (a - b).squaredNorm();
    return sides > 0 ? a.cross(b).dot(m_normal) / sides : 0;
  }

  void emit(size_t i, size_t j) {
    if (j < i + 2) return;
    const size_t k = m_apex[i * m_loop.size() + j];
    emit(i, k);
    m_out.emplace_back(m_loop[i], m_loop[k], m_loop[j]);
    emit(k, j);
  }

  std::span<const Vec3f> m_positions;
  std::vector<Vec3i>& m_out;
  std::span<const int32_t> m_loop;
  Vec3d m_normal = Vec3d::Zero();
  std::vector<double> m_worst;
  std::vector<size_t> m_apex;
};

// Splits along one axis after the other.
class Splitter {
 public:
  Splitter(std::span<const Vec3f> positions, std::span<const Vec3i> triangles, const CellGrid& grid,
           double tolerance)
      : m_input(positions), m_triangles(triangles), m_grid(grid), m_tolerance(tolerance) {
    m_positions.assign(positions.begin(), positions.end());
    m_sources.resize(positions.size());
    for (size_t v = 0; v < positions.size(); ++v)
      m_sources[v].vertices = Vec3i::Constant(static_cast<int32_t>(v));
    for (size_t t = 0; t < triangles.size(); ++t)
      m_polygons.add(loop_of(triangles[t]), static_cast<int32_t>(t));
  }

  SplitMesh split() {
    for (int axis = 0; axis < 3; ++axis) split_along(axis);
    SplitMesh result;
    for (size_t p = 0; p < m_polygons.size(); ++p) {
      add_triangles(m_polygons.of(p), m_polygons.triangle[p], result.mesh.triangles);
      result.map.triangles.resize(result.mesh.triangles.size(), m_polygons.triangle[p]);
    }
    result.mesh.positions = std::move(m_positions);
    result.map.vertices = std::move(m_sources);
    return result;
  }

 private:
  // Planes have even levels, the room between them odd ones: plane k is 2 k.
  int64_t level_of(const Vec3f& position, int axis) const {
    const double at = (static_cast<double>(position[axis]) - m_grid.origin[axis]) / m_grid.spacing;
    if (!(std::abs(at) < most_planes))
      throw_input_error("split", "position",
                        fmt::format("{} is not finite, or too far from the grid", position[axis]));
    const double nearest = std::round(at);
    if (std::abs(at - nearest) <= m_tolerance) return 2 * static_cast<int64_t>(nearest);
    return 2 * static_cast<int64_t>(std::floor(at)) + 1;
  }

  void split_along(int axis) {
    m_axis = axis;
    m_cuts.clear();
    m_levels.assign(m_positions.size(), 0);
    for (const int32_t v : m_polygons.corners)
      m_levels[static_cast<size_t>(v)] = level_of(m_positions[static_cast<size_t>(v)], axis);
    const Polygons before = std::move(m_polygons);
    m_polygons = Polygons();
    for (size_t p = 0; p < before.size(); ++p) split_polygon(before.of(p), before.triangle[p]);
  }

  int64_t level(int32_t vertex) const { return m_levels[static_cast<size_t>(vertex)]; }

  // True when all of a loop lies between two neighbouring planes, these included.
  bool in_one_cell(std::span<const int32_t> loop) const {
    int64_t low = level(loop[0]), high = low;
    for (const int32_t v : loop) {
      low = std::min(low, level(v));
      high = std::max(high, level(v));
    }
    return high - low <= (low % 2 == 0 ? 2 : 1);
  }

  void split_polygon(std::span<const int32_t> loop, int32_t triangle) {
    if (in_one_cell(loop)) return m_polygons.add(loop, triangle);
    std::vector<int32_t> cut;
    for (size_t i = 0; i < loop.size(); ++i) {
      cut.push_back(loop[i]);
      if (loop.size() > 2 || i == 0) append_cuts(loop[i], loop[(i + 1) % loop.size()], cut);
    }
    if (loop.size() == 2) {
      for (size_t i = 0; i + 1 < cut.size(); ++i)
        m_polygons.add(std::span(cut).subspan(i, 2), triangle);
    } else if (goes_up_and_down(cut)) {
      part(std::move(cut), triangle);
    } else {
      // Rounding has dented it: its triangles cannot be.
      std::vector<Vec3i> pieces;
      add_triangles(loop, triangle, pieces);
      for (const Vec3i& piece : pieces)
        split_polygon(std::array{piece[0], piece[1], piece[2]}, triangle);
    }
  }

  // Appends the vertices where the edge between two vertices crosses planes, on the way from the
  // first to the second.
  void append_cuts(int32_t from, int32_t to, std::vector<int32_t>& loop) {
    const bool up = level(from) < level(to);
    const int32_t low = up ? from : to, high = up ? to : from;
    const int64_t first = floor_half(level(low)) + 1, end = floor_half(level(high) + 1);
    if (first >= end) return;
    const uint64_t key =
        (static_cast<uint64_t>(static_cast<uint32_t>(low)) << 32) | static_cast<uint32_t>(high);
    const auto [found, is_new] = m_cuts.try_emplace(key, static_cast<int32_t>(m_positions.size()));
    const int32_t begin = found->second;
    if (is_new) {
      if (m_positions.size() + static_cast<size_t>(end - first) > most_vertices)
        throw_input_error("split", "spacing",
                          fmt::format("more than {} vertices would be needed", most_vertices));
      for (int64_t plane = first; plane < end; ++plane) add_vertex(low, high, plane);
    }
    const auto count = static_cast<int32_t>(end - first);
    for (int32_t i = 0; i < count; ++i) loop.push_back(begin + (up ? i : count - 1 - i));
  }

  static int64_t floor_half(int64_t level) { return level >= 0 ? level / 2 : (level - 1) / 2; }

  // The vertex of an edge on a plane that its ends lie on two sides of.
  void add_vertex(int32_t low, int32_t high, int64_t plane) {
    const auto a = static_cast<size_t>(low), b = static_cast<size_t>(high);
    const double at = m_grid.origin[m_axis] + static_cast<double>(plane) * m_grid.spacing;
    const auto from = static_cast<double>(m_positions[a][m_axis]);
    const auto to = static_cast<double>(m_positions[b][m_axis]);
    const double part = std::clamp((at - from) / (to - from), 0.0, 1.0);
    Mixture mixture;
    mixture.add(m_sources[a], 1 - part);
    mixture.add(m_sources[b], part);
    m_sources.push_back(mixture.rounded());
    m_positions.push_back(at_source(m_sources.back(), m_input));
    m_levels.push_back(2 * plane);
  }

  // Whether the levels along a loop rise to a single height and fall to a single depth.
  bool goes_up_and_down(std::span<const int32_t> loop) const {
    int turns = 0, before = 0;
    for (size_t i = 0; i < 2 * loop.size(); ++i) {
      const int64_t step = level(loop[(i + 1) % loop.size()]) - level(loop[i % loop.size()]);
      const int direction = step > 0 ? 1 : step < 0 ? -1 : before;
      // Twice round, so that the direction of the first step is known the second time.
      if (i >= loop.size() && direction != before) ++turns;
      before = direction;
    }
    return turns == 2;
  }

  // Parts a loop with a vertex wherever it crosses a plane, from the lowest plane on. Of several
  // vertices of one side on the plane the first is taken.
  void part(std::vector<int32_t> loop, int32_t triangle) {
    while (!in_one_cell(loop)) {
      const auto lower = [&](int32_t a, int32_t b) { return level(a) < level(b); };
      std::rotate(loop.begin(), std::min_element(loop.begin(), loop.end(), lower), loop.end());
      const int64_t plane = 2 * (floor_half(level(loop[0])) + 1);
      const auto on_plane = [&](int32_t v) { return level(v) == plane; };
      const auto above =
          std::find_if(loop.begin(), loop.end(), [&](int32_t v) { return level(v) > plane; });
      const auto rising = std::find_if(loop.begin(), above, on_plane);
      const auto falling = std::find_if(above, loop.end(), on_plane);
      std::vector<int32_t> below(falling, loop.end());
      below.insert(below.end(), loop.begin(), rising + 1);
      m_polygons.add(below, triangle);
      loop = std::vector<int32_t>(rising, falling + 1);
    }
    m_polygons.add(loop, triangle);
  }

  void add_triangles(std::span<const int32_t> loop, int32_t triangle,
                     std::vector<Vec3i>& out) const {
    const Vec3i& input = m_triangles[static_cast<size_t>(triangle)];
    if (loop.size() < 3) {
      out.push_back(line_like(input, loop.front(), loop.back()));
      return;
    }
    const auto at = [&](int k) -> Vec3d {
      return m_input[static_cast<size_t>(input[k])].cast<double>();
    };
    const Vec3d normal = (at(1) - at(0)).cross(at(2) - at(0)).stableNormalized();
    Triangulator(m_positions, out).divide(loop, normal);
  }

  std::span<const Vec3f> m_input;
  std::span<const Vec3i> m_triangles;
  CellGrid m_grid;
  double m_tolerance;
  std::vector<Vec3f> m_positions;
  std::vector<VertexSource> m_sources;
  Polygons m_polygons;

  // Of the axis that is under way.
  int m_axis = 0;
  std::vector<int64_t> m_levels;                 // of all vertices
  std::unordered_map<uint64_t, int32_t> m_cuts;  // first vertex made on an edge, by its ends
};

}  // namespace

SplitMesh split_at_planes(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                          const CellGrid& grid, double tolerance) {
  return Splitter(positions, triangles, grid, tolerance).split();
}

}  // namespace supple
