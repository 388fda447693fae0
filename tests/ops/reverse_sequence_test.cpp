// ReverseSequence: both axis orders, lengths of zero and of everything, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::reverse_sequence_test {
namespace {

const Tensor x = tensor({3, 2}, {0, 10, 1, 11, 2, 12});

TEST(ReverseSequence, TimeFirst) {
  EXPECT_EQ(values(run_one({"ReverseSequence", {x, ints({2}, {2, 3})}})),
            (std::vector<float>{1, 12, 0, 11, 2, 10}));
}

TEST(ReverseSequence, BatchFirst) {
  const Attributes a{{"batch_axis", std::int64_t{0}}, {"time_axis", std::int64_t{1}}};
  EXPECT_EQ(values(run_one({"ReverseSequence", {x, ints({3}, {0, 1, 2})}, a})),
            (std::vector<float>{0, 10, 1, 11, 12, 2}));
}

TEST(ReverseSequence, Errors) {
  EXPECT_NE(error_of([] {
              run_one({"ReverseSequence", {x, ints({2}, {4, 0})}});
            }).find("length"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              run_one({"ReverseSequence", {x, ints({1}, {1})}});
            }).find("2 values"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::reverse_sequence_test
