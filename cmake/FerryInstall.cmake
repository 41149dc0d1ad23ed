# Installs what find_package(ferry) needs, and the scripts that draw what the libraries write.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ferry)
set(FERRY_CUDA_RUNTIME cudart_static)                   # as core links it
if(BUILD_SHARED_LIBS)
  set(FERRY_CUDA_RUNTIME cudart)
endif()
configure_package_config_file(cmake/ferryConfig.cmake.in ${PROJECT_BINARY_DIR}/ferryConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ferryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ferryConfig.cmake ${PROJECT_BINARY_DIR}/ferryConfigVersion.cmake
              cmake/FerryAddExecutable.cmake DESTINATION ${package})
install(EXPORT ferry NAMESPACE ferry:: FILE ferryTargets.cmake DESTINATION ${package})
install(PROGRAMS tools/memory_page.py tools/tuning_picture.py DESTINATION ${CMAKE_INSTALL_DATADIR}/ferry)
install(FILES tools/memory_page.html DESTINATION ${CMAKE_INSTALL_DATADIR}/ferry)
