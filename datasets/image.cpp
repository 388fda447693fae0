#include "datasets/image.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "runtime/error.h"
#include "runtime/file.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_FAILURE_USERMSG
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_GIF
#define STBI_NO_PSD
#define STBI_NO_PIC
#define STBI_NO_TGA
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace assay {
namespace {

constexpr int weight_bits = 22;
constexpr std::int64_t weight_one = std::int64_t{1} << weight_bits;

struct Filter {
  double support;
  double (*weight)(double);
};

double triangle(double x) { return std::max(0.0, 1 - std::fabs(x)); }

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

Filter filter_named(const std::string& name) {
  if (name == "bicubic") return {2.0, cubic};
  return {1.0, triangle};
}

/// Weights of the source positions [first, first + weights.size()) for one target position.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int64_t> weights;  // in units of 2^-22, as Pillow: sums are exact integers
};

Taps nearest_taps(std::int64_t i, double scale, std::int64_t from) {
  const auto at = static_cast<std::int64_t>(std::floor((static_cast<double>(i) + 0.5) * scale));
  return {std::clamp<std::int64_t>(at, 0, from - 1), {weight_one}};
}

Taps filtered_taps(std::int64_t i, double scale, std::int64_t from, const ResizeSpec& spec) {
  const Filter filter = filter_named(spec.filter);
  const double stretch = spec.antialias ? std::max(scale, 1.0) : 1.0;
  const double center = (static_cast<double>(i) + 0.5) * scale;
  const double reach = filter.support * stretch;
  const auto first =
      std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(center - reach + 0.5)));
  const auto last = std::min(from, static_cast<std::int64_t>(std::floor(center + reach + 0.5)));
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t s = first; s < last; ++s) {
    weights.push_back(filter.weight((static_cast<double>(s) + 0.5 - center) / stretch));
    sum += weights.back();
  }
  Taps taps{first, {}};
  for (const double w : weights)
    taps.weights.push_back(std::llround(w / sum * static_cast<double>(weight_one)));
  return taps;
}

std::vector<Taps> taps_for(std::int64_t from, std::int64_t to, const ResizeSpec& spec) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<Taps> all;
  for (std::int64_t i = 0; i < to; ++i) {
    all.push_back(spec.filter == "nearest" ? nearest_taps(i, scale, from)
                                           : filtered_taps(i, scale, from, spec));
  }
  return all;
}

std::uint8_t to_byte(std::int64_t sum) {
  return static_cast<std::uint8_t>(
      std::clamp<std::int64_t>((sum + weight_one / 2) >> weight_bits, 0, 255));
}

Image blank(std::int64_t height, std::int64_t width, std::int64_t channels, std::uint8_t fill = 0) {
  return {height, width, channels,
          std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * channels), fill)};
}

std::size_t at(const Image& image, std::int64_t y, std::int64_t x, std::int64_t c) {
  return static_cast<std::size_t>((y * image.width + x) * image.channels + c);
}

Image resize_width(const Image& in, std::int64_t width, const ResizeSpec& spec) {
  if (width == in.width) return in;
  Image out = blank(in.height, width, in.channels);
  const auto taps = taps_for(in.width, width, spec);
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const Taps& t = taps[static_cast<std::size_t>(x)];
      for (std::int64_t c = 0; c < in.channels; ++c) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < t.weights.size(); ++k) {
          sum += t.weights[k] * in.pixels[at(in, y, t.first + static_cast<std::int64_t>(k), c)];
        }
        out.pixels[at(out, y, x, c)] = to_byte(sum);
      }
    }
  }
  return out;
}

Image transposed(const Image& in) {
  Image out = blank(in.width, in.height, in.channels);
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      for (std::int64_t c = 0; c < in.channels; ++c)
        out.pixels[at(out, x, y, c)] = in.pixels[at(in, y, x, c)];
    }
  }
  return out;
}

Image resize_to(const Image& in, std::int64_t height, std::int64_t width, const ResizeSpec& spec) {
  const Image wide = resize_width(in, width, spec);
  if (height == in.height) return wide;
  return transposed(resize_width(transposed(wide), height, spec));
}

/// Copies `in` into `out` with its top-left corner at (top, left); what falls outside is lost.
Image placed(const Image& in, std::int64_t top, std::int64_t left, Image out) {
  for (std::int64_t y = std::max<std::int64_t>(0, -top); y < in.height && y + top < out.height;
       ++y) {
    for (std::int64_t x = std::max<std::int64_t>(0, -left); x < in.width && x + left < out.width;
         ++x) {
      for (std::int64_t c = 0; c < in.channels; ++c)
        out.pixels[at(out, y + top, x + left, c)] = in.pixels[at(in, y, x, c)];
    }
  }
  return out;
}

Image letterbox(const Image& in, const ResizeSpec& spec) {
  const double scale = std::min(static_cast<double>(spec.size[0]) / static_cast<double>(in.height),
                                static_cast<double>(spec.size[1]) / static_cast<double>(in.width));
  const auto fit = [&](std::int64_t side, std::int64_t limit) {
    return std::clamp<std::int64_t>(std::llround(static_cast<double>(side) * scale), 1, limit);
  };
  const Image inner =
      resize_to(in, fit(in.height, spec.size[0]), fit(in.width, spec.size[1]), spec);
  return placed(inner, (spec.size[0] - inner.height) / 2, (spec.size[1] - inner.width) / 2,
                blank(spec.size[0], spec.size[1], in.channels, spec.pad));
}

}  // namespace

Image read_image(const std::filesystem::path& file, std::int64_t channels) {
  const std::string bytes = read_file(file);
  int width = 0;
  int height = 0;
  int found = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                            static_cast<int>(bytes.size()), &width, &height, &found,
                            static_cast<int>(channels)),
      stbi_image_free);
  if (!pixels) {
    throw Error({.what = std::string("cannot be decoded as an image: ") + stbi_failure_reason(),
                 .where = file.string(),
                 .expected = "PNG, JPEG or PNM"});
  }
  const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                     static_cast<std::size_t>(channels);
  return {height, width, channels, {pixels.get(), pixels.get() + count}};
}

Image resize(const Image& image, const ResizeSpec& spec) {
  if (spec.mode == "letterbox") return letterbox(image, spec);
  if (spec.mode == "exact") return resize_to(image, spec.size[0], spec.size[1], spec);
  // shorter: the other side is truncated, as torchvision does
  const std::int64_t size = spec.size[0];
  if (image.height <= image.width)
    return resize_to(image, size, size * image.width / image.height, spec);
  return resize_to(image, size * image.height / image.width, size, spec);
}

Image center_crop(const Image& image, std::int64_t height, std::int64_t width) {
  // Halves are rounded to even, as Python's round does in torchvision.
  const auto start = [](std::int64_t have, std::int64_t want) {
    return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(have - want) / 2));
  };
  return placed(image, -start(image.height, height), -start(image.width, width),
                blank(height, width, image.channels));
}

void swap_red_blue(Image& image) {
  if (image.channels != 3) return;
  for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3)
    std::swap(image.pixels[i], image.pixels[i + 2]);
}

}  // namespace assay
