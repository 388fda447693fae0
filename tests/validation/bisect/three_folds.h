// A network with three normalizations to fold, each an instance of its own, and its folds.
#pragma once

#include "tests/fusion/net.h"
#include "validation/certificate/certify.h"

namespace assay::testing {

/// x[n,4,s,s] -> Conv, BN, Relu -> Conv, BN, + residual, Relu -> depthwise Conv, BN. `scale`: the
/// gammas; variance 0.75 and epsilon 0.25, so the fold multiplies by gamma.
inline Net folds(const std::string& lines, std::int64_t n, std::int64_t s) {
  Net net(lines);
  net.input("x", {n, 4, s, s});
  return net;
}

inline Graph three_normalizations(std::int64_t n = 2, std::int64_t s = 6) {
  std::string lines;
  for (const auto& [k, op] : {std::pair('1', std::string("Conv<pads=[1,1,1,1]>(x, W1)")),
                              std::pair('2', std::string("Conv(r1, W2)")),
                              std::pair('3', std::string("Conv<group=4>(r2, W3)"))}) {
    const std::string i(1, k);
    lines += "c" + i + " = " + op + "\nn" + i + " = BatchNormalization<epsilon=0.25>(c" + i +
             ", g" + i + ", b, m, v)\n";
    if (k == '1') lines += "r1 = Relu(n1)\n";
    if (k == '2') lines += "a2 = Add(n2, r1)\nr2 = Relu(a2)\n";
  }
  Net net = folds(lines, n, s);
  net.constant("W1", grid({4, 4, 3, 3}, 1)).constant("W2", grid({4, 4, 1, 1}, 2));
  net.constant("W3", grid({4, 1, 3, 3}, 3)).constant("g1", f32({4}, {0.7F, 1.1F, 0.3F, -0.6F}));
  net.constant("g2", f32({4}, {1.7F, 0.1F, -0.3F, 0.6F}));
  net.constant("g3", f32({4}, {0.9F, 1.3F, 0.4F, 0.8F}));
  net.constant("b", f32({4}, {0.1F, 0.2F, -0.3F, 0.4F}));
  net.constant("m", f32({4}, {0.3F, -0.1F, 0.2F, 0.5F}));
  net.constant("v", f32({4}, {0.75F, 0.75F, 0.75F, 0.75F}));
  return net.build();
}

/// `g` with one number of a constant multiplied by `factor`.
inline Graph with_changed(const Graph& g, const std::string& constant, std::size_t at,
                          float factor) {
  Graph changed = g;
  const ValueId v = *changed.find_value(constant);
  Tensor t = changed.constant(v)->clone();
  t.mutable_data<float>()[at] *= factor;
  changed.set_initializer(v, t);
  return changed;
}

}  // namespace assay::testing
