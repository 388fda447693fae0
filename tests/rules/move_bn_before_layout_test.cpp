// Rule move_bn_before_layout: normalization past BatchToSpace, DepthToSpace and Reshape.
#include "tests/fusion/net.h"
#include "validation/certificate/real.h"

namespace assay::move_bn_before_layout_test {
namespace {

using namespace testing;

constexpr const char* rule = "move_bn_before_layout";

Net with_bn(const std::string& lines, std::int64_t channels) {
  Net net(lines + "\ny = BatchNormalization<epsilon=0.0>(q, g, b, m, v)");
  Tensor gamma(DType::float32, Shape{channels});
  for (std::int64_t i = 0; i < channels; ++i)
    gamma.mutable_data<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
  Tensor one = Tensor::zeros(DType::float32, Shape{channels});
  for (float& v : one.mutable_data<float>()) v = 1;
  net.constant("g", gamma)
      .constant("b", grid({channels}, 8))
      .constant("m", grid({channels}, 9))
      .constant("v", one);
  return net;
}

void expect_folds(Net net, const Tensor& x, const std::string& ops) {
  const Graph g = net.build();
  const FusionResult r = fuse(g, {.mode = "all"});
  EXPECT_EQ(ops_of(r.graph), ops) << explain(r.log);
  EXPECT_EQ(r.log.count(rule), 1);
  expect_same_bits(g, r.graph, {{"x", x}});
}

TEST(MoveBnBeforeLayout, DepthToSpaceInBothOrders) {
  for (const std::string mode : {"DCR", "CRD"}) {
    Net net = with_bn("c = Conv(x, W)\nq = DepthToSpace<blocksize=2, mode=\"" + mode + "\">(c)", 3);
    net.input("x", {1, 2, 2, 2}).constant("W", grid({12, 2, 1, 1}, 1));
    expect_folds(net, grid({1, 2, 2, 2}, 2), "Conv, DepthToSpace");
  }
}

/// BatchNormalization + Mul becomes one normalization with rounded parameters before it is moved
/// and folded; the weights are the exact products all the same, rounded once.
TEST(MoveBnBeforeLayout, ParametersOfEarlierRulesAreNotRoundedTwice) {
  Net net(
      "c = Conv(x, W)\nd = DepthToSpace<blocksize=2>(c)\nn = "
      "BatchNormalization<epsilon=0.0>(d, g, b, m, v)\ny = Mul(n, k)");
  const Tensor w = grid({8, 2, 1, 1}, 1);
  const float gamma[] = {0.3F, -1.7F}, var[] = {0.7F, 1.9F}, k[] = {1.3F, 0.1F};
  net.input("x", {1, 2, 2, 2}).constant("W", w);
  net.constant("g", f32({2}, {gamma[0], gamma[1]})).constant("b", f32({2}, {0, 0}));
  net.constant("m", f32({2}, {0, 0})).constant("v", f32({2}, {var[0], var[1]}));
  net.constant("k", f32({2, 1, 1}, {k[0], k[1]}));
  const FusionResult r = fuse(net.build(), {.mode = "all"});
  ASSERT_EQ(ops_of(r.graph), "Conv, DepthToSpace") << explain(r.log);
  const Node& conv = r.graph.node(r.graph.topological_order()[0]);
  const auto folded = r.graph.constant(conv.inputs[1])->data<float>();
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const std::size_t c = i / 2 % 2;  // DCR: channels of the output vary fastest
    const Real exact = Real(w.data<float>()[i]) * Real(gamma[c]) * Real(k[c]) / Real(var[c]).sqrt();
    EXPECT_EQ(folded[i], exact.to_float()) << i;
  }
}

TEST(MoveBnBeforeLayout, BatchToSpaceByDepthToSpace) {
  Net net = with_bn(
      "c = Conv(x, W)\np = Transpose<perm=[1,0,2,3]>(c)\nd = DepthToSpace<blocksize=2>(p)\n"
      "s = Slice(d, begin, end, axes)\nq = Transpose<perm=[1,0,2,3]>(s)",
      3);
  net.input("x", {4, 2, 2, 2}).constant("W", grid({3, 2, 1, 1}, 1));
  net.constant("begin", i64({0, 1})).constant("end", i64({3, 4})).constant("axes", i64({2, 3}));
  expect_folds(net, grid({4, 2, 2, 2}, 2), "Conv, Transpose, DepthToSpace, Slice, Transpose");
}

TEST(MoveBnBeforeLayout, BatchToSpaceByReshape) {
  Net net = with_bn(
      "c = Conv(x, W)\nr = Reshape(c, six)\nt = Transpose<perm=[2,3,4,0,5,1]>(r)\nu = Reshape(t, "
      "four)\n"
      "q = Slice(u, begin, end, axes)",
      3);
  net.input("x", {4, 2, 2, 2}).constant("W", grid({3, 2, 1, 1}, 1));
  net.constant("six", i64({2, 2, 1, 3, 2, 2})).constant("four", i64({1, 3, 4, 4}));
  net.constant("begin", i64({0, 1})).constant("end", i64({3, 4})).constant("axes", i64({2, 3}));
  expect_folds(net, grid({4, 2, 2, 2}, 2), "Conv, Reshape, Transpose, Reshape, Slice");
}

TEST(MoveBnBeforeLayout, MatMulReshapeInItsLayouts) {
  Net nchw = with_bn("c = MatMul(x, W)\nq = Reshape(c, image)", 3);
  nchw.input("x", {2, 2}).constant("W", grid({2, 3}, 1)).constant("image", i64({2, 3, 1, 1}));
  expect_folds(nchw, grid({2, 2}, 2), "Gemm, Reshape");
  Net nhwc =
      with_bn("c = Gemm(x, W, B)\nr = Reshape(c, image)\nq = Transpose<perm=[0,3,1,2]>(r)", 3);
  nhwc.input("x", {2, 2})
      .constant("W", grid({2, 3}, 1))
      .constant("B", grid({3}, 3))
      .constant("image", i64({-1, 1, 1, 3}));
  expect_folds(nhwc, grid({2, 2}, 2), "Gemm, Reshape, Transpose");
  Net open = with_bn("c = MatMul(x, W)\nq = Reshape(c, image)", 3);
  open.input("x", {-1, 2}).constant("W", grid({2, 3}, 1)).constant("image", i64({0, 3, 1, 1}));
  expect_folds(open, grid({2, 2}, 2), "Gemm, Reshape");
}

TEST(MoveBnBeforeLayout, Declines) {
  Net mixed = with_bn("c = MatMul(x, W)\nq = Reshape(c, turned)", 2);
  mixed.input("x", {2, 2}).constant("W", grid({2, 3}, 1)).constant("turned", i64({3, 2}));
  expect_declined(mixed.build(), rule, "feeds channels");
  Net read = with_bn("c = Conv(x, W)\nq = DepthToSpace<blocksize=2>(c)", 3);
  read.input("x", {1, 2, 2, 2}).constant("W", grid({12, 2, 1, 1}, 1)).outputs({"y", "c"});
  expect_declined(read.build(), rule, "'c' is a graph output");
  Net sizes = with_bn("c = Conv(x, W)\nq = Reshape(c, shape)", 3);
  sizes.input("x", {1, 2, 2, 2})
      .input("shape", {4}, DType::int64)
      .constant("W", grid({3, 2, 1, 1}, 1));
  expect_declined(sizes.build(), rule, "cannot be followed");
}

}  // namespace
}  // namespace assay::move_bn_before_layout_test
