#include "validation/certificate/kernel_check.h"

#include <nlohmann/json.hpp>

#include "kernels/program.h"
#include "validation/certificate/difference.h"
#include "validation/certificate/input_types.h"
#include "validation/certificate/radius.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Json compare(const Region& r, const std::vector<Feeds>& samples) {
  auto program =
      kernels::Program::compile(with_input_types(r.fused, samples[0]), shapes_of(samples[0]));
  Difference all;
  for (const Feeds& feeds : samples) {
    const Bounded exact = evaluate_bounded(r.fused, feeds, Precision::f64, false);
    const Bounded loose = evaluate_bounded(r.fused, feeds, Precision::f32, true);
    if (!exact.radius || !loose.radius)
      return {{"note", "no bound for " + (loose.radius ? exact.missing : loose.missing)}};
    all.merge(difference(exact.value, program.run(feeds).at(r.output),
                         sum_of({to_doubles(*loose.radius), to_doubles(*exact.radius)})));
  }
  Json j{{"max_abs", json_number(all.max_abs)},
         {"max_ulp", json_number(all.max_ulp)},
         {"bound_usage", json_number(all.usage)},
         {"inside", all.usage <= 1}};
  for (const auto& step : program.steps()) {
    if (step.value == r.output) j["kernel"] = step.kernel;
  }
  return j;
}

}  // namespace

Json check_kernels(const Region& r, const std::vector<Feeds>& samples) {
  try {
    return compare(r, samples);
  } catch (const Error& e) {
    return {{"note", e.what()}};
  }
}

}  // namespace assay
