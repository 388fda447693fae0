#include "fusion/fusion_docs.h"

#include <fmt/format.h>

#include <algorithm>

#include "fusion/pipeline.h"

namespace assay {
namespace {

struct Row {
  const char* id;
  const char* text;
};

/// The rows of the vendors' lists, in the words of the constraint documents.
constexpr Row vendor_rows[] = {
    {"F1", "Conv + BN"},
    {"F2", "ConvTranspose + BN"},
    {"F3", "BN + Mul, BN + Add, in that order, then into the Conv"},
    {"F4", "depthwise Conv + BN"},
    {"F5",
     "Conv, MatMul, depthwise or ConvTranspose, with or without BiasAdd, + Mul by a scalar "
     "constant"},
    {"F6", "group convolution as Split + N Conv + Concat, + BN"},
    {"F7", "Split + N Conv (+ bias) + Concat -> one grouped Conv"},
    {"F8", "BN in small operators, four Keras variants"},
    {"F9", "Conv + BatchToSpace + BN"},
    {"F10", "operator + constant Add -> bias"},
    {"F11", "MatMul + Reshape + BN"},
    {"F12", "Dequantize + ReLU6 + Quantize -> ReLU, when the quantizer saturates at or below 6"},
    {"F13", "Conv, ConvTranspose, InnerProduct + BN + Scale; BN + Scale + Conv forward"},
    {"F14", "MatMul + Add: the addend becomes the bias"},
    {"F15", "identical quantizers on one tensor merged"},
    {"M1",
     "fold of Conv, ConvTranspose, Gemm, MatMul + BN, 1-3 D, grouped, depthwise; forward fold "
     "where legal"},
    {"M2", "group convolution by Split/Conv/Concat: BN across branches, merge into one Conv"},
    {"M3", "constant Mul (scalar and per channel) and Add behind an operator"},
    {"M4", "BN + Mul, BN + Add; BN in small operators; reorder past BatchToSpace"},
    {"M5", "Conv (+ BN) + Add + ReLU, ReLU6, Clip and others, Add + ReLU, float and INT8"},
    {"M6", "safety: constants, identities, dead code, refusals, skip lists"},
};

bool holds(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string sets_of(const Rewrite& r) {
  std::vector<std::string> sets = r.sets;
  if (r.in_all) sets.emplace_back("all");
  return sets.empty() ? "only by name" : fmt::format("{}", fmt::join(sets, ", "));
}

std::string patterns_of(const Rewrite& r) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, r.patterns.size()); ++i)
    text += "  - `" + to_string(r.patterns[i]) + "`\n";
  if (r.patterns.size() > shown)
    text += fmt::format("  - and {} more spellings\n", r.patterns.size() - shown);
  return text;
}

std::string rule_text(const Rewrite& r) {
  return fmt::format(
      "### `{}`\n\n{}\n\n- stage: {}; sets: {}; rows: {}\n- best verdict: {}; proof: {}\n- "
      "patterns (root first):\n{}"
      "- declines: {}\n- test: `tests/{}`\n\n",
      r.name, r.summary, to_string(r.stage), sets_of(r), fmt::join(r.rows, ", "), r.verdict,
      fmt::join(r.proof, ", "), patterns_of(r), fmt::join(r.refusals, "; "), r.test);
}

std::string rows_table() {
  std::string text = "| row | what | rules | sets |\n|---|---|---|---|\n";
  for (const Row& row : vendor_rows) {
    std::vector<std::string> rules;
    std::vector<std::string> sets;
    for (const Rewrite* r : all_rewrites()) {
      if (!holds(r->rows, row.id)) continue;
      rules.push_back("`" + r->name + "`");
      for (const std::string& s : r->sets) {
        if (!holds(sets, s)) sets.push_back(s);
      }
    }
    text += fmt::format("| {} | {} | {} | {} |\n", row.id, row.text, fmt::join(rules, ", "),
                        fmt::join(sets, ", "));
  }
  return text;
}

std::string modes_table() {
  std::string text = "| mode | meaning | rules |\n|---|---|---|\n";
  for (const FusionMode& m : fusion_modes()) {
    std::vector<std::string> names;
    for (const Rewrite* r : rules_of(m.name)) names.push_back("`" + r->name + "`");
    text += fmt::format("| `{}` | {} | {} |\n", m.name, m.meaning, fmt::join(names, ", "));
  }
  return text;
}

}  // namespace

std::string fusions_page() {
  std::string text =
      "# Fusions\n\nMade from the registry of rules by `assay fuse --rules`; a test compares this "
      "page with it.\n\n"
      "A rule rewrites a region only when the result is the same function of real numbers "
      "(`drop_inner_quantizer` excepted: it "
      "changes a quantization and runs only by name), keeps the name of the region's output, and "
      "says why whenever it declines. "
      "Every folded constant is the exact value rounded once. Rules run in the stages clean, "
      "merge, fold, "
      "forward, quantized, fuse, "
      "finish, each to a fixpoint, the larger pattern first; `drop_dead_code` removes unused nodes "
      "in mode `all`.\n\n## Modes\n\n";
  text += modes_table();
  text +=
      "\nA comma-separated list of rules is a mode too. `--skip` takes rules, nodes and output "
      "values, with `*` and `?`.\n\n"
      "## The vendors' rows\n\n";
  text += rows_table();
  text += "\n## Rules\n\n";
  for (const Rewrite* r : all_rewrites()) text += rule_text(*r);
  text.pop_back();
  return text;
}

}  // namespace assay
