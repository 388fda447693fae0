#include "quant/config.h"

#include <nlohmann/json.hpp>

#include "quant/algorithm.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

const std::string config_schema = "assay-quant-config/1";

ActivationScheme read_scheme(const Json& j) {
  if (const auto s = parse_scheme(j.get<std::string>())) return *s;
  throw Error({.what = "unknown scheme", .got = j.dump(), .expected = scheme_names()});
}

bool read_choice(const Json& j, const std::string& yes, const std::string& no) {
  const auto text = j.get<std::string>();
  if (text == yes || text == no) return text == yes;
  throw Error({.what = "unknown value", .got = "'" + text + "'", .expected = yes + ", " + no});
}

Range read_pinned_range(const Json& j) {
  if (j.is_array() && j.size() == 2) {
    const Range r{j[0].get<float>(), j[1].get<float>()};
    if (std::isfinite(r.low) && std::isfinite(r.high) && r.low <= r.high) return r;
  }
  throw Error({.what = "not a range", .got = j.dump(), .expected = "[low, high]"});
}

LayerConfig read_layer(const Json& j) {
  LayerConfig layer;
  for (const auto& [key, value] : j.items()) {
    if (key == "scheme")
      layer.scheme = read_scheme(value);
    else if (key == "range")
      layer.range = read_pinned_range(value);
    else if (key == "weights")
      layer.per_channel = read_choice(value, "per-channel", "per-tensor");
    else if (key == "skip")
      layer.skip = value.get<bool>();
    else
      throw Error({.what = "unknown key",
                   .got = "'" + key + "'",
                   .expected = "scheme, range, weights, skip"});
  }
  return layer;
}

void read_key(QuantConfig& c, const std::string& key, const Json& value) {
  if (key == "scheme")
    c.scheme = read_scheme(value);
  else if (key == "algorithm")
    c.algorithm = find_algorithm(value.get<std::string>()).name;
  else if (key == "percentile")
    c.percentile = value.get<double>();
  else if (key == "mid_rounding")
    c.keep_mid_rounding = read_choice(value, "keep", "drop");
  else if (key == "residual_scales")
    c.align_residual = read_choice(value, "aligned", "separate");
  else if (key == "bias")
    c.integer_bias = read_choice(value, "int32", "float32");
  else if (key == "weights")
    c.per_channel = read_choice(value, "per-channel", "per-tensor");
  else if (key == "target")
    c.target = value.get<std::string>();
  else if (key == "product")
    c.product = value.get<std::string>();
  else if (key == "skip")
    c.skip = value.get<std::vector<std::string>>();
  else if (key == "layers") {
    for (const auto& [name, layer] : value.items()) c.layers[name] = read_layer(layer);
  } else if (key != "schema") {
    throw Error(
        {.what = "unknown key",
         .got = "'" + key + "'",
         .expected =
             "schema, scheme, algorithm, percentile, mid_rounding, residual_scales, bias, weights, "
             "skip, layers, target, product"});
  }
}

}  // namespace

QuantConfig parse_quant_config(std::string_view text, const std::string& where) {
  std::string at = where;
  try {
    const Json j = Json::parse(text);
    if (!j.is_object() || j.value("schema", "") != config_schema) {
      throw Error({.what = "not a quantization configuration",
                   .expected = "\"schema\": \"" + config_schema + "\""});
    }
    QuantConfig c;
    for (const auto& [key, value] : j.items()) {
      at = where + ", key '" + key + "'";
      read_key(c, key, value);
    }
    return c;
  } catch (const nlohmann::json::exception& e) {
    throw Error(
        {.what = "quantization configuration cannot be read", .where = at, .got = e.what()});
  } catch (const Error& e) {
    throw e.at(at);
  }
}

std::string QuantConfig::to_json() const {
  Json j = {{"schema", config_schema},
            {"scheme", to_string(scheme)},
            {"algorithm", algorithm},
            {"percentile", percentile},
            {"mid_rounding", keep_mid_rounding ? "keep" : "drop"},
            {"residual_scales", align_residual ? "aligned" : "separate"},
            {"bias", integer_bias ? "int32" : "float32"},
            {"weights", per_channel ? "per-channel" : "per-tensor"},
            {"skip", skip},
            {"layers", Json::object()}};
  for (const auto& [name, layer] : layers) {
    Json& out = j["layers"][name] = Json::object();
    if (layer.scheme) out["scheme"] = to_string(*layer.scheme);
    if (layer.range) out["range"] = {layer.range->low, layer.range->high};
    if (layer.per_channel) out["weights"] = *layer.per_channel ? "per-channel" : "per-tensor";
    if (layer.skip) out["skip"] = true;
  }
  if (!target.empty()) j["target"] = target;
  if (!product.empty()) j["product"] = product;
  return j.dump(2) + "\n";
}

bool fits_wildcard(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (fits_wildcard(pattern.substr(1), name.substr(i))) return true;
    }
    return false;
  }
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         fits_wildcard(pattern.substr(1), name.substr(1));
}

}  // namespace assay
