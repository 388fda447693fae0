// The network of the tests that merge something into a convolution: c = Conv(x, W, B), then what
// the test writes behind it; r is there for a residual Add.
#pragma once

#include "tests/fusion/net.h"

namespace assay::testing {

inline Net conv(const std::string& rest, std::int64_t opset = 14) {
  Net net("c = Conv<pads=[1,1,1,1]>(x, W, B)\n" + rest, opset);
  net.input("x", {1, 2, 3, 3})
      .input("r", {1, 2, 3, 3})
      .constant("W", grid({2, 2, 3, 3}, 1))
      .constant("B", grid({2}, 2));
  return net;
}
inline const Feeds feeds = {{"x", grid({1, 2, 3, 3}, 3)}, {"r", grid({1, 2, 3, 3}, 4)}};

}  // namespace assay::testing
