// Convolutions: ordinary (more than one block of 128 terms), grouped, dilated, strided, depthwise,
// 1x1, of rank 1 and 3, transposed, and fused with their neighbours.
#include "validation/selftest/model.h"
#include "validation/selftest/net_maker.h"

namespace assay::selftest::convolution_model {
namespace {

using Ints = std::vector<std::int64_t>;

void planes(NetMaker& m, const std::string& x) {
  m.node("conv", "Conv", {x, m.weight("w", {40, 24, 3, 3}), m.weight("b", {40})},
         {{"pads", Ints{1, 1, 1, 1}}});
  m.node("groups", "Conv", {x, m.weight("w_groups", {12, 8, 3, 3})}, {{"group", std::int64_t{3}}});
  m.node("dilated", "Conv", {x, m.weight("w_dilated", {5, 24, 3, 2})},
         {{"dilations", Ints{2, 3}}, {"pads", Ints{2, 0, 1, 3}}, {"strides", Ints{1, 2}}});
  m.node("depthwise", "Conv",
         {x, m.weight("w_depthwise", {24, 1, 3, 3}), m.weight("b_depthwise", {24})},
         {{"group", std::int64_t{24}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  m.node("pointwise", "Conv", {x, m.weight("w_pointwise", {17, 24, 1, 1})});
  m.node("transposed", "ConvTranspose",
         {x, m.weight("w_transposed", {24, 6, 3, 3}), m.weight("b_transposed", {12})},
         {{"group", std::int64_t{2}},
          {"strides", Ints{2, 2}},
          {"pads", Ints{1, 1, 1, 1}},
          {"output_padding", Ints{1, 1}}});
}

void fused(NetMaker& m, const std::string& x) {
  for (const char* rounding : {"single", "staged"}) {
    const std::string name = rounding;
    m.node("fused_" + name, "ai.assay:ConvAddRelu",
           {x, m.weight("w_" + name, {24, 24, 3, 3}), m.weight("b_" + name, {24}), x},
           {{"pads", Ints{1, 1, 1, 1}}, {"rounding", name}});
  }
}

Graph make(const std::string&) {
  NetMaker m("convolution");
  const std::string x = m.input("x", {24, 9, 11});
  planes(m, x);
  fused(m, x);
  m.node("line", "Conv", {m.input("line_x", {6, 21}), m.weight("w_line", {5, 6, 4})},
         {{"pads", Ints{2, 1}}});
  m.node("volume", "Conv",
         {m.input("volume_x", {3, 4, 5, 6}), m.weight("w_volume", {4, 3, 2, 3, 2})},
         {{"pads", Ints{1, 1, 0, 0, 1, 1}}});
  return m.take();
}

const RegisterModel registered{
    {.name = "convolution", .evaluations = float_evaluations, .make = make}};

}  // namespace
}  // namespace assay::selftest::convolution_model
