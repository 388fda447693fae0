#include "validation/certificate/alignment_map.h"

#include "runtime/file.h"
#include "tests/support/temp_dir.h"
#include "tests/validation/certificate/fold_pair.h"

namespace assay::alignment_map_test {
namespace {

using namespace testing;

std::map<std::string, std::string> read(const std::string& text) {
  const test::TempDir dir;
  write_file(dir.path() / "map.json", text);
  return read_alignment_map(dir.path() / "map.json");
}

TEST(AlignmentMap, ReadsPairs) {
  const auto map = read(
      R"({"schema": "assay-map/1", "pairs": [{"original": "b0", "other": "out", "perm": null}]})");
  EXPECT_EQ(map, (std::map<std::string, std::string>{{"out", "b0"}}));
}

TEST(AlignmentMap, RefusesWhatItCannotPair) {
  const auto pair = [](const std::string& more) {
    return R"({"schema": "assay-map/1", "pairs": [{"original": "b0", "other": "out")" + more +
           "}]}";
  };
  EXPECT_THROW(read(pair(R"(, "perm": [0, 2, 3, 1])")), Error);
  EXPECT_THROW(read(pair(R"(, "unknown": 1)")), Error);
  EXPECT_THROW(read(R"({"schema": "assay-map/2", "pairs": []})"), Error);
}

/// The map stands before names and numbers.
TEST(AlignmentMap, StandsBeforeNamesAndNumbers) {
  const Numbers n;
  const Graph o = unfolded(n, "y = Relu(b0)");
  Graph f = folded(n, 1e-5, "y = Relu(b0)");
  f.rename(*f.find_value("b0"), "other_name");
  const auto judged = [&](const std::map<std::string, std::string>& map) {
    return certify(o, f, nullptr, {.samples = {s10_input()}, .kernels = false, .map = map});
  };
  const CertifyResult with = judged({{"other_name", "b0"}});
  EXPECT_EQ(with.coverage["aligned_by_map"], 1);
  EXPECT_EQ(worst_verdict(with.fusions), "E2");
  // A wrong pair is not believed in the end: the Conv's own output is not the folded one.
  EXPECT_EQ(worst_verdict(judged({{"other_name", "c"}}).fusions), "E5");
  EXPECT_THROW(judged({{"nothing", "b0"}}), Error);
}

}  // namespace
}  // namespace assay::alignment_map_test
