#include "supple/mesh/tet_limbs.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

#include "supple/mesh/refine.h"
#include "supple/mesh/solid_graph.h"
#include "supple/mesh/solid_sight.h"
#include "supple/mesh/voxel_grid.h"

namespace supple {
namespace {

// Cells of the solid's graph along the side of an element, and at most along the skin's longest
// side.
constexpr double cells_per_element = 4;
constexpr int most_cells = 160;

SolidGraph graph_of(const TriangleMesh& given, double spacing) {
  Box3d box;
  for (const Vec3f& p : given.positions) box.extend(p.cast<double>());
  VoxelOptions options;
  options.resolution = std::clamp(
      static_cast<int>(cells_per_element * box.sizes().maxCoeff() / spacing), 8, most_cells);
  VoxelGrid grid = grid_around(given.positions, options);
  // Points of the surface are linked to what is next to them; large triangles need some too.
  const TriangleMesh skin = with_short_edges(given, grid.spacing);
  const CellTriangles overlaps = triangles_in_cells(grid, skin.positions, skin.triangles);
  classify_cells(grid, overlaps, skin.positions, skin.triangles);
  const SolidSight sight(grid, overlaps, skin);
  return make_solid_graph(skin, grid, sight);
}

// Lists of what belongs to each of `count` things: visit(add) calls add(thing, entry).
template <class Visit>
CutCage::Lists make_lists(size_t count, const Visit& visit) {
  CutCage::Lists lists;
  lists.offsets.assign(count + 1, 0);
  visit([&](int32_t thing, int32_t) { ++lists.offsets[static_cast<size_t>(thing) + 1]; });
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  lists.entries.resize(static_cast<size_t>(lists.offsets.back()));
  std::vector<int32_t> next = lists.offsets;
  visit([&](int32_t thing, int32_t entry) {
    lists.entries[static_cast<size_t>(next[static_cast<size_t>(thing)]++)] = entry;
  });
  return lists;
}

// Sets that are joined one by one.
class Sets {
 public:
  explicit Sets(size_t count) : m_above(count) { std::iota(m_above.begin(), m_above.end(), 0); }

  int32_t find(int32_t i) {
    while (m_above[static_cast<size_t>(i)] != i) {
      int32_t& above = m_above[static_cast<size_t>(i)];
      above = m_above[static_cast<size_t>(above)];
      i = above;
    }
    return i;
  }

  // The smaller number stands for both.
  void join(int32_t a, int32_t b) {
    a = find(a);
    b = find(b);
    if (a != b) m_above[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<int32_t> m_above;
};

CutCage::Lists both_ways(std::span<const std::array<int32_t, 2>> links, size_t count) {
  return make_lists(count, [&](const auto& add) {
    for (const auto& [a, b] : links) {
      add(a, b);
      add(b, a);
    }
  });
}

// Links between samples of a solid: those of its graph, and from shells without a link to the rest
// to what is nearest of it.
CutCage::Lists links_of(const SolidGraph& graph, double reach) {
  std::vector<std::array<int32_t, 2>> links;
  Sets whole(graph.nodes());
  for (size_t a = 0; a < graph.nodes(); ++a)
    for (const SolidLink& link : graph.of(a)) {
      if (link.node <= static_cast<int32_t>(a)) continue;
      links.push_back({static_cast<int32_t>(a), link.node});
      whole.join(static_cast<int32_t>(a), link.node);
    }
  std::map<int32_t, size_t> sizes;
  for (size_t a = 0; a < graph.nodes(); ++a) ++sizes[whole.find(static_cast<int32_t>(a))];
  if (sizes.size() < 2) return both_ways(links, graph.nodes());
  const auto cell_of = [&](const Vec3d& p) {
    const Eigen::Array3i c = (p.array() / reach).floor().cast<int>();
    return std::array{c[0], c[1], c[2]};
  };
  std::map<std::array<int, 3>, std::vector<int32_t>> buckets;
  for (size_t a = 0; a < graph.nodes(); ++a)
    buckets[cell_of(graph.positions[a])].push_back(static_cast<int32_t>(a));
  for (size_t a = 0; a < graph.nodes(); ++a) {
    const int32_t own = whole.find(static_cast<int32_t>(a));
    int32_t nearest = -1;
    double least = reach * reach;
    const std::array<int, 3> at = cell_of(graph.positions[a]);
    for (int k = 0; k < 27; ++k) {
      const auto found =
          buckets.find({at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1});
      if (found == buckets.end()) continue;
      for (const int32_t b : found->second) {
        const int32_t other = whole.find(b);
        if (other == own || sizes[other] < sizes[own]) continue;
        const double d =
            (graph.positions[a] - graph.positions[static_cast<size_t>(b)]).squaredNorm();
        if (d >= least) continue;
        least = d;
        nearest = b;
      }
    }
    if (nearest >= 0) links.push_back({static_cast<int32_t>(a), nearest});
  }
  return both_ways(links, graph.nodes());
}

}  // namespace

CutCage::CutCage(const TetMesh& cage, const TriangleMesh& skin, double spacing)
    : m_before(cage), m_skin_points(skin.positions.size()) {
  const SolidGraph graph = graph_of(skin, spacing);
  m_first_of_skin = graph.cell_nodes;
  const std::vector<TetLocation> located = locate_points(cage, graph.positions);
  const double least = 1e-12 * spacing * spacing * spacing;
  for (size_t s = 0; s < graph.nodes(); ++s)
    m_samples.push_back(
        {graph.positions[s], std::max(graph.volumes[s], least), located[s].tet, -1});
  m_of_tet = make_lists(cage.tets.size(), [&](const auto& add) {
    for (size_t s = 0; s < m_samples.size(); ++s) add(m_samples[s].tet, static_cast<int32_t>(s));
  });
  std::vector<Corners> part(m_samples.size());
  const std::vector<int32_t> counts = find_parts(links_of(graph, 2 * spacing), part);
  const std::vector<Corners> combinations = copy_elements(part, counts);
  copy_nodes(combinations);
  find_matter(counts);
}

// The parts of the matter around every node, numbered by their first sample: how many there are,
// and which of them every sample belongs to at the four corners of its element. Matter hangs
// together where it does so in the elements around the node or their neighbours: a corner of a body
// that reaches into an element beside the rest of it is no limb.
std::vector<int32_t> CutCage::find_parts(const Lists& links, std::span<Corners> part) const {
  const size_t nodes = m_before.positions.size();
  const Lists around = make_lists(nodes, [&](const auto& add) {
    for (size_t e = 0; e < m_before.tets.size(); ++e)
      for (int c = 0; c < 4; ++c) add(m_before.tets[e][c], static_cast<int32_t>(e));
  });
  std::vector<int32_t> counts(nodes, 0), seen(m_samples.size(), -1), open;
  std::vector<int32_t> near(m_before.tets.size(), -1);
  // Where a node is among the corners of a sample's element, or -1.
  const auto corner_of = [&](int32_t sample, int32_t node) {
    const Vec4i& tet =
        m_before.tets[static_cast<size_t>(m_samples[static_cast<size_t>(sample)].tet)];
    for (int c = 0; c < 4; ++c)
      if (tet[c] == node) return c;
    return -1;
  };
  for (size_t n = 0; n < nodes; ++n) {
    const auto node = static_cast<int32_t>(n);
    const auto reach = [&](int32_t sample) {
      const auto s = static_cast<size_t>(sample);
      if (seen[s] == node || near[static_cast<size_t>(m_samples[s].tet)] != node) return;
      seen[s] = node;
      open.push_back(sample);
      const int corner = corner_of(sample, node);
      if (corner >= 0) part[s][static_cast<size_t>(corner)] = counts[n];
    };
    for (const int32_t e : around.of(n))
      for (int c = 0; c < 4; ++c)
        for (const int32_t next :
             around.of(static_cast<size_t>(m_before.tets[static_cast<size_t>(e)][c])))
          near[static_cast<size_t>(next)] = node;
    for (const int32_t e : around.of(n))
      for (const int32_t first : m_of_tet.of(static_cast<size_t>(e))) {
        reach(first);
        if (open.empty()) continue;
        while (!open.empty()) {
          const auto at = static_cast<size_t>(open.back());
          open.pop_back();
          for (const int32_t next : links.of(at)) reach(next);
        }
        ++counts[n];
      }
  }
  return counts;
}

// A copy of every element for each combination of parts at its corners: returns these. Elements
// without a sample stay where there is no choice, and are left out else.
std::vector<CutCage::Corners> CutCage::copy_elements(std::span<const Corners> part,
                                                     std::span<const int32_t> counts) {
  std::vector<Corners> combinations;
  m_first.assign(m_before.tets.size() + 1, 0);
  for (size_t e = 0; e < m_before.tets.size(); ++e) {
    m_first[e] = static_cast<int32_t>(tet_before.size());
    const auto add = [&](const Corners& combination) {
      tet_before.push_back(static_cast<int32_t>(e));
      combinations.push_back(combination);
    };
    std::map<Corners, int32_t> copies;
    for (const int32_t s : m_of_tet.of(e)) {
      const Corners& own = part[static_cast<size_t>(s)];
      const auto [copy, is_new] = copies.try_emplace(own, static_cast<int32_t>(tet_before.size()));
      if (is_new) add(own);
      m_samples[static_cast<size_t>(s)].copy = copy->second;
    }
    const Vec4i& tet = m_before.tets[e];
    const bool choice =
        counts[static_cast<size_t>(tet[0])] > 1 || counts[static_cast<size_t>(tet[1])] > 1 ||
        counts[static_cast<size_t>(tet[2])] > 1 || counts[static_cast<size_t>(tet[3])] > 1;
    if (copies.empty() && !choice) add({0, 0, 0, 0});
  }
  m_first.back() = static_cast<int32_t>(tet_before.size());
  return combinations;
}

// A copy of every node for each of its parts that an element has.
void CutCage::copy_nodes(std::span<const Corners> combinations) {
  const auto corner = [&](size_t e, size_t c) {
    return m_before.tets[static_cast<size_t>(tet_before[e])][static_cast<Eigen::Index>(c)];
  };
  std::map<std::array<int32_t, 2>, int32_t> copies;  // by node and part
  for (size_t e = 0; e < tet_before.size(); ++e)
    for (size_t c = 0; c < 4; ++c) copies[{corner(e, c), combinations[e][c]}] = -1;
  for (auto& [place, node] : copies) {
    node = static_cast<int32_t>(node_before.size());
    node_before.push_back(place[0]);
    mesh.positions.push_back(m_before.positions[static_cast<size_t>(place[0])]);
  }
  for (size_t e = 0; e < tet_before.size(); ++e) {
    Vec4i& own = mesh.tets.emplace_back();
    for (size_t c = 0; c < 4; ++c)
      own[static_cast<Eigen::Index>(c)] = copies.at({corner(e, c), combinations[e][c]});
  }
}

// Which copy of a node has the matter that is nearest to it, and where matter of each is.
void CutCage::find_matter(std::span<const int32_t> counts) {
  struct Held {
    Vec3d sum = Vec3d::Zero();
    double volume = 0;
  };
  struct Nearest {
    double away = std::numeric_limits<double>::infinity();
    int32_t node = -1;
  };
  std::vector<Held> held(node_before.size());
  std::vector<Nearest> nearest(counts.size());
  for (const Sample& sample : m_samples)
    for (int c = 0; c < 4; ++c) {
      const int32_t node = mesh.tets[static_cast<size_t>(sample.copy)][c];
      const auto n = static_cast<size_t>(node);
      held[n].sum += sample.volume * sample.position;
      held[n].volume += sample.volume;
      Nearest& own = nearest[static_cast<size_t>(node_before[n])];
      const double away = (sample.position - mesh.positions[n]).squaredNorm();
      if (away < own.away) own = {away, node};
    }
  for (size_t n = 0; n < node_before.size(); ++n) {
    const auto before = static_cast<size_t>(node_before[n]);
    const int32_t home = nearest[before].node;
    matter.push_back(counts[before] > 1 ? Vec3d(held[n].sum / held[n].volume) : mesh.positions[n]);
    at_home.push_back(home < 0 || home == static_cast<int32_t>(n));
  }
}

size_t CutCage::copies() const {
  size_t count = 0;
  for (const int32_t e : tet_before) {
    const auto before = static_cast<size_t>(e);
    count += m_first[before + 1] - m_first[before] > 1;
  }
  return count;
}

TetFilling CutCage::divide(const TetFilling& before) const {
  std::vector<double> volumes(mesh.tets.size(), 0), whole(m_before.tets.size(), 0);
  std::vector<Eigen::Vector4d> shares(mesh.tets.size(), Eigen::Vector4d::Zero());
  for (const Sample& sample : m_samples) {
    const double v = sample.volume;
    const auto tet = static_cast<size_t>(sample.tet), copy = static_cast<size_t>(sample.copy);
    volumes[copy] += v;
    whole[tet] += v;
    shares[copy] +=
        v * tet_weights(m_before, m_before.tets[tet], sample.position).cwiseMax(0).cwiseMin(1);
  }
  TetFilling filling;
  for (size_t e = 0; e < mesh.tets.size(); ++e) {
    const auto old = static_cast<size_t>(tet_before[e]);
    if (m_first[old + 1] - m_first[old] < 2) {
      filling.filled.push_back(before.filled[old]);
      filling.shares.push_back(before.shares[old]);
      continue;
    }
    const double part = volumes[e] / whole[old];
    filling.filled.push_back(part * before.filled[old]);
    filling.shares.emplace_back(part * before.shares[old].sum() * shares[e] / shares[e].sum());
  }
  return filling;
}

std::vector<TetLocation> CutCage::locate(std::span<const Vec3d> points) const {
  std::vector<TetLocation> places = locate_points(m_before, points);

  for (size_t p = 0; p < places.size(); ++p) {
    const auto old = static_cast<size_t>(places[p].tet);
    if (p < m_skin_points) {
      const Sample& sample = m_samples[m_first_of_skin + p];
      places[p].tet = sample.copy;
      places[p].weights =
          tet_weights(m_before, m_before.tets[static_cast<size_t>(sample.tet)], points[p]);
      continue;
    }
    if (m_first[old + 1] - m_first[old] == 1) {
      places[p].tet = m_first[old];
      continue;
    }
    // The copy of the nearest sample in the element, or of all where it has none.
    double nearest = std::numeric_limits<double>::infinity();
    int32_t copy = -1;
    const auto consider = [&](const Sample& sample) {
      const double away = (sample.position - points[p]).squaredNorm();
      if (away >= nearest) return;
      nearest = away;
      copy = sample.copy;
    };
    for (const int32_t s : m_of_tet.of(old)) consider(m_samples[static_cast<size_t>(s)]);
    if (copy < 0)
      for (const Sample& sample : m_samples) consider(sample);
    places[p].tet = copy;
    places[p].weights = tet_weights(
        m_before, m_before.tets[static_cast<size_t>(tet_before[static_cast<size_t>(copy)])],
        points[p]);
  }
  return places;
}

}  // namespace supple
