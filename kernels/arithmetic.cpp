#include "kernels/arithmetic.h"

namespace assay::kernels {

std::string to_string(Accumulator v) { return v == Accumulator::exact ? "exact" : "s16pair"; }

std::string to_string(SignedSource v) {
  switch (v) {
    case SignedSource::plain:
      return "plain";
    case SignedSource::halved:
      return "halved";
    case SignedSource::plus128:
      return "plus128";
  }
  return "?";
}

std::string to_string(Compensation v) { return v == Compensation::s32 ? "s32" : "f32"; }

std::string to_string(ResidualForm v) {
  switch (v) {
    case ResidualForm::none:
      return "none";
    case ResidualForm::sum_fma:
      return "sum_fma";
    case ResidualForm::sum_mul_add:
      return "sum_mul_add";
  }
  return "?";
}

std::string to_string(MidForm v) {
  return v == MidForm::none ? "none" : "linear_round_clip_linear";
}

std::string to_string(const IntArithmetic& a) {
  return "acc=" + to_string(a.acc) + " s8=" + to_string(a.s8) + " comp=" + to_string(a.comp) +
         " residual=" + to_string(a.residual) + " mid=" + to_string(a.mid) +
         (a.dst_reciprocal ? " dst=reciprocal" : " dst=quotient");
}

}  // namespace assay::kernels
