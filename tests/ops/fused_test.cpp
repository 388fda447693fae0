// Fused operators of ai.assay: names, staged and single rounding, attributes, decomposition,
// radius.
#include <gtest/gtest.h>

#include "runtime/ops/fused.h"
#include "runtime/ops/support/fused_decompose.h"
#include "tests/support/op_call.h"

namespace assay::test::fused_test {
namespace {

using Floats = std::vector<float>;

TEST(FusedForm, NamesGoBothWays) {
  EXPECT_EQ(parse_fused("ConvAddRelu"), (FusedForm{"Conv", true, "Relu"}));
  EXPECT_EQ(parse_fused("ConvTransposeHardSwish"),
            (FusedForm{"ConvTranspose", false, "HardSwish"}));
  EXPECT_EQ(parse_fused("AddClip"), (FusedForm{"Add", false, "Clip"}));
  EXPECT_EQ(parse_fused("GemmAdd"), (FusedForm{"Gemm", true, ""}));
  for (const char* none : {"Conv", "Add", "ConvFoo", "Relu", "AddAddRelu", "ConvAddAdd", ""})
    EXPECT_FALSE(parse_fused(none)) << none;
  for (const std::string& base : fused_bases()) {
    for (const std::string& activation : fused_activations()) {
      const FusedForm form{base, base != "Add", activation};
      EXPECT_EQ(parse_fused(fused_type(form)), form);
    }
  }
}

OpCall fused(const std::string& type, std::vector<Tensor> inputs, Attributes attributes = {}) {
  OpCall call{type, std::move(inputs), std::move(attributes)};
  call.domain = assay_domain;
  return call;
}

OpCall random_fused(const std::string& type, unsigned seed, Attributes attributes = {}) {
  attributes.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  return fused(
      type,
      {random_tensor({2, 3, 6, 5}, -1, 1, seed), random_tensor({4, 3, 3, 3}, -1, 1, seed + 1),
       random_tensor({4}, -1, 1, seed + 2), random_tensor({2, 4, 6, 5}, -1, 1, seed + 3)},
      std::move(attributes));
}

/// Conv, Add and the activation as separate nodes.
Tensor separate(const OpCall& f, const std::string& activation, Attributes attributes) {
  OpCall conv{"Conv",
              {f.inputs[0], f.inputs[1], f.inputs[2]},
              {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}};
  conv.precision = f.precision;
  OpCall add{"Add", {run_one(conv), f.inputs[3]}};
  add.precision = f.precision;
  OpCall act{activation, {run_one(add)}, std::move(attributes), 20};
  act.precision = f.precision;
  if (activation == "Clip") act.opset = 6;
  return run_one(act);
}

TEST(Fused, StagedEqualsTheSeparateNodesBitForBit) {
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    for (const char* type : {"ConvAddRelu", "ConvAddHardSwish", "ConvAddSigmoid", "ConvAddTanh",
                             "ConvAddMish", "ConvAddGelu"}) {
      const std::string activation = parse_fused(type)->activation;
      OpCall call = random_fused(type, 7);
      call.precision = p;
      EXPECT_TRUE(same_bits(run_one(call), separate(call, activation, {})))
          << activation << " " << to_string(p);
    }
    OpCall clip = random_fused("ConvAddClip", 9, {{"min", -0.5F}, {"max", 0.75F}});
    clip.precision = p;
    EXPECT_TRUE(same_bits(run_one(clip), separate(clip, "Clip", {{"min", -0.5F}, {"max", 0.75F}})));
    OpCall leaky = random_fused("ConvAddLeakyRelu", 9, {{"act_alpha", 0.3F}});
    leaky.precision = p;
    EXPECT_TRUE(same_bits(run_one(leaky), separate(leaky, "LeakyRelu", {{"alpha", 0.3F}})));
  }
}

// Staged 1 + 2^-24 rounds to 1 before the residual 2^-24 comes; the exact sum 1 + 2^-23 is a float.
TEST(Fused, SingleRoundsOnce) {
  const std::vector<Tensor> in{tensor({1, 2, 1}, {1, 0x1p-24F}), tensor({1, 2, 1}, {1, 1}),
                               Tensor(), tensor({1, 1, 1}, {0x1p-24F})};
  EXPECT_EQ(values(run_one(fused("ConvAddRelu", in))), (Floats{1.0F}));
  EXPECT_EQ(values(run_one(fused("ConvAddRelu", in, {{"rounding", std::string("single")}}))),
            (Floats{0x1.000002p0F}));
  const auto unknown = [&] {
    run_one(fused("ConvAddRelu", in, {{"rounding", std::string("double")}}));
  };
  EXPECT_NE(error_of(unknown).find("staged or single"), std::string::npos);
}

TEST(Fused, SiluIsSigmoidThenMul) {
  const OpCall call = random_fused("ConvAddSilu", 3);
  const Tensor z = separate(call, "Identity", {});
  const Tensor gate = run_one({"Sigmoid", {z}});
  EXPECT_TRUE(same_bits(run_one(call), run_one({"Mul", {z, gate}})));
}

TEST(Fused, AddReluAndGemm) {
  const Tensor a = tensor({2, 1}, {1, -5}), b = tensor({2}, {2, 3});
  EXPECT_EQ(values(run_one(fused("AddRelu", {a, b}))), (Floats{3, 4, 0, 0}));
  // Gemm keeps its own alpha; the activation's is act_alpha.
  const Tensor x = tensor({1, 1}, {-3}), w = tensor({1, 1}, {2});
  EXPECT_EQ(values(run_one(fused("GemmLeakyRelu", {x, w}, {{"alpha", 2.0F}, {"act_alpha", 0.5F}}))),
            (Floats{-6}));
  EXPECT_EQ(values(run_one(fused("MatMulAdd", {x, w, Tensor(), tensor({1}, {1})}))), (Floats{-5}));
  const auto bias = [&] { run_one(fused("MatMulRelu", {x, w, tensor({1}, {1})})); };
  EXPECT_NE(error_of(bias).find("no bias"), std::string::npos);
  const auto missing = [&] {
    run_one(fused("ConvAddRelu", {tensor({1, 1, 1}, {1}), tensor({1, 1, 1}, {1})}));
  };
  EXPECT_NE(error_of(missing).find("input 3"), std::string::npos);
}

// The residual is only read (public case S-15 a).
TEST(Fused, ResidualStaysIntact) {
  const Tensor x = tensor({1, 2, 1}, {1, 1}), w = tensor({2, 2, 1}, {1, 2, 1, 2}),
               h = tensor({1, 2, 1}, {1, 2});
  const OpCall call = fused("ConvAddRelu", {x, w, Tensor(), h});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(values(run_one(call)), (Floats{4, 5}));
    EXPECT_EQ(values(h), (Floats{1, 2}));
  }
}

/// The decomposition run as a graph of its own, with the fused node's inputs.
Tensor run_body(const OpCall& call) {
  const Graph g = graph_of(call);
  Node node = g.node(g.node_ids()[0]);
  complete_fused_attributes(node, 2);
  Graph body = ops::decompose_fused(node);
  body.info.opsets = {{"", 17}};
  Feeds feeds;
  for (std::size_t i = 0; i < body.inputs().size(); ++i)
    feeds[body.name(body.inputs()[i])] = call.inputs[i];
  return Executor(body, call.precision).run(feeds).begin()->second;
}

TEST(Fused, DecompositionGivesTheSameBits) {
  for (const char* type : {"ConvAddRelu", "ConvAddSigmoid", "ConvAddSilu", "ConvAdd"}) {
    const OpCall call = random_fused(type, 13);
    EXPECT_TRUE(same_bits(run_body(call), run_one(call))) << type;
  }
  const OpCall clip = random_fused("ConvAddClip", 13, {{"min", -0.5F}, {"max", 0.75F}});
  EXPECT_TRUE(same_bits(run_body(clip), run_one(clip)));
}

TEST(Fused, RadiusHolds) {
  for (const char* type :
       {"ConvAddRelu", "ConvAddSilu", "ConvAddTanh", "ConvRelu", "ConvAddHardSwish"}) {
    OpCall call = random_fused(type, 21);
    if (std::string(type) == "ConvRelu") call.inputs.pop_back();
    const double use = radius_use(call);
    EXPECT_LE(use, 1.0) << type;
    EXPECT_GE(use, 1.0 / 200) << type;
  }
}

}  // namespace
}  // namespace assay::test::fused_test
