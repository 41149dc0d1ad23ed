/// @file
/// Macros that let g++, clang++ and nvcc compile the same source.
#pragma once

/// @addtogroup kernels
/// @{

#ifndef FERRY_HAS_CUDA
#if defined(__CUDACC__)
#define FERRY_HAS_CUDA 1
#else
#define FERRY_HAS_CUDA 0
#endif
#endif

/// Marks functors and functions that run on the CPU and on devices.
#if defined(__CUDACC__)
#define FERRY_HOST_DEVICE __host__ __device__
#else
#define FERRY_HOST_DEVICE
#endif

/// Begins a lambda that can run on devices, and captures by value:
/// FERRY_LAMBDA(std::size_t i, const float* x, float* y) { y[i] = a * x[i]; }
/// nvcc needs declared types of parameters, not auto, and refuses such lambdas in private member functions. A lambda
/// has no text: in a ferry with CUDA its source is compiled by nvcc (see FERRY_FUNCTOR).
#define FERRY_LAMBDA [=] FERRY_HOST_DEVICE

/// 1 if this compiler pass generates device code, else 0.
#if defined(__CUDA_ARCH__)
#define FERRY_IN_DEVICE_CODE 1
#else
#define FERRY_IN_DEVICE_CODE 0
#endif

/// 1 if a(i, j) and a[i] compare each index with its extent on the CPU, and throw invalid_argument if it is outside: in
/// sources that are compiled without NDEBUG. So do spans in loops on the CPU as the device (FERRY_BACKEND=cpu). To
/// decide otherwise, define it as 0 or 1 for a target in the build system, as in
/// target_compile_definitions(solver PRIVATE FERRY_CHECK_INDICES=1).
/// @note Sources of one program may differ: each has the checks that it is compiled with. Functions of the program that
///   several sources define, such as inline functions and templates in headers, need the same value in all of them. A
///   definition in a source must be above all includes, and has no effect in unity builds (CMAKE_UNITY_BUILD), where
///   another source is above it.
#ifndef FERRY_CHECK_INDICES
#if defined(NDEBUG)
#define FERRY_CHECK_INDICES 0
#else
#define FERRY_CHECK_INDICES 1
#endif
#endif

/// 1 if functors are checked: always on simulated devices, on CUDA in debug builds. On the CPU as the device, spans are
/// checked where FERRY_CHECK_INDICES is 1.
#if FERRY_IN_DEVICE_CODE && defined(NDEBUG)
#define FERRY_CHECKS 0
#else
#define FERRY_CHECKS 1
#endif

/// Namespace for the build of this source. Loops and kernels differ between builds, so the linker must not merge them.
#if defined(__CUDACC__) && FERRY_CHECK_INDICES
#define FERRY_UNIT compiled_by_nvcc_with_checks
#elif defined(__CUDACC__)
#define FERRY_UNIT compiled_by_nvcc
#elif FERRY_HAS_CUDA && FERRY_CHECK_INDICES
#define FERRY_UNIT host_source_of_cuda_build_with_checks
#elif FERRY_HAS_CUDA
#define FERRY_UNIT host_source_of_cuda_build
#elif FERRY_CHECK_INDICES
#define FERRY_UNIT build_without_cuda_with_checks
#else
#define FERRY_UNIT build_without_cuda
#endif

/// @}
