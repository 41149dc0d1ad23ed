// The kind of memory that ferry::array stands for: of a whole program, and of single types of elements.
#pragma once
#include "ferry/core/detail/backend/backend.hpp"

// Of a program: flips a port from unified to device memory in one place. The option of that name of CMake sets it for all
// that uses a build of ferry.
#ifndef FERRY_DEFAULT_KIND
#define FERRY_DEFAULT_KIND unified
#endif

namespace ferry {

// Of elements T: the program's, unless a program says otherwise,
//
//   template <>
//   inline constexpr ferry::memory_kind ferry::default_memory_kind<particle> = ferry::memory_kind::device;
//
// which comes before the first ferry::array of that type, and is the same in all sources: beside the definition of the type.
// ferry::array, full, zeros, ones, arange, linspace and load_npy go by it; unified_array, device_array and host_array do not.
template <class T>
inline constexpr memory_kind default_memory_kind = memory_kind::FERRY_DEFAULT_KIND;

}  // namespace ferry
