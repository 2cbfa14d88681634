// Skins sewn quad by quad over places given by formulas, where the number of vertices is to be
// exact or thin parts are to be thinner than a sculpture's cells. Shapes and colours are the
// caller's, and so is that patches fit together; nothing is checked here.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "supple/rig/character.h"

namespace supple::modelling {

/// Rows of vertices of a patch: patch[r][c]. Seen from outside, quads run counter-clockwise from
/// (r, c) to (r + 1, c), (r + 1, c + 1) and (r, c + 1).
using Patch = std::vector<std::vector<int>>;

/// A skin in the making. Faces run counter-clockwise seen from outside.
class Quilt {
 public:
  /// Adds a vertex at a place in the model (metres) and returns its number.
  int add_vertex(const Vec3d& place);

  /// Adds a quad; where it is cut in two is decided when the mesh is made.
  void add_quad(int a, int b, int c, int d);

  /// Adds a triangle.
  void add_triangle(int a, int b, int c);

  /// Adds the quads between two rows of as many vertices each: from a[k] to a[k + 1], b[k + 1] and
  /// b[k]. A closed row has its first vertex again at the end.
  void add_strip(std::span<const int> a, std::span<const int> b);

  /// Adds the triangles from the edges of a row to a pole.
  void add_fan(std::span<const int> row, int pole);

  /// Pulls a patch of quads, which must not have been added, out of the surface in `levels` steps:
  /// its border is repeated step by step, and the patch itself ends up on top. New vertices, and
  /// those of the patch that are not on its border, go to place(vertex, r, c, level), with r, c and
  /// level from 0 to 1.
  void pull_out(const Patch& patch, int levels,
                const std::function<Vec3d(int vertex, double r, double c, double level)>& place);

  /// Adds the quads of a patch.
  void add_patch(const Patch& patch);

  /// Place of a vertex, in metres.
  const Vec3d& place(int vertex) const { return m_places[static_cast<size_t>(vertex)]; }

  /// Number of vertices.
  int size() const { return static_cast<int>(m_places.size()); }

  /// Moves everything up until the lowest vertex is at y = 0, and returns how far (metres).
  double put_on_ground();

  /// The skin as triangles: quads are cut so that the rounder triangles are left.
  TriangleMesh mesh() const;

  /// A character of one part with this skin and a linear colour for every vertex, still without a
  /// rig.
  Character character(const std::string& name,
                      const std::function<Vec3d(int vertex)>& colour) const;

 private:
  std::vector<Vec3d> m_places;
  std::vector<Vec4i> m_faces;  // a triangle has its last corner twice
};

/// Values of a parameter from 0 to 1 at which a curve is cut into pieces of equal length: at the
/// given fractions of its length, which must rise.
std::vector<double> at_lengths(const std::function<Vec3d(double)>& curve,
                               std::span<const double> fractions);

}  // namespace supple::modelling
