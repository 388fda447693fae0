// RNN, GRU (1, 3, 7, 14) and LSTM (1, 7, 14), every direction, with sequence lengths, peepholes and
// clipping.
//
//   RNN   H = f(W x + R H' + Wb + Rb)
//   GRU   z, r = f(...);  h = g(W x + R (r * H') + Rb + Wb), or with linear_before_reset g(W x + r
//   * (R H' + Rb) + Wb)
//         H = (1 - z) * h + z * H'
//   LSTM  i, f = f(... + P * C');  c = g(...);  C = f * C' + i * c;  o = f(... + P * C);  H = o *
//   h(C)
// Primes mark the step before. Gate order of the weights: GRU z r h, LSTM i o f c. Roundings:
// support/recurrent.h. Steps past the length of a sequence give zeros in Y; Y_h and Y_c hold the
// last valid state.
#include "runtime/ops/support/recurrent.h"
#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/scalar.h"

namespace assay::ops::recurrent_op {
namespace {

enum class Kind { rnn, gru, lstm };

/// One direction of one batch element.
template <class T>
struct Cell {
  const Recurrent& r;
  bool correct;
  const T* w;   // [gates * hidden, inputs]
  const T* u;   // [gates * hidden, hidden]
  const T* wb;  // [gates * hidden], or nullptr
  const T* rb;
  const T* peephole;  // [3 * hidden] as i o f, or nullptr
  const Activation* activations;
  bool linear_before_reset = false;
  bool input_forget = false;
  std::vector<T> h, c;  // state

  /// W x + R state + extra + biases of one row.
  T linear(const T* x, const std::vector<T>& state, std::int64_t row,
           const Terms<T>& extra = {}) const {
    Terms<T> terms;
    append_dot(terms, w + row * r.inputs, x, r.inputs);
    append_dot(terms, u + row * r.hidden, state.data(), r.hidden);
    terms.insert(terms.end(), extra.begin(), extra.end());
    const T one = T(1.0F);
    if (wb != nullptr) {
      terms.emplace_back(wb[row], one);
      terms.emplace_back(rb[row], one);
    }
    return sum_of_products(terms, correct);
  }

  void rnn(const T* x) {
    std::vector<T> next;
    for (std::int64_t k = 0; k < r.hidden; ++k)
      next.push_back(activate(activations[0], linear(x, h, k), r.clip));
    h = next;
  }

  T candidate(const T* x, const std::vector<T>& reset, const std::vector<T>& gated,
              std::int64_t k) const {
    const std::int64_t row = 2 * r.hidden + k;
    if (!linear_before_reset) return linear(x, gated, row);
    Terms<T> inner;
    append_dot(inner, u + row * r.hidden, h.data(), r.hidden);
    const T one = T(1.0F);
    if (rb != nullptr) inner.emplace_back(rb[row], one);
    Terms<T> terms;
    append_dot(terms, w + row * r.inputs, x, r.inputs);
    terms.emplace_back(reset[static_cast<std::size_t>(k)], sum_of_products(inner, correct));
    if (wb != nullptr) terms.emplace_back(wb[row], one);
    return sum_of_products(terms, correct);
  }

  void gru(const T* x) {
    const auto n = static_cast<std::size_t>(r.hidden);
    std::vector<T> z(n), reset(n), gated(n), next(n);
    for (std::size_t k = 0; k < n; ++k) {
      const auto row = static_cast<std::int64_t>(k);
      z[k] = activate(activations[0], linear(x, h, row), r.clip);
      reset[k] = activate(activations[0], linear(x, h, r.hidden + row), r.clip);
      gated[k] = canonical(T(reset[k] * h[k]));
    }
    for (std::size_t k = 0; k < n; ++k) {
      const T g = activate(activations[1], candidate(x, reset, gated, static_cast<std::int64_t>(k)),
                           r.clip);
      // (1 - z) g + z h as the three products g * 1, -z * g, z * h.
      next[k] = sum_of_products<T>({{g, T(1.0F)}, {T(-z[k]), g}, {z[k], h[k]}}, correct);
    }
    h = next;
  }

  Terms<T> peep(std::int64_t gate, std::int64_t k, const std::vector<T>& state) const {
    if (peephole == nullptr) return {};
    return {{peephole[gate * r.hidden + k], state[static_cast<std::size_t>(k)]}};
  }

  void lstm(const T* x) {
    const auto n = static_cast<std::size_t>(r.hidden);
    std::vector<T> next_h(n), next_c(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::int64_t>(i);
      const T in = activate(activations[0], linear(x, h, k, peep(0, k, c)), r.clip);
      const T forget =
          input_forget
              ? T(T(1.0F) - in)
              : activate(activations[0], linear(x, h, 2 * r.hidden + k, peep(2, k, c)), r.clip);
      const T cell = activate(activations[1], linear(x, h, 3 * r.hidden + k), r.clip);
      next_c[i] = sum_of_products<T>({{forget, c[i]}, {in, cell}}, correct);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::int64_t>(i);
      const T out =
          activate(activations[0], linear(x, h, r.hidden + k, peep(1, k, next_c)), r.clip);
      next_h[i] = canonical(T(out * activate(activations[2], next_c[i], 0.0F)));
    }
    h = next_h;
    c = next_c;
  }
};

template <class T>
const T* optional_data(const EvalContext& c, std::size_t i) {
  return c.has_input(i) ? c.in<T>(i).data() : nullptr;
}

template <class T>
std::vector<T> state_of(const EvalContext& c, std::size_t i, const Recurrent& r,
                        std::int64_t offset) {
  if (!c.has_input(i)) return std::vector<T>(static_cast<std::size_t>(r.hidden), T(0.0F));
  const auto from =
      c.in<T>(i).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(r.hidden));
  return {from.begin(), from.end()};
}

template <class T>
Cell<T> cell_of(const EvalContext& c, const Recurrent& r, std::int64_t gates, std::int64_t d,
                std::int64_t b) {
  const std::int64_t rows = gates * r.hidden;
  const T* bias = optional_data<T>(c, 3);
  const T* peephole = optional_data<T>(c, 7);
  const auto per_direction = static_cast<std::int64_t>(r.activations.size()) / r.directions;
  Cell<T> cell{r,
               c.precision == Precision::cr,
               c.in<T>(1).data() + d * rows * r.inputs,
               c.in<T>(2).data() + d * rows * r.hidden,
               bias == nullptr ? nullptr : bias + d * 2 * rows,
               bias == nullptr ? nullptr : bias + d * 2 * rows + rows,
               peephole == nullptr ? nullptr : peephole + d * 3 * r.hidden,
               r.activations.data() + d * per_direction,
               c.attributes().int_or("linear_before_reset", 0) != 0,
               c.attributes().int_or("input_forget", 0) != 0,
               state_of<T>(c, 5, r, h_offset(r, d, b)),
               state_of<T>(c, 6, r, h_offset(r, d, b))};
  return cell;
}

template <class T>
void put(EvalContext& c, std::size_t i, std::int64_t offset, const std::vector<T>& state) {
  if (!c.has_output(i)) return;
  std::copy(state.begin(), state.end(), c.out<T>(i).begin() + offset);
}

template <class T, Kind kind>
void run_one(EvalContext& c, const Recurrent& r, std::int64_t d, std::int64_t b) {
  constexpr std::int64_t gates = kind == Kind::rnn ? 1 : kind == Kind::gru ? 3 : 4;
  Cell<T> cell = cell_of<T>(c, r, gates, d, b);
  const std::int64_t length = r.lengths[static_cast<std::size_t>(b)];
  for (std::int64_t s = 0; s < length; ++s) {
    const std::int64_t t = r.time(d, s, length);
    const T* x = c.in<T>(0).data() + x_offset(r, t, b);
    if constexpr (kind == Kind::rnn)
      cell.rnn(x);
    else if constexpr (kind == Kind::gru)
      cell.gru(x);
    else
      cell.lstm(x);
    put(c, 0, y_offset(r, t, d, b), cell.h);
  }
  const std::vector<T> zeros(static_cast<std::size_t>(r.hidden), T(0.0F));
  for (std::int64_t t = length; t < r.steps; ++t) put(c, 0, y_offset(r, t, d, b), zeros);
  put(c, 1, h_offset(r, d, b), cell.h);
  put(c, 2, h_offset(r, d, b), cell.c);
}

template <Kind kind>
void core(EvalContext& c) {
  constexpr std::int64_t gates = kind == Kind::rnn ? 1 : kind == Kind::gru ? 3 : 4;
  std::vector<std::string> defaults{"Sigmoid", "Tanh", "Tanh"};
  if (kind == Kind::rnn) defaults = {"Tanh"};
  if (kind == Kind::gru) defaults.pop_back();
  const Recurrent r = read_recurrent(c, gates, defaults);
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, r.directions * r.batch, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) run_one<T, kind>(c, r, i / r.batch, i % r.batch);
    });
  });
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "RNN", .since = 1, .infer = infer_recurrent, .eval = with_narrow<core<Kind::rnn>>},
    {.type = "GRU", .since = 1, .infer = infer_recurrent, .eval = with_narrow<core<Kind::gru>>},
    {.type = "LSTM", .since = 1, .infer = infer_recurrent, .eval = with_narrow<core<Kind::lstm>>}}};

}  // namespace
}  // namespace assay::ops::recurrent_op
