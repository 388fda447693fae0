// The ONNX node and model tests of the Debian package libonnx-testdata, run under cr for every
// operator that is registered.
//
// A case passes when each output has the expected element type and shape and every element lies
// within the suite's own tolerance (relative 1e-3, absolute 1e-7; its expected values were computed
// with NumPy in float32). tests/conformance_skip.txt lists the cases that are not run, each with
// its reason; a case in it that would pass is a failure too, so that the list cannot go stale.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "runtime/executor.h"
#include "runtime/onnx/reader.h"
#include "tests/support/source_dir.h"

namespace assay::test::conformance_test {
namespace {

namespace fs = std::filesystem;

const fs::path root = "/usr/share/libonnx-testdata/data";

std::map<std::string, std::string> skip_list() {
  std::ifstream file(source_dir() / "tests/conformance_skip.txt");
  std::map<std::string, std::string> list;
  std::string line;
  while (std::getline(file, line)) {
    const auto tab = line.find('\t');
    if (line.empty() || line[0] == '#' || tab == std::string::npos) continue;
    list[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return list;
}

/// An operator of the graph (or of a subgraph) that is not registered, or empty.
std::string missing_operator(const Graph& g) {
  for (const NodeId n : g.node_ids()) {
    const Node& node = g.node(n);
    if (find_op(node.domain, node.op_type, g.opset(node.domain)) == nullptr) {
      return (node.domain.empty() ? "" : node.domain + ".") + node.op_type;
    }
    for (const auto& [name, attribute] : node.attributes.items()) {
      const auto* body = std::get_if<GraphPtr>(&attribute);
      if (body == nullptr) continue;
      if (const std::string inner = missing_operator(**body); !inner.empty()) return inner;
    }
  }
  return "";
}

std::string difference(const Tensor& expected, const Tensor& got) {
  if (expected.dtype() != got.dtype() || expected.shape() != got.shape()) {
    return "got " + describe(got) + ", expected " + describe(expected);
  }
  if (same_bits(expected, got)) return "";
  const auto e = to_doubles(expected), g = to_doubles(got);
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool both_nan = std::isnan(e[i]) && std::isnan(g[i]);
    if (both_nan || e[i] == g[i]) continue;
    if (std::fabs(e[i] - g[i]) <= 1e-7 + 1e-3 * std::fabs(e[i])) continue;
    return "element " + std::to_string(i) + ": got " + std::to_string(g[i]) + ", expected " +
           std::to_string(e[i]);
  }
  return "";
}

std::vector<Tensor> tensors(const fs::path& set, const std::string& stem) {
  std::vector<Tensor> found;
  for (int i = 0;; ++i) {
    const fs::path file = set / (stem + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return found;
    // A file without bytes stands for an absent optional input.
    found.push_back(fs::file_size(file) == 0 ? Tensor() : read_tensor_file(file));
  }
}

/// The suite stores bfloat16 values as uint16 tensors of the same bits.
Tensor as_declared(const Tensor& t, DType declared) {
  const bool bits = t.dtype() == DType::uint16 && declared == DType::bfloat16;
  return bits ? Tensor(declared, t.shape(), t.memory()) : t;
}

std::string run_set(const Executor& executor, const fs::path& set) {
  const Graph& g = executor.graph();
  Feeds feeds;
  const auto inputs = tensors(set, "input");
  std::size_t next = 0;
  for (const ValueId v : g.inputs()) {
    if (next >= inputs.size()) break;
    if (inputs[next].defined()) feeds[g.name(v)] = as_declared(inputs[next], g.value(v).type.dtype);
    ++next;
  }
  const auto got = executor.run(feeds);
  const auto expected = tensors(set, "output");
  for (std::size_t i = 0; i < expected.size() && i < g.outputs().size(); ++i) {
    const std::string name = g.name(g.outputs()[i]);
    const DType declared = g.value(g.outputs()[i]).type.dtype;
    const std::string text = difference(as_declared(expected[i], declared), got.at(name));
    if (!text.empty()) return "output '" + name + "': " + text;
  }
  return "";
}

struct Outcome {
  std::string missing;  ///< operator that is not registered
  std::string failure;  ///< empty when it passed
};

Outcome run_case(const fs::path& folder) {
  Outcome outcome;
  try {
    const Graph g = read_onnx(folder / "model.onnx");
    outcome.missing = missing_operator(g);
    if (!outcome.missing.empty()) return outcome;
    const Executor executor(g, Precision::cr);
    for (const auto& set : fs::directory_iterator(folder)) {
      if (!set.is_directory() || !outcome.failure.empty()) continue;
      outcome.failure = run_set(executor, set.path());
    }
  } catch (const std::exception& e) {
    outcome.failure = e.what();
  }
  return outcome;
}

struct Tally {
  int passed = 0, skipped = 0;
  std::map<std::string, int> missing;
};

void judge(const fs::path& folder, const std::map<std::string, std::string>& skip, Tally& tally) {
  const std::string name =
      folder.parent_path().filename().string() + "/" + folder.filename().string();
  const auto listed = skip.find(name);
  const Outcome outcome = run_case(folder);
  if (!outcome.missing.empty()) {
    ++tally.missing[outcome.missing];
  } else if (listed != skip.end()) {
    ++tally.skipped;
    EXPECT_FALSE(outcome.failure.empty()) << name << " passes but is in the skip list";
  } else if (outcome.failure.empty()) {
    ++tally.passed;
  } else {
    ADD_FAILURE() << name << ": " << outcome.failure;
  }
}

TEST(Conformance, OnnxTestData) {
  ASSERT_TRUE(fs::exists(root)) << "install the package libonnx-testdata (scripts/setup does)";
  const auto skip = skip_list();
  ASSERT_FALSE(skip.empty());
  Tally tally;
  for (const char* group : {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    std::set<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root / group)) folders.insert(entry.path());
    for (const fs::path& folder : folders) judge(folder, skip, tally);
  }
  int uncovered = 0;
  for (const auto& [op, count] : tally.missing) {
    std::cout << "  not registered: " << op << " (" << count << " cases)\n";
    uncovered += count;
  }
  std::cout << "conformance: " << tally.passed << " passed, " << tally.skipped
            << " skipped with a reason, " << uncovered << " of operators that are not registered\n";
  RecordProperty("passed", tally.passed);
  RecordProperty("skipped", tally.skipped);
  RecordProperty("uncovered", uncovered);
  EXPECT_GE(tally.passed, 300);
}

}  // namespace
}  // namespace assay::test::conformance_test
