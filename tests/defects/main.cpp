// assay_defects: is every seeded defect seen, with the right verdict, and no correct fold blamed?
//
//   assay_defects DEFECTS.json [--seeds N]
//
// DEFECTS.json names each kind of defect with its scope, the expected verdict and, for verdicts
// that pass, the finding that the certificate must carry. Every kind runs on every network that can
// carry it. --seeds N (default 5) draws N sets of parameters per defect and 8 N correct folds of
// each of nine recipes, which must not end E5 or U. Prints "N passed, N failed".
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "fusion/pipeline.h"
#include "tests/defects/carriers.h"
#include "tests/defects/suite.h"
#include "validation/certificate/certify.h"

namespace assay::defects {

Judgement judge(const Case& c) {
  const RewriteLog* log = c.log ? &*c.log : nullptr;
  Judgement j{.verdict = "none", .report = {}};
  const CertifyResult r =
      certify(c.original, c.fused, log, {.samples = {c.input}, .kernels = false});
  for (const FusionCertificate& f : r.fusions) {
    j.verdict = j.verdict == "none" ? f.verdict : std::max(j.verdict, f.verdict);
    j.report += to_json(f).dump() + "\n";
  }
  if (!r.coverage["unaligned"].empty()) j.verdict = std::max(j.verdict, std::string("U"));
  j.report += r.coverage.dump();
  return j;
}

namespace {

struct Expected {
  std::string verdict;
  std::string finding;
  bool met = false;
};

class Runner {
 public:
  explicit Runner(std::int64_t seeds) : seeds_(seeds) {}

  void defects(const nlohmann::json& data) {
    std::map<std::pair<std::string, std::string>, Expected> expected;
    for (const auto& d : data.at("defects"))
      expected[{d.at("scope"), d.at("kind")}] = {d.at("expected"), d.value("finding", ""), false};
    for (auto list :
         {constant_kinds(), text_kinds(), structure_kinds(), special_kinds(), rule_kinds()}) {
      for (const Kind& k : list) {
        const auto it = expected.find({k.scope, k.name});
        if (it == expected.end()) {
          note(false, k.scope + " " + k.name, "not in the list of defects");
          continue;
        }
        it->second.met = true;
        kind(k, it->second);
      }
    }
    for (const auto& [name, e] : expected) {
      if (!e.met) note(false, name.first + " " + name.second, "listed, but nothing makes it");
    }
  }

  /// Correct folds by nine recipes, and Assay's own.
  void correct_folds() {
    for (std::int64_t s = 0; s < 8 * seeds_; ++s) {
      const auto seed = static_cast<std::uint64_t>(1000 + s);
      const Carrier& c = carriers()[static_cast<std::size_t>(s) % carriers().size()];
      const Parameters p = draw(c, seed);
      const Graph o = original(c, p);
      for (int recipe = 0; recipe < recipe_count; ++recipe) {
        const Judgement j =
            judge({c.name, o, folded(c, fold(c, p, recipe)), {}, draw_input(c, seed)});
        note(j.verdict == "E1" || j.verdict == "E2",
             fmt::format("correct fold {} of {}, seed {}", recipe, c.name, seed),
             j.verdict + " " + j.report);
      }
      FusionResult r = fuse(o, {.mode = "all"});
      const Judgement j =
          judge({c.name, o, std::move(r.graph), std::move(r.log), draw_input(c, seed)});
      note(j.verdict == "E1" || j.verdict == "E2",
           fmt::format("own fold of {}, seed {}", c.name, seed), j.verdict + " " + j.report);
    }
  }

  int finish() const {
    std::cout << fmt::format("{} kinds of defects\n{} passed, {} failed\n", kinds_, passed_,
                             failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void kind(const Kind& k, const Expected& e) {
    ++kinds_;
    std::size_t made = 0;
    for (std::int64_t s = 0; s < seeds_; ++s) {
      const auto seed = static_cast<std::uint64_t>(s + 1);
      for (const Case& c : k.cases(seed)) {
        ++made;
        const Judgement j = judge(c);
        const bool found = e.finding.empty() || j.report.find(e.finding) != std::string::npos;
        note(j.verdict == e.verdict && found,
             fmt::format("{} {} on {}, seed {}", k.scope, k.name, c.graph, seed),
             fmt::format("expected {} '{}', got {} {}", e.verdict, e.finding, j.verdict, j.report));
      }
    }
    if (made == 0) note(false, k.scope + " " + k.name, "no network can carry it");
  }

  void note(bool good, const std::string& what, const std::string& why) {
    ++(good ? passed_ : failed_);
    if (!good) std::cout << "FAILED " << what << ": " << why.substr(0, 1500) << '\n';
  }

  std::int64_t seeds_;
  std::int64_t kinds_ = 0, passed_ = 0, failed_ = 0;
};

int run(const std::vector<std::string>& args) {
  std::int64_t seeds = 5;
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (args[i] == "--seeds" && i + 1 < args.size()) seeds = std::stoll(args[++i]);
  }
  if (args.empty()) {
    std::cerr << "usage: assay_defects DEFECTS.json [--seeds N]\n";
    return 2;
  }
  std::ifstream file(args[0]);
  const auto data = nlohmann::json::parse(file);
  Runner runner(seeds);
  runner.defects(data);
  runner.correct_folds();
  return runner.finish();
}

}  // namespace
}  // namespace assay::defects

int main(int argc, char** argv) { return assay::defects::run({argv + 1, argv + argc}); }
