#include "supple/contact/skin_surface.h"

#include <limits>

#include "supple/contact/piece_tree.h"
#include "supple/contact/skin_pieces.h"

namespace supple {

struct SkinSurface::Parts {
  Parts(std::span<const Vec3f> p, std::span<const Vec3i> t, double side)
      : positions(p.begin(), p.end()),
        triangles(t.begin(), t.end()),
        spacing(side),
        test(p, t, side),
        pieces(free_pieces(test, p, t, side)),
        tree(pieces, outer_pieces()) {}

  std::vector<int32_t> outer_pieces() const {
    std::vector<int32_t> outer;
    for (size_t i = 0; i < pieces.size(); ++i)
      if (pieces[i].kind == SkinKind::outer) outer.push_back(static_cast<int32_t>(i));
    return outer;
  }

  TriangleCorners corners(int32_t triangle) const {
    TriangleCorners result;
    for (int k = 0; k < 3; ++k)
      result[static_cast<size_t>(k)] =
          positions[static_cast<size_t>(triangles[static_cast<size_t>(triangle)][k])]
              .cast<double>();
    return result;
  }

  std::vector<Vec3f> positions;
  std::vector<Vec3i> triangles;
  double spacing;
  InsideTest test;
  std::vector<SkinPiece> pieces;
  PieceTree tree;  // of pieces that are not sheets
};

SkinSurface::SkinSurface(std::span<const Vec3f> positions, std::span<const Vec3i> triangles,
                         double spacing)
    : m_parts(std::make_unique<Parts>(positions, triangles, spacing)) {}
SkinSurface::~SkinSurface() = default;
SkinSurface::SkinSurface(SkinSurface&&) noexcept = default;
SkinSurface& SkinSurface::operator=(SkinSurface&&) noexcept = default;

NearestSkin SkinSurface::nearest(const Vec3d& rest) const {
  NearestSkin result;
  result.distance = std::numeric_limits<double>::infinity();
  if (!rest.allFinite()) return result;
  const ClosestPiece closest = m_parts->tree.closest(rest);
  if (closest.piece < 0) return result;
  const SkinPiece& piece = m_parts->pieces[static_cast<size_t>(closest.piece)];
  result.point = closest.point;
  result.weights = closest_weights(m_parts->corners(piece.triangle), closest.point);
  result.normal = piece.normal();
  result.triangle = piece.triangle;
  result.distance = closest.distance;
  return result;
}

double SkinSurface::distance(const Vec3d& rest) const {
  if (!rest.allFinite()) return std::numeric_limits<double>::infinity();
  const ClosestPiece closest = m_parts->tree.closest(rest);
  return closest.piece >= 0 && is_inside(rest) ? -closest.distance : closest.distance;
}

bool SkinSurface::is_inside(const Vec3d& rest) const { return m_parts->test.inside(rest); }
std::span<const SkinPiece> SkinSurface::pieces() const { return m_parts->pieces; }
double SkinSurface::spacing() const { return m_parts->spacing; }
std::span<const Vec3f> SkinSurface::positions() const { return m_parts->positions; }
std::span<const Vec3i> SkinSurface::triangles() const { return m_parts->triangles; }
std::span<const Vec3i> SkinSurface::outward_triangles() const {
  return m_parts->test.outward_triangles();
}

}  // namespace supple
