// report.html: one file that stands alone: the page, its script, Chart.js and the report as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "embedded/report_page.h"
#include "runtime/error.h"
#include "validation/report/exporter.h"

namespace assay::html_report_exporter {
namespace {

void put(std::string& page, const std::string& mark, const std::string& text) {
  const auto at = page.find(mark);
  ASSAY_ASSERT(at != std::string::npos);
  page.replace(at, mark.size(), text);
}

std::string embedded_file(std::string_view name) {
  const auto files = embedded::report_page();
  const auto it =
      std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == name; });
  ASSAY_ASSERT(it != files.end());
  return std::string(it->text);
}

/// JSON inside a script element: "</" would end it.
std::string script_safe(std::string text) {
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  return text;
}

std::string write(const nlohmann::ordered_json& report) {
  std::string page = embedded_file("report.html");
  put(page, "/*CHART_JS*/", embedded_file("chart.min.js"));
  put(page, "/*REPORT_JS*/", embedded_file("report.js"));
  put(page, "/*REPORT_JSON*/", script_safe(report.dump()));
  return page;
}

const RegisterExporter registered{{.file = "report.html", .write = write}};

}  // namespace
}  // namespace assay::html_report_exporter
