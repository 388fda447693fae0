// DepthToSpace (1, 11, 13) and SpaceToDepth (1, 13, 26): blocks of b x b places exchanged with
// channels.
//
// DepthToSpace [N, C, H, W] -> [N, C / b^2, H b, W b]. DCR (default): channel = (row, column, c);
// CRD (opset 11; SpaceToDepth: where a file names it): channel = (c, row, column). SpaceToDepth is
// the inverse in both orders.
#include "runtime/ops/support/movement.h"

namespace assay::ops::depth_to_space_op {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t read_block(const Attributes& a) {
  const std::int64_t b = a.required_int("blocksize");
  if (b > 0) return b;
  throw Error({.what = "attribute 'blocksize' must be positive", .got = std::to_string(b)});
}

/// `size` * b, or size / b exactly; -1 stays.
std::int64_t times(std::int64_t size, std::int64_t b) { return size < 0 ? -1 : size * b; }
std::int64_t divided(const char* what, std::int64_t size, std::int64_t b) {
  if (size < 0) return -1;
  if (size % b == 0) return size / b;
  throw Error({.what = std::string(what) + " is not a multiple of the block",
               .got = std::to_string(size),
               .expected = "a multiple of " + std::to_string(b)});
}

const Dims& image_dims(const TensorType& x) {
  if (x.dims->size() == 4) return *x.dims;
  throw Error({.what = "a tensor [N, C, H, W] is needed", .got = to_string(x)});
}

void infer_to_space(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const Dims& d = image_dims(x);
  const std::int64_t b = read_block(c.attributes());
  c.set_output(0, {x.dtype, Dims{d[0], divided("number of channels", d[1], b * b), times(d[2], b),
                                 times(d[3], b)}});
}

void infer_to_depth(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const Dims& d = image_dims(x);
  const std::int64_t b = read_block(c.attributes());
  c.set_output(0, {x.dtype, Dims{d[0], times(d[1], b * b), divided("height", d[2], b),
                                 divided("width", d[3], b)}});
}

/// Copies x, read as `dims`, to y with the axes permuted.
void permute(const Tensor& x, const Shape& dims, std::span<const std::int64_t> perm, Tensor& y) {
  const auto strides = dims.strides();
  StridedCopy copy{.box = {},
                   .from = x.raw().data(),
                   .from_strides = {},
                   .to = y.mutable_raw().data(),
                   .to_strides = {},
                   .size = size_of(x.dtype())};
  for (const std::int64_t axis : perm) {
    copy.box.push_back(dims[axis]);
    copy.from_strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  copy.to_strides = Shape(copy.box).strides();
  copy_strided(copy);
}

/// True for CRD, false for DCR.
bool channel_first(const Attributes& a) {
  const std::string mode = a.string_or("mode", "DCR");
  if (mode == "CRD" || mode == "DCR") return mode == "CRD";
  throw Error({.what = "attribute 'mode'", .got = "'" + mode + "'", .expected = "DCR or CRD"});
}

void eval_to_space(EvalContext& c) {
  const Shape& s = c.input(0).shape();
  const std::int64_t b = read_block(c.attributes());
  const std::int64_t depth = s[1] / (b * b);
  if (!channel_first(c.attributes())) {
    const Dims perm{0, 3, 4, 1, 5, 2};
    return permute(c.input(0), {s[0], b, b, depth, s[2], s[3]}, perm, c.output(0));
  }
  const Dims perm{0, 1, 4, 2, 5, 3};
  permute(c.input(0), {s[0], depth, b, b, s[2], s[3]}, perm, c.output(0));
}

void eval_to_depth(EvalContext& c) {
  const Shape& s = c.input(0).shape();
  const std::int64_t b = read_block(c.attributes());
  const Dims perm = channel_first(c.attributes()) ? Dims{0, 1, 3, 5, 2, 4} : Dims{0, 3, 5, 1, 2, 4};
  permute(c.input(0), {s[0], s[1], s[2] / b, b, s[3] / b, b}, perm, c.output(0));
}

const RegisterOp registered{std::vector<OpDef>{{.type = "DepthToSpace",
                                                .infer = infer_to_space,
                                                .eval = eval_to_space,
                                                .bound = bound_moved<0>},
                                               {.type = "SpaceToDepth",
                                                .infer = infer_to_depth,
                                                .eval = eval_to_depth,
                                                .bound = bound_moved<0>}}};

}  // namespace
}  // namespace assay::ops::depth_to_space_op
