// assay_random_graphs: the properties of tests/random_graphs over many graphs.
//   --count N  --seed FIRST   graphs FIRST .. FIRST+N-1
//   --write DIR               only writes the files for tests/scripts/random_graphs_peer.py
//   --set NAME                only this set (default: every set and one rule drawn by the seed)
// Exit code 1 when a property fails, a certificate of a correct rewrite is undecided or doubted, or
// a fault is not caught; each is one line with its seed.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "runtime/numeric/parallel.h"
#include "runtime/onnx/writer.h"
#include "tests/random_graphs/faults.h"
#include "tests/random_graphs/peer_files.h"
#include "tests/random_graphs/properties.h"

namespace assay::testing {
namespace {

struct Options {
  std::uint64_t first = 1;
  std::uint64_t count = 10000;
  std::string set = {};
  bool faults = true;
  bool only_faults = false;
  std::string write = {};
  bool show = false;
};

int run(const Options& o) {
  Counts counts;
  std::int64_t failures = 0;
  for (std::uint64_t seed = o.first; seed < o.first + o.count; ++seed) {
    try {
      const RandomGraph r = random_graph(seed);
      ++counts.graphs;
      if (!o.write.empty()) {
        write_peer_files(r, o.write);
        continue;
      }
      if (o.show) write_onnx(r.graph, "seed" + std::to_string(seed) + ".onnx");
      if (o.faults) {
        std::string text;
        const auto caught = fault_is_caught(r, seed, counts, text);
        if (caught && !*caught) {
          std::cout << "seed " << seed << " not caught: " << text << '\n';
        }
      }
      if (o.only_faults) continue;
      for (const std::string& mode : o.set.empty() ? sets_for(r) : std::vector{o.set}) {
        std::vector<std::string> doubtful;
        const auto troubles = check(r, mode, counts, &doubtful);
        for (const std::string& d : doubtful)
          std::cout << "seed " << seed << " set " << mode << ": " << d << '\n';
        for (const std::string& trouble : troubles) {
          ++failures;
          std::cout << "seed " << seed << " set " << mode << ": " << trouble << '\n';
        }
      }
    } catch (const std::exception& e) {
      ++failures;
      std::cout << "seed " << seed << ": " << e.what() << '\n';
    }
  }
  std::cout << to_string(counts) << failures << " failures\n";
  const bool proved = counts.undecided + counts.alarms == 0;
  return failures == 0 && proved && counts.caught == counts.faults ? 0 : 1;
}

}  // namespace
}  // namespace assay::testing

int main(int argc, char** argv) {
  assay::testing::Options o;
  CLI::App app("Properties of fused random graphs");
  app.add_option("--count", o.count, "number of graphs");
  app.add_option("--seed", o.first, "first seed");
  app.add_option("--set", o.set, "one set instead of all");
  app.add_flag("--only-faults", o.only_faults, "inject faults, check nothing else");
  app.add_flag("!--no-faults", o.faults, "inject no faults");
  app.add_option("--write", o.write, "only write what tests/scripts/random_graphs_peer.py runs");
  app.add_flag("--show", o.show, "write each original to seedN.onnx");
  CLI11_PARSE(app, argc, argv);
  assay::set_num_threads(1);  // the graphs are tiny
  return assay::testing::run(o);
}
