/// @file
/// Structures of arrays as functor arguments.
#pragma once
#include <type_traits>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/soa_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// A structure of arrays in a call, as array_argument. M is const if it is only read.
template <class... M>
struct soa_argument {
  const detail::allocation_ref* owner;
  soa_span<M...> span;
  detail::byte_range bytes;
  detail::access_mode mode;
  source_line at = {};  ///< source line of in(), out() or inout()
  bool contiguous = true;
};

namespace detail {

template <class... M>
inline constexpr bool is_array_argument<soa_argument<M...>> = true;

template <class... N, memory_kind Kind, class... M>
soa_argument<N...> make_soa_argument(const basic_soa<Kind, M...>& s, access_mode mode, source_line at) {
  if (s.owner()) (void)s.owner().get(at);  // throws use_after_free
  const soa_span<N...> span = const_cast<basic_soa<Kind, M...>&>(s).unsynchronized_span();
  if (s.empty()) return {&s.owner(), span, {}, mode, at};
  const auto* begin = reinterpret_cast<const std::byte*>(span.template data<0>());
  const auto* end = reinterpret_cast<const std::byte*>(span.template data<sizeof...(M) - 1>() + s.size());
  return {&s.owner(), span, {begin, end}, mode, at};
}

template <class... M>
inline constexpr bool only_reads<soa_span<M...>> = (std::is_const_v<M> && ...);

// Checks what a functor declares for a structure of arrays: no type, or a soa_span of the same members. Members that it
// only reads are const.
template <class P, class... M>
struct declared_soa {
  static constexpr call_fault fault = std::is_void_v<P> ? call_fault::none : call_fault::no_soa_span;
  using type = soa_span<M...>;
};
template <class... D, class... M>
struct declared_soa<soa_span<D...>, M...> {
  static constexpr bool agrees = [] {
    if constexpr (sizeof...(D) == sizeof...(M))
      return (std::is_same_v<std::remove_const_t<D>, std::remove_const_t<M>> && ...);
    return false;
  }();
  static constexpr bool may_write = [] {
    if constexpr (sizeof...(D) == sizeof...(M)) return ((std::is_const_v<D> || !std::is_const_v<M>)&&...);
    return true;
  }();
  static constexpr call_fault fault = !agrees      ? call_fault::other_members
                                      : !may_write ? call_fault::read_only
                                                   : call_fault::none;
  using type = std::conditional_t<agrees && may_write, soa_span<D...>, soa_span<M...>>;
};
template <class P, class... M>
struct parameter<P, soa_argument<M...>> : declared_soa<std::remove_cvref_t<P>, M...> {};

}  // namespace detail

/// Marks all members as read only, as for arrays.
template <memory_kind Kind, class... M>
auto in(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return detail::make_soa_argument<const M...>(s, detail::access_mode::in, at);
}
/// Marks all members as read and written, as for arrays.
template <memory_kind Kind, class... M>
auto inout(basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return detail::make_soa_argument<M...>(s, detail::access_mode::inout, at);
}
/// Marks all members as written, as for arrays: every element is written and none is read.
template <memory_kind Kind, class... M>
auto out(basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return out_argument<soa_argument<M...>>{detail::make_soa_argument<M...>(s, detail::access_mode::out, at)};
}

template <memory_kind Kind, class... M>
auto basic_soa<Kind, M...>::as_kernel_argument(source_line at) const {
  return in(*this, at);
}
template <memory_kind Kind, class... M>
auto basic_soa<Kind, M...>::as_kernel_argument(source_line at) {
  return inout(*this, at);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
