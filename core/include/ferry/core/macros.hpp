// What lets one source be compiled by g++, clang++ and nvcc.
#pragma once

#ifndef FERRY_HAS_CUDA
#define FERRY_HAS_CUDA 0
#endif

// For functors that run on the CPU and on devices.
#if defined(__CUDACC__)
#define FERRY_HOST_DEVICE __host__ __device__
#else
#define FERRY_HOST_DEVICE
#endif

// Whether this pass of the compiler makes code for a device.
#if defined(__CUDA_ARCH__)
#define FERRY_IN_DEVICE_CODE 1
#else
#define FERRY_IN_DEVICE_CODE 0
#endif

// Checks in functors: always on simulated devices, on CUDA in debug builds.
#if FERRY_IN_DEVICE_CODE && defined(NDEBUG)
#define FERRY_CHECKS 0
#else
#define FERRY_CHECKS 1
#endif

// The build of this source: code for kernels differs between them, so they must not be merged by the linker.
#if defined(__CUDACC__)
#define FERRY_UNIT compiled_by_nvcc
#elif FERRY_HAS_CUDA
#define FERRY_UNIT host_source_of_cuda_build
#else
#define FERRY_UNIT build_without_cuda
#endif
