// What tests expect of tensors and errors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace assay::test {

/// Shape and every element as a double; NaN equals NaN, and the sign of zero counts.
inline void expect_values(const Tensor& t, const Shape& shape, const std::vector<double>& want) {
  ASSERT_EQ(to_string(t.shape()), to_string(shape));
  const auto got = to_doubles(t);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(want[i]);
    EXPECT_TRUE(both_nan || (got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i])))
        << "element " << i << " is " << got[i] << ", expected " << want[i];
  }
}

/// The call throws Error of this kind (its number is the exit code), and the message holds every
/// one of `parts`.
inline void expect_error(const std::function<void()>& call, ErrorKind kind,
                         const std::vector<std::string>& parts) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(kind)) << e.what();
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "no '" << part << "' in: " << e.what();
    }
    return;
  }
  FAIL() << "no error";
}

}  // namespace assay::test
