// The version of the program, stamped into reports and goldens.
#pragma once

namespace assay {
inline constexpr const char* version = "0.1.0";
}
