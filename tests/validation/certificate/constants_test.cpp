// "Rounded once": of Assay's own constants the nearest float32 number passes, and no other.
#include "validation/certificate/constants.h"

#include <gtest/gtest.h>

namespace assay::constants_test {
namespace {

/// y = shift, for one channel.
NormalForm shifted_by(const Real& x) {
  NormalForm form;
  form.channels = 1;
  form.shift = {x};
  form.magnitude = {Real(0)};
  form.beta = {x.abs()};
  return form;
}

ConstantsAudit own(const Real& exact, double stored) {
  return audit_constants(shifted_by(exact), shifted_by(Real(stored)), {.own = true});
}

TEST(ConstantsAudit, TheExactNumberIsNotRounded) {
  const ConstantsAudit a = own(Real(0.75), 0.75);
  EXPECT_TRUE(a.exact);
  EXPECT_TRUE(a.inside);
  EXPECT_EQ(a.constants, 1);
  EXPECT_EQ(a.rounded, 0);
}

TEST(ConstantsAudit, OnlyTheNearestNumberPasses) {
  // 1 + 2^-25 lies between 1 and 1 + 2^-23.
  const Real exact = Real(1) + Real(0x1p-25);
  EXPECT_TRUE(own(exact, 1).inside);
  EXPECT_FALSE(own(exact, 1).exact);
  EXPECT_FALSE(own(exact, 1 + 0x1p-23).inside);
  EXPECT_FALSE(own(exact, 1 - 0x1p-24).inside);
}

TEST(ConstantsAudit, ATieGoesToTheEvenNeighbour) {
  const Real between = Real(1) + Real(0x1p-24);  // 1 is even, 1 + 2^-23 is not
  EXPECT_TRUE(own(between, 1).inside);
  EXPECT_FALSE(own(between, 1 + 0x1p-23).inside);
  const Real next = Real(1) + Real(3 * 0x1p-24);  // 1 + 2^-22 is even
  EXPECT_FALSE(own(next, 1 + 0x1p-23).inside);
  EXPECT_TRUE(own(next, 1 + 0x1p-22).inside);
}

TEST(ConstantsAudit, BelowAPowerOfTwoTheNeighbourIsAsFarAsHalfAUnit) {
  // |1 - (1 - 2^-24)| is half of the spacing at 1, and still another number.
  EXPECT_TRUE(own(Real(1), 1).inside);
  EXPECT_FALSE(own(Real(1), 1 - 0x1p-24).inside);
  EXPECT_FALSE(own(Real(-1), -1 + 0x1p-24).inside);
}

TEST(ConstantsAudit, WhatTheArithmeticCannotTellPassesEitherWay) {
  // A tie but for 2^-230 (the arithmetic has 256 bits, and its noise allowance is 2^-220).
  const Real almost = Real(1) + Real(0x1p-24) + Real(0x1p-230);
  EXPECT_TRUE(own(almost, 1).inside);
  EXPECT_TRUE(own(almost, 1 + 0x1p-23).inside);
  // 2^-200 is seen.
  const Real above = Real(1) + Real(0x1p-24) + Real(0x1p-200);
  EXPECT_FALSE(own(above, 1).inside);
  EXPECT_TRUE(own(above, 1 + 0x1p-23).inside);
}

TEST(ConstantsAudit, SubnormalNumbersAreRoundedOnTheirGrid) {
  const Real exact = Real(0x1.8p-149) + Real(0x1p-155);
  EXPECT_TRUE(own(exact, 0x1p-148).inside);
  EXPECT_FALSE(own(exact, 0x1p-149).inside);
}

TEST(ConstantsAudit, OtherToolsHaveTheirBudget) {
  // 5.5 T + |beta| + |b*| with T = 0 and beta = b* = 1: two u.
  const auto other = [](double stored) {
    return audit_constants(shifted_by(Real(1)), shifted_by(Real(stored)), {});
  };
  EXPECT_TRUE(other(1 + 0x1p-23).inside);
  EXPECT_FALSE(other(1 + 0x1p-22).inside);
}

}  // namespace
}  // namespace assay::constants_test
