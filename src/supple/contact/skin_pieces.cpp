#include "supple/contact/skin_pieces.h"

#include <cmath>
#include <optional>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// How far off the surface its sides are looked at, and the smallest pieces, in spacings.
constexpr double off_surface = 0.02;
constexpr double smallest_piece = 0.25;

// How often a triangle is halved to look at all of it, and to find a border in it.
constexpr int most_halvings = 12;
constexpr int most_border_halvings = 20;

constexpr size_t triangle_block = 64;

// Which sides of a place are free.
struct Sides {
  bool front = false, back = false;
  bool operator==(const Sides&) const = default;
};

struct Part {
  TriangleCorners corners;
  Sides sides;
};

// Cuts one triangle into parts whose sides are all free or all not.
class Cutter {
 public:
  Cutter(const InsideTest& test, double spacing, const Vec3d& normal)
      : m_test(test), m_spacing(spacing), m_off(off_surface * spacing * normal) {}

  // Appends the parts of a triangle; parts that agree are not cut apart.
  void cut(const TriangleCorners& t, int halvings, std::vector<Part>& parts) const {
    size_t longest = 0;
    const double length = longest_edge(t, longest);
    const bool large = length > m_spacing && halvings < most_halvings;
    if (!large) {
      const Sides middle = sides_at((t[0] + t[1] + t[2]) / 3);
      const bool fine = length <= smallest_piece * m_spacing || halvings >= most_border_halvings;
      if (fine || corners_agree(t, middle)) return parts.push_back({t, middle});
    }
    const size_t first = parts.size();
    const size_t a = longest, b = (longest + 1) % 3, c = (longest + 2) % 3;
    const Vec3d half = (t[a] + t[b]) / 2;
    cut({t[a], half, t[c]}, halvings + 1, parts);
    cut({half, t[b], t[c]}, halvings + 1, parts);
    for (size_t i = first + 1; i < parts.size(); ++i)
      if (!(parts[i].sides == parts[first].sides)) return;
    parts.resize(first + 1);
    parts[first].corners = t;
  }

 private:
  static double longest_edge(const TriangleCorners& t, size_t& longest) {
    double most = 0;
    for (size_t k = 0; k < 3; ++k) {
      const double length = (t[(k + 1) % 3] - t[k]).norm();
      if (length > most) {
        most = length;
        longest = k;
      }
    }
    return most;
  }

  Sides sides_at(const Vec3d& place) const {
    return {!m_test.inside(place + m_off), !m_test.inside(place - m_off)};
  }

  bool corners_agree(const TriangleCorners& t, const Sides& middle) const {
    for (size_t k = 0; k < 3; ++k) {
      const Vec3d near = 0.9 * t[k] + 0.05 * (t[(k + 1) % 3] + t[(k + 2) % 3]);
      if (!(sides_at(near) == middle)) return false;
    }
    return true;
  }

  const InsideTest& m_test;
  double m_spacing;
  Vec3d m_off;
};

// The piece a part makes, or none when it is buried.
std::optional<SkinPiece> piece_of(const Part& part, size_t triangle) {
  if (!part.sides.front && !part.sides.back) return std::nullopt;
  SkinPiece piece;
  piece.corners = part.corners;
  piece.triangle = static_cast<int32_t>(triangle);
  piece.kind = part.sides.front && part.sides.back ? SkinKind::sheet : SkinKind::outer;
  piece.turned = !part.sides.front;
  if (piece.turned) std::swap(piece.corners[1], piece.corners[2]);
  return piece;
}

}  // namespace

std::vector<SkinPiece> free_pieces(const InsideTest& test, std::span<const Vec3f> positions,
                                   std::span<const Vec3i> triangles, double spacing) {
  std::vector<std::vector<SkinPiece>> found((triangles.size() + triangle_block - 1) /
                                            triangle_block);
  parallel_for(triangles.size(), triangle_block, [&](size_t begin, size_t end) {
    std::vector<Part> parts;
    for (size_t t = begin; t < end; ++t) {
      TriangleCorners corners;
      for (int k = 0; k < 3; ++k)
        corners[static_cast<size_t>(k)] =
            positions[static_cast<size_t>(triangles[t][k])].cast<double>();
      const Vec3d normal =
          (corners[1] - corners[0]).cross(corners[2] - corners[0]).stableNormalized();
      if (!(normal.squaredNorm() > 0.5)) continue;
      parts.clear();
      Cutter(test, spacing, normal).cut(corners, 0, parts);
      for (const Part& part : parts)
        if (const auto piece = piece_of(part, t)) found[begin / triangle_block].push_back(*piece);
    }
  });
  std::vector<SkinPiece> pieces;
  for (const auto& block : found) pieces.insert(pieces.end(), block.begin(), block.end());
  return pieces;
}

}  // namespace supple
