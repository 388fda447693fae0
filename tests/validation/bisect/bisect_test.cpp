// Which instance moves the result.
#include "validation/bisect/bisect.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/validation/bisect/three_folds.h"
#include "validation/bisect/partial_run.h"
#include "validation/bisect/splice.h"
#include "validation/report/exporter.h"

namespace assay::bisect_test {
namespace {

using namespace testing;

const Feeds image = {{"x", grid({2, 4, 6, 6}, 7)}};

struct Pair {
  Graph original = three_normalizations();
  FusionResult own = fuse(original, {.mode = "all"});
  CertifyOptions options{.samples = {image}, .kernels = false};
  Comparison both = compare_graphs(original, own.graph, &own.log, options);
  CertifyResult judged = certify(both, options);
};

Values outputs(const Graph& g) { return run_canonical()(g, image, {}); }

void expect_same(const Values& a, const Values& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, t] : a) EXPECT_TRUE(same_bits(t, b.at(name))) << name;
}

TEST(Splice, AllInstancesAreTheFusedGraphAndNoneTheOriginal) {
  const Pair p;
  ASSERT_EQ(p.both.alignment.regions.size(), 3U);
  const Graph none = with_instances(p.both, {false, false, false});
  EXPECT_EQ(ops_of(none), ops_of(p.original));
  expect_same(outputs(none), outputs(p.original));
  const Graph all = with_instances(p.both, {true, true, true});
  EXPECT_EQ(ops_of(all), ops_of(p.own.graph));
  expect_same(outputs(all), outputs(p.own.graph));
}

TEST(Splice, OneInstanceLeavesTheOthersAsTheyWere) {
  const Pair p;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<bool> only(3, false);
    only[i] = true;
    const Graph g = with_instances(p.both, only);
    g.verify();
    std::int64_t left = 0;
    for (const NodeId n : g.node_ids()) left += g.node(n).is("BatchNormalization");
    EXPECT_EQ(left, 2) << ops_of(g);
  }
}

TEST(PartialRun, GivesTheBitsOfAWholeRun) {
  const Pair p;
  const Values before = all_values(p.original, image, run_canonical());
  const Graph fused = with_instances(p.both, {true, true, true});
  const Values after = all_values(fused, image, run_canonical());
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<bool> only(3, false), rest(3, true);
    only[i] = true;
    rest[i] = false;
    const std::string& output = p.both.alignment.regions[i].output;
    const Graph one = with_instances(p.both, only);
    expect_same(run_behind(one, output, before, run_canonical()), outputs(one));
    const Graph others = with_instances(p.both, rest);
    expect_same(run_behind(others, output, after, run_canonical()), outputs(others));
  }
}

TEST(PartialRun, RunsOnlyWhatLiesBehind) {
  const Pair p;
  Values before = all_values(p.original, image, run_canonical());
  const Graph last = with_instances(p.both, {false, false, true});
  std::set<std::string> given;
  const RunGraph watched = [&](const Graph& g, const Feeds& feeds,
                               const std::set<std::string>& also) {
    for (const auto& [name, t] : feeds) given.insert(name);
    return run_canonical()(g, feeds, also);
  };
  (void)run_behind(last, "n3", before, watched);
  EXPECT_EQ(given, std::set<std::string>{"r2"});
}

/// y = 2 (3 x), where one file holds 3.25 for 3 or 2.5 for 2: every number is exact, so the
/// differences are known. x = [1, -2].
TEST(Bisect, DifferencesAreThoseOfTheInstance) {
  const auto net = [](float a, float b) {
    Net n("p = Mul(x, a)\nq = Relu(p)\nr = Mul(q, b)\ny = Relu(r)");
    n.input("x", {1, 2}).constant("a", f32({1}, {a})).constant("b", f32({1}, {b}));
    return n.build();
  };
  const CertifyOptions options{.samples = {{{"x", f32({1, 2}, {1, -2})}}}, .kernels = false};
  const Comparison both = compare_graphs(net(3, 2), net(3.25F, 2.5F), nullptr, options);
  const CertifyResult judged = certify(both, options);
  ASSERT_EQ(judged.fusions.size(), 2U);
  const auto runs = bisect(both, judged.fusions, {.samples = options.samples});
  ASSERT_EQ(runs.size(), 2U);
  for (const BisectionRun& run : runs) {
    EXPECT_EQ(run.whole.max_abs, 8.125 - 6) << run.evaluation << run.note;
    EXPECT_EQ(run.whole.different, 1);
    ASSERT_EQ(run.instances.size(), 2U);
    const auto& first = run.instances[0].output == "p" ? run.instances[0] : run.instances[1];
    const auto& second = run.instances[0].output == "p" ? run.instances[1] : run.instances[0];
    EXPECT_EQ(first.one_only.max_abs, 0.5);  // 2 * 3.25 - 6
    EXPECT_EQ(first.left_out.max_abs, 1.5);  // 2.5 * 3 - 6
    EXPECT_EQ(second.one_only.max_abs, 1.5);
    EXPECT_EQ(second.left_out.max_abs, 0.5);
    EXPECT_EQ(first.share, 0.1);  // 0.25 of 0.25 + 2.25
    EXPECT_EQ(second.share, 0.9);
    EXPECT_EQ(first.one_only.max_ulp, 0.5 / 0x1p-21);  // 6 has steps of 2^-21
  }
}

TEST(Bisect, TheWrongInstanceHasTheShare) {
  const Pair p;
  std::string weights;
  for (const FiredRewrite& f : p.own.log.fired) {
    for (const std::string& c : f.constants) {
      if (p.own.graph.find_value(c) &&
          p.own.graph.constant(*p.own.graph.find_value(c))->shape() == Shape{4, 4, 1, 1})
        weights = c;
    }
  }
  ASSERT_FALSE(weights.empty());
  const Graph wrong = with_changed(p.own.graph, weights, 5, 1.01F);
  const Comparison both = compare_graphs(p.original, wrong, &p.own.log, p.options);
  const CertifyResult judged = certify(both, p.options);
  const auto runs = bisect(both, judged.fusions, {.samples = {image}});
  for (const BisectionRun& run : runs) {
    for (const InstanceEffect& e : run.instances) {
      if (e.output == "r2") {
        EXPECT_EQ(e.verdict, "E5");
        EXPECT_GT(e.share, 0.999);
        EXPECT_LT(e.left_out.max_abs, run.whole.max_abs / 100);
      } else {
        EXPECT_LT(e.share, 1e-3);
        EXPECT_GT(e.left_out.max_abs, run.whole.max_abs / 2);
      }
    }
  }
  // Largest share first in every report.
  nlohmann::ordered_json report{{"bisection", to_json(runs, 1)}};
  EXPECT_EQ(report["bisection"]["runs"][0]["instances"][0]["output"], "r2");
  EXPECT_EQ(report["bisection"]["runs"][0]["evaluation"], "f32");
  for (const Exporter* e : all_exporters()) {
    if (e->file == "junit.xml") continue;
    EXPECT_NE(e->write(report).find("one-only"), std::string::npos) << e->file;
  }
}

}  // namespace
}  // namespace assay::bisect_test
