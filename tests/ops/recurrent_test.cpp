// RNN, GRU, LSTM with one unit, computed by hand from the formulas; directions, lengths, layouts,
// precisions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::recurrent_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A handful of float32 roundings (2^-24 each), enlarged up to six times where C_t adds terms that
/// nearly cancel.
void expect_near(float got, double exact) { EXPECT_NEAR(got, exact, std::fabs(exact) * 1e-6); }

OpCall one_unit(const std::string& type, std::int64_t gates, Floats w, Floats u, Floats b,
                Floats x) {
  const auto steps = static_cast<std::int64_t>(x.size());
  OpCall call{type,
              {tensor({steps, 1, 1}, x), tensor({1, gates, 1}, w), tensor({1, gates, 1}, u),
               tensor({1, 2 * gates}, b)}};
  call.attributes.set("hidden_size", std::int64_t{1});
  call.outputs = type == "LSTM" ? 3 : 2;
  return call;
}

TEST(Recurrent, RnnByHand) {
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    OpCall call = one_unit("RNN", 1, {0.5F}, {-0.25F}, {0.125F, 0.0625F}, {1, 2});
    call.precision = p;
    const auto out = run(call);
    const double h1 = std::tanh(0.5 + 0.1875), h2 = std::tanh(1.0 - 0.25 * h1 + 0.1875);
    const auto y = values(out[0]);
    expect_near(y[0], h1);
    expect_near(y[1], h2);
    EXPECT_EQ(values(out[1])[0], y[1]);
  }
}

TEST(Recurrent, GruByHandInBothForms) {
  const Floats w{0.5F, -0.25F, 1}, u{0.25F, 0.5F, -0.5F}, b{0.1F, 0.2F, 0.3F, -0.1F, 0.05F, 0.4F};
  for (const bool linear : {false, true}) {
    OpCall call = one_unit("GRU", 3, w, u, b, {1, -2});
    call.attributes.set("linear_before_reset", std::int64_t{linear});
    double h = 0;
    const auto y = values(run(call)[0]);
    for (std::size_t t = 0; t < 2; ++t) {
      const double x = t == 0 ? 1 : -2;
      const double z = sigmoid(0.5 * x + 0.25 * h + double{0.1F} + double{-0.1F});
      const double r = sigmoid(-0.25 * x + 0.5 * h + double{0.2F} + double{0.05F});
      const double inner = linear ? r * (-0.5 * h + double{0.4F}) : -0.5 * (r * h) + double{0.4F};
      h = (1 - z) * std::tanh(x + inner + double{0.3F}) + z * h;
      expect_near(y[t], h);
    }
  }
}

TEST(Recurrent, LstmByHandWithPeepholes) {
  const Floats w{0.5F, 0.25F, -0.5F, 1}, u{0.25F, -0.25F, 0.5F, 0.125F}, b(8, 0.0625F),
      p{0.5F, -0.5F, 0.25F};
  OpCall call = one_unit("LSTM", 4, w, u, b, {1, -2});
  call.inputs.insert(call.inputs.end(), {Tensor(), Tensor(), Tensor(), tensor({1, 3}, p)});
  const auto out = run(call);
  double h = 0, c = 0;
  for (std::size_t t = 0; t < 2; ++t) {
    const double x = t == 0 ? 1 : -2;
    const double i = sigmoid(0.5 * x + 0.25 * h + 0.5 * c + 0.125),
                 f = sigmoid(-0.5 * x + 0.5 * h + 0.25 * c + 0.125);
    c = f * c + i * std::tanh(x + 0.125 * h + 0.125);
    h = sigmoid(0.25 * x - 0.25 * h - 0.5 * c + 0.125) * std::tanh(c);
    expect_near(values(out[0])[t], h);
  }
  expect_near(values(out[2])[0], c);
}

TEST(Recurrent, ReverseAndLengths) {
  OpCall forward = one_unit("RNN", 1, {0.5F}, {-0.25F}, {0, 0}, {1, 2, 3});
  OpCall reverse = one_unit("RNN", 1, {0.5F}, {-0.25F}, {0, 0}, {3, 2, 1});
  reverse.attributes.set("direction", std::string("reverse"));
  const auto a = values(run(forward)[0]), b = values(run(reverse)[0]);
  EXPECT_EQ(a, (Floats{b[2], b[1], b[0]}));
  forward.inputs.push_back(Tensor::of<std::int32_t>({1}, {2}));
  const auto cut = run(forward);
  EXPECT_EQ(values(cut[0]), (Floats{a[0], a[1], 0}));
  EXPECT_EQ(values(cut[1]), (Floats{a[1]}));
}

TEST(Recurrent, BatchFirstIsTheSameNumbers) {
  const Tensor w = random_tensor({1, 12, 3}, -1, 1, 1), u = random_tensor({1, 12, 3}, -1, 1, 2);
  const Tensor x = random_tensor({4, 1, 3}, -1, 1, 3);
  const Tensor y = run_one({"LSTM", {x, w, u}});
  const Tensor z = run_one({"LSTM", {x.reshaped({1, 4, 3}), w, u}, {{"layout", std::int64_t{1}}}});
  EXPECT_EQ(z.shape(), (Shape{1, 4, 1, 3}));
  EXPECT_TRUE(same_bits(y.reshaped(z.shape()), z));
}

TEST(Recurrent, Errors) {
  OpCall call = one_unit("RNN", 1, {0.5F}, {-0.25F}, {0, 0}, {1});
  call.attributes.set("activations", std::vector<std::string>{"Foo"});
  EXPECT_NE(error_of([&] { run(call); }).find("'Foo'"), std::string::npos);
  const OpCall wrong{
      "GRU",
      {tensor({1, 1, 2}, {1, 2}), tensor({1, 3, 1}, {1, 1, 1}), tensor({1, 3, 1}, {1, 1, 1})}};
  EXPECT_NE(error_of([&] { run(wrong); }).find("weights"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::recurrent_test
