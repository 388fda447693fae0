#include "validation/session/forms.h"

#include <algorithm>

#include "quant/target.h"
#include "runtime/executor.h"
#include "runtime/file.h"
#include "runtime/onnx/reader.h"
#include "validation/programs.h"

namespace assay {
namespace {

QuantConfig config_of(const ValidateOptions& o) {
  QuantConfig config;
  if (!o.config.empty()) config = parse_quant_config(read_file(o.config), o.config.string());
  if (!o.target.empty()) config.target = find_front_end(o.target).name;
  if (!o.product.empty()) config.product = o.product;
  if (o.scheme.empty()) return config;
  const auto scheme = parse_scheme(o.scheme);
  if (!scheme)
    throw Error({.what = "unknown scheme",
                 .where = "--scheme",
                 .got = o.scheme,
                 .expected = scheme_names()});
  config.scheme = *scheme;
  return config;
}

/// The data that calibration may see: the calibration split; a synthetic fill when there is no data
/// at all.
DatasetPtr calibration_data(const ValidateOptions& o, const Graph& g) {
  if (o.data.empty())
    return synthetic_dataset(g, o.shapes, o.synthetic_samples, o.seed + 1'000'000);
  if (has_split(o.data, "calibration") && o.split != "calibration")
    return open_dataset(o.data, "calibration", g);
  if (o.force) return open_dataset(o.data, o.split, g);
  return nullptr;
}

CalibrationTable calibrate(const Graph& g, const Dataset& data, const QuantConfig& config,
                           const ValidateOptions& o) {
  CalibrationOptions options{.algorithm = config.algorithm};
  options.parameters = {.scheme = config.scheme, .percentile = config.percentile};
  options.values = values_to_calibrate(g);
  Calibrator calibrator(options);
  const Executor executor(g, Precision::f32);
  const auto run = run_on(executor);
  const std::int64_t count =
      o.calibration_samples > 0 ? std::min(o.calibration_samples, data.size()) : data.size();
  const std::int64_t batch = data.info().batch;
  for (std::int64_t i = 0; i < count; i += batch) {
    calibrator.feed(load_batch(data, i, std::min(i + batch, count)).inputs, run);
  }
  return calibrator.finish();
}

/// The original with the folds of the mode but not its fused operators: what is quantized. Every
/// value keeps the original's name, so that each layer's loss can be measured, and ONNX tools see
/// standard operators.
Graph folded(const Graph& original, const ValidateOptions& o) {
  std::string rules;
  for (const Rewrite* r : rules_of(o.mode)) {
    if (r->stage == Stage::clean || r->stage == Stage::fold)
      rules += (rules.empty() ? "" : ",") + r->name;
  }
  return rules.empty() ? original : fuse(original, {.mode = rules, .skip = o.skip}).graph;
}

void make_int8(Forms& forms, const ValidateOptions& o) {
  if (!o.quantized.empty()) {
    forms.quantized = QuantizeResult{.graph = read_onnx(o.quantized), .report = {}};
    forms.quantized_given = true;
    forms.quantized_from = folded(forms.original, o);
    forms.lowered = lower(forms.quantized->graph, {.profile = o.profile});
    return;
  }
  const DatasetPtr data = calibration_data(o, forms.original);
  if (!data) {
    forms.no_int8 =
        "no calibration split in the data (calibrating on the test split is refused; --force "
        "allows it)";
    return;
  }
  const QuantConfig config = config_of(o);
  const Graph base = forms.fused_given ? forms.original : folded(forms.original, o);
  forms.table = calibrate(base, *data, config, o);
  forms.quantized = quantize(base, *forms.table, config, o.shapes);
  forms.lowered = lower(forms.quantized->graph, {.profile = o.profile});
  forms.quantized_from = base;
}

}  // namespace

Forms make_forms(const ValidateOptions& o, const std::function<void(const std::string&)>& say) {
  Forms forms;
  say("reading " + o.model.string());
  forms.original = read_onnx(o.model);
  if (o.fused.empty()) {
    say("fusing, mode " + o.mode);
    FusionResult result = fuse(forms.original, {.mode = o.mode, .skip = o.skip});
    forms.fused = std::move(result.graph);
    forms.log = std::move(result.log);
  } else {
    say("reading " + o.fused.string());
    forms.fused = read_onnx(o.fused);
    forms.fused_given = true;
  }
  say("calibrating and quantizing");
  make_int8(forms, o);
  return forms;
}

namespace {

using Outputs = std::map<std::string, Tensor>;

Runner on_reference(const std::string& form, const Graph& g) {
  const auto executor = std::make_shared<Executor>(g, Precision::cr);
  return {form, "reference", [executor](const Feeds& feeds, const std::set<std::string>& also) {
            return executor->run(feeds, nullptr, also);
          }};
}

Runner on_kernels(const std::string& form, const Graph& g) {
  const auto programs = std::make_shared<Programs>(g);
  return {form, "onednn", [programs](const Feeds& feeds, const std::set<std::string>& also) {
            kernels::Program& program = programs->for_shapes_of(feeds);
            auto results = program.run(feeds, also);
            program.rest();  // the other forms run next
            return results;
          }};
}

}  // namespace

std::vector<Runner> make_runners(const Forms& forms, const ValidateOptions&) {
  std::vector<Runner> runners{on_reference("original", forms.original),
                              on_reference("fused", forms.fused)};
  if (forms.lowered) runners.push_back(on_reference("int8", forms.lowered->graph));
  runners.push_back(on_kernels("onednn_unfused", forms.original));
  runners.push_back(on_kernels("onednn_fused", forms.fused));
  if (forms.lowered) runners.push_back(on_kernels("onednn_int8", forms.lowered->graph));
  return runners;
}

}  // namespace assay
