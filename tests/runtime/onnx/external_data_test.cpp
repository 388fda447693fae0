// External data: the case S-30 as unit tests, on reading and on writing.
#include "runtime/onnx/external_data.h"

#include "runtime/onnx/writer.h"
#include "tests/runtime/onnx/model_text.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace assay::test::external_data_test {
namespace {

namespace fs = std::filesystem;

const std::string numbers("\0\0\x20\x41\0\0\xa0\x41", 8);  // 10, 20

onnx::ModelProto model_at(const std::string& location, const std::string& more = {}) {
  auto model =
      model_of("initializer { name: 'stored_weight' dims: 2 data_type: 1 data_location: EXTERNAL " +
               more + " } output { name: 'stored_weight' }");
  auto* entry = model.mutable_graph()->mutable_initializer(0)->add_external_data();
  entry->set_key("location"), entry->set_value(location);
  return model;
}

class ExternalDataTest : public ::testing::Test {
 protected:
  Tensor read(const std::string& location, const std::string& more = {}) {
    const auto file = dir.write("m/model.onnx", model_at(location, more).SerializeAsString());
    return *read_onnx(file).constant(ValueId{0});
  }
  void refused(const std::string& location, const std::vector<std::string>& parts = {},
               const std::string& more = {}) {
    SCOPED_TRACE(location);
    auto all = parts;
    all.push_back("stored_weight");
    expect_error([&] { read(location, more); }, ErrorKind::bad_input, all);
    if (more.empty()) {
      expect_error([&] { external_target(dir / "m/model.onnx", location); }, ErrorKind::bad_input,
                   {"external data"});
    }
  }
  TempDir dir;
};

TEST_F(ExternalDataTest, S30_BadLocationsAreRefused) {
  dir.write("w.bin", numbers);
  dir.write("m/sub/w.bin", numbers);
  dir.write("m/w.bin", numbers);
  refused("../w.bin", {"steps out"});
  refused("sub/../../w.bin", {"steps out"});
  refused((dir / "w.bin").string(), {"absolute"});
  refused("", {"empty"});
  refused(".", {});
  refused("./w.bin", {});
  refused("sub", {"not a"});
  refused("sub/", {});
  refused(std::string("w.bin\0.txt", 10), {"zero byte"});
  refused("..\\w.bin", {"backslash"});
  refused("C:w.bin", {"absolute"});
}

TEST_F(ExternalDataTest, S30_LinksThatLeaveAreRefused) {
  dir.write("w.bin", numbers);
  dir.write("other/w.bin", numbers);
  fs::create_directories(dir / "m");
  fs::create_symlink("../w.bin", dir / "m/w.bin");
  fs::create_symlink("../other", dir / "m/sub");
  refused("w.bin", {"link"});
  refused("sub/w.bin", {"link"});
  fs::create_hard_link(dir / "w.bin", dir / "m/hard.bin");
  expect_error([&] { read("hard.bin"); }, ErrorKind::bad_input, {"stored_weight", "hard links"});
}

TEST_F(ExternalDataTest, S30_GoodLocationsLoad) {
  dir.write("m/w.bin", numbers);
  dir.write("m/sub/w.bin", numbers);
  expect_values(read("w.bin"), {2}, {10, 20});
  expect_values(read("sub/w.bin"), {2}, {10, 20});
  EXPECT_EQ(external_target(dir / "m/model.onnx", "sub/w.bin"), fs::canonical(dir / "m/sub/w.bin"));
}

TEST_F(ExternalDataTest, S30_ModelThatIsALinkReadsBesideItsTarget) {
  dir.write("real/w.bin", numbers);
  dir.write("real/model.onnx", model_at("w.bin").SerializeAsString());
  fs::create_directories(dir / "m");
  fs::create_symlink("../real/model.onnx", dir / "m/model.onnx");
  expect_values(*read_onnx(dir / "m/model.onnx").constant(ValueId{0}), {2}, {10, 20});
}

TEST_F(ExternalDataTest, OffsetAndLengthAreChecked) {
  dir.write("m/w.bin", std::string(4, 'x') + numbers);
  const auto entry = [](const std::string& key, const std::string& value) {
    return "external_data { key: '" + key + "' value: '" + value + "' } ";
  };
  expect_values(read("w.bin", entry("offset", "4") + entry("length", "8")), {2},
                {10, 20});  // misaligned: copied
  refused("w.bin", {"too short", "12 bytes"}, entry("offset", "8"));
  refused("w.bin", {"4 bytes", "8 bytes"}, entry("offset", "4") + entry("length", "4"));
  refused("w.bin", {"offset"}, entry("offset", "-4"));
  refused("w.bin", {"offset"}, entry("offset", "4x"));
  refused("w.bin", {}, entry("offset", "99999999999999999999"));
  refused("w.bin", {}, entry("offset", "9223372036854775807"));
  refused("none.bin", {"missing"}, " ");
}

TEST_F(ExternalDataTest, BothExternalAndStoredIsRefused) {
  dir.write("m/w.bin", numbers);
  refused("w.bin", {"both"}, "float_data: [1, 2]");
}

TEST_F(ExternalDataTest, FromMemoryNothingIsOpened) {
  expect_error([] { test::read(model_at("w.bin")); }, ErrorKind::bad_input,
               {"stored_weight", "not allowed"});
}

TEST_F(ExternalDataTest, S30_WritingRefusesALinkOfTheName) {
  dir.write("precious", "precious");
  fs::create_directories(dir / "m");
  fs::create_symlink("../precious", dir / "m/out.onnx.data");
  Graph g;
  g.info.opsets[""] = 13;
  g.add_output(g.add_initializer("w", Tensor::zeros(DType::float32, {1024})));
  expect_error([&] { write_onnx(g, dir / "m/out.onnx", {.max_inline_bytes = 100}); },
               ErrorKind::bad_input, {"link"});
  EXPECT_EQ(fs::file_size(dir / "precious"), 8U);
  EXPECT_FALSE(fs::exists(dir / "m/out.onnx"));
}

}  // namespace
}  // namespace assay::test::external_data_test
