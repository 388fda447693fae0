# Embeds text files in the program.
#
#   assay_embed(name file...)
#
# makes generated/embedded/NAME.{h,cpp} in the build folder and adds the source to assay_objects. The
# header declares
#   namespace assay::embedded { struct File { std::string_view name, text; };  std::span<const File> NAME(); }
# with the files in the order given, `name` being the file name without its folder. A change of a
# file regenerates the source.
function(assay_embed name)
  set(header "${CMAKE_CURRENT_BINARY_DIR}/generated/embedded/${name}.h")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/embedded/${name}.cpp")
  set(files)
  foreach(file IN LISTS ARGN)
    get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND files "${file}")
  endforeach()
  add_custom_command(
    OUTPUT "${header}" "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DNAME=${name}" "-DHEADER=${header}" "-DSOURCE=${source}"
            "-DFILES=${files}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    DEPENDS ${files} "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(assay_objects PRIVATE "${header}" "${source}")
endfunction()

# Sets of files known to the build: each cmake/embed/*.cmake calls assay_embed for its own.
file(GLOB embed_sets CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/embed/*.cmake")
foreach(embed_set IN LISTS embed_sets)
  include("${embed_set}")
endforeach()
