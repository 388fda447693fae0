// Every registered operator is whole: it can be evaluated, and some test names it.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>

#include "runtime/file.h"
#include "runtime/op.h"
#include "runtime/ops/fused.h"
#include "tests/support/source_dir.h"

namespace assay::test::completeness_test {
namespace {

/// Every word of every test source, comments included: a test names its operator in a string or in
/// its own name.
std::set<std::string> words_of_tests() {
  std::set<std::string> words;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_dir() / "tests")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_test.cpp") || name == "completeness_test.cpp") continue;
    std::string word;
    for (const char c : read_file(entry.path()) + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        word += c;
      } else if (!word.empty()) {
        words.insert(word);
        word.clear();
      }
    }
  }
  return words;
}

/// Composed operators (ConvAddRelu) share one evaluation: tests must name some form with their base
/// and some with their activation.
bool parts_are_named(const FusedForm& form, const std::set<std::string>& words) {
  bool base = false;
  bool activation = form.activation.empty();
  for (const std::string& word : words) {
    const auto named = parse_fused(word);
    base = base || (named && named->base == form.base);
    activation = activation || (named && named->activation == form.activation);
  }
  return base && activation;
}

TEST(Completeness, EveryOperatorIsTested) {
  const auto words = words_of_tests();
  for (const OpDef* op : all_ops()) {
    const auto form = parse_fused(op->type);
    EXPECT_TRUE(words.count(op->type) || (form && parts_are_named(*form, words)))
        << op->domain << "." << op->type << " is named by no test under tests/";
  }
}

TEST(Completeness, EveryOperatorCanBeEvaluated) {
  EXPECT_FALSE(all_ops().empty());
  for (const OpDef* op : all_ops()) {
    EXPECT_NE(op->eval, nullptr) << op->domain << "." << op->type << " since " << op->since;
    EXPECT_NE(op->infer, nullptr) << op->domain << "." << op->type << " since " << op->since;
  }
}

TEST(Completeness, VersionsOfAnOperatorDoNotOverlap) {
  const auto ops = all_ops();
  for (std::size_t i = 1; i < ops.size(); ++i) {
    const OpDef& a = *ops[i - 1];
    const OpDef& b = *ops[i];
    if (a.domain != b.domain || a.type != b.type) continue;
    EXPECT_LT(a.since, b.since) << b.domain << "." << b.type << " is registered twice";
  }
}

}  // namespace
}  // namespace assay::test::completeness_test
