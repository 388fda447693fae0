// Conv + batch normalization and its fold, on numbers that a test chooses.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/fusion/net.h"
#include "validation/certificate/certify.h"

namespace assay::testing {

/// Case S-10: three channels in, one out, everything rounded to float32.
struct Numbers {
  std::vector<float> w{0.1F, 0.2F, 0.3F};
  float gamma = 1.7F, beta = 0.3F, mean = 0.2F, var = 0.6F;
  double epsilon = 1e-5F;
};

inline Feeds s10_input() { return {{"x", f32({1, 3, 1, 1}, {0.7F, 1.1F, 1.3F})}}; }

/// `behind`: lines that turn b0 into y, empty for none.
inline Graph unfolded(const Numbers& n, const std::string& behind = "") {
  Net net("c = Conv(x, W)\n" + std::string(behind.empty() ? "y" : "b0") +
          " = BatchNormalization<epsilon=1e-5>(c, g, b, m, v)\n" + behind);
  net.input("x", {1, 3, 1, 1}).constant("W", f32({1, 3, 1, 1}, n.w));
  net.constant("g", f32({1}, {n.gamma})).constant("b", f32({1}, {n.beta}));
  net.constant("m", f32({1}, {n.mean})).constant("v", f32({1}, {n.var}));
  return net.build();
}

/// The same with these constants in the convolution.
inline Graph with_constants(const std::vector<float>& w, float bias, const std::string& behind = "",
                            const std::string& conv = "Conv(x, W, B)") {
  Net net(std::string(behind.empty() ? "y" : "b0") + " = " + conv + "\n" + behind);
  net.input("x", {1, 3, 1, 1}).constant("W", f32({1, 3, 1, 1}, w));
  net.constant("B", f32({1}, {bias}));
  return net.build();
}

/// The fold as another tool's file holds it: computed in double, stored as float32.
inline Graph folded(const Numbers& n, double epsilon, const std::string& behind = "",
                    const std::string& conv = "Conv(x, W, B)") {
  const double s = static_cast<double>(n.gamma) / std::sqrt(static_cast<double>(n.var) + epsilon);
  std::vector<float> w;
  for (const float x : n.w) w.push_back(static_cast<float>(static_cast<double>(x) * s));
  const auto bias =
      static_cast<float>((0.0 - static_cast<double>(n.mean)) * s + static_cast<double>(n.beta));
  return with_constants(w, bias, behind, conv);
}

/// The certificates of `f` as a file of another tool.
inline std::vector<FusionCertificate> judge_file(const Graph& o, const Graph& f,
                                                 const Feeds& feeds = s10_input()) {
  return certify(o, f, nullptr, {.samples = {feeds}, .kernels = false}).fusions;
}

/// The worst verdict of all instances; "none" when the graphs do not differ.
inline std::string worst_verdict(const std::vector<FusionCertificate>& list) {
  std::string worst = "none";
  for (const auto& c : list) worst = worst == "none" ? c.verdict : std::max(worst, c.verdict);
  return worst;
}

inline std::string file_verdict(const Graph& o, const Graph& f, const Feeds& feeds = s10_input()) {
  return worst_verdict(judge_file(o, f, feeds));
}

}  // namespace assay::testing
