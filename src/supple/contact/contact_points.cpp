#include "supple/contact/contact_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "supple/core/error.h"

namespace supple {
namespace {

// Points kept at least a distance apart fill the plane with about 0.72 points per square of it.
constexpr double points_per_square = 0.72;

// Points whose normals differ by more than this are on different sides of a thin part.
constexpr double least_alike = 0.2;

// How many points along a triangle's side are tried at most.
constexpr double most_steps = 1000;

// Points by cubes of a given side.
class PointHash {
 public:
  explicit PointHash(double side) : m_side(side) {}

  void add(const Vec3d& point, int32_t number) { m_cubes[key(cube(point))].push_back(number); }

  // Calls visit(number) for all points in the cubes up to `reach` away from that of a point.
  template <class Visit>
  void visit_near(const Vec3d& point, int32_t reach, const Visit& visit) const {
    const Vec3i middle = cube(point);
    Vec3i at;
    for (at[2] = middle[2] - reach; at[2] <= middle[2] + reach; ++at[2])
      for (at[1] = middle[1] - reach; at[1] <= middle[1] + reach; ++at[1])
        for (at[0] = middle[0] - reach; at[0] <= middle[0] + reach; ++at[0])
          if (const auto found = m_cubes.find(key(at)); found != m_cubes.end())
            for (const int32_t number : found->second) visit(number);
  }

 private:
  Vec3i cube(const Vec3d& point) const {
    return (point / m_side).array().floor().max(-1e6).min(1e6).cast<int32_t>();
  }
  static uint64_t key(const Vec3i& cube) {
    uint64_t result = 0;
    for (int c = 0; c < 3; ++c)
      result = result << 21 | (static_cast<uint64_t>(cube[c] + (1 << 20)) & 0x1fffff);
    return result;
  }

  double m_side;
  std::unordered_map<uint64_t, std::vector<int32_t>> m_cubes;
};

// Chooses among candidates and shares the surface out among the chosen.
class Chooser {
 public:
  Chooser(const SkinSurface& skin, double side)
      : m_skin(skin), m_apart(side * std::sqrt(points_per_square)), m_hash(m_apart) {}

  std::vector<ContactPoint> choose() {
    offer_vertices();
    for (const SkinPiece& piece : m_skin.pieces()) offer_inside(piece);
    for (const SkinPiece& piece : m_skin.pieces()) share_out(piece, piece.corners, 0);
    return std::move(m_points);
  }

 private:
  // Takes a point unless one is near that looks the same way.
  void offer(const ContactPoint& point) {
    bool taken = false;
    m_hash.visit_near(point.rest, 1, [&](int32_t number) {
      const ContactPoint& other = m_points[static_cast<size_t>(number)];
      taken = taken || ((other.rest - point.rest).norm() < m_apart && alike(other, point.normal));
    });
    if (taken) return;
    m_hash.add(point.rest, static_cast<int32_t>(m_points.size()));
    m_points.push_back(point);
  }

  static bool alike(const ContactPoint& point, const Vec3d& normal) {
    return point.normal.dot(normal) > least_alike;
  }

  // All vertices of the free surface, in the mesh's order.
  void offer_vertices() {
    std::vector<ContactPoint> at(m_skin.positions().size());
    std::vector<Vec3d> normals(at.size(), Vec3d::Zero());
    for (const SkinPiece& piece : m_skin.pieces()) {
      const Vec3i& triangle = m_skin.triangles()[static_cast<size_t>(piece.triangle)];
      const Vec3d normal = piece.normal();
      for (int k = 0; k < 3; ++k) {
        const Vec3d corner = m_skin.positions()[static_cast<size_t>(triangle[k])].cast<double>();
        // The corners of the mesh among those of a piece, which may be in another order.
        if (std::find(piece.corners.begin(), piece.corners.end(), corner) == piece.corners.end())
          continue;
        ContactPoint& point = at[static_cast<size_t>(triangle[k])];
        const bool is_sheet = piece.kind == SkinKind::sheet;
        if (point.vertex < 0) point = {corner, normal, 0, triangle[k], piece.triangle, is_sheet};
        point.sheet = point.sheet && is_sheet;
        normals[static_cast<size_t>(triangle[k])] += piece.area() * normal;
      }
    }
    for (size_t v = 0; v < at.size(); ++v) {
      if (at[v].vertex < 0) continue;
      const Vec3d normal = normals[v].stableNormalized();
      if (normal.squaredNorm() > 0.5) at[v].normal = normal;
      offer(at[v]);
    }
  }

  // A regular pattern of points in a piece, as far apart as points may be or less.
  void offer_inside(const SkinPiece& piece) {
    const TriangleCorners& c = piece.corners;
    const double longest =
        std::max({(c[1] - c[0]).norm(), (c[2] - c[1]).norm(), (c[0] - c[2]).norm()});
    const int steps = static_cast<int>(std::min(most_steps, std::ceil(2 * longest / m_apart)));
    if (steps < 2) return;
    const Vec3d normal = piece.normal();
    for (int i = 0; i <= steps; ++i)
      for (int j = 0; i + j <= steps; ++j) {
        const Vec3d w = Vec3d(i, j, steps - i - j) / steps;
        offer({at_weights(c, w), normal, 0, -1, piece.triangle, piece.kind == SkinKind::sheet});
      }
  }

  // Gives the area of a piece, cut small, to the points closest to it.
  void share_out(const SkinPiece& piece, const TriangleCorners& t, int halvings) {
    size_t a = 0;
    double longest = 0;
    for (size_t k = 0; k < 3; ++k)
      if (const double length = (t[(k + 1) % 3] - t[k]).norm(); length > longest) {
        longest = length;
        a = k;
      }
    if (longest > m_apart / 2 && halvings < 24) {
      const size_t b = (a + 1) % 3, c = (a + 2) % 3;
      const Vec3d half = (t[a] + t[b]) / 2;
      share_out(piece, {t[a], half, t[c]}, halvings + 1);
      share_out(piece, {half, t[b], t[c]}, halvings + 1);
      return;
    }
    const int32_t owner = closest((t[0] + t[1] + t[2]) / 3, piece.normal());
    if (owner >= 0)
      m_points[static_cast<size_t>(owner)].area += (t[1] - t[0]).cross(t[2] - t[0]).norm() / 2;
  }

  // The chosen point closest to a place, of those that look the same way if there are any near.
  int32_t closest(const Vec3d& place, const Vec3d& normal) const {
    int32_t best = -1;
    double least = std::numeric_limits<double>::max();
    const auto consider = [&](int32_t number, bool any) {
      const ContactPoint& point = m_points[static_cast<size_t>(number)];
      const double distance = (point.rest - place).squaredNorm();
      if (!any && !alike(point, normal)) return;
      if (distance < least || (distance == least && number < best)) {
        least = distance;
        best = number;
      }
    };
    for (const bool any : {false, true})
      if (best < 0)
        m_hash.visit_near(place, any ? 2 : 1, [&](int32_t number) { consider(number, any); });
    if (best < 0)
      for (size_t n = 0; n < m_points.size(); ++n) consider(static_cast<int32_t>(n), true);
    return best;
  }

  const SkinSurface& m_skin;
  double m_apart;  // least distance of points, in metres
  PointHash m_hash;
  std::vector<ContactPoint> m_points;
};

}  // namespace

std::vector<ContactPoint> choose_contact_points(const SkinSurface& skin,
                                                const ContactPointOptions& options) {
  if (!(options.factor > 0) || !std::isfinite(options.factor))
    throw_input_error("contact", "factor",
                      fmt::format("{}; more than 0 is needed", options.factor));
  return Chooser(skin, skin.spacing() * options.factor).choose();
}

}  // namespace supple
