// The inner loops of volume constraints, compiled for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace supple {

/// gradients = n̄ of vertices [begin, end), in m²: half the sum of the products of consecutive
/// vertices of their fans. Positions and gradients have three numbers per vertex; one more number
/// is read behind the last position.
void fan_gradients(const uint32_t* offsets, const int32_t* items, const float* positions,
                   float* gradients, size_t begin, size_t end);

/// Two sums over vertices.
struct VolumeSums {
  double along = 0;    ///< Σ (x - centre) · n̄, x being positions or velocities
  double squares = 0;  ///< Σ w n̄ · n̄
};

/// The sums over vertices [begin, end); `centre` has three numbers.
VolumeSums volume_sums(const float* x, const float* gradients, const float* weights,
                       const float* centre, size_t begin, size_t end);

/// x += factor w n̄ for vertices [begin, end), none by more than `limit`.
void follow_gradients(float* x, const float* gradients, const float* weights, float factor,
                      float limit, size_t begin, size_t end);

}  // namespace supple
