// assay selftest --determinism: the same bits for every thread count, batch size and instruction
// set, and the published ones.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runtime/file.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"
#include "validation/selftest/hash_table.h"

namespace assay::selftest_command {
namespace {

using selftest::HashTable;
using selftest::Outcome;
using selftest::Subject;

struct SelftestCommand {
  bool determinism = false;
  std::filesystem::path model, data, table, out;
  std::string split, values = "outputs";
  std::vector<std::string> shapes, evaluations;
  std::uint64_t seed = 1;
  bool quiet = false, json = false;
};

std::vector<Subject> subjects_of(const SelftestCommand& c) {
  std::vector<Subject> subjects;
  if (!c.model.empty()) {
    const auto evaluations = c.evaluations.empty() ? std::vector<std::string>{"cr"} : c.evaluations;
    for (const std::string& e : evaluations) subjects.push_back(selftest::file_subject(c.model, e));
    return subjects;
  }
  for (Subject& s : selftest::built_in_subjects()) {
    const bool wanted = c.evaluations.empty() ||
                        std::ranges::find(c.evaluations, s.evaluation) != c.evaluations.end();
    if (wanted) subjects.push_back(std::move(s));
  }
  if (!subjects.empty()) return subjects;
  throw Error({.what = "no built-in network has such an evaluation",
               .where = "--evaluation",
               .expected = "cr, f32, f64, dd or a numeric profile"});
}

DatasetPtr data_of(const SelftestCommand& c, const Graph& g) {
  DatasetPtr data = c.data.empty()
                        ? synthetic_dataset(g, parse_shapes(g, c.shapes), selftest::samples, c.seed)
                        : open_dataset(c.data, c.split, g);
  if (data->size() >= selftest::samples) return data;
  throw Error({.what = "too few samples",
               .where = data->info().source,
               .got = std::to_string(data->size()),
               .expected = std::to_string(selftest::samples)});
}

/// The published hashes; none for a model file without --table.
std::optional<HashTable> table_of(const SelftestCommand& c) {
  if (!c.table.empty()) return selftest::read_hash_table(c.table);
  if (c.model.empty()) return selftest::published_hashes();
  return std::nullopt;
}

Outcome examine(const SelftestCommand& c, const Subject& s, const std::optional<HashTable>& table) {
  const DatasetPtr data = data_of(c, s.graph);
  selftest::Check check{.subject = s,
                        .data = *data,
                        .settings = selftest::settings(data->info().batch > 1),
                        .all_values = c.values == "all"};
  if (!table) return selftest::check(check);
  const auto model = table->find(s.model);
  if (model != table->end()) {
    const auto found = model->second.evaluations.find(s.evaluation);
    if (found != model->second.evaluations.end()) check.expected = found->second;
  }
  Outcome o = selftest::check(check);
  if (check.expected.empty()) o.differences.push_back("no published hashes of this evaluation");
  if (model != table->end() && !model->second.sha256.empty() &&
      model->second.sha256 != sha256_of_file(c.model))
    o.differences.push_back("the hashes were published for another " + s.model);
  return o;
}

std::string settings_text(bool batched) {
  std::string isas;
  for (const Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512}) {
    if (isa <= detected_isa()) isas += (isas.empty() ? "" : ", ") + std::string(isa_name(isa));
  }
  return fmt::format("threads 1, 2, 3; batch 1{}; {}", batched ? ", 8" : " only", isas);
}

void print(const Outcome& o) {
  std::cout << fmt::format("{:<22} {:<18} {:>6} {:>9}  {}\n", o.model, o.evaluation,
                           o.hashes.size(), o.settings,
                           o.differences.empty() ? "equal" : "DIFFERS");
  for (const std::string& d : o.differences) std::cout << "  " << d << '\n';
  for (const std::string& v : o.left_out)
    std::cout << "  left out (not one part per sample): '" << v << "'\n";
}

void print_json(const std::vector<Outcome>& outcomes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Outcome& o : outcomes) {
    list.push_back({{"model", o.model},
                    {"evaluation", o.evaluation},
                    {"settings", o.settings},
                    {"hashes", o.hashes},
                    {"differences", o.differences},
                    {"left_out", o.left_out}});
  }
  std::cout << list.dump(1) << '\n';
}

int run(const SelftestCommand& c) {
  if (!c.determinism) throw Error({.what = "nothing to test", .expected = "--determinism"});
  const std::vector<Subject> subjects = subjects_of(c);
  const std::optional<HashTable> table = table_of(c);
  const bool table_shown = !c.quiet && !c.json;
  if (table_shown) {
    std::cout << settings_text(data_of(c, subjects[0].graph)->info().batch > 1) << '\n';
    std::cout << fmt::format("{:<22} {:<18} {:>6} {:>9}  {}\n", "model", "evaluation", "values",
                             "settings", "hashes");
  }
  std::vector<Outcome> outcomes;
  bool equal = true;
  for (const Subject& s : subjects) {
    outcomes.push_back(examine(c, s, table));
    equal = equal && outcomes.back().differences.empty();
    if (table_shown) print(outcomes.back());
  }
  if (c.json) print_json(outcomes);
  if (!c.out.empty()) {
    const std::string model_hash = c.model.empty() ? "" : sha256_of_file(c.model);
    write_file(c.out, selftest::to_json_text(selftest::table_of(outcomes, model_hash)));
  }
  return equal ? 0 : static_cast<int>(ErrorKind::stale_golden);
}

std::function<int()> setup(CLI::App& app) {
  const auto c = std::make_shared<SelftestCommand>();
  app.add_flag("--determinism", c->determinism,
               "same bits for threads 1, 2, 3, batch 1, 8 and every instruction set");
  app.add_option("--model", c->model, "ONNX file to test instead of the built-in networks");
  app.add_option("--data", c->data, "its data set; none: seeded synthetic inputs");
  app.add_option("--split", c->split, "split of data.json");
  app.add_option("--shape", c->shapes, "NAME=1x3x224x224 for inputs with open sizes, repeatable")
      ->type_name("NAME=SHAPE");
  app.add_option("--evaluation", c->evaluations,
                 "cr, f32, f64, dd or a numeric profile, repeatable (model: default cr)");
  app.add_option("--values", c->values, "outputs (default) or all")
      ->check(CLI::IsMember({"outputs", "all"}));
  app.add_option("--seed", c->seed, "of the synthetic inputs of a model");
  app.add_option("--table", c->table, "published hashes to compare with (assay-hashes/1)");
  app.add_option("-o,--output", c->out, "file for the hashes of this run");
  app.add_flag("--quiet", c->quiet, "print nothing");
  app.add_flag("--json", c->json, "machine output on standard output");
  app.footer(
      "Example: assay selftest --determinism\n"
      "         assay selftest --determinism --model datasets/digits/digits.onnx --data "
      "datasets/digits");
  return [c] { return run(*c); };
}

const RegisterCommand registered{
    {"selftest", "recompute published hashes under every setting", setup}};

}  // namespace
}  // namespace assay::selftest_command
