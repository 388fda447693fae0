#include "runtime/free_memory.h"

#include <malloc.h>

namespace assay {

void release_free_memory() { malloc_trim(0); }

}  // namespace assay
