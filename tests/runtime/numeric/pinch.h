#pragma once

// Inputs whose exact result lies as near a rounding boundary as one likes, on either side of it.
//
// A knob is an input that moves the exact result monotonically. Bisection over the floats finds the
// two neighbours between which the correctly rounded result (MPFR) steps; the lower one stays, and
// the next, finer knob does the same with the gap that is left. In the end the two rows differ by
// one unit in the last place of the finest knob, the exact result lies between them and the
// boundary closer than any error of the fast evaluation, so an evaluation that trusts a value that
// is off by more than its radius rounds one of the two wrongly.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace assay::test {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// Neighbours have neighbouring numbers; of two numbers the larger one has the larger number.
template <class T>
BitsOf<T> ordinal(T x) {
  const auto bits = std::bit_cast<BitsOf<T>>(x);
  return bits < 0 ? static_cast<BitsOf<T>>(-(bits & ~(BitsOf<T>{1} << (8 * sizeof(T) - 1)))) : bits;
}
template <class T>
T from_ordinal(BitsOf<T> n) {
  return n < 0 ? -std::bit_cast<T>(static_cast<BitsOf<T>>(-n)) : std::bit_cast<T>(n);
}

template <class T>
struct Knob {
  std::vector<T*> up, down;  ///< set to the knob's value, and to minus it
  T low, high;

  void set(T value) const {
    for (T* at : up) *at = value;
    for (T* at : down) *at = -value;
  }
};

/// Turns the knobs, and leaves the row on the near side; `cross` puts it on the far side. False
/// when a knob is too weak to reach the boundary.
template <class T>
bool pinch(const std::vector<Knob<T>>& knobs, const std::function<T()>& exact) {
  for (const Knob<T>& knob : knobs) knob.set(knob.low);
  const T start = exact();
  for (const Knob<T>& knob : knobs) {
    auto near = ordinal(knob.low), far = ordinal(knob.high);
    knob.set(knob.high);
    if (exact() == start) return false;
    while (far - near > 1) {
      const auto middle = near + (far - near) / 2;
      knob.set(from_ordinal<T>(middle));
      (exact() == start ? near : far) = middle;
    }
    knob.set(from_ordinal<T>(near));
  }
  return true;
}

template <class T>
void cross(const std::vector<Knob<T>>& knobs) {
  const Knob<T>& knob = knobs.back();
  const T* value = knob.up.front();
  knob.set(from_ordinal<T>(ordinal(*value) + 1));
}

/// `computed` against `exact` on both sides of a boundary.
template <class T>
void check_pinched(const std::vector<Knob<T>>& knobs, const std::function<T()>& computed,
                   const std::function<T()>& exact) {
  ASSERT_TRUE(pinch(knobs, exact)) << "a knob is too weak";
  const T near = exact();
  ASSERT_EQ(computed(), near) << std::hexfloat << near;
  cross(knobs);
  ASSERT_NE(exact(), near);
  ASSERT_EQ(computed(), exact()) << std::hexfloat << near;
}

}  // namespace assay::test
