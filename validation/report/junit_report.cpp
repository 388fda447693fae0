// junit.xml: one test suite for the gates and one for the fusions, as CI systems read them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "validation/report/exporter.h"
#include "validation/report/text.h"

namespace assay::junit_report_exporter {
namespace {

using Json = nlohmann::ordered_json;

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') out += c;
    }
  }
  return out;
}

struct Suite {
  std::string name;
  std::string cases = {};
  int tests = 0;
  int failures = 0;
  int skipped = 0;

  void add(const std::string& test, const std::string& state, const std::string& message) {
    ++tests;
    cases += fmt::format("    <testcase classname=\"assay.{}\" name=\"{}\"", name, xml(test));
    if (state == "fail") {
      ++failures;
      cases += fmt::format(">\n      <failure message=\"{}\"/>\n    </testcase>\n", xml(message));
    } else if (state == "skipped") {
      ++skipped;
      cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml(message));
    } else {
      cases += "/>\n";
    }
  }

  std::string text() const {
    return fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
        name, tests, failures, skipped, cases);
  }
};

std::string write(const Json& report) {
  Suite gates{.name = "gates"};
  for (const Json& g : report.value("gates", Json::array())) {
    const std::string result = g.value("result", "");
    const std::string state = result == "fail" ? "fail" : result == "pass" ? "pass" : "skipped";
    gates.add(cell(g.value("id", Json())), state,
              fmt::format("{} is not {} {} {}", cell(g.value("value", Json())),
                          cell(g.value("op", Json())), cell(g.value("limit", Json())),
                          g.value("note", "")));
  }
  Suite fusions{.name = "fusions"};
  for (const Json& f : report.value("fusions", Json::array())) {
    const std::string verdict = f.value("verdict", "");
    const std::string state = verdict == "E5" ? "fail" : verdict == "U" ? "skipped" : "pass";
    fusions.add(cell(f.value("rule", Json())) + " " + cell(f.value("output", Json())), state,
                verdict + " " + f.value("reason", ""));
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\">\n" +
         gates.text() + fusions.text() + "</testsuites>\n";
}

const RegisterExporter registered{{.file = "junit.xml", .write = write}};

}  // namespace
}  // namespace assay::junit_report_exporter
