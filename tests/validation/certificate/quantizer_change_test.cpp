// E3: dropped quantizers and the interval that judges them.
#include "validation/certificate/quantizer_change.h"

#include "tests/validation/certificate/fold_pair.h"

namespace assay::quantizer_change_test {
namespace {

using namespace testing;

Graph net(const std::string& lines, float step = 0.5F, int zero = 0) {
  Net n(lines);
  n.input("x", {1, 1, 1, 8}).input("r", {1, 1, 1, 8});
  n.constant("W", f32({1, 1, 1, 1}, {1}));
  if (lines.find("s, z") != std::string::npos)
    n.constant("s", f32({}, {step})).constant("z", Tensor::scalar<std::int8_t>(0));
  n.constant("t", f32({}, {0.25F})).constant("u", Tensor::scalar(static_cast<std::int8_t>(zero)));
  return n.build();
}

const std::string with_pair =
    "c = Conv(x, W)\nq = QuantizeLinear(c, s, z)\nd = DequantizeLinear(q, s, z)\na = Add(d, r)\ny "
    "= "
    "QuantizeLinear(a, t, u)";
// The sum has another name, so that the region reaches to the codes.
const std::string without_pair = "c = Conv(x, W)\nb = Add(c, r)\ny = QuantizeLinear(b, t, u)";

Feeds input(float largest = 1.0F) {
  return {{"x", f32({1, 1, 1, 8}, {0.1F, 0.3F, -0.7F, largest, 0.9F, -0.2F, 0.45F, 0.6F})},
          {"r", f32({1, 1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})}};
}

TEST(QuantizerChange, ADroppedPairIsE3WithItsCodes) {
  const auto list = judge_file(net(with_pair), net(without_pair), input());
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E3");
  const auto& q = list[0].proof["quantization"];
  EXPECT_EQ(q["saturated"], 0);
  EXPECT_EQ(q["elements"], 8);
  // By hand: 0.1 0.3 -0.7 1 0.9 -0.2 0.45 0.6 become 0 0.5 -0.5 1 1 0 0.5 0.5; with r and step
  // 0.25 (halves to even) the codes are 4 10 10 20 24 24 30 34 against 4 9 9 20 24 23 30 34.
  EXPECT_EQ(q["lsb_histogram"].dump(), R"({"-1":3,"0":5})");
  EXPECT_LE(q["interval_usage"].get<double>(), 1.0);
  // s = 0.5 and t = 0.25: s / (4 t).
  EXPECT_EQ(q["predicted_rate_at_unit_gain"], 0.5);
}

TEST(QuantizerChange, SaturatedElementsAreCountedApart) {
  // 100 saturates at 127 * 0.5 = 63.5.
  const auto list = judge_file(net(with_pair), net(without_pair), input(100.0F));
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E3");
  EXPECT_EQ(list[0].proof["quantization"]["saturated"], 1);
}

TEST(QuantizerChange, AZeroPointThatIsOffIsNotEquivalent) {
  const auto list = judge_file(net(with_pair), net(without_pair, 0.5F, 1), input());
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E5") << list[0].reason;
  EXPECT_FALSE(list[0].witness.is_null());
}

TEST(QuantizerChange, TheRuleThatDropsAPairIsE3) {
  const Graph o = net(with_pair);
  const FusionResult r = fuse(o, {.mode = "drop_inner_quantizer"});
  const auto list = certify(o, r.graph, &r.log, {.samples = {input()}, .kernels = false}).fusions;
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E3");
  EXPECT_EQ(list[0].rule, "drop_inner_quantizer");
}

TEST(QuantizerChange, AQuantizerOfAnotherScaleOnBothSidesIsNotEquivalent) {
  EXPECT_EQ(file_verdict(net(with_pair, 0.5F), net(with_pair, 0.125F), input()), "E5");
}

}  // namespace
}  // namespace assay::quantizer_change_test
