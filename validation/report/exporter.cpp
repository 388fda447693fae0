#include "validation/report/exporter.h"

#include <algorithm>

namespace assay {
namespace {

std::vector<Exporter>& registry() {
  static std::vector<Exporter> exporters;
  return exporters;
}

}  // namespace

RegisterExporter::RegisterExporter(Exporter exporter) { registry().push_back(std::move(exporter)); }

std::vector<const Exporter*> all_exporters() {
  std::vector<const Exporter*> list;
  for (const Exporter& e : registry()) list.push_back(&e);
  std::sort(list.begin(), list.end(),
            [](const Exporter* a, const Exporter* b) { return a->file < b->file; });
  return list;
}

}  // namespace assay
