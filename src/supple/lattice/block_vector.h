// Vectors on a lattice: three numbers per node, block by block, in cache-line aligned memory.
#pragma once

#include <cstring>
#include <new>
#include <vector>

#include "supple/core/parallel.h"
#include "supple/lattice/sweep_plan.h"

namespace supple {

/// Memory that starts at a cache line; large pieces ask for huge pages, as sweeps over a lattice
/// touch far more pages at a time than processors keep the addresses of.
void* allocate_aligned(size_t bytes);

/// Gives back what allocate_aligned() returned for as many bytes.
void free_aligned(void* memory, size_t bytes);

/// Standard containers' way to such memory.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(allocate_aligned(n * sizeof(T))); }
  void deallocate(T* p, size_t n) { free_aligned(p, n * sizeof(T)); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};

/// An array that starts at a cache line.
template <class T>
using AlignedArray = std::vector<T, CacheLineAllocator<T>>;

/// Blocks handled together by loops over vectors.
inline constexpr size_t blocks_per_range = 32;

/// A vector on a lattice; the numbers of the block after the last one are always 0.
template <class Scalar>
class BlockVector {
 public:
  BlockVector() = default;
  /// All zero.
  explicit BlockVector(size_t blocks) : m_numbers((blocks + 1) * vector_block, Scalar(0)) {}

  Scalar* data() { return m_numbers.data(); }
  const Scalar* data() const { return m_numbers.data(); }
  /// Number of blocks, without the zero one at the end.
  size_t blocks() const { return m_numbers.empty() ? 0 : m_numbers.size() / vector_block - 1; }
  /// Number of numbers, without those of the zero block.
  size_t size() const { return blocks() * vector_block; }

  Scalar& operator[](size_t i) { return m_numbers[i]; }
  Scalar operator[](size_t i) const { return m_numbers[i]; }

  /// Sets every number to 0.
  void set_zero() {
    parallel_for(size(), blocks_per_range * vector_block, [&](size_t begin, size_t end) {
      std::memset(data() + begin, 0, (end - begin) * sizeof(Scalar));
    });
  }

  /// The index of component 0 of a node; components lie block_cells apart.
  static size_t index(LatticePlace node) {
    return static_cast<size_t>(node.block) * vector_block + static_cast<size_t>(node.local);
  }
  /// A node's three numbers.
  Eigen::Matrix<Scalar, 3, 1> at(LatticePlace node) const {
    const size_t i = index(node);
    return {m_numbers[i], m_numbers[i + block_cells], m_numbers[i + 2 * block_cells]};
  }
  /// Sets a node's three numbers.
  void set(LatticePlace node, const Eigen::Matrix<Scalar, 3, 1>& value) {
    const size_t i = index(node);
    for (size_t c = 0; c < 3; ++c) m_numbers[i + c * block_cells] = value[static_cast<int>(c)];
  }

 private:
  AlignedArray<Scalar> m_numbers;
};

}  // namespace supple
