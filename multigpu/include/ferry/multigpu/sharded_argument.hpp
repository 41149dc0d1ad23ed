/// @file
/// Sharded arrays as arguments of loops.
#pragma once
#include "ferry/core/arguments.hpp"
#include "ferry/multigpu/detail/halos/halo_validity.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// A sharded array as an argument of a loop. T is const if the array is only read. Refers to the array: for use within
/// the call.
template <class T, std::size_t Rank, memory_kind Kind>
struct sharded_argument {
  using array = sharded_array<std::remove_const_t<T>, Rank, Kind>;
  std::conditional_t<std::is_const_v<T>, const array, array>* what;
  detail::access_mode mode;
  std::shared_ptr<const detail::stale_halos<Rank>> stale{};  ///< state when the call begins
};

/// Marks a sharded array that a loop reads: the cells of its region and, along axes of distribution, the halo width
/// around them.
template <class T, std::size_t Rank, memory_kind Kind>
sharded_argument<const T, Rank, Kind> in(const sharded_array<T, Rank, Kind>& a) {
  return {&a, detail::access_mode::in};
}
/// Marks a sharded array of which a loop reads the same cells as by in(), and also writes those of its region.
template <class T, std::size_t Rank, memory_kind Kind>
sharded_argument<T, Rank, Kind> inout(sharded_array<T, Rank, Kind>& a) {
  return {&a, detail::access_mode::inout};
}
/// Marks a sharded array of which a loop writes every cell of its region, and reads none.
template <class T, std::size_t Rank, memory_kind Kind>
out_argument<sharded_argument<T, Rank, Kind>> out(sharded_array<T, Rank, Kind>& a) {
  return {{&a, detail::access_mode::out}};
}

/// @}

}  // namespace ferry::inline FERRY_ABI
