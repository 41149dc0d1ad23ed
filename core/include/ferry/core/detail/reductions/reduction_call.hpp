// Calls of reductions and scans: constructs their result, and assigns it.
#pragma once
#include <string_view>
#include <utility>

#include "ferry/core/detail/reductions/reduction_operand.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <reduction_function F, class A, class... Options>
auto reduce_elements(A&& a, const Options&... options) {
  constexpr operand_kind kind = kind_of_operand<A>;
  need_element_type<A>(), need_reduction<F, kind.type>();
  if constexpr (kind.is_spread)
    return lazy(std::forward<A>(a)).template reduce<F>(options...);
  else
    return reduced<scalar_of<reduced_as(F, kind.type)>, reduced_rank<kind.rank, Options...>()>(
        make_reduction<F>(std::forward<A>(a), options...));
}
template <class Op, class A>
auto make_scan(std::string_view name, A&& a, int axis, const void* initial = nullptr) {
  constexpr operand_kind kind = kind_of_operand<A>;
  need_element_type<A>();
  constexpr scalar_type result = scanned_as<Op>(kind.type);
  static_assert(result != scalar_type::none, "complex numbers have no order: scan real(e), imag(e) or abs(e)");
  if constexpr (kind.is_spread)
    return lazy(std::forward<A>(a)).template scan<Op>(name, axis, initial);
  else
    return reduced<scalar_of<result>, kind.rank>(
        scan_program(name, operation_of_scan<Op>(), program_of(std::forward<A>(a)), result, axis, initial));
}
template <class T>
scalar<T> room_for(const reduced<T, 0>&, device home) {
  return scalar<T>(home);
}
template <class T, std::size_t Rank>
basic_array<T, Rank, default_memory_kind<T>> room_for(const reduced<T, Rank>& r, device home) {
  return basic_array<T, Rank, default_memory_kind<T>>(r.extents(), home);
}
template <class T>
program_operand operand_of_result(scalar<T>& s) {
  return operand_of(s.as_array());
}
template <class T, std::size_t Rank, memory_kind Kind>
program_operand operand_of_result(basic_array<T, Rank, Kind>& a) {
  return operand_of(a);
}

template <class Y, class T, std::size_t Rank>
void assign_reduction(const stream_ref* s, Y& y, const reduced<T, Rank>& r, source_line at) {
  static_assert(kind_of_operand<Y>.rank == Rank, "the result of the reduction has another rank than the destination");
  need_assignable<Y&, expression<T, Rank>>();
  const reduction_assignment one{operand_of(y), &r.request()};
  assign_reductions(s, {&one, 1}, at);
}

}  // namespace ferry::inline FERRY_ABI::detail
