#include "quant/profile.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "embedded/quant_profiles.h"
#include "runtime/file.h"

namespace assay {
namespace {

using Json = nlohmann::json;

template <class E>
using Names = std::vector<std::pair<std::string, E>>;

const Names<OverflowAction> overflow_names = {{"trap", OverflowAction::trap},
                                              {"wrap", OverflowAction::wrap},
                                              {"saturate-each-step", OverflowAction::saturate_each},
                                              {"saturate-end", OverflowAction::saturate_end}};
const Names<PairModel> pair_names = {{"none", PairModel::none}, {"s16", PairModel::s16pair}};
const Names<S8Form> s8_names = {
    {"plain", S8Form::plain}, {"halved", S8Form::halved}, {"plus128", S8Form::plus128}};
const Names<Compensation> compensation_names = {{"s32", Compensation::s32},
                                                {"f32", Compensation::f32}};
const Names<BiasDomain> bias_names = {{"float32-after-scale", BiasDomain::float32_after_scale},
                                      {"int32-in-accumulator", BiasDomain::int32_in_accumulator}};
const Names<ScaleForm> scale_names = {{"dequantized", ScaleForm::dequantized},
                                      {"float32", ScaleForm::float32},
                                      {"fused-float32", ScaleForm::fused32},
                                      {"exact", ScaleForm::exact},
                                      {"multiplier", ScaleForm::multiplier}};
const Names<Derivation> derivation_names = {{"nearest", Derivation::nearest},
                                            {"truncate", Derivation::truncate}};
const Names<Quotient> division_names = {{"exact", Quotient::exact},
                                        {"float32", Quotient::float32},
                                        {"reciprocal", Quotient::reciprocal}};
const Names<Tie> tie_names = {{"even", Tie::even},
                              {"away", Tie::away},
                              {"up", Tie::up},
                              {"down", Tie::down},
                              {"to-zero", Tie::to_zero}};
const Names<bool> zero_point_names = {{"after-rounding", false}, {"before-rounding", true}};
const Names<ResidualForm> residual_names = {{"sum", ResidualForm::sum},
                                            {"binary", ResidualForm::binary}};
const Names<MidForm> mid_names = {{"quantize-dequantize", MidForm::quantize_dequantize},
                                  {"linear-round-clip-linear", MidForm::linear_round_clip_linear}};

/// Reads keys of one JSON object and complains about those nobody asked for.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("is not an object", object.type_name());
  }

  const Json& at(const std::string& key) {
    read_.insert(key);
    const auto it = object_.find(key);
    if (it == object_.end()) fail("has no key '" + key + "'", "");
    return *it;
  }

  std::string text(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_string()) fail("key '" + key + "' is not a string", value.dump());
    return value.get<std::string>();
  }

  int integer(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_number_integer()) fail("key '" + key + "' is not an integer", value.dump());
    return value.get<int>();
  }

  template <class E>
  E choice(const std::string& key, const Names<E>& names) {
    const std::string value = text(key);
    std::string known;
    for (const auto& [name, e] : names) {
      if (name == value) return e;
      known += (known.empty() ? "" : ", ") + name;
    }
    throw Error({.what = "unknown value of '" + key + "' in a numeric profile",
                 .where = where_,
                 .got = "'" + value + "'",
                 .expected = known});
  }

  void done() const {
    for (const auto& [key, value] : object_.items()) {
      if (read_.count(key) == 0) fail("has an unknown key", "'" + key + "'");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& got) const {
    throw Error({.what = "numeric profile " + what, .where = where_, .got = got});
  }

  const Json& object_;
  std::string where_;
  std::set<std::string> read_;
};

void read_accumulator(Reader& reader, const std::string& where, NumericProfile& p) {
  Reader acc(reader.at("accumulator"), where + ", accumulator");
  p.accumulator_bits = acc.integer("bits");
  p.overflow = acc.choice("overflow", overflow_names);
  p.pairs = acc.choice("pairs", pair_names);
  p.s8 = acc.choice("s8", s8_names);
  p.compensation = acc.choice("compensation", compensation_names);
  acc.done();
}

void read_scale(Reader& reader, const std::string& where, NumericProfile& p) {
  Reader scale(reader.at("scale"), where + ", scale");
  p.scale = scale.choice("form", scale_names);
  p.multiplier_bits = scale.integer("bits");
  p.derivation = scale.choice("derivation", derivation_names);
  p.division = scale.choice("division", division_names);
  scale.done();
}

void read_rounding(Reader& reader, const std::string& where, NumericProfile& p) {
  for (const Json& entry : reader.at("rounding")) {
    Reader stage(entry, where + ", rounding");
    p.rounding.push_back({stage.text("stage"), stage.choice("tie", tie_names)});
    stage.done();
  }
}

NumericProfile read(const Json& json, const std::string& where) {
  Reader reader(json, where);
  NumericProfile p;
  if (const auto schema = reader.text("schema"); schema != "assay-profile/1") {
    throw Error({.what = "not a numeric profile",
                 .where = where,
                 .got = "schema '" + schema + "'",
                 .expected = "assay-profile/1"});
  }
  p.name = reader.text("name");
  p.title = reader.text("title");
  p.source = reader.text("source");
  read_accumulator(reader, where, p);
  read_scale(reader, where, p);
  read_rounding(reader, where, p);
  p.bias = reader.choice("bias", bias_names);
  p.zero_point_before_rounding = reader.choice("zero_point", zero_point_names);
  p.residual = reader.choice("residual", residual_names);
  p.mid = reader.choice("mid", mid_names);
  p.fma = reader.choice("sum", Names<bool>{{"fma", true}, {"multiply-add", false}});
  reader.done();
  p.json = json.dump();
  p.hash = sha256(p.json);
  return p;
}

const std::map<std::string, NumericProfile>& shipped() {
  static const auto profiles = [] {
    std::map<std::string, NumericProfile> found;
    for (const auto& file : embedded::quant_profiles()) {
      NumericProfile p = parse_profile(file.text, std::string(file.name));
      found.emplace(p.name, std::move(p));
    }
    return found;
  }();
  return profiles;
}

}  // namespace

NumericProfile parse_profile(std::string_view text, const std::string& where) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {
    throw Error({.what = "numeric profile is not JSON", .where = where, .got = e.what()});
  }
  return read(json, where);
}

const NumericProfile& find_profile(const std::string& name) {
  const auto it = shipped().find(name);
  if (it != shipped().end()) return it->second;
  throw Error({.what = "unknown numeric profile",
               .got = "'" + name + "'",
               .expected = fmt::format("{}", fmt::join(profile_names(), ", "))});
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& [name, profile] : shipped()) names.push_back(name);
  return names;
}

}  // namespace assay
