// Proof that two graphs are the same function of real numbers, up to the storage of constants.
//
// From the outputs back, values of both sides are matched:
//   affine stretches   by their normal forms (normal_form.h), whose constants are audited
//   moves of elements  by an input that numbers its elements
//   other operators    by the same operator, attributes and parameters on matched inputs
// What is matched becomes a term of the stretch behind it. When every output is matched, both sides
// are equal before storage for all inputs, and the audits say what storage did.
#pragma once

#include <string>
#include <vector>

#include "validation/certificate/constants.h"
#include "validation/certificate/normal_form.h"
#include "validation/certificate/structure.h"

namespace assay {

/// One matched affine stretch.
struct Segment {
  NormalForm original, fused;
  ConstantsAudit audit;
};

struct Equivalence {
  bool proved = false;
  bool for_these_shapes = false;       ///< numbers computed from shapes were taken as they came out
  std::string mismatch = {};           ///< the first thing that could not be matched
  std::vector<Segment> segments = {};  ///< in the order in which they were matched
};

/// `run`: shapes of every value of both graphs.
Equivalence prove_equal(const Graph& original, const Graph& fused, RegionShapes run,
                        const Budget& budget);

}  // namespace assay
