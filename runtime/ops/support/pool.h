// Pools: windows over [batch, channels, spatial...] with one to three spatial axes.
//
// Padding taps do not take part. Rows (batch, channel) are spread over threads.
#pragma once

#include <array>
#include <vector>

#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/window.h"

namespace assay::ops {

struct PoolShape {
  std::int64_t rows = 0;  ///< batch * channels
  std::array<std::int64_t, 3> in{1, 1, 1};
  std::array<std::int64_t, 3> out{1, 1, 1};
  std::array<std::int64_t, 3> kernel{1, 1, 1};
  std::array<std::int64_t, 3> stride{1, 1, 1};
  std::array<std::int64_t, 3> dilation{1, 1, 1};
  std::array<std::int64_t, 3> pad_begin{0, 0, 0};
  std::array<std::int64_t, 3> pad_end{0, 0, 0};

  std::int64_t in_size() const { return in[0] * in[1] * in[2]; }
  std::int64_t out_size() const { return out[0] * out[1] * out[2]; }
};

/// The taps of one output position.
struct Taps {
  std::vector<std::int64_t> offsets;  ///< input positions that take part, ascending
  std::int64_t counted = 0;  ///< taps inside the input or its padding (but not past the padding, as
                             ///< ceil_mode may reach)
};

/// kernel_shape, checked against the rank of x. Throws Error when it is missing.
Sizes pool_kernel(const Attributes& attributes, std::size_t rank);
PoolShape read_pool_shape(const Attributes& attributes, const Shape& x);
/// Output 0 (and output 1 as int64 when the node has it).
void infer_pool(InferContext& c);
/// Output 0 of a global pool: every spatial size becomes 1.
void infer_global_pool(InferContext& c);

Taps taps_of(const PoolShape& s, std::int64_t position);

/// Taps of every output position, computed once and shared by all rows.
std::vector<Taps> all_taps(const PoolShape& s);

}  // namespace assay::ops
