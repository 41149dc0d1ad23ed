// Converts the arguments of sort() and related functions to requests.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/operations/sort_key.hpp"
#include "ferry/core/detail/sorting/sorting_request.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/scalar.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Arrays, views and expressions of at least one dimension.
template <class A>
concept sortable = kind_of_operand<A>
.is_lazy() && (kind_of_operand<A>.rank > 0);
// Arrays and views.
template <class Y>
concept sorted_destination = kind_of_operand<Y>
.is_local_array();

// Why a call does not compile: the first reason that applies.
template <class A>
constexpr void need_sortable() {
  need_element_type<A>();
  static_assert(!is_complex(kind_of_operand<A>.type), "complex numbers have no order: use real(e), imag(e) or abs(e)");
}
template <class M>
constexpr void need_mask() {
  static_assert(kind_of_operand<M>.type == scalar_type::boolean,
                "the mask has elements of type bool: compare, as in m != 0");
}

// The kind of memory of new arrays: that of the operand, and for expressions the default one.
template <class A>
constexpr memory_kind kind_of_result() {
  if constexpr (kind_of_operand<A>.role == operand_role::array)
    return std::remove_cvref_t<A>::kind;
  else
    return default_memory_kind<scalar_of<kind_of_operand<A>.type>>;
}
template <class T, std::size_t Rank, class A>
using result_array = basic_array<T, Rank, kind_of_result<A>()>;
// The type of a new array with elements of the operand's type, or with positions.
template <class A, std::size_t Rank = kind_of_operand<A>.rank>
using sorted_array = result_array<scalar_of<kind_of_operand<A>.type>, Rank, A>;
template <class A, std::size_t Rank = kind_of_operand<A>.rank>
using position_array = result_array<std::int64_t, Rank, A>;

// An expression for the type and the rank of an array.
template <class Y>
using expression_like = expression<scalar_of<kind_of_operand<Y>.type>, kind_of_operand<Y>.rank>;

template <std::size_t Rank>
extents<Rank> extents_of(const program_shape& s) {
  extents<Rank> e;
  for (std::size_t d = 0; d != Rank; ++d) e[d] = s.extent[Rank - 1 - d];
  return e;
}

// Returns an array of the first n elements of an array that has at least n. It does not hold the rest of the memory.
template <class Array>
Array first_elements(Array all, std::size_t n) {
  if (n == all.size()) return all;
  Array exact(extents<1>{n}, all.device());
  if (n != 0) copy(all.slice({0, n}), exact, source_line{});
  return exact;
}

}  // namespace ferry::inline FERRY_ABI::detail
