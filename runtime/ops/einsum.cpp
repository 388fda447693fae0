// Einsum (12): sums of products over index letters, e.g. "bij,bjk->bik", with repeated letters,
// `...` and an implicit output.
//
// cr rounds the exact sum of products once when there are at most two operands; with more it is
// evaluated in double-double and rounded once. f32 adds the terms in row-major order of the summed
// letters with fused multiply-adds. Integers wrap.
#include <algorithm>
#include <map>

#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/recurrent.h"
#include "runtime/ops/support/scalar.h"

namespace assay::ops::einsum_op {
namespace {

/// Letters of each operand and of the output; axes behind `...` get the letters '0', '1', ...
/// counted from the right.
struct Equation {
  std::vector<std::string> operands;
  std::string output;
};

[[noreturn]] void bad_equation(const std::string& text, const std::string& why) {
  throw Error({.what = "equation of Einsum: " + why, .got = "'" + text + "'"});
}

std::string letters_of(const std::string& term, std::size_t rank, const std::string& text) {
  const auto dots = term.find("...");
  std::string letters = term;
  if (dots != std::string::npos) {
    const std::size_t named = term.size() - 3;
    if (named > rank) bad_equation(text, "more letters than axes");
    std::string hidden;
    for (std::size_t i = rank - named; i-- > 0;) hidden += static_cast<char>('0' + i);
    letters = term.substr(0, dots) + hidden + term.substr(dots + 3);
  }
  if (letters.size() != rank) bad_equation(text, "letters and axes differ in number");
  return letters;
}

std::string implicit_output(const std::vector<std::string>& operands) {
  std::map<char, int> count;
  for (const std::string& o : operands) {
    for (const char l : o) ++count[l];
  }
  std::string hidden, named;
  for (const auto& [letter, n] : count) {
    if (letter <= '9')
      hidden.insert(hidden.begin(), letter);
    else if (n == 1)
      named += letter;
  }
  return hidden + named;
}

Equation parse(std::string text, const std::vector<std::size_t>& ranks) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const auto arrow = text.find("->");
  std::string left = text.substr(0, arrow) + ",";
  Equation e;
  for (std::size_t at = 0; (at = left.find(',')) != std::string::npos; left.erase(0, at + 1)) {
    if (e.operands.size() >= ranks.size()) bad_equation(text, "more terms than operands");
    e.operands.push_back(letters_of(left.substr(0, at), ranks[e.operands.size()], text));
  }
  if (e.operands.size() != ranks.size()) bad_equation(text, "fewer terms than operands");
  if (arrow == std::string::npos) {
    e.output = implicit_output(e.operands);
    return e;
  }
  std::string out = text.substr(arrow + 2);
  const auto dots = out.find("...");
  if (dots != std::string::npos) {
    std::string hidden;
    for (const std::string& o : e.operands) {
      for (const char l : o)
        if (l <= '9' && hidden.find(l) == std::string::npos) hidden += l;
    }
    std::sort(hidden.rbegin(), hidden.rend());
    out.replace(dots, 3, hidden);
  }
  e.output = out;
  return e;
}

/// Size of every letter; 1 gives way to any other size.
std::map<char, std::int64_t> sizes_of(const Equation& e, const std::vector<Dims>& shapes) {
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t axis = 0; axis < shapes[i].size(); ++axis) {
      const std::int64_t d = shapes[i][axis];
      const auto [it, fresh] = sizes.emplace(e.operands[i][axis], d);
      if (fresh || it->second == d || d == 1) continue;
      if (it->second == 1 || it->second < 0)
        it->second = d;
      else if (d >= 0)
        throw Error({.what = "axes of Einsum differ in size under one letter",
                     .got = std::to_string(it->second) + " and " + std::to_string(d)});
    }
  }
  for (const char l : e.output) {
    if (sizes.count(l) == 0) bad_equation(e.output, "output letter that no operand has");
  }
  return sizes;
}

std::vector<Dims> shapes_of(const EvalContext& c) {
  std::vector<Dims> shapes;
  for (const Tensor& t : c.inputs) shapes.push_back(t.shape().vec());
  return shapes;
}

Equation equation_of(const Attributes& a, const std::vector<Dims>& shapes) {
  std::vector<std::size_t> ranks;
  for (const Dims& d : shapes) ranks.push_back(d.size());
  return parse(a.string_or("equation", ""), ranks);
}

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  std::vector<Dims> shapes;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    require_same_dtype(c, 0, i);
    if (!c.input(i).dims) return;
    shapes.push_back(*c.input(i).dims);
  }
  const Equation e = equation_of(c.attributes(), shapes);
  const auto sizes = sizes_of(e, shapes);
  Dims out;
  for (const char l : e.output) out.push_back(sizes.at(l));
  c.set_output(0, {c.input(0).dtype, out});
}

/// Per operand: stride of every letter.
using Strides = std::vector<std::map<char, std::int64_t>>;

Strides strides_of(const Equation& e, const std::vector<Dims>& shapes) {
  Strides out(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto strides = Shape(shapes[i]).strides();
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
      if (shapes[i][axis] != 1) out[i][e.operands[i][axis]] += strides[axis];
  }
  return out;
}

/// Offsets of each operand at position `index` of the row-major space of `letters`.
void add_offsets(const std::string& letters, const std::map<char, std::int64_t>& sizes,
                 const Strides& strides, std::int64_t index, std::vector<std::int64_t>& offsets) {
  for (std::size_t axis = letters.size(); axis-- > 0;) {
    const std::int64_t size = sizes.at(letters[axis]);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto it = strides[i].find(letters[axis]);
      if (it != strides[i].end()) offsets[i] += index % size * it->second;
    }
    index /= size;
  }
}

std::int64_t space(const std::string& letters, const std::map<char, std::int64_t>& sizes) {
  std::int64_t n = 1;
  for (const char l : letters) n *= sizes.at(l);
  return n;
}

template <class T>
T combine(const std::vector<std::vector<T>>& rows, bool correct) {
  if constexpr (std::is_integral_v<T>) {
    std::uint64_t sum = 0;
    for (const auto& row : rows) {
      std::uint64_t product = 1;
      for (const T v : row) product *= static_cast<std::uint64_t>(v);
      sum += product;
    }
    return static_cast<T>(sum);
  } else {
    Terms<T> terms;
    for (const auto& row : rows) {
      T product = row[0];
      for (std::size_t i = 1; i + 1 < row.size(); ++i) product = product * row[i];
      terms.emplace_back(product, row.size() > 1 ? row.back() : T(1.0F));
    }
    return sum_of_products(terms, correct);
  }
}

template <class T>
void run(const std::vector<Tensor>& inputs, Tensor& out, const Equation& e, bool correct) {
  std::vector<Dims> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.shape().vec());
  const auto sizes = sizes_of(e, shapes);
  const Strides strides = strides_of(e, shapes);
  std::string summed;
  for (const auto& [letter, size] : sizes)
    if (e.output.find(letter) == std::string::npos) summed += letter;
  const std::int64_t terms = space(summed, sizes);
  T* y = out.mutable_data<T>().data();
  parallel_for(0, out.numel(), 16, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::vector<T>> rows(static_cast<std::size_t>(terms),
                                     std::vector<T>(inputs.size()));
    for (std::int64_t o = first; o < last; ++o) {
      std::vector<std::int64_t> base(inputs.size(), 0);
      add_offsets(e.output, sizes, strides, o, base);
      for (std::int64_t k = 0; k < terms; ++k) {
        std::vector<std::int64_t> at = base;
        add_offsets(summed, sizes, strides, k, at);
        for (std::size_t i = 0; i < inputs.size(); ++i)
          rows[static_cast<std::size_t>(k)][i] =
              inputs[i].data<T>()[static_cast<std::size_t>(at[i])];
      }
      y[o] = combine<T>(rows, correct);
    }
  });
}

void core(EvalContext& c) {
  const Equation e = equation_of(c.attributes(), shapes_of(c));
  const bool correct = c.precision == Precision::cr;
  if (correct && is_float(c.input(0).dtype()) && c.inputs.size() > 2) {
    std::vector<Tensor> wide;
    for (const Tensor& t : c.inputs) wide.push_back(convert(t, DType::dd));
    Tensor y(DType::dd, c.output(0).shape());
    run<dd>(wide, y, e, false);
    c.output(0) = convert(y, c.output(0).dtype());
    return;
  }
  visit_dtype(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_narrow<T> && !std::is_same_v<T, bool>)
      run<T>(c.inputs, c.output(0), e, correct);
  });
}

const RegisterOp registered{
    {.type = "Einsum", .since = 12, .infer = infer, .eval = with_narrow<core>}};

}  // namespace
}  // namespace assay::ops::einsum_op
