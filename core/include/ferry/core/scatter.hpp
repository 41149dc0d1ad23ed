/// @file
/// Scatters: values that are stored, or added, at indices of an array.
#pragma once
#include <utility>

#include "ferry/core/detail/moving/moving_operand.hpp"
#include "ferry/core/detail/moving/scatter_request.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

namespace detail {

template <class Y, class I, class V>
void scatter_to(const stream_ref* s, std::string_view name, bool is_sum, Y& y, I&& indices, V&& values, int axis,
                source_line at) {
  need_indices<I>();
  static_assert(kind_of_operand<Y>.rank > 0, "scatter(y, indices, values): `y` has no axis");
  static_assert(kind_of_operand<V>.rank <= max_rank,
                "scatter(y, indices, values): the values have too many dimensions");
  need_assignable<Y&, expression<scalar_of<kind_of_operand<V>.type>, 0>>();
  const program_operand to = operand_of(y);
  scatter_request r;
  r.name = name, r.to = &to, r.is_sum = is_sum;
  r.indices = program_of(std::forward<I>(indices)), r.values = program_of(std::forward<V>(values));
  r.dimension = dimension_of(name, axis, kind_of_operand<Y>.rank);
  submit_scatter(s, std::move(r), at);
}
template <class Y>
constexpr void need_sums() {
  static_assert(kind_of_operand<Y>.type != scalar_type::boolean, "scatter_add to elements of type bool: use scatter");
}

}  // namespace detail

/// @addtogroup expressions
/// @{

/// Stores values at indices along an axis: y(i, indices(j), k) = values(i, j, k) for axis 1 of three. Other elements do
/// not change. Ordered as an assignment, on the calling thread's stream of the device of `y`. Does not block.
///
/// Negative indices count from the end. On simulated devices, indices outside of the axis are device errors, and with
/// FERRY_CHECK=on repeated indices, too; then nothing is written. On CUDA devices values at indices outside are left
/// out, or, in debug builds and with FERRY_CHECK=on, device errors. Of repeated indices, one of the values is stored.
/// @param y array or view
/// @param indices of integers: array, view, expression or number
/// @param values array, view, expression or number; they broadcast to the shape of take(y, indices, axis)
/// @param axis negative axes count from the last
/// @throws invalid_argument if there is no such axis, if the values do not broadcast, and during a submission
/// @throws use_after_free if an array was freed
template <class Y, class I, class V>
requires(detail::moved_array<Y>&& detail::index_operand<I>&& detail::index_operand<V>) void scatter(Y&& y, I&& indices,
                                                                                                    V&& values,
                                                                                                    int axis = 0) {
  detail::scatter_to(nullptr, "scatter", false, y, std::forward<I>(indices), std::forward<V>(values), axis, {});
}
/// As above, on a stream.
template <class Y, class I, class V>
requires(detail::moved_array<Y>&& detail::index_operand<I>&& detail::index_operand<V>) void scatter(
    located<stream_ref> s, Y&& y, I&& indices, V&& values, int axis = 0) {
  detail::scatter_to(&s.value, "scatter", false, y, std::forward<I>(indices), std::forward<V>(values), axis, s.at);
}

/// Adds values at indices along an axis: y(i, indices(j), k) += values(i, j, k) for axis 1 of three. Indices may
/// repeat. Integers wrap, and their sums are exact. The rest is as in scatter().
/// @note Simulated devices add in the order of the values. CUDA devices add by atomic operations in any order, so that
///   the last bits of floating point sums differ from run to run. Each addition is rounded, also of half and bfloat16.
/// @param y array or view
/// @param indices of integers: array, view, expression or number
/// @param values array, view, expression or number; they broadcast to the shape of take(y, indices, axis)
/// @param axis negative axes count from the last
template <class Y, class I, class V>
requires(detail::moved_array<Y>&& detail::index_operand<I>&& detail::index_operand<V>) void scatter_add(Y&& y,
                                                                                                        I&& indices,
                                                                                                        V&& values,
                                                                                                        int axis = 0) {
  detail::need_sums<Y>();
  detail::scatter_to(nullptr, "scatter_add", true, y, std::forward<I>(indices), std::forward<V>(values), axis, {});
}
/// As above, on a stream.
template <class Y, class I, class V>
requires(detail::moved_array<Y>&& detail::index_operand<I>&& detail::index_operand<V>) void scatter_add(
    located<stream_ref> s, Y&& y, I&& indices, V&& values, int axis = 0) {
  detail::need_sums<Y>();
  detail::scatter_to(&s.value, "scatter_add", true, y, std::forward<I>(indices), std::forward<V>(values), axis, s.at);
}

// Compilers quote the lines of deleted functions, so they state the remedy.
template <detail::unevaluated E, class... More>
void scatter(E&&, More&&...) = delete;  // values are stored in an array or a view, not in an expression
template <detail::unevaluated E, class... More>
void scatter_add(E&&, More&&...) = delete;  // values are added to an array or a view, not to an expression

/// @}

}  // namespace ferry::inline FERRY_ABI
