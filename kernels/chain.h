// A chain of elementwise operators run as one step: a block of elements goes through all of them
// while it is in the first-level cache.
//
// Every operator rounds as its float32 reference does, so the bits are those of the reference; only
// the passes over memory are saved.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/layout.h"
#include "runtime/graph.h"

namespace assay::kernels {

class Kernel;

enum class ChainFunction {
  add,
  sub,
  mul,
  div,
  max,
  min,
  clip,
  relu,
  hard_sigmoid,
  dequantize,  ///< of an input; only as the reader of codes
  quantize     ///< only as the last operator
};

/// Where an operand of a chained operator comes from.
struct ChainOperand {
  enum class From { scalar, input, channels, earlier };
  From from = From::scalar;
  float scalar = 0;
  std::size_t index = 0;  ///< input: binding number; channels: number in ChainSpec::channels;
                          ///< earlier: number of the operator
};

struct ChainOp {
  ChainFunction function = ChainFunction::add;
  ChainOperand a = {}, b = {};  ///< b only for the functions of two operands
  float low = 0, high = 0;      ///< clip: bounds; hard_sigmoid: alpha, beta
  float scale = 1;              ///< dequantize, quantize
  std::int32_t zero_point = 0;
  DType code = DType::undefined;  ///< uint8 or int8, set by the planner
};

/// One value per channel, repeated over the positions: a constant, or an input of shape [N, C, 1,
/// ...] bound at run time.
struct ChainChannels {
  std::vector<float> constant = {};  ///< empty: `input` is read
  std::size_t input = 0;
};

struct ChainSpec {
  Shape shape;
  std::vector<ChainOp> ops = {};
  std::vector<ChainChannels> channels = {};
};

/// The operator as one of a chain; nullopt when it is none. Reads only the type and its constant
/// parameters.
std::optional<ChainOp> chain_op(const Node& node, std::int64_t opset,
                                const std::vector<const Tensor*>& constants);

/// Whether the values that live at the same time fit the kernel's registers.
bool chain_fits(const std::vector<ChainOp>& ops);

/// Channels-last (or plain, when there are no channel operands). Output 0 is the last operator's. A
/// chain from one tensor of codes to codes with scalars beside it becomes a table of 256 codes.
std::unique_ptr<Kernel> make_chain(ChainSpec spec);

}  // namespace assay::kernels
