// Rule merge_split_conv: Split + N Conv + Concat -> one grouped Conv.
#include "tests/fusion/net.h"

namespace assay::merge_split_conv_test {
namespace {

using namespace testing;

constexpr const char* rule = "merge_split_conv";

Net net_of(const std::string& tail, const std::string& first = "", const std::string& second = "",
           std::vector<std::int64_t> parts = {2, 2}) {
  Net net("s0, s1 = Split<axis=1>(x, parts)\na = Conv" + first + "(s0, V)\nb = Conv" + second +
          "(s1, W, B)\n" + tail);
  net.input("x", {1, 4, 2, 2})
      .constant("parts", i64(parts))
      .constant("V", grid({3, parts[0], 1, 1}, 1));
  net.constant("W", grid({3, parts[1], 1, 1}, 2)).constant("B", grid({3}, 3));
  return net;
}
const std::string concat = "y = Concat<axis=1>(a, b)";

TEST(MergeSplitConv, BecomesOneGroupedConv) {
  const Graph g = net_of(concat).build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Conv");
  EXPECT_EQ(r.graph.node(r.graph.topological_order()[0]).attributes.int_or("group", 1), 2);
  expect_same_bits(g, r.graph, {{"x", grid({1, 4, 2, 2}, 4)}});
}

TEST(MergeSplitConv, GroupsInsideBranches) {
  Net net("s0, s1 = Split<axis=1>(x, parts)\na = Conv<group=2>(s0, V)\nb = Conv<group=2>(s1, W)\n" +
          concat);
  net.input("x", {1, 4, 2, 2})
      .constant("parts", i64({2, 2}))
      .constant("V", grid({4, 1, 1, 1}, 1))
      .constant("W", grid({4, 1, 1, 1}, 2));
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = rule});
  EXPECT_EQ(ops_of(r.graph), "Conv");
  expect_same_bits(g, r.graph, {{"x", grid({1, 4, 2, 2}, 4)}});
}

TEST(MergeSplitConv, Declines) {
  expect_declined(net_of("y = Concat<axis=1>(b, a)").build(), rule, "does not read output 0");
  expect_declined(net_of(concat, "", "", {1, 3}).build(), rule, "unequal groups");
  expect_declined(net_of(concat, "<strides=[1,1]>").build(), rule, "other attributes");
  expect_declined(net_of(concat).outputs({"y", "a"}).build(), rule, "branch 'a' has 2 readers");
  expect_declined(net_of(concat + "\nz = Relu(s0)").outputs({"y", "z"}).build(), rule,
                  "slice 's0' has 2 readers");
  expect_declined(net_of("y = Concat<axis=2>(a, b)").build(), rule, "axis 2");
}

}  // namespace
}  // namespace assay::merge_split_conv_test
