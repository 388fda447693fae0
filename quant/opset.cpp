#include "quant/opset.h"

#include <algorithm>
#include <array>
#include <functional>

#include "runtime/infer.h"

namespace assay {
namespace {

/// Operators of opset 9 and later that mean the same up to opset 13 in the form that a file of that
/// opset uses.
constexpr std::array changed_without_help = {"Upsample",          "Resize",      "TopK", "Scan",
                                             "NonMaxSuppression", "DepthToSpace"};

class Raiser {
 public:
  Raiser(Graph& g) : g_(g), from_(g.opset()), types_(infer_types(g)) {}

  void convert(NodeId n) {
    const Node& node = g_.node(n);
    if (!node.domain.empty()) return;
    const std::string& op = node.op_type;
    if (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum")
      ints_to_input(n, "axes", 1);
    else if (op == "Split")
      ints_to_input(n, "split", 1);
    else if (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax")
      convert_softmax(n);
    else if (op == "Clip" && from_ < 11)
      bounds_to_inputs(n);
    else if (op == "Pad" && from_ < 11)
      convert_pad(n);
    else if (op == "Dropout" && from_ < 12)
      ratio_to_input(n);
    else if (op == "Slice" && from_ < 10)
      convert_slice(n);
    else
      refuse_if_changed(n);
  }

 private:
  void refuse_if_changed(NodeId n) {
    const std::string& op = g_.node(n).op_type;
    const bool resize_is_fine = op == "Resize" && from_ >= 11;
    const bool topk_is_fine = op == "TopK" && from_ >= 10;
    const bool other_is_fine = (op == "Scan" && from_ >= 9) ||
                               (op == "NonMaxSuppression" && from_ >= 10) || op == "DepthToSpace";
    if (resize_is_fine || topk_is_fine || other_is_fine) return;
    if (std::find(changed_without_help.begin(), changed_without_help.end(), op) ==
        changed_without_help.end())
      return;
    refuse(n, "its form changed");
  }

  [[noreturn]] void refuse(NodeId n, const std::string& why) const {
    throw Error({.what = "opset cannot be raised: " + why,
                 .where = place_of(g_, n),
                 .got = "opset " + std::to_string(from_),
                 .expected = "opset 13, which per-channel quantization needs",
                 .advice = "convert the model to opset 13",
                 .kind = ErrorKind::unsupported});
  }

  void set_or_append(NodeId n, std::size_t i, ValueId v) {
    Node node = g_.node(n);
    g_.erase_node(n);
    if (node.inputs.size() <= i) node.inputs.resize(i + 1);
    node.inputs[i] = v;
    g_.add_node(std::move(node));
  }

  ValueId constant(NodeId n, const std::string& suffix, Tensor t) {
    return g_.add_initializer(g_.fresh_name(g_.name(g_.node(n).outputs[0]) + "_" + suffix),
                              std::move(t));
  }

  void drop(NodeId n, std::initializer_list<const char*> names) {
    Attributes a = g_.node(n).attributes;
    for (const char* name : names) a.erase(name);
    g_.set_attributes(n, a);
  }

  void ints_to_input(NodeId n, const char* name, std::size_t at) {
    const auto values = g_.node(n).attributes.ints_or(name, {});
    if (values.empty()) return;
    const ValueId v = constant(
        n, name, Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
    drop(n, {name});
    set_or_append(n, at, v);
  }

  /// The old form flattens everything from `axis` on (default 1): the same only when that is the
  /// last axis.
  void convert_softmax(NodeId n) {
    const Node& node = g_.node(n);
    const TensorType& type = types_.type(node.inputs[0]);
    const std::int64_t axis = node.attributes.int_or("axis", 1);
    const bool last =
        axis == -1 || (type.dims && axis == static_cast<std::int64_t>(type.dims->size()) - 1);
    if (!last) refuse(n, node.op_type + " flattens from axis " + std::to_string(axis));
    Attributes a = node.attributes;
    a.set("axis", std::int64_t{-1});
    g_.set_attributes(n, a);
  }

  void bounds_to_inputs(NodeId n) {
    const Attributes a = g_.node(n).attributes;
    Node node = g_.node(n);
    node.inputs.resize(3);
    if (a.has("min")) node.inputs[1] = constant(n, "min", Tensor::scalar(a.float_or("min", 0)));
    if (a.has("max")) node.inputs[2] = constant(n, "max", Tensor::scalar(a.float_or("max", 0)));
    while (!node.inputs.back().valid()) node.inputs.pop_back();
    node.attributes.erase("min");
    node.attributes.erase("max");
    g_.erase_node(n);
    g_.add_node(std::move(node));
  }

  void convert_pad(NodeId n) {
    const Attributes a = g_.node(n).attributes;
    const auto pads = a.ints_or("pads", {});
    const ValueId p = constant(
        n, "pads", Tensor::of<std::int64_t>({static_cast<std::int64_t>(pads.size())}, pads));
    Node node = g_.node(n);
    node.inputs.push_back(p);
    if (a.float_or("value", 0) != 0)
      node.inputs.push_back(constant(n, "value", Tensor::scalar(a.float_or("value", 0))));
    node.attributes.erase("pads");
    node.attributes.erase("value");
    g_.erase_node(n);
    g_.add_node(std::move(node));
  }

  void ratio_to_input(NodeId n) { drop(n, {"ratio"}); }  // inference: the ratio plays no part

  void convert_slice(NodeId n) {
    const Attributes a = g_.node(n).attributes;
    Node node = g_.node(n);
    for (const char* name : {"starts", "ends", "axes"}) {
      const auto values = a.ints_or(name, {});
      if (values.empty()) continue;
      node.inputs.push_back(constant(
          n, name, Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values)));
      node.attributes.erase(name);
    }
    g_.erase_node(n);
    g_.add_node(std::move(node));
  }

  Graph& g_;
  std::int64_t from_;
  StaticTypes types_;
};

}  // namespace

Graph raise_opset(const Graph& g, std::int64_t version) {
  Graph out = g;
  if (g.opset() >= version) return out;
  Raiser raiser(out);
  for (const NodeId n : g.node_ids()) {
    if (!g.node(n).captures.empty()) {
      throw Error({.what = "opset of a graph with subgraphs cannot be raised",
                   .where = place_of(g, n),
                   .advice = "convert the model to opset 13",
                   .kind = ErrorKind::unsupported});
    }
    raiser.convert(n);
  }
  out.info.opsets[""] = version;
  out.sort_nodes();
  out.verify();
  return out;
}

}  // namespace assay
