#include "quant/qdq.h"

#include "runtime/numeric/quantize.h"
#include "runtime/ops/support/quantize_axis.h"

namespace assay {
namespace {

struct Quantizer {
  std::vector<float> scales;
  std::vector<std::int64_t> zeros;
  bool per_tensor = true;
};

std::variant<Quantizer, Decline> read_quantizer(const Graph& g, const Node& node, DType codes) {
  const Tensor* scale = node.has_input(1) ? g.constant(node.inputs[1]) : nullptr;
  const Tensor* zero = node.has_input(2) ? g.constant(node.inputs[2]) : nullptr;
  const std::string where = " of '" + node.name + "'";
  if (scale == nullptr || (node.has_input(2) && zero == nullptr))
    return Decline{"scale or zero point" + where + " is not constant"};
  if (scale->dtype() != DType::float32)
    return Decline{"scale" + where + " is " + to_string(scale->dtype()) + ", not float32"};
  if (node.attributes.int_or("block_size", 0) != 0) return Decline{"scale" + where + " is blocked"};
  if (zero != nullptr && zero->dtype() != codes)
    return Decline{"zero point" + where + " is " + to_string(zero->dtype())};
  const auto s = scale->data<float>();
  Quantizer q{{s.begin(), s.end()},
              zero_points(zero != nullptr ? *zero : Tensor(), *scale),
              scale->numel() == 1};
  for (const float v : q.scales) {
    if (!(std::isfinite(v) && v > 0)) return Decline{"scale" + where + " is " + std::to_string(v)};
  }
  return q;
}

bool is_8_bit(DType t) { return t == DType::uint8 || t == DType::int8; }

/// Type of the codes that a value holds, from the zero points of the nodes around it.
DType code_type(const Graph& g, const Node& node) {
  if (node.has_input(2)) {
    if (const Tensor* zero = g.constant(node.inputs[2])) return zero->dtype();
  }
  if (node.is("QuantizeLinear")) {
    const auto stated = static_cast<DType>(node.attributes.int_or("output_dtype", 0));
    return stated == DType::undefined ? DType::uint8 : stated;
  }
  return g.value(node.inputs[0]).type.dtype == DType::undefined
             ? DType::uint8
             : g.value(node.inputs[0]).type.dtype;
}

/// The codes behind a weight's DequantizeLinear, quantizing a float constant when that is what
/// stands there.
std::variant<Tensor, Decline> constant_codes(const Graph& g, ValueId v) {
  if (const Tensor* t = g.constant(v)) return *t;
  const Node* q = g.producer(v);
  const Tensor* w = q != nullptr && q->is("QuantizeLinear") ? g.constant(q->inputs[0]) : nullptr;
  if (w == nullptr || w->dtype() != DType::float32)
    return Decline{"weight codes '" + g.name(v) + "' are not constant"};
  const DType t = code_type(g, *q);
  if (!is_8_bit(t)) return Decline{"weight codes are " + to_string(t)};
  auto found = read_quantizer(g, *q, t);
  if (auto* why = std::get_if<Decline>(&found)) return *why;
  const auto& quantizer = std::get<Quantizer>(found);
  Tensor codes(t, w->shape());
  const ScaleLayout layout(w->shape(), g.constant(q->inputs[1])->shape(),
                           q->attributes.int_or("axis", 1), 0);
  layout.for_each_run([&](std::int64_t first, std::int64_t last, std::int64_t k) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      const auto at = static_cast<std::size_t>(k);
      const auto code = quantize_value(w->data<float>()[i], quantizer.scales[at],
                                       quantizer.zeros[at], code_range(t));
      codes.mutable_raw()[i] = static_cast<std::byte>(code & 0xFF);
    }
  });
  return codes;
}

/// Codes minus the zero point as int8.
std::variant<Tensor, Decline> centred(const Tensor& codes, const Quantizer& q) {
  const std::int64_t centre = codes.dtype() == DType::uint8 ? 128 : 0;
  for (const std::int64_t z : q.zeros) {
    if (z != centre) {
      return Decline{"weight zero point is " + std::to_string(z),
                     "use symmetric weights (zero point " + std::to_string(centre) + ")"};
    }
  }
  if (codes.dtype() == DType::int8) return codes;
  Tensor out(DType::int8, codes.shape());
  const auto from = codes.data<std::uint8_t>();
  for (std::size_t i = 0; i < from.size(); ++i)
    out.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(from[i] - 128);
  return out;
}

}  // namespace

std::variant<CodeSource, Decline> code_source(const Graph& g, ValueId v) {
  const std::string name = v.valid() ? "'" + g.name(v) + "'" : "input";
  const Node* dq = v.valid() ? g.producer(v) : nullptr;
  if (dq == nullptr || !dq->is("DequantizeLinear"))
    return Decline{name + " is not dequantized codes"};
  if (g.constant(dq->inputs[0]) != nullptr) return Decline{name + " is constant"};
  const DType t = code_type(g, *dq);
  if (!is_8_bit(t)) return Decline{"codes of " + name + " are " + to_string(t) + ", not 8 bits"};
  auto q = read_quantizer(g, *dq, t);
  if (auto* why = std::get_if<Decline>(&q)) return *why;
  const auto& found = std::get<Quantizer>(q);
  if (!found.per_tensor) return Decline{name + " has one scale per channel"};
  return CodeSource{dq->inputs[0], g.value(v).producer, {t, found.scales[0], found.zeros[0]}};
}

std::optional<QuantParams> quantizer_of(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  if (!node.is("QuantizeLinear")) return std::nullopt;
  const DType t = code_type(g, node);
  if (!is_8_bit(t)) return std::nullopt;
  const auto q = read_quantizer(g, node, t);
  const auto* found = std::get_if<Quantizer>(&q);
  if (found == nullptr || !found->per_tensor) return std::nullopt;
  return QuantParams{t, found->scales[0], found->zeros[0]};
}

std::variant<CodedWeights, Decline> coded_weights(const Graph& g, ValueId v, std::int64_t axis) {
  const Node* dq = v.valid() ? g.producer(v) : nullptr;
  if (dq == nullptr || !dq->is("DequantizeLinear"))
    return Decline{"weight is not dequantized codes"};
  auto codes = constant_codes(g, dq->inputs[0]);
  if (auto* why = std::get_if<Decline>(&codes)) return *why;
  const Tensor& raw = std::get<Tensor>(codes);
  if (!is_8_bit(raw.dtype()))
    return Decline{"weight codes are " + to_string(raw.dtype()) + ", not 8 bits"};
  auto q = read_quantizer(g, *dq, raw.dtype());
  if (auto* why = std::get_if<Decline>(&q)) return *why;
  const auto& quantizer = std::get<Quantizer>(q);
  const std::int64_t rank = raw.shape().rank();
  const std::int64_t own =
      normalize_axis(dq->attributes.int_or("axis", 1), std::max<std::int64_t>(rank, 2));
  if (!quantizer.per_tensor && own != axis) {
    return Decline{"weight scales lie along axis " + std::to_string(own) +
                   ", the output channels along " + std::to_string(axis)};
  }
  auto centred_codes = centred(raw, quantizer);
  if (auto* why = std::get_if<Decline>(&centred_codes)) return *why;
  return CodedWeights{std::get<Tensor>(std::move(centred_codes)), quantizer.scales};
}

std::variant<Tensor, Decline> coded_bias(const Graph& g, ValueId v, std::int64_t channels) {
  if (!v.valid()) return Tensor();
  Tensor bias;
  if (const Tensor* t = g.constant(v)) {
    bias = *t;
  } else {
    const Node* dq = g.producer(v);
    const Tensor* codes =
        dq != nullptr && dq->is("DequantizeLinear") ? g.constant(dq->inputs[0]) : nullptr;
    if (codes == nullptr) return Decline{"bias is not constant"};
    auto q = read_quantizer(g, *dq, codes->dtype());
    if (auto* why = std::get_if<Decline>(&q)) return *why;
    const auto& found = std::get<Quantizer>(q);
    bias = Tensor(DType::float32, codes->shape());
    const auto raw = to_ints(*codes);
    if (!found.per_tensor && found.scales.size() != raw.size())
      return Decline{"bias scales do not fit the bias"};
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const std::size_t k = found.per_tensor ? 0 : i;
      bias.mutable_data<float>()[i] = dequantize_value(raw[i], found.zeros[k], found.scales[k]);
    }
  }
  if (bias.dtype() != DType::float32) return Decline{"bias is " + to_string(bias.dtype())};
  if (bias.numel() != channels || (bias.shape().rank() > 0 && bias.shape()[-1] != channels)) {
    return Decline{"bias is not one value per channel"};
  }
  return bias.reshaped({channels});
}

NodeId only_reader(const Graph& g, ValueId v) {
  if (!v.valid() || g.use_count(v) != 1 || g.is_output(v) || g.value(v).readers.size() != 1)
    return {};
  return g.value(v).readers[0];
}

StaticTypes probed_types(const Graph& g) {
  std::map<std::string, Shape> shapes;
  std::map<std::string, std::int64_t> sizes;
  for (const ValueId v : g.inputs()) {
    if (!g.value(v).type.dims) continue;
    std::vector<std::int64_t> dims;
    for (const Dim& d : *g.value(v).type.dims) {
      const bool spatial = dims.size() >= 2;
      const std::string symbol =
          d.symbol.empty() ? g.name(v) + "." + std::to_string(dims.size()) : d.symbol;
      const auto next = static_cast<std::int64_t>(sizes.size());
      dims.push_back(
          d.size >= 0
              ? d.size
              : sizes.try_emplace(symbol, spatial ? 64 + 32 * next : 2 + next).first->second);
    }
    shapes[g.name(v)] = Shape(dims);
  }
  try {
    return infer_types(g, shapes);
  } catch (const Error&) {
    return infer_types(g);
  }
}

}  // namespace assay
