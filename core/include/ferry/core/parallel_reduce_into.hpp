/// @file
/// Reductions of a functor's results into existing elements.
#pragma once
#include "ferry/core/element.hpp"
#include "ferry/core/parallel_reduce.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

namespace detail {
inline namespace FERRY_UNIT {

template <class T, memory_kind Kind, class Space, class F, class Op, class... A>
void reduce_into(stream_ref s, source_line at, element_view<T, Kind> to, const Space& space, const F& f, const Op& op,
                 const A&... a) {
  using result = typename decltype(reduced_type<Op>(space, f, a...))::type;
  static_assert(!std::is_const_v<T>, "parallel_reduce_into(element, ...): the element is read-only");
  static_assert(std::is_same_v<std::remove_const_t<T>, result>,
                "parallel_reduce_into(element, ...): the element has another type than the result. Sums and products "
                "of integers are std::int64_t or std::uint64_t; other results have the type that the functor returns");
  if constexpr (std::is_same_v<T, result>) reduce(s, at, space, f, op, to, a...);
}
template <class... P, class T, memory_kind Kind, class Space, class F, class Op, class... A>
void call_reduce_into(detail::accepted_call<P...>, stream_ref s, source_line at, const element_view<T, Kind>& to,
                      const Space& space, const F& f, const Op& op, A&&... a) {
  reduce_into(s, at, to, space, f, op, detail::as_argument<P>(std::forward<A>(a), at)...);
}
template <class... Any>
void call_reduce_into(detail::refused_call, const Any&...) {}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// As parallel_reduce, but writes the result to an element of an array: `parallel_reduce_into(element(y, 3), ...)`.
/// Ordered on `s`. Allocates nothing for the result; blocks only where parallel_for does.
/// @param s stream of the launch
/// @param to the element, as element() returns it. Its type is that of the result; see parallel_reduce
/// @param space as in parallel_for
/// @param f functor that can run on the device
/// @param op as in parallel_reduce
/// @param arguments as in parallel_for. The functor may read the element: it is written when all results are there
/// @note Throws as parallel_for.
template <class T, memory_kind Kind, detail::index_space Space, class F, class Op, class... Arguments>
void parallel_reduce_into(located<stream_ref> s, const element_view<T, Kind>& to, const Space& space, const F& f,
                          const Op& op, Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_reduce_into(detail::checked<detail::reduction_check<over, F, Arguments...>>(), s.value, s.at, to,
                           detail::space_of(space), f, op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class T, memory_kind Kind, std::size_t Rank, class F, class Op, class... Arguments>
void parallel_reduce_into(located<stream_ref> s, const element_view<T, Kind>& to,
                          const detail::braced_extent (&space)[Rank], const F& f, const Op& op,
                          Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  detail::call_reduce_into(detail::checked<detail::reduction_check<over, F, Arguments...>>(), s.value, s.at, to,
                           detail::space_of(space), f, op, std::forward<Arguments>(arguments)...);
}

/// Same as above, on the calling thread's stream of the element's device.
template <class T, memory_kind Kind, detail::index_space Space, class F, class Op, class... Arguments>
void parallel_reduce_into(const element_view<T, Kind>& to, const Space& space, const F& f, const Op& op,
                          Arguments&&... arguments) {
  parallel_reduce_into(located<stream_ref>(default_stream(to.device()), to.line()), to, space, f, op,
                       std::forward<Arguments>(arguments)...);
}
/// @overload
template <class T, memory_kind Kind, std::size_t Rank, class F, class Op, class... Arguments>
void parallel_reduce_into(const element_view<T, Kind>& to, const detail::braced_extent (&space)[Rank], const F& f,
                          const Op& op, Arguments&&... arguments) {
  parallel_reduce_into(located<stream_ref>(default_stream(to.device()), to.line()), to, space, f, op,
                       std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
