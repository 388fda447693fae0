// Batch normalization into the matrix product with bias in front.
//
// Before:  y = BatchNormalization(Gemm(x, W, b); γ, β, μ, v)
// After:   y = Gemm(x, W', b')
// Algebra: s = γ/√(v+ε);  W' = W·s per output channel;  b' = (b−μ)·s+β, with b = 0 when absent.
// Both are the exact values,
//          rounded once (fold_math.h), so the result is E2: equal as real functions up to the
//          storage of W' and b'.
// With alpha and beta: alpha stays, b' starts from beta·C and beta becomes 1. Channel: axis 1 of B,
// axis 0 with transB. Declines when: the inner value is read elsewhere, is a graph output or is
// captured by a subgraph; the weight is not constant,
//          may be overridden, or is shared; a parameter is not constant, or of another type or
//          length; training mode or extra outputs; v+ε is not positive; a result is not finite.
#include "fusion/fold_rule.h"

namespace assay::fold_bn_gemm_rule {
namespace {

const RegisterRewrite registered{{
    .name = "fold_bn_gemm",
    .stage = Stage::fold,
    .summary = "Gemm + BatchNormalization -> Gemm",
    .patterns = {op("BatchNormalization", "bn", {op("Gemm", "op")})},
    .rows = {"M1", "F13"},
    .sets = {"bn", "bn-add-relu", "amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = batch_norm_refusals(),
    .test = "rules/fold_bn_gemm_test.cpp",
    .guard = guard_batch_norm,
    .build = build_fold,
}};

}  // namespace
}  // namespace assay::fold_bn_gemm_rule
