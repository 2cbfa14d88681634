#include "supple/mesh/delaunay.h"

#include <libqhull_r/qhull_ra.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "supple/core/error.h"

namespace supple {
namespace {

// Qhull's state and what it says; both are given back at the end.
struct Qhull {
  Qhull() { qh_zero(&state, errors.get()); }
  Qhull(const Qhull&) = delete;
  Qhull& operator=(const Qhull&) = delete;
  ~Qhull() {
    int blocks = 0, bytes = 0;
    qh_freeqhull(&state, !qh_ALL);
    qh_memfreeshort(&state, &blocks, &bytes);
  }

  std::unique_ptr<FILE, int (*)(FILE*)> errors{std::fopen("/dev/null", "w"), &std::fclose};
  qhT state{};
};

}  // namespace

std::vector<Vec4i> delaunay_tets(std::span<const Vec3d> points) {
  const auto six_volumes = [&](const Vec4i& tet) {
    const Vec3d& o = points[tet[0]];
    return (points[tet[1]] - o).dot((points[tet[2]] - o).cross(points[tet[3]] - o));
  };
  const auto positive = [&](Vec4i tet) {
    if (six_volumes(tet) < 0) std::swap(tet[2], tet[3]);
    return tet;
  };
  // Qhull wants five points.
  if (points.size() == 4 && six_volumes({0, 1, 2, 3}) != 0) return {positive({0, 1, 2, 3})};
  std::vector<coordT> coordinates;
  coordinates.reserve(3 * points.size());
  for (const Vec3d& p : points) coordinates.insert(coordinates.end(), {p[0], p[1], p[2]});
  Qhull qhull;
  qhT* qh = &qhull.state;
  // Delaunay, all facets triangles, the last coordinate scaled.
  char command[] = "qhull d Qt Qbb Qc";
  const bool failed =
      points.size() < 5 || qh_new_qhull(qh, 3, static_cast<int>(points.size()), coordinates.data(),
                                        False, command, nullptr, qhull.errors.get()) != 0;
  if (failed)
    throw Error(ErrorKind::input,
                fmt::format("{} points have no Delaunay triangulation: there must be at least four "
                            "that do not lie in a plane",
                            points.size()));
  std::vector<Vec4i> tets;
  facetT* facet = nullptr;
  FORALLfacets {
    if (facet->upperdelaunay) continue;
    Vec4i tet;
    int corner = 0;
    vertexT *vertex = nullptr, **vertexp = nullptr;
    FOREACHvertex_(facet->vertices) {
      if (corner < 4) tet[corner] = qh_pointid(qh, vertex->point);
      ++corner;
    }
    if (corner == 4) tets.push_back(positive(tet));
  }
  return tets;
}

}  // namespace supple
