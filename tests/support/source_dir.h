// Where the project's own files lie, for tests that read them.
#pragma once

#include <filesystem>

namespace assay {
std::filesystem::path source_dir();
}
