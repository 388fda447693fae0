// Batch normalization into the transposed convolution in front.
//
// Before:  y = BatchNormalization(ConvTranspose(x, W, b); γ, β, μ, v)
// After:   y = ConvTranspose(x, W', b')
// Algebra: s = γ/√(v+ε);  W' = W·s per output channel;  b' = (b−μ)·s+β, with b = 0 when absent.
// Both are the exact values,
//          rounded once (fold_math.h), so the result is E2: equal as real functions up to the
//          storage of W' and b'.
// Channel: c = g·M/G + j for W[C, M/G, k..], element (row, j), g = row / (C/G). Axis 0 would scale
// inputs. Declines when: the inner value is read elsewhere, is a graph output or is captured by a
// subgraph; the weight is not constant,
//          may be overridden, or is shared; a parameter is not constant, or of another type or
//          length; training mode or extra outputs; v+ε is not positive; a result is not finite.
#include "fusion/fold_rule.h"

namespace assay::fold_bn_conv_transpose_rule {
namespace {

const RegisterRewrite registered{{
    .name = "fold_bn_conv_transpose",
    .stage = Stage::fold,
    .summary = "ConvTranspose + BatchNormalization -> ConvTranspose",
    .patterns = {op("BatchNormalization", "bn", {op("ConvTranspose", "op")})},
    .rows = {"F2", "M1"},
    .sets = {"bn", "bn-add-relu", "amct-onnx", "amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = batch_norm_refusals(),
    .test = "rules/fold_bn_conv_transpose_test.cpp",
    .guard = guard_batch_norm,
    .build = build_fold,
}};

}  // namespace
}  // namespace assay::fold_bn_conv_transpose_rule
