// Refusals of the rules that change a weight.
#include "tests/fusion/refusals/draft.h"

namespace assay::testing::linear_refusals_test {
namespace {

Tensor half(const Tensor& t) { return convert(t, DType::float16); }

/// x -> c = op(x, W, B) -> y = `last`, with parameters of two channels.
Draft behind(const std::string& op, const std::string& last, const Shape& w) {
  Draft d({"c = " + op, last});
  const bool image = w.rank() > 2;
  d.input("x", image ? std::vector<std::int64_t>{1, 2, 3, 3} : std::vector<std::int64_t>{3, 2});
  d.constant("W", grid(w, 1));
  if (op.find(", B)") != std::string::npos) d.constant("B", f32({2}, {5, -5}));
  return d;
}

Draft& normalization(Draft& d) {
  d.constant("g", f32({2}, {2, 3})).constant("b", f32({2}, {1, 1}));
  return d.constant("m", f32({2}, {1, 1})).constant("v", f32({2}, {1, 1}));
}

const std::string outside = "AMCT: not quantizable by its table";
const std::string bn_of_c = "y = BatchNormalization<epsilon=0.0>(c, g, b, m, v)";

Draft with_bn(const std::string& op, const Shape& w) {
  Draft d = behind(op, bn_of_c, w);
  return normalization(d);
}

/// What every rule says of a weight W and a bias B.
std::vector<RefusalCase> weight_cases(const std::string& rule, const Draft& base, const Shape& w,
                                      bool biased) {
  auto list = inner_value_cases(rule, base);
  std::vector<std::int64_t> wrong(w.rank() > 2 ? 6 : 3, 2);
  append(list, {{rule, "weight not constant", base.fed("W"), "weight 'W' is not constant"},
                {rule, "caller-fed weight", base.overridable("W"),
                 "weight 'W' is a graph input with a default: the caller may feed another"},
                {rule, "shared weight", base.plus("twin = Neg(W)", {"y", "twin"}),
                 "weight 'W' is shared: it has 2 readers"},
                {rule, "dtype", base.with("W", half(grid(w, 1))),
                 "weight 'W' is float16, expected float32 or float64"},
                {rule, "rank", base.with("W", grid(Shape(wrong), 1)),
                 "has rank " + std::to_string(wrong.size()) + ", expected"}});
  if (!biased) return list;
  append(list, {{rule, "bias not constant", base.fed("B"), "bias 'B' is not constant"},
                {rule, "bias shape", base.with("B", f32({3}, {1, 2, 3})),
                 "bias 'B' has shape [3], which is not one number for each of 2 channels"}});
  return list;
}

/// What every rule says of a normalization's parameters.
std::vector<RefusalCase> bn_cases(const std::string& rule, const Draft& base, const Tensor& huge,
                                  const std::string& in = "c", const std::string& out = "y") {
  const std::string plain = out + " = BatchNormalization<epsilon=0.0>(" + in + ", g, b, m, v)";
  const auto node = [&](const std::string& head, const std::string& attribute) {
    return base.edited(plain,
                       head + " = BatchNormalization<" + attribute + ">(" + in + ", g, b, m, v)");
  };
  return {
      {rule, "non-finite result", base.with("W", huge), "is not finite: element"},
      {rule, "non-constant parameter", base.fed("g"), "parameter 'g' of BatchNormalization is not"},
      {rule, "non-constant parameter", base.overridable("m"),
       "parameter 'm' of BatchNormalization is not constant or may be overridden"},
      {rule, "parameter length", base.with("v", f32({1}, {1})), "parameter 'v' has shape [1]"},
      {rule, "training mode", node(out, "training_mode=1").at_opset(15), "training_mode=1"},
      {rule, "extra outputs", node(out + ", mean, var", "epsilon=0.0").outputs({"y"}),
       "extra outputs ('mean')"},
      {rule, "spatial=0 (opset < 9)", node(out, "spatial=0").at_opset(7), "spatial=0"},
      {rule, "variance + epsilon not positive", base.with("v", f32({2}, {1, -1})),
       "channel 1 has variance -1"}};
}

const Shape image{2, 2, 1, 1};
const Shape matrix{2, 2};

Tensor huge(const Shape& s) {
  Tensor t = grid(s, 1);
  for (float& v : t.mutable_data<float>()) v = 3e38F;
  return t;
}

std::vector<RefusalCase> folding(const std::string& rule, const Draft& base, const Shape& w,
                                 bool biased) {
  auto list = weight_cases(rule, base, w, biased);
  append(list, bn_cases(rule, base, huge(w)));
  return list;
}

const Draft conv = with_bn("Conv(x, W, B)", image);
const Draft transposed = with_bn("ConvTranspose(x, W, B)", image);
const Draft gemm = with_bn("Gemm(x, W, B)", matrix);
const Draft product = with_bn("MatMul(x, W)", matrix);

/// What AMCT's front ends do not quantize they do not fuse either.
Draft deep_dilation(const Draft& base, const std::string& from) {
  Draft d = base.edited(from, "Conv<dilations=[2,1,1]>");
  return d.with("W", grid({2, 2, 1, 1, 1}, 1));
}

const RegisterRefusals of_conv("fold_bn_conv", conv, [] {
  auto list = folding("fold_bn_conv", conv, image, true);
  list.push_back({"fold_bn_conv", outside, deep_dilation(conv, "Conv"),
                  "dilation_d is 1: dilations = [2, 1, 1]", "amct-onnx"});
  list.push_back({"fold_bn_conv", outside, conv.with("W", grid({2, 2, 1}, 1)),
                  "the filter has 4 dimensions: the filter's rank is 3", "amct-caffe"});
  return list;
});
const RegisterRefusals of_transposed("fold_bn_conv_transpose", transposed, [] {
  auto list = folding("fold_bn_conv_transpose", transposed, image, true);
  list.push_back({"fold_bn_conv_transpose", outside,
                  transposed.edited("ConvTranspose", "ConvTranspose<dilations=[2,2]>"),
                  "dilation is 1: dilations = [2, 2]", "amct-onnx"});
  return list;
});
const RegisterRefusals of_gemm("fold_bn_gemm", gemm, [] {
  auto list = folding("fold_bn_gemm", gemm, matrix, true);
  list.push_back({"fold_bn_gemm", outside, gemm.edited("Gemm", "Gemm<transA=1>"),
                  "transpose is false: transA = 1", "amct-caffe"});
  return list;
});

const RegisterRefusals of_product("fold_bn_matmul", product, [] {
  auto list = folding("fold_bn_matmul", product, matrix, false);
  Draft deep({"c = MatMul(x, W)", bn_of_c});
  deep.input("x", {2, 2, 2}).constant("W", grid(matrix, 1));
  list.push_back({"fold_bn_matmul", "rank of the output", normalization(deep),
                  "has rank 3; the normalization scales axis 1"});
  return list;
});

// ---- forward

Draft in_front(const std::string& op, const Shape& w) {
  Draft d({"r = Relu(x)", "c = BatchNormalization<epsilon=0.0>(r, g, b, m, v)", "y = " + op});
  d.input("x",
          w.rank() > 2 ? std::vector<std::int64_t>{1, 2, 3, 3} : std::vector<std::int64_t>{3, 2});
  d.constant("W", grid(w, 1)).constant("B", f32({2}, {5, -5}));
  return normalization(d);
}

const Draft forward = in_front("Conv(c, W, B)", image);

const RegisterRefusals of_forward("fold_bn_forward", forward, [] {
  const std::string rule = "fold_bn_forward";
  auto list = weight_cases(rule, forward, image, true);
  append(list, bn_cases(rule, forward, huge(image), "r", "c"));
  Draft three(
      {"r = Relu(x)", "c = BatchNormalization<epsilon=0.0>(r, g, b, m, v)", "y = MatMul(c, W)"});
  three.input("x", {2, 2, 2}).constant("W", grid(matrix, 1));
  append(list, {{rule, "padding with a shift", in_front("Conv<pads=[1,1,1,1]>(c, W, B)", image),
                 "pads with 0, but the normalization maps 0 to -1.000000 in channel 0"},
                {rule, "group > 1",
                 in_front("Conv<group=2>(c, W, B)", image).with("W", grid({2, 1, 1, 1}, 1)),
                 "group = 2, expected 1"},
                {rule, "ConvTranspose", in_front("ConvTranspose(c, W, B)", image),
                 "the borders of a ConvTranspose sum over fewer taps"},
                {rule, "transA, alpha or beta", in_front("Gemm<alpha=2.0>(c, W, B)", matrix),
                 "transA = 0 and alpha = 2"},
                {rule, "transA, alpha or beta", in_front("Gemm<transA=1>(c, W, B)", matrix),
                 "transA = 1 and alpha = 1"},
                {rule, "transA, alpha or beta", in_front("Gemm<beta=2.0>(c, W, B)", matrix),
                 "beta other than 1"},
                {rule, "rank of the output", normalization(three),
                 "has rank 3; the normalization scales axis 1"},
                {rule, outside, forward.with("W", grid({2, 2, 1}, 1)),
                 "the filter has 4 dimensions: the filter's rank is 3", "amct-caffe"}});
  return list;
});

// ---- branches

Draft branches_net() {
  Draft d({"s, t = Split<axis=1>(x, sizes)", "p = Conv(s, W, B)", "q = Conv(t, V)",
           "c = Concat<axis=1>(p, q)", bn_of_c});
  d.input("x", {1, 2, 3, 3}).constant("sizes", i64({1, 1}));
  d.constant("W", grid({1, 1, 1, 1}, 1)).constant("V", grid({1, 1, 1, 1}, 2));
  d.constant("B", f32({1}, {5}));
  return normalization(d);
}
const Draft branches = branches_net();

const RegisterRefusals of_branches("fold_bn_branches", branches, [] {
  const std::string rule = "fold_bn_branches";
  auto list = inner_value_cases(rule, branches);
  const Shape w{1, 1, 1, 1};
  for (RefusalCase& c : weight_cases(rule, branches, w, true)) {
    if (c.refusal == "bias shape") c.words = "is not one number for each of 1 channels";
    list.push_back(std::move(c));
  }
  append(list, bn_cases(rule, branches, huge(w)));
  Draft plain({"p = Conv(x, W, B)", "q = Conv(x, V)", "c = Concat<axis=1>(p, q)", bn_of_c});
  plain.input("x", {1, 1, 3, 3}).constant("W", grid(w, 1)).constant("V", grid(w, 2));
  plain.constant("B", f32({1}, {5}));
  Draft deep({"p = MatMul(x, W)", "q = MatMul(x, V)", "c = Concat<axis=1>(p, q)", bn_of_c});
  deep.input("x", {2, 1, 2}).constant("W", grid(matrix, 1)).constant("V", grid(matrix, 2));
  append(
      list,
      {{rule, "second reader", branches.plus("z = Neg(p)", {"y", "z"}),
        "branch 'p' of Concat has 2 readers"},
       {rule, "branch not linear", branches.edited("q = Conv(t, V)", "q = Relu(t)"),
        "branch 'q' of Concat comes from node 'n_q' (Relu), which is not linear"},
       {rule, "rank of the output", normalization(deep),
        "has rank 3; the normalization scales axis 1"},
       {rule, "axis", branches.edited("c = Concat<axis=1>", "c = Concat<axis=2>"),
        "Concat has axis 2, the channels are axis 1"},
       {rule, outside,
        branches.edited("Conv(s", "Conv<dilations=[2,1,1]>(s").with("W", grid({1, 1, 1, 1, 1}, 1)),
        "dilation_d is 1: dilations = [2, 1, 1]", "amct-tf"},
       {rule, "amct-tf: branch without Split", normalization(plain),
        "amct-tf knows Split + Conv + Concat only", "amct-tf"}});
  return list;
});

// ---- constant operands

Draft operand_net(const std::string& last, const Tensor& k) {
  Draft d = behind("Conv(x, W, B)", last, image);
  return d.constant("k", k);
}
const Tensor per_channel = f32({2, 1, 1}, {2, -1});
const Draft addend = operand_net("y = Add(c, k)", per_channel);
const Draft factor = operand_net("y = Mul(c, k)", per_channel);

const RegisterRefusals of_addend("fold_linear_add", addend, [] {
  const std::string rule = "fold_linear_add";
  auto list = weight_cases(rule, addend, image, true);
  Draft deep({"c = MatMul(x, W)", "y = Add(c, k)"});
  deep.input("x", {2, 2, 2}).constant("W", grid(matrix, 1)).constant("k", f32({2}, {1, 2}));
  append(list,
         {{rule, "non-finite result",
           addend.with("k", f32({2, 1, 1}, {3e38F, 1})).with("B", f32({2}, {3e38F, 1})),
           "is not finite: element 0"},
          {rule, "caller-fed addend", addend.overridable("k"),
           "value 'k' is a graph input with a default: the caller may override it"},
          {rule, "dtype", addend.with("k", half(per_channel)),
           "the constant is float16, the weight is float32"},
          {rule, "broadcast shape", addend.with("k", f32({3}, {1, 2, 3})),
           "the constant has shape [3]: aligned from the right it is not one value per output"},
          {rule, "broadcast shape", addend.with("k", grid({1, 1, 2, 1, 1}, 1)),
           "whose rank is above that of the output (4)"},
          {rule, outside, deep_dilation(addend, "Conv"), "dilation_d is 1: dilations = [2, 1, 1]",
           "amct-onnx"},
          {rule, "rank of a MatMul's output", deep,
           "has rank 3; only a rank-2 product has an operator with bias (Gemm)"}});
  return list;
});

const RegisterRefusals of_factor("fold_linear_mul", factor, [] {
  const std::string rule = "fold_linear_mul";
  auto list = weight_cases(rule, factor, image, true);
  append(list,
         {{rule, "non-finite result", factor.with("W", huge(image)), "is not finite: element"},
          {rule, "non-constant factor", factor.overridable("k"),
           "value 'k' is a graph input with a default: the caller may override it"},
          {rule, "dtype", factor.with("k", half(per_channel)),
           "the constant is float16, the weight is float32"},
          {rule, "broadcast shape", factor.with("k", f32({3}, {1, 2, 3})),
           "the constant has shape [3]: aligned from the right it is not one value per output"},
          {rule, "division by 0", factor.edited("Mul", "Div").with("k", f32({2, 1, 1}, {1, 0})),
           "channel 1 divides by 0"},
          {rule, outside, deep_dilation(factor, "Conv").with("k", f32({}, {2})),
           "dilation_d is 1: dilations = [2, 1, 1]", "amct-tf"},
          {rule, "amct-tf: shape not empty", factor.with("k", f32({1}, {2})),
           "amct-tf folds a constant of empty shape only, got [1]", "amct-tf"}});
  return list;
});

}  // namespace
}  // namespace assay::testing::linear_refusals_test
