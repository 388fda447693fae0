// The proved radius of every operator: it holds, and it is not empty. A radius that were 2^10 times
// smaller would be violated here.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/support/op_call.h"

namespace assay::test::radius_test {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor fill(Shape shape, unsigned seed) {
  return random_tensor(std::move(shape), 0.1F, 0.9F, seed);
}
Tensor image(unsigned seed = 3) { return fill({1, 2, 4, 6}, seed); }

/// Operators that need more than one or two float tensors of one shape.
std::map<std::string, OpCall> examples() {
  const Tensor row = fill({4, 6}, 1);
  const Tensor two = fill({2}, 7);
  std::map<std::string, OpCall> list;
  const auto add = [&](OpCall call) { list[call.type] = std::move(call); };
  add({"Conv", {image(), fill({3, 2, 3, 3}, 2)}});
  add({"ConvTranspose", {image(), fill({2, 3, 2, 2}, 2)}});
  add({"Gemm", {row, fill({6, 5}, 2)}});
  add({"MatMul", {row, fill({6, 5}, 2)}});
  add({"BatchNormalization", {image(), two, fill({2}, 8), fill({2}, 9), fill({2}, 10)}});
  add({"LayerNormalization", {row, fill({6}, 2), fill({6}, 3)}});
  add({"InstanceNormalization", {image(), two, fill({2}, 8)}});
  add({"GroupNormalization", {image(), two, fill({2}, 8)}, {{"num_groups", std::int64_t{2}}}, 21});
  add({"AveragePool", {image()}, {{"kernel_shape", Ints{2, 3}}}});
  add({"MaxPool", {image()}, {{"kernel_shape", Ints{2, 3}}}});
  add({"Concat", {row, fill({4, 6}, 2)}, {{"axis", std::int64_t{1}}}});
  add({"Reshape", {row, ints({2}, {6, 4})}});
  add({"Expand", {row, ints({3}, {2, 4, 6})}});
  add({"Tile", {row, ints({2}, {2, 1})}});
  add({"Slice", {row, ints({1}, {1}), ints({1}, {3}), ints({1}, {0})}});
  add({"Unsqueeze", {row, ints({1}, {0})}});
  add({"Squeeze", {fill({1, 4}, 1), ints({1}, {0})}});
  add({"Gather", {row, ints({2}, {2, 0})}});
  add({"GatherElements", {row, ints({1, 6}, {0, 1, 2, 3, 0, 1})}});
  add({"GatherND", {row, ints({2, 1}, {2, 0})}});
  add({"Pad", {row, ints({4}, {1, 0, 0, 1})}});
  add({"Split", {row}, {{"axis", std::int64_t{0}}}, 13, 2});
  add({"Clip", {row, tensor({}, {0.2F}), tensor({}, {0.7F})}});
  add({"PRelu", {random_tensor({4, 6}, -1, 1, 1), fill({6}, 2)}});
  add({"Where", {Tensor::of<bool>({2}, {true, false}), two, fill({2}, 8)}});
  add({"Resize",
       {image(), Tensor(), tensor({4}, {1, 1, 2, 2})},
       {{"mode", std::string("linear")}}});
  add({"DepthToSpace", {fill({1, 4, 2, 3}, 1)}, {{"blocksize", std::int64_t{2}}}});
  add({"SpaceToDepth", {image()}, {{"blocksize", std::int64_t{2}}}});
  add({"Cast", {row}, {{"to", std::int64_t{1}}}});
  add({"Gelu", {random_tensor({4, 6}, -2, 2, 1)}, {}, 20});
  add({"Mish", {random_tensor({4, 6}, -2, 2, 1)}, {}, 18});
  add({"GlobalAveragePool", {image()}});
  add({"Mean", {row, fill({4, 6}, 2), fill({4, 6}, 3)}});
  add({"ThresholdedRelu", {row}, {{"alpha", 0.2F}}});
  add({"ReverseSequence", {row, ints({6}, {1, 2, 3, 4, 2, 1})}});
  add({"Scatter", {row, ints({1, 2}, {1, 0}), fill({1, 2}, 2)}, {}, 10});
  add({"ScatterElements", {row, ints({1, 2}, {1, 0}), fill({1, 2}, 2)}});
  add({"ScatterND", {row, ints({1, 1}, {2}), fill({1, 6}, 2)}});
  add({"Upsample", {image(), tensor({4}, {1, 1, 2, 2})}, {{"mode", std::string("linear")}}, 9});
  add({"DequantizeLinear", {Tensor::of<std::uint8_t>({3}, {7, 99, 200}), tensor({}, {0.1F})}});
  return list;
}

bool has_radius(const OpCall& call) {
  const Tensor r = radius_of(call);
  if (!r.defined()) return false;
  for (const double x : r.data<double>()) {
    if (x > 0) return true;
  }
  return false;
}

/// |f(x + d) - f(x)| against the radius that inputs off by |d| give, at its largest; every
/// `step`-th element is moved.
double passed_use(const OpCall& call, std::size_t step = 1) {
  OpCall moved = call;
  std::vector<Tensor> radii(call.inputs.size());
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].defined() || call.inputs[i].dtype() != DType::float32 || i > 0) continue;
    moved.inputs[i] = call.inputs[i].clone();
    radii[i] = Tensor::zeros(DType::float64, call.inputs[i].shape());
    auto x = moved.inputs[i].mutable_data<float>();
    const auto was = call.inputs[i].data<float>();
    auto r = radii[i].mutable_data<double>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (k % step != 0) continue;
      x[k] *= 1.0F + 0x1p-8F;
      r[k] = std::fabs(static_cast<double>(x[k]) - static_cast<double>(was[k]));
    }
  }
  OpCall wide = call;
  wide.precision = moved.precision = Precision::f64;
  const Tensor radius = radius_of(call, radii);
  if (!radius.defined()) return -1;
  const Tensor a = run_one(wide), b = run_one(moved);
  double use = 0;
  for (std::int64_t k = 0; k < a.numel(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double off = std::fabs(to_doubles(a)[at] - to_doubles(b)[at]);
    if (off > 0) use = std::max(use, off / radius.data<double>()[at]);
  }
  return use;
}

bool usable(const OpCall& call) {
  try {
    const Tensor y = run_one(call);
    if (!is_float(y.dtype()) || !radius_of(call).defined()) return false;
    for (const double v : to_doubles(y)) {
      if (!std::isfinite(v)) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Integers come out of these, or no float goes in: QuantizeLinear has a test below.
const std::set<std::string> no_floats{"Constant", "ConstantOfShape", "OneHot", "Shape",
                                      "Size",     "QuantizeLinear"};
/// Exact on what they are given; their radius is for inputs that are off.
const std::set<std::string> exact{"Cast", "Ceil", "Floor", "Round", "ThresholdedRelu"};

/// A call of the operator that runs, from the table or by trying one and two inputs.
std::optional<OpCall> call_of(const OpDef& def) {
  static const auto table = examples();
  if (const auto it = table.find(def.type); it != table.end() && def.domain.empty())
    return it->second;
  for (const float low : {-0.9F, 0.1F, 1.1F}) {  // where the function is defined
    for (const unsigned count : {1U, 2U}) {
      OpCall call{.type = def.type, .inputs = {}};
      for (unsigned i = 0; i < count; ++i)
        call.inputs.push_back(random_tensor({4, 6}, low, low + 0.8F, i + 1));
      if (usable(call)) return call;
    }
  }
  return std::nullopt;
}

TEST(Radius, OfEveryOperatorHoldsAndIsNotEmpty) {
  std::set<std::string> seen, left;
  for (const OpDef* def : all_ops()) {
    if (def->bound == nullptr || !def->domain.empty() || no_floats.count(def->type) ||
        !seen.insert(def->type).second)
      continue;
    const auto call = call_of(*def);
    if (!call) {
      left.insert(def->type);
      continue;
    }
    const bool rounds = has_radius(*call) && !exact.count(def->type);
    const double own = rounds ? radius_use(*call) : 1.0;
    EXPECT_LE(own, 1.0) << def->type;
    EXPECT_GT(own, 0x1p-10) << def->type << ": its rounding radius could shrink by 2^10";
    const double passed = passed_use(*call);
    EXPECT_LE(passed, 1.0) << def->type;
    // 0: the output does not depend on small changes.
    EXPECT_TRUE(passed == 0 || passed > 0x1p-10)
        << def->type << ": the radius it passes on could shrink by 2^10";
  }
  EXPECT_GT(seen.size(), 80U);
  for (const std::string& type : left) ADD_FAILURE() << "no example of " << type;
}

TEST(Radius, OfANormalizationInTrainingModeHoldsAndIsNotEmpty) {
  const OpCall call{"BatchNormalization",
                    {image(), fill({2}, 7), fill({2}, 8), fill({2}, 9), fill({2}, 10)},
                    {{"training_mode", std::int64_t{1}}},
                    15};
  ASSERT_TRUE(radius_of(call).defined());
  EXPECT_LE(radius_use(call), 1.0);
  EXPECT_GT(radius_use(call), 0x1p-10);
  // Scaling the whole batch would cancel.
  EXPECT_LE(passed_use(call, 3), 1.0);
  EXPECT_GT(passed_use(call, 3), 0x1p-10);
}

/// Step 1: 2.49 becomes 2; within 0.02 of it lies the boundary to 3, within 0.005 it does not.
TEST(Radius, OfACodeIsHowManyCodesLieInReach) {
  const OpCall call{"QuantizeLinear",
                    {tensor({1}, {2.49F}), tensor({}, {1}), Tensor::scalar<std::int8_t>(0)}};
  const auto reach = [&](double r) {
    return radius_of(call, {tensor64({1}, {r}), Tensor(), Tensor()}).data<double>()[0];
  };
  EXPECT_EQ(reach(0.005), 0);
  EXPECT_EQ(reach(0.02), 1);
  EXPECT_EQ(reach(3.5), 4);  // up to 5.99, which is 6
}

}  // namespace
}  // namespace assay::test::radius_test
