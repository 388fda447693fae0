// What certificates look through, and what they must not be deceived by.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/fusion/net.h"
#include "validation/certificate/certify.h"

namespace assay {
namespace {

using namespace testing;

std::vector<FusionCertificate> own(const Graph& o, const Graph& f, const RewriteLog& log,
                                   const std::vector<Feeds>& samples) {
  return certify(o, f, &log, {.samples = samples, .kernels = false}).fusions;
}

std::string worst(const std::vector<FusionCertificate>& list) {
  std::string w = "none";
  for (const auto& c : list) w = w == "none" ? c.verdict : std::max(w, c.verdict);
  return w;
}

TEST(Canonical, OneNameForTwoNumbersIsNoProof) {
  // Both sides compute 'n' , the one from constants, the other from the input.
  Net a("k = Neg(c)\nn = Mul(k, d)\ny = Mul(x, n)");
  a.input("x", {2}).constant("c", f32({2}, {1, 2})).constant("d", f32({2}, {3, 4}));
  Net b("k = Neg(c)\nt = Mul(x, k)\nn = Mul(t, d)\ny = Mul(x, n)");
  b.input("x", {2}).constant("c", f32({2}, {1, 2})).constant("d", f32({2}, {3, 4}));
  EXPECT_EQ(worst(own(a.build(), b.build(), {}, {{{"x", f32({2}, {5, 7})}}})), "E5");
}

TEST(Canonical, AFoldOfADefaultThatTheCallerMayOverrideIsNotEquivalent) {
  Net open("c = Conv(x, W)\ny = Relu(c)");
  open.input("x", {1, 1, 1, 1}).overridable("W", f32({1, 1, 1, 1}, {2}));
  Net closed("y = ai.assay.ConvRelu(x, W)");
  closed.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {2}));
  const Feeds plain = {{"x", f32({1, 1, 1, 1}, {3})}};
  const auto list = own(open.build(), closed.build(), {}, {plain});
  EXPECT_EQ(worst(list), "E5") << to_json(list.at(0)).dump(1);
}

TEST(Canonical, OfTwoEqualValuesEitherMayBeTaken) {
  Net twins("p = Neg(x)\nq = Neg(x)\na = Relu(p)\nb = Tanh(q)");
  twins.input("x", {2}).outputs({"a", "b"});
  Net one("p = Neg(x)\na = Relu(p)\nb = Tanh(p)");
  one.input("x", {2}).outputs({"a", "b"});
  EXPECT_EQ(worst(own(twins.build(), one.build(), {}, {{{"x", f32({2}, {1, -2})}}})), "E0");
}

TEST(Canonical, DefaultsOfActivationsMaySpelledOut) {
  Net a("y = HardSigmoid(x)\nz = Clip(x, _, six)");
  a.input("x", {2}).constant("six", f32({}, {6})).outputs({"y", "z"});
  Net b("y = HardSigmoid<alpha=0.2, beta=0.5>(x)\nz = Clip(x, low, six)");
  b.input("x", {2}).constant("six", f32({}, {6}));
  b.constant("low", f32({}, {-INFINITY})).outputs({"y", "z"});
  EXPECT_EQ(worst(own(a.build(), b.build(), {}, {{{"x", f32({2}, {9, -9})}}})), "E0");
}

TEST(Canonical, SaturatedActivationInFrontOfAQuantizer) {
  const auto net = [](const std::string& in, std::uint8_t zero) {
    Net n("r = Relu(x)\nq = QuantizeLinear(" + in + ", s, z)");
    n.input("x", {3}).constant("s", f32({}, {0.1F})).constant("z", Tensor::scalar(zero));
    return n.outputs({"q"}).build();
  };
  const Feeds x = {{"x", f32({3}, {-1, 0.04F, 2})}};
  EXPECT_LE(worst(own(net("r", 0), net("x", 0), {}, {x})), "E1");
  EXPECT_EQ(worst(own(net("r", 20), net("x", 20), {}, {x})), "E5");
}

TEST(Canonical, ANormalizationThatStaysKeepsEachNumberToHalfAUnit) {
  Net net("r = Relu(x)\nn = BatchNormalization<epsilon=1e-5>(r, g, b, m, v)\ny = Mul(n, k)");
  net.input("x", {1, 2, 1, 1}).constant("g", f32({2}, {1.7F, -0.3F}));
  net.constant("b", f32({2}, {0.3F, 0.1F})).constant("m", f32({2}, {0.2F, 0.9F}));
  net.constant("v", f32({2}, {0.6F, 1.9F})).constant("k", f32({2, 1, 1}, {0.7F, 1.3F}));
  const Graph o = net.build();
  const FusionResult r = fuse(o, {.mode = "fold_bn_mul"});
  const std::vector<Feeds> samples = {{{"x", f32({1, 2, 1, 1}, {1.5F, 2.5F})}}};
  EXPECT_EQ(worst(own(o, r.graph, r.log, samples)), "E2");
  for (const std::string& name : r.log.fired.at(0).constants) {
    Graph off = r.graph;
    Tensor t = off.constant(*off.find_value(name))->clone();
    t.mutable_data<float>()[1] = std::nextafter(t.mutable_data<float>()[1], 10.0F);
    off.set_initializer(*off.find_value(name), t);
    EXPECT_EQ(worst(own(o, off, r.log, samples)), "E5") << name;
  }
}

/// Every constant of a fold in front of an activation, each off by one unit in the last place.
void expect_every_unit_is_seen(const std::string& activation) {
  Net net("c = Conv(x, W)\nn = BatchNormalization<epsilon=0.0>(c, g, b, m, v)\n" + activation, 14);
  net.input("x", {1, 2, 3, 3}).constant("W", f32({2, 2, 1, 1}, {0.3F, -0.7F, 1.1F, 0.01F}));
  net.constant("g", f32({2}, {0.9F, -1.3F})).constant("b", f32({2}, {0.02F, -3}));
  net.constant("m", f32({2}, {0.1F, 2})).constant("v", f32({2}, {0.7F, 1.9F}));
  if (activation.find("g4") != std::string::npos) {
    net.constant("g4", f32({2, 2, 1, 1}, {1, 2, 3, 4}));
    net.constant("k", f32({1, 2, 3, 3}, std::vector<float>(18, 0.3F)));
  }
  const Graph o = net.build();
  const FusionResult f = fuse(o, {.mode = "all"});
  const std::vector<Feeds> feeds{{{"x", grid({1, 2, 3, 3}, 1)}}};
  ASSERT_EQ(worst(own(o, f.graph, f.log, feeds)), "E2");
  std::int64_t tried = 0;
  for (const ValueId v : f.graph.value_ids()) {
    const Tensor* t = f.graph.constant(v);
    if (t == nullptr || o.find_value(f.graph.name(v)) || t->dtype() != DType::float32) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t->numel()); ++i, ++tried) {
      Tensor off = t->clone();
      float& x = off.mutable_data<float>()[i];
      x = std::nextafter(x, 100.0F);
      Graph wrong = f.graph;
      wrong.set_initializer(v, off);
      EXPECT_EQ(worst(own(o, wrong, f.log, feeds)), "E5") << f.graph.name(v) << " " << i;
    }
  }
  EXPECT_EQ(tried, 6);  // four weights, two biases
}

TEST(Canonical, AnActivationThatScalesHidesNoUnitInTheLastPlace) {
  expect_every_unit_is_seen("y = HardSigmoid(n)");
  expect_every_unit_is_seen("y = HardSwish(n)");
}

TEST(Canonical, ATermThatIsScaledHidesNoUnitOfItsNeighbour) {
  expect_every_unit_is_seen("d = Conv(x, g4)\ne = Mul(d, k)\ny = Add(n, e)");
}

/// p = k - t and t cancel in t + p: at the region, t's rounding hides what the Elu does to k.
TEST(Canonical, InputsThatDependOnEachOtherAreVariedThroughTheGraph) {
  const std::string front = "t = MatMul(x, W)\nn = Neg(t)\np = Add(n, k)\n";
  const auto net = [&](const std::string& end) {
    Net n(front + end);
    n.input("x", {1, 4, 4, 2}).constant("W", f32({2, 1}, {9371.9F, -9448.5F}));
    return n.constant("k", f32({4, 1, 1}, {-0.467F, 1.373F, 1.898F, -0.605F})).build();
  };
  const Graph o = net("s = Add(t, p)\ny = Elu<alpha=0.3>(s)");
  const std::vector<Feeds> feeds{{{"x", grid({1, 4, 4, 2}, 3)}}};
  EXPECT_EQ(worst(own(o, net("s2 = Add(t, p)\ny = Elu<alpha=0.3>(s2)"), {}, feeds)), "E0");
  const auto wrong = own(o, net("s2 = Add(t, p)\ny = Elu<alpha=0.3625>(s2)"), {}, feeds);
  EXPECT_EQ(worst(wrong), "E5");
}

TEST(Canonical, SeveralActivationsInFrontOfAQuantizer) {
  const auto net = [](const std::string& lines) {
    Net n(lines);
    n.input("x", {4}).constant("low", f32({}, {0})).constant("high", f32({}, {6}));
    n.constant("s", f32({}, {6.0F / 255}));
    return n.constant("z", Tensor::scalar<std::uint8_t>(0)).build();
  };
  const std::vector<Feeds> feeds{{{"x", f32({4}, {-2, 1, 5, 9})}}};
  const Graph o = net("r = Relu(x)\nc = Clip(r, low, high)\ny = QuantizeLinear(c, s, z)");
  const Graph f = net("y = QuantizeLinear(x, s, z)");
  EXPECT_LE(worst(own(o, f, {}, feeds)), "E2");
}

}  // namespace
}  // namespace assay
