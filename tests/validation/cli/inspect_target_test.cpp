// assay inspect --target and assay quantize --target from the command line.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "runtime/onnx/writer.h"
#include "tests/fusion/net.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_dir.h"
#include "validation/cli/cli.h"

namespace assay::inspect_target_test {
namespace {

using Json = nlohmann::json;
using testing::Net;

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

Ran assay_run(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"assay"};
  for (const std::string& a : arguments) argv.push_back(a.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run_command_line(static_cast<int>(argv.size()), argv.data());
  Ran r{.code = code, .out = ::testing::internal::GetCapturedStdout(), .err = {}};
  r.err = ::testing::internal::GetCapturedStderr();
  return r;
}

Json read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return Json::parse(in);
}

/// Two variables multiplied, pooled as a whole and by windows, and passed through Relu.
Graph mixed() {
  return Net("m = MatMul(a, b)\np = GlobalAveragePool(m)\nq = MaxPool<kernel_shape=[2,2]>(m)\nr = "
             "Relu(q)")
      .input("a", {1, 2, 4, 4})
      .input("b", {1, 2, 4, 4})
      .outputs({"p", "r"})
      .build();
}

class InspectTarget : public ::testing::Test {
 protected:
  void SetUp() override { write_onnx(mixed(), model().string()); }
  std::filesystem::path model() const { return dir_.path() / "mixed model.onnx"; }
  Ran inspect(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"inspect", model().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return assay_run(arguments);
  }
  test::TempDir dir_;
};

TEST_F(InspectTarget, JsonGivesEveryLayer) {
  const Ran r = inspect({"--target", "amct-onnx", "--product", "Atlas 推理系列产品", "--json"});
  ASSERT_EQ(r.code, 0) << r.err;
  const Json t = Json::parse(r.out).at("target");
  EXPECT_EQ(t.at("target"), "amct-onnx");
  EXPECT_EQ(t.at("product"), "atlas-inference");
  EXPECT_EQ(t.at("scheme"), "uniform");
  const Json want = {{"quantizable", 0},
                     {"tensor-only", 1},
                     {"quantizable-degrades", 1},
                     {"no", 1},
                     {"not-listed", 1}};
  EXPECT_EQ(t.at("counts"), want);
  std::map<std::string, Json> layers;
  for (const Json& layer : t.at("layers")) layers[layer.at("node")] = layer;
  EXPECT_EQ(layers.at("n_m").at("answer"), "quantizable-degrades");
  EXPECT_EQ(layers.at("n_p").at("answer"), "no");
  EXPECT_EQ(layers.at("n_q").at("answer"), "tensor-only");
  EXPECT_EQ(layers.at("n_r").at("answer"), "not-listed");
  const Json& failed = layers.at("n_p").at("failed").at(0);
  EXPECT_EQ(failed.at("constraint"), "amct-onnx/AveragePool/not_global");
  EXPECT_EQ(failed.at("value"), "GlobalAveragePool is global pooling");
  EXPECT_EQ(failed.at("expected"), "global_pooling = false");
  EXPECT_EQ(failed.at("edit"), "pool with a stated kernel");
  EXPECT_EQ(failed.at("source"), "document");
}

TEST_F(InspectTarget, TextNamesConstraintValueAndEdit) {
  const Ran r = inspect({"--target", "amct-onnx"});
  EXPECT_NE(
      r.out.find("'n_p' (GlobalAveragePool) as AveragePool [AvgPoolV2]: global_pooling is false: "
                 "GlobalAveragePool is global pooling; pool with a stated kernel"),
      std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("CANN commercial 9.0.0"), std::string::npos);
}

/// What the OASIS standard asks of a log (sections 3.14, 3.27, 3.52): versions, rules that results
/// refer to by id and index, a level only for failures, and a place for each result.
TEST_F(InspectTarget, SarifIsWellFormed) {
  const auto file = dir_.path() / "out.sarif";
  ASSERT_EQ(inspect({"--target", "amct-onnx", "--sarif", file.string(), "--quiet"}).code, 0);
  const Json log = read(file);
  EXPECT_EQ(log.at("version"), "2.1.0");
  const Json& run = log.at("runs").at(0);
  const Json& driver = run.at("tool").at("driver");
  EXPECT_EQ(driver.at("name"), "assay");
  std::map<std::string, std::string> levels;
  std::set<std::string> rule_ids;
  for (const Json& rule : driver.at("rules")) EXPECT_TRUE(rule_ids.insert(rule.at("id")).second);
  for (const Json& result : run.at("results")) {
    EXPECT_EQ(driver.at("rules").at(result.at("ruleIndex").get<std::size_t>()).at("id"),
              result.at("ruleId"));
    EXPECT_FALSE(result.at("message").at("text").get<std::string>().empty());
    EXPECT_EQ(result.at("kind") == "fail", result.at("level") != "none");
    const Json& place = result.at("locations").at(0);
    const std::string uri = place.at("physicalLocation").at("artifactLocation").at("uri");
    EXPECT_EQ(uri.rfind("file:///", 0), 0U);
    EXPECT_NE(uri.find("mixed%20model.onnx"), std::string::npos) << uri;
    levels[place.at("logicalLocations").at(0).at("name")] = result.at("level");
  }
  const std::map<std::string, std::string> want = {
      {"n_m", "warning"}, {"n_p", "error"}, {"n_q", "none"}, {"n_r", "none"}};
  EXPECT_EQ(levels, want);
}

TEST_F(InspectTarget, StrictIsExitOne) {
  const Ran r = inspect({"--target", "amct-onnx", "--strict", "--quiet"});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.err,
            "assay: target amct-onnx: 1 layers cannot be quantized, 1 lose accuracy (--strict)\n");
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(inspect({"--target", "amct-tf", "--product", "atlas-a2", "--strict", "--quiet"}).code,
            0);
}

TEST_F(InspectTarget, WeightOnlyShowsTheSentenceThatRulesItOut) {
  const Ran r = inspect({"--target", "amct-onnx", "--scheme", "weight-only"});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("该版本不支持仅权重量化特性"), std::string::npos);
  EXPECT_EQ(inspect({"--target", "amct-onnx", "--scheme", "weight-only", "--strict"}).code, 1);
}

TEST_F(InspectTarget, SettingsAreTakenIntoAccount) {
  const Ran r = inspect({"--target", "amct-onnx", "--product", "atlas-a2", "--setting",
                         "activation_asymmetric=true"});
  EXPECT_NE(r.out.find("activation_asymmetric = true"), std::string::npos) << r.out;
}

TEST_F(InspectTarget, WrongUseIsExitTwoAndListsTheKnown) {
  const Ran target = inspect({"--target", "tensorrt"});
  EXPECT_EQ(target.code, 2);
  EXPECT_NE(target.err.find("amct-caffe, amct-onnx, amct-tf"), std::string::npos) << target.err;
  const Ran product = inspect({"--target", "amct-onnx", "--product", "h100"});
  EXPECT_EQ(product.code, 2);
  EXPECT_NE(product.err.find("atlas-350 (Atlas 350 加速卡)"), std::string::npos) << product.err;
  EXPECT_EQ(inspect({"--strict"}).code, 2);
  EXPECT_EQ(inspect({"--target", "amct-onnx", "--scheme", "int4"}).code, 2);
  EXPECT_EQ(inspect({"--target", "amct-onnx", "--setting", "x=1"}).code, 2);
}

TEST(QuantizeTarget, WhatStaysInFloatIsListed) {
  const test::TempDir dir;
  const std::string out = (dir.path() / "q.onnx").string();
  const std::string model = (source_dir() / "datasets/digits/digits.onnx").string();
  const Ran r = assay_run({"quantize", model, "--target", "amct-onnx", "-o", out, "--shape",
                           "input=1x1x28x28", "--samples", "1", "--quiet", "--report",
                           (dir.path() / "r.json").string()});
  ASSERT_EQ(r.code, 0) << r.err;
  int adds = 0;
  const Json report = read(dir.path() / "r.json");
  for (const Json& n : report.at("nodes")) {
    if (n.at("op") != "Add") continue;
    ++adds;
    EXPECT_FALSE(n.at("quantized"));
    EXPECT_TRUE(n.at("by_target"));
    EXPECT_NE(n.at("reason").get<std::string>().find("only one input is quantized"),
              std::string::npos);
  }
  EXPECT_EQ(adds, 4);
  EXPECT_EQ(assay_run({"quantize", model, "--target", "no", "-o", out}).code, 2);
}

TEST(ValidateTarget, CoverageListsWhatTheTableLeavesInFloat) {
  const test::TempDir dir;
  const std::string model = (source_dir() / "datasets/residual/residual.onnx").string();
  const auto left = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"validate", model, "--quiet", "-o",
                                          (dir.path() / name).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(assay_run(arguments).code, 0);
    const Json report = read(dir.path() / name / "report.json");
    return report.at("quantization").at("coverage").at("left_in_float");
  };
  EXPECT_EQ(left("free", {}).size(), 0U);
  const Json bound = left("bound", {"--target", "amct-onnx", "--product", "atlas-a2"});
  ASSERT_GE(bound.size(), 1U);
  EXPECT_EQ(bound.at(0).at("node"), "add");
  EXPECT_NE(bound.at(0).at("reason").get<std::string>().find("only one input is quantized"),
            std::string::npos);
  EXPECT_EQ(
      assay_run({"validate", model, "--target", "no", "-o", (dir.path() / "x").string()}).code, 2);
}

}  // namespace
}  // namespace assay::inspect_target_test
