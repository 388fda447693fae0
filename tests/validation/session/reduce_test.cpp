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
int validated(const fs::path& at) {
  ValidateOptions again{.model = at / "original.onnx"};
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
  const ValidateResult r = reduce(o, "", quiet);
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
  EXPECT_EQ(reduce(o, "n3", quiet).exit_code, 1);
  const Graph g = read_onnx(o.out / "original.onnx");
  EXPECT_EQ(g.name(g.outputs()[0]), "n3");
  EXPECT_THROW((void)reduce(o, "n1", quiet), Error);
}

TEST(Reduce, NothingFailsAndNothingIsWritten) {
  const test::TempDir dir;
  const ValidateOptions o = files(dir, false);
  const ValidateResult r = reduce(o, "", quiet);
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
  EXPECT_EQ(reduce(options, "", quiet).exit_code, 0);
  options.strict = true;
  EXPECT_EQ(reduce(options, "", quiet).exit_code, 4);
  EXPECT_NE(read_file(options.out / "README.md").find("--strict"), std::string::npos);
}

}  // namespace
}  // namespace assay::reduce_test
