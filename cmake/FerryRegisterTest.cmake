# ferry_register_test(target [PREFIX p] [BACKENDS sim cuda] [DEVICES n] [LABELS l...] [ARGUMENTS a...]
#                     [ENVIRONMENT e...] [WORKING_DIRECTORY d])
#
# One ctest case per backend: <target>.sim (label sim) and, if the target has CUDA, <target>.gpu (label gpu; gpu2 if it
# needs two devices). Exit status 77 is a skip. GPU cases run one at a time, and are listed in
# <build>/bin/gpu_tests.txt. `./dev gpu` runs them from that list, on a system where nothing is built.
set(FERRY_TEST_TIMEOUT 120 CACHE STRING "Seconds that one test may take")

function(ferry_register_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;DEVICES;WORKING_DIRECTORY" "BACKENDS;LABELS;ARGUMENTS;ENVIRONMENT")
  if(NOT arg_BACKENDS)
    set(arg_BACKENDS sim cuda)
  endif()
  if(NOT arg_DEVICES)
    set(arg_DEVICES 1)
  endif()
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  get_target_property(without_cuda ${target} FERRY_WITHOUT_CUDA)
  foreach(backend IN LISTS arg_BACKENDS)
    if(backend STREQUAL "cuda" AND (without_cuda OR NOT FERRY_WITH_CUDA))
      continue()
    endif()
    set(label ${backend})
    if(backend STREQUAL "cuda")
      set(label gpu)
    endif()
    set(case ${arg_PREFIX}${target}.${label})
    set(environment "FERRY_BACKEND=${backend};FERRY_TEST_DEVICES=${arg_DEVICES};NCCL_NVLS_ENABLE=0")
    add_test(NAME ${case} COMMAND ${target} ${arg_ARGUMENTS} WORKING_DIRECTORY ${arg_WORKING_DIRECTORY})
    set_tests_properties(${case} PROPERTIES LABELS "${label};${arg_LABELS}" TIMEOUT ${FERRY_TEST_TIMEOUT}
                         SKIP_RETURN_CODE 77
                         ENVIRONMENT "${environment};${arg_ENVIRONMENT}")
    if(backend STREQUAL "cuda")
      set_tests_properties(${case} PROPERTIES RESOURCE_LOCK gpu)
      if(arg_DEVICES GREATER 1)
        set_property(TEST ${case} APPEND PROPERTY LABELS gpu2)
      endif()
      list(JOIN arg_ARGUMENTS " " arguments)
      set(variables ${arg_ENVIRONMENT})  # without variables that name folders of the build system
      list(FILTER variables EXCLUDE REGEX "/")
      list(JOIN variables "," variables)
      if(variables STREQUAL "")
        set(variables "-")
      endif()
      set(program $<PATH:RELATIVE_PATH,$<TARGET_FILE:${target}>,${PROJECT_BINARY_DIR}>)
      set_property(GLOBAL APPEND_STRING PROPERTY FERRY_GPU_TESTS
                   "${case} ${arg_DEVICES} ${variables} ${program} ${arguments}\n")
    endif()
  endforeach()
endfunction()

# ferry_compile_quickly(): with FERRY_QUICK_TESTS, the targets of the calling folder are compiled without optimization.
# Compilation takes most of the time of a test run, and optimization takes much of that.
macro(ferry_compile_quickly)
  if(FERRY_QUICK_TESTS)
    foreach(language CXX CUDA)
      string(REGEX REPLACE "-O[1-3]" "" CMAKE_${language}_FLAGS_RELWITHDEBINFO
             "${CMAKE_${language}_FLAGS_RELWITHDEBINFO}")
    endforeach()
  endif()
endmacro()

# ferry_register_program_test(program [option of ferry_register_test...]): the test of a program of ferry_add_programs.
# Each line `// test: arguments` of its sources is a case with these arguments.
function(ferry_register_program_test program)
  set(arguments "")
  foreach(source IN LISTS PROGRAM_SOURCES_${program})
    file(STRINGS ${source} line REGEX "^// test: " LIMIT_COUNT 1)
    string(REGEX REPLACE "^// test: " "" line "${line}")
    separate_arguments(line UNIX_COMMAND "${line}")
    list(APPEND arguments ${line})
  endforeach()
  ferry_register_test(${program} ARGUMENTS ${arguments} ${ARGN})
endfunction()

# Writes the list after all tests are registered.
function(ferry_write_gpu_tests)
  get_property(rows GLOBAL PROPERTY FERRY_GPU_TESTS)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/bin/gpu_tests.txt CONTENT "${rows}")
endfunction()
