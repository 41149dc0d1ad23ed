/// @file
/// The kind of memory of ferry::array: for a whole program, and for single element types.
#pragma once
#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/version.hpp"

/// Default for a program: moves a port from unified to device memory in one place. The CMake option of the same name
/// sets it for all users of a build of ferry.
#ifndef FERRY_DEFAULT_KIND
#define FERRY_DEFAULT_KIND unified
#endif

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Default for elements T: FERRY_DEFAULT_KIND, unless the program specializes it:
///
/// @code
/// template <>
/// inline constexpr ferry::memory_kind ferry::default_memory_kind<particle> = ferry::memory_kind::device;
/// @endcode
///
/// The specialization must come before the first ferry::array of that type, and must be the same in all sources. Put it
/// beside the definition of the type. It applies to ferry::array, full, zeros, ones, arange, linspace and load_npy, but
/// not to unified_array, device_array and host_array.
template <class T>
inline constexpr memory_kind default_memory_kind = memory_kind::FERRY_DEFAULT_KIND;

/// @}

}  // namespace ferry::inline FERRY_ABI
