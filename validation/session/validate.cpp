#include "validation/session/validate.h"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "runtime/file.h"
#include "runtime/free_memory.h"
#include "runtime/json_fields.h"
#include "runtime/numeric/parallel.h"
#include "validation/bisect/bisect.h"
#include "validation/certificate/alignment_map.h"
#include "validation/certificate/certify.h"
#include "validation/certificate/input_types.h"
#include "validation/gates.h"
#include "validation/report/exporter.h"
#include "validation/session/accuracy.h"
#include "validation/session/baseline.h"
#include "validation/session/batch.h"
#include "validation/session/data.h"
#include "validation/session/forms.h"
#include "validation/session/loss_causes.h"
#include "validation/session/machine.h"
#include "validation/session/metric_command.h"
#include "validation/session/report_parts.h"
#include "validation/session/run_samples.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

std::string task_output(const Graph& g, const TaskSpec& task) {
  if (g.outputs().empty()) throw Error({.what = "the model has no output"});
  if (task.output.empty()) return g.name(g.outputs()[0]);
  const auto v = g.find_value(task.output);
  if (v && g.is_output(*v)) return task.output;
  throw Error({.what = "the task reads an output that the model does not have",
               .got = "'" + task.output + "'",
               .expected = "'" + g.name(g.outputs()[0]) + "'"});
}

Json data_json(const ValidateOptions& o, const Dataset& data, std::int64_t count,
               std::int64_t batch) {
  Json d{{"source", data.info().source},
         {"synthetic", data.info().synthetic},
         {"samples", count},
         {"batch", batch}};
  d["digest"] = data.info().digest;
  d["mode"] = o.fused.empty() ? o.mode : "file";
  d["seed"] = o.seed;
  if (data.info().synthetic)
    d["note"] = "Synthetic inputs: agreement and numerics are measured, task accuracy is not.";
  return d;
}

std::vector<LayerLoss> study_layers(const Forms& forms, const Dataset& data,
                                    const ValidateOptions& o, const Progress& progress) {
  if (!forms.lowered) return {};
  const std::int64_t count = std::min(o.layer_samples, data.size());
  auto program = kernels::Program::compile(forms.lowered->graph, shapes_of(data.load(0).inputs));
  LayerStudy study(forms.original, *forms.lowered, &program);
  for (std::int64_t i = 0; i < count; ++i) {
    progress("INT8 loss per layer", i, count);
    study.add(data.load(i).inputs);
  }
  return study.layers();
}

/// A program on these feeds, run once.
kernels::Program warm_program(const Graph& g, const Feeds& feeds) {
  auto program = kernels::Program::compile(g, shapes_of(feeds));
  program.bind_inputs(feeds);
  program.execute();
  return program;
}

/// What oneDNN's kernels take: each fusion before and after, each layer against the roofline.
void add_kernel_times(Json& performance, const Forms& forms, const Dataset& data) {
  constexpr int rounds = 11;
  const Feeds feeds = data.load(0).inputs;
  auto unfused = warm_program(forms.original, feeds), fused = warm_program(forms.fused, feeds);
  kernels::Program* const both[] = {&unfused, &fused};
  const auto times = bench::time_layers(both, rounds);
  performance["fusions"] = fusion_times_json(times[0], times[1], forms.log);
  const bench::Roofline roofline = bench::measure_roofline(num_threads());
  performance["roofline"] = {{"f32_gflops", roofline.f32_gflops},
                             {"int8_gops", roofline.int8_gops},
                             {"gbytes_per_s", roofline.gbytes}};
  performance["layers"] = layer_times_json(times[1], "fused", roofline);
  if (!forms.lowered) return;
  auto int8 = warm_program(forms.lowered->graph, feeds);
  kernels::Program* const alone[] = {&int8};
  for (Json& row : layer_times_json(bench::time_layers(alone, rounds)[0], "int8", roofline))
    performance["layers"].push_back(std::move(row));
}

/// The certificates, also in the report; with --bisect what each instance moves.
CertifyResult judge_fusions(Json& report, const Forms& forms, const std::vector<Feeds>& samples,
                            const ValidateOptions& o, const Progress& progress) {
  progress("judging fusions", 0, 0);
  const CertifyOptions options{
      .samples = samples, .seed = o.seed, .map = read_alignment_map(o.map)};
  const Comparison both = compare_graphs(forms.original, forms.fused,
                                         forms.fused_given ? nullptr : &forms.log, options);
  CertifyResult certified = certify(both, options);
  report["fusions"] = Json::array();
  for (const FusionCertificate& c : certified.fusions) report["fusions"].push_back(to_json(c));
  if (!o.bisect) return certified;
  const auto runs = bisect(both, certified.fusions,
                           {.samples = samples, .progress = [&](std::int64_t i, std::int64_t n) {
                              progress("bisecting fusions", i, n);
                            }});
  report["bisection"] = to_json(runs, static_cast<std::int64_t>(samples.size()));
  return certified;
}

Json coverage_part(const CertifyResult& certified, const ValidateOptions& o, std::int64_t count,
                   std::int64_t have) {
  Json c;
  c["samples"] = count;
  c["samples_not_used"] = have - count;
  c["fusions"] = certified.coverage;
  c["certified_on_samples"] = o.certify_samples;
  c["layers_measured_on_samples"] = std::min(o.layer_samples, have);
  return c;
}

/// Everything of the report that follows from the records; used for a whole run, a shard and a
/// merge alike.
void finish_report(Json& report, const std::vector<SampleRecord>& records, const Task& task,
                   const std::string& output, const nlohmann::json& gates,
                   const ValidateOptions& o) {
  const Json scores = report["accuracy"].value("scores", Json());
  report["accuracy"] = accuracy_json(records, task, output);
  if (!scores.is_null()) {
    add_scores(report["accuracy"], scores);
    report["accuracy"]["scores"] = scores;
  }
  report["histograms"] = histograms_json(records);
  report["gates"] = evaluate_gates(gates, report);
  if (!o.baseline.empty()) {
    report["baseline"] = compare_baseline(report, o.baseline);
    if (report["baseline"]["state"] == "changed") {
      report["gates"].push_back({{"id", "baseline"},
                                 {"op", "is"},
                                 {"limit", "not worse"},
                                 {"value", "changed"},
                                 {"result", "fail"},
                                 {"note", "see baseline.changes"}});
    }
  }
  report["verdict"] = verdict_json(report, o);
}

ValidateResult write_report(const Json& report, const std::vector<SampleRecord>& records,
                            const fs::path& out) {
  write_folder(out, [&](const fs::path& folder) {
    for (const Exporter* e : all_exporters()) write_file(folder / e->file, e->write(report));
    std::string lines;
    for (const SampleRecord& r : records) lines += to_json(r).dump() + "\n";
    write_file(folder / "samples.jsonl", lines);
  });
  return {report["verdict"]["exit_code"].get<int>(), summary_table(report)};
}

/// What identifies a run for --resume: everything but the place of its output.
std::string run_key(const ValidateOptions& o, const Json& report) {
  Json key{report["model"], report["data"], o.profile, o.scheme, o.shard,
           o.shards,        o.skip,         o.target,  o.product};
  for (const fs::path& p : {o.fused, o.quantized, o.config})
    key.push_back(p.empty() ? "" : sha256_of_file(p));
  return sha256(key.dump());
}

std::vector<SampleRecord> in_order(const std::map<std::int64_t, SampleRecord>& records) {
  std::vector<SampleRecord> list;
  for (const auto& [index, r] : records) list.push_back(r);
  return list;
}

}  // namespace

ValidateResult validate(const ValidateOptions& o, const Progress& progress) {
  check_writable_folder(o.out);
  const nlohmann::json gates = read_gates(o.gates);
  if (!o.metric_cmd.empty() && o.shards > 1)
    throw Error({.what = "--metric-cmd needs all samples in one run", .where = "--shard"});
  Forms forms = make_forms(o, [&](const std::string& text) { progress(text, 0, 0); });
  const DatasetPtr data = open_data(o, forms.original);
  const std::int64_t count = o.limit > 0 ? std::min(o.limit, data->size()) : data->size();
  const Task& task = find_task(data->info().task.kind);
  const std::string output = task_output(forms.original, data->info().task);
  const std::int64_t batch = usable_batch(forms.original, data->load(0).inputs, data->info().batch);

  Json report{{"schema", "assay-report/1"}, {"tool", tool_json()}, {"machine", machine_json()}};
  report["model"] = model_json(o, forms.original);
  report["data"] = data_json(o, *data, count, batch);

  const CertifyResult certified =
      judge_fusions(report, forms, first_samples(*data, o.certify_samples), o, progress);
  release_free_memory();
  report["declined"] = declined_json(forms.log);
  report["quantization"] = quantization_json(forms, o, study_layers(forms, *data, o, progress));
  // Each layer is evaluated once per cause, in float64: a few samples tell the shares.
  const std::int64_t split = std::min({o.layer_samples, data->size(), std::int64_t{4}});
  const auto splitting = [&](std::int64_t i, std::int64_t n) {
    progress("INT8 loss by cause", i, n);
  };
  add_causes(report["quantization"], split_losses(forms, *data, split, splitting), split);
  // Nothing below reads them, and their weights would stay beside the programs of all forms.
  forms.quantized.reset();
  forms.quantized_from.reset();
  release_free_memory();
  report["accuracy"] = Json::object();
  report["histograms"] = Json::object();
  report["performance"] = Json::object();
  report["coverage"] = coverage_part(certified, o, count, data->size());

  std::vector<Runner> runners = make_runners(forms, o);
  if (!o.metric_cmd.empty())
    report["accuracy"]["scores"] = run_metric_command(o.metric_cmd, *data, runners, count);
  if (!o.scores.empty()) report["accuracy"]["scores"] = Json(read_json(o.scores));
  Stopwatch watch;
  const fs::path clean = o.out.filename().empty() ? o.out.parent_path() : o.out;
  RecordFile file(clean.parent_path() / ("." + clean.filename().string() + ".records"),
                  run_key(o, report), o.resume);
  const SamplePlan plan{.count = count,
                        .batch = batch,
                        .shard = o.shard,
                        .shards = o.shards,
                        .task = &task,
                        .output = output};
  run_samples(*data, runners, plan, file, watch, [&](std::int64_t done, std::int64_t total) {
    progress("running all forms", done, total);
  });
  runners.clear();  // frees their programs before others are compiled
  release_free_memory();
  report["performance"]["runs"] = watch.runs_json();
  report["performance"]["batch"] = batch;
  add_kernel_times(report["performance"], forms, *data);
  report["performance"]["note"] =
      "Times of this run while the reference also works: runs per batch, layers and fusions for "
      "one "
      "sample. For a measurement use assay bench.";
  if (o.shards > 1) report["shard"] = {{"index", o.shard}, {"of", o.shards}};

  const auto records = in_order(file.records());
  if (records.empty()) throw Error({.what = "this shard has no samples", .where = "--shard"});
  finish_report(report, records, task, output, gates, o);
  if (!o.update_baseline.empty())
    write_file(o.update_baseline, make_baseline(report).dump(1) + "\n");
  const ValidateResult result = write_report(report, records, o.out);
  file.remove();
  return result;
}

ValidateResult merge_shards(const std::vector<fs::path>& parts, const fs::path& out,
                            const fs::path& gates) {
  check_writable_folder(out);
  std::map<std::int64_t, SampleRecord> records;
  Json report;
  for (const fs::path& part : parts) {
    const Json own = Json::parse(read_file(part / "report.json"), nullptr, false);
    if (own.is_discarded() || own.value("schema", "") != "assay-report/1")
      throw Error({.what = "not a report", .where = (part / "report.json").string()});
    if (report.is_null()) report = own;
    for (const char* key : {"model", "data", "fusions", "quantization"}) {
      if (own[key] != report[key])
        throw Error({.what = std::string("shards are of different runs: ") + key + " differs",
                     .where = part.string()});
    }
    const std::string text = read_file(part / "samples.jsonl");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      SampleRecord r = record_from_json(nlohmann::json::parse(text.substr(at, end - at)));
      if (!records.emplace(r.index, r).second)
        throw Error({.what = "sample " + std::to_string(r.index) + " is in two shards",
                     .where = part.string()});
      at = end + 1;
    }
  }
  const auto want = report["data"]["samples"].get<std::int64_t>();
  if (static_cast<std::int64_t>(records.size()) != want) {
    throw Error({.what = "shards do not cover the data",
                 .got = std::to_string(records.size()) + " samples",
                 .expected = std::to_string(want)});
  }
  report.erase("shard");
  const std::string kind = report["accuracy"]["task"].get<std::string>();
  const std::string output = report["accuracy"]["output"].get<std::string>();
  const auto all = in_order(records);
  finish_report(report, all, find_task(kind), output, read_gates(gates), {});
  return write_report(report, all, out);
}

std::string summary_table(const Json& report) {
  std::string text = fmt::format("{:<16}{:>10}{:>12}   {}\n", "form", "top-1", "agreement",
                                 "worst layer or verdicts");
  const Json& accuracy = report["accuracy"];
  const Json top1 = accuracy.value("top1", Json::object());
  const Json agreement = accuracy.value("agreement", Json::object());
  const auto share = [](const Json& v) {
    return v.is_number() ? fmt::format("{:.2f} %", 100 * v.get<double>()) : std::string("-");
  };
  std::map<std::string, int> verdicts;
  for (const Json& f : report["fusions"]) ++verdicts[f["verdict"].get<std::string>()];
  std::string fusion_text;
  for (const auto& [v, n] : verdicts)
    fusion_text += fmt::format("{}{} x {}", fusion_text.empty() ? "" : ", ", n, v);
  std::string worst;
  double lowest = INFINITY;
  for (const Json& l : report["quantization"].value("layers", Json::array())) {
    const Json& s = l["sqnr_db"]["cumulative"];
    if (!s.is_number() || s.get<double>() >= lowest) continue;
    lowest = s.get<double>();
    worst = fmt::format("{} {:.1f} dB", l["node"].get<std::string>(), lowest);
  }
  for (const char* form :
       {"original", "fused", "int8", "onednn_unfused", "onednn_fused", "onednn_int8"}) {
    if (std::string(form) != "original" && !agreement.contains(form)) continue;
    const std::string note = std::string(form) == "fused"  ? fusion_text
                             : std::string(form) == "int8" ? worst
                                                           : "";
    text += fmt::format(
        "{:<16}{:>10}{:>12}   {}\n", form, share(top1.value(form, Json())),
        std::string(form) == "original" ? "-" : share(agreement.value(form, Json())), note);
  }
  text += fmt::format("verdict: {} - {}\n", report["verdict"]["status"].get<std::string>(),
                      report["verdict"]["summary"].get<std::string>());
  return text;
}

}  // namespace assay
