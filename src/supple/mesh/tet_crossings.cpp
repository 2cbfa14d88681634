#include "supple/mesh/tet_crossings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "supple/core/parallel.h"
#include "supple/mesh/tet_locate.h"
#include "supple/mesh/tet_quality.h"
#include "supple/mesh/triangle_tet.h"

namespace supple {

TetCrossings triangles_in_tets(const TetMesh& mesh, const TriangleMesh& skin) {
  constexpr size_t block = 512;
  using Pair = std::pair<int32_t, int32_t>;  // tetrahedron, triangle
  const TetTree tree(mesh);
  std::vector<TetShape> shapes;
  shapes.reserve(mesh.tets.size());
  for (const Vec4i& tet : mesh.tets) shapes.emplace_back(tet_corners(mesh, tet));
  std::vector<std::vector<Pair>> blocks((skin.triangles.size() + block - 1) / block);
  parallel_for(skin.triangles.size(), block, [&](size_t begin, size_t end) {
    std::vector<Pair>& pairs = blocks[begin / block];
    for (size_t t = begin; t < end; ++t) {
      std::array<Vec3d, 3> corners;
      Box3d box;
      for (int k = 0; k < 3; ++k) {
        corners[k] = skin.positions[skin.triangles[t][k]].cast<double>();
        box.extend(corners[k]);
      }
      // Sides that only touch the box are found too.
      const Vec3d slack = Vec3d::Constant(TetShape::touching * box.diagonal().norm());
      box.extend(Vec3d(box.max() + slack));
      box.extend(Vec3d(box.min() - slack));
      tree.for_overlaps(box, [&](int32_t tet) {
        if (shapes[tet].overlaps(corners)) pairs.emplace_back(tet, static_cast<int32_t>(t));
      });
    }
  });
  TetCrossings crossings;
  crossings.begin.assign(mesh.tets.size() + 1, 0);
  for (const std::vector<Pair>& pairs : blocks)
    for (const auto& [tet, triangle] : pairs) ++crossings.begin[static_cast<size_t>(tet) + 1];
  for (size_t t = 0; t < mesh.tets.size(); ++t) crossings.begin[t + 1] += crossings.begin[t];
  crossings.triangles.resize(crossings.begin.back());
  std::vector<size_t> next(crossings.begin.begin(), crossings.begin.end() - 1);
  for (const std::vector<Pair>& pairs : blocks)
    for (const auto& [tet, triangle] : pairs) crossings.triangles[next[tet]++] = triangle;
  return crossings;
}

std::vector<uint8_t> tets_with_matter(const TetMesh& mesh, const TriangleMesh& skin,
                                      const SkinSolid& solid) {
  const TetCrossings crossings = triangles_in_tets(mesh, skin);
  std::vector<uint8_t> matter(mesh.tets.size());
  parallel_for(mesh.tets.size(), 64, [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t)
      matter[t] = !crossings.of(t).empty() || solid.reaches_into(tet_corners(mesh, mesh.tets[t]));
  });
  return matter;
}

TetMesh chosen_tets(const TetMesh& mesh, std::span<const uint8_t> chosen,
                    std::vector<int32_t>* nodes) {
  std::vector<int32_t> added(mesh.positions.size(), -1);
  TetMesh result;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    if (!chosen[t]) continue;
    Vec4i tet;
    for (int k = 0; k < 4; ++k) {
      int32_t& node = added[mesh.tets[t][k]];
      if (node < 0) {
        node = static_cast<int32_t>(result.positions.size());
        result.positions.push_back(mesh.positions[mesh.tets[t][k]]);
      }
      tet[k] = node;
    }
    result.tets.push_back(tet);
  }
  if (nodes) *nodes = std::move(added);
  return result;
}

}  // namespace supple
