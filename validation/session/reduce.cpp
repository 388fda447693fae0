#include "validation/session/reduce.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "fusion/pipeline.h"
#include "runtime/file.h"
#include "runtime/onnx/reader.h"
#include "validation/bisect/case_files.h"
#include "validation/certificate/alignment_map.h"
#include "validation/session/data.h"

namespace assay {
namespace {

/// Everything judged.
struct Judged {
  Comparison both;
  CertifyResult result;
  std::vector<Feeds> samples;
  std::optional<RewriteLog> log;  ///< of Assay's own fusion
};

/// The kernels of instances that are not wrong themselves.
void judge_kernels(Judged& j, const KernelCheck& check) {
  const auto feeds = region_feeds(j.both, j.samples);
  for (std::size_t i = 0; i < j.result.fusions.size(); ++i) {
    FusionCertificate& c = j.result.fusions[i];
    if (c.verdict != "E5" && c.verdict != "E4")
      c.onednn = check(j.both.alignment.regions[i], feeds[i]);
  }
}

Judged judge_all(const ValidateOptions& o, const ReduceTarget& target, const Progress& progress) {
  progress("reading " + o.model.string(), 0, 0);
  const Graph original = read_onnx(o.model);
  Judged j;
  Graph fused;
  if (o.fused.empty()) {
    FusionResult own = fuse(original, {.mode = o.mode, .skip = o.skip});
    fused = std::move(own.graph);
    j.log = std::move(own.log);
  } else {
    fused = read_onnx(o.fused);
  }
  j.samples = first_samples(*open_data(o, original), o.certify_samples);
  const CertifyOptions options{
      .samples = j.samples, .kernels = false, .seed = o.seed, .map = read_alignment_map(o.map)};
  progress("judging fusions", 0, 0);
  j.both = compare_graphs(original, fused, j.log ? &*j.log : nullptr, options);
  j.result = certify(j.both, options);
  if (target.kernel_check) judge_kernels(j, target.kernel_check);
  return j;
}

/// What counts as a failure.
struct Wanted {
  bool strict, kernels;
};

bool fails(const FusionCertificate& c, const Wanted& wanted) {
  if (wanted.kernels) return only_kernel_fails(c);
  return c.verdict == "E5" || c.verdict == "E4" || (wanted.strict && c.verdict == "U");
}

/// Index of the instance to reduce; -1 when none fails.
std::int64_t chosen(const CertifyResult& r, const std::string& output, const Wanted& wanted) {
  std::string known;
  for (const char* verdict : {"E5", "E4", "U", "kernel"}) {
    for (std::size_t i = 0; i < r.fusions.size(); ++i) {
      const FusionCertificate& c = r.fusions[i];
      if ((wanted.kernels ? "kernel" : c.verdict) != verdict || !fails(c, wanted)) continue;
      if (output.empty() || c.output == output) return static_cast<std::int64_t>(i);
      known += (known.empty() ? "'" : ", '") + c.output + "'";
    }
  }
  if (output.empty()) return -1;
  throw Error({.what = "no failing instance computes this value",
               .where = "--output",
               .got = "'" + output + "'",
               .expected = known.empty() ? "nothing fails" : known});
}

std::string verdict_counts(const CertifyResult& r) {
  std::map<std::string, int> count;
  for (const FusionCertificate& c : r.fusions) ++count[c.verdict];
  std::string text;
  for (const auto& [verdict, n] : count)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", n, verdict);
  return text.empty() ? "no differences" : text;
}

std::string nothing_fails(const CertifyResult& r) {
  std::string text =
      fmt::format("nothing fails: {} instances ({})\n", r.fusions.size(), verdict_counts(r));
  for (const auto& node : r.coverage["unaligned"])
    text += "not judged: " + node.get<std::string>() + "\n";
  for (const FusionCertificate& c : r.fusions) {
    if (c.onednn.is_object() && c.onednn.contains("note"))
      text += fmt::format("kernel of '{}' not judged: {}\n", c.output,
                          c.onednn["note"].get<std::string>());
  }
  return text;
}

/// The sample on which the instance failed.
std::size_t failing_sample(const Judged& j, std::size_t i, const KernelCheck& kernel_check) {
  if (kernel_check) {
    const auto feeds = region_feeds(j.both, j.samples)[i];
    for (std::size_t s = 0; s < feeds.size(); ++s) {
      if (!kernel_check(j.both.alignment.regions[i], {feeds[s]}).value("inside", true)) return s;
    }
    return 0;
  }
  const auto& witness = j.result.fusions[i].witness;
  const bool on_sample = witness.is_object() && !witness.contains("inputs");
  return on_sample ? witness.value("sample", std::size_t{0}) : 0;
}

/// The region with that sample.
FailingCase case_of(const Judged& j, std::size_t i, const KernelCheck& kernel_check) {
  const Region& r = j.both.alignment.regions[i];
  const auto all = region_feeds(j.both, {j.samples.at(failing_sample(j, i, kernel_check))});
  return {.original = r.original, .fused = r.fused, .feeds = all[i][0], .log = j.log};
}

std::int64_t size_of_all(const Feeds& feeds) {
  std::int64_t bytes = 0;
  for (const auto& [name, t] : feeds) bytes += t.bytes();
  return bytes;
}

std::string summary(const Judged& j, std::size_t i, const Shrunk& s, const ValidateOptions& o) {
  const FusionCertificate& c = j.result.fusions[i];
  const Wanted wanted{o.strict, only_kernel_fails(c)};
  std::string text =
      fmt::format("{} at '{}' ({}): {}\n", title_of(c), c.output, c.rule, reason_of(s.certificate));
  const Region& r = j.both.alignment.regions[i];
  text += fmt::format("{} + {} nodes, {} bytes -> {} + {} nodes, {} bytes of inputs ({} trials)\n",
                      r.original.node_count(), r.fused.node_count(),
                      size_of_all(region_feeds(j.both, {j.samples[0]})[i][0]),
                      s.smallest.original.node_count(), s.smallest.fused.node_count(),
                      size_of_all(s.smallest.feeds), s.trials);
  for (std::size_t k = 0; k < j.result.fusions.size(); ++k) {
    const FusionCertificate& other = j.result.fusions[k];
    if (k != i && fails(other, wanted))
      text += fmt::format("also {}: --output '{}'\n", title_of(other), other.output);
  }
  return text + "cd " + o.out.string() + " && " + reproduction(s, o.seed) + "\n";
}

}  // namespace

ValidateResult reduce(const ValidateOptions& o, const ReduceTarget& target,
                      const Progress& progress) {
  check_writable_folder(o.out);
  const KernelCheck& kernels = target.kernel_check;
  const Judged j = judge_all(o, target, progress);
  const std::int64_t at = chosen(j.result, target.output, {o.strict, kernels != nullptr});
  if (at < 0) return {0, nothing_fails(j.result)};
  const auto i = static_cast<std::size_t>(at);
  const FusionCertificate& c = j.result.fusions[i];
  progress("making the case smaller", 0, 0);
  const Failure failure = kernels ? Failure{.kernel_check = kernels} : failure_of(c);
  const auto s = shrink(case_of(j, i, kernels), failure, {.seed = o.seed});
  if (!s) {
    throw Error({.what = "the instance fails inside the model, but not by itself",
                 .where = c.output,
                 .got = title_of(c) + ": " + reason_of(c),
                 .advice = "send the whole model"});
  }
  write_case(*s,
             {.model = o.model.filename().string(),
              .model_sha256 = sha256_of_file(o.model),
              .fused = o.fused.filename().string(),
              .fused_sha256 = o.fused.empty() ? "" : sha256_of_file(o.fused),
              .output = c.output,
              .seed = o.seed},
             o.out);
  return {c.verdict == "U" && !kernels ? 4 : 1, summary(j, i, *s, o)};
}

}  // namespace assay
