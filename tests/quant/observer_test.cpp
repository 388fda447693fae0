#include "quant/observer.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace assay::observer_test {
namespace {

using Counts = std::vector<std::int64_t>;
using Batches = std::vector<std::vector<float>>;

StreamingHistogram observe(const Batches& batches, std::int64_t capacity = 4) {
  StreamingHistogram h(capacity);
  for (const auto& b : batches) h.add(b);
  return h;
}

TEST(StreamingHistogram, S28_ZerosFirst) {
  const std::vector<float> zeros{0, 0, 0, 0}, ramp{1, 2, 3, 4};
  const std::vector<float> all{0, 0, 0, 0, 1, 2, 3, 4}, mixed{4, 0, 3, 0, 0, 2, 1, 0};
  for (const Batches& order :
       {Batches{zeros, ramp}, {ramp, zeros}, {all}, {mixed}, {{0}, {4, 0}, {0, 3, 2}, {1, 0}}}) {
    const StreamingHistogram h = observe(order);
    EXPECT_EQ(h.range()->low, 0.0F);
    EXPECT_EQ(h.range()->high, 4.0F);
    EXPECT_EQ(h.counts(0, 4, 4), (Counts{4, 1, 1, 2}));
    EXPECT_EQ(h.count(), 8);
  }
}

TEST(StreamingHistogram, S28_AllZeros) {
  const StreamingHistogram h = observe({{0, 0, 0, 0}, {0, -0.0F, 0, 0}});
  EXPECT_EQ(h.range()->low, 0.0F);
  EXPECT_EQ(h.range()->high, 0.0F);
  ASSERT_EQ(h.bins().size(), 1U);
  EXPECT_EQ(h.bins()[0].count, 8);
  const QuantParams p = activation_params(*h.range(), ActivationScheme::u8);
  EXPECT_EQ(p.scale, 1.0F);
  EXPECT_EQ(p.zero_point, 0);
}

TEST(StreamingHistogram, S28_NanIsCountedAndKeptOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  const StreamingHistogram h = observe({{0, 0, 0, 0}, {1, nan, 3, 4, inf, -inf}});
  EXPECT_EQ(h.nan(), 1);
  EXPECT_EQ(h.infinite(), 2);
  EXPECT_EQ(h.count(), 7);
  EXPECT_EQ(h.range()->high, 4.0F);
  EXPECT_EQ(h.counts(0, 4, 4), (Counts{4, 1, 0, 2}));
  EXPECT_FALSE(observe({{nan}}).range().has_value());
}

TEST(StreamingHistogram, S28_NegativesAfterPositives) {
  const StreamingHistogram h = observe({{1, 2, 3, 4}, {-4, -3, -2, -1}});
  // numpy.histogram([1..4, -4..-1], 4, (-4, 4))
  EXPECT_EQ(h.counts(-4, 4, 4), (Counts{2, 2, 1, 3}));
}

TEST(StreamingHistogram, EdgesThatDoNotCoincideAreRefused) {
  EXPECT_THROW(observe({{1, 2, 3, 4}}).counts(0, 4, 3), Error);
}

// Wild magnitudes, every order and split: the bins must be the same, and those of one pass over
// everything.
TEST(StreamingHistogram, OrderAndSplitPlayNoPart) {
  std::mt19937 random(7);
  std::vector<float> values;
  for (int i = 0; i < 20000; ++i) {
    const float v =
        std::ldexp(static_cast<float>(random() % 2000) - 700, static_cast<int>(random() % 60) - 50);
    values.push_back(i % 50 == 0 ? -std::numeric_limits<float>::denorm_min() : v);
  }
  const StreamingHistogram whole = observe({values}, 64);
  std::map<std::pair<double, double>, std::int64_t>
      direct;  // by definition, on the final bin width
  const double width = whole.bins()[0].high - whole.bins()[0].low;
  for (const float v : values) {
    double low = std::floor(static_cast<double>(v) / width) * width;
    if (low == 64 * width) low -= width;
    ++direct[{low, low + width}];
  }
  for (const Bin& b : whole.bins()) {
    const auto it = direct.find({b.low, b.high});
    EXPECT_EQ(b.count, it == direct.end() ? 0 : it->second) << b.low;
  }
  for (int round = 0; round < 10; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    StreamingHistogram merged(64), part(64);
    for (std::size_t i = 0; i < values.size(); ++i) {
      part.add({&values[i], 1});
      if (random() % 3000 != 0) continue;
      merged.merge(part);
      part = StreamingHistogram(64);
    }
    merged.merge(part);
    ASSERT_EQ(merged.bins().size(), whole.bins().size());
    for (std::size_t i = 0; i < whole.bins().size(); ++i) {
      EXPECT_EQ(merged.bins()[i].low, whole.bins()[i].low);
      EXPECT_EQ(merged.bins()[i].count, whole.bins()[i].count);
    }
  }
}

TEST(StreamingHistogram, ThreadsPlayNoPart) {
  Tensor t(DType::float32, {300000});
  std::int64_t i = 0;
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(i++ % 977) - 300;
  StreamingHistogram a(4096), b(4096);
  add_tensor(a, t);
  b.add(t.data<float>());
  ASSERT_EQ(a.bins().size(), b.bins().size());
  for (std::size_t k = 0; k < a.bins().size(); ++k) EXPECT_EQ(a.bins()[k].count, b.bins()[k].count);
}

}  // namespace
}  // namespace assay::observer_test
