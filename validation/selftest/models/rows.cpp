// Rows and planes: normalizations, softmax, reductions, pools, Resize.
#include "validation/selftest/model.h"
#include "validation/selftest/net_maker.h"

namespace assay::selftest::rows_model {
namespace {

using Ints = std::vector<std::int64_t>;

void normalizations(NetMaker& m, const std::string& x) {
  const std::string scale = m.positive("scale", {12}), bias = m.weight("bias", {12});
  m.node("batch_norm", "BatchNormalization",
         {x, scale, bias, m.weight("mean", {12}), m.positive("variance", {12})},
         {{"epsilon", 1e-5F}});
  m.node("instance_norm", "InstanceNormalization", {x, scale, bias}, {{"epsilon", 1e-5F}});
  m.node("group_norm", "GroupNormalization", {x, scale, bias},
         {{"num_groups", std::int64_t{3}}, {"epsilon", 1e-5F}});
  m.node("layer_norm", "LayerNormalization",
         {x, m.positive("layer_scale", {10}), m.weight("layer_bias", {10})},
         {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5F}});
  m.node("lrn", "LRN", {x},
         {{"size", std::int64_t{5}}, {"alpha", 1e-4F}, {"beta", 0.75F}, {"bias", 1.0F}});
  m.node("lp_norm", "LpNormalization", {x}, {{"axis", std::int64_t{1}}, {"p", std::int64_t{2}}});
  m.node("softmax", "Softmax", {x}, {{"axis", std::int64_t{1}}});
  m.node("log_softmax", "LogSoftmax", {x}, {{"axis", std::int64_t{-1}}});
}

void reductions(NetMaker& m, const std::string& x) {
  const std::string axes = m.axes("axes", {1, 3});
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                         "ReduceLogSumExp", "ReduceProd", "ReduceMax", "ReduceMin"}) {
    m.node(op, op, {x, axes});
  }
  m.node("cumulated", "CumSum", {x, m.constant("axis", Tensor::scalar(std::int64_t{3}))});
}

void pools(NetMaker& m, const std::string& x) {
  m.node("average_pool", "AveragePool", {x},
         {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  m.node("max_pool", "MaxPool", {x}, {{"kernel_shape", Ints{2, 3}}, {"strides", Ints{2, 1}}});
  m.node("lp_pool", "LpPool", {x}, {{"kernel_shape", Ints{3, 3}}, {"p", std::int64_t{2}}});
  m.node("global_average_pool", "GlobalAveragePool", {x});
  m.node("resized", "Resize",
         {x, "", m.constant("scales", Tensor::of<float>({4}, {1, 1, 1.5F, 0.7F}))},
         {{"mode", std::string("linear")}});
}

Graph make(const std::string&) {
  NetMaker m("rows");
  const std::string x = m.input("x", {12, 7, 10});
  normalizations(m, x);
  reductions(m, x);
  pools(m, x);
  return m.take();
}

const RegisterModel registered{{.name = "rows", .evaluations = float_evaluations, .make = make}};

}  // namespace
}  // namespace assay::selftest::rows_model
