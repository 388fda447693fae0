// Shape inference shared by operators. Sizes of -1 are unknown and stay unknown unless another
// operand fixes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

using Dims = std::vector<std::int64_t>;

/// Output 0 has the type of input 0.
void infer_same(InferContext& c);
/// Output 0 has the broadcast shape of all inputs and the type of input 0; all inputs must have one
/// type.
void infer_broadcast(InferContext& c);
/// As infer_broadcast, with a bool output.
void infer_broadcast_bool(InferContext& c);

/// Broadcast of shapes with unknown sizes. Throws Error when two known sizes cannot fit.
Dims broadcast_dims(const Dims& a, const Dims& b);

/// Throws Error naming the operands when their element types differ.
void require_same_dtype(const InferContext& c, std::size_t i, std::size_t j);
/// Throws Error (unsupported) unless the element type of input `i` satisfies `allowed`.
void require_dtype(const InferContext& c, std::size_t i, bool (*allowed)(DType),
                   const char* expected);
/// Throws Error when the rank of input `i` is below `least`.
void require_rank(const InferContext& c, std::size_t i, std::int64_t least);

/// True for float16, bfloat16, float32, float64 and dd.
inline bool float_type(DType t) { return is_float(t); }
/// True for floats and integers.
inline bool number_type(DType t) { return is_float(t) || is_integer(t); }

}  // namespace assay::ops
