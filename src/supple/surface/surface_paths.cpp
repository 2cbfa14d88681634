#include "supple/surface/surface_paths.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "supple/core/parallel.h"

namespace supple {
namespace {

// Sorts pairs by vertex into lists.
VertexLists lists_of(size_t vertices, std::vector<std::array<int32_t, 2>>& pairs) {
  VertexLists lists;
  lists.offsets.assign(vertices + 1, 0);
  for (const auto& pair : pairs) ++lists.offsets[static_cast<size_t>(pair[0]) + 1];
  for (size_t v = 0; v < vertices; ++v) lists.offsets[v + 1] += lists.offsets[v];
  lists.items.resize(pairs.size());
  std::vector<uint32_t> next(lists.offsets.begin(), lists.offsets.end() - 1);
  for (const auto& [vertex, item] : pairs) lists.items[next[static_cast<size_t>(vertex)]++] = item;
  return lists;
}

// Grows the paths of a mesh.
class PathGrower {
 public:
  PathGrower(std::span<const Vec3f> positions, const VertexLists& neighbours, size_t limit)
      : m_positions(positions), m_neighbours(neighbours), m_limit(limit) {
    m_path_of.assign(positions.size(), -1);
  }

  SurfacePaths grow() {
    for (size_t v = 0; v < m_positions.size(); ++v)
      if (m_path_of[v] < 0) grow_shell(static_cast<int32_t>(v));
    m_paths.starts.push_back(static_cast<uint32_t>(m_paths.order.size()));
    m_paths.shells.push_back(static_cast<uint32_t>(m_paths.starts.size() - 1));
    return std::move(m_paths);
  }

 private:
  bool is_free(int32_t v) const { return m_path_of[static_cast<size_t>(v)] < 0; }
  std::span<const int32_t> around(int32_t v) const {
    return m_neighbours.of(static_cast<size_t>(v));
  }

  // Paths start next to those that are there, so that none leaves a gap: where the earliest of
  // them left a neighbour free.
  void grow_shell(int32_t first) {
    m_paths.shells.push_back(static_cast<uint32_t>(m_paths.starts.size()));
    size_t looked = m_paths.order.size();
    grow_path(first);
    for (; looked < m_paths.order.size(); ++looked)
      for (const int32_t next : around(m_paths.order[looked]))
        if (is_free(next)) grow_path(next);
  }

  void grow_path(int32_t first) {
    const auto path = static_cast<int32_t>(m_paths.starts.size());
    m_paths.starts.push_back(static_cast<uint32_t>(m_paths.order.size()));
    const size_t begin = m_paths.order.size();
    m_height = m_positions[static_cast<size_t>(first)][2];
    for (int32_t v = first; v >= 0;) {
      m_path_of[static_cast<size_t>(v)] = path;
      m_paths.order.push_back(v);
      v = m_paths.order.size() - begin < m_limit ? next_after(v, path) : -1;
    }
  }

  // The free neighbour to go on with, or -1.
  int32_t next_after(int32_t v, int32_t path) const {
    int32_t best = -1;
    bool best_beside = false;
    float best_distance = 0;
    for (const int32_t next : around(v)) {
      if (!is_free(next)) continue;
      const auto other = [&](int32_t w) {
        const int32_t p = m_path_of[static_cast<size_t>(w)];
        return p >= 0 && p != path;
      };
      const bool beside = std::ranges::any_of(around(next), other);
      const float distance = std::abs(m_positions[static_cast<size_t>(next)][2] - m_height);
      if (best < 0 || (beside && !best_beside) ||
          (beside == best_beside && distance < best_distance)) {
        best = next;
        best_beside = beside;
        best_distance = distance;
      }
    }
    return best;
  }

  std::span<const Vec3f> m_positions;
  const VertexLists& m_neighbours;
  size_t m_limit;
  float m_height = 0;
  std::vector<int32_t> m_path_of;
  SurfacePaths m_paths;
};

// Finds the members of regions, one region after the other.
class RegionFinder {
 public:
  explicit RegionFinder(const VertexLists& neighbours)
      : m_neighbours(neighbours), m_seen(neighbours.offsets.size() - 1, -1) {}

  // All vertices up to `width` edges away from `vertex`, itself included.
  const std::vector<int32_t>& find(int32_t vertex, int width) {
    m_members.assign(1, vertex);
    m_seen[static_cast<size_t>(vertex)] = vertex;
    for (size_t begin = 0; width > 0; --width) {
      const size_t end = m_members.size();
      for (; begin < end; ++begin)
        for (const int32_t next : m_neighbours.of(static_cast<size_t>(m_members[begin])))
          if (m_seen[static_cast<size_t>(next)] != vertex) {
            m_seen[static_cast<size_t>(next)] = vertex;
            m_members.push_back(next);
          }
    }
    return m_members;
  }

 private:
  const VertexLists& m_neighbours;
  std::vector<int32_t> m_seen;  // the region in which a vertex was met last
  std::vector<int32_t> m_members;
};

// Sorted slots of a region's members as intervals of at most 255.
void append_intervals(std::vector<uint32_t>& slots, std::vector<uint32_t>& intervals) {
  std::sort(slots.begin(), slots.end());
  for (size_t i = 0; i < slots.size();) {
    size_t end = i + 1;
    while (end < slots.size() && slots[end] == slots[i] + (end - i) && end - i < 255) ++end;
    intervals.push_back(slots[i] << 8 | static_cast<uint32_t>(end - i));
    i = end;
  }
}

}  // namespace

VertexLists vertex_neighbours(size_t vertices, std::span<const Vec3i> triangles) {
  std::vector<std::array<int32_t, 2>> pairs;
  pairs.reserve(6 * triangles.size());
  for (const Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k) {
      const int32_t a = t[k], b = t[(k + 1) % 3];
      if (a == b) continue;
      pairs.push_back({a, b});
      pairs.push_back({b, a});
    }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return lists_of(vertices, pairs);
}

VertexLists vertex_fans(size_t vertices, std::span<const Vec3i> triangles) {
  // The edge opposite to every corner.
  std::vector<std::array<int32_t, 2>> from, to;
  for (const Vec3i& t : triangles)
    for (int k = 0; k < 3; ++k) {
      from.push_back({t[k], t[(k + 1) % 3]});
      to.push_back({t[k], t[(k + 2) % 3]});
    }
  const VertexLists firsts = lists_of(vertices, from), seconds = lists_of(vertices, to);
  VertexLists fans;
  std::vector<uint8_t> used;
  for (size_t v = 0; v < vertices; ++v) {
    const auto a = firsts.of(v), b = seconds.of(v);
    used.assign(a.size(), 0);
    size_t left = a.size();
    const size_t begin = fans.items.size();
    while (left > 0) {
      // Start with an edge that no other one leads to, if there is one.
      size_t edge = a.size();
      for (size_t e = 0; e < a.size(); ++e) {
        if (used[e]) continue;
        bool led_to = false;
        for (size_t o = 0; o < a.size(); ++o) led_to = led_to || (!used[o] && b[o] == a[e]);
        if (edge == a.size() || !led_to) edge = e;
        if (!led_to) break;
      }
      if (fans.items.size() > begin) fans.items.push_back(static_cast<int32_t>(v));
      fans.items.push_back(a[edge]);
      while (edge < a.size()) {
        used[edge] = 1;
        --left;
        fans.items.push_back(b[edge]);
        const int32_t at = b[edge];
        for (edge = 0; edge < a.size() && (used[edge] || a[edge] != at);) ++edge;
      }
    }
    fans.offsets.push_back(static_cast<uint32_t>(fans.items.size()));
  }
  return fans;
}

SurfacePaths build_paths(std::span<const Vec3f> positions, const VertexLists& neighbours,
                         size_t limit) {
  return PathGrower(positions, neighbours, limit).grow();
}

VertexLists region_members(const RegionTable& table, std::span<const uint32_t> path_starts) {
  std::vector<int32_t> place_of;  // of slots
  for (size_t p = 0; p + 1 < path_starts.size(); ++p) {
    for (uint32_t place = path_starts[p]; place < path_starts[p + 1]; ++place)
      place_of.push_back(static_cast<int32_t>(place));
    place_of.push_back(-1);
  }
  VertexLists members;
  for (size_t r = 0; r + 1 < table.offsets.size(); ++r) {
    for (uint32_t e = table.offsets[r]; e < table.offsets[r + 1]; ++e)
      for (uint32_t slot = RegionTable::first(table.intervals[e]);
           slot < RegionTable::last(table.intervals[e]); ++slot)
        members.items.push_back(place_of[slot]);
    members.offsets.push_back(static_cast<uint32_t>(members.items.size()));
  }
  return members;
}

void append_regions(const SurfacePaths& paths, const VertexLists& neighbours, int width,
                    uint32_t first_slot, RegionTable& table) {
  const size_t count = paths.order.size();
  std::vector<uint32_t> slot_of(count);
  for (size_t p = 0; p + 1 < paths.starts.size(); ++p)
    for (uint32_t place = paths.starts[p]; place < paths.starts[p + 1]; ++place)
      slot_of[static_cast<size_t>(paths.order[place])] =
          first_slot + place + static_cast<uint32_t>(p);

  // Blocks of places on all threads, then one after the other.
  constexpr size_t block = 4096;
  std::vector<RegionTable> parts((count + block - 1) / block);
  parallel_for(count, block, [&](size_t begin, size_t end) {
    RegionTable& part = parts[begin / block];
    RegionFinder finder(neighbours);
    std::vector<uint32_t> slots;
    for (size_t place = begin; place < end; ++place) {
      slots.clear();
      for (const int32_t v : finder.find(paths.order[place], width))
        slots.push_back(slot_of[static_cast<size_t>(v)]);
      append_intervals(slots, part.intervals);
      part.offsets.push_back(static_cast<uint32_t>(part.intervals.size()));
      part.sizes.push_back(static_cast<int32_t>(slots.size()));
    }
  });
  for (const RegionTable& part : parts) {
    const auto before = static_cast<uint32_t>(table.intervals.size());
    for (size_t i = 1; i < part.offsets.size(); ++i)
      table.offsets.push_back(before + part.offsets[i]);
    table.intervals.insert(table.intervals.end(), part.intervals.begin(), part.intervals.end());
    table.sizes.insert(table.sizes.end(), part.sizes.begin(), part.sizes.end());
  }
}

}  // namespace supple
