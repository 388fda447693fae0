// Tensors in all stored forms; the cases S-31 and S-33 as unit tests.
#include <cstring>

#include "runtime/mapped_file.h"
#include "runtime/onnx/writer.h"
#include "tests/runtime/onnx/model_text.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace assay::test::tensor_storage_test {
namespace {

Tensor stored(const std::string& fields, const TempDir* dir = nullptr) {
  const auto model = model_of("initializer { name: 'w' " + fields + " } output { name: 'w' }");
  if (dir == nullptr) return *read(model).constant(ValueId{0});
  return *read_onnx(dir->write("m.onnx", model.SerializeAsString())).constant(ValueId{0});
}

void refused(const std::string& fields, const std::vector<std::string>& parts) {
  expect_error([&] { stored(fields); }, ErrorKind::bad_input, parts);
}

TEST(TensorStorage, S31_CountsAreCheckedFirst) {
  refused("dims: 128 data_type: 3", {"'w'", "128", "got 0"});
  refused("dims: 1 data_type: 7 raw_data: '" + std::string(4096, 'x') + "'",
          {"'w'", "4096 bytes", "8 bytes"});
  refused("dims: -1 data_type: 1 float_data: 1", {"'w'", "negative"});
  refused("dims: 4294967296 dims: 4294967296 data_type: 1", {"'w'", "2^63"});
  refused("dims: 4611686018427387904 data_type: 11", {"'w'"});
  refused("dims: 2 data_type: 1 float_data: [1, 2] raw_data: '12345678'",
          {"'w'", "both raw and typed"});
  refused("dims: 2 dims: 2 data_type: 1 float_data: [1, 2, 3]", {"'w'", "got 3", "4"});
  refused("dims: 2 data_type: 1 int32_data: [1, 2]", {"'w'"});                // the wrong field
  refused("dims: 2 data_type: 1 float_data: [1, 2] int64_data: 1", {"'w'"});  // two fields
  refused("dims: 2 data_type: 0 float_data: [1, 2]", {"'w'", "no element type"});
}

TEST(TensorStorage, S33_HalfInEveryForm) {
  const TempDir dir;
  const std::vector<double> want = {1, -2, 0.5};
  expect_values(stored("dims: 3 data_type: 10 int32_data: [15360, 49152, 14336]"), {3}, want);
  expect_values(stored("dims: 3 data_type: 10 raw_data: '\\000\\074\\000\\300\\000\\070'"), {3},
                want);
  dir.write("w.bin", std::string("\0\x3c\0\xc0\0\x38", 6));
  expect_values(stored("dims: 3 data_type: 10 data_location: EXTERNAL external_data { key: "
                       "'location' value: 'w.bin' }",
                       &dir),
                {3}, want);
  // Bits above the element are ignored.
  expect_values(stored("dims: 3 data_type: 10 int32_data: [80896, 114688, 79872]"), {3}, want);
}

TEST(TensorStorage, S33_BFloat16InEveryForm) {
  const std::vector<double> want = {0.25, 0.5, 1, 2};
  expect_values(
      stored("dims: [2, 2] data_type: 16 raw_data: '\\200\\076\\000\\077\\200\\077\\000\\100'"),
      {2, 2}, want);
  expect_values(stored("dims: [2, 2] data_type: 16 int32_data: [16000, 16128, 16256, 16384]"),
                {2, 2}, want);
}

TEST(TensorStorage, EveryTypeInItsFieldAndRaw) {
  expect_values(stored("dims: 2 data_type: 1 float_data: [1.5, -0.0]"), {2}, {1.5, -0.0});
  expect_values(stored("dims: 2 data_type: 11 double_data: [1e300, 2]"), {2}, {1e300, 2});
  expect_values(stored("dims: 2 data_type: 2 int32_data: [255, 0]"), {2}, {255, 0});
  expect_values(stored("dims: 2 data_type: 3 int32_data: [-128, 127]"), {2}, {-128, 127});
  expect_values(stored("dims: 2 data_type: 4 int32_data: [65535, 1]"), {2}, {65535, 1});
  expect_values(stored("dims: 2 data_type: 5 int32_data: [-32768, 1]"), {2}, {-32768, 1});
  expect_values(stored("dims: 1 data_type: 6 int32_data: -5"), {1}, {-5});
  expect_values(stored("dims: 1 data_type: 7 int64_data: -5"), {1}, {-5});
  expect_values(stored("dims: 2 data_type: 9 int32_data: [1, 0]"), {2}, {1, 0});
  expect_values(stored("dims: 1 data_type: 12 uint64_data: 4294967295"), {1}, {4294967295.0});
  expect_values(stored("dims: 1 data_type: 13 uint64_data: 9007199254740993"), {1},
                {9007199254740992.0});
  expect_values(stored("dims: 2 data_type: 9 raw_data: '\\002\\000'"), {2},
                {1, 0});  // any non-zero byte is true
  expect_values(stored("dims: 1 data_type: 1 raw_data: '\\000\\000\\200\\277'"), {1}, {-1});
  expect_values(stored("data_type: 1 float_data: 3"), {}, {3});
  expect_values(stored("dims: 0 data_type: 1"), {0}, {});
}

TEST(TensorStorage, StringsLoadAndCannotBeUsed) {
  const Tensor t = stored("dims: 2 data_type: 8 string_data: ['a', 'b']");
  EXPECT_EQ(t.dtype(), DType::string);
  expect_error([&] { to_doubles(t); }, ErrorKind::unsupported, {"string"});
}

TEST(TensorStorage, TensorFileRoundTrip) {
  const TempDir dir;
  const Tensor t = Tensor::of<float>({2, 2}, {1, 2, 3, -0.0F});
  write_tensor_file(t, "image", dir / "input_0.pb");
  std::string name;
  EXPECT_TRUE(same_bits(read_tensor_file(dir / "input_0.pb", &name), t));
  EXPECT_EQ(name, "image");
  dir.write("cut.pb", "\x08");
  expect_error([&] { read_tensor_file(dir / "cut.pb"); }, ErrorKind::bad_input, {"cut.pb"});
}

}  // namespace
}  // namespace assay::test::tensor_storage_test
