#include "supple/sim/tet_carry.h"

#include <map>
#include <set>

namespace supple {
namespace {

// How often nodes take the mean of their neighbours' shares, and which shares are left out.
constexpr int rounds = 4;
constexpr double least_share = 0.02;

using Shares = std::map<int32_t, double>;

std::vector<std::set<int32_t>> neighbours_of(const TetMesh& mesh) {
  std::vector<std::set<int32_t>> result(mesh.positions.size());
  for (const Vec4i& tet : mesh.tets)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (a != b) result[static_cast<size_t>(tet[a])].insert(tet[b]);
  return result;
}

Shares blended(const Shares& own, const std::set<int32_t>& around, std::span<const Shares> all) {
  if (around.empty()) return own;
  Shares sum;
  for (const auto& [bone, share] : own) sum[bone] += share / 2;
  for (const int32_t n : around)
    for (const auto& [bone, share] : all[static_cast<size_t>(n)])
      sum[bone] += share / (2 * static_cast<double>(around.size()));
  return sum;
}

}  // namespace

TetCarry::TetCarry(const TetMesh& mesh, std::span<const int32_t> reference) {
  std::vector<Shares> shares;
  for (const int32_t bone : reference) shares.push_back({{bone, 1.0}});
  const std::vector<std::set<int32_t>> around = neighbours_of(mesh);
  for (int round = 0; round < rounds; ++round) {
    std::vector<Shares> next;
    for (size_t n = 0; n < shares.size(); ++n)
      next.push_back(blended(shares[n], around[n], shares));
    shares = std::move(next);
  }
  m_offsets.push_back(0);
  for (const Shares& own : shares) {
    double kept = 0;
    for (const auto& [bone, share] : own) kept += share > least_share ? share : 0;
    for (const auto& [bone, share] : own)
      if (share > least_share) m_shares.emplace_back(bone, share / kept);
    m_offsets.push_back(static_cast<uint32_t>(m_shares.size()));
  }
}

void TetCarry::move(std::span<const Affine> bones, TetVector& nodes) const {
  for (size_t n = 0; n + 1 < m_offsets.size(); ++n) {
    const Vec3d from = nodes.node(n);
    Vec3d to = Vec3d::Zero();
    for (uint32_t k = m_offsets[n]; k < m_offsets[n + 1]; ++k) {
      const auto& [bone, share] = m_shares[k];
      to += share * (bone < 0 ? from : bones[static_cast<size_t>(bone)] * from);
    }
    nodes.node(n) = to;
  }
}

}  // namespace supple
