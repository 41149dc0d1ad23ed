// Element types and operations of collectives, as libraries define them.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/reduction_operations.hpp"

namespace ferry::inline FERRY_ABI::detail {

// bytes: elements that are moved, but not computed with.
enum class element_type : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  bytes
};
enum class reduction : std::uint8_t { sum, product, minimum, maximum, average, minimum_number, maximum_number };

const char* name_of(element_type t);
const char* name_of(reduction r);

// The operation ferry::average.
struct average {};

template <class T>
constexpr element_type element_type_of() {
  using enum element_type;
  if constexpr (std::is_same_v<T, __half>)
    return float16;
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return bfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return float32;
  else if constexpr (std::is_same_v<T, double>)
    return float64;
  else if constexpr (std::integral<T> && !std::is_same_v<T, bool> && sizeof(T) != 2 && sizeof(T) <= 8)
    return sizeof(T) == 1   ? (std::is_signed_v<T> ? int8 : uint8)
           : sizeof(T) == 4 ? (std::is_signed_v<T> ? int32 : uint32)
                            : (std::is_signed_v<T> ? int64 : uint64);
  else
    return bytes;
}

template <class Op>
constexpr bool is_collective_operation =
    std::is_same_v<Op, plus> || std::is_same_v<Op, multiplies> || std::is_same_v<Op, minimum> ||
    std::is_same_v<Op, maximum> || std::is_same_v<Op, average> || std::is_same_v<Op, minimum_number> ||
    std::is_same_v<Op, maximum_number>;

template <class T, class Op>
constexpr reduction reduction_of(const Op&) {
  static_assert(element_type_of<T>() != element_type::bytes,
                "collectives compute with integers of 8, 32 and 64 bits, __half, __nv_bfloat16, float and double: "
                "convert the array to one of these first (parallel_for), or gather it and reduce it yourself");
  static_assert(
      is_collective_operation<Op>,
      "collectives support ferry::plus, multiplies, minimum, maximum, minimum_number, maximum_number and average: "
      "for another operation, gather the arrays (all_gather) and reduce them by a kernel of your own");
  if constexpr (std::is_same_v<Op, multiplies>)
    return reduction::product;
  else if constexpr (std::is_same_v<Op, minimum>)
    return reduction::minimum;
  else if constexpr (std::is_same_v<Op, maximum>)
    return reduction::maximum;
  else if constexpr (std::is_same_v<Op, average>)
    return reduction::average;
  else if constexpr (std::is_same_v<Op, minimum_number>)
    return reduction::minimum_number;
  else if constexpr (std::is_same_v<Op, maximum_number>)
    return reduction::maximum_number;
  else
    return reduction::sum;
}

}  // namespace ferry::inline FERRY_ABI::detail
