#include "modelling/quilt.h"

#include <algorithm>
#include <cmath>

#include "modelling/surface.h"

namespace supple::modelling {
namespace {

// The border of a patch, once round, counter-clockwise seen from outside: row and column.
std::vector<std::pair<int, int>> border(int rows, int columns) {
  std::vector<std::pair<int, int>> loop;
  for (int r = 0; r < rows; ++r) loop.emplace_back(r, 0);
  for (int c = 0; c < columns; ++c) loop.emplace_back(rows, c);
  for (int r = rows; r > 0; --r) loop.emplace_back(r, columns);
  for (int c = columns; c > 0; --c) loop.emplace_back(0, c);
  return loop;
}

}  // namespace

int Quilt::add_vertex(const Vec3d& place) {
  m_places.push_back(place);
  return size() - 1;
}

void Quilt::add_quad(int a, int b, int c, int d) { m_faces.emplace_back(a, b, c, d); }

void Quilt::add_triangle(int a, int b, int c) { m_faces.emplace_back(a, b, c, c); }

void Quilt::add_strip(std::span<const int> a, std::span<const int> b) {
  for (size_t k = 0; k + 1 < a.size(); ++k) add_quad(a[k], a[k + 1], b[k + 1], b[k]);
}

void Quilt::add_fan(std::span<const int> row, int pole) {
  for (size_t k = 0; k + 1 < row.size(); ++k) add_triangle(row[k], row[k + 1], pole);
}

void Quilt::add_patch(const Patch& patch) {
  for (size_t r = 0; r + 1 < patch.size(); ++r)
    for (size_t c = 0; c + 1 < patch[r].size(); ++c)
      add_quad(patch[r][c], patch[r + 1][c], patch[r + 1][c + 1], patch[r][c + 1]);
}

void Quilt::pull_out(const Patch& patch, int levels,
                     const std::function<Vec3d(int, double, double, double)>& place) {
  const int rows = static_cast<int>(patch.size()) - 1;
  const int columns = static_cast<int>(patch[0].size()) - 1;
  const auto loop = border(rows, columns);
  const auto at = [&](int vertex, int r, int c, double level) {
    return place(vertex, static_cast<double>(r) / rows, static_cast<double>(c) / columns, level);
  };
  Patch top = patch;
  for (int level = 1; level <= levels; ++level) {
    std::vector<int> below, above;
    for (const auto& [r, c] : loop) {
      int& vertex = top[static_cast<size_t>(r)][static_cast<size_t>(c)];
      below.push_back(vertex);
      vertex = add_vertex(at(size(), r, c, static_cast<double>(level) / levels));
      above.push_back(vertex);
    }
    below.push_back(below.front());
    above.push_back(above.front());
    add_strip(below, above);
  }
  for (int r = 1; r < rows; ++r)
    for (int c = 1; c < columns; ++c) {
      const int vertex = top[static_cast<size_t>(r)][static_cast<size_t>(c)];
      m_places[static_cast<size_t>(vertex)] = at(vertex, r, c, 1);
    }
  add_patch(top);
}

double Quilt::put_on_ground() {
  double lowest = INFINITY;
  for (const Vec3d& p : m_places) lowest = std::min(lowest, p[1]);
  for (Vec3d& p : m_places) p[1] -= lowest;
  return -lowest;
}

TriangleMesh Quilt::mesh() const {
  TriangleMesh mesh;
  for (const Vec3d& p : m_places) mesh.positions.push_back(p.cast<float>());
  for (const Vec4i& f : m_faces) {
    if (f[2] == f[3]) {
      mesh.triangles.emplace_back(f[0], f[1], f[2]);
      continue;
    }
    const Vec3d &a = place(f[0]), &b = place(f[1]), &c = place(f[2]), &d = place(f[3]);
    const double first = std::min(roundness(a, b, c), roundness(a, c, d));
    const double second = std::min(roundness(a, b, d), roundness(b, c, d));
    // Rounding must not decide between cuts that are equally good.
    if (first > second - 1e-9) {
      mesh.triangles.emplace_back(f[0], f[1], f[2]);
      mesh.triangles.emplace_back(f[0], f[2], f[3]);
    } else {
      mesh.triangles.emplace_back(f[0], f[1], f[3]);
      mesh.triangles.emplace_back(f[1], f[2], f[3]);
    }
  }
  return mesh;
}

Character Quilt::character(const std::string& name, const std::function<Vec3d(int)>& colour) const {
  Character character;
  character.name = name;
  character.skin = mesh();
  VertexAttribute colours{"COLOR_0", 3, {}};
  for (int v = 0; v < size(); ++v) {
    const Vec3d rgb = colour(v);
    for (int c = 0; c < 3; ++c) colours.values.push_back(static_cast<float>(rgb[c]));
  }
  character.attributes.push_back(std::move(colours));
  Part part;
  part.name = name;
  part.vertices = {0, size()};
  part.triangles = {0, static_cast<int32_t>(character.skin.triangles.size())};
  character.parts.push_back(std::move(part));
  return character;
}

std::vector<double> at_lengths(const std::function<Vec3d(double)>& curve,
                               std::span<const double> fractions) {
  constexpr int pieces = 4000;
  std::vector<double> lengths{0};
  Vec3d before = curve(0);
  for (int i = 1; i <= pieces; ++i) {
    const Vec3d now = curve(static_cast<double>(i) / pieces);
    lengths.push_back(lengths.back() + (now - before).norm());
    before = now;
  }
  std::vector<double> values;
  size_t piece = 0;
  for (const double fraction : fractions) {
    const double wanted = fraction * lengths.back();
    while (piece + 2 < lengths.size() && lengths[piece + 1] < wanted) ++piece;
    const double span = lengths[piece + 1] - lengths[piece];
    const double within = span > 0 ? (wanted - lengths[piece]) / span : 0;
    values.push_back((static_cast<double>(piece) + std::clamp(within, 0.0, 1.0)) / pieces);
  }
  return values;
}

}  // namespace supple::modelling
