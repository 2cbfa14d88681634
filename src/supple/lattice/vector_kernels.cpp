#include "supple/lattice/vector_kernels.h"

#include <cstring>

#define SUPPLE_KERNEL_FILE "supple/lattice/vector_kernels.cpp"
#include "supple/math/for_each_target.h"

#include "supple/math/plane.h"

SUPPLE_KERNELS_BEGIN

// A sum of products over blocks: per component within a block, so that additions wait for few
// others, and in double precision beyond it.
template <class Scalar>
class BlockSum {
 public:
  using T = Wide<Scalar>;

  HWY_INLINE BlockSum() : m_x(Scalar(0)), m_y(Scalar(0)), m_z(Scalar(0)), m_blocks(0.0) {}

  // Adds a · b, from number `at` of the block on.
  HWY_INLINE void add(size_t at, T a, T b) {
    if (at < block_cells)
      m_x = mul_add(a, b, m_x);
    else if (at < 2 * block_cells)
      m_y = mul_add(a, b, m_y);
    else
      m_z = mul_add(a, b, m_z);
  }

  HWY_INLINE void end_block() {
    m_blocks += widened(m_x + m_y + m_z);
    m_x = m_y = m_z = T(Scalar(0));
  }

  HWY_INLINE double total() const { return sum_of_lanes(m_blocks); }

 private:
  T m_x, m_y, m_z;
  WideDouble m_blocks;
};

// Adds the ghosts that other tiles left for a block.
template <class Scalar>
HWY_INLINE void add_ghosts(const FinishInput<Scalar>& in, size_t block, Scalar* y) {
  const uint32_t end = in.incoming_offsets[block + 1];
  uint32_t i = in.incoming_offsets[block];
  if (i == end) return;
  const EdgeSpreader<Scalar> spreader;
  for (; i < end; ++i) {
    const Scalar* from = in.ghosts + in.incoming[i] * ghost_record;
    const int axis = in.faces[in.incoming[i]].axis;
    for (size_t c = 0; c < 3; ++c, from += ghost_size) {
      Scalar* to = y + c * block_cells;
      if (axis == 2)
        add_plane(load_plane(from), to);
      else if (axis == 1)
        for (size_t k = 0; k < 4; ++k) add_plane(spreader.row(from + 4 * k), to + k * plane_size);
      else
        for (size_t k = 0; k < 4; ++k)
          add_plane(spreader.column(from + 4 * k), to + k * plane_size);
    }
  }
}

// Calls use(i, product, factor) for every register of a block, from its number i on: product is A x
// there, the factor 0 at fixed nodes and 1 elsewhere. Instead none(i) in planes without free nodes,
// which are most of them in blocks at the rim.
template <class Scalar, class Use, class None>
HWY_INLINE void finish_block(const FinishInput<Scalar>& in, size_t block, Scalar* y, const Use& use,
                             const None& none) {
  using T = Wide<Scalar>;
  const uint64_t free = in.free[block];
  if (free == 0) {
    for (size_t at = 0; at < vector_block; at += T::lanes) none(at);
    return;
  }
  if (in.sums != nullptr) y = in.sums + (block - in.first_sum) * vector_block;
  add_ghosts(in, block, y);
  const Scalar* x = in.x + block * vector_block;
  const float* masses = in.masses == nullptr ? nullptr : in.masses + block * block_cells;
  const auto product = [&](size_t at) HWY_ATTR {
    if (masses == nullptr) return load(y + at);
    return mul_add(load_as<Scalar>(masses + at % block_cells), load(x + at), load(y + at));
  };
  if (free == ~uint64_t{0}) {
    for (size_t at = 0; at < vector_block; at += T::lanes) use(at, product(at), T(1));
    return;
  }
  alignas(64) Scalar factors[block_cells];
  bit_factors(free, factors);
  for (size_t k = 0; k < block_cells; k += plane_size) {
    const bool empty = (free >> k & 0xFFFF) == 0;
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = k; i < k + plane_size; i += T::lanes) {
        const size_t at = c * block_cells + i;
        if (empty)
          none(at);
        else
          use(at, product(at), load(factors + i));
      }
  }
}

template <class Scalar>
double product_blocks(const FinishInput<Scalar>& in, size_t begin, size_t end, Scalar* y) {
  using T = Wide<Scalar>;
  BlockSum<Scalar> sum;
  const bool streams = in.streams && in.sums != nullptr;
  // Where all nodes are free the sums are the product, and may be where it goes.
  const bool stays = in.sums == nullptr && in.masses == nullptr;
  for (size_t b = begin; b < end; ++b) {
    Scalar* to = y + b * vector_block;
    const Scalar* x = in.x + b * vector_block;
    if (in.complete != nullptr && is_whole(in.complete, in.free, b)) continue;
    const auto put = [&](size_t at, T value) HWY_ATTR {
      if (streams)
        stream(value, to + at);
      else
        store(value, to + at);
    };
    if (stays && in.free[b] == ~uint64_t{0}) {
      add_ghosts(in, b, to);
      for (size_t at = 0; at < vector_block; at += T::lanes)
        sum.add(at, load(to + at), load(x + at));
    } else {
      finish_block(
          in, b, to,
          [&](size_t at, T product, T factor) HWY_ATTR {
            const T value = product * factor;
            put(at, value);
            sum.add(at, value, load(x + at));
          },
          [&](size_t at) HWY_ATTR { put(at, T(Scalar(0))); });
    }
    sum.end_block();
  }
  return sum.total();
}

template <class Scalar>
double residual_blocks(const FinishInput<Scalar>& in, size_t begin, size_t end, const Scalar* b,
                       Scalar* y) {
  using T = Wide<Scalar>;
  BlockSum<Scalar> sum;
  for (size_t block = begin; block < end; ++block) {
    Scalar* to = y + block * vector_block;
    const Scalar* right = b + block * vector_block;
    finish_block(
        in, block, to,
        [&](size_t at, T product, T factor) HWY_ATTR {
          const T value = (load(right + at) - product) * factor;
          store(value, to + at);
          sum.add(at, value, value);
        },
        [&](size_t at) HWY_ATTR { store(T(Scalar(0)), to + at); });
    sum.end_block();
  }
  return sum.total();
}

double product_floats(const FinishInput<float>& in, size_t begin, size_t end, float* y) {
  return product_blocks(in, begin, end, y);
}
double product_doubles(const FinishInput<double>& in, size_t begin, size_t end, double* y) {
  return product_blocks(in, begin, end, y);
}
double residual_floats(const FinishInput<float>& in, size_t begin, size_t end, const float* b,
                       float* y) {
  return residual_blocks(in, begin, end, b, y);
}
double residual_doubles(const FinishInput<double>& in, size_t begin, size_t end, const double* b,
                        double* y) {
  return residual_blocks(in, begin, end, b, y);
}

void smooth_blocks(const FinishInput<float>& in, size_t begin, size_t end, const SmoothStep& step,
                   float* y) {
  using T = WideFloat;
  const T momentum(step.momentum), weight(step.weight);
  for (size_t block = begin; block < end; ++block) {
    const size_t start = block * vector_block;
    float* x = step.x + start;
    const float *b = step.b + start, *inverse = step.inverse_diagonal + start;
    const float* before = step.before == nullptr ? nullptr : step.before + start;
    float* direction = step.direction == nullptr ? nullptr : step.direction + start;
    finish_block(
        in, block, y + start,
        [&](size_t at, T product, T) HWY_ATTR {
          T change = weight * load(inverse + at) * (load(b + at) - product);
          if (before != nullptr) change = mul_add(momentum, load(before + at), change);
          if (direction != nullptr) store(change, direction + at);
          store(load(x + at) + change, x + at);
        },
        [](size_t) {});
  }
}

double start_range(const SmoothStep& step, size_t begin, size_t end) {
  const WideFloat weight(step.weight);
  BlockSum<float> sum;
  for (size_t block = begin; block < end; block += vector_block) {
    for (size_t i = block; i < block + vector_block; i += WideFloat::lanes) {
      const WideFloat b = load(step.b + i);
      const WideFloat change = weight * load(step.inverse_diagonal + i) * b;
      store(change, step.x + i);
      sum.add(i - block, b, change);
    }
    sum.end_block();
  }
  return sum.total();
}

void invert_blocks(const FinishInput<float>& in, size_t begin, size_t end, float* y) {
  alignas(64) float factors[block_cells];
  for (size_t b = begin; b < end; ++b) {
    bit_factors(in.free[b], factors);
    float* to = y + b * vector_block;
    add_ghosts(in, b, to);
    const float* masses = in.masses == nullptr ? nullptr : in.masses + b * block_cells;
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < block_cells; ++i) {
        float& entry = to[c * block_cells + i];
        const float whole = entry + (masses == nullptr ? 0 : masses[i]);
        entry = factors[i] > 0 && whole > 0 ? 1 / whole : 0;
      }
  }
}

template <class Scalar>
double dot_numbers(const Scalar* a, const Scalar* b, size_t begin, size_t end) {
  BlockSum<Scalar> sum;
  for (size_t block = begin; block < end; block += vector_block) {
    for (size_t i = block; i < block + vector_block; i += Wide<Scalar>::lanes)
      sum.add(i - block, load(a + i), load(b + i));
    sum.end_block();
  }
  return sum.total();
}
double dot_floats(const float* a, const float* b, size_t begin, size_t end) {
  return dot_numbers(a, b, begin, end);
}
double dot_doubles(const double* a, const double* b, size_t begin, size_t end) {
  return dot_numbers(a, b, begin, end);
}

template <class Scalar, class Other>
void add_scaled(Scalar factor, const Other* x, Scalar* y, size_t begin, size_t end) {
  using T = Wide<Scalar>;
  for (size_t i = begin; i < end; i += T::lanes)
    store(mul_add(T(factor), load_as<Scalar>(x + i), load(y + i)), y + i);
}
void add_floats(float factor, const float* x, float* y, size_t begin, size_t end) {
  add_scaled(factor, x, y, begin, end);
}
void add_floats_to_doubles(double factor, const float* x, double* y, size_t begin, size_t end) {
  add_scaled(factor, x, y, begin, end);
}
void add_doubles(double factor, const double* x, double* y, size_t begin, size_t end) {
  add_scaled(factor, x, y, begin, end);
}

template <class Scalar, class Other>
void scale_add(const Other* x, Scalar factor, Scalar* y, size_t begin, size_t end) {
  using T = Wide<Scalar>;
  for (size_t i = begin; i < end; i += T::lanes)
    store(mul_add(T(factor), load(y + i), load_as<Scalar>(x + i)), y + i);
}
void scale_add_floats(const float* x, float factor, float* y, size_t begin, size_t end) {
  scale_add(x, factor, y, begin, end);
}
void scale_add_floats_to_doubles(const float* x, double factor, double* y, size_t begin,
                                 size_t end) {
  scale_add(x, factor, y, begin, end);
}

template <class Scalar>
double add_scaled_norm(Scalar factor, const Scalar* x, Scalar* y, size_t begin, size_t end) {
  using T = Wide<Scalar>;
  BlockSum<Scalar> sum;
  for (size_t block = begin; block < end; block += vector_block) {
    for (size_t i = block; i < block + vector_block; i += T::lanes) {
      const T value = mul_add(T(factor), load(x + i), load(y + i));
      store(value, y + i);
      sum.add(i - block, value, value);
    }
    sum.end_block();
  }
  return sum.total();
}
double add_norm_floats(float factor, const float* x, float* y, size_t begin, size_t end) {
  return add_scaled_norm(factor, x, y, begin, end);
}
double add_norm_doubles(double factor, const double* x, double* y, size_t begin, size_t end) {
  return add_scaled_norm(factor, x, y, begin, end);
}

SUPPLE_KERNELS_END

#if SUPPLE_KERNELS_ONCE
namespace supple {
namespace {
SUPPLE_KERNEL(product_floats);
SUPPLE_KERNEL(product_doubles);
SUPPLE_KERNEL(residual_floats);
SUPPLE_KERNEL(residual_doubles);
SUPPLE_KERNEL(smooth_blocks);
SUPPLE_KERNEL(start_range);
SUPPLE_KERNEL(invert_blocks);
SUPPLE_KERNEL(dot_floats);
SUPPLE_KERNEL(dot_doubles);
SUPPLE_KERNEL(add_floats);
SUPPLE_KERNEL(add_floats_to_doubles);
SUPPLE_KERNEL(add_doubles);
SUPPLE_KERNEL(scale_add_floats);
SUPPLE_KERNEL(scale_add_floats_to_doubles);
SUPPLE_KERNEL(add_norm_floats);
SUPPLE_KERNEL(add_norm_doubles);
}  // namespace

template <>
double finish_product(const FinishInput<float>& in, size_t begin, size_t end, float* y) {
  return SUPPLE_DISPATCH(product_floats)(in, begin, end, y);
}
template <>
double finish_product(const FinishInput<double>& in, size_t begin, size_t end, double* y) {
  return SUPPLE_DISPATCH(product_doubles)(in, begin, end, y);
}
template <>
double finish_residual(const FinishInput<float>& in, size_t begin, size_t end, const float* b,
                       float* y) {
  return SUPPLE_DISPATCH(residual_floats)(in, begin, end, b, y);
}
template <>
double finish_residual(const FinishInput<double>& in, size_t begin, size_t end, const double* b,
                       double* y) {
  return SUPPLE_DISPATCH(residual_doubles)(in, begin, end, b, y);
}
void finish_smoothing(const FinishInput<float>& in, size_t begin, size_t end,
                      const SmoothStep& step, float* y) {
  SUPPLE_DISPATCH(smooth_blocks)(in, begin, end, step, y);
}
double start_smoothing(const SmoothStep& step, size_t begin, size_t end) {
  return SUPPLE_DISPATCH(start_range)(step, begin, end);
}
void finish_diagonal(const FinishInput<float>& in, size_t begin, size_t end, float* y) {
  SUPPLE_DISPATCH(invert_blocks)(in, begin, end, y);
}
template <>
double dot_range(const float* a, const float* b, size_t begin, size_t end) {
  return SUPPLE_DISPATCH(dot_floats)(a, b, begin, end);
}
template <>
double dot_range(const double* a, const double* b, size_t begin, size_t end) {
  return SUPPLE_DISPATCH(dot_doubles)(a, b, begin, end);
}
template <>
void add_scaled_range(float factor, const float* x, float* y, size_t begin, size_t end) {
  SUPPLE_DISPATCH(add_floats)(factor, x, y, begin, end);
}
template <>
void add_scaled_range(double factor, const float* x, double* y, size_t begin, size_t end) {
  SUPPLE_DISPATCH(add_floats_to_doubles)(factor, x, y, begin, end);
}
template <>
void add_scaled_range(double factor, const double* x, double* y, size_t begin, size_t end) {
  SUPPLE_DISPATCH(add_doubles)(factor, x, y, begin, end);
}
template <>
void scale_add_range(const float* x, float factor, float* y, size_t begin, size_t end) {
  SUPPLE_DISPATCH(scale_add_floats)(x, factor, y, begin, end);
}
template <>
void scale_add_range(const float* x, double factor, double* y, size_t begin, size_t end) {
  SUPPLE_DISPATCH(scale_add_floats_to_doubles)(x, factor, y, begin, end);
}
template <>
double add_scaled_norm_range(float factor, const float* x, float* y, size_t begin, size_t end) {
  return SUPPLE_DISPATCH(add_norm_floats)(factor, x, y, begin, end);
}
template <>
double add_scaled_norm_range(double factor, const double* x, double* y, size_t begin, size_t end) {
  return SUPPLE_DISPATCH(add_norm_doubles)(factor, x, y, begin, end);
}

}  // namespace supple
#endif
