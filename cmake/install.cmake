# What `cmake --install` puts where, and the CMake package `assay`.
#
#   bin/assay                     the program
#   lib/libassay.so               the library, made from the same objects
#   lib/assay/libdnnl.so.3        oneDNN, when it is the copy under .deps/ that no other place has
#   include/assay/runtime/...     the headers, in the folders they have in the sources
#   lib/cmake/assay/              find_package(assay) gives the target assay::assay
#
# Folders follow GNUInstallDirs. Program and library find their libraries by relative paths, so the
# installed tree may be moved. Headers that show another library's types (oneDNN, protobuf) are for
# the sources only and stay out.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Shared, because a static library would drop the files that only register themselves.
add_library(assay_shared SHARED)
add_library(assay::assay ALIAS assay_shared)
target_link_libraries(assay_shared PRIVATE assay_objects INTERFACE nlohmann_json::nlohmann_json)
target_compile_features(assay_shared INTERFACE cxx_std_20)
target_include_directories(assay_shared INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/assay>")
set(private_folder "${CMAKE_INSTALL_LIBDIR}/assay")
set_target_properties(assay_shared PROPERTIES
  LINKER_LANGUAGE CXX OUTPUT_NAME assay EXPORT_NAME assay VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN/assay")

file(RELATIVE_PATH bin_to_private "/${CMAKE_INSTALL_BINDIR}" "/${private_folder}")
set_target_properties(assay PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_private}")

install(TARGETS assay RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS assay_shared EXPORT assay_targets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")

# oneDNN under .deps/ exists in this checkout only; a system copy is found without help.
get_target_property(dnnl_file DNNL::dnnl LOCATION)
file(REAL_PATH "${dnnl_file}" dnnl_file)
file(REAL_PATH "${PROJECT_SOURCE_DIR}/.deps" deps_folder)
cmake_path(IS_PREFIX deps_folder "${dnnl_file}" dnnl_is_ours)
if(dnnl_is_ours)
  install(FILES "${dnnl_file}" DESTINATION "${private_folder}" RENAME libdnnl.so.3)
endif()

foreach(folder runtime fusion quant kernels datasets validation)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/assay"
    FILES_MATCHING PATTERN "*.h"
    PATTERN "kernels/onednn" EXCLUDE
    PATTERN "validation/cli" EXCLUDE
    REGEX "runtime/onnx/(functions|tensor_proto|graph_reader|graph_writer)\\.h$" EXCLUDE)
endforeach()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/assay")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/assay-config.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/assay-config.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/assay-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/assay-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/assay-config-version.cmake" DESTINATION "${package_folder}")
install(EXPORT assay_targets NAMESPACE assay:: FILE assay-targets.cmake DESTINATION "${package_folder}")

# A sanitized library needs a sanitized program around it.
if(ASSAY_BUILD_TESTS AND NOT ASSAY_SANITIZE)
  add_test(NAME install.consumer COMMAND bash "${PROJECT_SOURCE_DIR}/tests/scripts/install_test.sh"
    "${CMAKE_BINARY_DIR}" "${PROJECT_SOURCE_DIR}" "${CMAKE_CXX_COMPILER}")
  set_tests_properties(install.consumer PROPERTIES LABELS install TIMEOUT 600)
endif()
