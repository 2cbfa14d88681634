#include "supple/contact/self_collision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/contact/tet_split.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t point_block = 128;
constexpr size_t block_block = 16;

// Cells that reach further than this, in metres, are passed over.
constexpr double farthest = 1e12;

// Contacts less deep than this, in spacings, get the normal of the surface.
constexpr double least_depth = 1e-6;

std::array<Vec3d, 8> corners_of(std::span<const Vec3d> nodes, const std::array<int32_t, 8>& cell) {
  std::array<Vec3d, 8> corners;
  for (size_t i = 0; i < 8; ++i) corners[i] = nodes[static_cast<size_t>(cell[i])];
  return corners;
}

// The box that holds a cell, or an empty one where the cell is out of this world. Slack of the
// tetrahedra's weights lets points lie a little outside of a cell.
Box3d box_around(std::span<const Vec3d> nodes, const std::array<int32_t, 8>& cell) {
  constexpr double margin = 1e-8;
  Vec3d low = nodes[static_cast<size_t>(cell[0])], high = low;
  bool usable = true;
  for (const int32_t n : cell) {
    const Vec3d& at = nodes[static_cast<size_t>(n)];
    usable = usable && at.cwiseAbs().sum() < farthest;
    low = low.cwiseMin(at);
    high = high.cwiseMax(at);
  }
  if (!usable) return {};
  const Vec3d more = Vec3d::Constant(margin * (high - low).maxCoeff());
  return {low - more, high + more};
}

// The first cell of every block, and the number of cells.
std::vector<int32_t> first_cells(const LatticeMesh& mesh) {
  std::vector<int32_t> first;
  for (size_t c = 0; c < mesh.cells.size(); ++c)
    if (c == 0 || mesh.cells[c].block != mesh.cells[c - 1].block)
      first.push_back(static_cast<int32_t>(c));
  first.push_back(static_cast<int32_t>(mesh.cells.size()));
  return first;
}

}  // namespace

SelfCollision::SelfCollision(const SolidLattice& solid, const LatticeMesh& mesh,
                             const SkinSurface& skin, std::vector<ContactPoint> points,
                             const SelfCollisionOptions& options)
    : m_solid(solid),
      m_mesh(mesh),
      m_skin(skin),
      m_points(std::move(points)),
      m_options(options),
      m_ties(m_points.size()),
      m_own(m_points.size()),
      m_blocks(first_cells(mesh)),
      m_boxes(mesh.cells.size()),
      m_tree(m_blocks.size() - 1),
      m_found((m_points.size() + point_block - 1) / point_block) {
  if (options.ring < 0)
    throw_input_error("contact", "ring", fmt::format("{}; 0 or more is needed", options.ring));
  for (size_t i = 0; i < m_points.size(); ++i)
    if (!m_points[i].rest.allFinite())
      throw_input_error("contact", fmt::format("point {}", i), "is not a finite number");
  m_places.reserve(mesh.cells.size());
  for (const LatticePlace& cell : mesh.cells)
    m_places.push_back(solid.lattice.coordinates(cell.block, cell.local));
  if (mesh.cells.empty()) m_points.clear();
  parallel_for(m_points.size(), point_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      m_own[i] = nearest_cell(solid, mesh, m_points[i].rest);
      m_ties[i] = tie_to_cell(solid, mesh, m_own[i], m_points[i].rest);
    }
  });
}

void SelfCollision::find(std::span<const Vec3d> nodes, std::vector<SelfContact>& out) {
  out.clear();
  fit_boxes(nodes);
  parallel_for(m_points.size(), point_block, [&](size_t begin, size_t end) {
    std::vector<SelfContact>& found = m_found[begin / point_block];
    found.clear();
    std::vector<int32_t> cells;
    for (size_t i = begin; i < end; ++i)
      if (SelfContact contact; test_point(nodes, i, cells, contact)) found.push_back(contact);
  });
  for (const auto& block : m_found) out.insert(out.end(), block.begin(), block.end());
}

// Boxes are kept by cell, and a tree of those of whole blocks: there are few blocks, so that the
// tree takes next to no time, and few cells in each.
void SelfCollision::fit_boxes(std::span<const Vec3d> nodes) {
  parallel_for(m_tree.size(), block_block, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      Box3d whole;
      for (int32_t c = m_blocks[b]; c < m_blocks[b + 1]; ++c) {
        const Box3d box = box_around(nodes, m_mesh.corners[static_cast<size_t>(c)]);
        m_boxes[static_cast<size_t>(c)] = box;
        whole.extend(box);
      }
      m_tree.set(b, whole);
    }
  });
  m_tree.update();
}

// Whether two cells are the same or within the ring of each other.
bool SelfCollision::near(int32_t cell, int32_t other) const {
  return (m_places[static_cast<size_t>(cell)] - m_places[static_cast<size_t>(other)])
             .cwiseAbs()
             .maxCoeff() <= m_options.ring;
}

bool SelfCollision::test_point(std::span<const Vec3d> nodes, size_t point,
                               std::vector<int32_t>& cells, SelfContact& best) const {
  best.position = m_ties[point].position(nodes);
  if (!best.position.allFinite()) return false;
  // The cells whose boxes hold the point, except those around its own, in a fixed order.
  struct Context {
    const SelfCollision& self;
    int32_t own;
    const Vec3d& position;
    std::vector<int32_t>& cells;
  } context{*this, m_own[point], best.position, cells};
  cells.clear();
  m_tree.search(best.position, 0, &context, [](void* pointer, uint32_t item) {
    auto& c = *static_cast<Context*>(pointer);
    for (int32_t cell = c.self.m_blocks[item]; cell < c.self.m_blocks[item + 1]; ++cell)
      if (c.self.m_boxes[static_cast<size_t>(cell)].contains(c.position) &&
          !c.self.near(cell, c.own))
        c.cells.push_back(cell);
    return 0.0;
  });
  std::sort(cells.begin(), cells.end());

  best.point = static_cast<int32_t>(point);
  best.rest_depth = std::numeric_limits<double>::infinity();
  for (const int32_t cell : cells)
    for_places_in_cell(corners_of(nodes, m_mesh.corners[static_cast<size_t>(cell)]), best.position,
                       [&](const Vec3d& place) {
                         const Vec3i& low = m_places[static_cast<size_t>(cell)];
                         const Vec3d rest =
                             m_solid.origin + m_solid.spacing * (low.cast<double>() + place);
                         consider(cell, rest, best);
                       });
  if (best.cell < 0) return false;
  finish(nodes, best);
  return std::isfinite(best.depth);
}

// Takes a place at rest when it is inside the body and less deep than the best so far.
void SelfCollision::consider(int32_t cell, const Vec3d& rest, SelfContact& best) const {
  if (!m_skin.is_inside(rest)) return;
  const NearestSkin nearest = m_skin.nearest(rest);
  if (nearest.triangle < 0 || !(nearest.distance < best.rest_depth)) return;
  const int32_t surface_cell = nearest_cell(m_solid, m_mesh, nearest.point);
  if (near(surface_cell, m_own[static_cast<size_t>(best.point)])) return;
  best.cell = cell;
  best.rest = rest;
  best.rest_depth = nearest.distance;
  best.rest_surface = nearest.point;
  best.normal = nearest.normal;
  best.triangle = nearest.triangle;
  best.tie = tie_to_cell(m_solid, m_mesh, surface_cell, nearest.point);
}

// Carries the closest point of the surface to where it is now; `normal` is that at rest before.
void SelfCollision::finish(std::span<const Vec3d> nodes, SelfContact& contact) const {
  contact.surface = contact.tie.position(nodes);
  const Vec3d way = contact.surface - contact.position;
  contact.depth = way.stableNorm();
  if (contact.depth > least_depth * m_solid.spacing) {
    contact.normal = way / contact.depth;
    return;
  }
  // Normals turn with the cofactors of the deformation: n = cof(F) N, with F from the corners.
  Mat3d f = Mat3d::Zero();
  for (size_t i = 0; i < 8; ++i) {
    const Vec3d sign((i & 1) != 0 ? 1 : -1, (i & 2) != 0 ? 1 : -1, (i & 4) != 0 ? 1 : -1);
    f +=
        nodes[static_cast<size_t>(contact.tie.nodes[i])] * sign.transpose() / (4 * m_solid.spacing);
  }
  Mat3d cofactors;
  for (int c = 0; c < 3; ++c) cofactors.col(c) = f.col((c + 1) % 3).cross(f.col((c + 2) % 3));
  const Vec3d normal = (cofactors * contact.normal).stableNormalized();
  if (normal.allFinite() && normal.squaredNorm() > 0.5) contact.normal = normal;
}

}  // namespace supple
