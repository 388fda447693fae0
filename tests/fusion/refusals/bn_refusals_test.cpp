// Refusals of the rules around a normalization.
#include "tests/fusion/refusals/draft.h"

namespace assay::testing::bn_refusals_test {
namespace {

Tensor half(const Tensor& t) { return convert(t, DType::float16); }

Draft& normalization(Draft& d) {
  d.constant("g", f32({2}, {2, 3})).constant("b", f32({2}, {1, 1}));
  return d.constant("m", f32({2}, {1, 1})).constant("v", f32({2}, {1, 1}));
}

// ---- BatchNormalization + constant

Draft step(const std::string& last) {
  Draft d({"c = BatchNormalization<epsilon=0.0>(x, g, b, m, v)", last});
  d.input("x", {1, 2, 3, 3}).constant("k", f32({2, 1, 1}, {2, -1}));
  return normalization(d);
}

std::vector<RefusalCase> step_cases(const std::string& rule, const Draft& base,
                                    const Draft& overflowing) {
  auto list = inner_value_cases(rule, base);
  const auto bn = [&](const std::string& head, const std::string& attribute) {
    return base.edited("c = BatchNormalization<epsilon=0.0>",
                       head + " = BatchNormalization<" + attribute + ">");
  };
  append(list, {{rule, "non-constant parameter", base.fed("g"),
                 "the scale of BatchNormalization is not constant"},
                {rule, "non-constant parameter", base.overridable("v"), "parameter 'v'"},
                {rule, "training mode", bn("c", "training_mode=1").at_opset(15), "training_mode=1"},
                {rule, "extra outputs", bn("c, mean", "epsilon=0.0").outputs({"y"}),
                 "extra outputs ('mean')"},
                {rule, "broadcast shape", base.with("k", f32({3}, {1, 2, 3})),
                 "aligned from the right it is not one value per output channel (2 channels)"},
                {rule, "dtype", base.with("k", half(f32({}, {1}))), "the constant is float16"},
                {rule, "caller-fed operand", base.overridable("k"),
                 "value 'k' is a graph input with a default"},
                {rule, "non-finite result", overflowing, "is not finite: element 0"}});
  return list;
}

const Draft scaled = step("y = Mul(c, k)");
const RegisterRefusals of_scaled("fold_bn_mul", scaled, [] {
  auto list = step_cases("fold_bn_mul", scaled, scaled.with("k", f32({}, {3e38F})));
  list.push_back({"fold_bn_mul", "division by 0",
                  scaled.edited("Mul", "Div").with("k", f32({2, 1, 1}, {1, 0})),
                  "channel 1 divides by 0"});
  return list;
});
const Draft moved = step("y = Add(c, k)");
const RegisterRefusals of_moved("fold_bn_add", moved, [] {
  return step_cases("fold_bn_add", moved,
                    moved.with("k", f32({}, {3e38F})).with("b", f32({2}, {3e38F, 0})));
});

// ---- past data movement

Draft layout(std::vector<std::string> lines, const Shape& w) {
  lines.push_back("y = BatchNormalization<epsilon=0.0>(q, g, b, m, v)");
  Draft d(std::move(lines));
  d.input("x",
          w.rank() > 2 ? std::vector<std::int64_t>{1, 2, 2, 2} : std::vector<std::int64_t>{2, 2});
  d.constant("W", grid(w, 1));
  return normalization(d);
}
const Draft depth = layout({"c = Conv(x, W)", "q = DepthToSpace<blocksize=2>(c)"}, {8, 2, 1, 1});

const RegisterRefusals of_depth("move_bn_before_layout", depth, [] {
  const std::string rule = "move_bn_before_layout";
  auto list = inner_value_cases(rule, depth);
  const auto bn = [](const std::string& head, const std::string& attribute) {
    return depth.edited("y = BatchNormalization<epsilon=0.0>",
                        head + " = BatchNormalization<" + attribute + ">");
  };
  Draft mixed = layout({"c = MatMul(x, W)", "q = Reshape(c, turned)"}, {2, 3});
  mixed.constant("turned", i64({3, 2}));
  Draft given = layout({"c = Conv(x, W)", "q = Reshape(c, shape)"}, {2, 2, 1, 1});
  given.input("shape", {4}, DType::int64);
  Draft open({"c = Conv(x, W)", "q = DepthToSpace<blocksize=2>(c)",
              "y = BatchNormalization<epsilon=0.0>(q, g, b, m, v)"});
  open.input("s", {-1}, DType::int64).input("z", {1, 2, 2, 2}).constant("W", grid({8, 2, 1, 1}, 1));
  append(list,
         {{rule, "operator in front not foldable", depth.fed("W"), "weight 'W' is not constant"},
          {rule, "sizes not known",
           normalization(open).edited("Conv(x", "Conv(r").plus("r = Reshape(z, s)", {"y"}),
           "the sizes of 'c' are not known"},
          {rule, "channels mixed", mixed, "of the operator in front feeds channels"},
          {rule, "other inputs", given, "the data movement cannot be followed"},
          {rule, "non-constant parameter", depth.fed("m"), "parameter 'm'"},
          {rule, "training mode", bn("y", "training_mode=1").at_opset(15), "training_mode=1"},
          {rule, "extra outputs", bn("y, mean", "epsilon=0.0").outputs({"y"}),
           "extra outputs ('mean')"}});
  return list;
});

// ---- small operators

Draft spelled_net(const std::vector<std::int64_t>& image = {1, 1, 1, 2},
                  DType dtype = DType::float32) {
  Draft d({"k = Conv(x, W)", "s = Add(var, eps)", "q = Sqrt(s)", "r = Reciprocal(q)",
           "i = Mul(r, gamma)", "c = Mul(k, i)", "n = Mul(mean, i)", "t = Sub(beta, n)",
           "y = Add(c, t)"});
  std::vector<std::int64_t> kernel(image.size(), 1);
  kernel[0] = 2;
  const auto put = [&](const char* name, const Tensor& t) { d.constant(name, convert(t, dtype)); };
  d.input("x", image, dtype);
  put("W", f32({2}, {5, 7}).reshaped(Shape(kernel)));
  kernel.erase(kernel.begin() + 1);
  put("var", f32({2}, {3.75F, 0.75F}).reshaped(Shape(kernel)));
  put("gamma", f32({2}, {2, 3}).reshaped(Shape(kernel)));
  put("beta", f32({2}, {0.5F, -1}).reshaped(Shape(kernel)));
  put("mean", f32({2}, {3, 3}).reshaped(Shape(kernel)));
  put("eps", f32({}, {0.25F}));
  return d;
}
const Draft spelled = spelled_net();

const RegisterRefusals of_spelled("recognize_batch_norm", spelled, [] {
  const std::string rule = "recognize_batch_norm";
  auto list = inner_value_cases(rule, spelled);
  Draft open = spelled.edited("Conv(x, W)", "Reshape(x, shape)");
  open.input("shape", {-1}, DType::int64);
  Draft deep = spelled.edited("Conv(x, W)", "Relu(x)");
  append(list,
         {{rule, "caller-fed parameter", spelled.overridable("var"),
           "value 'var' is a graph input with a default"},
          {rule, "broadcast shape", spelled.with("var", f32({2}, {3, 3})),
           "var: the constant has shape [2]: aligned from the right"},
          {rule, "dtype", spelled_net({1, 1, 1, 2}, DType::float16), "the parameters are float16"},
          {rule, "epsilon not a float32 scalar", spelled.with("eps", f32({2, 1, 1}, {1, 1})),
           "epsilon 'eps' has shape [2, 1, 1], expected a scalar"},
          {rule, "rank not known", open, "the rank of 'k' is not known"},
          {rule, "variance + epsilon not positive", spelled.with("var", f32({2, 1, 1}, {1, -1})),
           "channel 1 has variance -1"},
          {rule, "opset < 7", spelled.at_opset(6), "opset 6 is below 7"},
          {rule, "AMCT: rank or operator in front", deep,
           "amct-tf wants Conv or Conv + bias addition in front", "amct-tf"},
          {rule, "AMCT: rank or operator in front", spelled_net({1, 1, 2}),
           "amct-onnx takes a 4-D input only", "amct-onnx"}});
  return list;
});

// ---- HardSwish

Draft swish_net() {
  Draft d({"p = Add(x, three)", "k = Clip(p, zero, six)", "c = Mul(x, k)", "y = Div(c, six)"}, 14);
  d.input("x", {5}).constant("three", f32({}, {3})).constant("six", f32({}, {6}));
  return d.constant("zero", f32({}, {0}));
}
const Draft swish = swish_net();

const RegisterRefusals of_swish("recognize_hard_swish", swish, [] {
  const std::string rule = "recognize_hard_swish";
  auto list = inner_value_cases(rule, swish);
  Draft gated({"h = HardSigmoid<alpha=0.2>(x)", "y = Mul(x, h)"}, 14);
  gated.input("x", {5});
  Draft wide({"h = HardSigmoid<alpha=0.16666667, beta=0.5>(x)", "y = Mul(x, h)"}, 14);
  wide.input("x", {5}, DType::float64);
  append(list, {{rule, "other constants", gated, "HardSigmoid has alpha = 0.2"},
                {rule, "opset < 14", swish.at_opset(13), "HardSwish needs opset 14"},
                {rule, "dtype", wide, "x is float64, expected float32"}});
  return list;
});

}  // namespace
}  // namespace assay::testing::bn_refusals_test
