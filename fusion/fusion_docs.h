// The page docs/fusions.md, made from the registry, so that it cannot fall behind the rules.
#pragma once

#include <string>

namespace assay {

/// Markdown: modes, rules with before/after, refusals, proof and test, and the vendors' rows
/// F1..F15 and M1..M6.
std::string fusions_page();

}  // namespace assay
