// File-level defects in the folded numbers.
#include <algorithm>
#include <cmath>

#include "runtime/numeric/float_ulp.h"
#include "tests/defects/carriers.h"
#include "tests/defects/suite.h"

namespace assay::defects {
namespace {

using Before = std::function<void(Parameters&)>;
using After = std::function<void(const Carrier&, const Parameters&, Constants&)>;
using Fits = std::function<bool(const Carrier&)>;

bool any(const Carrier&) { return true; }

/// The fold of wrong parameters.
Kind wrong_parameters(const std::string& name, Before before, Fits fits = any) {
  return {name, "file", [=](std::uint64_t seed) {
            std::vector<Case> cases;
            for (const Carrier& c : carriers()) {
              if (!fits(c)) continue;
              const Parameters p = draw(c, seed);
              Parameters wrong = p;
              before(wrong);
              cases.push_back(
                  {c.name, original(c, p), folded(c, fold(c, wrong)), {}, draw_input(c, seed)});
            }
            return cases;
          }};
}

/// The right fold, changed afterwards.
Kind wrong_constants(const std::string& name, After after, Fits fits = any) {
  return {name, "file", [=](std::uint64_t seed) {
            std::vector<Case> cases;
            for (const Carrier& c : carriers()) {
              if (!fits(c)) continue;
              const Parameters p = draw(c, seed);
              Constants k = fold(c, p);
              after(c, p, k);
              cases.push_back({c.name, original(c, p), folded(c, k), {}, draw_input(c, seed)});
            }
            return cases;
          }};
}

void rotate(Parameters& p, std::size_t by) {
  for (auto* v : {&p.gamma, &p.beta, &p.mean, &p.var})
    std::rotate(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(by), v->end());
}

double scale(const Parameters& p, std::size_t c) {
  return static_cast<double>(p.gamma[c]) / std::sqrt(static_cast<double>(p.var[c]) + p.epsilon);
}

/// The nearest float with `bits` bits of significand (numbers here are far from the ends).
float shortened(float x, int bits) {
  const int e = std::ilogb(x);
  return static_cast<float>(
      std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(x), bits - 1 - e)), e - bits + 1));
}

void shorten(Constants& k, int bits) {
  for (auto* v : {&k.w, &k.b}) {
    for (float& x : *v) x = shortened(x, bits);
  }
}

/// Every constant from the exact value, cut off instead of rounded.
void truncate(const Carrier& c, const Parameters& p, Constants& k) {
  const auto cut = [](double x) {
    const double step = float_ulp(x);
    return static_cast<float>(std::trunc(x / step) * step);
  };
  for (std::size_t i = 0; i < k.w.size(); ++i) {
    const auto channel = static_cast<std::size_t>(c.channel_of(static_cast<std::int64_t>(i)));
    k.w[i] = cut(static_cast<double>(p.w[i]) * scale(p, channel));
  }
  for (std::size_t i = 0; i < k.b.size(); ++i) {
    const double b = p.b.empty() ? 0.0 : static_cast<double>(p.b[i]);
    k.b[i] =
        cut((b - static_cast<double>(p.mean[i])) * scale(p, i) + static_cast<double>(p.beta[i]));
  }
}

std::size_t largest(const std::vector<float>& v) {
  return static_cast<std::size_t>(
      std::max_element(v.begin(), v.end(),
                       [](float a, float b) { return std::fabs(a) < std::fabs(b); }) -
      v.begin());
}

std::vector<Kind> parameter_kinds() {
  return {
      wrong_parameters("epsilon_20_percent", [](Parameters& p) { p.epsilon *= 1.2; }),
      wrong_parameters("epsilon_0.1_percent", [](Parameters& p) { p.epsilon *= 1.001; }),
      wrong_parameters("epsilon_1e-3", [](Parameters& p) { p.epsilon = 1e-3; }),
      wrong_parameters("epsilon_dropped", [](Parameters& p) { p.epsilon = 0; }),
      wrong_parameters("gamma_beta_swapped", [](Parameters& p) { std::swap(p.gamma, p.beta); }),
      wrong_parameters("gamma_sign_lost",
                       [](Parameters& p) {
                         for (float& g : p.gamma) g = std::fabs(g);
                       }),
      wrong_parameters("gamma_dropped",
                       [](Parameters& p) { std::fill(p.gamma.begin(), p.gamma.end(), 1.0F); }),
      wrong_parameters("beta_dropped",
                       [](Parameters& p) { std::fill(p.beta.begin(), p.beta.end(), 0.0F); }),
      wrong_parameters("mean_sign",
                       [](Parameters& p) {
                         for (float& m : p.mean) m = -m;
                       }),
      wrong_parameters("mean_dropped",
                       [](Parameters& p) { std::fill(p.mean.begin(), p.mean.end(), 0.0F); }),
      wrong_parameters("mean_variance_swapped", [](Parameters& p) { std::swap(p.mean, p.var); }),
      wrong_parameters("root_forgotten",
                       [](Parameters& p) {
                         for (float& v : p.var) v = v * v;
                       }),
      wrong_parameters(
          "bias_dropped", [](Parameters& p) { std::fill(p.b.begin(), p.b.end(), 0.0F); },
          [](const Carrier& c) { return c.bias; }),
      wrong_parameters("channels_rotated", [](Parameters& p) { rotate(p, 1); }),
  };
}

std::vector<Kind> number_kinds() {
  return {
      wrong_constants(
          "grouped_slice_shifted",
          [](const Carrier& c, const Parameters& p, Constants& k) {
            Parameters wrong = p;
            rotate(wrong, static_cast<std::size_t>(c.channels / c.groups));
            k = fold(c, wrong);
          },
          [](const Carrier& c) { return c.groups > 1; }),
      wrong_constants(
          "weights_on_input_axis",
          [](const Carrier& c, const Parameters& p, Constants& k) {
            for (std::size_t i = 0; i < k.w.size(); ++i) {
              const auto in = c.input_channel_of(static_cast<std::int64_t>(i));
              k.w[i] = static_cast<float>(static_cast<double>(p.w[i]) *
                                          scale(p, static_cast<std::size_t>(in)));
            }
          },
          [](const Carrier& c) { return c.groups == 1 && c.x[1] == c.channels; }),
      wrong_constants(
          "bias_not_scaled",
          [](const Carrier&, const Parameters& p, Constants& k) {
            for (std::size_t i = 0; i < k.b.size(); ++i)
              k.b[i] = p.b[i] - p.mean[i] * static_cast<float>(scale(p, i)) + p.beta[i];
          },
          [](const Carrier& c) { return c.bias; }),
      wrong_constants("weights_not_scaled",
                      [](const Carrier&, const Parameters& p, Constants& k) { k.w = p.w; }),
      wrong_constants(
          "scaled_twice",
          [](const Carrier& c, const Parameters& p, Constants& k) {
            for (std::size_t i = 0; i < k.w.size(); ++i)
              k.w[i] *= static_cast<float>(
                  scale(p, static_cast<std::size_t>(c.channel_of(static_cast<std::int64_t>(i)))));
          }),
      wrong_constants("weight_one_ulp",
                      [](const Carrier&, const Parameters&, Constants& k) {
                        float& w = k.w[largest(k.w)];
                        w = std::nextafter(w, 2 * w);
                      }),
      wrong_constants("weight_2^-10", [](const Carrier&, const Parameters&,
                                         Constants& k) { k.w[largest(k.w)] *= 1 + 0x1p-10F; }),
      wrong_constants("bias_2^-10", [](const Carrier&, const Parameters&,
                                       Constants& k) { k.b[largest(k.b)] *= 1 + 0x1p-10F; }),
      wrong_constants("half_precision",
                      [](const Carrier&, const Parameters&, Constants& k) { shorten(k, 11); }),
      wrong_constants("bfloat16",
                      [](const Carrier&, const Parameters&, Constants& k) { shorten(k, 8); }),
      wrong_constants("truncated", truncate),
  };
}

}  // namespace

std::vector<Kind> constant_kinds() {
  auto list = parameter_kinds();
  for (Kind& k : number_kinds()) list.push_back(std::move(k));
  return list;
}

}  // namespace assay::defects
