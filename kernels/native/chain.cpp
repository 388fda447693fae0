#include "kernels/chain.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "kernels/kernel.h"
#include "kernels/native/code_loops.h"
#include "kernels/native/code_table.h"

namespace assay::kernels {
namespace {

constexpr std::int64_t block =
    1024;  // floats of one register: a handful of them stay in the first-level cache
constexpr std::size_t most_registers = 4;

/// One operand of a block: an array, or one value.
struct Lane {
  const float* data = nullptr;
  float value = 0;
};

template <class F>
ASSAY_SIMD_BODY void apply(const Lane& a, const Lane& b, float* y, std::int64_t n, const F& f) {
  if (a.data != nullptr && b.data != nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a.data[i], b.data[i]);
  } else if (a.data != nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a.data[i], b.value);
  } else if (b.data != nullptr) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = f(a.value, b.data[i]);
  } else {
    const float v = f(a.value, b.value);
    for (std::int64_t i = 0; i < n; ++i) y[i] = v;
  }
}

/// x / d for every element, as one product in float64 rounded to float32: the float64 product is
/// off by at most 2^-52 of itself, while a quotient of two float32 numbers whose divisor is no
/// power of two lies at least 2^-49 of itself from every midpoint of two normal float32 numbers (X
/// / D = (2M + 1) / 2 needs D odd-factored into a 25-bit 2M + 1, more than the 24 bits of X).
/// Subnormal quotients are excluded by the caller.
struct DivideByProduct {
  static ASSAY_SIMD_BODY bool serves(const float* x, std::int64_t n, float d) {
    if (!(d >= 0x1p-20F && d <= 0x1p20F)) return false;
    constexpr std::int64_t group = 64;
    if (n % group != 0) return false;
    int tiny = 0;
    for (std::int64_t first = 0; first < n; first += group) {
      for (std::int64_t i = 0; i < group; ++i) {
        const float size = __builtin_fabsf(x[first + i]);
        tiny |= (size < 0x1p-100F ? 1 : 0) & (size > 0.0F ? 1 : 0);
      }
    }
    return tiny == 0;
  }
  static ASSAY_SIMD_BODY void run(const float* x, float* y, std::int64_t n, float d) {
    const double inverse = 1.0 / static_cast<double>(d);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = static_cast<float>(static_cast<double>(x[i]) * inverse);
  }
};

struct BlockLoop {
  ASSAY_SIMD_BODY void operator()(const ChainOp& op, Lane a, Lane b, float* y,
                                  std::int64_t n) const {
    const float low = op.low, high = op.high;
    switch (op.function) {
      case ChainFunction::add:
        return apply(a, b, y, n, [](float p, float q) { return p + q; });
      case ChainFunction::sub:
        return apply(a, b, y, n, [](float p, float q) { return p - q; });
      case ChainFunction::mul:
        return apply(a, b, y, n, [](float p, float q) { return p * q; });
      case ChainFunction::div:
        if (a.data != nullptr && b.data == nullptr && DivideByProduct::serves(a.data, n, b.value))
          return DivideByProduct::run(a.data, y, n, b.value);
        return apply(a, b, y, n, [](float p, float q) { return p / q; });
      case ChainFunction::max:
        return apply(a, b, y, n, [](float p, float q) { return p > q || p != p ? p : q; });
      case ChainFunction::min:
        return apply(a, b, y, n, [](float p, float q) { return p < q || p != p ? p : q; });
      case ChainFunction::clip:
        return apply(a, b, y, n, [=](float p, float) {
          const float raised = p < low ? low : p;
          return raised > high ? high : raised;
        });
      case ChainFunction::relu:
        return apply(a, b, y, n, [](float p, float) { return p > 0.0F || p != p ? p : 0.0F; });
      case ChainFunction::hard_sigmoid:
        return apply(a, b, y, n, [=](float p, float) {
          const float line = __builtin_fmaf(p, low, high);
          const float raised = line < 0.0F ? 0.0F : line;
          return raised > 1.0F ? 1.0F : raised;
        });
      case ChainFunction::dequantize:
      case ChainFunction::quantize:
        return;  // their operands are no floats: run_codes
    }
  }
};

/// Number of the last operator that reads each operator's result.
std::vector<std::size_t> last_uses(const std::vector<ChainOp>& ops) {
  std::vector<std::size_t> last(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    last[i] = i;
    for (const ChainOperand* o : {&ops[i].a, &ops[i].b}) {
      if (o->from == ChainOperand::From::earlier) last[o->index] = i;
    }
  }
  return last;
}

/// A register per operator, taken again once its value is dead; nothing when there are too few.
std::optional<std::vector<std::size_t>> assign_registers(const std::vector<ChainOp>& ops) {
  const auto last = last_uses(ops);
  std::vector<std::size_t> result(ops.size());
  std::vector<std::size_t> owner(most_registers, ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto free = std::find_if(owner.begin(), owner.end(),
                                   [&](std::size_t o) { return o == ops.size() || last[o] <= i; });
    if (free == owner.end()) return std::nullopt;
    *free = i;
    result[i] = static_cast<std::size_t>(free - owner.begin());
  }
  return result;
}

class ChainKernel : public Kernel {
 public:
  explicit ChainKernel(ChainSpec spec)
      : spec_(std::move(spec)),
        registers_(assign_registers(spec_.ops).value()),
        level_(simd_level()) {
    const Shape& s = spec_.shape;
    channels_ = spec_.channels.empty() ? 1 : s[1];
    batch_ = spec_.channels.empty() ? 1 : s[0];
    image_ = s.numel() / batch_;
    length_ = std::max<std::int64_t>(1, block / channels_) * channels_;
    tiles_ = std::vector<std::vector<float>>(spec_.channels.size());
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      tiles_[i].resize(static_cast<std::size_t>(length_));
      if (!spec_.channels[i].constant.empty()) fill_tile(i, spec_.channels[i].constant.data());
    }
  }

  void bind(const Binding& b) override { binding_ = b; }

  void run() override {
    for (std::int64_t n = 0; n < batch_; ++n) {
      for (std::size_t i = 0; i < tiles_.size(); ++i) {
        const ChainChannels& c = spec_.channels[i];
        if (c.constant.empty()) {
          fill_tile(i, reinterpret_cast<const float*>(binding_.inputs[c.input]) + n * channels_);
        }
      }
      const std::int64_t parts = (image_ + length_ - 1) / length_;
      split_work(parts, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          run_block(n * image_ + p * length_, std::min(length_, image_ - p * length_));
        }
      });
    }
  }

  std::string implementation() const override { return "native:chain"; }

 private:
  void fill_tile(std::size_t i, const float* values) {
    for (std::int64_t at = 0; at < length_; at += channels_) {
      std::copy_n(values, channels_, tiles_[i].begin() + at);
    }
  }

  Lane lane(const ChainOperand& o, std::int64_t offset, float (*registers)[2 * block]) const {
    switch (o.from) {
      case ChainOperand::From::scalar:
        return {nullptr, o.scalar};
      case ChainOperand::From::input:
        return {reinterpret_cast<const float*>(binding_.inputs[o.index]) + offset, 0};
      case ChainOperand::From::channels:
        return {tiles_[o.index].data(), 0};
      case ChainOperand::From::earlier:
        return {registers[registers_[o.index]], 0};
    }
    return {};
  }

  void run_codes(const ChainOp& op, const Lane& a, float* y, std::int64_t offset,
                 std::int64_t n) const {
    if (op.code == DType::uint8) return run_codes_as<std::uint8_t>(op, a, y, offset, n);
    run_codes_as<std::int8_t>(op, a, y, offset, n);
  }

  template <class T>
  void run_codes_as(const ChainOp& op, const Lane& a, float* y, std::int64_t offset,
                    std::int64_t n) const {
    if (op.function == ChainFunction::dequantize) {
      const T* codes = reinterpret_cast<const T*>(binding_.inputs[op.a.index]) + offset;
      return run_simd(level_, DequantizeLoop<T>{}, codes, y, n, op.scale, op.zero_point);
    }
    T* codes = reinterpret_cast<T*>(binding_.outputs[0]) + offset;
    const QuantizeParams p = quantize_params(op.code, op.scale, op.zero_point);
    run_simd(level_, QuantizeLoop<T>{}, a.data, codes, n, p);
  }

  void run_block(std::int64_t offset, std::int64_t n) const {
    alignas(64) float registers[most_registers][2 * block];
    for (std::size_t i = 0; i < spec_.ops.size(); ++i) {
      const ChainOp& op = spec_.ops[i];
      const bool last = i + 1 == spec_.ops.size();
      if (op.code != DType::undefined) {
        run_codes(op, lane(op.a, offset, registers), registers[registers_[i]], offset, n);
        continue;
      }
      float* y =
          last ? reinterpret_cast<float*>(binding_.outputs[0]) + offset : registers[registers_[i]];
      const Lane a = lane(op.a, offset, registers), b = lane(op.b, offset, registers);
      run_simd<BlockLoop, const ChainOp&>(level_, BlockLoop{}, op, a, b, y, n);
    }
  }

  ChainSpec spec_;
  std::vector<std::size_t> registers_;
  SimdLevel level_;
  std::int64_t channels_ = 1, batch_ = 1, image_ = 1, length_ = block;
  std::vector<std::vector<float>> tiles_;
  Binding binding_;
};

/// Whether the chain reads one tensor, of codes, and gives codes: then it is a function of a code.
bool is_function_of_a_code(const ChainSpec& spec) {
  if (!spec.channels.empty() || spec.ops.back().function != ChainFunction::quantize) return false;
  return std::all_of(spec.ops.begin(), spec.ops.end(), [](const ChainOp& op) {
    const bool reads =
        op.a.from == ChainOperand::From::input || op.b.from == ChainOperand::From::input;
    return !reads || (op.function == ChainFunction::dequantize && op.a.index == 0);
  });
}

/// The chain's own results for the 256 codes.
CodeTable table_of(ChainSpec spec) {
  CodeTable codes, table;
  std::iota(codes.begin(), codes.end(), std::uint8_t{0});
  spec.shape = Shape{static_cast<std::int64_t>(codes.size())};
  ChainKernel chain(std::move(spec));
  chain.bind({.inputs = {reinterpret_cast<std::byte*>(codes.data())},
              .outputs = {reinterpret_cast<std::byte*>(table.data())}});
  chain.run();
  return table;
}

std::optional<float> scalar_of(const Tensor* t) {
  if (t == nullptr || t->dtype() != DType::float32 || t->numel() != 1) return std::nullopt;
  return t->data<float>()[0];
}

std::optional<ChainOp> clip_op(const Node& node, const std::vector<const Tensor*>& constants) {
  ChainOp op{.function = ChainFunction::clip};
  op.low = node.attributes.float_or("min", -std::numeric_limits<float>::infinity());
  op.high = node.attributes.float_or("max", std::numeric_limits<float>::infinity());
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!node.has_input(i)) continue;
    const auto bound = scalar_of(constants[i]);
    if (!bound) return std::nullopt;
    (i == 1 ? op.low : op.high) = *bound;
  }
  return op;
}

/// QuantizeLinear or DequantizeLinear with one constant scale.
std::optional<ChainOp> code_op(const Node& node, ChainFunction function,
                               const std::vector<const Tensor*>& constants) {
  ChainOp op{.function = function};
  const auto scale = scalar_of(constants.size() > 1 ? constants[1] : nullptr);
  if (!scale || !quantizes_exactly(*scale)) return std::nullopt;
  op.scale = *scale;
  if (node.has_input(2)) {
    if (constants[2] == nullptr || constants[2]->numel() != 1) return std::nullopt;
    op.zero_point = static_cast<std::int32_t>(to_ints(*constants[2])[0]);
  }
  return op;
}

}  // namespace

bool chain_fits(const std::vector<ChainOp>& ops) { return assign_registers(ops).has_value(); }

std::optional<ChainOp> chain_op(const Node& node, std::int64_t /*opset*/,
                                const std::vector<const Tensor*>& constants) {
  if (!node.domain.empty() || node.outputs.size() != 1) return std::nullopt;
  const std::string& t = node.op_type;
  if (t == "Relu") return ChainOp{.function = ChainFunction::relu};
  if (t == "Clip") return clip_op(node, constants);
  if (t == "HardSigmoid") {
    ChainOp op{.function = ChainFunction::hard_sigmoid};
    op.low = node.attributes.float_or("alpha", 0.2F);
    op.high = node.attributes.float_or("beta", 0.5F);
    return op;
  }
  if (t == "DequantizeLinear") return code_op(node, ChainFunction::dequantize, constants);
  if (t == "QuantizeLinear") return code_op(node, ChainFunction::quantize, constants);
  if (node.inputs.size() != 2) return std::nullopt;
  if (t == "Add") return ChainOp{.function = ChainFunction::add};
  if (t == "Sub") return ChainOp{.function = ChainFunction::sub};
  if (t == "Mul") return ChainOp{.function = ChainFunction::mul};
  if (t == "Div") return ChainOp{.function = ChainFunction::div};
  if (t == "Max") return ChainOp{.function = ChainFunction::max};
  if (t == "Min") return ChainOp{.function = ChainFunction::min};
  return std::nullopt;
}

std::unique_ptr<Kernel> make_chain(ChainSpec spec) {
  if (is_function_of_a_code(spec)) return make_code_table(table_of(spec), spec.shape.numel());
  return std::make_unique<ChainKernel>(std::move(spec));
}

}  // namespace assay::kernels
