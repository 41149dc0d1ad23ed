# ferry_link_used_packages(target missing source...): links the external packages whose headers the sources include to
# the target. Sets the variable `missing` to the names of those that are not installed. For examples, benchmarks and
# tools: ferry's own libraries need none of these.
function(ferry_link_used_packages target missing)
  if(FERRY_PORTABLE)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
  endif()
  set(not_found "")
  # Rows: header as a regular expression, package, target.
  foreach(row "fmt/|fmt|fmt::fmt-header-only" "CLI/|CLI11|CLI11::CLI11"
              "nlohmann/|nlohmann_json|nlohmann_json::nlohmann_json"
              "png[.]h|PNG|PNG::PNG" "Eigen/|Eigen3|Eigen3::Eigen" "benchmark/|benchmark|benchmark::benchmark"
              "omp[.]h|OpenMP|OpenMP::OpenMP_CXX")
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 header)
    list(GET row 1 package)
    list(GET row 2 library)
    set(used "")
    foreach(source IN LISTS ARGN)
      file(STRINGS ${source} lines REGEX "^#include <${header}")
      list(APPEND used ${lines})
    endforeach()
    if(NOT used)
      continue()
    endif()
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      list(APPEND not_found ${package})
      continue()
    endif()
    if(package STREQUAL "benchmark" AND FERRY_PORTABLE)    # Debian has no static library of this package
      set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN")
      add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different
                         $<TARGET_SONAME_FILE:${library}> $<TARGET_FILE_DIR:${target}>)
    endif()
    target_link_libraries(${target} PRIVATE ${library})
  endforeach()
  set(${missing} ${not_found} PARENT_SCOPE)
endfunction()
