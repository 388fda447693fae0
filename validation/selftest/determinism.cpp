#include "validation/selftest/determinism.h"

#include <algorithm>

#include "quant/lower.h"
#include "quant/profile.h"
#include "runtime/file.h"
#include "runtime/numeric/parallel.h"
#include "runtime/onnx/reader.h"
#include "validation/selftest/model.h"

namespace assay::selftest {
namespace {

/// The setting holds while this lives.
class Apply {
 public:
  explicit Apply(const Setting& s) {
    set_num_threads(s.threads);
    set_isa_cap(s.isa);
  }
  ~Apply() {
    set_num_threads(threads_);
    set_isa_cap(isa_);
  }
  Apply(const Apply&) = delete;
  Apply& operator=(const Apply&) = delete;

 private:
  int threads_ = num_threads();
  Isa isa_ = current_isa();
};

/// Text that a value's hash is made of, collected over the runs of one setting.
struct Pieces {
  std::string head;  ///< type and shape of one sample; empty: not one part per sample
  std::string lines;
};
using Collected = std::map<std::string, Pieces>;

class Collector : public Observer {
 public:
  Collector(std::int64_t batch, bool all, Collected& into)
      : batch_(batch), all_(all), into_(into) {}

  void on_value(const Graph& g, ValueId v, const Tensor& t) override {
    if (all_ ? hashed_type(t.dtype()) : g.is_output(v)) add(into_[g.name(v)], t);
  }

 private:
  static bool hashed_type(DType t) { return is_float(t) || size_of(t) == 1; }

  void add(Pieces& p, const Tensor& t) const {
    if (t.shape().rank() == 0 || t.shape()[0] % batch_ != 0) return;
    const std::int64_t rows = t.shape()[0] / batch_;
    p.head = describe(t.rows(0, rows)) + "\n";
    for (std::int64_t i = 0; i < batch_; ++i) {
      const auto raw = t.rows(i * rows, (i + 1) * rows).raw();
      p.lines += sha256({reinterpret_cast<const char*>(raw.data()), raw.size()}) + "\n";
    }
  }

  std::int64_t batch_;
  bool all_;
  Collected& into_;
};

/// A new executor each time: what it packs for one instruction set must not serve another.
Collected run(const Check& c, const Setting& s) {
  const Apply applied(s);
  const Executor executor(c.subject.graph, c.subject.precision);
  Collected collected;
  Collector collector(s.batch, c.all_values, collected);
  for (std::int64_t first = 0; first < samples; first += s.batch) {
    executor.run(load_batch(c.data, first, first + s.batch).inputs, &collector);
  }
  return collected;
}

std::string hash_of(const Pieces& p) { return sha256(p.head + p.lines).substr(0, 32); }

/// What the first setting gave, and the published hashes of values that it did not give.
Outcome begin(const Check& c, const Collected& first) {
  Outcome o{.model = c.subject.model, .evaluation = c.subject.evaluation};
  for (const auto& [name, pieces] : first) {
    if (!pieces.head.empty()) o.hashes[name] = hash_of(pieces);
  }
  for (const auto& [name, hash] : c.expected) {
    if (o.hashes.count(name) == 0)
      o.differences.push_back("'" + name + "': published, but not computed");
  }
  return o;
}

void compare(const Check& c, const Setting& s, const Collected& first, const Collected& now,
             Outcome& o) {
  const bool published = !c.expected.empty();
  for (const auto& [name, pieces] : now) {
    const auto before = first.find(name);
    if (before == first.end() || pieces.head != before->second.head || pieces.head.empty()) {
      if (std::ranges::find(o.left_out, name) == o.left_out.end()) o.left_out.push_back(name);
      continue;
    }
    const Hashes& table = published ? c.expected : o.hashes;
    const auto want = table.find(name);
    const std::string got = hash_of(pieces);
    if (want != table.end() && want->second == got) continue;
    o.differences.push_back("'" + name + "' with " + to_string(s) + ": " + got + ", expected " +
                            (want == table.end() ? "none: not in the table" : want->second));
  }
}

}  // namespace

std::string to_string(const Setting& s) {
  return "threads " + std::to_string(s.threads) + ", batch " + std::to_string(s.batch) + ", " +
         isa_name(s.isa);
}

std::vector<Setting> settings(bool batched) {
  std::vector<Setting> list;
  for (const Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512}) {
    if (isa > detected_isa()) continue;
    for (const int threads : {1, 2, 3}) {
      list.push_back({.threads = threads, .batch = 1, .isa = isa});
      if (batched) list.push_back({.threads = threads, .batch = samples, .isa = isa});
    }
  }
  return list;
}

std::vector<Subject> built_in_subjects() {
  std::vector<Subject> subjects;
  for (const Model& m : all_models()) {
    for (const std::string& e : m.evaluations()) {
      subjects.push_back({.model = m.name,
                          .evaluation = e,
                          .graph = m.make(e),
                          .precision = parse_precision(e).value_or(Precision::cr)});
    }
  }
  return subjects;
}

Subject file_subject(const std::filesystem::path& model, const std::string& evaluation) {
  Subject s{
      .model = model.filename().string(), .evaluation = evaluation, .graph = read_onnx(model)};
  if (const auto precision = parse_precision(evaluation)) {
    s.precision = *precision;
    return s;
  }
  const auto names = profile_names();
  if (std::ranges::find(names, evaluation) == names.end()) {
    throw Error({.what = "no such evaluation",
                 .got = "'" + evaluation + "'",
                 .expected = "cr, f32, f64, dd or a numeric profile"});
  }
  LowerResult lowered = lower(s.graph, {.profile = evaluation});
  if (lowered.codes.empty()) {
    throw Error({.what = "the model is not quantized",
                 .where = model.string(),
                 .expected = "a QDQ graph for evaluation " + evaluation,
                 .advice = "make one with assay quantize"});
  }
  s.graph = std::move(lowered.graph);
  return s;
}

Outcome check(const Check& c) {
  const Collected first = run(c, c.settings.at(0));
  Outcome o = begin(c, first);
  if (o.hashes.empty()) {
    throw Error({.what = "no value can be compared between batches",
                 .where = c.subject.model,
                 .expected = "values whose first axis is the batch"});
  }
  for (const Setting& s : c.settings) {
    compare(c, s, first, o.settings == 0 ? first : run(c, s), o);
    ++o.settings;
  }
  for (const std::string& name : o.left_out) o.hashes.erase(name);
  return o;
}

}  // namespace assay::selftest
