// Small graphs as text, for the tests of rules:
//   Net net("y = BatchNormalization<epsilon=0.0>(c, g, b, m, v)");  one node per line, nodes named
//   after their output net.input("x", {1, 2, 1, 1}).constant("W", f32({2, 1, 1, 1}, {1,
//   1})).output("y");
// A size of -1 in an input is unknown. `_` stands for an absent input.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "fusion/pipeline.h"
#include "runtime/executor.h"

namespace assay::testing {

inline Tensor f32(Shape shape, std::vector<float> values) {
  return Tensor::of<float>(std::move(shape), std::span<const float>(values));
}
inline Tensor f64(Shape shape, std::vector<double> values) {
  return Tensor::of<double>(std::move(shape), std::span<const double>(values));
}
inline Tensor i64(std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())},
                                  std::span<const std::int64_t>(values));
}

class Net {
 public:
  explicit Net(std::string lines, std::int64_t opset = 13) : lines_(std::move(lines)) {
    graph_.info.opsets[""] = opset;
    graph_.info.opsets[assay_domain] = 1;
  }

  Net& input(const std::string& name, std::vector<std::int64_t> dims,
             DType dtype = DType::float32) {
    graph_.add_input(name, type_of(dtype, Shape(std::move(dims))));
    return *this;
  }
  Net& constant(const std::string& name, Tensor t) {
    graph_.add_initializer(name, std::move(t));
    return *this;
  }
  /// An initializer that the caller may override.
  Net& overridable(const std::string& name, Tensor t) {
    std::vector<std::int64_t> dims = t.shape().vec();
    const DType dtype = t.dtype();
    const ValueId v = graph_.add_input(name, type_of(dtype, Shape(std::move(dims))));
    graph_.set_initializer(v, std::move(t));
    return *this;
  }
  Net& outputs(std::vector<std::string> names) {
    outputs_ = std::move(names);
    return *this;
  }
  /// The graph; with no outputs named, the last line's output is the output.
  Graph build() {
    std::stringstream in(lines_);
    std::string last;
    for (std::string line; std::getline(in, line);) {
      if (line.find('=') != std::string::npos) last = add(line);
    }
    if (outputs_.empty()) outputs_ = {last};
    for (const std::string& name : outputs_) graph_.add_output(value(name));
    graph_.verify();
    return graph_;
  }

 private:
  ValueId value(const std::string& name) {
    if (name == "_") return {};
    const auto v = graph_.find_value(name);
    return v ? *v : graph_.add_value(name);
  }

  static std::string trimmed(const std::string& s) {
    const auto a = s.find_first_not_of(" \t");
    if (a == std::string::npos) return "";
    return s.substr(a, s.find_last_not_of(" \t") - a + 1);
  }

  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (c == ',' && depth == 0)
        parts.emplace_back();
      else
        parts.back() += c;
    }
    for (std::string& p : parts) p = trimmed(p);
    if (parts.size() == 1 && parts[0].empty()) parts.clear();
    return parts;
  }

  static Attribute attribute(const std::string& text) {
    if (text[0] == '"') return text.substr(1, text.size() - 2);
    if (text[0] == '[') {
      std::vector<std::int64_t> ints;
      for (const std::string& one : split(text.substr(1, text.size() - 2)))
        ints.push_back(std::stoll(one));
      return ints;
    }
    if (text.find_first_of(".e") != std::string::npos) return std::stof(text);
    return static_cast<std::int64_t>(std::stoll(text));
  }

  std::string add(const std::string& line) {
    const auto equals = line.find(" = ");
    const auto open = line.find('(', equals);
    std::string type = trimmed(line.substr(equals + 3, open - equals - 3));
    Node node;
    if (const auto angle = type.find('<'); angle != std::string::npos) {
      for (const std::string& item : split(type.substr(angle + 1, type.size() - angle - 2))) {
        const auto at = item.find('=');
        node.attributes.set(item.substr(0, at), attribute(item.substr(at + 1)));
      }
      type = type.substr(0, angle);
    }
    if (type.rfind("ai.assay.", 0) == 0) {
      node.domain = assay_domain;
      type = type.substr(9);
    }
    node.op_type = type;
    for (const std::string& name : split(line.substr(open + 1, line.rfind(')') - open - 1)))
      node.inputs.push_back(value(name));
    std::string first;
    for (const std::string& name : split(line.substr(0, equals))) {
      if (first.empty()) first = name;
      node.outputs.push_back(value(name));
    }
    node.name = "n_" + first;
    graph_.add_node(std::move(node));
    return first;
  }

  Graph graph_;
  std::string lines_;
  std::vector<std::string> outputs_;
};

/// Operator types in topological order, "Conv, Relu"; Assay's own with their domain.
inline std::string ops_of(const Graph& g) {
  std::string text;
  for (const NodeId n : g.topological_order()) {
    const Node& node = g.node(n);
    text += (text.empty() ? "" : ", ") +
            (node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
  }
  return text;
}

inline std::map<std::string, Tensor> run_cr(const Graph& g, const Feeds& feeds) {
  return Executor(g, Precision::cr).run(feeds);
}

/// Values of a float tensor, for EXPECT_THAT-free comparisons.
inline std::vector<float> floats(const Tensor& t) {
  const auto d = t.data<float>();
  return {d.begin(), d.end()};
}

/// Fills with multiples of 1/8 in [-4, 4): products and short sums are exact, so correct rewrites
/// agree bit for bit.
inline Tensor grid(Shape shape, unsigned seed) {
  Tensor t(DType::float32, std::move(shape));
  std::uint64_t state = seed * 2654435761U + 12345;
  for (float& v : t.mutable_data<float>()) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    v = static_cast<float>(static_cast<std::int64_t>(state >> 40) % 64 - 32) / 8.0F;
  }
  return t;
}

/// Every output of both graphs has the same bits under `cr`.
inline void expect_same_bits(const Graph& original, const Graph& fused, const Feeds& feeds) {
  const auto want = run_cr(original, feeds);
  const auto got = run_cr(fused, feeds);
  ASSERT_EQ(want.size(), got.size());
  for (const auto& [name, tensor] : want) {
    ASSERT_TRUE(got.count(name)) << name;
    EXPECT_TRUE(same_bits(tensor, got.at(name))) << name;
  }
}

/// The reason of the first decline of `rule`, or "" when there is none.
inline std::string reason(const RewriteLog& log, const std::string& rule) {
  for (const DeclinedRewrite& d : log.declined) {
    if (d.rule == rule) return d.reason;
  }
  return "";
}

/// Nothing fired, and `rule` said why: the reason holds `words`.
inline void expect_declined(const Graph& g, const std::string& rule, const std::string& words) {
  const FusionResult result = fuse(g, {.mode = rule});
  EXPECT_TRUE(result.log.fired.empty()) << explain(result.log);
  EXPECT_NE(reason(result.log, rule).find(words), std::string::npos) << explain(result.log);
}

}  // namespace assay::testing
