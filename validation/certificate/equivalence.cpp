#include "validation/certificate/equivalence.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "validation/certificate/bitwise.h"
#include "validation/certificate/canonical.h"
#include "validation/certificate/constant_value.h"
#include "validation/certificate/expand.h"
#include "validation/certificate/operators.h"
#include "validation/certificate/spelling.h"
#include "validation/certificate/structure.h"

namespace assay {
namespace {

using Labels = std::map<ValueId, std::string>;

class Prover {
 public:
  Prover(const Graph& o, const Graph& f, const RegionShapes& run, const Budget& budget,
         bool inside_only)
      : o_(o), f_(f), run_(run), shapes_(run.shapes), budget_(budget), inside_only_(inside_only) {
    for (const ValueId v : o_.inputs()) labels_o_[v] = o_.name(v);
    for (const ValueId v : f_.inputs()) labels_f_[v] = f_.name(v);
  }

  Equivalence run() {
    result_.proved = o_.outputs().size() == f_.outputs().size();
    for (std::size_t i = 0; result_.proved && i < o_.outputs().size(); ++i)
      result_.proved = match(o_.outputs()[i], f_.outputs()[i]);
    if (result_.mismatch.empty()) result_.mismatch = no_form_;
    if (result_.proved) result_.mismatch.clear();
    return std::move(result_);
  }

 private:
  bool no(const std::string& why) {
    if (result_.mismatch.empty()) result_.mismatch = why;
    return false;
  }

  /// Told only when nothing else was found: the comparison of operators says more.
  bool no_form(const std::string& why) {
    if (no_form_.empty()) no_form_ = why;
    return false;
  }

  bool match(ValueId x, ValueId y) {
    if (!x.valid() || !y.valid()) return x.valid() == y.valid() || no("an input is absent");
    x = behind_copies(o_, x);
    y = behind_copies(f_, y);
    const Tensor* s = number(o_, x);
    const Tensor* t = number(f_, y);
    if (s != nullptr && t != nullptr && same_bits(*s, *t)) {
      result_.for_these_shapes =
          result_.for_these_shapes || o_.constant(x) == nullptr || f_.constant(y) == nullptr;
      return true;
    }
    if (o_.constant(x) != nullptr || f_.constant(y) != nullptr)
      return no("constant '" + f_.name(y) + "' is not '" + o_.name(x) + "'");
    const auto lx = labels_o_.find(x);
    const auto ly = labels_f_.find(y);
    if (lx != labels_o_.end() && ly != labels_f_.end() && lx->second == ly->second) return true;
    if (refused_.count({x, y})) return false;
    const auto audits = result_.segments.size();
    if (match_producers(x, y)) {
      unify(x, y);
      return true;
    }
    result_.segments.resize(audits);
    refused_.insert({x, y});
    return false;
  }

  /// The two sides may use one name for different numbers.
  const std::map<std::string, Tensor>& counts_of(const Graph& g) const {
    return &g == &o_ ? run_.counts_original : run_.counts_fused;
  }

  /// A constant, or what was computed from shapes.
  const Tensor* number(const Graph& g, ValueId v) const {
    if (const Tensor* t = g.constant(v)) return t;
    const auto& counts = counts_of(g);
    const auto it = counts.find(g.name(v));
    return it == counts.end() ? nullptr : &it->second;
  }

  bool match_producers(ValueId x, ValueId y) {
    const Node* p = o_.producer(x);
    const Node* q = f_.producer(y);
    if (budget_.own && p != nullptr && q != nullptr) {
      if (const auto decided = match_behind_same_step(*p, *q)) return *decided;
      if (match_sums(*p, *q)) return true;
    }
    if ((is_affine(o_, x) || is_affine(f_, y)) && match_affine(x, y)) return true;
    if (p == nullptr || q == nullptr) return no("'" + o_.name(x) + "' is not '" + f_.name(y) + "'");
    if (match_nodes(*p, *q, output_index(*p, x), output_index(*q, y))) return true;
    return match_moves(x, y);
  }

  /// A name for both, under which later stretches see them as one term.
  void unify(ValueId x, ValueId y) {
    const auto known = labels_o_.find(x);
    const std::string label = known != labels_o_.end() ? known->second : "matched:" + o_.name(x);
    labels_o_[x] = label;
    labels_f_[y] = label;
  }

  // ---- operators

  bool match_nodes(const Node& p, const Node& q, std::size_t i, std::size_t k) {
    if (i != k || !same_operator(p, q))
      return no(describe(q) + " stands where the original has " + describe(p));
    if (!p.captures.empty() || !q.captures.empty()) return no(describe(q) + " holds a subgraph");
    const std::size_t n = std::max(p.inputs.size(), q.inputs.size());
    const auto in = [](const Node& node, std::size_t j) {
      return j < node.inputs.size() ? node.inputs[j] : ValueId{};
    };
    bool all = true;
    for (std::size_t j = 0; all && j < n; ++j)
      all = (clips_nothing(o_, p, j) && clips_nothing(f_, q, j)) || match(in(p, j), in(q, j));
    if (all) return true;
    return commutes(p) && match(in(p, 0), in(q, 1)) && match(in(p, 1), in(q, 0));
  }

  // ---- equal affine steps
  //
  // A step that both sides end with, bit for bit, hides nothing behind its own factor: Assay's
  // constants in front of it are each rounded once.

  /// The operands of the two nodes that are not equal constants, when there is just one.
  std::optional<std::pair<ValueId, ValueId>> only_data(const Node& p, const Node& q) const {
    if (p.inputs.size() != q.inputs.size()) return std::nullopt;
    std::optional<std::pair<ValueId, ValueId>> data;
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      const Tensor* s = o_.constant(p.inputs[i]);
      const Tensor* t = f_.constant(q.inputs[i]);
      if (s != nullptr && t != nullptr && same_bits(*s, *t)) continue;
      if (s != nullptr || t != nullptr || data) return std::nullopt;
      data = {p.inputs[i], q.inputs[i]};
    }
    return data;
  }

  /// Every factor of the step is a number other than 0, so that the step hides nothing.
  bool hides_nothing(const Node& p) const {
    const std::size_t first = p.is("Mul") ? 0 : 1;
    if (p.is("Neg") || p.is("Add") || p.is("Sub")) return true;
    for (std::size_t i = first; i < 2; ++i) {
      const Tensor* t = o_.constant(p.inputs[i]);
      if (t == nullptr) continue;
      const auto x = to_doubles(*t);
      return std::all_of(x.begin(), x.end(), [](double v) { return v != 0 && std::isfinite(v); });
    }
    return false;
  }

  /// Same function in front of the step, or a constant there that is not rounded once; nullopt when
  /// that does not tell.
  std::optional<bool> match_behind_same_step(const Node& p, const Node& q) {
    static const std::set<std::string> steps{"Add", "Sub", "Mul",
                                             "Div", "Neg", "BatchNormalization"};
    if (!p.domain.empty() || !steps.count(p.op_type) || !same_operator(p, q) ||
        p.outputs.size() != 1 || q.outputs.size() != 1 || !hides_nothing(p))
      return std::nullopt;
    const auto data = only_data(p, q);
    if (!data) return std::nullopt;
    const std::size_t segments = result_.segments.size();
    const bool outside = std::exchange(outside_, false);
    const bool same = match(data->first, data->second);
    const bool rounded = outside_;
    outside_ = outside || outside_;
    if (same) return true;
    result_.segments.resize(segments);
    return rounded ? std::optional(false) : std::nullopt;
  }

  /// Sums of two values each, operand by operand.
  bool match_sums(const Node& p, const Node& q) {
    const bool add = p.is("Add") && q.is("Add");
    if (!add && !(p.is("Sub") && q.is("Sub"))) return false;
    for (const ValueId v : p.inputs) {
      if (constant_value(o_, v)) return false;
    }
    for (const ValueId v : q.inputs) {
      if (constant_value(f_, v)) return false;
    }
    const std::size_t segments = result_.segments.size();
    if (match(p.inputs[0], q.inputs[0]) && match(p.inputs[1], q.inputs[1])) return true;
    result_.segments.resize(segments);
    if (add && match(p.inputs[0], q.inputs[1]) && match(p.inputs[1], q.inputs[0])) return true;
    result_.segments.resize(segments);
    return false;
  }

  // ---- affine stretches

  bool match_affine(ValueId x, ValueId y) {
    for (const bool input_side : {true, false}) {
      for (const std::int64_t axis : axes_of(x)) {
        if (match_forms(x, y, axis, input_side)) return true;
      }
    }
    return false;
  }

  /// As found from the operators, then axis 1, then the last.
  std::vector<std::int64_t> axes_of(ValueId x) const {
    std::vector<std::int64_t> list{-1};
    const auto it = shapes_.find(o_.name(x));
    if (it == shapes_.end()) return list;
    const std::int64_t rank = it->second.rank();
    if (rank > 1) list.push_back(1);
    if (rank > 2) list.push_back(rank - 1);
    return list;
  }

  bool match_forms(ValueId x, ValueId y, std::int64_t axis, bool input_side) {
    FormResult a = normal_form(o_, x, shapes_, {labels_o_, axis, input_side});
    FormResult b = normal_form(f_, y, shapes_, {labels_f_, axis, input_side});
    for (const FormResult* side : {&a, &b}) {
      if (const auto* why = std::get_if<std::string>(&side->form))
        return no_form((side == &a ? "original: " : "fused: ") + *why);
    }
    if (!match_atoms(a.atoms, b.atoms)) return false;
    if (!a.atoms.empty() || !b.atoms.empty()) {
      a = normal_form(o_, x, shapes_, {labels_o_, axis, input_side});
      b = normal_form(f_, y, shapes_, {labels_f_, axis, input_side});
    }
    return compare(std::get<NormalForm>(std::move(a.form)),
                   std::get<NormalForm>(std::move(b.form)));
  }

  /// Finds the counterpart of every term of the fused side.
  bool match_atoms(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    for (const ValueId y : b) {
      const bool found = std::any_of(a.begin(), a.end(), [&](ValueId x) { return match(x, y); });
      if (!found) return no("'" + f_.name(y) + "' has no counterpart");
    }
    // What the original computes twice may stand for one value of the fused side.
    for (const ValueId x : a) {
      if (!labels_o_.count(x))
        (void)std::any_of(b.begin(), b.end(), [&](ValueId y) { return match(x, y); });
    }
    return true;
  }

  bool compare(NormalForm o, NormalForm f) {
    ConstantsAudit audit = audit_constants(o, f, budget_);
    if (!audit.comparable) return no(audit.mismatch);
    if (inside_only_ && !audit.inside) {
      outside_ = true;
      return no("constants differ");
    }
    result_.segments.push_back({std::move(o), std::move(f), std::move(audit)});
    return true;
  }

  // ---- moves of elements

  static bool is_move(const Node* n) {
    static const std::set<std::string> moves{"Reshape",   "Flatten",   "Squeeze",
                                             "Unsqueeze", "Transpose", "Slice",
                                             "Identity",  "Dropout",   "DepthToSpace"};
    return n != nullptr && n->domain.empty() && moves.count(n->op_type) != 0;
  }

  static ValueId behind_all_moves(const Graph& g, const Labels& labels, ValueId v) {
    while (!labels.count(v) && is_move(g.producer(v))) v = g.producer(v)->inputs[0];
    return v;
  }

  /// `g` with what it computes from shapes as constants.
  Graph numbered(const Graph& side) {
    const auto& counts = counts_of(side);
    Graph g = side;
    for (const ValueId v : shape_values(g)) {
      const auto known = v.valid() ? counts.find(g.name(v)) : counts.end();
      if (known == counts.end() || g.node(g.value(v).producer).outputs.size() > 1) continue;
      g.erase_node(g.value(v).producer);
      g.set_initializer(v, known->second);
      result_.for_these_shapes = true;
    }
    return g;
  }

  bool match_moves(ValueId x, ValueId y) {
    if (!is_move(o_.producer(x)) && !is_move(f_.producer(y))) return false;
    const ValueId s = behind_all_moves(o_, labels_o_, x);
    const ValueId t = behind_all_moves(f_, labels_f_, y);
    if (!match(s, t)) return false;
    const auto shape = shapes_.find(o_.name(s));
    if (shape == shapes_.end() || shape->second.numel() >= (1 << 24)) return false;
    try {
      Graph b = extract(numbered(f_), {t}, {y});
      Graph a = extract(numbered(o_), {s}, {x});
      if (!b.find_value(o_.name(s))) b.rename(*b.find_value(f_.name(t)), o_.name(s));
      const Feeds feeds{{o_.name(s), Tensor::zeros(DType::float32, shape->second)}};
      return same_moves(a, b, feeds) || no("elements of '" + f_.name(y) + "' are placed otherwise");
    } catch (const Error&) {
      return no("the moves behind '" + f_.name(t) + "' need more than that value");
    }
  }

  const Graph& o_;
  const Graph& f_;
  const RegionShapes& run_;
  const std::map<std::string, Shape>& shapes_;
  const Budget& budget_;
  bool inside_only_;
  bool outside_ = false;  ///< with inside_only_: terms agreed, and their constants did not
  Labels labels_o_, labels_f_;
  std::set<std::pair<ValueId, ValueId>> refused_;
  std::string no_form_;
  Equivalence result_;
};

}  // namespace

Equivalence prove_equal(const Graph& original, const Graph& fused, RegionShapes run,
                        const Budget& budget) {
  const auto comparable = [&](const Graph& g) {
    const Graph plain = merge_twins(plainly_spelled(g, run.shapes));
    return canonical(expand_composites(plain, run.shapes), run.shapes);
  };
  const Graph o = comparable(original);
  const Graph f = comparable(fused);
  // Parallel branches look alike: pairs whose constants agree come first.
  Equivalence strict = Prover(o, f, run, budget, true).run();
  return strict.proved ? strict : Prover(o, f, run, budget, false).run();
}

}  // namespace assay
