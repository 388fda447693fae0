// The networks of the self-test: each file in models/ registers its own.
#pragma once

#include <string>
#include <vector>

#include "runtime/op.h"

namespace assay::selftest {

struct Model {
  std::string name;
  /// "cr", "f32", "f64", "dd", or numeric profiles of INT8 networks (which are evaluated under
  /// `cr`). A function, because profiles are not known yet while files register themselves.
  std::vector<std::string> (*evaluations)() = nullptr;
  /// The network, for one of its evaluations.
  Graph (*make)(const std::string& evaluation) = nullptr;
};

struct RegisterModel {
  explicit RegisterModel(Model model);
};

/// Every registered network, by name.
std::vector<Model> all_models();

/// What float networks are evaluated under.
std::vector<std::string> float_evaluations();

}  // namespace assay::selftest
