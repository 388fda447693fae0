// Exporters: one report, several files. One file per exporter in validation/report/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace assay {

struct Exporter {
  std::string file;  ///< "report.html"
  /// The bytes of the file; the report follows docs/schemas/assay-report-1.json.
  std::string (*write)(const nlohmann::ordered_json& report);
};

struct RegisterExporter {
  explicit RegisterExporter(Exporter exporter);
};

/// By file name.
std::vector<const Exporter*> all_exporters();

}  // namespace assay
