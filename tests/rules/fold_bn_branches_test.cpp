// Rule fold_bn_branches: a normalization across Split + Conv + Concat.
#include "tests/fusion/net.h"

namespace assay::fold_bn_branches_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_bn_branches";

Net net_of(const std::string& concat, std::int64_t opset = 13) {
  Net net("s0, s1 = Split<axis=1>(x, parts)\na = Conv(s0, V)\nb = Conv(s1, W, B)\n" + concat +
              "\ny = BatchNormalization<epsilon=0.0>(c, g, t, m, v)",
          opset);
  net.input("x", {1, 3, 1, 1}).constant("parts", i64({1, 2})).constant("V", f32({1, 1, 1, 1}, {1}));
  net.constant("W", f32({2, 2, 1, 1}, {1, 2, 3, 4})).constant("B", f32({2}, {1, 2}));
  net.constant("g", f32({3}, {1, 2, 3}))
      .constant("t", f32({3}, {0, 0, 1}))
      .constant("m", f32({3}, {0, 1, 0}))
      .constant("v", f32({3}, {1, 1, 1}));
  return net;
}
const Feeds x = {{"x", f32({1, 3, 1, 1}, {1, 10, 100})}};

TEST(FoldBnBranches, SlicesFollowTheConcat) {
  for (const auto& [concat, want] :
       {std::pair<std::string, std::vector<float>>{"c = Concat<axis=1>(a, b)", {1, 420, 1297}},
        {"c = Concat<axis=1>(b, a)", {211, 862, 4}}}) {
    const Graph g = net_of(concat).build();
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "Split, Conv, Conv, Concat");
    EXPECT_EQ(floats(run_cr(r.graph, x).at("y")), want);
    expect_same_bits(g, r.graph, x);
    EXPECT_EQ(r.log.fired[0].removed.size(), 4U);
  }
}

TEST(FoldBnBranches, Declines) {
  expect_declined(net_of("c = Concat<axis=1>(a, b)").outputs({"y", "a"}).build(), rule,
                  "branch 'a' of Concat has 2 readers");
  expect_declined(net_of("c = Concat<axis=1>(s0, b)").build(), rule, "is not linear");
  expect_declined(net_of("c = Concat<axis=1>(a, b)").outputs({"y", "c"}).build(), rule,
                  "graph output");
  Net axis("c = Concat<axis=2>(a, b)\ny = BatchNormalization(c, p, p, p, p)");
  Net lines(
      "a = Conv(x, V)\nb = Conv(x, W)\nc = Concat<axis=2>(a, b)\ny = BatchNormalization(c, p, p, "
      "p, p)");
  lines.input("x", {1, 1, 1, 1})
      .constant("V", f32({2, 1, 1, 1}, {1, 1}))
      .constant("W", f32({2, 1, 1, 1}, {1, 1}))
      .constant("p", f32({2}, {1, 1}));
  expect_declined(lines.build(), rule, "axis 2");
}

TEST(FoldBnBranches, AmctWantsTheSplit) {
  Net net(
      "a = Conv(x, V)\nb = Conv(x, W)\nc = Concat<axis=1>(a, b)\ny = BatchNormalization(c, p, p, "
      "p, p)");
  net.input("x", {1, 1, 1, 1})
      .constant("V", f32({1, 1, 1, 1}, {1}))
      .constant("W", f32({1, 1, 1, 1}, {1}))
      .constant("p", f32({2}, {1, 1}));
  const Graph g = net.build();
  EXPECT_EQ(fuse(g, {.mode = "all"}).log.count(rule), 1);
  EXPECT_EQ(fuse(g, {.mode = "amct-tf"}).log.count(rule), 0);
  EXPECT_EQ(fuse(net_of("c = Concat<axis=1>(a, b)").build(), {.mode = "amct-tf"}).log.count(rule),
            1);
}

}  // namespace
}  // namespace assay::fold_bn_branches_test
