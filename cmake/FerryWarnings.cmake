# ferry_warnings(target [LENIENT]): sets ferry's warnings, private to one of ferry's own targets. LENIENT (tests,
# examples, benchmarks) omits conversion warnings. With FERRY_DEVELOPER warnings are errors.
function(ferry_warnings target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LENIENT" "" "")
  set(host -Wall -Wextra -Wshadow)                     # warnings that nvcc's generated code passes, too
  set(cxx ${host} -Wpedantic)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND cxx -Wno-restrict)                     # wrong about "literal" + std::string (GCC bug 105651)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND cxx -Wthread-safety)                   # see ferry/core/detail/support/mutex.hpp
  endif()
  if(NOT arg_LENIENT)
    list(APPEND cxx -Wconversion -Wsign-conversion)
  endif()
  list(TRANSFORM host PREPEND "-Xcompiler=" OUTPUT_VARIABLE cuda)
  list(APPEND cuda -diag-suppress=20012)               # Eigen: host and device annotations of defaulted functions
  if(FERRY_DEVELOPER)
    list(APPEND cxx -Werror)
    list(APPEND cuda -Werror=all-warnings)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${cxx}>
                                           $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${cuda}>)
endfunction()
