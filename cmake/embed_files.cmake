# Script of assay_embed: writes HEADER and SOURCE for the FILES (a list) under NAME.
#
# Each byte is written as a hexadecimal escape, so the texts need no quoting.
file(WRITE "${HEADER}" "// Made by cmake/embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace assay::embedded {
#ifndef ASSAY_EMBEDDED_FILE
#define ASSAY_EMBEDDED_FILE
struct File {
  std::string_view name;
  std::string_view text;
};
#endif
std::span<const File> ${NAME}();
}  // namespace assay::embedded
")

set(arrays "")
set(entries "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(base "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  string(APPEND arrays "constexpr char text_${index}[] = \"${escaped}\";\n")
  string(APPEND entries "    {\"${base}\", std::string_view(text_${index}, ${bytes})},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${SOURCE}" "// Made by cmake/embed.cmake.
#include \"embedded/${NAME}.h\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace assay::embedded {
namespace {
${arrays}constexpr File files[] = {
${entries}};
}  // namespace
std::span<const File> ${NAME}() { return files; }
}  // namespace assay::embedded
")
