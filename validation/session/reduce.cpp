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

Judged judge_all(const ValidateOptions& o, const Progress& progress) {
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
  return j;
}

bool fails(const FusionCertificate& c, bool strict) {
  return c.verdict == "E5" || c.verdict == "E4" || (strict && c.verdict == "U");
}

/// Index of the instance to reduce; -1 when none fails.
std::int64_t chosen(const CertifyResult& r, const std::string& output, bool strict) {
  std::string known;
  for (const char* verdict : {"E5", "E4", "U"}) {
    for (std::size_t i = 0; i < r.fusions.size(); ++i) {
      const FusionCertificate& c = r.fusions[i];
      if (c.verdict != verdict || !fails(c, strict)) continue;
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
  return text;
}

/// The region with the sample on which it failed.
FailingCase case_of(const Judged& j, std::size_t i) {
  const Region& r = j.both.alignment.regions[i];
  const auto& witness = j.result.fusions[i].witness;
  const std::size_t sample = witness.is_object() && !witness.contains("inputs")
                                 ? witness.value("sample", std::size_t{0})
                                 : 0;
  const auto all = region_feeds(j.both, {j.samples.at(sample)});
  return {.original = r.original, .fused = r.fused, .feeds = all[i][0], .log = j.log};
}

std::int64_t size_of_all(const Feeds& feeds) {
  std::int64_t bytes = 0;
  for (const auto& [name, t] : feeds) bytes += t.bytes();
  return bytes;
}

std::string summary(const Judged& j, std::size_t i, const Shrunk& s, const ValidateOptions& o) {
  const FusionCertificate& c = j.result.fusions[i];
  std::string text =
      fmt::format("{} at '{}' ({}): {}\n", c.verdict, c.output, c.rule, s.certificate.reason);
  const Region& r = j.both.alignment.regions[i];
  text += fmt::format("{} + {} nodes, {} bytes -> {} + {} nodes, {} bytes of inputs ({} trials)\n",
                      r.original.node_count(), r.fused.node_count(),
                      size_of_all(region_feeds(j.both, {j.samples[0]})[i][0]),
                      s.smallest.original.node_count(), s.smallest.fused.node_count(),
                      size_of_all(s.smallest.feeds), s.trials);
  for (std::size_t k = 0; k < j.result.fusions.size(); ++k) {
    const FusionCertificate& other = j.result.fusions[k];
    if (k != i && fails(other, o.strict))
      text += fmt::format("also {}: --output '{}'\n", other.verdict, other.output);
  }
  return text + "cd " + o.out.string() + " && " + reproduction(s, o.seed) + "\n";
}

}  // namespace

ValidateResult reduce(const ValidateOptions& o, const std::string& output,
                      const Progress& progress) {
  check_writable_folder(o.out);
  const Judged j = judge_all(o, progress);
  const std::int64_t at = chosen(j.result, output, o.strict);
  if (at < 0) return {0, nothing_fails(j.result)};
  const auto i = static_cast<std::size_t>(at);
  const FusionCertificate& c = j.result.fusions[i];
  progress("making the case smaller", 0, 0);
  const auto s = shrink(case_of(j, i), failure_of(c), {.seed = o.seed});
  if (!s) {
    throw Error({.what = "the instance fails inside the model, but not by itself",
                 .where = c.output,
                 .got = c.verdict + ": " + c.reason,
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
  return {c.verdict == "U" ? 4 : 1, summary(j, i, *s, o)};
}

}  // namespace assay
