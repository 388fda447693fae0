#include "validation/certificate/standardize.h"

#include <fmt/format.h>

#include "runtime/error.h"
#include "runtime/ops/nchwc.h"
#include "runtime/ops/support/microsoft_call.h"

namespace assay {
namespace {

Attributes without(Attributes a, std::initializer_list<const char*> names) {
  for (const char* name : names) a.erase(name);
  return a;
}

class Standardizer {
 public:
  Standardizer(const Graph& g, const std::map<std::string, Shape>& shapes)
      : g_(g), shapes_(shapes) {}

  Graph run() {
    set_nchwc_block(g_);
    for (const NodeId n : g_.topological_order()) visit(n);
    g_.remove_dead();
    g_.sort_nodes();
    g_.verify();
    return std::move(g_);
  }

 private:
  void visit(NodeId n) {
    const Node node = g_.node(n);
    if (node.domain == "com.microsoft" && node.op_type == "FusedConv")
      return split(n, ops::microsoft_conv_call(node), node.inputs);
    if (node.domain == "com.microsoft" && node.op_type == "FusedGemm") return split_gemm(n);
    if (node.domain == "com.microsoft" && node.op_type == "QuickGelu") {
      if (blocked_.count(node.inputs[0])) blocked_[node.outputs[0]] = blocked_.at(node.inputs[0]);
      return split_quick_gelu(n);
    }
    if (node.domain == "com.microsoft" && node.op_type == "FusedMatMul")
      return split_matmul(n, node);
    if (node.domain == nchwc_domain) return unblock(n, node);
    if (node.is("Reshape") && blocked_.count(node.inputs[0])) return drop_blocked_reshape(n, node);
    if (node.op_type == "Concat" && node.attributes.int_or("axis", 0) == 1) return add_up(node);
    if (!node.outputs.empty() && node.has_input(0) && blocked_.count(node.inputs[0]))
      blocked_[node.outputs[0]] = blocked_.at(node.inputs[0]);
  }

  /// Elementwise operators on blocked values stand between Reshapes to [N, C/b, H, W, b] and back
  /// to [N, C, H, W]. On plain values both change nothing.
  void drop_blocked_reshape(NodeId n, const Node& node) {
    const Tensor* shape = g_.constant(node.inputs[1]);
    if (shape == nullptr || (shape->numel() != 4 && shape->numel() != 5))
      throw Error({.what = "reshape of a blocked value", .where = describe(node)});
    blocked_[node.outputs[0]] = blocked_.at(node.inputs[0]);
    const ValueId in = node.inputs[0];
    const ValueId out = node.outputs[0];
    g_.erase_node(n);
    g_.add_node({.name = node.name, .op_type = "Identity", .inputs = {in}, .outputs = {out}});
  }

  void add_up(const Node& node) {
    std::int64_t total = 0;
    for (const ValueId v : node.inputs) {
      if (!blocked_.count(v)) return;
      total += blocked_.at(v);
    }
    blocked_[node.outputs[0]] = total;
  }

  /// x * Sigmoid(alpha * x)
  void split_quick_gelu(NodeId n) {
    const Node node = g_.node(n);
    const ValueId x = node.inputs[0];
    const float alpha = node.attributes.float_or("alpha", 1.702F);
    g_.erase_node(n);
    ValueId in = x;
    const auto inner = [&](const char* suffix) {
      return g_.add_value(g_.fresh_name(g_.name(node.outputs[0]) + suffix));
    };
    if (alpha != 1.0F) {
      in = inner("_scaled");
      const ValueId k =
          g_.add_initializer(g_.fresh_name(node.name + "_alpha"), Tensor::scalar(alpha));
      g_.add_node({.name = g_.fresh_node_name(node.name + "_scale"),
                   .op_type = "Mul",
                   .inputs = {x, k},
                   .outputs = {in}});
    }
    const ValueId gate = inner("_gate");
    g_.add_node({.name = g_.fresh_node_name(node.name + "_sigmoid"),
                 .op_type = "Sigmoid",
                 .inputs = {in},
                 .outputs = {gate}});
    g_.add_node(
        {.name = node.name, .op_type = "Mul", .inputs = {x, gate}, .outputs = {node.outputs[0]}});
  }

  /// alpha * op(A) * op(B), where op exchanges the last two axes.
  void split_matmul(NodeId n, const Node& node) {
    const Attributes& a = node.attributes;
    if (a.int_or("transBatchA", 0) != 0 || a.int_or("transBatchB", 0) != 0)
      throw Error({.what = "transposed batches have no standard form", .where = describe(node)});
    const ValueId out = node.outputs[0];
    g_.erase_node(n);
    std::vector<ValueId> in = node.inputs;
    for (std::size_t i = 0; i < 2; ++i) {
      if (a.int_or(i == 0 ? "transA" : "transB", 0) != 0) in[i] = exchanged(node, in[i]);
    }
    const float alpha = a.float_or("alpha", 1);
    const ValueId product =
        alpha == 1.0F ? out : g_.add_value(g_.fresh_name(g_.name(out) + "_product"));
    g_.add_node({.name = node.name, .op_type = "MatMul", .inputs = in, .outputs = {product}});
    if (alpha == 1.0F) return;
    const ValueId k =
        g_.add_initializer(g_.fresh_name(node.name + "_alpha"), Tensor::scalar(alpha));
    g_.add_node({.name = g_.fresh_node_name(node.name + "_scale"),
                 .op_type = "Mul",
                 .inputs = {product, k},
                 .outputs = {out}});
  }

  ValueId exchanged(const Node& node, ValueId v) {
    const Tensor* t = g_.constant(v);
    const auto known = shapes_.find(g_.name(v));
    if (t == nullptr && known == shapes_.end())
      throw Error(
          {.what = "the rank of a transposed operand is not known", .where = describe(node)});
    const std::int64_t rank = t != nullptr ? t->shape().rank() : known->second.rank();
    std::vector<std::int64_t> perm;
    for (std::int64_t k = 0; k < rank; ++k) perm.push_back(k);
    if (rank >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    Attributes a;
    a.set("perm", perm);
    const ValueId out = g_.add_value(g_.fresh_name(g_.name(v) + "_exchanged"));
    g_.add_node({.name = g_.fresh_node_name(node.name + "_transpose"),
                 .op_type = "Transpose",
                 .inputs = {v},
                 .outputs = {out},
                 .attributes = a});
    return out;
  }

  void split_gemm(NodeId n) {
    const Node node = g_.node(n);
    ops::FusedCall call;
    const Attributes& a = node.attributes;
    call.form = {"Gemm", false, a.string_or("activation", "")};
    call.base.attributes =
        without(a, {"activation", "activation_alpha", "activation_beta", "activation_gamma"});
    for (const char* name : {"alpha", "beta"}) {
      const std::string key = std::string("activation_") + name;
      if (a.has(key)) call.activation.set(name, a.float_or(key, 0));
    }
    split(n, call, node.inputs);
  }

  /// Base operator, residual Add and activation as nodes of their own; the last keeps the output.
  void split(NodeId n, const ops::FusedCall& call, std::vector<ValueId> inputs) {
    const Node node = g_.node(n);
    const ValueId out = node.outputs[0];
    g_.erase_node(n);
    const bool active = !call.form.activation.empty();
    const auto inner = [&](const char* suffix, bool last) {
      return last ? out : g_.add_value(g_.fresh_name(g_.name(out) + suffix));
    };
    const ValueId residual = call.form.add ? inputs[3] : ValueId{};
    inputs.resize(std::min<std::size_t>(inputs.size(), 3));
    while (!inputs.back().valid()) inputs.pop_back();
    ValueId last = inner("_linear", !call.form.add && !active);
    g_.add_node({.name = node.name,
                 .op_type = call.form.base,
                 .inputs = inputs,
                 .outputs = {last},
                 .attributes = without(call.base.attributes,
                                       {"activation", "activation_params", "block_size"})});
    if (call.form.add) {
      const ValueId sum = inner("_add", !active);
      g_.add_node({.name = g_.fresh_node_name(node.name + "_add"),
                   .op_type = "Add",
                   .inputs = {last, residual},
                   .outputs = {sum}});
      last = sum;
    }
    if (active) add_activation(node.name + "_activation", call, last, out);
  }

  void add_activation(const std::string& name, const ops::FusedCall& call, ValueId in,
                      ValueId out) {
    Node act{.name = g_.fresh_node_name(name),
             .op_type = call.form.activation,
             .inputs = {in},
             .outputs = {out},
             .attributes = call.activation};
    if (act.op_type == "Clip" && g_.opset() >= 11) {
      for (const char* bound : {"min", "max"}) {
        if (act.attributes.has(bound)) {
          act.inputs.push_back(
              g_.add_initializer(g_.fresh_name(name + "_" + bound),
                                 Tensor::scalar(call.activation.float_or(bound, 0))));
        } else {
          act.inputs.push_back({});
        }
      }
      while (!act.inputs.back().valid()) act.inputs.pop_back();
      act.attributes = {};
    }
    g_.add_node(std::move(act));
  }

  // ---- blocked layout

  void unblock(NodeId n, const Node& node) {
    if (node.op_type == "Conv") return unblock_conv(n, node);
    if (node.op_type == "ReorderInput") return unblock_input(n, node);
    if (node.op_type == "ReorderOutput") return unblock_output(n, node);
    if (blocked_.count(node.inputs[0])) blocked_[node.outputs[0]] = blocked_.at(node.inputs[0]);
    if (node.op_type == "Upsample") return unblock_upsample(n, node);
    g_.set_attributes(n, without(node.attributes, {"block_size"}));
    g_.set_op(n, node.op_type, "");
  }

  void unblock_input(NodeId n, const Node& node) {
    const auto known = shapes_.find(g_.name(node.inputs[0]));
    const bool last = node.attributes.int_or("channels_last", 0) != 0;
    if (known != shapes_.end())
      blocked_[node.outputs[0]] = known->second[last ? known->second.rank() - 1 : 1];
    reorder(n, node, {0, 3, 1, 2});
  }

  void unblock_output(NodeId n, const Node& node) {
    const std::int64_t want = node.attributes.required_int("channels");
    const auto have = blocked_.find(node.inputs[0]);
    if (have != blocked_.end() && have->second != want) {
      throw Error({.what = "padding channels of a blocked value are not zero filters",
                   .where = describe(node),
                   .got = std::to_string(have->second) + " channels",
                   .expected = std::to_string(want)});
    }
    reorder(n, node, {0, 2, 3, 1});
  }

  /// Between plain values a reorder is nothing, or a transposition from or to channels-last order.
  void reorder(NodeId n, const Node& node, const std::vector<std::int64_t>& order) {
    const bool last = node.attributes.int_or("channels_last", 0) != 0;
    Attributes a;
    if (last) a.set("perm", order);
    g_.set_attributes(n, a);
    g_.set_op(n, last ? "Transpose" : "Identity", "");
  }

  void unblock_upsample(NodeId n, const Node& node) {
    std::vector<float> scales;
    for (const std::int64_t s : node.attributes.required_ints("scales"))
      scales.push_back(static_cast<float>(s));
    Tensor t(DType::float32, Shape{static_cast<std::int64_t>(scales.size())});
    std::copy(scales.begin(), scales.end(), t.mutable_data<float>().begin());
    const ValueId in = node.inputs[0];
    const ValueId out = node.outputs[0];
    g_.erase_node(n);
    Attributes a;
    a.set("mode", std::string("nearest"));
    a.set("coordinate_transformation_mode", std::string("asymmetric"));
    a.set("nearest_mode", std::string("floor"));
    g_.add_node({.name = node.name,
                 .op_type = "Resize",
                 .inputs = {in, {}, g_.add_initializer(g_.fresh_name(node.name + "_scales"), t)},
                 .outputs = {out},
                 .attributes = a});
  }

  static bool all_zero(const Tensor& w, std::int64_t channel) {
    const std::int64_t row = w.numel() / w.shape()[0];
    const auto data = w.data<float>();
    for (std::int64_t i = 0; i < row; ++i) {
      if (data[static_cast<std::size_t>(channel * row + i)] != 0) return false;
    }
    return true;
  }

  /// Output channels without the zero rows that pad the last block.
  static std::int64_t true_channels(const Tensor& w, const Tensor* bias, std::int64_t block) {
    std::int64_t count = w.shape()[0];
    while (count > w.shape()[0] - block + 1 && count > 1 && all_zero(w, count - 1) &&
           (bias == nullptr || bias->numel() < count ||
            bias->data<float>()[static_cast<std::size_t>(count - 1)] == 0))
      --count;
    return count;
  }

  /// The first `o` rows and, of each, the first `i` input channels.
  static Tensor cut(const Tensor& w, std::int64_t o, std::int64_t i) {
    std::vector<std::int64_t> dims = w.shape().vec();
    const std::int64_t inner = w.shape().numel(2, w.shape().rank());
    const std::int64_t old = dims[1];
    dims[0] = o;
    dims[1] = i;
    Tensor out(DType::float32, Shape(dims));
    const auto from = w.data<float>();
    auto to = out.mutable_data<float>();
    for (std::int64_t r = 0; r < o; ++r) {
      std::copy_n(from.begin() + r * old * inner, i * inner, to.begin() + r * i * inner);
    }
    return out;
  }

  void unblock_conv(NodeId n, const Node& node) {
    const Tensor* blocked = g_.constant(node.inputs[1]);
    if (blocked == nullptr)
      throw Error({.what = "blocked weights that are not constant", .where = describe(node)});
    const std::int64_t block = nchwc_block(node, blocked->shape()[0]);
    const Tensor w =
        unblock_filter(*blocked, block, nchwc_filter_is_obo(node, blocked->shape(), block));
    // Copies: adding an initializer moves the graph's tensors.
    const Tensor* stored = node.has_input(2) ? g_.constant(node.inputs[2]) : nullptr;
    const Tensor bias = stored != nullptr ? *stored : Tensor();
    const auto in = blocked_.find(node.inputs[0]);
    ops::FusedCall call = ops::microsoft_conv_call(node);
    const bool depthwise = node.attributes.int_or("group", 1) > 1 && w.shape()[1] == 1;
    const std::int64_t o = depthwise && in != blocked_.end()
                               ? in->second
                               : true_channels(w, bias.defined() ? &bias : nullptr, block);
    const std::int64_t i =
        !depthwise && in != blocked_.end() && node.attributes.int_or("group", 1) == 1
            ? std::min(in->second, w.shape()[1])
            : w.shape()[1];
    if (o > w.shape()[0] || i > w.shape()[1]) {
      throw Error({.what = "blocked filter with fewer channels than its input",
                   .where = describe(node),
                   .got = to_string(w.shape()),
                   .expected = fmt::format("at least {} x {}", o, i)});
    }
    if (depthwise) call.base.attributes.set("group", o);
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = g_.add_initializer(g_.fresh_name(g_.name(inputs[1]) + "_plain"), cut(w, o, i));
    if (bias.defined() && bias.numel() > o) {
      Tensor b(DType::float32, Shape{o});
      std::copy_n(bias.data<float>().begin(), o, b.mutable_data<float>().begin());
      inputs[2] = g_.add_initializer(g_.fresh_name(g_.name(inputs[2]) + "_plain"), b);
    }
    blocked_[node.outputs[0]] = o;
    split(n, call, inputs);
  }

  Graph g_;
  const std::map<std::string, Shape>& shapes_;
  std::map<ValueId, std::int64_t> blocked_;  ///< true channels of blocked values
};

}  // namespace

std::set<std::string> shapes_needed(const Graph& g) {
  std::set<std::string> names;
  for (const NodeId n : g.node_ids()) {
    const Node& node = g.node(n);
    const bool reorder = node.domain == nchwc_domain && node.op_type == "ReorderInput";
    const bool product = node.domain == "com.microsoft" && node.op_type == "FusedMatMul";
    for (std::size_t i = 0; (reorder || product) && i < (reorder ? 1 : 2); ++i) {
      if (g.constant(node.inputs[i]) == nullptr) names.insert(g.name(node.inputs[i]));
    }
  }
  return names;
}

Graph standardize(const Graph& g, const std::map<std::string, Shape>& shapes) {
  return Standardizer(g, shapes).run();
}

}  // namespace assay
