#include "supple/sim/node_weights.h"

#include <algorithm>
#include <array>

#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr size_t channels_at_once = 16;
constexpr int smoothing = 12;
constexpr size_t most_influences = 8;

// Carries up to channels_at_once numbers per point to the nodes.
class Spread {
 public:
  Spread(const SolidLattice& solid, const LatticeMesh& mesh, std::span<const Vec3f> points)
      : m_embedding(solid, mesh, points),
        m_neighbours(mesh.neighbours()),
        m_share(mesh.nodes.size(), 0) {
    for (const LatticeTie& tie : m_embedding.ties())
      for (size_t i = 0; i < 8; ++i) m_share[static_cast<size_t>(tie.nodes[i])] += weight(tie, i);
    find_waves();
  }

  size_t nodes() const { return m_share.size(); }

  // value(point, channel) of every point to `out`, channels_at_once numbers per node.
  template <class Value>
  void spread(const Value& value, std::vector<float>& out) const {
    out.assign(nodes() * channels_at_once, 0);
    const auto ties = m_embedding.ties();
    for (size_t p = 0; p < ties.size(); ++p)
      for (size_t i = 0; i < 8; ++i) {
        const auto node = static_cast<size_t>(ties[p].nodes[i]);
        const float w = weight(ties[p], i) / m_share[node];
        if (w > 0)
          for (size_t c = 0; c < channels_at_once; ++c)
            out[node * channels_at_once + c] += w * value(p, c);
      }
    for (size_t w = 0; w + 1 < m_waves.size(); ++w)
      average(m_waves[w], m_waves[w + 1], static_cast<int32_t>(w), out);
    for (int pass = 0; pass < smoothing; ++pass)
      average(0, m_order.size(), static_cast<int32_t>(nodes()), out);
  }

 private:
  static float weight(const LatticeTie& tie, size_t i) {
    return static_cast<float>(std::max(0.0, tie.weights[i])) + 1e-6f;
  }

  // Nodes without points in their cells, in the order of their distance from those with, by steps.
  void find_waves() {
    m_wave.assign(nodes(), -1);
    std::vector<int32_t> front;
    for (size_t n = 0; n < nodes(); ++n)
      if (m_share[n] > 0) {
        m_wave[n] = 0;
        front.push_back(static_cast<int32_t>(n));
      }
    m_waves.push_back(0);
    for (int32_t wave = 1; !front.empty(); ++wave) {
      std::vector<int32_t> next;
      for (const int32_t n : front)
        for (int32_t e = m_neighbours.offsets[static_cast<size_t>(n)];
             e < m_neighbours.offsets[static_cast<size_t>(n) + 1]; ++e) {
          const int32_t other = m_neighbours.nodes[static_cast<size_t>(e)];
          if (m_wave[static_cast<size_t>(other)] >= 0) continue;
          m_wave[static_cast<size_t>(other)] = wave;
          next.push_back(other);
        }
      m_order.insert(m_order.end(), next.begin(), next.end());
      m_waves.push_back(m_order.size());
      front = std::move(next);
    }
  }

  // Sets nodes of the order to the mean of their neighbours up to a wave.
  void average(size_t begin, size_t end, int32_t last_wave, std::vector<float>& values) const {
    std::vector<float> means((end - begin) * channels_at_once, 0);
    parallel_for(end - begin, 512, [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) {
        const auto n = static_cast<size_t>(m_order[begin + i]);
        float count = 0;
        float* mean = means.data() + i * channels_at_once;
        for (int32_t e = m_neighbours.offsets[n]; e < m_neighbours.offsets[n + 1]; ++e) {
          const auto other = static_cast<size_t>(m_neighbours.nodes[static_cast<size_t>(e)]);
          if (m_wave[other] > last_wave) continue;
          count += 1;
          for (size_t c = 0; c < channels_at_once; ++c)
            mean[c] += values[other * channels_at_once + c];
        }
        for (size_t c = 0; c < channels_at_once; ++c) mean[c] /= count;
      }
    });
    for (size_t i = 0; i < end - begin; ++i)
      std::copy_n(means.data() + i * channels_at_once, channels_at_once,
                  values.data() + static_cast<size_t>(m_order[begin + i]) * channels_at_once);
  }

  LatticeEmbedding m_embedding;
  LatticeMesh::Neighbours m_neighbours;
  std::vector<float> m_share;    // sum of the points' weights
  std::vector<int32_t> m_wave;   // steps from the skin
  std::vector<int32_t> m_order;  // nodes beyond the skin, wave by wave
  std::vector<size_t> m_waves;   // first of each wave in the order
};

}  // namespace

std::vector<float> spread_to_nodes(const SolidLattice& solid, const LatticeMesh& mesh,
                                   std::span<const Vec3f> points, std::span<const float> values,
                                   size_t channels) {
  const Spread spread(solid, mesh, points);
  std::vector<float> result(spread.nodes() * channels, 0), some;
  for (size_t first = 0; first < channels; first += channels_at_once) {
    const size_t count = std::min(channels_at_once, channels - first);
    spread.spread(
        [&](size_t p, size_t c) { return c < count ? values[p * channels + first + c] : 0.0f; },
        some);
    for (size_t n = 0; n < spread.nodes(); ++n)
      for (size_t c = 0; c < count; ++c)
        result[n * channels + first + c] = some[n * channels_at_once + c];
  }
  return result;
}

SkinWeights node_weights(const SolidLattice& solid, const LatticeMesh& mesh,
                         std::span<const Vec3f> points, const SkinWeights& weights, size_t binds) {
  const Spread spread(solid, mesh, points);
  std::vector<std::vector<Influence>> found(spread.nodes());
  std::vector<float> dense(points.size() * channels_at_once), some;
  for (size_t first = 0; first < binds; first += channels_at_once) {
    std::fill(dense.begin(), dense.end(), 0.0f);
    bool any = false;
    for (size_t p = 0; p < points.size(); ++p)
      for (const Influence& i : weights.of(p)) {
        const size_t bind = static_cast<size_t>(i.bind);
        if (bind < first || bind >= first + channels_at_once) continue;
        dense[p * channels_at_once + bind - first] += i.weight;
        any = true;
      }
    if (!any) continue;
    spread.spread([&](size_t p, size_t c) { return dense[p * channels_at_once + c]; }, some);
    for (size_t n = 0; n < spread.nodes(); ++n)
      for (size_t c = 0; c < channels_at_once; ++c)
        if (some[n * channels_at_once + c] > 1e-3f)
          found[n].push_back({static_cast<int32_t>(first + c), some[n * channels_at_once + c]});
  }
  SkinWeights result;
  for (std::vector<Influence>& own : found) {
    std::stable_sort(own.begin(), own.end(),
                     [](const Influence& a, const Influence& b) { return a.weight > b.weight; });
    if (own.size() > most_influences) own.resize(most_influences);
    result.add_vertex(own, 0);
  }
  return result;
}

}  // namespace supple
