#include "datasets/dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "runtime/file.h"
#include "runtime/npy.h"
#include "tests/support/source_dir.h"

namespace assay::dataset_test {
namespace {

namespace fs = std::filesystem;

Graph one_input(std::vector<Dim> dims, const std::string& name = "input") {
  Graph g;
  g.add_output(g.add_input(name, {DType::float32, std::move(dims)}));
  return g;
}

Graph digits_graph() { return one_input({{-1, "N"}, {1}, {28}, {28}}); }

fs::path scratch(const std::string& name) {
  const fs::path p = fs::temp_directory_path() / ("assay_" + name);
  fs::remove_all(p);
  fs::create_directories(p);
  return p;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(Dataset, DigitsTestSplit) {
  const auto data = open_dataset(source_dir() / "datasets/digits", "test", digits_graph());
  EXPECT_EQ(data->size(), 1000);
  const Sample s = data->load(999);
  EXPECT_EQ(s.inputs.at("input").shape(), (Shape{1, 1, 28, 28}));
  ASSERT_TRUE(s.label.has_value());
  // MNIST's corners are black: (0 - 0.1307) / 0.3081, in double, rounded once
  EXPECT_EQ(s.inputs.at("input").data<float>()[0], static_cast<float>((0.0 - 0.1307) / 0.3081));
  EXPECT_EQ(data->info().task.kind, "classification");
}

TEST(Dataset, DigitsCalibrationImages) {
  const auto data = open_dataset(source_dir() / "datasets/digits", "calibration", digits_graph());
  EXPECT_EQ(data->size(), 256);
  const Batch b = load_batch(*data, 0, 3);
  EXPECT_EQ(b.inputs.at("input").shape(), (Shape{3, 1, 28, 28}));
}

TEST(Dataset, FaultsNameFileAndField) {
  const fs::path dir = scratch("dataset");
  const auto open = [&] { open_dataset(dir, "", digits_graph()); };
  EXPECT_NE(message_of(open).find("not a data set"), std::string::npos);
  write_file(
      dir / "data.json",
      R"({"schema":"assay-data/1","inputs":[{"name":"input","kind":"picture"}],"splits":{"test":"t"}})");
  EXPECT_NE(message_of(open).find("inputs[0]: kind"), std::string::npos);
  write_file(
      dir / "data.json",
      R"({"schema":"assay-data/1","inputs":[{"name":"input","kind":"npy","sise":3}],"splits":{"test":"t"}})");
  EXPECT_NE(message_of(open).find("unknown field"), std::string::npos);
  write_file(
      dir / "data.json",
      R"({"schema":"assay-data/1","inputs":[{"name":"input","kind":"npy"}],"splits":{"test":"t.jsonl"}})");
  EXPECT_NE(message_of(open).find("t.jsonl"), std::string::npos);
  write_file(dir / "t.jsonl", "\n");
  EXPECT_NE(message_of(open).find("empty"), std::string::npos);
  write_file(dir / "t.jsonl", R"({"id":"a","inputs":{"input":"../../etc/passwd"}})");
  EXPECT_NE(message_of([&] { open_dataset(dir, "", digits_graph())->load(0); }).find("outside"),
            std::string::npos);
}

TEST(Dataset, NpyNpzRawAndSha256) {
  const fs::path dir = scratch("kinds");
  const Tensor t = Tensor::of<float>(Shape{2}, {1, 2});
  write_npy(dir / "a.npy", t);
  write_file(dir / "a.bin", std::string_view(reinterpret_cast<const char*>(t.raw().data()), 8));
  const Graph g = one_input({{-1}, {2}});
  const auto load = [&](const std::string& kind, const std::string& file, const std::string& more) {
    write_file(dir / "data.json",
               R"({"schema":"assay-data/1","inputs":[{"name":"input","shape":[1,2],"kind":")" +
                   kind + R"("}],"splits":{"test":"t.jsonl"}})");
    write_file(dir / "t.jsonl", R"({"id":"a","inputs":{"input":")" + file + "\"}" + more + "}");
    return open_dataset(dir, "test", g)->load(0).inputs.at("input");
  };
  EXPECT_EQ(load("npy", "a.npy", "").shape(), (Shape{1, 2}));  // the sample axis is added
  EXPECT_TRUE(same_bits(load("raw", "a.bin", ""), t.reshaped({1, 2})));
  const std::string good = sha256_of_file(dir / "a.npy");
  EXPECT_NO_THROW(load("npy", "a.npy", R"(,"sha256":{"input":")" + good + "\"}"));
  EXPECT_NE(message_of([&] { load("npy", "a.npy", R"(,"sha256":{"input":"00"})"); }).find("sha256"),
            std::string::npos);
}

TEST(Dataset, SyntheticIsSeededAndNamesShape) {
  const Graph g = one_input({{-1, "N"}, {2}});
  const auto a = synthetic_dataset(g, {}, 3, 1);
  EXPECT_TRUE(a->info().synthetic);
  EXPECT_TRUE(same_bits(a->load(1).inputs.at("input"),
                        synthetic_dataset(g, {}, 9, 1)->load(1).inputs.at("input")));
  EXPECT_FALSE(same_bits(a->load(1).inputs.at("input"), a->load(2).inputs.at("input")));
  const Graph open_shape = one_input({{1}, {3}, {-1, "H"}, {-1, "W"}});
  EXPECT_NE(message_of([&] { synthetic_dataset(open_shape, {}, 1, 1); }).find("--shape input="),
            std::string::npos);
  EXPECT_EQ(synthetic_dataset(open_shape, {{"input", Shape{1, 3, 4, 5}}}, 1, 1)
                ->load(0)
                .inputs.at("input")
                .shape(),
            (Shape{1, 3, 4, 5}));
}

TEST(Dataset, SyntheticFillIsNormal) {
  const auto v = to_doubles(synthetic_tensor(DType::float32, Shape{100000}, 7, "x"));
  double sum = 0;
  double square = 0;
  for (const double x : v) {
    sum += x;
    square += x * x;
  }
  // 100,000 standard normals: mean within 5 / sqrt(n), variance within 5 * sqrt(2 / n)
  EXPECT_LT(std::fabs(sum / 1e5), 0.0159);
  EXPECT_NEAR(square / 1e5, 1.0, 0.0224);
}

TEST(Dataset, UnlikeShapesCannotShareABatch) {
  EXPECT_THROW(
      stack_rows({Tensor::zeros(DType::float32, {1, 2}), Tensor::zeros(DType::float32, {1, 3})},
                 "x"),
      Error);
}

}  // namespace
}  // namespace assay::dataset_test
