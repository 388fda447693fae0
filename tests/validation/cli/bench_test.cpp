// assay bench from the command line: exit codes and the JSON that bench/peers.py reads.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/support/source_dir.h"
#include "validation/cli/cli.h"

namespace assay::bench_test {
namespace {

using Json = nlohmann::json;

struct Ran {
  int code = 0;
  std::string out;
};

Ran bench(std::vector<std::string> arguments) {
  const std::string model = (source_dir() / "datasets/digits/digits.onnx").string();
  std::vector<const char*> argv{"assay", "bench", model.c_str(), "--time", "10", "--no-tune"};
  for (const std::string& a : arguments) argv.push_back(a.c_str());
  testing::internal::CaptureStdout();
  const int code = run_command_line(static_cast<int>(argv.size()), argv.data());
  return {code, testing::internal::GetCapturedStdout()};
}

std::string baseline_with(double median_ms) {
  const auto path = std::filesystem::temp_directory_path() / "assay_bench_baseline.json";
  std::ofstream(path) << Json{{"median_ms", median_ms}, {"ci95_ms", {median_ms, median_ms}}};
  return path.string();
}

TEST(BenchCommand, EveryFormIsCheckedAndTimed) {
  for (const char* form : {"original", "fused", "int8"}) {
    const Ran r = bench({"--form", form, "--json", "--no-layers"});
    ASSERT_EQ(r.code, 0) << form;
    const Json j = Json::parse(r.out);
    EXPECT_EQ(j.at("schema"), "assay-bench/1");
    EXPECT_GE(j.at("samples").size(), 20U);
    EXPECT_GT(j.at("median_ms").get<double>(), 0);
    EXPECT_LE(j.at("min_ms").get<double>(), j.at("median_ms").get<double>());
    EXPECT_LE(j.at("median_ms").get<double>(), j.at("p90_ms").get<double>());
    EXPECT_TRUE(j.at("check").at("passed").get<bool>());
    EXPECT_GT(j.at("check").at("steps").get<int>(), 5) << form;
  }
}

TEST(BenchCommand, LayersCarryKernelAndRoofline) {
  const Json j = Json::parse(bench({"--form", "fused", "--json"}).out);
  EXPECT_GT(j.at("roofline").at("f32_gflops").get<double>(), 0);
  std::int64_t macs = 0;
  for (const Json& s : j.at("steps")) {
    EXPECT_FALSE(s.at("kernel").get<std::string>().empty());
    EXPECT_NE(s.at("kernel").get<std::string>().rfind("ref", 0), 0U) << s.dump();
    macs += s.at("macs").get<std::int64_t>();
  }
  EXPECT_GT(macs, 0);
}

TEST(BenchCommand, SlowerThanTheBaselineIsExitSix) {
  EXPECT_EQ(bench({"--quiet", "--no-layers", "--no-check", "--baseline", baseline_with(1e-6)}).code,
            6);
  EXPECT_EQ(bench({"--quiet", "--no-layers", "--no-check", "--baseline", baseline_with(1e6)}).code,
            0);
}

TEST(BenchCommand, BadUseIsExitTwo) {
  EXPECT_EQ(bench({"--form", "half"}).code, 2);
  EXPECT_EQ(bench({"--isa", "NO_SUCH_ISA"}).code, 2);
  EXPECT_EQ(
      bench({"--baseline", "/no/such/file.json", "--no-layers", "--no-check", "--quiet"}).code, 2);
}

}  // namespace
}  // namespace assay::bench_test
