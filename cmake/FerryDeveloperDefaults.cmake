# Settings for builds of ferry itself only, never for projects that include ferry.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ${FERRY_DEVELOPER})

# ccache shares objects between build folders (it ignores the working directory), and caches sources with precompiled
# headers.
find_program(FERRY_CCACHE ccache)
find_program(FERRY_ENV env)
mark_as_advanced(FERRY_CCACHE FERRY_ENV)
if(FERRY_CCACHE AND FERRY_ENV)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${FERRY_ENV} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
                                              ${FERRY_CCACHE})
    endif()
  endforeach()
endif()

# g++ spends a tenth of its time on its garbage collector unless it may use more memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=1048576>")
endif()
