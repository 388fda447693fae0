#pragma once

#include <algorithm>
#include <cstddef>
#include <typeinfo>

// Names for proved radii, so that each can be made too small from outside.
//
// A radius that nobody could violate proves nothing. Every error bound of runtime/numeric passes
// through proved<"name">(), which gives it back unchanged. In the program assay_shrunk_radii
// (ASSAY_SHRINK_RADII) the one that the environment variable ASSAY_SHRUNK_RADIUS names is 2^10
// times smaller, and a test has to fail: tests/scripts/shrunk_radii.py tries them all.

namespace assay {

/// A bound on |computed - exact|, absolute. Only such a bound enters Ziv's test.
struct ProvedRadius {
  double value;
};

/// A string literal as a template argument.
template <std::size_t N>
struct RadiusName {
  constexpr RadiusName(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  char text[N];
};

#ifdef ASSAY_SHRINK_RADII

/// 2^-10 for the radius that ASSAY_SHRUNK_RADIUS names, else 1; `kind` tells the functions of a
/// family apart ("name: assay::ExpFn"), null where there is one.
double radius_factor(const char* name, const std::type_info* kind);

template <RadiusName name>
inline const double factor_of_radius = radius_factor(name.text, nullptr);
template <RadiusName name, class Fn>
inline const double factor_of_function = radius_factor(name.text, &typeid(Fn));

template <RadiusName name>
ProvedRadius proved(double radius) {
  return {radius * factor_of_radius<name>};
}
template <RadiusName name, class Fn>
ProvedRadius proved(double radius) {
  return {radius * factor_of_function<name, Fn>};
}

#else

template <RadiusName name, class... Fn>
constexpr ProvedRadius proved(double radius) {
  return {radius};
}

#endif

}  // namespace assay
