// Images: decoding, colour, resizing, cropping. Pixels are 8 bits, rows from the top, channels
// interleaved.
//
// Resizing is separable convolution with a triangle (bilinear), cubic (bicubic, a = -0.5) or box
// (nearest) filter centred on (i + 1/2) * scale - 1/2. With antialias the filter is stretched by
// the scale when shrinking, and each pass rounds to 8 bits, half up, which is what Pillow computes;
// without it the filter keeps its own width.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> pixels = {};  ///< height * width * channels
};

/// PNG, JPEG or PNM with `channels` 1 (luma) or 3 (RGB); 16-bit files are reduced to 8. Throws
/// Error naming the file.
Image read_image(const std::filesystem::path& file, std::int64_t channels);

struct ResizeSpec {
  std::string mode = "exact";  ///< exact: size = height, width; shorter: the shorter side;
                               ///< letterbox: fit inside, then pad
  std::vector<std::int64_t> size = {};
  std::string filter = "bilinear";  ///< nearest, bilinear, bicubic
  bool antialias = true;
  std::uint8_t pad = 0;  ///< letterbox fill
};

Image resize(const Image& image, const ResizeSpec& spec);
/// The centred height x width window; parts outside the image are 0.
Image center_crop(const Image& image, std::int64_t height, std::int64_t width);
/// Swaps the first and third channel (RGB to BGR).
void swap_red_blue(Image& image);

}  // namespace assay
