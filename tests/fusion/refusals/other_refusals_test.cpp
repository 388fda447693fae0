// Refusals of the rules that fuse, drop and merge.
#include "tests/fusion/refusals/draft.h"

namespace assay::testing::other_refusals_test {
namespace {

Tensor code(std::int8_t v) { return Tensor::scalar<std::int8_t>(v); }

// ---- activations and residuals

Draft convolution(const std::string& last, std::int64_t opset = 14) {
  Draft d({"c = Conv(x, W)", last}, opset);
  d.input("x", {1, 2, 3, 3}).constant("W", grid({2, 2, 1, 1}, 1));
  return d;
}

/// A ConvTranspose with output_shape, and a Conv whose spatial axes nobody knows.
std::vector<RefusalCase> kernel_cases(const std::string& rule, const Draft& base) {
  Draft open = base.edited("Conv(x, W)", "Conv(z, V)");
  open.input("sizes", {-1}, DType::int64).input("free", {8});
  return {{rule, "output_shape of a ConvTranspose",
           base.edited("Conv(x", "ConvTranspose<output_shape=[3,3]>(x"),
           "has output_shape, which the fused operator does not"},
          {rule, "spatial axes not known",
           open.plus("z = Reshape(free, sizes)", {"y"}).edited("Conv(z, V)", "Conv(z, z)"),
           "the number of spatial axes of node 'n_c' (Conv) is not known"}};
}

std::vector<RefusalCase> bound_cases(const std::string& rule, const std::string& in,
                                     const Draft& base, const Draft& wide) {
  const auto clip = [&](const Tensor& bound) {
    return base.edited("Relu(" + in + ")", "Clip(" + in + ", lo)").with("lo", bound);
  };
  return {{rule, "Clip bound", clip(f32({}, {0})).fed("lo"), "Clip bound 'lo' is not constant"},
          {rule, "Clip bound", clip(f32({2}, {0, 1})), "Clip bound 'lo' has shape [2]"},
          {rule, "Clip bound", clip(Tensor::scalar<std::int32_t>(0)), "Clip bound 'lo' is int32"},
          {rule, "Clip bound", clip(f64({}, {0.1})), "is not a float32 number"},
          {rule, "numbers at opset < 12",
           base.edited("Relu(" + in + ")", "LeakyRelu(" + in + ")").at_opset(11),
           "a fused LeakyRelu cannot be written at opset 11"},
          {rule, "numbers of a float64 activation",
           wide.edited("Relu(" + in + ")", "LeakyRelu(" + in + ")"),
           "a fused LeakyRelu has float32 numbers, 'y' is float64"}};
}

const Draft activated = convolution("y = Relu(c)");
const RegisterRefusals of_activated("fuse_linear_activation", activated, [] {
  const std::string rule = "fuse_linear_activation";
  auto list = inner_value_cases(rule, activated);
  append(list, kernel_cases(rule, activated));
  Draft wide({"c = Conv(x, W)", "y = Relu(c)"}, 14);
  wide.input("x", {1, 2, 3, 3}, DType::float64);
  wide.constant("W", convert(grid({2, 2, 1, 1}, 1), DType::float64));
  append(list, bound_cases(rule, "c", activated, wide));
  list.push_back({rule, "activation outside the set", convolution("y = Tanh(c)"),
                  "mode bn-add-relu knows ReLU and Clip only, got Tanh", "bn-add-relu"});
  return list;
});

Draft residual_net(std::vector<std::int64_t> dims = {1, 2, 3, 3}) {
  Draft d = convolution("y = Add(c, r)");
  return d.input("r", std::move(dims));
}
const Draft residual = residual_net();
const RegisterRefusals of_residual("fuse_linear_add", residual, [] {
  const std::string rule = "fuse_linear_add";
  auto list = inner_value_cases(rule, residual);
  append(list, kernel_cases(rule, residual));
  append(list, {{rule, "broadcast shape", residual_net({1, 2, 1, 1}),
                 "the residual 'r' is float32 [1, 2, 1, 1], the product is float32 [1, 2, 3, 3]"}});
  return list;
});

Draft sigmoid_net() {
  Draft d = convolution("s = Sigmoid(c)");
  return d.plus("y = Mul(c, s)", {"y"});
}
const Draft gated = sigmoid_net();
const RegisterRefusals of_gated("fuse_linear_silu", gated, [] {
  auto list = inner_value_cases("fuse_linear_silu", gated);
  append(list, inner_value_cases("fuse_linear_silu", gated, "s"));
  append(list, kernel_cases("fuse_linear_silu", gated));
  return list;
});

Draft sum_net(std::vector<std::int64_t> second = {1, 2}, DType t = DType::float32) {
  Draft d({"c = Add(a, r)", "y = Relu(c)"}, 14);
  d.input("a", {1, 2}, t).input("r", std::move(second), t);
  return d;
}
const Draft sum = sum_net();
const RegisterRefusals of_sum("fuse_add_activation", sum, [] {
  const std::string rule = "fuse_add_activation";
  auto list = inner_value_cases(rule, sum);
  append(list, bound_cases(rule, "c", sum, sum_net({1, 2}, DType::float64)));
  append(list, {{rule, "broadcast shape", sum_net({1, 1}),
                 "the operands have shapes float32 [1, 2] and float32 [1, 1]"},
                {rule, "dtype", sum_net({1, 2}, DType::int32), "expected a float type"}});
  return list;
});

// ---- Pad

Draft pad_net(const std::string& consumer, std::vector<std::int64_t> pads, float value) {
  Draft d({"c = Pad(x, pads, value)", "y = " + consumer});
  d.input("x", {1, 1, 2, 2}).constant("pads", i64(std::move(pads)));
  return d.constant("value", f32({}, {value})).constant("W", grid({1, 1, 2, 2}, 1));
}
const std::vector<std::int64_t> around = {0, 0, 1, 1, 0, 0, 1, 1};
const Draft padded = pad_net("Conv(c, W)", around, 0);
const RegisterRefusals of_padded("fold_pad", padded, [] {
  const std::string rule = "fold_pad";
  auto list = inner_value_cases(rule, padded);
  Draft open(
      {"z = Reshape(x, s)", "c = Pad(z, pads, value)", "y = AveragePool<kernel_shape=[2,2]>(c)"});
  open.input("x", {4}).input("s", {-1}, DType::int64).constant("pads", i64(around));
  append(list,
         {{rule, "pad mode", padded.edited("Pad(", "Pad<mode=\"reflect\">("), "mode = reflect"},
          {rule, "pad value", pad_net("Conv(c, W)", around, 1),
           "Pad fills with 1.000000, Conv pads with 0.000000"},
          {rule, "pad value", pad_net("MaxPool<kernel_shape=[2,2]>(c)", around, 0),
           "Pad fills with 0.000000, MaxPool pads with -inf"},
          {rule, "negative pad", pad_net("Conv(c, W)", {0, 0, 0, -1, 0, 0, 0, 0}, 0),
           "pad 3 is -1: a crop"},
          {rule, "batch or channel padded", pad_net("Conv(c, W)", {0, 0, 0, 0, 1, 0, 0, 0}, 0),
           "axis 0 is padded"},
          {rule, "pads not constant", padded.fed("pads"), "the pads of Pad are not constant"},
          {rule, "pads not constant", padded.fed("value"), "the value of Pad is not constant"},
          {rule, "auto_pad", pad_net("Conv<auto_pad=\"SAME_UPPER\">(c, W)", around, 0),
           "auto_pad = SAME_UPPER"},
          {rule, "ceil_mode", pad_net("AveragePool<kernel_shape=[2,2], ceil_mode=1>(c)", around, 0),
           "ceil_mode = 1"},
          {rule, "pads that do not count",
           pad_net("AveragePool<kernel_shape=[2,2], pads=[1,1,1,1]>(c)", around, 0),
           "do not count (count_include_pad = 0)"},
          {rule, "pads not smaller than the window",
           pad_net("AveragePool<kernel_shape=[1,2]>(c)", around, 0),
           "would pad by 1 with a window of 1"},
          {rule, "rank not known", open.constant("value", f32({}, {0})),
           "the rank of 'z' is not known"}});
  return list;
});

// ---- constants and copies

Draft computed(const std::string& line) {
  Draft d({line, "y = Add(x, a)"});
  d.input("x", {1}).constant("k", f32({1}, {1}));
  return d;
}
/// An If without captures on a constant condition.
void with_branch(Graph& g) {
  Graph body;
  const ValueId one = body.add_initializer("one", f32({1}, {1}));
  const ValueId out = body.add_value("inside");
  body.add_node({.name = "inner", .op_type = "Neg", .inputs = {one}, .outputs = {out}});
  body.add_output(out);
  const GraphPtr branch = std::make_shared<const Graph>(std::move(body));
  Node node{.name = "if", .op_type = "If"};
  node.inputs = {g.add_initializer("cond", Tensor::scalar<bool>(true))};
  node.attributes.set("then_branch", branch);
  node.attributes.set("else_branch", branch);
  node.outputs = {g.add_value("chosen")};
  g.add_output(node.outputs[0]);
  g.add_node(std::move(node));
}
const Draft constant_sum = computed("a = Neg(k)");
const RegisterRefusals of_constants("fold_constants", constant_sum, [] {
  const std::string rule = "fold_constants";
  Draft tile = computed("a = Tile(k, times)");
  Draft quantized = computed("a = DequantizeLinear(q, k)");
  return std::vector<RefusalCase>{
      {rule, "result too large", tile.constant("times", i64({1000000000})), "MB, the limit is"},
      {rule, "size not known", computed("a = NonZero(k)"),
       "the size of a result is not known before running"},
      {rule, "not deterministic", computed("a = RandomNormalLike(k)"),
       "operator RandomNormalLike is not deterministic"},
      {rule, "holds codes", quantized.constant("q", Tensor::of<std::int8_t>({1}, {5})),
       "operator DequantizeLinear holds the codes"},
      {rule, "has a subgraph", constant_sum.then(with_branch), "operator If has a subgraph"},
      {rule, "unknown operator", computed("a = Mystery(k)"), "operator Mystery is unknown"}};
});

Draft copy_net(std::vector<std::string> lines) {
  Draft d(std::move(lines));
  d.input("x", {2}).constant("ratio", f32({}, {0.5F}));
  return d.constant("train", Tensor::scalar<bool>(true));
}
const Draft copied = copy_net({"c = Relu(x)", "y = Identity(c)"});
const RegisterRefusals of_copied("drop_identity", copied, [] {
  const std::string rule = "drop_identity";
  const Draft dropout = copy_net({"d = Dropout(x, ratio, train)", "y = Relu(d)"});
  return std::vector<RefusalCase>{
      {rule, "mask used", copy_net({"d, k = Dropout(x)", "y = Relu(d)"}).outputs({"y", "k"}),
       "the mask of Dropout, 'k', is read"},
      {rule, "training mode", dropout, "Dropout has training_mode = true"},
      {rule, "training mode", dropout.fed("train"), "training_mode of Dropout is not constant"},
      {rule, "training mode", copy_net({"d = Dropout(x)", "y = Relu(d)"}).at_opset(6),
       "Dropout of opset 6 has is_test=0"},
      {rule, "input straight to output", copy_net({"y = Identity(x)"}),
       "graph output 'y' copies 'x', which no node computes"},
      {rule, "both are graph outputs", copied.outputs({"c", "y"}),
       "'c' and its copy 'y' are both graph outputs"},
      {rule, "captured by a subgraph", copied.captured("c"),
       "'c' is captured by a subgraph of node 'if' (If)"}};
});

// ---- quantizers

Draft quantized(std::vector<std::string> lines) {
  Draft d(std::move(lines));
  d.input("x", {1, 1, 2, 2}).constant("s", f32({}, {0.5F})).constant("z", code(0));
  d.constant("t", f32({}, {0.25F})).constant("u", Tensor::scalar<std::uint8_t>(0));
  return d.constant("W", f32({1, 1, 1, 1}, {1}));
}

const Draft relu = quantized({"c = Relu(x)", "y = QuantizeLinear(c, s, u)"});
const RegisterRefusals of_relu("drop_activation_before_quantizer", relu, [] {
  const std::string rule = "drop_activation_before_quantizer";
  auto list = inner_value_cases(rule, relu);
  const auto clip = [](const Tensor& low, const Tensor& high) {
    return relu.edited("Relu(x)", "Clip(x, lo, hi)").with("lo", low).with("hi", high);
  };
  append(list,
         {{rule, "lowest code is not the bound", relu.edited("s, u", "s, z"),
           "the quantizer's lowest code does not stand for 0.000000 (scale 0.5, zero point 0, "
           "codes -128..127)"},
          {rule, "no saturation at the top", clip(f32({}, {0}), f32({}, {6})),
           "does not saturate at the upper bound 6"},
          {rule, "scale not constant", relu.fed("s"), "the scale of node 'n_y'"},
          {rule, "Clip bound", clip(f32({}, {0}), f32({}, {6})).fed("hi"),
           "Clip bound 'hi' is not constant"}});
  return list;
});

const Draft twins =
    quantized({"p = QuantizeLinear(x, s, z)", "q = QuantizeLinear(x, s, z)",
               "a = DequantizeLinear(p, s, z)", "b = DequantizeLinear(q, t, z)", "y = Add(a, b)"});
const RegisterRefusals of_twins("merge_quantizers", twins, [] {
  const std::string rule = "merge_quantizers";
  const Draft other = twins.edited("q = QuantizeLinear(x, s, z)", "q = QuantizeLinear(x, t, z)");
  return std::vector<RefusalCase>{
      {rule, "other scale, zero point, type or axis", other,
       "quantize the same value with scale 0.5, zero point 0, codes -128..127 and scale 0.25"},
      {rule, "parameter not constant", twins.fed("s"), "is not constant"},
      {rule, "both are graph outputs", twins.outputs({"y", "p", "q"}),
       "'q' and its twin 'p' are both graph outputs"}};
});

const Draft again = quantized({"p = QuantizeLinear(x, s, z)", "d = DequantizeLinear(p, s, z)",
                               "q = QuantizeLinear(d, s, z)", "y = DequantizeLinear(q, s, z)"});
const RegisterRefusals of_again("drop_requantize", again, [] {
  const std::string rule = "drop_requantize";
  return std::vector<RefusalCase>{
      {rule, "other parameters", again.edited("QuantizeLinear(d, s", "QuantizeLinear(d, t"),
       "the codes are requantized from scale 0.5"},
      {rule, "parameter not constant", again.fed("z"), "is not constant"},
      {rule, "graph output", again.outputs({"y", "q"}), "'q' is a graph output"}};
});

const Draft inner = quantized({"c = Conv(x, W)", "q = QuantizeLinear(c, s, z)",
                               "d = DequantizeLinear(q, s, z)", "y = Add(d, x)"});
const RegisterRefusals of_inner("drop_inner_quantizer", inner, [] {
  const std::string rule = "drop_inner_quantizer";
  auto list = inner_value_cases(rule, inner);
  append(list, {{rule, "quantizers differ",
                 inner.edited("DequantizeLinear(q, s", "DequantizeLinear(q, t"),
                 "the inner quantizer writes scale 0.5"},
                {rule, "parameter not constant", inner.fed("s"), "is not constant"}});
  return list;
});

// ---- Split + Conv + Concat

Draft split_net(std::vector<std::int64_t> parts = {2, 2}) {
  Draft d({"s, t = Split<axis=1>(x, parts)", "a = Conv(s, V)", "b = Conv(t, W, B)",
           "y = Concat<axis=1>(a, b)"});
  d.input("x", {1, 4, 2, 2}).constant("parts", i64(parts)).constant("B", grid({3}, 3));
  d.constant("V", grid({3, parts[0], 1, 1}, 1)).constant("W", grid({3, parts[1], 1, 1}, 2));
  return d;
}
const Draft split = split_net();
const RegisterRefusals of_split("merge_split_conv", split, [] {
  const std::string rule = "merge_split_conv";
  Draft three({"s, t, r = Split<axis=1>(x, parts)", "a = Conv(s, V)", "b = Conv(t, W)",
               "y = Concat<axis=1>(a, b)"});
  three.input("x", {1, 6, 2, 2}).constant("parts", i64({2, 2, 2}));
  three.constant("V", grid({3, 2, 1, 1}, 1)).constant("W", grid({3, 2, 1, 1}, 2));
  const Draft rows = split.edited("Split<axis=1>", "Split<axis=2>").with("parts", i64({1, 1}));
  return std::vector<RefusalCase>{
      {rule, "second reader", split.plus("z = Neg(a)", {"y", "z"}), "branch 'a' has 2 readers"},
      {rule, "second reader", split.outputs({"y", "a"}), "branch 'a' has 2 readers"},
      {rule, "second reader", split.captured("a"), "branch 'a' has 2 readers"},
      {rule, "second reader", split.plus("z = Neg(s)", {"y", "z"}), "slice 's' has 2 readers"},
      {rule, "slices unequal or in another order", split.edited("(a, b)", "(b, a)"),
       "branch 0 of Concat does not read output 0 of Split"},
      {rule, "slices unequal or in another order", three,
       "Split has 3 outputs, Concat has 2 branches"},
      {rule, "attributes differ", split.edited("Conv(s", "Conv<strides=[2,2]>(s"),
       "have other attributes"},
      {rule, "weight shapes differ", split_net({1, 3}),
       "the weights have shapes [3, 1, 1, 1] and [3, 3, 1, 1]"},
      {rule, "axis", split.edited("Concat<axis=1>", "Concat<axis=2>"), "Concat has axis 2"},
      {rule, "axis", rows.with("V", grid({3, 4, 1, 1}, 1)).with("W", grid({3, 4, 1, 1}, 2)),
       "Split has axis 2, the channels are axis 1"},
      {rule, "weight not constant", split.fed("W"), "weight 'W' is not constant"},
      {rule, "caller-fed weight", split.overridable("V"), "the caller may feed another"},
      {rule, "shared weight", split.plus("twin = Neg(W)", {"y", "twin"}), "weight 'W' is shared"},
      {rule, "AMCT: not quantizable by its table",
       split.edited("Conv(s", "Conv<dilations=[2,1,1]>(s").with("V", grid({3, 2, 1, 1, 1}, 1)),
       "dilation_d is 1: dilations = [2, 1, 1]", "amct-onnx"}};
});

}  // namespace
}  // namespace assay::testing::other_refusals_test
