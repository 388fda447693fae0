// E3: the fused side lacks quantizers that the original has (docs/certificates.md, "Quantization
// changed").
//
// DequantizeLinear(QuantizeLinear(v; s)) lies within s/2 of v unless it saturates. So with every
// dropped pair replaced by v + e, |e| <= s/2, the original's result must lie inside the interval
// that this error spans at the output. Where the quantizer saturated, |e| is what it did; such
// elements are counted.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "validation/certificate/regions.h"

namespace assay {

/// A QuantizeLinear and the DequantizeLinear behind it, with one scale for the tensor.
struct QuantizerPair {
  std::string quantizer, dequantizer;  ///< names of the nodes
  std::string input, output;           ///< values
  double scale = 0;
};

/// The pairs of `g` whose codes nothing else reads and whose parameters agree.
std::vector<QuantizerPair> quantizer_pairs(const Graph& g);
/// `g` with these pairs replaced by copies of their inputs.
Graph without_quantizers(const Graph& g, const std::vector<QuantizerPair>& pairs);
/// Every way to drop as many pairs of the original as the fused side lacks, at most 64; none when
/// it lacks none.
std::vector<std::vector<QuantizerPair>> possible_drops(const Region& r);

struct QuantizerCheck {
  bool inside = true;
  double usage = 0;                ///< largest |difference| over the interval's half width
  nlohmann::ordered_json json;     ///< pairs, saturated elements, histogram of codes, rates
  nlohmann::ordered_json witness;  ///< the element that leaves the interval
};

/// The original against its interval on every sample.
QuantizerCheck check_dropped(const Graph& original, const std::vector<QuantizerPair>& dropped,
                             const std::vector<Feeds>& samples);

}  // namespace assay
