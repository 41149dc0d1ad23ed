# ferry_add_compile_test(name source [CUDA] [RIGHT_APART] [MODULE core|unified|multigpu])
#
# A ctest case that compiles one source as C++, or as CUDA with CUDA. Its include folders are those of the module and of
# the modules that it uses (default: multigpu, which uses all). The source's first lines give the expected result, see
# compile_fail/CMakeLists.txt. Without such lines it must compile. RIGHT_APART: another test compiles it without
# FERRY_WRONG.
function(ferry_add_compile_test name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CUDA;RIGHT_APART" "MODULE" "")
  if(NOT arg_MODULE)
    set(arg_MODULE multigpu)
  endif()
  set(language CXX)
  if(arg_CUDA)
    set(language CUDA)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -D SOURCE=${source} -D LANGUAGE=${language} -D MODULE=${arg_MODULE}
           -D RIGHT_APART=${arg_RIGHT_APART}
           -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${name}.o -P ${PROJECT_BINARY_DIR}/compile_test.cmake)
  set_tests_properties(${name} PROPERTIES LABELS "sim;build" TIMEOUT 300)
  if(compile_tests_precompile AND NOT arg_CUDA)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED precompiled_${arg_MODULE})
  endif()
endfunction()

# g++ parses each module's headers once for all cases. Only as for a ferry without CUDA.
set(compile_tests_precompile OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (FERRY_CUDA_SAMPLE OR NOT FERRY_WITH_CUDA))
  set(compile_tests_precompile ON)
  foreach(module core unified multigpu)
    add_test(NAME compile_fail.precompiled.${module} COMMAND ${CMAKE_COMMAND} -D PRECOMPILE=ON -D LANGUAGE=CXX
             -D MODULE=${module} -P ${PROJECT_BINARY_DIR}/compile_test.cmake)
    set_tests_properties(compile_fail.precompiled.${module} PROPERTIES LABELS "sim;build" TIMEOUT 300
                         FIXTURES_SETUP precompiled_${module})
  endforeach()
endif()

# The script that the cases run. It begins with the compilers, and the include folders and definitions of each module.
set(script "")
foreach(module core unified multigpu)
  string(APPEND script
    "set(includes_${module} \"$<TARGET_PROPERTY:ferry_${module},INTERFACE_INCLUDE_DIRECTORIES>\")\n"
    "set(definitions_${module} \"$<TARGET_PROPERTY:ferry_${module},INTERFACE_COMPILE_DEFINITIONS>\")\n")
  if(FERRY_CUDA_SAMPLE)                           # g++ compiles as for a ferry without CUDA; nvcc defines it itself
    string(APPEND script "list(REMOVE_ITEM definitions_${module} FERRY_HAS_CUDA=1)\n")
  endif()
endforeach()
set(architecture "${CMAKE_CUDA_ARCHITECTURES}")
if(architecture MATCHES "([0-9]+[af]?)")
  set(architecture sm_${CMAKE_MATCH_1})
endif()
string(APPEND script "
set(compiler_CXX \"${CMAKE_CXX_COMPILER};-std=c++20\")
set(precompiled \"${PROJECT_BINARY_DIR}/precompiled\")
set(compiler_CUDA \"${CMAKE_CUDA_COMPILER};-std=c++20;-x;cu;-arch=${architecture};--extended-lambda\")
list(APPEND compiler_CUDA --expt-relaxed-constexpr -Xcompiler=-fsyntax-only -c -o \"\${OUTPUT}\")
if(\"${CMAKE_CUDA_HOST_COMPILER}\")
  list(APPEND compiler_CUDA \"-ccbin=${CMAKE_CUDA_HOST_COMPILER}\")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/run_compile_test.cmake)
")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/compile_test.cmake CONTENT "${script}")
