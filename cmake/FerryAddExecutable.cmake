# ferry_add_executable(name source... [HOST_SOURCES source...])
#
# An executable linked with ferry::ferry. If ferry has CUDA its sources are compiled as CUDA, else as C++: one .cpp with
# functor kernels serves both. HOST_SOURCES are always C++. The language is a property of a source in its folder: two
# targets of one CMakeLists.txt must compile a shared source in the same language.

# Compiles the CUDA sources of a target as C++20.
function(ferry_compile_cuda target)
  if(CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
  else()                                               # CMake 3.25 does not recognize nvcc's support for it
    set_property(TARGET ${target} PROPERTY CUDA_STANDARD)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20>)
  endif()
endfunction()

function(ferry_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HOST_SOURCES")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(NOT sources AND NOT arg_HOST_SOURCES)
    message(FATAL_ERROR "ferry_add_executable(${name}): no sources")
  endif()
  add_executable(${name} ${sources} ${arg_HOST_SOURCES})
  target_link_libraries(${name} PRIVATE ferry::ferry)

  get_target_property(definitions ferry::core INTERFACE_COMPILE_DEFINITIONS)
  if("FERRY_HAS_CUDA=1" IN_LIST definitions AND sources)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT CUDA IN_LIST languages)
      message(FATAL_ERROR "ferry_add_executable(${name}): this ferry has CUDA, but the project has not: call "
                          "enable_language(CUDA), or use a ferry built with -DFERRY_CUDA=OFF")
    endif()
    set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA SKIP_UNITY_BUILD_INCLUSION ON)
    ferry_compile_cuda(${name})
  endif()
endfunction()
