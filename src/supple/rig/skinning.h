// Skinning: linear blend and dual quaternions, vectorised and threaded.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "supple/rig/skin_weights.h"

namespace supple {

/// How joint motions are blended.
enum class SkinningMethod { linear, dual_quaternion };

/// Skins vertices with fixed weights; built once per character, then called every frame.
class Skinner {
 public:
  /// Packs the weights for fast access; a bind that is not in `binds` is an input error.
  Skinner(const SkinWeights& weights, std::vector<Bind> binds);
  ~Skinner();
  Skinner(Skinner&&) noexcept;
  Skinner& operator=(Skinner&&) noexcept;

  /// Poses `rest` (model space) by the joint-to-model matrices `globals` into `out`; the two may be
  /// the same array. Bit-identical for any thread count. The palette of the pose is kept inside, so
  /// one skinner poses one skin at a time.
  void skin(SkinningMethod method, std::span<const Affine> globals, std::span<const Vec3f> rest,
            std::span<Vec3f> out) const;

 private:
  struct Data;
  std::unique_ptr<Data> m_data;
};

}  // namespace supple
