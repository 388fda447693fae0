// Integer convolutions against the scalar model and the onednn-v3 reference, bit for bit, under the
// instruction set in force; and the same tests again in a process of their own for each cap,
// because the cap holds for a whole process.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/isa.h"
#include "kernels/program.h"
#include "tests/kernels/graph_maker.h"
#include "tests/kernels/int_model.h"

namespace assay::kernels::qconv_test {
namespace {

enum class Skip { none, dies, stays };

struct Layer {
  std::string name;
  std::int64_t channels, filters, kernel, stride, pad, group, size;
  bool positive = false;  // all codes and weights large and positive: the accumulator leaves 2^24
};

struct Form {
  DType x = DType::uint8;
  int x_zero = 0;
  DType y = DType::uint8;
  int y_zero = 0;
  Skip skip = Skip::none;
  DType skip_type = DType::uint8;
  bool mid = false, bias = true;
  std::string activation = {};
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> list{{"3x3", 64, 32, 3, 1, 1, 1, 9},
                                       {"1x1", 64, 128, 1, 1, 0, 1, 7},
                                       {"1x1s2", 32, 48, 1, 2, 0, 1, 9},
                                       {"7x7s2", 3, 16, 7, 2, 3, 1, 23},
                                       {"dw3x3", 24, 24, 3, 1, 1, 24, 9},
                                       {"dw5x5s2", 32, 32, 5, 2, 2, 32, 11},
                                       {"grouped", 32, 64, 3, 1, 1, 4, 7},
                                       {"odd", 17, 19, 3, 1, 1, 1, 6},
                                       {"deep1x1", 1200, 40, 1, 1, 0, 1, 5, true}};
  return list;
}

const std::vector<Form>& forms() {
  constexpr DType u8 = DType::uint8, s8 = DType::int8, f32 = DType::float32;
  static const std::vector<Form> list{
      {},
      {.activation = "Relu"},
      {.x_zero = 3, .y_zero = 131, .activation = "Relu"},
      {.x = s8, .y = s8},
      {.x = s8, .x_zero = -5, .y = s8, .y_zero = 7, .activation = "Clip"},
      {.x = s8, .y = u8, .bias = false, .activation = "Relu"},
      {.y = f32},
      {.x = s8, .x_zero = 9, .y = f32, .activation = "HardSwish"},
      {.y_zero = 19, .activation = "HardSwish"},
      {.y_zero = 1, .activation = "Clip"},
      {.skip = Skip::dies, .activation = "Relu"},
      {.y_zero = 5, .skip = Skip::stays},
      {.y = s8, .skip = Skip::dies, .skip_type = s8},
      {.y = u8, .skip = Skip::dies, .skip_type = s8, .activation = "Relu"},
      {.y = f32, .skip = Skip::dies},
      {.skip = Skip::dies, .mid = true, .activation = "Relu"},
      {.x_zero = 200, .activation = "Relu"},
      {.x_zero = 2, .y = s8, .y_zero = -3, .skip = Skip::stays, .skip_type = s8, .mid = true},
  };
  return list;
}

struct Built {
  GraphMaker maker;
  Feeds feeds;
  Tensor x, w, b, skip;
  std::vector<float> w_scales;
  float x_scale = 0.021F;
  model::Codes residual, mid, y;
};

Tensor random_codes(Random& random, DType t, const Shape& shape, bool positive) {
  if (t == DType::uint8) return random.codes<std::uint8_t>(shape, positive ? 200 : 0, 255);
  return random.codes<std::int8_t>(shape, positive ? 100 : -128, 127);
}

std::int64_t out_size(const Layer& l) { return (l.size + 2 * l.pad - l.kernel) / l.stride + 1; }

Attributes attributes_of(const Layer& l, const Form& f, const Built& t) {
  Attributes a{{"strides", std::vector<std::int64_t>{l.stride, l.stride}},
               {"pads", std::vector<std::int64_t>{l.pad, l.pad, l.pad, l.pad}},
               {"kernel_shape", std::vector<std::int64_t>{l.kernel, l.kernel}},
               {"group", l.group},
               {"x_scale", t.x_scale},
               {"x_zero_point", std::int64_t{f.x_zero}},
               {"w_scales", t.w_scales},
               {"y_scale", t.y.scale},
               {"y_zero_point", std::int64_t{f.y_zero}},
               {"y_dtype", static_cast<std::int64_t>(f.y)},
               {"activation", f.activation}};
  if (f.activation == "Clip") {
    a.set("act_min", 0.0F);
    a.set("act_max", 6.0F);
  }
  if (f.skip != Skip::none) {
    a.set("residual_scale", t.residual.scale);
    a.set("residual_zero_point", std::int64_t{t.residual.zero});
  }
  if (f.mid) {
    a.set("mid_scale", t.mid.scale);
    a.set("mid_zero_point", std::int64_t{t.mid.zero});
    a.set("mid_dtype", static_cast<std::int64_t>(t.mid.dtype));
  }
  return a;
}

Built build(const Layer& l, const Form& f, std::uint32_t seed) {
  Built t;
  Random random(seed);
  const Shape in{2, l.channels, l.size, l.size}, out{2, l.filters, out_size(l), out_size(l)};
  const std::int64_t per = l.channels / l.group;
  t.x = random_codes(random, f.x, in, l.positive);
  t.w =
      random.codes<std::int8_t>({l.filters, per, l.kernel, l.kernel}, l.positive ? 90 : -127, 127);
  t.b = random.reals({l.filters});
  for (std::int64_t i = 0; i < l.filters; ++i)
    t.w_scales.push_back(0.004F + 0.003F * random.real());
  const float spread =
      static_cast<float>(std::sqrt(static_cast<double>(per * l.kernel * l.kernel)));
  t.y = {f.y, l.positive ? 90.0F : 0.013F * spread, f.y_zero};
  t.residual = {f.skip_type, 0.0371F * spread, f.skip_type == DType::uint8 ? 100 : -4};
  t.mid = {f.y == DType::float32 ? DType::uint8 : f.y, 0.019F * spread,
           f.y == DType::uint8 ? 117 : 3};
  const ValueId x = t.maker.input("x", f.x, in);
  t.feeds["x"] = t.x;
  std::vector<ValueId> inputs{x, t.maker.constant("w", t.w),
                              f.bias ? t.maker.constant("b", t.b) : ValueId{}};
  if (f.skip != Skip::none) {
    // A pass-through pool makes the skip an arena buffer.
    t.skip = random_codes(random, f.skip_type, out, false);
    const ValueId r = t.maker.input("r", f.skip_type, out);
    t.feeds["r"] = t.skip;
    const Attributes one{{"kernel_shape", std::vector<std::int64_t>{1, 1}}};
    inputs.push_back(t.maker.node("QMaxPool", "r1", {r}, f.skip_type, out, one, "ai.assay"));
  }
  t.maker.graph.add_output(
      t.maker.node("QConv", "y", inputs, f.y, out, attributes_of(l, f, t), "ai.assay"));
  if (f.skip == Skip::stays) t.maker.graph.add_output(inputs.back());
  return t;
}

int code(const Tensor& t, std::int64_t i) {
  const auto k = static_cast<std::size_t>(i);
  return t.dtype() == DType::uint8 ? t.data<std::uint8_t>()[k] : t.data<std::int8_t>()[k];
}

model::Products products_at(const Layer& l, const Built& t, std::int64_t n, std::int64_t f,
                            std::int64_t oy, std::int64_t ox) {
  model::Products p;
  const std::int64_t per = l.channels / l.group, first = f / (l.filters / l.group) * per;
  for (std::int64_t i = 0; i < l.kernel; ++i) {
    for (std::int64_t j = 0; j < l.kernel; ++j) {
      const std::int64_t y = oy * l.stride + i - l.pad, z = ox * l.stride + j - l.pad;
      if (y < 0 || z < 0 || y >= l.size || z >= l.size) continue;
      p.q.emplace_back();
      p.w.emplace_back();
      for (std::int64_t k = 0; k < per; ++k) {
        p.q.back().push_back(code(t.x, ((n * l.channels + first + k) * l.size + y) * l.size + z));
        p.w.back().push_back(code(t.w, ((f * per + k) * l.kernel + i) * l.kernel + j));
      }
    }
  }
  return p;
}

model::Stage stage_for(const Form& f, const Built& t, std::int64_t filter, std::int64_t element) {
  model::Stage s;
  s.x_scale = t.x_scale;
  s.w_scale = t.w_scales[static_cast<std::size_t>(filter)];
  s.has_bias = f.bias;
  s.bias = t.b.data<float>()[static_cast<std::size_t>(filter)];
  s.has_residual = f.skip != Skip::none;
  s.has_mid = f.mid;
  if (s.has_residual) s.residual = code(t.skip, element);
  s.residual_codes = t.residual;
  s.mid = t.mid;
  s.y = t.y;
  s.activation = f.activation;
  s.act_max = 6.0F;
  return s;
}

float got_at(const Tensor& t, std::int64_t i) {
  return t.dtype() == DType::float32 ? t.data<float>()[static_cast<std::size_t>(i)]
                                     : static_cast<float>(code(t, i));
}

std::int64_t count_mismatches(const Layer& l, const Form& f, const Built& t, const IntArithmetic& a,
                              const Tensor& y) {
  std::int64_t element = 0, wrong = 0;
  for (std::int64_t n = 0; n < 2; ++n) {
    for (std::int64_t k = 0; k < l.filters; ++k) {
      for (std::int64_t p = 0; p < out_size(l) * out_size(l); ++p, ++element) {
        const auto products = products_at(l, t, n, k, p / out_size(l), p % out_size(l));
        const float acc = model::accumulate(a, products, f.x_zero);
        const float want = model::finish(a, stage_for(f, t, k, element), acc);
        wrong += want != got_at(y, element);
      }
    }
  }
  return wrong;
}

/// Assay's own integer reference under the arithmetic that the step states.
Tensor reference_of(const Built& t, const IntArithmetic& a) {
  Graph g = t.maker.graph;
  const NodeId n = *g.find_node("y");
  Attributes at = g.node(n).attributes;
  at.set("profile", std::string("onednn-v3"));
  at.set("acc", to_string(a.acc));
  at.set("s8", to_string(a.s8));
  at.set("comp", to_string(a.comp));
  at.set("residual_form", to_string(a.residual));
  g.set_attributes(n, std::move(at));
  return Executor(g, Precision::f32).run(t.feeds).at("y");
}

void check(const Layer& l, const Form& f, bool tune) {
  const Built t = build(l, f, 11);
  Program program =
      Program::compile(t.maker.graph, {}, {.threads = 2, .tune = tune, .tune_rounds = 1});
  const auto out = program.run(t.feeds);
  const StepInfo& step = *std::find_if(program.steps().begin(), program.steps().end(),
                                       [](const StepInfo& s) { return s.op == "QConv"; });
  ASSERT_FALSE(step.reference()) << step.reason;
  ASSERT_NE(step.kernel.rfind("ref", 0), 0U) << step.kernel;
  ASSERT_TRUE(step.arithmetic.has_value());
  EXPECT_EQ(count_mismatches(l, f, t, *step.arithmetic, out.at("y")), 0)
      << step.kernel << " " << to_string(*step.arithmetic) << " of " << out.at("y").numel();
  EXPECT_TRUE(same_bits(reference_of(t, *step.arithmetic), out.at("y")))
      << "the onednn-v3 reference differs";
  if (f.skip == Skip::stays) {
    EXPECT_TRUE(same_bits(out.at("r1"), t.skip));
  }
}

class IntConv : public ::testing::TestWithParam<std::size_t> {};

TEST_P(IntConv, EqualsTheScalarModel) {
  const Layer& l = layers()[GetParam()];
  for (std::size_t i = 0; i < forms().size(); ++i) {
    SCOPED_TRACE(l.name + ", form " + std::to_string(i) + ", " + effective_isa());
    check(l, forms()[i], false);
  }
}

// Whatever tuning picks stays in the arithmetic that the step states.
TEST_P(IntConv, TunedEqualsTheScalarModel) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{15}}) {
    SCOPED_TRACE(layers()[GetParam()].name + ", form " + std::to_string(i));
    check(layers()[GetParam()], forms()[i], true);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, IntConv, ::testing::Range(std::size_t{0}, layers().size()),
                         [](const auto& i) { return "layer_" + layers()[i.param].name; });

// The same tests under each cap, in processes of their own.
class IsaCap : public ::testing::TestWithParam<const char*> {};

TEST_P(IsaCap, IntegerKernelsEqualTheScalarModel) {
  const std::string command =
      std::string("ONEDNN_MAX_CPU_ISA=") + GetParam() + " /proc/" + std::to_string(getpid()) +
      "/exe --gtest_filter='*IntConv*:*IntGemm*:*IntPool*:*IntAdd*' --gtest_brief=1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

INSTANTIATE_TEST_SUITE_P(Caps, IsaCap,
                         ::testing::Values("AVX512_CORE_VNNI", "AVX2_VNNI", "AVX512_CORE", "AVX2"));

// oneDNN's AMX kernel stores 48 pixels where the output has 36. What stands behind the output in
// the arena is the convolution's own input (smaller buffers come later), which is an output here
// too.
TEST(QConv, LeavesTheMemoryBehindItsOutputAlone) {
  Random random(5);
  GraphMaker maker;
  const Shape in{1, 64, 6, 6}, out{1, 192, 6, 6};
  const Tensor codes = random.codes<std::uint8_t>(in, 0, 255);
  const ValueId x = maker.input("x", DType::uint8, in);
  const Attributes one{{"kernel_shape", std::vector<std::int64_t>{1, 1}}};
  const ValueId copy = maker.node("QMaxPool", "copy", {x}, DType::uint8, in, one, "ai.assay");
  const ValueId w = maker.constant("w", random.codes<std::int8_t>({192, 64, 1, 1}, -127, 127));
  const Attributes form{{"x_scale", 0.02F},
                        {"x_zero_point", std::int64_t{100}},
                        {"w_scales", std::vector<float>(192, 0.01F)},
                        {"y_dtype", static_cast<std::int64_t>(DType::float32)}};
  maker.graph.add_output(
      maker.node("QConv", "y", {copy, w, {}}, DType::float32, out, form, "ai.assay"));
  maker.graph.add_output(copy);
  Program program = Program::compile(maker.graph, {}, {.threads = 2});
  EXPECT_TRUE(same_bits(program.run({{"x", codes}}).at("copy"), codes));
}

}  // namespace
}  // namespace assay::kernels::qconv_test
