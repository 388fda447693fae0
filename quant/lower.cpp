#include "quant/lower.h"

#include <algorithm>

#include "quant/plan.h"
#include "quant/profile.h"
#include "quant/qdq.h"
#include "quant/tail.h"
#include "runtime/infer.h"

namespace assay {
namespace {

template <class T>
const Decline* declined(const std::variant<T, Decline>& v) {
  return std::get_if<Decline>(&v);
}

class Lowerer {
 public:
  Lowerer(Graph& g, const LowerOptions& options)
      : g_(g), options_(options), types_(probed_types(g)) {}

  /// Linear operators first, so that they take the Adds behind them; later ones before earlier
  /// ones: of two convolutions that meet in an Add, the later one takes it.
  void run(std::vector<LoweredNode>& log) {
    const auto order = g_.topological_order();
    std::map<NodeId, LoweredNode> notes;
    for (const bool linear : {true, false}) {
      for (auto n = order.rbegin(); n != order.rend(); ++n) {
        if (!g_.alive(*n) || (role_of(g_.node(*n)) == QuantRole::linear) != linear) continue;
        if (notes.count(*n) == 0 && is_operator(g_.node(*n))) notes[*n] = visit(*n);
      }
    }
    for (const NodeId n : order) {
      const auto it = notes.find(n);
      if (it != notes.end()) log.push_back(it->second);
    }
  }

 private:
  static bool is_operator(const Node& node) {
    return !node.is("QuantizeLinear") && !node.is("DequantizeLinear");
  }

  LoweredNode visit(NodeId n) {
    const Node& node = g_.node(n);
    LoweredNode note{.node = node.name,
                     .op_type = node.op_type,
                     .output = node.has_output(0) ? g_.name(node.outputs[0]) : ""};
    absorbed_.clear();
    if (const auto why = lower_node(n))
      note.reason = why->reason;
    else
      note.lowered = true;
    note.absorbed = absorbed_;
    return note;
  }

  std::optional<Decline> lower_node(NodeId n) {
    const Node& node = g_.node(n);
    if (!node.domain.empty()) return Decline{"operator of another domain"};
    if (node.is("Conv")) return lower_conv(n);
    if (node.is("Gemm") || node.is("MatMul")) return lower_matrix(n);
    if (node.is("Add")) return lower_add(n);
    if (node.is("GlobalAveragePool") || node.is("AveragePool")) return lower_average(n);
    if (node.is("MaxPool")) return lower_max(n);
    if (node.is("Concat")) return lower_concat(n);
    if (node.is("ConvTranspose")) return Decline{"ConvTranspose has no integer operator here"};
    if (role_of(node) == QuantRole::copy) return lower_copy(n);
    return Decline{node.op_type + " has no integer form"};
  }

  // ---- what nodes share

  void set_params(Attributes& a, const std::string& prefix, const QuantParams& p) const {
    a.set(prefix + "_scale", p.scale);
    a.set(prefix + "_zero_point", p.zero_point);
  }

  void set_tail(Attributes& a, const Tail& t) const {
    a.set("profile", options_.profile);
    a.set("y_dtype", static_cast<std::int64_t>(t.y ? t.y->dtype : DType::float32));
    if (t.y) set_params(a, "y", *t.y);
    if (t.residual) set_params(a, "residual", t.residual->params);
    if (t.mid) {
      set_params(a, "mid", *t.mid);
      a.set("mid_dtype", static_cast<std::int64_t>(t.mid->dtype));
    }
    if (t.activation.type.empty()) return;
    a.set("activation", t.activation.type);
    if (t.activation.min) a.set("act_min", *t.activation.min);
    if (t.activation.max) a.set("act_max", *t.activation.max);
    if (t.activation.type == "LeakyRelu" || t.activation.type == "HardSigmoid")
      a.set("act_alpha", t.activation.alpha);
    if (t.activation.type == "HardSigmoid") a.set("act_beta", t.activation.beta);
  }

  /// Replaces the node and its tail by `node`, which writes the tail's codes or its float value.
  void replace(NodeId n, const Tail& t, Node node) {
    while (!node.inputs.empty() && !node.inputs.back().valid()) node.inputs.pop_back();
    for (const NodeId gone : t.nodes) {
      absorbed_.push_back(g_.node(gone).name);
      g_.erase_node(gone);
    }
    g_.erase_node(n);
    for (std::size_t i = 1; i < t.code_values.size(); ++i)
      g_.replace_uses(t.code_values[i], t.code_values[0]);
    node.outputs = {t.y ? t.code_values[0] : t.value};
    g_.add_node(std::move(node));
  }

  ValueId constant(const std::string& stem, Tensor t) {
    return g_.add_initializer(g_.fresh_name(stem), std::move(t));
  }

  /// Common part of Conv and of matrix products.
  void emit_linear(NodeId n, const CodeSource& x, const CodedWeights& w, const Tensor& bias,
                   const char* op) {
    const Node old = g_.node(n);
    const Tail t = find_tail(g_, n, types_, true);
    Node node{.name = old.name, .op_type = op, .domain = assay_domain};
    if (old.is("Conv")) node.attributes = old.attributes;
    node.inputs = {x.codes, constant(old.name + "_weight_codes", w.codes), {}, {}};
    if (bias.defined()) node.inputs[2] = constant(old.name + "_bias", bias);
    if (t.residual) node.inputs[3] = t.residual->codes;
    set_params(node.attributes, "x", x.params);
    node.attributes.set("w_scales", w.scales);
    if (!old.is("Conv")) node.attributes.set("transB", std::int64_t{1});
    set_tail(node.attributes, t);
    replace(n, t, std::move(node));
  }

  // ---- operators

  std::optional<Decline> lower_conv(NodeId n) {
    const Node& node = g_.node(n);
    if (node.attributes.string_or("auto_pad", "NOTSET") != "NOTSET") {
      return Decline{"auto_pad is " + node.attributes.string_or("auto_pad", ""), "state the pads"};
    }
    const auto x = code_source(g_, node.inputs[0]);
    if (const auto* why = declined(x)) return *why;
    const auto w = coded_weights(g_, node.inputs[1], 0);
    if (const auto* why = declined(w)) return *why;
    const auto& weights = std::get<CodedWeights>(w);
    const auto bias =
        coded_bias(g_, node.has_input(2) ? node.inputs[2] : ValueId{}, weights.codes.shape()[0]);
    if (const auto* why = declined(bias)) return *why;
    emit_linear(n, std::get<CodeSource>(x), weights, std::get<Tensor>(bias), "QConv");
    return std::nullopt;
  }

  static Tensor transposed(const Tensor& w) {
    const std::int64_t rows = w.shape()[0], columns = w.shape()[1];
    Tensor t(DType::int8, {columns, rows});
    const auto from = w.data<std::int8_t>();
    const auto to = t.mutable_data<std::int8_t>();
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j)
        to[static_cast<std::size_t>(j * rows + i)] =
            from[static_cast<std::size_t>(i * columns + j)];
    }
    return t;
  }

  std::optional<Decline> lower_matrix(NodeId n) {
    const Node& node = g_.node(n);
    const Attributes& a = node.attributes;
    if (node.is("Gemm") &&
        (a.int_or("transA", 0) != 0 || a.float_or("alpha", 1) != 1 || a.float_or("beta", 1) != 1)) {
      return Decline{"Gemm has transA, alpha or beta"};
    }
    const bool trans_b = node.is("Gemm") && a.int_or("transB", 0) != 0;
    const auto x = code_source(g_, node.inputs[0]);
    if (const auto* why = declined(x)) return *why;
    auto w = coded_weights(g_, node.inputs[1], trans_b ? 0 : 1);
    if (const auto* why = declined(w)) return *why;
    auto& weights = std::get<CodedWeights>(w);
    if (weights.codes.shape().rank() != 2) return Decline{"weight is not a matrix"};
    if (!trans_b) weights.codes = transposed(weights.codes);
    const ValueId c = node.is("Gemm") && node.has_input(2) ? node.inputs[2] : ValueId{};
    const auto bias = coded_bias(g_, c, weights.codes.shape()[0]);
    if (const auto* why = declined(bias)) return *why;
    emit_linear(n, std::get<CodeSource>(x), weights, std::get<Tensor>(bias), "QGemm");
    return std::nullopt;
  }

  std::optional<Decline> lower_add(NodeId n) {
    const Node old = g_.node(n);
    const auto a = code_source(g_, old.inputs[0]), b = code_source(g_, old.inputs[1]);
    if (const auto* why = declined(a)) return *why;
    if (const auto* why = declined(b)) return *why;
    if (!same_shape(types_, old.inputs[0], old.inputs[1]))
      return Decline{"operands may differ in shape"};
    Node node{.name = old.name, .op_type = "QAdd", .domain = assay_domain};
    node.inputs = {std::get<CodeSource>(a).codes, std::get<CodeSource>(b).codes};
    set_params(node.attributes, "a", std::get<CodeSource>(a).params);
    set_params(node.attributes, "b", std::get<CodeSource>(b).params);
    const Tail t = find_tail(g_, n, types_, false);
    set_tail(node.attributes, t);
    replace(n, t, std::move(node));
    return std::nullopt;
  }

  std::optional<Decline> lower_average(NodeId n) {
    const Node old = g_.node(n);
    const auto x = code_source(g_, old.inputs[0]);
    if (const auto* why = declined(x)) return *why;
    Node node{.name = old.name,
              .op_type = "Q" + old.op_type,
              .domain = assay_domain,
              .inputs = {std::get<CodeSource>(x).codes},
              .attributes = old.attributes};
    set_params(node.attributes, "x", std::get<CodeSource>(x).params);
    const Tail t = find_tail(g_, n, types_, false);
    set_tail(node.attributes, t);
    replace(n, t, std::move(node));
    return std::nullopt;
  }

  /// A node that copies codes: its result must be quantized with the scale of its operand.
  std::variant<Tail, Decline> copied(NodeId n, const CodeSource& x) {
    Tail t = quantized_tail(g_, n);
    if (!t.y) return Decline{"its result is not quantized"};
    if (!(*t.y == x.params))
      return Decline{"its result has another scale or zero point than its operand"};
    return t;
  }

  std::optional<Decline> lower_max(NodeId n) {
    const Node old = g_.node(n);
    const auto x = code_source(g_, old.inputs[0]);
    if (const auto* why = declined(x)) return *why;
    if (old.outputs.size() > 1) return Decline{"its index output is used"};
    const auto t = copied(n, std::get<CodeSource>(x));
    if (const auto* why = declined(t)) return *why;
    Node node{.name = old.name,
              .op_type = "QMaxPool",
              .domain = assay_domain,
              .inputs = {std::get<CodeSource>(x).codes},
              .attributes = old.attributes};
    set_params(node.attributes, "x", std::get<CodeSource>(x).params);
    set_tail(node.attributes, std::get<Tail>(t));
    replace(n, std::get<Tail>(t), std::move(node));
    return std::nullopt;
  }

  std::optional<Decline> lower_copy(NodeId n) {
    const Node old = g_.node(n);
    const auto x = code_source(g_, old.inputs[0]);
    if (const auto* why = declined(x)) return *why;
    const auto t = copied(n, std::get<CodeSource>(x));
    if (const auto* why = declined(t)) return *why;
    Node node = old;
    node.inputs[0] = std::get<CodeSource>(x).codes;
    replace(n, std::get<Tail>(t), std::move(node));
    return std::nullopt;
  }

  std::optional<Decline> lower_concat(NodeId n) {
    const Node old = g_.node(n);
    Node node{.name = old.name,
              .op_type = "QConcat",
              .domain = assay_domain,
              .attributes = old.attributes};
    std::vector<float> scales;
    std::vector<std::int64_t> zeros;
    for (const ValueId v : old.inputs) {
      const auto x = code_source(g_, v);
      if (const auto* why = declined(x)) return *why;
      const auto& source = std::get<CodeSource>(x);
      node.inputs.push_back(source.codes);
      scales.push_back(source.params.scale);
      zeros.push_back(source.params.zero_point);
    }
    const Tail t = quantized_tail(g_, n);
    if (!t.y) return Decline{"its result is not quantized"};
    node.attributes.set("x_scales", scales);
    node.attributes.set("x_zero_points", zeros);
    set_tail(node.attributes, t);
    replace(n, t, std::move(node));
    return std::nullopt;
  }

  Graph& g_;
  const LowerOptions& options_;
  StaticTypes types_;
  std::vector<std::string> absorbed_;
};

std::vector<CodeValue> code_values(const Graph& g) {
  std::vector<CodeValue> found;
  for (const NodeId n : g.topological_order()) {
    const auto p = quantizer_of(g, n);
    const Node& node = g.node(n);
    if (!p || g.constant(node.inputs[0]) != nullptr) continue;
    found.push_back({g.name(node.outputs[0]), g.name(node.inputs[0]), *p});
  }
  return found;
}

}  // namespace

LowerResult lower(const Graph& qdq, const LowerOptions& options) {
  find_profile(options.profile);
  LowerResult result{.graph = qdq, .nodes = {}, .codes = code_values(qdq)};
  result.graph.info.opsets.try_emplace(assay_domain, 1);
  Lowerer(result.graph, options).run(result.nodes);
  result.graph.remove_dead();
  result.graph.sort_nodes();
  result.graph.verify();
  return result;
}

}  // namespace assay
