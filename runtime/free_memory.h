// Memory that was freed, given back to the system.
#pragma once

namespace assay {

/// Between two phases of a run that need much memory: pages that no block uses any more leave the
/// process, so that what one phase left behind does not lie beside what the next one needs.
void release_free_memory();

}  // namespace assay
