// Fusion modes named after a constraint table: an operator that the table does not quantize is not
// fused.
#include <gtest/gtest.h>

#include "tests/fusion/net.h"

namespace assay::target_modes_test {
namespace {

using namespace testing;

Net conv_bn(const std::string& op, Shape w, std::vector<std::int64_t> x) {
  Net net("c = " + op + "(x, w)\ny = BatchNormalization(c, p, p, p, p)");
  net.input("x", std::move(x))
      .constant("p", f32({2}, {1, 1}))
      .constant("w", Tensor::zeros(DType::float32, std::move(w)));
  return net;
}

struct Refused {
  std::string mode, op;
  Shape w;
  std::vector<std::int64_t> x;
  std::string rule, words;
};

TEST(TargetModes, WhatTheTableRefusesIsNotFused) {
  const std::vector<Refused> cases = {
      {"amct-onnx",
       "Conv<dilations=[2,1,1]>",
       {2, 2, 1, 1, 1},
       {1, 2, 2, 2, 2},
       "fold_bn_conv",
       "dilation_d is 1"},
      {"amct-tf",
       "Conv<dilations=[2,1,1]>",
       {2, 2, 1, 1, 1},
       {1, 2, 2, 2, 2},
       "fold_bn_conv",
       "dilation_d is 1"},
      {"amct-tf", "Conv", {2, 2, 1}, {1, 2, 4}, "fold_bn_conv", "amct-tf has no row for Conv"},
      {"amct-caffe",
       "Conv",
       {2, 2, 1, 1, 1},
       {1, 2, 2, 2, 2},
       "fold_bn_conv",
       "the filter has 4 dimensions"},
      {"amct-onnx",
       "ConvTranspose",
       {2, 2, 1},
       {1, 2, 4},
       "fold_bn_conv_transpose",
       "the filter has 4 dimensions"},
      {"amct-caffe",
       "ConvTranspose<dilations=[1,2]>",
       {2, 2, 1, 1},
       {1, 2, 2, 2},
       "fold_bn_conv_transpose",
       "dilation is 1"},
      {"amct-caffe", "Gemm<transA=1>", {2, 2}, {2, 2}, "fold_bn_gemm", "transpose is false"},
  };
  for (const Refused& r : cases) {
    SCOPED_TRACE(r.mode + " " + r.op);
    const Graph g = conv_bn(r.op, r.w, r.x).build();
    const FusionResult result = fuse(g, {.mode = r.mode});
    EXPECT_TRUE(result.log.fired.empty()) << explain(result.log);
    EXPECT_NE(reason(result.log, r.rule).find(r.words), std::string::npos) << explain(result.log);
    // The same fold is fine where no table has a say.
    EXPECT_EQ(fuse(g, {.mode = "all"}).log.fired.size(), 1U);
  }
}

TEST(TargetModes, WhatTheTableAllowsIsFused) {
  for (const std::string mode : {"amct-onnx", "amct-tf", "amct-caffe"})
    EXPECT_EQ(
        fuse(conv_bn("Conv", {2, 2, 1, 1}, {1, 2, 2, 2}).build(), {.mode = mode}).log.fired.size(),
        1U)
        << mode;
}

TEST(TargetModes, TheRefusalNamesTheEdit) {
  const Graph g = conv_bn("ConvTranspose<dilations=[1,2]>", {2, 2, 1, 1}, {1, 2, 2, 2}).build();
  const FusionResult r = fuse(g, {.mode = "amct-onnx"});
  ASSERT_FALSE(r.log.declined.empty());
  EXPECT_EQ(r.log.declined[0].edit, "use dilation 1");
}

}  // namespace
}  // namespace assay::target_modes_test
