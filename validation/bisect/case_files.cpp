#include "validation/bisect/case_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/file.h"
#include "runtime/npy.h"
#include "runtime/onnx/writer.h"

namespace assay {
namespace {

std::string input_file(const std::string& name) { return file_name_of(name) + ".npy"; }

std::string node_list(const Graph& g) {
  std::string text;
  for (const NodeId n : g.topological_order())
    text += (text.empty() ? "" : ", ") + g.node(n).op_type;
  return text;
}

/// Names of the rules that made the instance, as --mode takes them.
std::string mode_of(const std::string& rules) {
  std::string mode;
  for (std::size_t at = 0; at < rules.size();) {
    const std::size_t end = std::min(rules.find(" + ", at), rules.size());
    mode += (mode.empty() ? "" : ",") + rules.substr(at, end - at);
    at = end + 3;
  }
  return mode;
}

std::string inputs_table(const Feeds& feeds) {
  std::string text = "| input | file | |\n|---|---|---|\n";
  for (const auto& [name, t] : feeds)
    text += fmt::format("| `{}` | {} | {} |\n", name, input_file(name), describe(t));
  return text;
}

constexpr const char* kernel_gates = R"({
 "schema": "assay-gates/1",
 "gates": [{"id": "kernel-inside-bound", "select": "fusions", "field": "onednn.inside", "op": "==", "value": true}]
}
)";

std::string finding(const Shrunk& s) {
  const FusionCertificate& c = s.certificate;
  if (only_kernel_fails(c)) {
    return fmt::format("The fusion is {}. The kernel's part in `out/report.json`:\n```\n{}\n```\n",
                       c.verdict, c.onednn.dump());
  }
  std::string text = fmt::format("It says {} in `out/report.json`", c.verdict);
  return text + (c.witness.is_object()
                     ? ", with a witness like this one:\n```\n" + c.witness.dump() + "\n```\n"
                     : ".\n");
}

std::string readme(const Shrunk& s, const CaseOrigin& o) {
  const FusionCertificate& c = s.certificate;
  std::string text = fmt::format("# {} at `{}`\n\n{}\n\n", title_of(c), o.output, reason_of(c));
  text += fmt::format("Model {} (sha256 {}), {}.\n\n", o.model, o.model_sha256,
                      o.fused.empty()
                          ? "fused by Assay with " + c.rule
                          : fmt::format("fused graph {} (sha256 {})", o.fused, o.fused_sha256));
  text += fmt::format(
      "| file | nodes |\n|---|---|\n| original.onnx | {} |\n| fused.onnx | {} |\n\n{}\n",
      node_list(s.smallest.original), node_list(s.smallest.fused), inputs_table(s.smallest.feeds));
  text += "Run here:\n```sh\n" + reproduction(s, o.seed) + "\n```\n";
  text += finding(s);
  if (!o.fused.empty())
    text +=
        "\nOperators of other tools' own domains are written as the standard ones that they stand "
        "for, and nodes on constants are evaluated.\n";
  return text;
}

}  // namespace

std::string title_of(const FusionCertificate& c) {
  return only_kernel_fails(c) ? "oneDNN's kernel" : c.verdict;
}

std::string reason_of(const FusionCertificate& c) {
  if (!only_kernel_fails(c)) return c.reason;
  return fmt::format("outside the bound for any order of summation ({} times): {}",
                     c.onednn.value("bound_usage", nlohmann::ordered_json()).dump(),
                     c.onednn.value("kernel", std::string("several kernels")));
}

std::string reproduction(const Shrunk& s, std::uint64_t seed) {
  std::string text = "assay validate original.onnx";
  text += s.smallest.log ? " --mode " + mode_of(s.certificate.rule) : " --fused fused.onnx";
  for (const auto& [name, t] : s.smallest.feeds)
    text += fmt::format(" --input '{}={}'", name, input_file(name));
  if (seed != 1) text += fmt::format(" --seed {}", seed);
  if (only_kernel_fails(s.certificate)) text += " --gates gates.json";
  return text + (title_of(s.certificate) == "U" ? " --strict" : "") + " -o out";
}

void write_case(const Shrunk& s, const CaseOrigin& origin, const std::filesystem::path& folder) {
  write_folder(folder, [&](const std::filesystem::path& at) {
    write_onnx(s.smallest.original, at / "original.onnx");
    write_onnx(s.smallest.fused, at / "fused.onnx");
    for (const auto& [name, t] : s.smallest.feeds) write_npy(at / input_file(name), t);
    write_file(at / "README.md", readme(s, origin));
    if (only_kernel_fails(s.certificate)) write_file(at / "gates.json", kernel_gates);
  });
}

}  // namespace assay
