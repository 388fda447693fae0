// Rows on which the double sum errs by nearly all that its proved radius allows, with the exact
// result just beyond a rounding boundary: a radius 2^10 times smaller would decide for the wrong
// side.
//
// The elements of one lane are B, C and many t of 0.45 ulp(B): in double each B + C + t is B + C,
// so the computed sum is short by 0.45 ulp per element. C is the float at which the correctly
// rounded result (MPFR) steps: there the exact result lies above the boundary by less than the
// step of C, and the double result lies below it.
#include <functional>

#include "tests/runtime/numeric/rows_oracle.h"

namespace assay::rows_hostile_test {
namespace {

using namespace test;

constexpr std::size_t kLane = 8;  // of rows_lanes.h: every eighth element

struct Hostile {
  double base_low, base_high;  ///< B
  float largest;               ///< C runs from 0 to this
  double share;                ///< t as a share of ulp(B), or of the root of it
  bool squares = false;        ///< elements are squared before they are added
};

Row row_of(float base, float step, float tiny, std::size_t per_lane) {
  Row x(per_lane * kLane, 0.0F);
  x[0] = base;
  x[kLane] = step;
  for (std::size_t i = 2; i < per_lane; ++i) x[i * kLane] = tiny;
  return x;
}

using Function = std::function<float(const Row&)>;

/// The first float C in (0, largest] at which `exact` has left its value at 0.
float stepping_point(const std::function<Row(float)>& row, const Function& exact, float largest) {
  const float start = exact(row(0));
  std::uint32_t low = 0, high = std::bit_cast<std::uint32_t>(largest);
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (exact(row(std::bit_cast<float>(middle))) == start ? low : high) = middle;
  }
  return std::bit_cast<float>(high);
}

void check(const Hostile& h, float (*computed)(std::span<const float>), const Function& exact) {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> uniform(h.base_low, h.base_high);
  for (int round = 0; round < 8; ++round) {
    const auto base = static_cast<float>(uniform(rng));
    const double size = h.squares ? static_cast<double>(base) * static_cast<double>(base) : base;
    const double ulp = std::ldexp(1.0, std::ilogb(size) - 52);
    const auto tiny = static_cast<float>(h.squares ? std::sqrt(h.share * ulp) : h.share * ulp);
    const auto row = [&](float c) { return row_of(base, c, tiny, 400); };
    const float at = stepping_point(row, exact, h.largest);
    for (const float c : {at, std::nextafter(at, 0.0F)}) {
      const Row x = row(c);
      expect_same(computed(x), exact(x));
    }
  }
}

Function on_sum(const std::function<void(mpfr_ptr)>& finish, bool squares = false) {
  return [=](const Row& x) {
    Real sum;
    squares ? exact_squares(sum, x) : exact_sum(sum, x);
    finish(sum.value);
    return sum.to_float();
  };
}

const Hostile kSum{1, 2, 0x1p-22F, 0.45};
const Hostile kSquares{1.0, 1.4, 0x1p-11F, 0.45, true};
const auto keep = [](mpfr_ptr) {};

TEST(RowsHostile, Sum) { check(kSum, cr_sum, on_sum(keep)); }
TEST(RowsHostile, SumAbs) { check(kSum, cr_sum_abs, on_sum(keep)); }
TEST(RowsHostile, Mean) {
  check(kSum, cr_mean, on_sum([](mpfr_ptr s) { mpfr_div_ui(s, s, 3200, MPFR_RNDN); }));
}
TEST(RowsHostile, SumSquare) { check(kSquares, cr_sum_square, on_sum(keep, true)); }
TEST(RowsHostile, L2) {
  check(kSquares, cr_l2, on_sum([](mpfr_ptr s) { mpfr_sqrt(s, s, MPFR_RNDN); }, true));
}
TEST(RowsHostile, LogSum) {
  check({3, 4, 0x1p-19F, 0.45}, cr_log_sum, on_sum([](mpfr_ptr s) { mpfr_log(s, s, MPFR_RNDN); }));
}

}  // namespace
}  // namespace assay::rows_hostile_test
