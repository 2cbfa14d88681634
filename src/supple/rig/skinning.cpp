// Packs influences for the vertex kernels, and turns a pose into the palette they blend. Dual
// quaternions after [Kavan 2008]; scale and shear by polar decomposition, blended apart.
#include "supple/rig/skinning.h"

#include <Eigen/LU>

#include <algorithm>
#include <unordered_map>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/polar.h"
#include "supple/rig/skinning_kernels.h"

namespace supple {
namespace {

constexpr size_t chunks_per_block = 16;

// How far a bind's matrix may be from a rotation before its stretch is blended as well.
constexpr double rigid_tolerance = 1e-6;

// Palette records, aligned so that each lies in one cache line.
struct alignas(64) LongRecord {
  float values[16] = {};
};
struct alignas(32) ShortRecord {
  float values[8] = {};
};

// Indices of palette records in the narrowest type that holds them.
struct Indices {
  std::vector<uint16_t> narrow;
  std::vector<uint32_t> wide;

  void assign(const std::vector<uint32_t>& values, size_t records) {
    if (records <= 65536)
      narrow.assign(values.begin(), values.end());
    else
      wide = values;
  }
};

// A bind as blended into vertices whose largest influence is `first`: its quaternion takes the sign
// that makes the angle between the two the smaller one.
struct BindPair {
  uint32_t first = 0;
  uint32_t bind = 0;
};

// A bind's motion split into a rotation (with translation) and a symmetric stretch before it.
struct SplitMotion {
  Eigen::Vector4d real = Eigen::Vector4d::Zero();  // x y z w
  Eigen::Vector4d dual = Eigen::Vector4d::Zero();
  Mat3d stretch = Mat3d::Identity();
  bool rigid = true;
};

SplitMotion split(const Affine& motion) {
  SplitMotion result;
  const Mat3d m = motion.linear();
  Mat3d rotation = m;
  const double off = (m.transpose() * m - Mat3d::Identity()).cwiseAbs().maxCoeff();
  if (!(off <= rigid_tolerance && m.determinant() > 0)) {
    result.rigid = false;
    const Polar polar = polar_decomposition(m);
    rotation = polar.rotation;
    result.stretch = polar.stretch;
  }
  // dual = t real / 2.
  const Quatd real = Quatd(rotation).normalized();
  const Vec3d t = motion.translation();
  result.real = real.coeffs();
  result.dual = (Quatd(0, t[0], t[1], t[2]) * real).coeffs() / 2;
  return result;
}

std::vector<Influence> sorted_influences(const SkinWeights& weights, size_t vertex,
                                         size_t bind_count) {
  const std::span<const Influence> given = weights.of(vertex);
  std::vector<Influence> sorted(given.begin(), given.end());
  for (const Influence& i : sorted)
    if (i.bind < 0 || static_cast<size_t>(i.bind) >= bind_count)
      throw_input_error("skin weights", fmt::format("vertex {}", vertex),
                        fmt::format("bind {} is not one of {}", i.bind, bind_count));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Influence& a, const Influence& b) { return a.weight > b.weight; });
  // Vertices without influences stay where they are: the bind after the last one never moves.
  if (sorted.empty()) sorted.push_back({static_cast<int32_t>(bind_count), 1});
  return sorted;
}

}  // namespace

struct Skinner::Data {
  std::vector<Bind> binds;
  size_t vertices = 0;
  std::vector<SkinningChunk> chunks;
  std::vector<float> weights;
  Indices by_bind;  // records of the matrix palette: binds, then the one that never moves
  Indices by_pair;  // records of the quaternion palettes: pairs
  std::vector<BindPair> pairs;

  // The palettes of the pose at hand.
  std::vector<LongRecord> long_palette;
  std::vector<ShortRecord> short_palette;
  std::vector<SplitMotion> motions;

  void pack(const SkinWeights& given);
  Affine motion(size_t bind, std::span<const Affine> globals) const;
  void fill_matrices(std::span<const Affine> globals);
  SkinningKernel fill_quaternions(std::span<const Affine> globals);
};

// Lays out influences chunk by chunk, every vertex padded to the longest of its chunk; vertices
// that fill up the last chunk follow the bind that never moves.
void Skinner::Data::pack(const SkinWeights& given) {
  std::vector<uint32_t> bind_indices, pair_indices;
  std::unordered_map<uint64_t, uint32_t> pair_numbers;
  std::vector<std::vector<Influence>> sorted(skinning_chunk);
  for (size_t begin = 0; begin < vertices; begin += skinning_chunk) {
    size_t per_vertex = 1;
    for (size_t v = 0; v < skinning_chunk; ++v) {
      if (begin + v < vertices)
        sorted[v] = sorted_influences(given, begin + v, binds.size());
      else
        sorted[v].assign(1, {static_cast<int32_t>(binds.size()), 1});
      per_vertex = std::max(per_vertex, sorted[v].size());
    }
    chunks.push_back({weights.size(), per_vertex});
    for (std::vector<Influence>& influences : sorted) {
      influences.resize(per_vertex, {influences[0].bind, 0});
      const auto first = static_cast<uint32_t>(influences[0].bind);
      for (const Influence& i : influences) {
        const auto bind = static_cast<uint32_t>(i.bind);
        const auto [entry, is_new] = pair_numbers.try_emplace(uint64_t{first} << 32 | bind,
                                                              static_cast<uint32_t>(pairs.size()));
        if (is_new) pairs.push_back({first, bind});
        bind_indices.push_back(bind);
        pair_indices.push_back(entry->second);
        weights.push_back(i.weight);
      }
    }
  }
  by_bind.assign(bind_indices, binds.size() + 1);
  by_pair.assign(pair_indices, pairs.size());
}

Affine Skinner::Data::motion(size_t bind, std::span<const Affine> globals) const {
  if (bind == binds.size()) return Affine::Identity();
  return globals[binds[bind].joint] * binds[bind].rest_to_joint;
}

void Skinner::Data::fill_matrices(std::span<const Affine> globals) {
  for (size_t b = 0; b <= binds.size(); ++b) {
    const Affine m = motion(b, globals);
    for (int i = 0; i < 12; ++i)
      long_palette[b].values[i] = static_cast<float>(m.matrix()(i / 4, i % 4));
  }
}

SkinningKernel Skinner::Data::fill_quaternions(std::span<const Affine> globals) {
  for (size_t b = 0; b <= binds.size(); ++b) motions[b] = split(motion(b, globals));
  const bool rigid =
      std::all_of(motions.begin(), motions.end(), [](const SplitMotion& m) { return m.rigid; });
  for (size_t p = 0; p < pairs.size(); ++p) {
    const SplitMotion& m = motions[pairs[p].bind];
    const double sign = motions[pairs[p].first].real.dot(m.real) < 0 ? -1 : 1;
    float* record = rigid ? short_palette[p].values : long_palette[p].values;
    for (int c = 0; c < 4; ++c) {
      record[c] = static_cast<float>(sign * m.real[c]);
      record[4 + c] = static_cast<float>(sign * m.dual[c]);
    }
    if (rigid) continue;
    const Mat3d& s = m.stretch;
    const double stretch[] = {s(0, 0), s(0, 1), s(0, 2), s(1, 1), s(1, 2), s(2, 2)};
    for (int c = 0; c < 6; ++c) record[8 + c] = static_cast<float>(stretch[c]);
  }
  return rigid ? SkinningKernel::dual_quaternion : SkinningKernel::stretched_quaternion;
}

Skinner::Skinner(const SkinWeights& weights, std::vector<Bind> binds)
    : m_data(std::make_unique<Data>()) {
  Data& data = *m_data;
  data.binds = std::move(binds);
  data.vertices = weights.vertices();
  data.pack(weights);
  data.motions.resize(data.binds.size() + 1);
  data.long_palette.resize(std::max(data.binds.size() + 1, data.pairs.size()));
  data.short_palette.resize(data.pairs.size());
}

Skinner::~Skinner() = default;
Skinner::Skinner(Skinner&&) noexcept = default;
Skinner& Skinner::operator=(Skinner&&) noexcept = default;

void Skinner::skin(SkinningMethod method, std::span<const Affine> globals,
                   std::span<const Vec3f> rest, std::span<Vec3f> out) const {
  Data& data = *m_data;
  if (rest.size() != data.vertices || out.size() != data.vertices)
    throw Error(ErrorKind::simulation, fmt::format("skinning: {} rest and {} posed vertices, but "
                                                   "weights for {}",
                                                   rest.size(), out.size(), data.vertices));
  if (data.vertices == 0) return;
  SkinningKernel kernel = SkinningKernel::matrix;
  if (method == SkinningMethod::linear)
    data.fill_matrices(globals);
  else
    kernel = data.fill_quaternions(globals);
  const Indices& indices = method == SkinningMethod::linear ? data.by_bind : data.by_pair;

  SkinningJob job;
  job.palette = kernel == SkinningKernel::dual_quaternion ? data.short_palette[0].values
                                                          : data.long_palette[0].values;
  job.chunks = data.chunks.data();
  job.short_indices = indices.narrow.empty() ? nullptr : indices.narrow.data();
  job.long_indices = indices.wide.data();
  job.weights = data.weights.data();
  job.rest = rest[0].data();
  job.out = out[0].data();
  job.vertices = data.vertices;
  parallel_for(data.chunks.size(), chunks_per_block,
               [&](size_t begin, size_t end) { skin_chunks(kernel, job, begin, end); });
}

}  // namespace supple
