#include "supple/mesh/bcc_lattice.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "supple/core/parallel.h"
#include "supple/mesh/triangle_tet.h"

namespace supple {
namespace {

// Names of tetrahedra and nodes as one number, in an order of their own.
uint64_t packed(const Vec3i& at) {
  constexpr int32_t half = 1 << 20;
  return static_cast<uint64_t>(at[0] + half) << 42 | static_cast<uint64_t>(at[1] + half) << 21 |
         static_cast<uint64_t>(at[2] + half);
}

struct PackedHash {
  size_t operator()(uint64_t key) const {
    key *= 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(key ^ key >> 31);
  }
};
using PackedSet = std::unordered_set<uint64_t, PackedHash>;

// A tetrahedron's name taken apart.
struct Parts {
  int i, j, k;  // axes: of the edge between corners, from M to O, of the edge between centres
  Vec3i corners_middle, centres_middle;  // M, O
};

Parts parts_of(const Vec3i& tet) {
  Parts parts{};
  for (int axis = 0; axis < 3; ++axis) {
    const int32_t rest = tet[axis] & 3;
    (rest == 0 ? parts.k : rest == 2 ? parts.i : parts.j) = axis;
  }
  // Halving an odd number gives one coordinate of each parity.
  const int32_t low = (tet[parts.j] - 1) / 2, even = low & 1 ? low + 1 : low;
  parts.corners_middle = parts.centres_middle = tet / 2;
  parts.corners_middle[parts.j] = even;
  parts.centres_middle[parts.j] = tet[parts.j] - even;
  return parts;
}

std::array<Vec3d, 4> tet_positions(const BccLattice& lattice, const Vec3i& tet) {
  const std::array<Vec3i, 4> nodes = BccLattice::corners(tet);
  return {lattice.position(nodes[0]), lattice.position(nodes[1]), lattice.position(nodes[2]),
          lattice.position(nodes[3])};
}

// Adds the tetrahedra that a triangle runs through, found from that of its first corner on: those
// of a connected surface are connected by their sides.
void add_crossed(const BccLattice& lattice, const std::array<Vec3d, 3>& triangle,
                 const Vec3i& first, size_t limit, std::vector<Vec3i>& crossed) {
  std::vector<Vec3i> front{first};
  PackedSet seen{packed(first)};
  crossed.push_back(first);
  while (!front.empty() && crossed.size() <= limit) {
    const Vec3i tet = front.back();
    front.pop_back();
    for (const Vec3i& next : BccLattice::neighbours(tet)) {
      if (!seen.insert(packed(next)).second) continue;
      if (!TetShape(tet_positions(lattice, next)).overlaps(triangle)) continue;
      crossed.push_back(next);
      front.push_back(next);
    }
  }
}

// Calls add(tet) for the tetrahedra that triangles run through, many of them repeatedly, in the
// order of the triangles.
template <class Add>
void for_crossed(const BccLattice& lattice, const TriangleMesh& skin, size_t limit,
                 const Add& add) {
  constexpr size_t block = 1024;
  std::vector<Vec3i> of_vertices(skin.positions.size());
  parallel_for(skin.positions.size(), 4096, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v)
      of_vertices[v] = lattice.tet_at(skin.positions[v].cast<double>());
  });
  std::vector<std::vector<Vec3i>> blocks((skin.triangles.size() + block - 1) / block);
  parallel_for(skin.triangles.size(), block, [&](size_t begin, size_t end) {
    std::vector<Vec3i>& crossed = blocks[begin / block];
    for (size_t t = begin; t < end && crossed.size() <= limit + 64 * block; ++t) {
      const Vec3i& v = skin.triangles[t];
      const Vec3i &a = of_vertices[v[0]], &b = of_vertices[v[1]], &c = of_vertices[v[2]];
      if (a == b && a == c) {
        if (crossed.empty() || crossed.back() != a) crossed.push_back(a);
        continue;
      }
      for (const Vec3i& tet : {a, b, c}) crossed.push_back(tet);
      std::array<Vec3d, 3> corners;
      for (int k = 0; k < 3; ++k) corners[k] = skin.positions[v[k]].cast<double>();
      add_crossed(lattice, corners, a, limit + 64 * block, crossed);
    }
  });
  for (const std::vector<Vec3i>& crossed : blocks)
    for (const Vec3i& tet : crossed) add(tet);
}

// Which tetrahedra, of those that no triangle runs through, hold something of the inside. With
// closed shells, those that are connected by their sides all do or do not: one of them is tested.
std::vector<uint8_t> inside_of(const BccLattice& lattice, std::span<const Vec3i> tets,
                               const SkinSolid& solid) {
  std::vector<int32_t> group(tets.size(), -1);
  std::vector<int32_t> first;  // of each group
  std::unordered_map<uint64_t, int32_t, PackedHash> number;
  if (solid.closed())
    for (size_t i = 0; i < tets.size(); ++i)
      number.emplace(packed(tets[i]), static_cast<int32_t>(i));
  for (size_t i = 0; i < tets.size(); ++i) {
    if (group[i] >= 0) continue;
    const auto own = static_cast<int32_t>(first.size());
    first.push_back(static_cast<int32_t>(i));
    group[i] = own;
    std::vector<int32_t> front{static_cast<int32_t>(i)};
    while (!front.empty() && solid.closed()) {
      const int32_t from = front.back();
      front.pop_back();
      for (const Vec3i& next : BccLattice::neighbours(tets[from]))
        if (const auto found = number.find(packed(next));
            found != number.end() && group[found->second] < 0) {
          group[found->second] = own;
          front.push_back(found->second);
        }
    }
  }
  std::vector<uint8_t> of_groups(first.size()), inside(tets.size());
  parallel_for(first.size(), 64, [&](size_t begin, size_t end) {
    for (size_t g = begin; g < end; ++g)
      of_groups[g] = solid.reaches_into(tet_positions(lattice, tets[first[g]]));
  });
  for (size_t i = 0; i < tets.size(); ++i) inside[i] = of_groups[group[i]];
  return inside;
}

void sort_names(std::vector<Vec3i>& names) {
  std::sort(names.begin(), names.end(),
            [](const Vec3i& a, const Vec3i& b) { return packed(a) < packed(b); });
}

}  // namespace

// In the cube around the nearest centre, the axis along which the point is furthest from it says
// which side it is nearest to, and the next which edge of that side.
Vec3i BccLattice::tet_at(const Vec3d& point) const {
  const Vec3d at = (point - origin) * (2 / spacing);
  const Vec3i centre = (2 * (at / 2).array().floor() + 1).cast<int32_t>();
  const Vec3d away = at - centre.cast<double>();
  int order[3] = {0, 1, 2};
  std::sort(order, order + 3, [&](int a, int b) {
    const double along_a = std::abs(away[a]), along_b = std::abs(away[b]);
    return along_a != along_b ? along_a > along_b : a < b;
  });
  const auto toward = [&](int axis) -> Vec3i {
    return (away[axis] < 0 ? -1 : 1) * Vec3i::Unit(axis);
  };
  const Vec3i centres_middle = centre + toward(order[0]);
  return 2 * centres_middle + toward(order[1]);
}

std::array<Vec3i, 4> BccLattice::corners(const Vec3i& tet) {
  const Parts parts = parts_of(tet);
  const Vec3i &m = parts.corners_middle, &o = parts.centres_middle;
  const Vec3i along_k = Vec3i::Unit(parts.k), along_i = Vec3i::Unit(parts.i);
  // Their orientation is minus the sign of (M - O)_j times that of the order i, j, k.
  const bool even_order = (parts.j - parts.i + 3) % 3 == 1;
  const bool positive = (m[parts.j] < o[parts.j]) == even_order;
  if (positive) return {o - along_k, o + along_k, m - along_i, m + along_i};
  return {o + along_k, o - along_k, m - along_i, m + along_i};
}

std::array<Vec3i, 4> BccLattice::neighbours(const Vec3i& tet) {
  const Parts parts = parts_of(tet);
  const Vec3i m2 = 2 * parts.corners_middle, o2 = 2 * parts.centres_middle;
  const Vec3i along_k = Vec3i::Unit(parts.k), along_i = Vec3i::Unit(parts.i);
  return {m2 + along_k, m2 - along_k, o2 + along_i, o2 - along_i};
}

std::array<Vec3i, 24> BccLattice::around(const Vec3i& node) {
  std::array<Vec3i, 24> tets;
  size_t count = 0;
  for (int a = 0; a < 3; ++a)
    for (const int to : {-1, 1})
      for (int b = 0; b < 3; ++b)
        for (const int aside : {-1, 1})
          if (a != b) tets[count++] = 2 * (node + to * Vec3i::Unit(a)) + aside * Vec3i::Unit(b);
  return tets;
}

std::vector<Vec3i> tets_of_solid(const BccLattice& lattice, const TriangleMesh& skin,
                                 const SkinSolid& solid, size_t limit) {
  std::vector<Vec3i> kept;
  PackedSet seen;
  for_crossed(lattice, skin, limit, [&](const Vec3i& tet) {
    if (kept.size() <= limit && seen.insert(packed(tet)).second) kept.push_back(tet);
  });
  // What is inside lies behind those that triangles run through, layer after layer. With closed
  // shells all that is behind an inner one is inner.
  size_t front = 0;
  const size_t crossed = kept.size();
  while (front < kept.size() && kept.size() <= limit) {
    const size_t end = kept.size();
    const bool inherits = front >= crossed && solid.closed();
    std::vector<Vec3i> next;
    for (; front < end; ++front)
      for (const Vec3i& tet : BccLattice::neighbours(kept[front]))
        if (seen.insert(packed(tet)).second) next.push_back(tet);
    const std::vector<uint8_t> inside =
        inherits ? std::vector<uint8_t>(next.size(), 1) : inside_of(lattice, next, solid);
    for (size_t i = 0; i < next.size(); ++i)
      if (inside[i]) kept.push_back(next[i]);
  }
  sort_names(kept);
  return kept;
}

TetMesh lattice_tets(const BccLattice& lattice, std::span<const Vec3i> tets) {
  TetMesh mesh;
  std::unordered_map<uint64_t, int32_t, PackedHash> nodes;
  mesh.tets.reserve(tets.size());
  for (const Vec3i& tet : tets) {
    const std::array<Vec3i, 4> corners = BccLattice::corners(tet);
    Vec4i added;
    for (int k = 0; k < 4; ++k) {
      const auto [entry, is_new] = nodes.try_emplace(packed(corners[static_cast<size_t>(k)]),
                                                     static_cast<int32_t>(mesh.positions.size()));
      if (is_new) mesh.positions.push_back(lattice.position(corners[static_cast<size_t>(k)]));
      added[k] = entry->second;
    }
    mesh.tets.push_back(added);
  }
  return mesh;
}

std::vector<Vec3i> with_surroundings(std::span<const Vec3i> tets) {
  std::vector<Vec3i> result;
  PackedSet nodes, seen;
  for (const Vec3i& tet : tets)
    for (const Vec3i& node : BccLattice::corners(tet))
      if (nodes.insert(packed(node)).second)
        for (const Vec3i& other : BccLattice::around(node))
          if (seen.insert(packed(other)).second) result.push_back(other);
  sort_names(result);
  return result;
}

}  // namespace supple
