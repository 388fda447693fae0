// Defects that only special values show: infinities, signed zeros, subnormals, overflow.
#include <limits>

#include "tests/defects/carriers.h"
#include "tests/defects/suite.h"
#include "tests/fusion/net.h"

namespace assay::defects {
namespace {

using testing::f32;
using testing::Net;

constexpr std::int64_t size = 8;

Tensor drawn(std::uint64_t seed, Shape shape, double low, double high) {
  Random r(seed);
  Tensor t(DType::float32, std::move(shape));
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(r.between(low, high));
  return t;
}

/// One operator or two on x[1, 8], with constants by name.
Kind lines(const std::string& name, const std::string& original, const std::string& fused,
           const std::vector<std::pair<std::string, float>>& constants) {
  return {
      name, "file", [=](std::uint64_t seed) {
        const auto net = [&](const std::string& text) {
          Net n(text);
          n.input("x", {1, size});
          for (const auto& [constant, value] : constants) {
            if (text.find(constant + ")") != std::string::npos ||
                text.find(constant + ",") != std::string::npos)
              n.constant(constant, f32({}, {value}));
          }
          return n.build();
        };
        return std::vector<Case>{
            {"1x8", net(original), net(fused), {}, {{"x", drawn(seed, Shape{1, size}, -2, 2)}}}};
      }};
}

Graph product(const Tensor& weights, const std::string& behind) {
  Net net((behind.empty() ? "y" : "c") + std::string(" = Conv(x, W)\n") + behind);
  net.input("x", {1, 2, 1, 1}).constant("W", weights);
  if (!behind.empty()) net.constant("s", f32({}, {1e20F}));
  return net.build();
}

/// Sum first, then scale by 1e20; folded, each product overflows before the sum cancels.
Kind overflow() {
  return {"overflow_before_cancelling", "file", [](std::uint64_t seed) {
            Random r(seed);
            const auto w = static_cast<float>(r.between(0.5, 2));
            const float x = 3e38F / 1e20F * 16;
            return std::vector<Case>{{"1x2x1x1",
                                      product(f32({1, 2, 1, 1}, {w, -w}), "y = Mul(c, s)"),
                                      product(f32({1, 2, 1, 1}, {w * 1e20F, -w * 1e20F}), ""),
                                      {},
                                      {{"x", f32({1, 2, 1, 1}, {x, x})}}}};
          }};
}

/// Weights that are subnormal once scaled, stored as zeros.
Kind flushed() {
  return {"subnormal_weights_flushed", "file", [](std::uint64_t seed) {
            const Tensor w = drawn(seed, Shape{1, 2, 1, 1}, 1, 2);
            Net o("c = Conv(x, W)\ny = Mul(c, s)");
            o.input("x", {1, 2, 1, 1}).constant("W", w).constant("s", f32({}, {0x1p-130F}));
            return std::vector<Case>{{"1x2x1x1",
                                      o.build(),
                                      product(f32({1, 2, 1, 1}, {0, 0}), ""),
                                      {},
                                      {{"x", f32({1, 2, 1, 1}, {1, 2})}}}};
          }};
}

}  // namespace

std::vector<Kind> special_kinds() {
  return {
      lines("infinity_times_zero_dropped", "m = Mul(x, zero)\ny = Add(m, x)", "y = Identity(x)",
            {{"zero", 0.0F}}),
      lines("sign_of_zero_lost", "n = Neg(x)\ny = Neg(n)", "y = Add(x, zero)", {{"zero", 0.0F}}),
      lines("largest_number_as_bound", "y = Clip(x, low)", "y = Clip(x, low, high)",
            {{"low", -1.0F}, {"high", std::numeric_limits<float>::max()}}),
      overflow(),
      flushed(),
  };
}

}  // namespace assay::defects
