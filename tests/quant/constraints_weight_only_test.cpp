// AMCT's weight-only table on graphs, its × columns included: each constraint is met and failed.
#include "tests/quant/layer_case.h"

namespace assay::constraints_weight_only_test {
namespace {

using namespace layer_case;

/// FFN with its fourteen inputs; `inputs` is the text between the parentheses.

Graph ffn(const std::string& inputs, DType type = DType::float16, const std::string& more = "") {
  return Net("y = FFN(" + inputs + ")" + more)
      .input("x", {2, 2}, DType::float16)
      .input("t", {2}, DType::int64)
      .constant("w1", Tensor::zeros(type, {2, 2}))
      .constant("w2", Tensor::zeros(type, {2, 2}))
      .constant("s", f32({1}, {1}))
      .outputs({"y"})
      .build();
}

std::vector<Case> weight_only_cases() {
  const std::string only = "weight-only";
  const std::string whole = "x, w1, w2, t";
  return {
      {"gemm", gemm(), Answer::quantizable, {}, "atlas-a2", weight_asymmetric, only},
      {"gemm per channel", gemm(), Answer::quantizable, {}, "atlas-inference", per_channel, only},
      {"gemm symmetric",
       gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/asymmetric"},
       "atlas-a2",
       weight_symmetric,
       only},
      {"gemm fed",
       fed_gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/second_static"},
       "atlas-a2",
       {},
       only},
      {"gemm on A3",
       gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/products"},
       "atlas-a3",
       {},
       only},
      {"matmul", matmul({2, 3, 4}, {4, 5}), Answer::quantizable, {}, "atlas-inference", {}, only},
      {"matmul with a 3-D constant",
       matmul({2, 3, 4}, {2, 4, 5}),
       Answer::quantizable,
       {},
       "atlas-a2",
       {},
       only},
      {"matmul symmetric",
       matmul({2, 3, 4}, {4, 5}),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/asymmetric"},
       "atlas-a2",
       weight_symmetric,
       only},
      {"matmul of two variables",
       two_variables(),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/second_static"},
       "atlas-a2",
       {},
       only},
      {"matmul on 350",
       matmul({2, 3, 4}, {4, 5}),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/products"},
       "atlas-350",
       {},
       only},
      {"conv", conv({2, 2, 3, 3}), Answer::not_listed, {}, "atlas-a2", {}, only},
      {"ffn", ffn(whole), Answer::quantizable, {}, "atlas-a2", weight_symmetric, only},
      {"ffn asymmetric", ffn(whole), Answer::quantizable, {}, "atlas-a2", weight_asymmetric, only},
      {"ffn without expert_tokens",
       ffn("x, w1, w2"),
       Answer::no,
       {"amct-weight-only/FFN/expert_tokens"},
       "atlas-a2",
       {},
       only},
      {"ffn in float32",
       ffn(whole, DType::float32),
       Answer::no,
       {"amct-weight-only/FFN/float16_weights"},
       "atlas-a2",
       {},
       only},
      {"ffn with a fed weight",
       ffn("x, w1, x, t"),
       Answer::no,
       {"amct-weight-only/FFN/float16_weights", "amct-weight-only/FFN/not_shared"},
       "atlas-a2",
       {},
       only},
      {"ffn with antiquant_offset2",
       ffn(whole + ", _, _, _, _, _, _, _, _, _, s"),
       Answer::no,
       {"amct-weight-only/FFN/antiquant_empty"},
       "atlas-a2",
       {},
       only},
      {"ffn with antiquant_scale1",
       ffn(whole + ", _, _, _, _, _, _, s"),
       Answer::no,
       {"amct-weight-only/FFN/antiquant_empty"},
       "atlas-a2",
       {},
       only},
      {"ffn with a bias and scales",
       ffn(whole + ", s, s, s, s, s, s"),
       Answer::quantizable,
       {},
       "atlas-a2",
       {},
       only},
      {"ffn sharing a weight",
       ffn("x, w1, w1, t"),
       Answer::no,
       {"amct-weight-only/FFN/not_shared"},
       "atlas-a2",
       {},
       only},
      {"ffn on the inference series",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/a2_only"},
       "atlas-inference",
       {},
       only},
      {"ffn on A3",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/a2_only", "amct-weight-only/FFN/products"},
       "atlas-a3",
       {},
       only},
      // Quantizing weights and data together: the table's × columns.
      {"ffn, data too", ffn(whole), Answer::not_listed, {}, "atlas-a2", per_tensor},
      {"ffn, data too, per channel",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/channel_wise"},
       "atlas-a2",
       per_channel},
      {"ffn, data too, asymmetric",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/asymmetric"},
       "atlas-a2",
       weight_asymmetric},
  };
}

TEST(Constraints, AmctWeightOnly) {
  expect_cases("amct-onnx", weight_only_cases(), "amct-weight-only");
}

}  // namespace
}  // namespace assay::constraints_weight_only_test
