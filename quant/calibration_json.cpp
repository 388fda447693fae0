// The calibration table as JSON, schema assay-calibration/1.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "quant/calibrate.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

const std::string calibration_schema = "assay-calibration/1";

Json range_json(const CalibratedRange& r) {
  return {{"low", r.chosen.low},   {"high", r.chosen.high}, {"min", r.seen.low},
          {"max", r.seen.high},    {"count", r.count},      {"nan", r.nan},
          {"infinite", r.infinite}};
}

CalibratedRange read_range(const Json& j) {
  CalibratedRange r;
  r.chosen = {j.at("low").get<float>(), j.at("high").get<float>()};
  r.seen = {j.at("min").get<float>(), j.at("max").get<float>()};
  r.count = j.at("count").get<std::int64_t>();
  r.nan = j.at("nan").get<std::int64_t>();
  r.infinite = j.at("infinite").get<std::int64_t>();
  if (!(r.chosen.low <= r.chosen.high))
    throw Error({.what = "range is upside down", .got = j.dump()});
  return r;
}

CalibrationTable read_table(const Json& j, const std::string& where) {
  CalibrationTable t;
  if (j.at("schema") != calibration_schema) {
    throw Error({.what = "not a calibration table",
                 .where = where,
                 .got = j.at("schema").dump(),
                 .expected = calibration_schema});
  }
  t.algorithm = j.at("algorithm").get<std::string>();
  const auto scheme = parse_scheme(j.at("scheme").get<std::string>());
  if (!scheme) {
    throw Error({.what = "unknown scheme",
                 .where = where,
                 .got = j.at("scheme").dump(),
                 .expected = scheme_names()});
  }
  t.scheme = *scheme;
  t.percentile = j.at("percentile").get<double>();
  t.samples = j.at("samples").get<std::int64_t>();
  t.data_digest = j.at("data").get<std::string>();
  for (const auto& [name, range] : j.at("tensors").items()) {
    try {
      t.ranges[name] = read_range(range);
    } catch (const Error& e) {
      throw e.at(where + ", tensor '" + name + "'");
    }
  }
  return t;
}

}  // namespace

std::string CalibrationTable::to_json() const {
  std::string text = fmt::format(
      "{{\n  \"schema\": \"{}\",\n  \"algorithm\": {},\n  \"scheme\": \"{}\",\n  \"percentile\": "
      "{},\n"
      "  \"samples\": {},\n  \"data\": \"{}\",\n  \"tensors\": {{",
      calibration_schema, Json(algorithm).dump(), to_string(scheme), Json(percentile).dump(),
      samples, data_digest);
  const char* separator = "\n";
  for (const auto& [name, range] : ranges) {
    text += fmt::format("{}    {}: {}", separator, Json(name).dump(), range_json(range).dump());
    separator = ",\n";
  }
  return text + "\n  }\n}\n";
}

CalibrationTable parse_calibration(std::string_view text, const std::string& where) {
  try {
    return read_table(Json::parse(text), where);
  } catch (const nlohmann::json::exception& e) {
    throw Error({.what = "calibration table cannot be read", .where = where, .got = e.what()});
  }
}

}  // namespace assay
