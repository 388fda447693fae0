// assay bench: latency of one form of a model on one back end, per layer, outputs checked before
// anything is timed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/isa.h"
#include "runtime/file.h"
#include "runtime/npy.h"
#include "runtime/numeric/parallel.h"
#include "runtime/onnx/reader.h"
#include "validation/bench/forms.h"
#include "validation/bench/roofline.h"
#include "validation/bench/runner.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"

namespace assay::bench::bench_command {
namespace {

using Json = nlohmann::json;
using kernels::StepInfo;

struct BenchCommand {
  std::string model, isa, baseline, out;
  std::string precision = "f32";
  FormOptions form = {};
  RunnerOptions runner = {};
  TimingOptions timing = {};
  InputOptions input = {};
  std::int64_t batch = 1;
  double tolerance = 0.05;
  bool json = false, quiet = false, serve = false, no_check = false, no_layers = false,
       no_tune = false;
};

struct Result {
  std::vector<double> samples = {};
  LatencySummary summary = {};
  std::vector<LayerTime> layers = {};
  Roofline roofline = {};
  std::optional<StepCheck> check = {};
  std::vector<std::string> notes = {};
  std::vector<std::string> synthetic = {};
  std::int64_t arena_bytes = 0;
};

/// Inputs whose only open size is the first get it from --batch.
void fill_batch(const Graph& g, std::int64_t batch, InputOptions& input) {
  for (const ValueId v : g.inputs()) {
    const auto& dims = g.value(v).type.dims;
    const std::string prefix = g.name(v) + "=";
    const bool given = std::any_of(input.shapes.begin(), input.shapes.end(),
                                   [&](const std::string& s) { return s.rfind(prefix, 0) == 0; });
    if (given || !dims || dims->empty() || (*dims)[0].size >= 0) continue;
    std::string text = prefix + std::to_string(batch);
    bool fixed = true;
    for (std::size_t i = 1; i < dims->size(); ++i) {
      fixed = fixed && (*dims)[i].size >= 0;
      text += "x" + std::to_string((*dims)[i].size);
    }
    if (fixed) input.shapes.push_back(text);
  }
}

Json step_json(const LayerTime& l, const Roofline& roof) {
  Json j{{"node", l.step.node},
         {"value", l.step.value},
         {"op", l.step.op},
         {"kernel", l.step.kernel},
         {"ms", l.ms},
         {"macs", l.step.macs},
         {"bytes", l.step.bytes},
         {"gflops", rate(l)},
         {"layout", to_string(l.step.layout)}};
  if (l.step.macs > 0) j["roofline_share"] = share_of_roof(l, roof);
  if (l.step.arithmetic) j["arithmetic"] = to_string(*l.step.arithmetic);
  if (!l.step.reason.empty()) j["reason"] = l.step.reason;
  return j;
}

Json result_json(const BenchCommand& c, const Result& r) {
  const LatencySummary& s = r.summary;
  Json j{{"schema", "assay-bench/1"},
         {"model", c.model},
         {"form", c.form.form},
         {"backend", c.runner.backend},
         {"precision", c.precision},
         {"threads", c.runner.threads},
         {"isa", kernels::effective_isa()},
         {"cold", c.timing.cold},
         {"samples", r.samples},
         {"min_ms", s.min},
         {"median_ms", s.median},
         {"mean_ms", s.mean},
         {"p90_ms", s.p90},
         {"p99_ms", s.p99},
         {"ci95_ms", {s.low, s.high}},
         {"arena_bytes", r.arena_bytes},
         {"synthetic", r.synthetic},
         {"notes", r.notes}};
  j["roofline"] = {{"f32_gflops", r.roofline.f32_gflops},
                   {"int8_gops", r.roofline.int8_gops},
                   {"gbytes_per_s", r.roofline.gbytes}};
  if (r.check) {
    j["check"] = {{"passed", r.check->passed},   {"steps", r.check->judged},
                  {"bit_exact", r.check->exact}, {"unjudged", r.check->unjudged},
                  {"worst", r.check->worst},     {"share_of_bound", r.check->share}};
  }
  j["steps"] = Json::array();
  for (const LayerTime& l : r.layers) j["steps"].push_back(step_json(l, r.roofline));
  return j;
}

std::string shortened(const std::string& s, std::size_t width) {
  return s.size() <= width ? s : "..." + s.substr(s.size() - width + 3);
}

void print_layers(const Result& r) {
  double total = 0;
  for (const LayerTime& l : r.layers) total += l.ms;
  fmt::print("\n{:<32} {:<18} {:<34} {:>8} {:>6} {:>9} {:>6}\n", "layer", "operator", "kernel",
             "ms", "share", "GFLOP/s", "roof");
  for (const LayerTime& l : r.layers) {
    const bool counted = l.step.macs > 0;
    fmt::print("{:<32} {:<18} {:<34} {:>8.4f} {:>5.1f}% {:>9} {:>6}\n",
               shortened(l.step.node.empty() ? l.step.value : l.step.node, 32),
               shortened(l.step.op, 18), shortened(l.step.kernel, 34), l.ms,
               total > 0 ? 100 * l.ms / total : 0.0, counted ? fmt::format("{:.1f}", rate(l)) : "",
               counted ? fmt::format("{:.0f}%", 100 * share_of_roof(l, r.roofline)) : "");
  }
  for (const LayerTime& l : r.layers) {
    if (!l.step.reason.empty()) {
      fmt::print("reference: {} ({}): {}\n", l.step.node, l.step.op, l.step.reason);
    }
  }
}

void print_result(const BenchCommand& c, const Result& r) {
  const LatencySummary& s = r.summary;
  for (const std::string& note : r.notes) fmt::print("note: {}\n", note);
  for (const std::string& name : r.synthetic) {
    fmt::print("note: input '{}' is a synthetic fill (seed {})\n", name, c.input.seed);
  }
  if (r.check) {
    fmt::print(
        "checked {} steps on their own inputs before timing: {} bit-exact, the others at most "
        "{:.2g} of their bound ({}){}\n",
        r.check->judged, r.check->exact, r.check->share,
        r.check->worst.empty() ? "none" : r.check->worst,
        r.check->unjudged > 0 ? fmt::format("; {} without a bound", r.check->unjudged) : "");
  }
  fmt::print("{} {} on {}, {} threads, {}{}\n", c.model, c.form.form, c.runner.backend,
             c.runner.threads, kernels::effective_isa(), c.timing.cold ? ", cold caches" : "");
  fmt::print(
      "median {:.3f} ms  95% interval [{:.3f}, {:.3f}]  min {:.3f}  P90 {:.3f}  P99 {:.3f}  ({} "
      "runs)\n",
      s.median, s.low, s.high, s.min, s.p90, s.p99, s.samples);
  fmt::print("this machine: {:.0f} GFLOP/s float32, {:.0f} GOP/s int8, {:.1f} GB/s\n",
             r.roofline.f32_gflops, r.roofline.int8_gops, r.roofline.gbytes);
  if (!r.layers.empty()) print_layers(r);
}

void require_passed(const StepCheck& check) {
  if (check.passed) return;
  throw Error(
      {.what = "a step computes something else than the reference: nothing was timed",
       .where = check.worst,
       .got = fmt::format("{:.3g} times the bound", check.share),
       .expected = "integer steps equal in every bit, float steps inside the rounding radius",
       .kind = ErrorKind::gate_failed});
}

int layer_rounds(double median_ms) {
  return std::clamp(static_cast<int>(1500 / std::max(median_ms, 0.01)), 3, 101);
}

LatencySummary read_baseline(const std::string& path) {
  std::ifstream file(path);
  const Json j = file ? Json::parse(file, nullptr, false) : Json();
  if (!j.is_object() || !j.contains("median_ms") || !j.contains("ci95_ms")) {
    throw Error({.what = "not a result of assay bench --json",
                 .where = path,
                 .advice = "write one with --json > FILE"});
  }
  LatencySummary s;
  s.median = j.at("median_ms").get<double>();
  s.low = j.at("ci95_ms").at(0).get<double>();
  s.high = j.at("ci95_ms").at(1).get<double>();
  return s;
}

/// 0, or 6 when slower than the baseline beyond noise and tolerance.
int judge_baseline(const BenchCommand& c, const std::optional<LatencySummary>& before,
                   const Result& r, Json& j) {
  if (!before) return 0;
  const Regression found = compare_latency(r.summary, *before, c.tolerance);
  j["baseline"] = {{"file", c.baseline},
                   {"ratio", found.ratio},
                   {"allowed", found.allowed},
                   {"slower", found.slower}};
  if (!c.json && !c.quiet) {
    fmt::print("against {}: {:.3f} times, {:.3f} allowed: {}\n", c.baseline, found.ratio,
               found.allowed, found.slower ? "SLOWER" : "within noise or faster");
  }
  return found.slower ? static_cast<int>(ErrorKind::slower) : 0;
}

void save_outputs(const std::string& folder, const std::map<std::string, Tensor>& outputs) {
  write_folder(folder, [&](const std::filesystem::path& part) {
    for (const auto& [name, t] : outputs) write_npy(part / (file_name_of(name) + ".npy"), t);
  });
}

/// For each line {"ms": T}: runs for T ms, at least three times, and prints {"samples": [...]}.
int serve(Runner& runner) {
  time_runs(runner, {.warmup_ms = 200, .time_ms = 0, .least = 1});
  std::cout << R"({"ready": true})" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line, nullptr, false);
    if (!request.is_object() || !request.contains("ms")) {
      throw Error({.what = "not a request",
                   .got = "'" + line + "'",
                   .expected = R"({"ms": milliseconds})"});
    }
    std::vector<double> samples;
    const double limit = request.at("ms").get<double>();
    double spent = 0;
    while (samples.size() < 3 || spent < limit) {
      const auto start = std::chrono::steady_clock::now();
      runner.run();
      samples.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count());
      spent += samples.back();
    }
    std::cout << Json{{"samples", samples}}.dump() << std::endl;
  }
  return 0;
}

Result measure(const BenchCommand& c, const LoadedFeeds& loaded, Runner& runner) {
  Result r;
  r.synthetic = loaded.synthetic;
  runner.run();
  if (!c.no_check) r.check = runner.check();
  if (r.check) require_passed(*r.check);
  if (!c.out.empty()) save_outputs(c.out, runner.outputs());
  r.samples = time_runs(runner, c.timing);
  r.summary = summarize(r.samples);
  if (!c.no_layers) {
    r.roofline = measure_roofline(c.runner.threads);
    r.layers = runner.layers(layer_rounds(r.summary.median));
  }
  r.arena_bytes = runner.arena_bytes();
  return r;
}

int run(BenchCommand c) {
  if (!c.isa.empty()) kernels::set_isa_cap(c.isa);
  if (c.runner.threads > 0) set_num_threads(c.runner.threads);
  c.runner.threads = num_threads();
  c.runner.tune = !c.no_tune;
  c.runner.precision = *parse_precision(c.precision);
  if (c.runner.backend != "reference" && c.runner.precision != Precision::f32) {
    throw Error({.what = "--precision is the reference's",
                 .got = "--precision " + c.precision + " --backend " + c.runner.backend,
                 .expected = "--backend reference"});
  }
  c.runner.fuse_chains = c.form.form != "original";
  if (!c.out.empty()) check_writable_folder(c.out);
  std::optional<LatencySummary> before;
  if (!c.baseline.empty()) before = read_baseline(c.baseline);
  const Graph original = read_onnx(c.model);
  fill_batch(original, c.batch, c.input);
  const LoadedFeeds loaded = load_feeds(original, c.input);
  BuiltForm form = build_form(original, loaded.feeds, c.form);
  const auto runner = make_runner(form.graph, loaded.feeds, c.runner);
  if (c.serve) {
    runner->run();
    if (!c.out.empty()) save_outputs(c.out, runner->outputs());
    return serve(*runner);
  }
  Result r = measure(c, loaded, *runner);
  r.notes = form.notes;
  Json j = result_json(c, r);
  if (!c.json && !c.quiet) print_result(c, r);
  const int code = judge_baseline(c, before, r, j);
  if (c.json) std::cout << j.dump(1) << '\n';
  return code;
}

std::function<int()> setup(CLI::App& app) {
  auto c = std::make_shared<BenchCommand>();
  app.add_option("MODEL", c->model, "ONNX file")->required();
  app.add_option("--form", c->form.form, "original, fused or int8")
      ->check(CLI::IsMember({"original", "fused", "int8"}));
  app.add_option("--mode", c->form.fusion_mode, "fusion mode of the fused form");
  app.add_option("--mid-rounding", c->form.mid_rounding,
                 "of an int8 graph: keep the rounding between convolution and addition, or drop it "
                 "(changes results, E3)")
      ->check(CLI::IsMember({"keep", "drop"}));
  app.add_option("--backend", c->runner.backend, "onednn or reference")
      ->check(CLI::IsMember({"onednn", "reference"}));
  app.add_option("--precision", c->precision,
                 "of the reference: f32 (canonical order), f64, dd or cr (correctly rounded)")
      ->check(CLI::IsMember({"f32", "f64", "dd", "cr"}));
  app.add_option("--batch", c->batch, "first size of inputs that leave it open")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", c->runner.threads, "threads; 0: all")->check(CLI::NonNegativeNumber);
  app.add_option("--isa", c->isa,
                 "cap of the kernels' instruction set, named as in ONEDNN_MAX_CPU_ISA");
  add_input_options(app, c->input);
  app.add_option("--time", c->timing.time_ms, "milliseconds to measure (at least 20 runs)");
  app.add_flag("--cold", c->timing.cold,
               "stream a large buffer through the caches before every run");
  app.add_flag("--no-tune", c->no_tune,
               "take each kernel's default instead of timing the candidates");
  app.add_option("--tune-cache", c->runner.tune_cache, "JSON file that keeps the chosen kernels");
  app.add_flag("--no-check", c->no_check, "do not compare the outputs with the reference first");
  app.add_flag("--no-layers", c->no_layers, "no per-layer table and roofline");
  app.add_option("--baseline", c->baseline,
                 "result of an earlier --json run; exit 6 when slower beyond noise");
  app.add_option("--tolerance", c->tolerance,
                 "slow-down that passes on top of the noise, default 0.05");
  app.add_option("-o,--output", c->out, "folder for the outputs as .npy");
  app.add_flag("--json", c->json, "machine output on standard output");
  app.add_flag("--quiet", c->quiet, "print nothing but errors");
  app.add_flag("--serve", c->serve, "time on request: see bench/README.md");
  app.footer("Example: assay bench resnet50.onnx --form fused --threads 2 --batch 1");
  return [c] { return run(*c); };
}

const RegisterCommand registered{
    {"bench", "latency of each form and back end, per layer; checks outputs first", setup}};

}  // namespace
}  // namespace assay::bench::bench_command
