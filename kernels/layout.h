// How a tensor lies in memory inside a compiled program.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/tensor.h"

namespace assay::kernels {

/// plain: row-major in the order of the shape. channels_last: axis 1 innermost (NHWC for a 4-d
/// tensor). Tensors of rank 0 to 2 are always plain.
enum class Layout { plain, channels_last };

std::string to_string(Layout layout);

/// What one buffer holds.
struct Slot {
  DType dtype = DType::undefined;
  Shape shape = {};
  Layout layout = Layout::plain;
  std::int64_t bytes() const { return shape.numel() * size_of(dtype); }
};

/// True when both layouts of the shape are the same bytes: rank below 3, one channel, or one
/// position per channel.
bool layouts_coincide(const Shape& shape);

}  // namespace assay::kernels
