// NaN, infinities, signed zeros and subnormals at a region's inputs (docs/certificates.md, "Special
// values").
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "validation/certificate/regions.h"

namespace assay {

/// `sample` with the float32 numbers of each of its tensors changed.
Feeds with_numbers(const Feeds& sample, const std::function<void(std::span<float>)>& change);

struct SpecialInput {
  std::string name;  ///< "NaN at element 12"
  Feeds feeds;
  bool finite = true;
};

/// Variations of `sample`; empty when it holds no float32 numbers.
std::vector<SpecialInput> special_inputs(const Feeds& sample);

/// What a region does to them.
struct SpecialCheck {
  bool same_bits = true;    ///< on finite inputs; only looked at with `bits`
  bool exceeds = false;     ///< a float32 difference beyond the certified radius
  bool overflowed = false;  ///< finite in the original, not finite in the fused graph
  std::string summary;      ///< for `proof`
  nlohmann::ordered_json domain = nlohmann::ordered_json::array();  ///< inputs that differ
  nlohmann::ordered_json witness = nullptr;  ///< of other bits, or of the excess
};

/// `bits`: bits are compared, under `cr`; else kinds of numbers under `f32`, and on finite inputs
/// the difference against the radius. `own`: made by Assay's rules.
SpecialCheck check_special_values(const Region& r, const Feeds& sample, bool bits, bool own);

}  // namespace assay
