// A product of an unsigned and a signed code, at most 255 * 128, fits int16; sums are kept in int32
// modulo 2^32 and zero points are corrected at the end as in int_gemm_driver.h:
//   sum (c - zc)(r - zr) = sum c r - zc sum r - zr sum c + k zc zr.
#include "runtime/numeric/int_depthwise.h"

#include <algorithm>
#include <vector>

#include "runtime/numeric/int_gemm_driver.h"
#include "runtime/numeric/parallel.h"

namespace assay::dot {
namespace {

constexpr int kWidth = 32;  // outputs formed side by side; a constant, so that compilers vectorize

struct Sums {
  uint32_t products[kWidth];
  uint32_t codes[kWidth];
};

struct Filter {
  std::vector<int16_t> weights;  // signed form, in the order of the plan's taps
  uint32_t sum = 0;
  uint32_t zero = 0;
};

Filter read_filter(const IntConvArgs& args, const ConvPlan& plan, int64_t oc) {
  Filter f;
  const auto* codes = static_cast<const uint8_t*>(args.w.data) + weight_index(plan, oc, 0, 0);
  const uint8_t flip = args.w.is_signed ? 0 : 0x80;
  for (const int64_t tap : plan.weight) {
    f.weights.push_back(static_cast<int8_t>(codes[tap] ^ flip));
    f.sum += static_cast<uint32_t>(f.weights.back());
  }
  f.zero = static_cast<uint32_t>(signed_zero_point(args.w, oc));
  return f;
}

void add_taps(const uint8_t* base, const ConvPlan& plan, const Filter& f, Sums& s) {
  std::fill_n(s.products, kWidth, 0U);
  std::fill_n(s.codes, kWidth, 0U);
  for (size_t t = 0; t < f.weights.size(); ++t) {
    const uint8_t* x = base + plan.row_offset[t];
    const int16_t w = f.weights[t];
    for (int j = 0; j < kWidth; ++j)
      s.products[j] += static_cast<uint32_t>(static_cast<int16_t>(static_cast<int16_t>(x[j]) * w));
    if (f.zero != 0)
      for (int j = 0; j < kWidth; ++j) s.codes[j] += x[j];
  }
}

}  // namespace

void run_int_depthwise(const IntConvArgs& args, const ConvPlan& plan, const uint8_t* planes) {
  const int64_t length = plan.axis[2].out, channels = plan.shape.batch * plan.shape.out_channels;
  const auto code_zero = static_cast<uint32_t>(unsigned_zero_point(args.x, 0));
  parallel_for(0, channels, 4, [&](int64_t first, int64_t last) {
    Sums sums;
    for (int64_t i = first; i < last; ++i) {
      const Filter f = read_filter(args, plan, i % plan.shape.out_channels);
      const uint8_t* plane = planes + i / plan.out_group() * plan.plane;
      const uint32_t shared = code_zero * (static_cast<uint32_t>(plan.k()) * f.zero - f.sum);
      for (int64_t col = 0; col < plan.cols(); col += length)
        for (int64_t at = 0; at < length; at += kWidth) {
          add_taps(plane + plan.base(col + at), plan, f, sums);
          int32_t* out = args.y + i * plan.cols() + col + at;
          const int64_t count = std::min<int64_t>(kWidth, length - at);
          for (int64_t j = 0; j < count; ++j)
            out[j] = static_cast<int32_t>(sums.products[j] + shared - f.zero * sums.codes[j]);
        }
    }
  });
}

}  // namespace assay::dot
