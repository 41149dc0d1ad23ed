# Teams of processes: the same program under mpirun with 1 to 4 processes. Without mpirun the cases are skipped.
find_program(FERRY_MPIRUN NAMES mpirun mpiexec)
mark_as_advanced(FERRY_MPIRUN)
set(mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_btl_vader_single_copy_mechanism=none NCCL_NVLS_ENABLE=0 ASAN_OPTIONS=detect_leaks=0)

# ferry_add_process_test(name target processes backend [argument...]); process_wrapper is the command that runs the
# program, if any.
function(ferry_add_process_test name target count backend)
  set(has_mpi OFF)
  get_target_property(definitions ferry_multigpu COMPILE_DEFINITIONS)
  if(FERRY_MPIRUN AND "FERRY_HAS_MPI=1" IN_LIST definitions)
    add_test(NAME ${name} COMMAND ${FERRY_MPIRUN} -n ${count} ${process_wrapper} $<TARGET_FILE:${target}> ${ARGN})
  else()
    add_test(NAME ${name} COMMAND sh -c
             "echo 'skipped: no MPI, or no mpirun (Debian, Ubuntu: openmpi-bin libopenmpi-dev)'; exit 77")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${FERRY_TEST_TIMEOUT} SKIP_RETURN_CODE 77
                       ENVIRONMENT "FERRY_BACKEND=${backend};FERRY_TEST_DEVICES=${count};${mpi_environment}")
  if(backend STREQUAL "cuda")
    set_tests_properties(${name} PROPERTIES LABELS "gpu;gpu2" RESOURCE_LOCK gpu)
  else()
    set_tests_properties(${name} PROPERTIES LABELS sim RUN_SERIAL ON)
  endif()
endfunction()

set(gpu_cases OFF)
if(FERRY_WITH_CUDA AND NOT FERRY_CUDA_SAMPLE)
  set(gpu_cases ON)
endif()
file(GLOB processes CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/multigpu/processes/*_test.cpp)
file(GLOB process_kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/multigpu/processes/kernels/*_test.cpp)
ferry_add_marked_executable(processes_test ${process_kernels} HOST_SOURCES ${processes})
ferry_add_executable(processes_failing HOST_SOURCES multigpu/processes/failing.cpp)
target_link_libraries(processes_test PRIVATE ferry_test_support)
target_precompile_headers(processes_test REUSE_FROM ferry_test_support)
target_include_directories(processes_failing PRIVATE ${PROJECT_SOURCE_DIR}/multigpu/src)
foreach(target processes_test processes_failing)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
  ferry_warnings(${target} LENIENT)
endforeach()
foreach(count 1 2 3 4)
  ferry_add_process_test(processes.sim.${count} processes_test ${count} sim)
endforeach()
if(gpu_cases)
  foreach(count 2 4)
    ferry_add_process_test(processes.gpu.${count} processes_test ${count} cuda)
  endforeach()
endif()

ferry_add_process_test(processes.more_than_devices processes_test 5 sim --run_test=*/more_processes_than_devices)

# As if on two hosts, with every other rank, or each half of the ranks, or three and one.
foreach(layout "every_other|rank % 2" "in_a_row|rank / 2" "uneven|rank / 3")
  string(REPLACE "|" ";" layout "${layout}")
  list(GET layout 0 how)
  list(GET layout 1 machine)
  set(process_wrapper sh ${CMAKE_CURRENT_SOURCE_DIR}/multigpu/on_machine.sh ${machine})
  set(cases --run_test=*/every_collective --run_test=*/*_on_this_machine)
  ferry_add_process_test(processes.machines.${how} processes_test 4 sim
                         --run_test=*/each_machine_has_its_own_devices ${cases})
  if(gpu_cases AND NOT how STREQUAL "uneven")    # a GPU for each process
    ferry_add_process_test(processes.machines.${how}.gpu processes_test 4 cuda ${cases})
  endif()
  unset(process_wrapper)
  set_property(TEST processes.machines.${how} APPEND PROPERTY ENVIRONMENT FERRY_TEST_MACHINES=2)
endforeach()

# A failing process makes the others fail with a message.
foreach(case "throw|process 0 caught: .*process 1 failed"
        "leave|process [02] caught: .*waited in .* for process 1, which ended"
        "hang|waited 2 s in .* for process 1, which did not take part"
        "sizes|10 elements of int32 .4 bytes., and rank 3 receives 12"
        "reshard|process [02] .*process 1 failed: an exception ended its use of the team"
        "setup|process [02] caught: ferry: making a team of all processes: process 1 failed: FERRY_TRANSPORT=.pigeon."
        "full|member 0 goes on: ferry: save_npy.*process 1 failed: cannot write .*a.npy.*File too large"
        "die|exited with non-zero status")
  string(REPLACE "|" ";" case "${case}")
  list(GET case 0 how)
  list(GET case 1 text)
  set(cases processes.fails.${how})
  ferry_add_process_test(processes.fails.${how} processes_failing 3 sim ${how})
  if(gpu_cases AND how MATCHES "^(throw|leave|hang|reshard)$")   # NCCL would wait forever
    ferry_add_process_test(processes.fails.${how}.gpu processes_failing 2 cuda ${how})
    list(APPEND cases processes.fails.${how}.gpu)
    set_property(TEST processes.fails.${how}.gpu APPEND PROPERTY ENVIRONMENT FERRY_CHECK_COLLECTIVES=off)
  endif()
  set_tests_properties(${cases} PROPERTIES PASS_REGULAR_EXPRESSION "${text}" TIMEOUT 60)
  if(how STREQUAL "hang")
    foreach(case IN LISTS cases)
      set_property(TEST ${case} APPEND PROPERTY ENVIRONMENT FERRY_COLLECTIVE_TIMEOUT=2)
    endforeach()
  endif()
endforeach()

# A process's exit affects only processes that wait for more operations than it enqueued.
ferry_add_process_test(processes.leaves.counts processes_failing 3 sim counts)
ferry_add_process_test(processes.leaves.late processes_failing 3 sim late)
ferry_add_process_test(processes.leaves.busy processes_failing 2 sim busy)
set(cases processes.leaves.counts processes.leaves.late processes.leaves.busy)
if(gpu_cases)
  ferry_add_process_test(processes.leaves.late.gpu processes_failing 3 cuda late)
  # One member a process: NCCL's broadcast to a second member of the process that ends may pass through the busy one.
  set(process_wrapper sh ${CMAKE_CURRENT_SOURCE_DIR}/multigpu/on_own_gpu.sh)
  ferry_add_process_test(processes.leaves.busy.gpu processes_failing 2 cuda busy)
  unset(process_wrapper)
  set_property(TEST processes.leaves.busy.gpu APPEND PROPERTY ENVIRONMENT FERRY_COLLECTIVE_TIMEOUT=2
                                                                          FERRY_TEST_DEVICES=1)
  list(APPEND cases processes.leaves.late.gpu processes.leaves.busy.gpu)
endif()
set_tests_properties(${cases} PROPERTIES FAIL_REGULAR_EXPRESSION "caught|ends its collectives|ends all")

include(${CMAKE_CURRENT_LIST_DIR}/processes_watched.cmake)

# A thread detects timeouts: of a collective, and of a graph with one, which one process never launches.
if(gpu_cases)
  ferry_add_process_test(processes.fails.graph.gpu processes_failing 2 cuda graph)
  set_tests_properties(processes.fails.hang.gpu processes.fails.graph.gpu PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION
                       "process 0 waited [0-9]+ s in all_reduce .*FERRY_COLLECTIVE_TIMEOUT sets the limit")
  set_property(TEST processes.fails.graph.gpu APPEND PROPERTY ENVIRONMENT FERRY_CHECK_COLLECTIVES=off
                                                                          FERRY_COLLECTIVE_TIMEOUT=2)
endif()

# A program that initializes MPI single-threaded: CPU messages need no more; the NCCL watchdog does.
ferry_add_process_test(processes.one_thread processes_failing 2 sim one_thread)
set_tests_properties(processes.one_thread PROPERTIES PASS_REGULAR_EXPRESSION "MPI is for one thread" TIMEOUT 60
                     FAIL_REGULAR_EXPRESSION "caught")
if(gpu_cases)
  ferry_add_process_test(processes.one_thread.gpu processes_failing 2 cuda one_thread)
  set_tests_properties(processes.one_thread.gpu PROPERTIES TIMEOUT 60
                       PASS_REGULAR_EXPRESSION "caught: .*MPI_THREAD_MULTIPLE")
endif()

# If libraries are missing, the error states what to install.
add_test(NAME processes.without.nccl COMMAND processes_failing nccl)
set_tests_properties(processes.without.nccl PROPERTIES LABELS sim ENVIRONMENT FERRY_NCCL_LIBRARY=/nowhere/libnccl.so.2
                     PASS_REGULAR_EXPRESSION "collectives on CUDA devices need NCCL, .*(install|Install)")
ferry_add_executable(without_mpi HOST_SOURCES multigpu/without_mpi.cpp
                     ${PROJECT_SOURCE_DIR}/multigpu/src/mpi/absent.cpp)
target_include_directories(without_mpi PRIVATE ${PROJECT_SOURCE_DIR}/multigpu/src)
set_target_properties(without_mpi PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
ferry_warnings(without_mpi LENIENT)
add_test(NAME processes.without.mpi COMMAND without_mpi)
set_tests_properties(processes.without.mpi PROPERTIES LABELS sim ENVIRONMENT "PMI_SIZE=2;PMI_RANK=0"
                     PASS_REGULAR_EXPRESSION "built without MPI: install an MPI .*FERRY_MPI=ON")
add_test(NAME processes.without.mpi_and_alone COMMAND without_mpi)
set_tests_properties(processes.without.mpi_and_alone PROPERTIES LABELS sim PASS_REGULAR_EXPRESSION "^alone"
                     ENVIRONMENT_MODIFICATION
                     "PMI_SIZE=unset:;PMI_RANK=unset:;OMPI_COMM_WORLD_SIZE=unset:;PMIX_RANK=unset:")

# The same example on devices of several processes; each compares its part with the serial run.
if(FERRY_EXAMPLES)
  foreach(count 2 3)
    ferry_add_process_test(processes.jacobi.${count} jacobi ${count} sim --rows 70 --columns 64 --iterations 100 --check
                           --quiet)
    ferry_add_process_test(processes.cg.${count} cg ${count} sim --side 33)
    ferry_add_process_test(processes.tour.${count} 6_expressions ${count} sim)
  endforeach()
endif()
