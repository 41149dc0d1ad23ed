# The watchdog of NCCL, on simulated devices with a fake NCCL. "caught": the process caught an error, and was not ended.
get_target_property(definitions ferry_multigpu COMPILE_DEFINITIONS)
if("FERRY_HAS_NCCL=1" IN_LIST definitions)
  add_library(fake_nccl SHARED multigpu/fake_nccl.cpp)
  target_include_directories(fake_nccl SYSTEM PRIVATE ${FERRY_NCCL_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
  ferry_add_executable(processes_watched HOST_SOURCES multigpu/processes/watched.cpp)
  target_link_libraries(processes_watched PRIVATE fake_nccl)
  target_include_directories(processes_watched PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/multigpu/src)
  set_target_properties(fake_nccl processes_watched PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests
                                                               LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
  ferry_warnings(fake_nccl LENIENT)
  ferry_warnings(processes_watched LENIENT)
  set(ended "for process 1, which ended without taking part")
  foreach(case "apart|off|" "behind|1|" "busy|1|" "exchange|600|"
          "missing|off|process [02] caught: .*waited in all_reduce .* ${ended}"
          "launches|off|process [02] caught: .*waited in all_reduce of .* ${ended}"
          "graph|off|ends all: .*${ended}"
          "call|off|ends all: .*${ended}")
    string(REPLACE "|" ";" case "${case}")
    list(GET case 0 how)
    list(GET case 1 timeout)
    list(GET case 2 text)
    ferry_add_process_test(processes.watched.${how} processes_watched 3 sim ${how})
    set_property(TEST processes.watched.${how} APPEND PROPERTY ENVIRONMENT FERRY_NCCL_LIBRARY=$<TARGET_FILE:fake_nccl>
                                                               FERRY_COLLECTIVE_TIMEOUT=${timeout})
    if(text)
      set_tests_properties(processes.watched.${how} PROPERTIES PASS_REGULAR_EXPRESSION "${text}" TIMEOUT 60)
    else()
      set_tests_properties(processes.watched.${how} PROPERTIES TIMEOUT 60
                           FAIL_REGULAR_EXPRESSION "caught|ends its collectives|ends all")
    endif()
  endforeach()
endif()
