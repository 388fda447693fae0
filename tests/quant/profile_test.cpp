#include "quant/profile.h"
#include "runtime/file.h"

#include <gtest/gtest.h>

namespace assay::profile_test {
namespace {

TEST(Profile, PresetsAreThere) {
  for (const std::string name :
       {"onnx-qdq", "onednn-v3", "onednn-s16pair", "onnx-qlinear-ref", "ort-like",
        "gemmlowp-double", "tflite-single", "tflite-16x8", "tpu-mult8"}) {
    EXPECT_EQ(find_profile(name).name, name);
    EXPECT_EQ(find_profile(name).hash.size(), 64U);
  }
  EXPECT_EQ(find_profile("onednn-v3").division, Quotient::reciprocal);
  EXPECT_TRUE(find_profile("onednn-v3").zero_point_before_rounding);
  EXPECT_EQ(find_profile("gemmlowp-double").rounding.size(), 2U);
}

TEST(Profile, UnknownNameListsTheKnownOnes) {
  try {
    find_profile("nope");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("onednn-v3"), std::string::npos);
    EXPECT_EQ(e.kind(), ErrorKind::bad_input);
  }
}

TEST(Profile, HashIsOfTheMeaningNotOfTheLayout) {
  const NumericProfile& shipped = find_profile("onnx-qdq");
  EXPECT_EQ(parse_profile(shipped.json, "x").hash, shipped.hash);
  std::string changed = shipped.json;
  changed.replace(changed.find("\"bits\":32"), 9, "\"bits\":48");
  EXPECT_NE(parse_profile(changed, "x").hash, shipped.hash);
  EXPECT_EQ(parse_profile(changed, "x").accumulator_bits, 48);
}

TEST(Profile, RefusesUnknownAndMissingKeys) {
  const std::string good = find_profile("onnx-qdq").json;
  std::string extra = good;
  extra.replace(0, 1, "{\"colour\":1,");
  EXPECT_THROW(parse_profile(extra, "x"), Error);
  std::string wrong = good;
  wrong.replace(wrong.find("\"even\""), 6, "\"odd!\"");
  EXPECT_THROW(parse_profile(wrong, "x"), Error);
  EXPECT_THROW(parse_profile("{}", "x"), Error);
  EXPECT_THROW(parse_profile("[1", "x"), Error);
  EXPECT_THROW(parse_profile("3", "x"), Error);
}

// FIPS 180-2, appendix B.1.
TEST(Profile, Sha256) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace assay::profile_test
