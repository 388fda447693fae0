// min-max: the exact range of the data.
#include "quant/algorithm.h"

namespace assay::min_max_algorithm {
namespace {

const RegisterAlgorithm registered{
    {.name = "min-max",
     .summary = "the exact range of the data",
     .choose = [](const StreamingHistogram& h, const AlgorithmOptions&) { return *h.range(); }}};

}  // namespace
}  // namespace assay::min_max_algorithm
