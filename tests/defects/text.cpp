// File-level defects in the operators: the lines of the folded net are edited.
#include "tests/defects/carriers.h"
#include "tests/defects/suite.h"

namespace assay::defects {
namespace {

/// `from` replaced by `to`; the kind applies where `from` occurs.
Kind edited(const std::string& name, const std::string& from, const std::string& to) {
  return {
      name, "file", [=](std::uint64_t seed) {
        std::vector<Case> cases;
        for (const Carrier& c : carriers()) {
          const Parameters p = draw(c, seed);
          bool changed = false;
          const auto edit = [&](std::string lines) {
            const auto at = lines.find(from);
            changed = at != std::string::npos;
            return changed ? lines.replace(at, from.size(), to) : lines;
          };
          Graph fused = folded(c, fold(c, p), edit);
          if (changed)
            cases.push_back({c.name, original(c, p), std::move(fused), {}, draw_input(c, seed)});
        }
        return cases;
      }};
}

}  // namespace

std::vector<Kind> text_kinds() {
  return {
      edited("relu_dropped", "y = Relu", "y = Identity"),
      edited("relu_leaks", "y = Relu", "y = LeakyRelu<alpha=0.01>"),
      edited("relu_before_add", "a = Add(b0, r)\ny = Relu(a)", "a = Relu(b0)\ny = Add(a, r)"),
      edited("residual_overwritten", "Add(b0, r)", "Add(b0, b0)"),
      edited("residual_subtracted", "Add(b0, r)", "Sub(b0, r)"),
      edited("residual_dropped", "Add(b0, r)", "Identity(b0)"),
      edited("clip_without_maximum", "Clip(b0, lo, hi)", "Clip(b0, lo)"),
      edited("clip_bounds_swapped", "Clip(b0, lo, hi)", "Clip(b0, hi, lo)"),
      edited("sigmoid_for_tanh", "Sigmoid", "Tanh"),
      edited("padding_shifted", "pads=[1,1,1,1]", "pads=[0,0,2,2]"),
      edited("padding_of_columns_only", "pads=[1,1,1,1]", "pads=[2,1,0,1]"),
      edited("transposition_dropped", "Gemm(", "Gemm<transB=1>("),
      edited("alpha_added", "Gemm(", "Gemm<alpha=0.5>("),
      edited("bias_forgotten", "(x, W, B)", "(x, W)"),
  };
}

}  // namespace assay::defects
