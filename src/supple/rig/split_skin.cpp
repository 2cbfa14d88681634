#include "supple/rig/split_skin.h"

#include <algorithm>
#include <numeric>

#include "supple/mesh/weld.h"

namespace supple {
namespace {

// Positions that vertices at one place have in common, to the bit.
std::vector<Vec3f> welded_positions(std::span<const Vec3f> positions) {
  const Weld weld = weld_by_position(positions);
  std::vector<Vec3f> points, result(positions.size());
  for (const int32_t v : weld.vertex_of_point) points.push_back(positions[static_cast<size_t>(v)]);
  unweld(weld, points, result);
  return result;
}

// The triangles of flesh: all but those that hang on joints of a skinned character.
std::vector<int32_t> flesh_triangles(const Character& character) {
  std::vector<int32_t> chosen;
  const bool skinned = is_skinned(character);
  for (const Part& part : character.parts)
    for (int32_t t = part.triangles.first; t < part.triangles.end(); ++t)
      if (!part.rigid || !skinned) chosen.push_back(t);
  return chosen;
}

// Where all vertices go: each that is made to the end of the parts it belongs to.
class NewOrder {
 public:
  // `owners` has a vertex of the input near each vertex that is made, of the same part.
  NewOrder(const Character& character, std::span<const int32_t> owners)
      : m_input(character.skin.positions.size()), m_made_before(m_input + 1, 0) {
    // Parts that share vertices end where the last of them does.
    std::vector<Range> ranges;
    for (const Part& part : character.parts)
      if (part.vertices.count > 0) ranges.push_back(part.vertices);
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.first < b.first; });
    m_end.resize(m_input);
    for (size_t v = 0; v < m_input; ++v) m_end[v] = static_cast<int32_t>(v) + 1;
    for (size_t i = 0; i < ranges.size();) {
      const int32_t first = ranges[i].first;
      int32_t reached = ranges[i].end();
      while (++i < ranges.size() && ranges[i].first < reached)
        reached = std::max(reached, ranges[i].end());
      std::fill(m_end.begin() + first, m_end.begin() + reached, reached);
    }
    std::vector<int32_t> made_at(m_input + 1, 0);  // by the end they are put at
    for (const int32_t owner : owners) ++made_at[static_cast<size_t>(end_at(owner))];
    // Those put at the end of a part stand before the vertex that followed it.
    std::partial_sum(made_at.begin(), made_at.end(), m_made_before.begin());
    std::vector<int32_t> next(m_input + 1);
    for (size_t v = 0; v <= m_input; ++v)
      next[v] = static_cast<int32_t>(v) + m_made_before[v] - made_at[v];
    for (const int32_t owner : owners) m_made.push_back(next[static_cast<size_t>(end_at(owner))]++);
  }

  // The new number of a vertex of the split mesh.
  int32_t operator()(int32_t vertex) const {
    const auto v = static_cast<size_t>(vertex);
    return v < m_input ? vertex + m_made_before[v] : m_made[v - m_input];
  }

  // A run of vertices of the input, with those made at the end of its parts.
  Range grown(const Range& range) const {
    if (range.count == 0) return {range.first, 0};
    const int32_t first = (*this)(range.first);
    const auto end = static_cast<size_t>(end_at(range.first));
    return {first, static_cast<int32_t>(end) + m_made_before[end] - first};
  }

 private:
  int32_t end_at(int32_t vertex) const { return m_end[static_cast<size_t>(vertex)]; }

  size_t m_input;
  std::vector<int32_t> m_made_before;  // of vertices made, by vertex of the input
  std::vector<int32_t> m_end;          // of the parts of a vertex
  std::vector<int32_t> m_made;         // new numbers of the vertices that are made
};

SkinWeights split_weights(const SkinWeights& given, std::span<const VertexSource> sources) {
  if (given.vertices() == 0) return given;
  SkinWeights result;
  std::vector<Influence> mixed;
  for (const VertexSource& source : sources) {
    mixed.clear();
    for (int k = 0; k < 3; ++k)
      for (const Influence& influence : given.of(static_cast<size_t>(source.vertices[k])))
        if (source.weights[k] > 0)
          mixed.push_back({influence.bind, source.weights[k] * influence.weight});
    // The input's own weights are kept to the bit: they are scaled already.
    if (source.is_input()) {
      result.influences.insert(result.influences.end(), mixed.begin(), mixed.end());
      result.offsets.push_back(static_cast<int32_t>(result.influences.size()));
    } else {
      result.add_vertex(mixed, mixed.empty() ? 0 : mixed.front().bind);
    }
  }
  return result;
}

// Directions are as long as they were, or of unit length.
void make_unit(std::vector<float>& values, size_t width, size_t vertex) {
  Eigen::Map<Vec3f> direction(values.data() + width * vertex);
  const float length = direction.norm();
  if (length > 0) direction /= length;
}

VertexAttribute split_attribute(const VertexAttribute& given,
                                std::span<const VertexSource> sources) {
  VertexAttribute result{given.name, given.components, {}};
  const auto width = static_cast<size_t>(given.components);
  const bool direction = (given.name == "NORMAL" || given.name == "TANGENT") && width >= 3;
  result.values.reserve(width * sources.size());
  for (size_t v = 0; v < sources.size(); ++v) {
    for (size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        if (sources[v].weights[k] > 0)
          sum += static_cast<double>(sources[v].weights[k]) *
                 static_cast<double>(
                     given.values[width * static_cast<size_t>(sources[v].vertices[k]) + c]);
      result.values.push_back(static_cast<float>(sum));
    }
    if (direction && !sources[v].is_input()) make_unit(result.values, width, v);
  }
  return result;
}

BlendShape split_shape(const BlendShape& given, size_t input_vertices,
                       std::span<const VertexSource> sources) {
  std::vector<Vec3f> offsets(input_vertices, Vec3f::Zero());
  for (size_t i = 0; i < given.vertices.size(); ++i)
    offsets[static_cast<size_t>(given.vertices[i])] += given.offsets[i];
  BlendShape result{given.name, {}, {}, given.rest_weight};
  for (size_t v = 0; v < sources.size(); ++v) {
    const Vec3f offset = at_source(sources[v], std::span<const Vec3f>(offsets));
    if (offset.isZero(0)) continue;
    result.vertices.push_back(static_cast<int32_t>(v));
    result.offsets.push_back(offset);
  }
  return result;
}

// The triangles with some replaced by their pieces, and the input triangle of each.
std::vector<Vec3i> with_pieces(const Character& character, std::span<const int32_t> chosen,
                               const SplitMesh& split, const NewOrder& renumber,
                               std::vector<int32_t>& origin) {
  const size_t count = character.skin.triangles.size();
  std::vector<std::pair<size_t, size_t>> pieces(count, {0, 0});  // of every triangle
  for (size_t p = 0; p < split.map.triangles.size(); ++p) {
    auto& range = pieces[static_cast<size_t>(chosen[static_cast<size_t>(split.map.triangles[p])])];
    if (range.second == 0) range.first = p;
    range.second = p + 1;
  }
  std::vector<Vec3i> result;
  const auto add = [&](const Vec3i& t, size_t of) {
    result.emplace_back(renumber(t[0]), renumber(t[1]), renumber(t[2]));
    origin.push_back(static_cast<int32_t>(of));
  };
  for (size_t t = 0; t < count; ++t) {
    if (pieces[t].second == 0) add(character.skin.triangles[t], t);
    for (size_t p = pieces[t].first; p < pieces[t].second; ++p) add(split.mesh.triangles[p], t);
  }
  return result;
}

}  // namespace

void split_skin(Character& character, const CellGrid& grid, double tolerance) {
  const size_t input = character.skin.positions.size();
  const std::vector<int32_t> chosen = flesh_triangles(character);
  std::vector<Vec3i> triangles;
  for (const int32_t t : chosen)
    triangles.push_back(character.skin.triangles[static_cast<size_t>(t)]);
  const SplitMesh split =
      split_at_planes(welded_positions(character.skin.positions), triangles, grid, tolerance);

  // Vertices of all parts, in their new order.
  std::vector<int32_t> owners;
  for (size_t v = input; v < split.map.vertices.size(); ++v)
    owners.push_back(split.map.vertices[v].vertices[0]);
  const NewOrder renumber(character, owners);
  SplitMap map;
  map.vertices.resize(split.map.vertices.size());
  for (size_t v = 0; v < split.map.vertices.size(); ++v)
    map.vertices[static_cast<size_t>(renumber(static_cast<int32_t>(v)))] = split.map.vertices[v];

  // Triangles, and the parts' shares of both.
  character.skin.triangles = with_pieces(character, chosen, split, renumber, map.triangles);
  for (Part& part : character.parts) {
    const auto place = [&](int32_t triangle) {
      return static_cast<int32_t>(
          std::lower_bound(map.triangles.begin(), map.triangles.end(), triangle) -
          map.triangles.begin());
    };
    const int32_t first = place(part.triangles.first), end = place(part.triangles.end());
    part.triangles = {first, end - first};
    part.vertices = renumber.grown(part.vertices);
  }

  // Whatever a vertex has.
  std::vector<Vec3f> positions;
  positions.reserve(map.vertices.size());
  for (const VertexSource& source : map.vertices)
    positions.push_back(at_source(source, std::span<const Vec3f>(character.skin.positions)));
  character.skin.positions = std::move(positions);
  character.weights = split_weights(character.weights, map.vertices);
  for (VertexAttribute& attribute : character.attributes)
    attribute = split_attribute(attribute, map.vertices);
  for (BlendShape& shape : character.shapes) shape = split_shape(shape, input, map.vertices);
  character.split_map = std::move(map);
}

Range input_vertices(const SplitMap& map, const Part& part) {
  if (map.empty() || part.vertices.count == 0) return part.vertices;
  Range range{map.vertices[static_cast<size_t>(part.vertices.first)].vertices[0], 0};
  for (int32_t v = part.vertices.first; v < part.vertices.end(); ++v)
    if (map.vertices[static_cast<size_t>(v)].is_input()) ++range.count;
  return range;
}

}  // namespace supple
