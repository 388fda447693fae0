#include "validation/selftest/determinism.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/file.h"
#include "runtime/numeric/parallel.h"
#include "tests/support/quant_graphs.h"
#include "tests/support/temp_dir.h"
#include "validation/cli/cli.h"
#include "validation/selftest/hash_table.h"
#include "validation/selftest/model.h"

namespace assay::selftest {
namespace {

using test::GraphMaker;

/// Sample i is {i, -i - 0.5}. Notes under which settings samples were asked for.
class Numbers : public Dataset {
 public:
  std::int64_t size() const override { return samples; }
  Sample load(std::int64_t i) const override {
    seen.insert({num_threads(), static_cast<int>(current_isa())});
    const auto v = static_cast<float>(i);
    return {.id = std::to_string(i), .inputs = {{"x", test::f32({1, 2}, {v, -v - 0.5F})}}};
  }
  mutable std::set<std::pair<int, int>> seen;
};

GraphMaker with_x() {
  GraphMaker m(13);
  m.input("x", DType::float32, {-1, 2});
  return m;
}

Subject subject(GraphMaker m) {
  return {.model = "m", .evaluation = "cr", .graph = std::move(m.graph)};
}

Outcome checked(const Subject& s, Hashes expected = {}) {
  return check(
      {.subject = s, .data = Numbers(), .settings = settings(), .expected = std::move(expected)});
}

TEST(Determinism, HashIsTheOneOfTheHeader) {
  GraphMaker m = with_x();
  m.node("Identity", {"x"}, {"y"}).output("y");
  const Outcome o = checked(subject(m));
  // Python: sha256("float32 [1, 2]\n" + sha256 of each sample in hexadecimal, a line each)[:32].
  EXPECT_EQ(o.hashes.at("y"), "3ff69c4aaf2bfd3aae5dfe40a9143135");
  EXPECT_TRUE(o.differences.empty());
  EXPECT_TRUE(checked(subject(m), o.hashes).differences.empty());
}

TEST(Determinism, EverySettingIsAppliedAndUndone) {
  const int threads = num_threads();
  const auto all = settings();
  const auto isas = static_cast<std::size_t>(detected_isa()) + 1;
  EXPECT_EQ(all.size(), 3 * 2 * isas);
  EXPECT_EQ(settings(false).size(), 3 * isas);
  GraphMaker m = with_x();
  m.node("Identity", {"x"}, {"y"}).output("y");
  const Subject s = subject(m);
  const Numbers data;
  check({.subject = s, .data = data, .settings = all});
  EXPECT_EQ(data.seen.size(), 3 * isas);
  EXPECT_EQ(num_threads(), threads);
  EXPECT_EQ(current_isa(), detected_isa());
}

TEST(Determinism, AResultThatDependsOnTheBatchIsFound) {
  GraphMaker m = with_x();
  m.constant("axes", Tensor::of<std::int64_t>({1}, {0}));
  m.node("ReduceSum", {"x", "axes"}, {"sum"}).node("Add", {"x", "sum"}, {"y"}).output("y");
  const Outcome o = checked(subject(m));
  EXPECT_EQ(o.differences.size(), settings().size() / 2);
  for (const std::string& d : o.differences) EXPECT_NE(d.find("'y' with"), std::string::npos) << d;
  for (const std::string& d : o.differences) EXPECT_NE(d.find("batch 8"), std::string::npos) << d;
}

TEST(Determinism, APublishedHashThatDiffersIsFoundUnderEverySetting) {
  GraphMaker m = with_x();
  m.node("Identity", {"x"}, {"y"}).output("y");
  const std::string wrong(32, '0');
  EXPECT_EQ(checked(subject(m), {{"y", wrong}}).differences.size(), settings().size());
  const Outcome o = checked(subject(m), {{"z", wrong}});
  EXPECT_EQ(o.differences.size(), settings().size() + 1);
  EXPECT_EQ(o.differences[0], "'z': published, but not computed");
}

TEST(Determinism, ValuesThatAreNotOnePartPerSampleAreLeftOut) {
  GraphMaker m = with_x();
  m.node("Shape", {"x"}, {"sizes"}).output("sizes");
  EXPECT_EQ(checked(subject(m)).left_out, std::vector<std::string>{"sizes"});
  m.node("Transpose", {"x"}, {"turned"}).output("turned");
  m.node("Identity", {"x"}, {"y"}).output("y");
  const Outcome o = checked(subject(m));
  EXPECT_EQ(o.left_out, (std::vector<std::string>{"sizes", "turned"}));
  EXPECT_EQ(o.hashes.size(), 1U);
  EXPECT_TRUE(o.differences.empty());
  GraphMaker scalar = with_x();
  scalar.node("ReduceSum", {"x"}, {"s"}, {{"keepdims", std::int64_t{0}}}).output("s");
  EXPECT_THROW(checked(subject(scalar)), Error);
}

TEST(HashTable, HoldsEveryNetworkUnderEveryEvaluationAndNoOther) {
  const HashTable table = published_hashes();
  std::size_t entries = 0;
  for (const Model& m : all_models()) {
    for (const std::string& e : m.evaluations()) {
      ASSERT_TRUE(table.contains(m.name) && table.at(m.name).evaluations.contains(e))
          << m.name << ' ' << e;
      EXPECT_EQ(table.at(m.name).evaluations.at(e).size(), m.make(e).outputs().size());
      ++entries;
    }
  }
  std::size_t published = 0;
  for (const auto& [name, model] : table) published += model.evaluations.size();
  EXPECT_EQ(published, entries);
}

TEST(HashTable, IsWrittenAndRead) {
  const test::TempDir dir;
  const Outcome o{.model = "m", .evaluation = "cr", .hashes = {{"y", std::string(32, 'a')}}};
  write_file(dir / "t.json", to_json_text(table_of({o}, "ab12")));
  const HashTable table = read_hash_table(dir / "t.json");
  EXPECT_EQ(table.at("m").sha256, "ab12");
  EXPECT_EQ(table.at("m").evaluations.at("cr").at("y"), std::string(32, 'a'));
  write_file(dir / "bad.json",
             R"({"schema": "assay-hashes/1", "models": {"m": {"evaluations": {}, "md5": ""}}})");
  EXPECT_THROW(read_hash_table(dir / "bad.json"), Error);
}

int selftest(const std::vector<std::string>& arguments, std::string* out = nullptr) {
  std::vector<const char*> argv{"assay", "selftest"};
  for (const std::string& a : arguments) argv.push_back(a.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run_command_line(static_cast<int>(argv.size()), argv.data());
  const std::string text = ::testing::internal::GetCapturedStdout();
  if (out != nullptr) *out = text;
  ::testing::internal::GetCapturedStderr();
  return code;
}

TEST(SelftestCommand, OneDigitOfThePublishedTableDecides) {
  const test::TempDir dir;
  HashTable table = published_hashes();
  const std::vector<std::string> run{"--determinism", "--evaluation", "onnx-qlinear-ref", "--table",
                                     (dir / "t.json").string()};
  write_file(dir / "t.json", to_json_text(table));
  EXPECT_EQ(selftest(run), 0);
  char& digit = table.at("integer").evaluations.at("onnx-qlinear-ref").at("gemm")[31];
  digit = digit == '0' ? '1' : '0';
  write_file(dir / "t.json", to_json_text(table));
  std::string out;
  EXPECT_EQ(selftest(run, &out), 5);
  EXPECT_NE(out.find("'gemm' with threads 3, batch 8, sse2: "), std::string::npos) << out;
  EXPECT_EQ(out.find("'conv'"), std::string::npos) << out;
  table.at("integer").evaluations.erase("onnx-qlinear-ref");
  write_file(dir / "t.json", to_json_text(table));
  EXPECT_EQ(selftest(run, &out), 5);
  EXPECT_NE(out.find("no published hashes"), std::string::npos) << out;
}

TEST(SelftestCommand, RefusesWhatItCannotTest) {
  EXPECT_EQ(selftest({}), 2);
  EXPECT_EQ(selftest({"--determinism", "--evaluation", "f16"}), 2);
  EXPECT_EQ(selftest({"--determinism", "--model", "no_such_file.onnx"}), 2);
}

}  // namespace
}  // namespace assay::selftest
