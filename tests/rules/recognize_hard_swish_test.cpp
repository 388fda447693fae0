// Rule recognize_hard_swish.
#include "tests/fusion/net.h"

namespace assay::recognize_hard_swish_test {
namespace {

using namespace testing;

constexpr const char* rule = "recognize_hard_swish";

Net net_of(const std::string& lines, std::int64_t opset = 14) {
  Net net(lines, opset);
  net.input("x", {5})
      .constant("three", f32({}, {3}))
      .constant("six", f32({}, {6}))
      .constant("zero", f32({}, {0}))
      .constant("sixth", f32({}, {1.0F / 6.0F}));
  return net;
}
const std::string clip = "p = Add(x, three)\nc = Clip(p, zero, six)\n";
const Feeds x = {
    {"x", f32({5}, {-4, -1.5F, 0, 3, 6})}};  // x·min(max(x+3, 0), 6)/6: 0, -0.375, 0, 3, 6

TEST(RecognizeHardSwish, EverySpelling) {
  for (const std::string& lines :
       {clip + "d = Div(c, six)\ny = Mul(x, d)", clip + "m = Mul(x, c)\ny = Div(m, six)",
        clip + "m = Mul(c, sixth)\ny = Mul(m, x)", clip + "m = Mul(c, x)\ny = Mul(m, sixth)",
        std::string("h = HardSigmoid<alpha=0.16666667, beta=0.5>(x)\ny = Mul(x, h)")}) {
    const FusionResult r = fuse(net_of(lines).build(), {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "HardSwish") << lines;
    EXPECT_EQ(floats(run_cr(r.graph, x).at("y")), (std::vector<float>{-0.0F, -0.375F, 0, 3, 6}))
        << lines;
  }
}

TEST(RecognizeHardSwish, Declines) {
  expect_declined(net_of("h = HardSigmoid<alpha=0.2>(x)\ny = Mul(x, h)").build(), rule,
                  "alpha = 0.2");
  expect_declined(net_of(clip + "d = Div(c, six)\ny = Mul(x, d)", 13).build(), rule,
                  "needs opset 14");
  expect_declined(net_of(clip + "d = Div(c, six)\ny = Mul(x, d)").outputs({"y", "d"}).build(), rule,
                  "graph output");
  EXPECT_TRUE(
      fuse(net_of("p = Add(x, three)\nc = Clip(p, zero, three)\nd = Div(c, six)\ny = Mul(x, d)")
               .build(),
           {.mode = rule})
          .log.fired.empty());
}

}  // namespace
}  // namespace assay::recognize_hard_swish_test
