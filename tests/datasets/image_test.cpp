// Expected pixels come from Pillow 11 (Image.resize on the same array), an independent
// implementation.
#include "datasets/image.h"

#include <gtest/gtest.h>

#include "datasets/data_spec.h"
#include "runtime/file.h"

namespace assay::image_test {
namespace {

const Image sample{
    5, 4, 1, {0, 50, 100, 200, 10, 60, 255, 30, 90, 7, 33, 180, 255, 0, 128, 64, 1, 2, 3, 4}};

std::vector<std::uint8_t> resized(std::int64_t h, std::int64_t w, const std::string& filter) {
  return resize(sample, {.size = {h, w}, .filter = filter}).pixels;
}

TEST(Image, BilinearShrinksAsPillow) {
  EXPECT_EQ(resized(3, 2, "bilinear"), (std::vector<std::uint8_t>{49, 134, 69, 98, 56, 37}));
}

TEST(Image, BilinearGrowsAsPillow) {
  EXPECT_EQ(resized(5, 6, "bilinear"),
            (std::vector<std::uint8_t>{0,   25,  58, 92, 150, 200, 10,  35,  93,  222,
                                       143, 30,  90, 49, 11,  29,  107, 180, 255, 128,
                                       21,  107, 96, 64, 1,   2,   2,   3,   4,   4}));
}

TEST(Image, BicubicAsPillow) {
  EXPECT_EQ(resized(3, 3, "bicubic"),
            (std::vector<std::uint8_t>{4, 115, 145, 87, 59, 123, 83, 22, 38}));
}

TEST(Image, NearestAsPillow) {
  EXPECT_EQ(resized(2, 3, "nearest"), (std::vector<std::uint8_t>{10, 255, 30, 255, 128, 64}));
}

TEST(Image, ShorterSideKeepsTheRatio) {
  const Image r =
      resize(Image{10, 20, 1, std::vector<std::uint8_t>(200, 7)}, {.mode = "shorter", .size = {5}});
  EXPECT_EQ(r.height, 5);
  EXPECT_EQ(r.width, 10);
}

TEST(Image, LetterboxPads) {
  const Image r = resize(Image{1, 2, 1, {9, 9}}, {.mode = "letterbox", .size = {4, 4}, .pad = 114});
  EXPECT_EQ(r.pixels, (std::vector<std::uint8_t>{114, 114, 114, 114, 9, 9, 9, 9, 9, 9, 9, 9, 114,
                                                 114, 114, 114}));
}

TEST(Image, CenterCropOutsideIsZero) {
  EXPECT_EQ(center_crop(sample, 1, 2).pixels, (std::vector<std::uint8_t>{7, 33}));
  EXPECT_EQ(center_crop(Image{1, 1, 1, {5}}, 3, 3).pixels,
            (std::vector<std::uint8_t>{0, 0, 0, 0, 5, 0, 0, 0, 0}));
}

TEST(Image, UnreadableFilesAreNamed) {
  const auto file = std::filesystem::temp_directory_path() / "assay_not_an_image.png";
  write_file(file, "this is text");
  try {
    read_image(file, 3);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("assay_not_an_image.png"), std::string::npos);
  }
  std::filesystem::remove(file);
}

TEST(Image, PreprocessingByHand) {
  // (51 * (1/255) - 0.1) / 0.5 = 0.2; channel 2: (255/255 - 0.5) / 0.25 = 2
  InputSpec spec{.name = "x", .scale = 1.0 / 255, .mean = {0.1, 0.5}, .std = {0.5, 0.25}};
  const Tensor t = pixel_tensor(Tensor::of<std::uint8_t>(Shape{1, 2, 1, 1}, {51, 255}), spec);
  EXPECT_FLOAT_EQ(t.data<float>()[0], 0.2F);
  EXPECT_FLOAT_EQ(t.data<float>()[1], 2.0F);
  Image rgb{1, 1, 3, {1, 2, 3}};
  InputSpec bgr{.name = "x", .color = "bgr", .layout = "NHWC"};
  EXPECT_EQ(to_doubles(image_tensor(rgb, bgr)), (std::vector<double>{3, 2, 1}));
}

}  // namespace
}  // namespace assay::image_test
