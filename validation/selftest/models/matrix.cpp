// Matrix products: Gemm with alpha and beta, batched MatMul, and sums that cancel: with x beside -x
// and the same weights twice, all that is left of 400 terms is 20 small ones, which a plain sum of
// the others loses.
#include "validation/selftest/model.h"
#include "validation/selftest/net_maker.h"

namespace assay::selftest::matrix_model {
namespace {

void cancelling(NetMaker& m, const std::string& x) {
  const std::string minus = m.inner("minus", "Neg", {x});
  const std::string small =
      m.inner("small", "Mul",
              {m.inner("part", "Slice",
                       {x, m.axes("starts", {0}), m.axes("ends", {20}), m.axes("axis", {1})}),
               m.constant("tiny", Tensor::scalar(0x1p-30F))});
  const std::string terms =
      m.inner("terms", "Concat", {x, minus, small}, {{"axis", std::int64_t{1}}});
  const std::string w = m.weight("w_cancel", {200, 9}, 1);
  const std::string both = m.inner("both", "Concat", {w, w, m.weight("w_small", {20, 9}, 1)},
                                   {{"axis", std::int64_t{0}}});
  m.node("cancelling", "MatMul", {terms, both});
}

Graph make(const std::string&) {
  NetMaker m("matrix");
  const std::string x = m.input("x", {200});
  m.node("gemm", "Gemm", {x, m.weight("w", {33, 200}), m.weight("c", {33})},
         {{"transB", std::int64_t{1}}, {"alpha", 0.75F}, {"beta", 1.3F}});
  m.node("matmul", "MatMul", {x, m.weight("w_plain", {200, 70})});
  cancelling(m, x);
  const std::string a = m.input("a", {3, 7, 30});
  m.node("batched", "MatMul", {a, m.weight("w_batched", {3, 30, 5})});
  m.node("product", "MatMul",
         {a, m.inner("a_transposed", "Transpose", {a},
                     {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}})});
  return m.take();
}

const RegisterModel registered{{.name = "matrix", .evaluations = float_evaluations, .make = make}};

}  // namespace
}  // namespace assay::selftest::matrix_model
