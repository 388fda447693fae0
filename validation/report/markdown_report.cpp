// report.md: the summary a reviewer reads in a pull request.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "validation/report/exporter.h"
#include "validation/report/text.h"

namespace assay::markdown_report_exporter {
namespace {

using Json = nlohmann::ordered_json;

void accuracy_part(std::string& out, const Json& report) {
  const Json metrics = report.value("accuracy", Json::object()).value("metrics", Json::array());
  if (metrics.empty()) return;
  out +=
      "\n## Accuracy\n\n| metric | original | fused | INT8 | oneDNN fused | oneDNN INT8 | drop "
      "INT8 | 95 % interval |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Json& m : metrics) {
    const Json values = m.value("values", Json::object());
    out += "| " + cell(m.value("name", Json()));
    for (const char* form : {"original", "fused", "int8", "onednn_fused", "onednn_int8"}) {
      out += " | " + metric_cell(values.value(form, Json()), m.value("unit", ""));
    }
    out += " | " + metric_cell(m.value("drop", Json::object()).value("int8", Json()), "share");
    const Json interval = m.value("ci95_paired", Json::object()).value("int8", Json());
    out += " | " +
           (interval.is_array()
                ? metric_cell(interval[0], "share") + " to " + metric_cell(interval[1], "share")
                : "–") +
           " |\n";
  }
  if (report["accuracy"].contains("note"))
    out += "\n" + report["accuracy"]["note"].get<std::string>() + "\n";
}

void fusion_part(std::string& out, const Json& report) {
  const Json fusions = report.value("fusions", Json::array());
  out += fmt::format("\n## Fusions ({})\n", fusions.size());
  if (fusions.empty()) return;
  out += "\n| verdict | rule | output | bound used | max ULP |\n|---|---|---|---|---|\n";
  for (const Json& f : fusions) {
    const Json rounding = f.value("rounding", Json::object());
    out += "| " + cell(f.value("verdict", Json())) + " | " + cell(f.value("rule", Json())) +
           " | `" + cell(f.value("output", Json())) + "` | " +
           metric_cell(rounding.value("bound_usage", Json()), "share") + " | " +
           cell(rounding.value("max_ulp", Json())) + " |\n";
  }
}

/// The note of every batch normalization that was folded: which error its constants cannot show.
void resolution_part(std::string& out, const Json& report) {
  std::string rows;
  for (const Json& f : report.value("fusions", Json::array())) {
    const Json constants = f.value("constants", Json::object());
    for (const Json& r : constants.value("resolution", Json::array())) {
      rows += "| `" + cell(r.value("node", Json())) + "` | " +
              cell(constants.value("recipe", Json())) + " | " + cell(r.value("note", Json())) +
              " |\n";
    }
  }
  if (rows.empty()) return;
  out += "\n## What the constants cannot reveal\n\n| normalization | recipe | |\n|---|---|---|\n" +
         rows;
}

std::string effect_cells(const Json& effect) {
  return " | " + cell(effect.value("max_abs", Json())) + " | " +
         cell(effect.value("max_ulp", Json()));
}

/// What each fused instance moves, the largest first.
void bisection_part(std::string& out, const Json& report) {
  const Json b = report.value("bisection", Json::object());
  for (const Json& run : b.value("runs", Json::array())) {
    out += "\n## Bisection (" + cell(run.value("evaluation", Json())) + ")\n\n";
    if (run.contains("note")) {
      out += run["note"].get<std::string>() + "\n";
      continue;
    }
    const Json whole = run.value("whole", Json::object());
    out +=
        "All fused: max abs " + cell(whole.value("max_abs", Json())) + ", max ULP " +
        cell(whole.value("max_ulp", Json())) + ". " + cell(b.value("note", Json())) +
        "\n\n| share | verdict | rule | output | one-only: max abs | max ULP | all but this: max "
        "abs | max ULP |\n|---|---|---|---|---|---|---|---|\n";
    for (const Json& i : run.value("instances", Json::array())) {
      out += "| " + metric_cell(i.value("share", Json()), "share") + " | " +
             cell(i.value("verdict", Json())) + " | " + cell(i.value("rule", Json())) + " | `" +
             cell(i.value("output", Json())) + "`" +
             effect_cells(i.value("one_only", Json::object())) +
             effect_cells(i.value("leave_one_out", Json::object())) + " |\n";
    }
  }
}

void layer_part(std::string& out, const Json& report) {
  const Json q = report.value("quantization", Json::object());
  const Json layers = q.value("layers", Json::array());
  if (layers.empty()) return;
  out +=
      "\n## INT8, worst layers first\n\n| node | SQNR isolated (dB) | SQNR cumulative (dB) | max "
      "LSB |\n|---|---|---|---|\n";
  for (const Json& l : worst_layers(layers, 10)) {
    const Json sqnr = l.value("sqnr_db", Json::object());
    out += "| `" + cell(l.value("node", Json())) + "` | " + cell(sqnr.value("isolated", Json())) +
           " | " + cell(sqnr.value("cumulative", Json())) + " | " +
           cell(l.value("max_lsb", Json())) + " |\n";
  }
}

std::string write(const Json& report) {
  const Json verdict = report.value("verdict", Json::object());
  std::string out =
      "# Assay: " + cell(report.value("model", Json::object()).value("file", Json())) + "\n\n**" +
      cell(verdict.value("status", Json())) + "** " + cell(verdict.value("summary", Json())) +
      "\n\nData: " + cell(report.value("data", Json::object()).value("source", Json())) + "\n";
  accuracy_part(out, report);
  fusion_part(out, report);
  bisection_part(out, report);
  resolution_part(out, report);
  layer_part(out, report);
  out += "\n## Gates\n\n| result | gate | value | wanted |\n|---|---|---|---|\n";
  for (const Json& g : report.value("gates", Json::array())) {
    out += "| " + cell(g.value("result", Json())) + " | " + cell(g.value("id", Json())) + " | " +
           cell(g.value("value", Json())) + " | " + cell(g.value("op", Json())) + " " +
           cell(g.value("limit", Json())) + " |\n";
  }
  return out;
}

const RegisterExporter registered{{.file = "report.md", .write = write}};

}  // namespace
}  // namespace assay::markdown_report_exporter
