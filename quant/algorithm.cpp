#include "quant/algorithm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay {
namespace {

std::map<std::string, CalibrationAlgorithm>& registry() {
  static std::map<std::string, CalibrationAlgorithm> algorithms;
  return algorithms;
}

}  // namespace

RegisterAlgorithm::RegisterAlgorithm(CalibrationAlgorithm algorithm) {
  const std::string name = algorithm.name;
  registry()[name] = std::move(algorithm);
}

const CalibrationAlgorithm& find_algorithm(const std::string& name) {
  const auto it = registry().find(name);
  if (it != registry().end()) return it->second;
  throw Error({.what = "unknown calibration algorithm",
               .got = "'" + name + "'",
               .expected = fmt::format("{}", fmt::join(algorithm_names(), ", "))});
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const auto& [name, algorithm] : registry()) names.push_back(name);
  return names;
}

}  // namespace assay
