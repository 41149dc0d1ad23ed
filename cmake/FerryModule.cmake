# ferry_add_module(name [WITHOUT folder...] [LINK target...])
#
# The library ferry::<name> from the calling folder: headers in include/, sources in the folders of src/ except those
# named by WITHOUT. Without sources it is an INTERFACE library. A module has its own include root. It is compiled with
# the include roots of the modules that it links only, so that an upward include does not compile.
function(ferry_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "WITHOUT;LINK")
  set(target ferry_${name})
  set(root ${CMAKE_CURRENT_SOURCE_DIR})

  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${root}/include/*.hpp)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/src/*.cpp)
  if(FERRY_WITH_CUDA)
    file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${root}/src/*.cu)
    list(APPEND sources ${kernels})
    set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  foreach(folder IN LISTS arg_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${root}/src/${folder}/")
  endforeach()

  if(sources)
    add_library(${target} ${sources})                  # static, unless BUILD_SHARED_LIBS
    set(scope PUBLIC)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${FERRY_UNITY} UNITY_BUILD_BATCH_SIZE ${FERRY_UNITY_BATCH})
    target_include_directories(${target} PRIVATE ${root}/src)
    target_compile_definitions(${target} PRIVATE FERRY_INTERNAL)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
                                               VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    # Without this, g++ assumes in position-independent code that the library's own functions may be interposed.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
    ferry_compile_cuda(${target})
    ferry_warnings(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(ferry::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_LINK})
  # CMake's check that each header can be included alone also includes those of detail/.
  set(is_check $<STREQUAL:$<TARGET_PROPERTY:NAME>,${target}_verify_interface_header_sets>)
  target_compile_definitions(${target} INTERFACE $<BUILD_INTERFACE:$<${is_check}:FERRY_INTERNAL>>)
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${root}/include FILES ${headers})

  install(TARGETS ${target} EXPORT ferry FILE_SET HEADERS)
endfunction()
