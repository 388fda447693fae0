// Bytes written by hand after the format's description, so that reader and writer are checked
// apart.
#include "runtime/npy.h"

#include <gtest/gtest.h>

#include "runtime/file.h"

namespace assay::npy_test {
namespace {

std::string file_of(const std::string& header, const std::string& body) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size());
  out += '\0';
  return out + header + body;
}

Tensor parse(const std::string& bytes) {
  return parse_npy(std::as_bytes(std::span(bytes)), "test");
}

TEST(Npy, ReadsLittleEndianFloat) {
  const auto t = parse(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
                               std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8)));
  EXPECT_EQ(t.shape(), (Shape{2}));
  EXPECT_EQ(t.data<float>()[0], 1.0F);
  EXPECT_EQ(t.data<float>()[1], -2.0F);
}

TEST(Npy, ReadsBigEndianAndFortranOrder) {
  // [[1, 2], [3, 4]] stored by columns: 1 3 2 4
  const auto t = parse(file_of("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n",
                               std::string("\x00\x01\x00\x03\x00\x02\x00\x04", 8)));
  EXPECT_EQ(to_ints(t), (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST(Npy, ScalarAndEmpty) {
  EXPECT_EQ(parse(file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", "\x07"))
                .data<std::uint8_t>()[0],
            7);
  EXPECT_EQ(
      parse(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }\n", "")).shape(),
      (Shape{0, 3}));
}

TEST(Npy, RefusesBadFiles) {
  EXPECT_THROW(parse(""), Error);
  EXPECT_THROW(parse("hello, this is text"), Error);
  EXPECT_THROW(
      parse(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", "1234")), Error);
  EXPECT_THROW(
      parse(file_of("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n", "12345678")),
      Error);
  EXPECT_THROW(parse(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n",
                             "1234")),
               Error);
  EXPECT_THROW(
      parse(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }\n",
                    "")),
      Error);
}

TEST(Npy, WrittenHeaderIsWhatNumpyWrites) {
  const std::string bytes = npy_bytes(Tensor::of<float>(Shape{1, 2}, {1, -2}));
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ((static_cast<unsigned char>(bytes[8]) + 10) % 64, 0U);
  EXPECT_NE(bytes.find("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"),
            std::string::npos);
  EXPECT_NE(npy_bytes(Tensor::of<bool>(Shape{3}, {true, false, true}))
                .find("'|b1', 'fortran_order': False, 'shape': (3,), }"),
            std::string::npos);
  EXPECT_TRUE(same_bits(parse(bytes), Tensor::of<float>(Shape{1, 2}, {1, -2})));
}

TEST(File, Sha256OfAbc) {
  // FIPS 180-2, appendix B.1
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(File, FolderIsReplacedWhole) {
  const auto root = std::filesystem::temp_directory_path() / "assay_folder_test";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  write_folder(root / "out", [](const auto& dir) { write_file(dir / "a", "1"); });
  write_folder(root / "out", [](const auto& dir) { write_file(dir / "b", "2"); });
  EXPECT_FALSE(std::filesystem::exists(root / "out" / "a"));
  EXPECT_EQ(read_file(root / "out" / "b"), "2");
  EXPECT_THROW(write_folder(root / "out", [](const auto&) { throw Error({.what = "no"}); }), Error);
  EXPECT_EQ(read_file(root / "out" / "b"), "2");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root), {}), 1);
  std::filesystem::remove_all(root);
}

TEST(File, UnwritablePlacesAreNamed) {
  const auto file = std::filesystem::temp_directory_path() / "assay_plain_file";
  write_file(file, "x");
  EXPECT_THROW(check_writable_folder(file), Error);
  EXPECT_THROW(check_writable_folder(file / "below"), Error);
  EXPECT_THROW(read_file("/nonexistent/file"), Error);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay::npy_test
