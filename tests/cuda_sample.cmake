# The tests that nvcc compiles on machines without a GPU (FERRY_CUDA_TESTS=SAMPLE). g++ compiles all tests there (preset
# host), and nvcc compiles all tests on machines with a GPU. The sample covers what only nvcc does, with one source for
# each feature of ferry's headers that nvcc treats differently. docs/testing.md lists what else such a build tests.
set(cuda_sample
    core/functors_test.cpp                   # functors with a text: also with kernels by NVRTC (nvrtc.core_host)
    multigpu/functors_test.cpp               # the same over shards
    core/kernels/captured_pointers_test.cpp  # the wrapper that nvcc puts around a lambda, searched for pointers
    core/kernels/kernel_uses_test.cpp        # functors, extended lambdas and their names
    core/kernels/transform_test.cpp          # transform: functors of values, vectors of elements, strides
    contract/fixture_test.cpp                # the CUDA runtime beside ferry: the current device does not change
    contract/kernels_test.cpp                # parallel_for: every index space, every kind of parameter
    contract/reduce_test.cpp                 # parallel_reduce: CUB
    contract/submit_test.cpp                 # native streams
    unified/kernels/automatic_test.cpp       # kernels on unified memory
    multigpu/kernels/ghost_loops_test.cpp    # loops over ghost cells, of one device and of shards
    multigpu/kernels/sharded_test.cpp)       # loops and reductions over shards
foreach(source IN LISTS cuda_sample)
  if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/${source})
    message(FATAL_ERROR "ferry: tests/cuda_sample.cmake names ${source}, which does not exist")
  endif()
endforeach()
