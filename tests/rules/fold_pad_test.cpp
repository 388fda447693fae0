// Rule fold_pad: explicit padding goes only where the consumer pads the same way (S-07).
#include "tests/fusion/net.h"

namespace assay::fold_pad_test {
namespace {

using namespace testing;

constexpr const char* rule = "fold_pad";

Net net_of(const std::string& consumer, std::vector<std::int64_t> pads, float value) {
  Net net("p = Pad(x, pads, value)\ny = " + consumer);
  net.input("x", {1, 1, 2, 2})
      .constant("pads", i64(std::move(pads)))
      .constant("value", f32({}, {value}))
      .constant("W", grid({1, 1, 2, 2}, 1));
  return net;
}
const std::vector<std::int64_t> one = {0, 0, 1, 1, 0, 0, 1, 1};
const Feeds x = {{"x", f32({1, 1, 2, 2}, {-1, -1, -1, -1})}};

TEST(FoldPad, IntoConvAndPools) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const Graph& g :
       {net_of("Conv(p, W)", one, 0).build(),
        net_of("Conv<pads=[0,1,0,0], strides=[2,1]>(p, W)", {0, 0, 1, 0, 0, 0, 0, 2}, 0).build(),
        net_of("AveragePool<kernel_shape=[2,2], strides=[2,2]>(p)", one, 0).build(),
        net_of("AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1>(p)", one, 0)
            .build(),
        net_of("MaxPool<kernel_shape=[2,2], strides=[2,2]>(p)", one, -inf).build()}) {
    const FusionResult r = fuse(g, {.mode = rule});
    EXPECT_EQ(r.graph.node_count(), 1) << explain(r.log);
    expect_same_bits(g, r.graph, x);
  }
}

TEST(FoldPad, Declines) {
  expect_declined(net_of("MaxPool<kernel_shape=[2,2]>(p)", one, 0).build(), rule,
                  "fills with 0.000000, MaxPool pads with -inf");
  expect_declined(net_of("Conv(p, W)", one, 1).build(), rule, "fills with 1.000000");
  expect_declined(net_of("Conv(p, W)", {0, 0, 0, -1, 0, 0, 0, 0}, 0).build(), rule, "a crop");
  expect_declined(net_of("Conv(p, W)", {0, 0, 0, 0, 1, 0, 0, 0}, 0).build(), rule,
                  "axis 0 is padded");
  expect_declined(net_of("AveragePool<kernel_shape=[2,2], pads=[1,1,1,1]>(p)", one, 0).build(),
                  rule, "do not count");
  expect_declined(net_of("AveragePool<kernel_shape=[2,2], ceil_mode=1>(p)", one, 0).build(), rule,
                  "ceil_mode");
  expect_declined(net_of("Conv<auto_pad=\"SAME_UPPER\">(p, W)", one, 0).build(), rule, "auto_pad");
  expect_declined(net_of("Conv(p, W)", one, 0).outputs({"y", "p"}).build(), rule, "graph output");
  Net reflect("p = Pad<mode=\"reflect\">(x, pads)\ny = Conv(p, W)");
  reflect.input("x", {1, 1, 2, 2}).constant("pads", i64(one)).constant("W", grid({1, 1, 2, 2}, 1));
  expect_declined(reflect.build(), rule, "mode = reflect");
  Net open("p = Pad(x, pads)\ny = Conv(p, W)");
  open.input("x", {1, 1, 2, 2})
      .input("pads", {8}, DType::int64)
      .constant("W", grid({1, 1, 2, 2}, 1));
  expect_declined(open.build(), rule, "pads of Pad are not constant");
}

TEST(FoldPad, OldAttributes) {
  Net net("p = Pad<pads=[0,0,1,1,0,0,1,1]>(x)\ny = Conv(p, W)", 10);
  net.input("x", {1, 1, 2, 2}).constant("W", grid({1, 1, 2, 2}, 1));
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Conv");
  expect_same_bits(g, r.graph, x);
}

}  // namespace
}  // namespace assay::fold_pad_test
