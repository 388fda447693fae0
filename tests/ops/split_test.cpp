// Split: equal parts, listed parts, the uneven last part of opset 18, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::split_test {
namespace {

using Floats = std::vector<float>;

OpCall split(std::vector<Tensor> inputs, Attributes attributes, std::int64_t opset,
             std::size_t outputs) {
  OpCall call{"Split", std::move(inputs), std::move(attributes), opset};
  call.outputs = outputs;
  return call;
}

const Tensor six = tensor({6}, {1, 2, 3, 4, 5, 6});

TEST(Split, EqualParts) {
  const auto y = run(split({six}, {}, 13, 3));
  EXPECT_EQ(values(y[0]), (Floats{1, 2}));
  EXPECT_EQ(values(y[2]), (Floats{5, 6}));
  EXPECT_NE(error_of([] { run(split({six}, {}, 13, 4)); }).find("equal parts"), std::string::npos);
}

TEST(Split, UnevenLastPart) {
  const auto y = run(split({six}, {{"num_outputs", std::int64_t{4}}}, 18, 4));
  EXPECT_EQ(values(y[0]), (Floats{1, 2}));
  EXPECT_EQ(values(y[2]), (Floats{5, 6}));
  EXPECT_EQ(y[3].shape(), (Shape{0}));
}

TEST(Split, ListAsAttributeAndAsInput) {
  const Attributes list{{"split", std::vector<std::int64_t>{1, 5}}};
  EXPECT_EQ(values(run(split({six}, list, 2, 2))[1]), (Floats{2, 3, 4, 5, 6}));
  EXPECT_EQ(values(run(split({six, ints({2}, {4, 2})}, {}, 13, 2))[1]), (Floats{5, 6}));
  const auto wrong = [] { run(split({six, ints({2}, {4, 1})}, {}, 13, 2)); };
  EXPECT_NE(error_of(wrong).find("add up"), std::string::npos);
}

TEST(Split, InnerAxis) {
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = run(split({x, ints({2}, {1, 2})}, {{"axis", std::int64_t{1}}}, 13, 2));
  EXPECT_EQ(values(y[0]), (Floats{1, 4}));
  EXPECT_EQ(values(y[1]), (Floats{2, 3, 5, 6}));
}

}  // namespace
}  // namespace assay::test::split_test
