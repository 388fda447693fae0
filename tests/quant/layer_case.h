// Layers for the tests of constraint tables: small graphs whose layer in question writes "y", what
// a table says about it, and the check that every constraint was met and failed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "quant/constraints.h"
#include "runtime/error.h"
#include "tests/fusion/net.h"

namespace assay::layer_case {

using testing::f32;
using testing::Net;

using Settings = std::map<std::string, FactValue>;
using Answer = LayerAnswer;

/// A graph, the layer that is asked about (its output is "y"), and what the table says.
struct Case {
  std::string name;
  Graph graph;
  Answer answer;
  std::vector<std::string> failed = {};  ///< "TARGET/ROW/CONSTRAINT", sorted
  std::string product = {};
  Settings settings = {};
  std::string scheme = "uniform";
};

inline LayerVerdict verdict_of(const std::string& target, const Case& c) {
  const TargetReport r = judge_graph(
      c.graph,
      {.target = target, .product = c.product, .scheme = c.scheme, .settings = c.settings});
  for (const LayerVerdict& v : r.layers) {
    if (v.output == "y") return v;
  }
  throw Error({.what = "no layer writes y"});
}

inline std::vector<std::string> ids(const LayerVerdict& v) {
  std::vector<std::string> list;
  for (const FailedConstraint& f : v.failed) list.push_back(f.id);
  std::sort(list.begin(), list.end());
  return list;
}

inline Tensor weight(Shape shape) { return Tensor::zeros(DType::float32, std::move(shape)); }

inline Graph conv(Shape w, const std::string& attributes = "") {
  std::vector<std::int64_t> x = {1, w[1]};
  for (std::int64_t i = 2; i < w.rank(); ++i) x.push_back(8);
  const std::int64_t group = attributes.find("group=2") == std::string::npos ? 1 : 2;
  x[1] *= group;
  return Net("y = Conv" + attributes + "(x, w)")
      .input("x", x)
      .constant("w", weight(std::move(w)))
      .build();
}
inline Graph conv_transpose(Shape w, const std::string& attributes = "") {
  std::vector<std::int64_t> x = {1, w[0]};
  for (std::int64_t i = 2; i < w.rank(); ++i) x.push_back(8);
  return Net("y = ConvTranspose" + attributes + "(x, w)")
      .input("x", x)
      .constant("w", weight(std::move(w)))
      .build();
}
/// `op` with a 4-D weight that is given by `lines` and the caller.
inline Graph fed(const std::string& op, const std::string& attributes = "") {
  return Net("w = Mul(p, k)\ny = " + op + attributes + "(x, w)")
      .input("x", {1, 2, 8, 8})
      .input("p", {2, op == "Conv" && !attributes.empty() ? 1 : 2, 3, 3})
      .constant("k", f32({}, {2}))
      .build();
}
inline Graph gemm(const std::string& attributes = "", DType dtype = DType::float32) {
  return Net("y = Gemm" + attributes + "(x, w)")
      .input("x", {2, 2}, dtype)
      .constant("w", Tensor::zeros(dtype, {2, 2}))
      .build();
}
inline Graph fed_gemm() {
  return Net("y = Gemm(x, w)").input("x", {2, 2}).overridable("w", weight({2, 2})).build();
}
inline Graph matmul(std::vector<std::int64_t> x, Shape w) {
  return Net("y = MatMul(x, w)")
      .input("x", std::move(x))
      .constant("w", weight(std::move(w)))
      .build();
}
inline Graph two_variables(DType dtype = DType::float32, std::int64_t batch = 2) {
  return Net("y = MatMul(a, b)")
      .input("a", {batch, 3, 4}, dtype)
      .input("b", {batch, 4, 5}, dtype)
      .build();
}
inline Graph constant_first() {
  return Net("y = MatMul(w, x)").input("x", {2, 3, 4}).constant("w", weight({3, 3})).build();
}
inline Graph pool(const std::string& op, DType dtype = DType::float32) {
  const bool global = op.rfind("Global", 0) == 0;
  return Net("y = " + op + (global ? "" : "<kernel_shape=[2,2]>") + "(x)")
      .input("x", {1, 2, 4, 4}, dtype)
      .build();
}
inline Graph elementwise(const std::string& op, DType dtype = DType::float32) {
  return Net("y = " + op + "(a, b)").input("a", {1, 2}, dtype).input("b", {1, 2}, dtype).build();
}
/// A node of another tool's operator, with two inputs, the second a constant.
inline Graph foreign(const std::string& op_and_attributes) {
  return Net("y = " + op_and_attributes + "(x, w)")
      .input("x", {2, 2})
      .constant("w", weight({2, 2}))
      .build();
}

inline const Settings symmetric = {{"activation_asymmetric", false}};
inline const Settings asymmetric = {{"activation_asymmetric", true}};
inline const Settings shift = {{"shift_n", std::int64_t{3}}};
inline const Settings no_shift = {{"shift_n", std::int64_t{0}}};
inline const Settings both_inputs = {{"quantized_inputs", std::int64_t{2}}};
inline const Settings one_input = {{"quantized_inputs", std::int64_t{1}}};
inline const Settings per_channel = {{"channel_wise", true}};
inline const Settings per_tensor = {{"channel_wise", false}, {"weight_asymmetric", false}};
inline const Settings weight_asymmetric = {{"weight_asymmetric", true}};
inline const Settings weight_symmetric = {{"weight_asymmetric", false}};

/// Runs the cases and checks that every constraint of `table` that checks something was met by one
/// layer of its row and failed by another.
inline void expect_cases(const std::string& target, const std::vector<Case>& cases,
                         const std::string& table = "") {
  std::map<std::string, std::pair<int, int>> seen;  // constraint: met, failed
  for (const Case& c : cases) {
    SCOPED_TRACE(target + ": " + c.name);
    const LayerVerdict v = verdict_of(target, c);
    EXPECT_EQ(v.answer, c.answer) << v.reason();
    EXPECT_EQ(ids(v), c.failed);
    const bool listed = v.answer != Answer::not_listed;
    EXPECT_EQ(listed, v.remark.empty());
    for (const FailedConstraint& f : v.failed) {
      EXPECT_FALSE(f.value.empty() || f.expected.empty() || f.edit.empty()) << f.id;
      ++seen[f.id].second;
    }
    if (v.failed.empty()) ++seen["met " + v.row].first;
  }
  const Target& t = find_target(table.empty() ? target : table);
  for (const TargetRow& row : t.rows) {
    for (const Constraint& c : row.constraints) {
      if (!c.check) continue;
      EXPECT_GT(seen[t.name + "/" + row.type + "/" + c.id].second, 0)
          << row.type << " " << c.id << " never failed";
      EXPECT_GT(seen["met " + row.type].first, 0) << row.type << " never met";
    }
    for (const TargetRule& rule : t.rules) {
      for (const TargetRule::Type& type : rule.types) {
        const bool concerned = type.type == "*" || type.type == row.type ||
                               std::find(row.ir.begin(), row.ir.end(), type.type) != row.ir.end();
        if (!concerned) continue;
        EXPECT_GT(seen[t.name + "/" + row.type + "/" + rule.constraint.id].second, 0)
            << row.type << " " << rule.constraint.id << " never failed";
      }
    }
  }
}

}  // namespace assay::layer_case
