// report.json: the report itself.
#include <nlohmann/json.hpp>

#include "validation/report/exporter.h"

namespace assay::json_report_exporter {
namespace {

std::string write(const nlohmann::ordered_json& report) { return report.dump(1) + "\n"; }

const RegisterExporter registered{{.file = "report.json", .write = write}};

}  // namespace
}  // namespace assay::json_report_exporter
