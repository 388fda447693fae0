// Explicit padding into the convolution or pooling behind it.
//
// Before:  y = Conv(Pad(x, p; value), W, b), AveragePool(Pad(x, p; value)), MaxPool(Pad(x, p;
// value)) After:   y = Conv(x, W, b; pads + p), ... Algebra: the consumer pads with its own value,
// so the Pad goes only where that is the same: 0 for Conv; 0 for AveragePool when the pads
//          count (its own pads are zero, or count_include_pad = 1; afterwards count_include_pad =
//          1); minus infinity for MaxPool. The same sums and maxima: E1 (a sum of zeros may be kept
//          out of the order of additions).
// Declines when: the padded value is needed elsewhere; mode is not constant; the value is not the
// consumer's; a pad is negative (a crop);
//          the batch or channel axis is padded; pads or value are not constant; auto_pad or
//          ceil_mode is set; AveragePool pads without counting; a pooling's pad would not be
//          smaller than its window.
#include <algorithm>
#include <cmath>

#include "fusion/rewrite.h"

namespace assay::fold_pad_rule {
namespace {

struct PadPlan {
  std::vector<std::int64_t> pads;  ///< of the consumer afterwards
  bool count = false;              ///< AveragePool: set count_include_pad
};

/// Pads of all axes (begins, then ends) for a value of rank `rank`.
std::variant<Decline, std::vector<std::int64_t>> pads_of(const RuleContext& ctx, const Node& pad,
                                                         std::int64_t rank) {
  const auto size = static_cast<std::size_t>(2 * rank);
  if (ctx.graph().opset() < 11) {
    auto pads = pad.attributes.ints_or(ctx.graph().opset() < 2 ? "paddings" : "pads", {});
    if (pads.size() != size)
      return Decline{
          "Pad has " + std::to_string(pads.size()) + " pads for rank " + std::to_string(rank),
          "give a begin and an end for each axis"};
    return pads;
  }
  const Tensor* given = pad.has_input(1) ? ctx.constant(pad.inputs[1]) : nullptr;
  if (given == nullptr)
    return Decline{"the pads of Pad are not constant", "make them an initializer"};
  const auto listed = to_ints(*given);
  if (!pad.has_input(3)) {
    if (listed.size() != size)
      return Decline{
          "Pad has " + std::to_string(listed.size()) + " pads for rank " + std::to_string(rank),
          "give a begin and an end for each axis"};
    return listed;
  }
  const Tensor* axes = ctx.constant(pad.inputs[3]);
  if (axes == nullptr)
    return Decline{"the axes of Pad are not constant", "make them an initializer"};
  const auto which = to_ints(*axes);
  std::vector<std::int64_t> pads(size, 0);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto axis = static_cast<std::size_t>(normalize_axis(which[i], rank));
    pads[axis] = listed.at(i);
    pads[axis + static_cast<std::size_t>(rank)] = listed.at(i + which.size());
  }
  return pads;
}

std::variant<Decline, double> value_of(const RuleContext& ctx, const Node& pad) {
  if (ctx.graph().opset() < 11) return static_cast<double>(pad.attributes.float_or("value", 0));
  if (!pad.has_input(2)) return 0.0;
  const Tensor* t = ctx.constant(pad.inputs[2]);
  if (t == nullptr) return Decline{"the value of Pad is not constant", "make it an initializer"};
  return t->numel() == 0 ? 0.0 : to_doubles(*t)[0];
}

std::optional<Decline> consumer_refuses(const Node& node, double value) {
  if (node.attributes.string_or("auto_pad", "NOTSET") != "NOTSET") {
    return Decline{
        node.op_type + " has auto_pad = " + node.attributes.string_or("auto_pad", "NOTSET"),
        "write the pads explicitly"};
  }
  if (node.attributes.int_or("ceil_mode", 0) != 0)
    return Decline{node.op_type + " has ceil_mode = 1", "set ceil_mode = 0"};
  const double own = node.is("MaxPool") ? -INFINITY : 0.0;
  if (value != own) {
    return Decline{"Pad fills with " + std::to_string(value) + ", " + node.op_type + " pads with " +
                       std::to_string(own),
                   "pad with " + std::to_string(own)};
  }
  return std::nullopt;
}

/// Other runtimes refuse a pooling whose window can lie wholly on its own padding.
std::optional<Decline> beyond_window(const Node& node, const std::vector<std::int64_t>& pads) {
  if (node.is("Conv")) return std::nullopt;
  const auto kernel = node.attributes.ints_or("kernel_shape", {});
  for (std::size_t i = 0; i < pads.size() && !kernel.empty(); ++i) {
    const std::int64_t size = kernel[i % kernel.size()];
    if (pads[i] < size) continue;
    return Decline{node.op_type + " would pad by " + std::to_string(pads[i]) +
                       " with a window of " + std::to_string(size) + ", which runtimes refuse",
                   "pad by less than the window"};
  }
  return std::nullopt;
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const Node& pad = ctx.node(match.node("pad"));
  const Node& node = ctx.node(match.root);
  if (node.inputs[0] != pad.outputs[0]) return Decline{};
  if (const std::string mode = pad.attributes.string_or("mode", "constant"); mode != "constant") {
    return Decline{"Pad has mode = " + mode + ", only constant padding can move",
                   "use mode = constant"};
  }
  std::int64_t rank = ctx.rank(pad.inputs[0]);
  if (rank < 0 && node.is("Conv")) rank = ctx.rank(node.inputs[1]);
  if (rank < 3)
    return Decline{"the rank of '" + ctx.graph().name(pad.inputs[0]) + "' is not known or below 3",
                   "state the shape of the input"};
  const auto pads = pads_of(ctx, pad, rank);
  if (const auto* why = std::get_if<Decline>(&pads)) return *why;
  const auto value = value_of(ctx, pad);
  if (const auto* why = std::get_if<Decline>(&value)) return *why;
  if (auto why = consumer_refuses(node, std::get<double>(value))) return why;
  const auto& p = std::get<std::vector<std::int64_t>>(pads);
  const auto axes = static_cast<std::size_t>(rank);
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] < 0)
      return Decline{"pad " + std::to_string(i) + " is " + std::to_string(p[i]) + ": a crop",
                     "crop with Slice"};
    if (i % axes < 2 && p[i] != 0)
      return Decline{"axis " + std::to_string(i % axes) + " is padded, only spatial axes can move",
                     "pad batch and channels in a Pad of their own"};
  }
  PadPlan plan;
  plan.pads = node.attributes.ints_or("pads", std::vector<std::int64_t>(2 * (axes - 2), 0));
  const bool own =
      std::any_of(plan.pads.begin(), plan.pads.end(), [](std::int64_t v) { return v != 0; });
  const bool adds = std::any_of(p.begin(), p.end(), [](std::int64_t v) { return v != 0; });
  if (node.is("AveragePool") && adds) {
    if (own && node.attributes.int_or("count_include_pad", 0) == 0) {
      return Decline{"AveragePool has pads of its own that do not count (count_include_pad = 0)",
                     "set count_include_pad = 1"};
    }
    plan.count = true;
  }
  for (std::size_t i = 0; i < axes - 2; ++i) {
    plan.pads[i] += p[i + 2];
    plan.pads[i + axes - 2] += p[i + 2 + axes];
  }
  if (auto why = beyond_window(node, plan.pads)) return why;
  ctx.scratch = std::move(plan);
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const auto plan = std::any_cast<PadPlan>(std::move(ctx.scratch));
  const NodeId pad = match.node("pad");
  Node node = ctx.node(match.root);
  node.inputs[0] = ctx.node(pad).inputs[0];
  node.attributes.set("pads", plan.pads);
  if (plan.count) node.attributes.set("count_include_pad", std::int64_t{1});
  ctx.erase(match.root);
  ctx.erase(pad);
  ctx.add(std::move(node));
}

const RegisterRewrite registered{{
    .name = "fold_pad",
    .stage = Stage::clean,
    .summary = "Pad + Conv|AveragePool|MaxPool -> the same operator with larger pads",
    .patterns = {op("Conv|AveragePool|MaxPool", "op", {op("Pad", "pad")})},
    .rows = {"M6"},
    .verdict = "E1",
    .proof = {"algebra", "structure", "radius"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph", "pad mode",
                 "pad value", "negative pad", "batch or channel padded", "pads not constant",
                 "auto_pad", "ceil_mode", "pads that do not count", "rank not known",
                 "pads not smaller than the window"},
    .test = "rules/fold_pad_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::fold_pad_rule
