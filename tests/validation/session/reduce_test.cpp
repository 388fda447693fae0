// The files of assay reduce, and that they show the failure again.
#include "validation/session/reduce.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/file.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/writer.h"
#include "tests/support/temp_dir.h"
#include "tests/validation/bisect/three_folds.h"

namespace assay::reduce_test {
namespace {

using namespace testing;
namespace fs = std::filesystem;

const auto quiet = [](const std::string&, std::int64_t, std::int64_t) {};

/// model.onnx and fused.onnx in `dir`; two constants of the fold are wrong when asked for.
ValidateOptions files(const test::TempDir& dir, bool wrong) {
  const Graph o = three_normalizations(1);
  Graph f = fuse(o, {.mode = "bn"}).graph;
  if (wrong) {
    for (const ValueId v : f.value_ids()) {
      const Tensor* t = f.constant(v);
      if (t != nullptr && (t->shape() == Shape{4, 4, 1, 1} || t->shape() == Shape{4, 1, 3, 3}))
        f = with_changed(f, f.name(v), 6, 1.001F);
    }
  }
  write_onnx(o, dir / "model.onnx");
  write_onnx(f, dir / "fused.onnx");
  ValidateOptions options{.model = dir / "model.onnx"};
  options.fused = dir / "fused.onnx";
  options.out = dir / "case";
  return options;
}

/// Exit code of `assay validate` on the files of a case.
int validated(const fs::path& at, const fs::path& gates = {}) {
  ValidateOptions again{.model = at / "original.onnx"};
  again.gates = gates;
  again.fused = at / "fused.onnx";
  again.out = at / "out";
  const Graph g = read_onnx(again.model);
  for (const ValueId v : g.inputs())
    again.inputs[g.name(v)] = at / (file_name_of(g.name(v)) + ".npy");
  return validate(again, quiet).exit_code;
}

TEST(Reduce, WritesFilesThatFailAgain) {
  const test::TempDir dir;
  const ValidateOptions o = files(dir, true);
  const ValidateResult r = reduce(o, {}, quiet);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.summary.find("also E5: --output"), std::string::npos) << r.summary;
  const std::string readme = read_file(o.out / "README.md");
  EXPECT_NE(readme.find("assay validate original.onnx --fused fused.onnx --input '"),
            std::string::npos)
      << readme;
  EXPECT_EQ(read_onnx(o.out / "original.onnx").node_count(), 2);
  EXPECT_EQ(validated(o.out), 1);
  const auto report = nlohmann::json::parse(read_file(o.out / "out" / "report.json"));
  EXPECT_EQ(report["fusions"][0]["verdict"], "E5");
}

TEST(Reduce, AnotherInstanceCanBeAskedFor) {
  const test::TempDir dir;
  const ValidateOptions o = files(dir, true);
  EXPECT_EQ(reduce(o, {.output = "n3"}, quiet).exit_code, 1);
  const Graph g = read_onnx(o.out / "original.onnx");
  EXPECT_EQ(g.name(g.outputs()[0]), "n3");
  EXPECT_THROW((void)reduce(o, {.output = "n1"}, quiet), Error);
}

TEST(Reduce, NothingFailsAndNothingIsWritten) {
  const test::TempDir dir;
  const ValidateOptions o = files(dir, false);
  const ValidateResult r = reduce(o, {}, quiet);
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_NE(r.summary.find("nothing fails: 3 instances (3 x E2)"), std::string::npos) << r.summary;
  EXPECT_FALSE(fs::exists(o.out));
}

TEST(Reduce, UndecidedInstancesFailWhenStrict) {
  const test::TempDir dir;
  Net o("s = Sigmoid(x)\ny = Mul(x, s)");
  o.input("x", {1, 3, 4, 4});
  Net f("n = Neg(x)\ne = Exp(n)\nd = Add(e, one)\ny = Div(x, d)");
  f.input("x", {1, 3, 4, 4}).constant("one", f32({}, {1}));
  write_onnx(o.build(), dir / "model.onnx");
  write_onnx(f.build(), dir / "fused.onnx");
  ValidateOptions options{.model = dir / "model.onnx"};
  options.fused = dir / "fused.onnx";
  options.out = dir / "case";
  EXPECT_EQ(reduce(options, {}, quiet).exit_code, 0);
  options.strict = true;
  EXPECT_EQ(reduce(options, {}, quiet).exit_code, 4);
  EXPECT_NE(read_file(options.out / "README.md").find("--strict"), std::string::npos);
}

/// Says of kernels with a depthwise weight of 0.5 or more that they are outside their bound.
nlohmann::ordered_json large_weights_fail(const Region& r, const std::vector<Feeds>&) {
  for (const ValueId v : r.fused.value_ids()) {
    const Tensor* t = r.fused.constant(v);
    if (t == nullptr || t->shape().rank() != 4 || t->shape()[1] != 1) continue;
    for (const float w : t->data<float>())
      if (std::abs(w) >= 0.5F)
        return {{"bound_usage", 1.5}, {"inside", false}, {"kernel", "large"}};
  }
  return {{"bound_usage", 0.5}, {"inside", true}};
}

TEST(Reduce, OnlyAKernelFails) {
  const test::TempDir dir;
  const ValidateOptions o = files(dir, false);
  const ValidateResult r = reduce(o, {.kernel_check = large_weights_fail}, quiet);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.summary.find("oneDNN's kernel at 'n3'"), 0U) << r.summary;
  EXPECT_NE(r.summary.find("(1.5 times): large"), std::string::npos) << r.summary;
  EXPECT_NE(r.summary.find("--gates gates.json"), std::string::npos) << r.summary;
  const Graph f = read_onnx(o.out / "fused.onnx");
  EXPECT_EQ(f.node_count(), 1);
  bool large = false;
  for (const ValueId v : f.value_ids()) {
    const Tensor* t = f.constant(v);
    if (t == nullptr || t->shape().rank() != 4) continue;
    EXPECT_EQ(t->shape()[0], 1);
    for (const float w : t->data<float>()) large = large || std::abs(w) >= 0.5F;
  }
  EXPECT_TRUE(large);
  EXPECT_TRUE(fs::exists(o.out / "gates.json"));
  // oneDNN itself is right, so the gate of the case passes.
  EXPECT_EQ(validated(o.out, o.out / "gates.json"), 0);
}

TEST(Reduce, KernelsOfWrongInstancesDoNotCount) {
  const test::TempDir dir;
  const ValidateOptions o = files(dir, true);  // 'n3' is E5
  const ValidateResult r = reduce(o, {.kernel_check = large_weights_fail}, quiet);
  EXPECT_EQ(r.exit_code, 0) << r.summary;
  EXPECT_FALSE(fs::exists(o.out));
}

}  // namespace
}  // namespace assay::reduce_test
