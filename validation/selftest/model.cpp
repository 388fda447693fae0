#include "validation/selftest/model.h"

#include <algorithm>

namespace assay::selftest {
namespace {

std::vector<Model>& registry() {
  static std::vector<Model> models;
  return models;
}

}  // namespace

RegisterModel::RegisterModel(Model model) { registry().push_back(std::move(model)); }

std::vector<Model> all_models() {
  std::vector<Model> sorted = registry();
  std::ranges::sort(sorted, {}, &Model::name);
  return sorted;
}

std::vector<std::string> float_evaluations() { return {"cr", "f32", "f64", "dd"}; }

}  // namespace assay::selftest
