// Another tool's graph made comparable: standard operators, constants folded on both sides, values
// named as in the original.
//
// A name is a hypothesis, not proof: some tools leave the fused result under the name that the Conv
// had before the BN. Each value of the fused graph is computed on the original's own tensors and
// compared with every value of the original of the same shape, on two probe inputs. A name holds
// unless another value fits at least 100 times better; a cut under another name needs a unique
// match on both probes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace assay {

struct Comparable {
  Graph original, fused;
  std::int64_t by_name = 0;             ///< values aligned by their name
  std::int64_t by_map = 0;              ///< values aligned by the user's map
  std::int64_t by_cut = 0;              ///< values aligned by their numbers
  std::vector<std::string> notes = {};  ///< what could not be made comparable, with reasons
};

/// `map`: pairs that the user knows, other name -> name in the original; they hold without a look
/// at the numbers. Throws Error for a name that a graph does not have.
Comparable make_comparable(const Graph& original, const Graph& fused,
                           const std::vector<Feeds>& samples,
                           const std::map<std::string, std::string>& map = {});

}  // namespace assay
