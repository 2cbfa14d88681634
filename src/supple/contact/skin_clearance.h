// Moves a skin out of itself where its cells left it in: cells hold contacts at points about a cell
// apart and by springs, so that in the end vertices of a fold, or fingers no thicker than a cell,
// may still lie a part of a cell within other flesh.
//
// Vertices that are too deep are found as contact points are (self_collision.h), and then, where
// cells are too flat to tell, by the triangles of the skin (skin_crossings.h). Each gives a
// condition on the displacements u of the skin: with its place on the surface, a point of a
// triangle with weights w, and the way out n,
//
//   n · (u_vertex - Σ w u_corner) >= depth - allowed
//
// (and depth + 2 allowed at the bottom of a crease, where the way out leads through the vertex's
// own surface).
//
// Rounds of projections, which move both sides alike, and of smoothing over edges meet all
// conditions by a displacement that fades into the skin around. Nothing of it is kept: a skin that
// its cells carry clear of itself stays as it is, and the result depends on the frame alone.
//
// Not handled: edges that cross while no vertex is too deep; what overlaps in the bind pose.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "supple/contact/self_collision.h"
#include "supple/contact/skin_crossings.h"

namespace supple {

/// How a skin is moved out of itself.
struct SkinClearanceOptions {
  double allowed = 0.05;  ///< depth that is left alone, in cells
  double thin = 0.2;      ///< thickness of cells, of that at rest, from which on they cannot tell
  double farthest = 1;    ///< most that one vertex is moved out by at a time, in cells
  int rounds = 8;         ///< of projections, with smoothing in between
  int turns = 4;          ///< around what cells cannot tell of, or until that is clear
  int passes = 8;         ///< of a turn, around what has been moved
  double most = 2;        ///< that a vertex is moved by in all, in cells
};

/// How a skin was moved.
struct SkinClearanceReport {
  size_t conditions = 0;  ///< vertices that were too deep, in all passes
  double moved = 0;       ///< the most that any vertex was moved by, in metres
};

/// Moves the vertices of one skin; solid, mesh and skin must outlive it.
class SkinClearance {
 public:
  /// For a solid, its numbered nodes and cells (`rest` are the nodes' places), and its skin.
  SkinClearance(const SolidLattice& solid, const LatticeMesh& mesh, std::span<const Vec3d> rest,
                const SkinSurface& skin, const SkinClearanceOptions& options = {});

  /// Moves `points`, the vertices of the skin as carried by cells with their nodes at `nodes`, both
  /// in metres. Never throws; what is not finite is left alone.
  SkinClearanceReport clear(std::span<const Vec3d> nodes, std::span<Vec3f> points);

 private:
  // A vertex that is to move out relative to a triangle.
  struct Condition {
    int32_t vertex;
    Vec3i corners;
    Vec3d weights;  // of the corners
    Vec3d way;      // out, of unit length
    double length;  // by which, in metres
  };

  void find_by_cells(std::span<const Vec3d> nodes, std::span<const Vec3f> points);
  void find_by_triangles(double reach, std::span<const Vec3f> points);
  void find_doubtful(std::span<const Vec3d> nodes);
  size_t clear_folds(std::span<Vec3f> points, SkinClearanceReport& report);
  void meet(std::span<Vec3f> points, SkinClearanceReport& report);
  void limit(std::span<Vec3f> points, SkinClearanceReport& report) const;
  void project();
  void smooth();
  std::span<const int32_t> neighbours(int32_t vertex) const;
  Vec3d& displacement(int32_t vertex);

  const SkinSurface& m_skin;
  double m_spacing;
  SkinClearanceOptions m_options;
  std::unique_ptr<SelfCollision> m_collision;  // of the free vertices; null where there are none
  SkinCrossings m_by_triangles;                // of the free vertices
  std::vector<uint32_t> m_edge_starts;         // neighbours of vertices
  std::vector<int32_t> m_edges;

  // Made anew in every call.
  std::vector<Vec3f> m_carried;  // points as they came
  std::vector<SelfContact> m_contacts;
  std::vector<uint8_t> m_is_thin;   // cells of vertices
  std::vector<int32_t> m_doubtful;  // vertices that cells cannot tell of, then those moved
  std::vector<int32_t> m_around;    // vertices around which triangles are looked at
  std::vector<SkinCrossing> m_crossings;
  std::vector<Condition> m_conditions;
  std::vector<int32_t> m_moved;    // vertices that have a displacement
  std::vector<int32_t> m_slots;    // of vertices in m_moved; -1 for none
  std::vector<Vec3d> m_displaced;  // by slot, in metres
  std::vector<Vec3d> m_smoothed;
};

}  // namespace supple
