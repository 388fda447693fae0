// docs/fusions.md is the registry's page; every row of the vendors' lists has a rule, and every
// rule a test.
#include "fusion/fusion_docs.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fusion/pipeline.h"
#include "runtime/file.h"
#include "tests/support/source_dir.h"

namespace assay::fusion_docs_test {
namespace {

const std::filesystem::path root = source_dir();

TEST(FusionDocs, PageIsUpToDate) {
  EXPECT_EQ(read_file(root / "docs/fusions.md"), fusions_page())
      << "run: assay fuse --rules > docs/fusions.md";
}

TEST(FusionDocs, EveryRowHasARule) {
  for (int i = 1; i <= 15; ++i) {
    EXPECT_EQ(fusions_page().find("| F" + std::to_string(i) + " | | "), std::string::npos);
    bool found = false;
    for (const Rewrite* r : all_rewrites()) {
      for (const std::string& row : r->rows) found = found || row == "F" + std::to_string(i);
    }
    EXPECT_TRUE(found) << "F" << i;
  }
}

TEST(FusionDocs, EveryRuleHasATestFileAndRefusals) {
  for (const Rewrite* r : all_rewrites()) {
    EXPECT_TRUE(std::filesystem::exists(root / "tests" / r->test))
        << r->name << " names tests/" << r->test;
    EXPECT_FALSE(r->refusals.empty()) << r->name;
    EXPECT_FALSE(r->proof.empty()) << r->name;
    EXPECT_FALSE(r->verdict.empty()) << r->name;
  }
}

}  // namespace
}  // namespace assay::fusion_docs_test
