// Every refusal that docs/fusions.md lists, of every rule: the rule declines on a net with that
// one defect, says the failed condition and an edit, and fires on the net without it.
#include <gtest/gtest.h>

#include <set>

#include "tests/fusion/refusals/draft.h"

namespace assay::testing::refusals_test {
namespace {

std::vector<RefusalCase> all_cases() {
  std::vector<RefusalCase> all;
  for (const auto make : RegisterRefusals::makers()) append(all, make());
  return all;
}

TEST(Refusals, EveryListedRefusalHasACaseAndEveryCaseIsListed) {
  std::set<std::pair<std::string, std::string>> tested;
  for (const RefusalCase& c : all_cases()) tested.emplace(c.rule, c.refusal);
  std::set<std::pair<std::string, std::string>> listed;
  for (const Rewrite* r : all_rewrites()) {
    for (const std::string& refusal : r->refusals) {
      listed.emplace(r->name, refusal);
      EXPECT_TRUE(tested.count({r->name, refusal})) << r->name << ": " << refusal;
    }
  }
  for (const auto& one : tested)
    EXPECT_TRUE(listed.count(one)) << one.first << " does not list: " << one.second;
}

TEST(Refusals, EveryRuleFiresWithoutTheDefect) {
  std::set<std::string> fired;
  for (const auto& [rule, base] : RegisterRefusals::bases()) {
    const FusionResult r = fuse(base.build(), {.mode = rule});
    EXPECT_GE(r.log.count(rule), 1) << rule << '\n' << explain(r.log);
    fired.insert(rule);
  }
  for (const Rewrite* r : all_rewrites()) EXPECT_TRUE(fired.count(r->name)) << r->name;
}

TEST(Refusals, EachSaysTheConditionAndTheEdit) {
  for (const RefusalCase& c : all_cases()) {
    SCOPED_TRACE(c.rule + ": " + c.refusal);
    const std::string mode = c.mode.empty() ? c.rule : c.mode;
    const FusionResult r = fuse(c.draft.build(), {.mode = mode});
    bool said = false;
    for (const DeclinedRewrite& d : r.log.declined) {
      if (d.rule != c.rule || d.reason.find(c.words) == std::string::npos) continue;
      said = true;
      EXPECT_FALSE(d.edit.empty()) << d.reason;
      EXPECT_FALSE(d.node.output.empty());
    }
    EXPECT_TRUE(said) << "expected '" << c.words << "'\n" << explain(r.log);
  }
}

}  // namespace
}  // namespace assay::testing::refusals_test
