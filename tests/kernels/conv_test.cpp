// float32 convolutions against a double loop. The bound is the any-order one: |got - exact| <=
// gamma_(n+2) * (sum |x||w| + |b| + |r|) with gamma_n = n u / (1 - n u), u = 2^-24, n the number of
// terms; the double loop's own error is 2^29 times smaller.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/program.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::conv_test {
namespace {

struct Case {
  std::int64_t channels, filters, kernel, stride, pad, group, size;
  bool bias, residual;
  std::string activation;
  std::int64_t batch = 1;
};

struct Exact {
  double value, magnitude;
  std::int64_t terms;
};

Exact dot_at(const Case& c, const Tensor& x, const Tensor& w, std::int64_t n, std::int64_t f,
             std::int64_t oy, std::int64_t ox) {
  const std::int64_t per = c.channels / c.group, first = f / (c.filters / c.group) * per;
  const auto xs = x.data<float>(), ws = w.data<float>();
  Exact e{0, 0, 0};
  for (std::int64_t k = 0; k < per; ++k) {
    for (std::int64_t i = 0; i < c.kernel; ++i) {
      for (std::int64_t j = 0; j < c.kernel; ++j) {
        const std::int64_t y = oy * c.stride + i - c.pad, z = ox * c.stride + j - c.pad;
        if (y < 0 || z < 0 || y >= c.size || z >= c.size) continue;
        const double a =
            xs[static_cast<std::size_t>(((n * c.channels + first + k) * c.size + y) * c.size + z)];
        const double b =
            ws[static_cast<std::size_t>(((f * per + k) * c.kernel + i) * c.kernel + j)];
        e.value += a * b;
        e.magnitude += std::abs(a * b);
        ++e.terms;
      }
    }
  }
  return e;
}

double activate(const std::string& name, double v) {
  if (name == "Relu") return std::max(v, 0.0);
  if (name == "Clip") return std::min(std::max(v, 0.0), 6.0);
  if (name == "HardSwish") return v * std::min(std::max(v / 6 + 0.5, 0.0), 1.0);
  return v;
}

std::int64_t out_size(const Case& c) { return (c.size + 2 * c.pad - c.kernel) / c.stride + 1; }

struct Built {
  GraphMaker maker;
  Feeds feeds;
  Tensor w, b;
};

Built build(const Case& c) {
  Built t;
  Random random(7);
  const Shape in{c.batch, c.channels, c.size, c.size};
  const Shape out{c.batch, c.filters, out_size(c), out_size(c)};
  t.w = random.reals({c.filters, c.channels / c.group, c.kernel, c.kernel});
  t.b = random.reals({c.filters});
  const ValueId x = t.maker.input("x", DType::float32, in);
  std::vector<ValueId> inputs{x, t.maker.constant("w", t.w),
                              c.bias ? t.maker.constant("b", t.b) : ValueId{}};
  t.feeds["x"] = random.reals(in);
  if (c.residual) {
    // Through a node of its own, so that the buffer is the program's and dies at the convolution.
    const ValueId r = t.maker.input("r", DType::float32, out);
    t.feeds["r"] = random.reals(out);
    inputs.push_back(t.maker.node("Relu", "r1", {r}, DType::float32, out));
  }
  Attributes a{{"strides", std::vector<std::int64_t>{c.stride, c.stride}},
               {"pads", std::vector<std::int64_t>{c.pad, c.pad, c.pad, c.pad}},
               {"group", c.group}};
  if (c.activation == "Clip") {
    a.set("min", 0.0F);
    a.set("max", 6.0F);
  }
  const std::string op = std::string("Conv") + (c.residual ? "Add" : "") + c.activation;
  const bool fused = op != "Conv";
  t.maker.graph.add_output(
      t.maker.node(op, "y", inputs, DType::float32, out, a, fused ? "ai.assay" : ""));
  return t;
}

void expect_within_bound(const Case& c, const Built& t, const Tensor& got) {
  const auto y = got.data<float>();
  std::size_t i = 0;
  for (std::int64_t n = 0; n < c.batch; ++n) {
    for (std::int64_t f = 0; f < c.filters; ++f) {
      for (std::int64_t p = 0; p < out_size(c) * out_size(c); ++p, ++i) {
        Exact e = dot_at(c, t.feeds.at("x"), t.w, n, f, p / out_size(c), p % out_size(c));
        if (c.bias) e.value += t.b.data<float>()[static_cast<std::size_t>(f)];
        if (c.bias) e.magnitude += std::abs(t.b.data<float>()[static_cast<std::size_t>(f)]);
        if (c.residual) {
          const double r = std::max(0.0F, t.feeds.at("r").data<float>()[i]);
          e.value += r;
          e.magnitude += r;
        }
        // Two more roundings for bias and residual; HardSwish has slope at most 1.5 and four
        // roundings of its own.
        const double u = std::ldexp(1.0, -24), n_u = static_cast<double>(e.terms + 2) * u;
        double bound = n_u / (1 - n_u) * e.magnitude;
        const double want = activate(c.activation, e.value);
        if (c.activation == "HardSwish")
          bound = 1.5 * bound + 5 * u * (std::abs(want) + 0.5 * std::abs(e.value));
        ASSERT_NEAR(y[i], want, bound) << "element " << i;
      }
    }
  }
}

class F32Conv : public ::testing::TestWithParam<Case> {};

TEST_P(F32Conv, StaysInsideTheAnyOrderBound) {
  const Case& c = GetParam();
  const Built t = build(c);
  Program program = Program::compile(t.maker.graph, {}, {.threads = 2});
  for (const StepInfo& s : program.steps()) {
    EXPECT_FALSE(s.reference()) << s.node << ": " << s.reason;
    EXPECT_EQ(s.kernel.find("ref"), std::string::npos) << s.kernel;
  }
  const auto out = program.run(t.feeds);
  expect_within_bound(c, t, out.at("y"));
  EXPECT_TRUE(same_bits(program.run(t.feeds).at("y"), out.at("y")));
}

INSTANTIATE_TEST_SUITE_P(Shapes, F32Conv,
                         ::testing::Values(Case{3, 16, 7, 2, 3, 1, 23, true, false, "Relu"},
                                           Case{16, 32, 3, 1, 1, 1, 14, true, true, "Relu"},
                                           Case{64, 32, 1, 1, 0, 1, 9, false, false, ""},
                                           Case{64, 128, 1, 1, 0, 1, 7, true, true, ""},
                                           Case{32, 64, 1, 2, 0, 1, 14, true, false, "Clip"},
                                           Case{24, 24, 3, 1, 1, 24, 12, true, false, "HardSwish"},
                                           Case{24, 24, 5, 2, 2, 24, 13, false, false, "Clip"},
                                           Case{32, 32, 3, 1, 1, 4, 8, true, true, "Relu", 3},
                                           Case{17, 19, 3, 1, 1, 1, 5, true, false, ""}));

// The skip tensor is also a graph output: it must come out unchanged, which a sum in place would
// break.
TEST(F32ConvResidual, SkipThatIsReadLaterStaysIntact) {
  GraphMaker m;
  Random random(3);
  const Shape s{1, 16, 6, 6};
  const ValueId x = m.input("x", DType::float32, s);
  const ValueId skip = m.node("Relu", "skip", {x}, DType::float32, s);
  const ValueId w = m.constant("w", random.reals({16, 16, 1, 1}));
  m.graph.add_output(
      m.node("ConvAdd", "y", {skip, w, {}, skip}, DType::float32, s, {}, "ai.assay"));
  m.graph.add_output(skip);
  Program program = Program::compile(m.graph, {}, {.threads = 1});
  const Tensor in = random.reals(s);
  const auto out = program.run({{"x", in}});
  const auto got = out.at("skip").data<float>();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], std::max(0.0F, in.data<float>()[i]));
}

// Tuning may change the kernel, never the step count or the meaning.
TEST(F32ConvTuning, TunedProgramStaysInsideTheBound) {
  const Case c{64, 64, 1, 1, 0, 1, 12, true, false, "Relu"};
  const Built t = build(c);
  Program program =
      Program::compile(t.maker.graph, {}, {.threads = 2, .tune = true, .tune_rounds = 3});
  expect_within_bound(c, t, program.run(t.feeds).at("y"));
}

}  // namespace
}  // namespace assay::kernels::conv_test
