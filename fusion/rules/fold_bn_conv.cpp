// Batch normalization into the convolution in front: 1-D, 2-D, 3-D, grouped and depthwise.
//
// Before:  y = BatchNormalization(Conv(x, W, b); γ, β, μ, v)
// After:   y = Conv(x, W', b')
// Algebra: s = γ/√(v+ε);  W' = W·s per output channel;  b' = (b−μ)·s+β, with b = 0 when absent.
// Both are the exact values,
//          rounded once (fold_math.h), so the result is E2: equal as real functions up to the
//          storage of W' and b'.
// Channel: axis 0 of W[M, C/g, k..], whatever the group.
// Declines when: the inner value is read elsewhere, is a graph output or is captured by a subgraph;
// the weight is not constant,
//          may be overridden, or is shared; a parameter is not constant, or of another type or
//          length; training mode or extra outputs; v+ε is not positive; a result is not finite.
#include "fusion/fold_rule.h"

namespace assay::fold_bn_conv_rule {
namespace {

const RegisterRewrite registered{{
    .name = "fold_bn_conv",
    .stage = Stage::fold,
    .summary = "Conv + BatchNormalization -> Conv",
    .patterns = {op("BatchNormalization", "bn", {op("Conv", "op")})},
    .rows = {"F1", "F4", "M1", "M5"},
    .sets = {"bn", "bn-add-relu", "amct-onnx", "amct-tf", "amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = batch_norm_refusals(),
    .test = "rules/fold_bn_conv_test.cpp",
    .guard = guard_batch_norm,
    .build = build_fold,
}};

}  // namespace
}  // namespace assay::fold_bn_conv_rule
