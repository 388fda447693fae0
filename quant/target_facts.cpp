#include "quant/target_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "quant/value_origin.h"

namespace assay {
namespace {

/// What a fact is worked out from.
struct Layer {
  const LayerView& view;
  const Node& node;
  const LayerRequest& request;

  const Graph& graph() const { return view.graph; }
  const Attributes& attributes() const { return node.attributes; }
};
using FactFunction = Fact (*)(const Layer&);

Fact known(FactValue v, std::string shown) {
  return {.value = std::move(v), .shown = std::move(shown)};
}
Fact known_flag(bool v, std::string shown) { return known(FactValue(v), std::move(shown)); }
Fact known_number(std::int64_t v, std::string shown) {
  return known(FactValue(v), std::move(shown));
}
Fact unknown(std::string shown) { return {.shown = std::move(shown)}; }

std::string place(const Layer& l, std::size_t input) {
  if (!l.node.has_input(input)) return fmt::format("input {} is absent", input);
  return fmt::format("'{}' {}", l.graph().name(l.node.inputs[input]),
                     to_string(l.view.type(l.node.inputs[input])));
}

std::optional<std::int64_t> rank_of(const Layer& l, std::size_t input) {
  if (!l.node.has_input(input)) return std::nullopt;
  const ValueId v = l.node.inputs[input];
  if (const Tensor* t = l.view.constant(v)) return t->shape().rank();
  const TensorType type = l.view.type(v);
  if (!type.dims) return std::nullopt;
  return static_cast<std::int64_t>(type.dims->size());
}

Fact rank_fact(const Layer& l, std::size_t input, const std::string& what) {
  const auto rank = rank_of(l, input);
  if (!rank) return unknown(what + " is not known");
  return known_number(*rank, fmt::format("{} is {} ({})", what, *rank, place(l, input)));
}

// ---- where a value comes from

bool is_constant(const Layer& l, std::size_t input) {
  return l.node.has_input(input) && origin_of(l.graph(), l.node.inputs[input]).constant();
}

Fact weight_dynamic(const Layer& l) {
  if (!l.node.has_input(1)) return unknown("the weight is absent");
  const Origin o = origin_of(l.graph(), l.node.inputs[1]);
  const std::string name = l.graph().name(l.node.inputs[1]);
  if (o.constant()) return known_flag(false, fmt::format("weight '{}' is constant", name));
  return known_flag(true, fmt::format("weight '{}' is fed by {}", name, o.changing));
}

/// A product of two activations: neither input is constant, and the second is more than a stored
/// value that a caller may override.
Fact two_variables(const Layer& l) {
  if (!l.node.has_input(1)) return known_flag(false, "there is one input");
  const Origin second = origin_of(l.graph(), l.node.inputs[1]);
  const bool two = !is_constant(l, 0) && !second.constant() && !second.only_overridable;
  return known_flag(two,
                    two ? fmt::format("both inputs are variable ({}; {})", place(l, 0), place(l, 1))
                        : "the inputs are not two variables");
}

Fact second_constant(const Layer& l) {
  return known_flag(is_constant(l, 1), fmt::format("second input {}", place(l, 1)));
}

Fact constant_operand(const Layer& l) {
  for (std::size_t i = 0; i < l.node.inputs.size(); ++i) {
    if (is_constant(l, i))
      return known_flag(true, fmt::format("operand {} is constant", place(l, i)));
  }
  return known_flag(false, "no operand is constant");
}

// ---- convolutions

Fact filter_rank(const Layer& l) { return rank_fact(l, 1, "the filter's rank"); }
Fact second_rank(const Layer& l) { return rank_fact(l, 1, "the rank of the second input"); }

std::string ints_text(const std::vector<std::int64_t>& v) {
  return fmt::format("[{}]", fmt::join(v, ", "));
}

Fact dilation(const Layer& l) {
  const auto d = l.attributes().ints_or("dilations", {});
  const auto other = std::find_if(d.begin(), d.end(), [](std::int64_t x) { return x != 1; });
  return known_number(other == d.end() ? 1 : *other,
                      "dilations = " + (d.empty() ? "1" : ints_text(d)));
}

Fact dilation_d(const Layer& l) {
  const auto d = l.attributes().ints_or("dilations", {});
  return known_number(d.size() == 3 ? d[0] : 1, "dilations = " + (d.empty() ? "1" : ints_text(d)));
}

Fact group(const Layer& l) {
  const std::int64_t g = l.attributes().int_or("group", 1);
  return known_number(g, fmt::format("group = {}", g));
}

/// Each group has one input channel, and there is more than one.
Fact depthwise(const Layer& l) {
  const std::int64_t g = l.attributes().int_or("group", 1);
  if (!l.node.has_input(1)) return unknown("the weight is absent");
  const auto dims = l.view.type(l.node.inputs[1]).dims;
  const bool single = dims && dims->size() > 1 && (*dims)[1] == 1;
  return known_flag(g > 1 && single, fmt::format("group = {}, weight {}", g, place(l, 1)));
}

// ---- products

Fact flag_of(const Layer& l, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!l.attributes().has(name)) continue;
    const std::int64_t v = l.attributes().int_or(name, 0);
    return known_flag(v != 0, fmt::format("{} = {}", name, v));
  }
  return known_flag(false, fmt::format("{} is not set", *names.begin()));
}

Fact transpose_a(const Layer& l) { return flag_of(l, {"transA", "transpose_a"}); }
Fact transpose_b(const Layer& l) { return flag_of(l, {"transB", "transpose_b"}); }
Fact adjoint_a(const Layer& l) { return flag_of(l, {"adjoint_a"}); }
Fact adjoint_b(const Layer& l) { return flag_of(l, {"adjoint_b"}); }
Fact adj_x(const Layer& l) { return flag_of(l, {"adj_x"}); }
Fact transpose(const Layer& l) { return flag_of(l, {"transpose", "transA"}); }

Fact matrices(const Layer& l) {
  const auto a = rank_of(l, 0), b = rank_of(l, 1);
  if (!a || !b) return unknown("the ranks of the inputs are not known");
  return known_flag(*a <= 2 && *b <= 2, fmt::format("input ranks are {} and {}", *a, *b));
}

/// Caffe's InnerProduct: the axis from which the input is flattened.
Fact axis(const Layer& l) {
  if (l.attributes().has("axis")) {
    const std::int64_t a = l.attributes().int_or("axis", 1);
    return known_number(a, fmt::format("axis = {}", a));
  }
  const Node* front = l.node.has_input(0) ? l.graph().producer(l.node.inputs[0]) : nullptr;
  if (front != nullptr && front->is("Flatten")) {
    const std::int64_t a = front->attributes.int_or("axis", 1);
    return known_number(a, fmt::format("Flatten in front has axis = {}", a));
  }
  if (!l.node.is("MatMul")) return known_number(1, "the input has two dimensions");
  const auto rank = rank_of(l, 0);
  if (!rank) return unknown("the rank of the input is not known");
  return known_number(*rank - 1, fmt::format("the input has rank {}", *rank));
}

// ---- pooling, element by element

Fact global_pooling(const Layer& l) {
  if (l.node.op_type.rfind("Global", 0) == 0)
    return known_flag(true, l.node.op_type + " is global pooling");
  return flag_of(l, {"global_pooling"});
}

Fact from_type(const Layer& l, const char* attribute,
               const std::map<std::string, std::int64_t>& numbers) {
  const auto it = numbers.find(l.node.op_type);
  if (it != numbers.end())
    return known_number(it->second,
                        fmt::format("{} is {} {}", l.node.op_type, attribute, it->second));
  const std::int64_t v = l.attributes().int_or(attribute, attribute == std::string("mode") ? 0 : 1);
  return known_number(v, fmt::format("{} = {}", attribute, v));
}

Fact mode(const Layer& l) {
  return from_type(
      l, "mode",
      {{"MaxPool", 0}, {"GlobalMaxPool", 0}, {"AveragePool", 1}, {"GlobalAveragePool", 1}});
}
Fact operation(const Layer& l) {
  return from_type(l, "operation", {{"Mul", 0}, {"Add", 1}, {"Sum", 1}, {"Max", 2}});
}
Fact split_sizes(const Layer& l) {
  return known_flag(l.node.has_input(1) || l.attributes().has("split"), "sizes of Split");
}

// ---- neighbours

bool is_any(const Node* node, std::initializer_list<const char*> types) {
  return node != nullptr &&
         std::any_of(types.begin(), types.end(), [&](const char* t) { return node->is(t); });
}

/// The convolution behind which `v` stands, a batch normalization in between allowed.
const Node* conv_behind(const Graph& g, ValueId v) {
  const Node* p = v.valid() ? g.producer(v) : nullptr;
  if (is_any(p, {"BatchNormalization"})) p = g.producer(p->inputs[0]);
  return is_any(p, {"Conv"}) ? p : nullptr;
}

Fact behind_conv(const Layer& l) {
  const Node* conv = l.node.has_input(0) ? conv_behind(l.graph(), l.node.inputs[0]) : nullptr;
  return known_flag(conv != nullptr,
                    conv != nullptr ? "reads " + describe(*conv) : "reads no convolution");
}

Fact behind_add(const Layer& l) {
  const Node* p = l.node.has_input(0) ? l.graph().producer(l.node.inputs[0]) : nullptr;
  bool conv = false;
  if (is_any(p, {"Add"})) {
    for (const ValueId v : p->inputs) conv = conv || conv_behind(l.graph(), v) != nullptr;
  }
  return known_flag(conv, conv ? "reads " + describe(*p) : "reads no Add behind a convolution");
}

Fact operand_from_conv(const Layer& l) {
  for (const ValueId v : l.node.inputs) {
    if (const Node* conv = conv_behind(l.graph(), v))
      return known_flag(true, "adds to " + describe(*conv));
  }
  return known_flag(false, "no operand is the result of a convolution");
}

// ---- FFN: x, weight1, weight2, expert_tokens, bias1, bias2, scale, offset, deq_scale1,
// deq_scale2, antiquant_scale1, antiquant_scale2, antiquant_offset1, antiquant_offset2

Fact expert_tokens_empty(const Layer& l) {
  const Tensor* t = l.node.has_input(3) ? l.view.constant(l.node.inputs[3]) : nullptr;
  const bool empty = !l.node.has_input(3) || (t != nullptr && t->numel() == 0);
  return known_flag(empty, empty ? "expert_tokens is empty" : "expert_tokens is " + place(l, 3));
}

Fact weights_float16_constant(const Layer& l) {
  for (const std::size_t i : {1U, 2U}) {
    const Tensor* t = l.node.has_input(i) ? l.view.constant(l.node.inputs[i]) : nullptr;
    if (t == nullptr)
      return known_flag(false, fmt::format("weight {} is not constant", place(l, i)));
    if (t->dtype() != DType::float16)
      return known_flag(false, fmt::format("weight {} is not float16", place(l, i)));
  }
  return known_flag(true, "both weights are float16 constants");
}

Fact antiquant_empty(const Layer& l) {
  for (std::size_t i = 10; i < 14; ++i) {
    if (l.node.has_input(i))
      return known_flag(false, fmt::format("antiquant input {} is given", place(l, i)));
  }
  return known_flag(true, "the antiquant inputs are empty");
}

Fact weight_shared(const Layer& l) {
  for (const std::size_t i : {1U, 2U}) {
    if (!l.node.has_input(i)) continue;
    const std::int64_t uses = l.graph().use_count(l.node.inputs[i]);
    if (uses > 1)
      return known_flag(true, fmt::format("weight {} has {} readers", place(l, i), uses));
  }
  return known_flag(false, "the weights have one reader each");
}

// ---- the model, the request

Fact float16_model(const Layer& l) {
  for (const ValueId v : l.graph().value_ids()) {
    const Value& value = l.graph().value(v);
    const DType t = value.initializer.defined() ? value.initializer.dtype() : value.type.dtype;
    const bool weight = value.initializer.defined();
    if ((value.is_input || weight) && t == DType::float16)
      return known_flag(
          true, fmt::format("{} '{}' is float16", weight ? "weight" : "model input", value.name));
  }
  return known_flag(false, "no input or weight is float16");
}

Fact opset(const Layer& l) {
  const std::int64_t v = l.graph().opset();
  return known_number(v, fmt::format("the opset is {}", v));
}

Fact product(const Layer& l) {
  if (l.request.product.empty()) return {.free = true, .shown = "no --product is given"};
  return known(l.request.product, "the product is " + l.request.product);
}

const std::map<std::string, FactFunction>& facts() {
  static const std::map<std::string, FactFunction> all = {
      {"adj_x", adj_x},
      {"adjoint_a", adjoint_a},
      {"adjoint_b", adjoint_b},
      {"antiquant_empty", antiquant_empty},
      {"axis", axis},
      {"behind_add", behind_add},
      {"behind_conv", behind_conv},
      {"constant_operand", constant_operand},
      {"depthwise", depthwise},
      {"dilation", dilation},
      {"dilation_d", dilation_d},
      {"expert_tokens_empty", expert_tokens_empty},
      {"filter_rank", filter_rank},
      {"float16_model", float16_model},
      {"global_pooling", global_pooling},
      {"group", group},
      {"matrices", matrices},
      {"mode", mode},
      {"operand_from_conv", operand_from_conv},
      {"operation", operation},
      {"opset", opset},
      {"product", product},
      {"second_constant", second_constant},
      {"second_rank", second_rank},
      {"split_sizes", split_sizes},
      {"transpose", transpose},
      {"transpose_a", transpose_a},
      {"transpose_b", transpose_b},
      {"two_variables", two_variables},
      {"weight_dynamic", weight_dynamic},
      {"weight_shared", weight_shared},
      {"weights_float16_constant", weights_float16_constant}};
  return all;
}

}  // namespace

const std::vector<std::string>& setting_names() {
  static const std::vector<std::string> names = {"activation_asymmetric", "activation_per_channel",
                                                 "channel_wise",          "equal_scales",
                                                 "quantized_inputs",      "shift_n",
                                                 "weight_asymmetric"};
  return names;
}

const std::vector<std::string>& fact_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = setting_names();
    for (const auto& [name, function] : facts()) all.push_back(name);
    return all;
  }();
  return names;
}

Fact fact_of(const std::string& name, const LayerView& view, NodeId n,
             const LayerRequest& request) {
  const auto& settings = setting_names();
  if (std::find(settings.begin(), settings.end(), name) != settings.end()) {
    const auto it = request.settings.find(name);
    if (it == request.settings.end()) return {.free = true, .shown = name + " is not set"};
    return known(it->second, fmt::format("{} = {}", name, to_string(it->second)));
  }
  const auto it = facts().find(name);
  if (it == facts().end()) throw Error({.what = "unknown fact", .got = "'" + name + "'"});
  return it->second({view, view.graph.node(n), request});
}

}  // namespace assay
