// Batch normalization into the matrix product in front.
//
// Before:  y = BatchNormalization(MatMul(x, W, b); γ, β, μ, v)
// After:   y = Gemm(x, W', b')
// Algebra: s = γ/√(v+ε);  W' = W·s per output channel;  b' = (b−μ)·s+β, with b = 0 when absent.
// Both are the exact values,
//          rounded once (fold_math.h), so the result is E2: equal as real functions up to the
//          storage of W' and b'.
// Declines when: the inner value is read elsewhere, is a graph output or is captured by a subgraph;
// the weight is not constant,
//          may be overridden, or is shared; a parameter is not constant, or of another type or
//          length; training mode or extra outputs; v+ε is not positive; a result is not finite; the
//          output's rank is not 2 (of a rank-3 output BatchNormalization would scale axis 1, which
//          is not the weight's).
#include <algorithm>

#include "fusion/fold_rule.h"

namespace assay::fold_bn_matmul_rule {
namespace {

/// A MatMul has no bias, and AMCT's lists do not know the rule.
std::vector<std::string> refusals() {
  auto list = batch_norm_refusals();
  for (const char* none : {"bias not constant", "bias shape", "AMCT: not quantizable by its table"})
    list.erase(std::find(list.begin(), list.end(), none));
  list.emplace_back("rank of the output");
  return list;
}

const RegisterRewrite registered{{
    .name = "fold_bn_matmul",
    .stage = Stage::fold,
    .summary = "MatMul + BatchNormalization -> Gemm",
    .patterns = {op("BatchNormalization", "bn", {op("MatMul", "op")})},
    .rows = {"M1"},
    .sets = {"bn", "bn-add-relu"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = refusals(),
    .test = "rules/fold_bn_matmul_test.cpp",
    .guard = guard_batch_norm,
    .build = build_fold,
}};

}  // namespace
}  // namespace assay::fold_bn_matmul_rule
