#include "tests/support/source_dir.h"

namespace assay {
std::filesystem::path source_dir() { return ASSAY_SOURCE_DIR; }
}  // namespace assay
