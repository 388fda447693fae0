// Conv: literals, every form of padding, groups, ranks, special values, the exact oracle, packed
// weights, radii.
#include <gtest/gtest.h>

#include <limits>

#include "runtime/numeric/exact_accumulator.h"
#include "runtime/numeric/parallel.h"
#include "tests/support/op_call.h"

namespace assay::test::conv_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Conv, OneDimension) {
  const Tensor x = tensor({1, 1, 4}, {1, 2, 3, 4}), w = tensor({1, 1, 2}, {1, 10});
  EXPECT_EQ(values(run_one({"Conv", {x, w}})), (Floats{21, 32, 43}));
  EXPECT_EQ(values(run_one({"Conv", {x, w, tensor({1}, {0.5F})}, {{"strides", Ints{2}}}})),
            (Floats{21.5F, 43.5F}));
  EXPECT_EQ(values(run_one({"Conv", {x, w}, {{"dilations", Ints{2}}}})), (Floats{31, 42}));
}

// Public case S-12: channels of a grouped convolution with two outputs per group.
TEST(Conv, GroupsKeepTheirChannels) {
  const Tensor x = tensor({1, 2, 1, 1}, {1, 10}), w = tensor({4, 1, 1, 1}, {1, 2, 3, 4});
  EXPECT_EQ(values(run_one({"Conv", {x, w}, {{"group", std::int64_t{2}}}})),
            (Floats{1, 2, 30, 40}));
}

TEST(Conv, PaddingForms) {
  const Tensor x = tensor({1, 1, 3}, {1, 2, 3}), w = tensor({1, 1, 2}, {1, 10});
  EXPECT_EQ(values(run_one({"Conv", {x, w}, {{"pads", Ints{1, 0}}}})), (Floats{10, 21, 32}));
  EXPECT_EQ(values(run_one({"Conv", {x, w}, {{"auto_pad", std::string("SAME_UPPER")}}})),
            (Floats{21, 32, 3}));
  EXPECT_EQ(values(run_one({"Conv", {x, w}, {{"auto_pad", std::string("SAME_LOWER")}}})),
            (Floats{10, 21, 32}));
  EXPECT_EQ(values(run_one({"Conv", {x, w}, {{"auto_pad", std::string("VALID")}}})),
            (Floats{21, 32}));
  // A negative pad is a crop (public case S-07 c).
  const Tensor x4 = tensor({1, 1, 1, 4}, {1, 2, 3, 4}), ones = tensor({1, 1, 1, 2}, {1, 1});
  EXPECT_EQ(values(run_one({"Conv", {x4, ones}, {{"pads", Ints{0, -1, 0, 0}}}})), (Floats{5, 7}));
}

TEST(Conv, PaddingTapsDoNotMeetInfiniteWeights) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = tensor({1, 1, 1}, {1}), w = tensor({1, 1, 2}, {inf, 3});
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    OpCall call{"Conv", {x, w}, {{"pads", Ints{1, 0}}}};
    call.precision = p;
    EXPECT_EQ(values(run_one(call))[0], 3.0F) << to_string(p);
  }
}

/// The exact sum of one output, rounded once: the oracle of the random runs.
float exact_output(const Tensor& x, const Tensor& w, std::int64_t oc, std::int64_t oy,
                   std::int64_t ox) {
  FloatAccumulator sum;
  const auto xs = x.shape(), ws = w.shape();
  for (std::int64_t c = 0; c < ws[1]; ++c) {
    for (std::int64_t ky = 0; ky < ws[2]; ++ky) {
      for (std::int64_t kx = 0; kx < ws[3]; ++kx) {
        const std::int64_t iy = 2 * oy - 1 + ky, ix = 2 * ox - 1 + kx;
        if (iy < 0 || iy >= xs[2] || ix < 0 || ix >= xs[3]) continue;
        sum.add_product(x.data<float>()[static_cast<std::size_t>((c * xs[2] + iy) * xs[3] + ix)],
                        w.data<float>()[static_cast<std::size_t>(
                            ((oc * ws[1] + c) * ws[2] + ky) * ws[3] + kx)]);
      }
    }
  }
  return sum.round_to_float();
}

OpCall strided(unsigned seed) {
  return {"Conv",
          {random_tensor({1, 7, 9, 11}, -1, 1, seed), random_tensor({5, 7, 3, 3}, -1, 1, seed + 1)},
          {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}};
}

TEST(Conv, CorrectRoundingAgainstTheExactSum) {
  for (unsigned seed = 1; seed < 30; seed += 2) {
    const OpCall call = strided(seed);
    const Tensor y = run_one(call);
    ASSERT_EQ(y.shape(), (Shape{1, 5, 5, 6}));
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      const float expected = exact_output(call.inputs[0], call.inputs[1], i / 30, i / 6 % 5, i % 6);
      ASSERT_EQ(bits(y.data<float>()[static_cast<std::size_t>(i)]), bits(expected)) << i;
    }
  }
}

TEST(Conv, SameBitsForThreadsBatchAndPackedWeights) {
  OpCall call = strided(77);
  for (const Precision p : {Precision::cr, Precision::f32}) {
    call.precision = p;
    call.constant_weights = false;
    set_num_threads(1);
    const Tensor one = run_one(call);
    set_num_threads(2);
    EXPECT_TRUE(same_bits(one, run_one(call)));
    call.constant_weights = true;
    EXPECT_TRUE(same_bits(one, run_one(call)));
    OpCall batch = call;
    batch.inputs[0] = Tensor(DType::float32, {3, 7, 9, 11});
    const auto image = call.inputs[0].data<float>();
    for (std::size_t i = 0; i < 3 * image.size(); ++i)
      batch.inputs[0].mutable_data<float>()[i] = image[i % image.size()];
    const Tensor many = run_one(batch);
    for (std::int64_t n = 0; n < 3; ++n) EXPECT_TRUE(same_bits(many.rows(n, n + 1), one));
  }
}

TEST(Conv, ThreeDimensionsAndDouble) {
  const Tensor x = tensor({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor w = tensor({1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(values(run_one({"Conv", {x, w}})), (Floats{36}));
  const Tensor d =
      run_one({"Conv", {tensor64({1, 1, 2}, {1, 0x1p-60}), tensor64({1, 1, 2}, {1, 1})}});
  EXPECT_EQ(d.data<double>()[0], 1.0);
}

TEST(Conv, HalfIsRoundedOnce) {
  const auto half = [](const Tensor& t) { return convert(t, DType::float16); };
  // 2048 + 1 is a midpoint of the half format (to even: 2048), 2048 + 1 + 2^-10 lies above it.
  const Tensor x = half(tensor({1, 3, 1}, {2048, 1, 0x1p-10F})),
               w = half(tensor({2, 3, 1}, {1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(values(run_one({"Conv", {x, w}})), (Floats{2048, 2050}));
}

TEST(Conv, EmptyBatchAndImage) {
  const Tensor w = tensor({2, 1, 1, 1}, {1, 2});
  EXPECT_EQ(run_one({"Conv", {tensor({0, 1, 3, 3}, {}), w}}).shape(), (Shape{0, 2, 3, 3}));
  EXPECT_EQ(run_one({"Conv", {tensor({1, 1, 0, 3}, {}), w}}).shape(), (Shape{1, 2, 0, 3}));
}

TEST(Conv, Errors) {
  const Tensor x = tensor({1, 2, 1, 1}, {1, 2});
  const auto channels = [&] { run_one({"Conv", {x, tensor({1, 1, 1, 1}, {1})}}); };
  EXPECT_NE(error_of(channels).find("channels"), std::string::npos);
  const auto rank = [&] { run_one({"Conv", {x, tensor({1, 2, 1}, {1, 1})}}); };
  EXPECT_NE(error_of(rank).find("rank"), std::string::npos);
  const Tensor w = tensor({1, 2, 1, 1}, {1, 1});
  const auto stride = [&] { run_one({"Conv", {x, w}, {{"strides", Ints{0, 1}}}}); };
  EXPECT_NE(error_of(stride).find("stride must be positive"), std::string::npos);
  const auto pads = [&] { run_one({"Conv", {x, w}, {{"pads", Ints{1, 1}}}}); };
  EXPECT_NE(error_of(pads).find("'pads' has the wrong length"), std::string::npos);
  const auto bias = [&] { run_one({"Conv", {x, w, tensor({2}, {1, 1})}}); };
  EXPECT_NE(error_of(bias).find("bias"), std::string::npos);
}

TEST(Conv, RadiusHoldsAndIsTight) {
  const OpCall call = strided(5);
  const double running = radius_use(call), any = radius_use(call, true);
  EXPECT_LE(running, 1.0);
  EXPECT_LE(any, 1.0);
  EXPECT_GE(running,
            1.0 / 200);  // certificates.md section 6: within 200 times the worst observed error
}

TEST(Conv, RadiusOfTheInputIsWeighted) {
  const OpCall call{"Conv", {tensor({1, 2, 1}, {1, 2}), tensor({1, 2, 1}, {3, -4})}};
  const Tensor r = radius_of(call, {tensor64({1, 2, 1}, {0.5, 0.25}), Tensor()});
  EXPECT_NEAR(r.data<double>()[0], 3 * 0.5 + 4 * 0.25, 1e-5);  // sum of |w| r
}

}  // namespace
}  // namespace assay::test::conv_test
