#include "validation/gates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/file.h"

namespace assay::gates_test {
namespace {

using Json = nlohmann::ordered_json;

Json report_with(double drop, double p) {
  return Json::
      parse(R"({"accuracy":{"metrics":[{"name":"top1","drop":{"int8":0}},{"name":"top5","drop":{"int8":1}}]},
    "fusions":[{"output":"a","verdict":"E2"},{"output":"b.c","verdict":"E1"}]})")
          .patch(Json::parse(
              R"([{"op":"replace","path":"/accuracy/metrics/0/drop/int8","value":)" +
              std::to_string(drop) +
              R"(},{"op":"add","path":"/accuracy/metrics/0/mcnemar_p","value":{"int8":)" +
              std::to_string(p) + "}}]"));
}

nlohmann::json gate(const std::string& text) {
  return nlohmann::json::array({nlohmann::json::parse(text)});
}

const char* top1 =
    R"({"id":"g","select":"accuracy.metrics[name=top1]","field":"drop.int8","op":"<=","value":0.005,"test":"mcnemar"})";

TEST(Gates, PassInsideTheLimit) {
  EXPECT_EQ(evaluate_gates(gate(top1), report_with(0.005, 1))[0]["result"], "pass");
}

TEST(Gates, FailOnlyWhenThePairedTestSeesIt) {
  EXPECT_EQ(evaluate_gates(gate(top1), report_with(0.02, 0.01))[0]["result"], "fail");
  EXPECT_EQ(evaluate_gates(gate(top1), report_with(0.006, 0.3))[0]["result"], "undecided");
}

TEST(Gates, ListsSelectEveryElement) {
  const auto g = R"({"id":"v","select":"fusions","field":"verdict","op":"in","value":["E2"]})";
  const auto r = evaluate_gates(gate(g), report_with(0, 1));
  ASSERT_EQ(r.size(), 2U);
  EXPECT_EQ(r[0]["object"], "b.c");
  EXPECT_EQ(r[0]["result"], "fail");
  const auto excepted =
      R"({"id":"v","select":"fusions","field":"verdict","op":"in","value":["E2"],"except":["b.c"]})";
  EXPECT_EQ(evaluate_gates(gate(excepted), report_with(0, 1)).size(), 1U);
}

TEST(Gates, FilterValuesMayHoldDots) {
  EXPECT_EQ(select_values(report_with(0, 1), "fusions[output=b.c]").size(), 1U);
}

TEST(Gates, MissingValuesAreNamed) {
  const auto g =
      R"({"id":"m","select":"accuracy.metrics[name=top1]","field":"drop.other","op":"<=","value":0})";
  EXPECT_EQ(evaluate_gates(gate(g), report_with(0, 1))[0]["result"], "absent");
}

TEST(Gates, ExactIsAboveEveryLimit) {
  const auto report = Json::parse(R"({"layers":[{"output":"a","sqnr":"exact"}]})");
  const auto g = R"({"id":"s","select":"layers","field":"sqnr","op":">=","value":30})";
  EXPECT_EQ(evaluate_gates(gate(g), report)[0]["result"], "pass");
}

TEST(Gates, DefaultsAreReadable) { EXPECT_GE(read_gates({}).size(), 4U); }

TEST(Gates, FaultsNameTheField) {
  const auto file = std::filesystem::temp_directory_path() / "assay_gates.json";
  write_file(
      file,
      R"({"schema":"assay-gates/1","gates":[{"id":"a","select":"x","field":"y","op":"~","value":1}]})");
  try {
    read_gates(file);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("gates[0]: op"), std::string::npos);
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay::gates_test
