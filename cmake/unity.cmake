# unity_groups(TARGET SOURCE...): compiles the sources of one folder together, at most twelve at a time.
#
# Most of a source's compile time goes into the same headers: together they cost it once. Files of one folder
# therefore may not define the same name (but in the folders left out below); what only registers itself lives in a namespace named after its file.
function(unity_groups target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # It warns of types that an included source keeps to itself, as if two sources could share them.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    # Code compiled for one instruction set each; and folders whose sources keep helpers of the same name.
    if(folder MATCHES "/(runtime/numeric|quant|validation|validation/certificate|validation/report)$")
      continue()
    endif()
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REPLACE "/" "_" folder ${folder})
    math(EXPR count_${folder} "${count_${folder}} + 1")
    math(EXPR group "(${count_${folder}} - 1) / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
endfunction()
