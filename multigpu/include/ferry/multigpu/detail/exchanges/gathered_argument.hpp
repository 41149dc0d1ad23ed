// Elements of a sharded array and their ghosts, as an argument of one member's kernel.
#pragma once
#include <string>
#include <type_traits>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/loops/shard_kernel_types.hpp"
#include "ferry/multigpu/gathered_span.hpp"

namespace ferry::inline FERRY_ABI::detail {

// T is const: such elements are only read.
template <class T, std::size_t Rank>
struct gathered_argument {
  array_argument<T, Rank> own, ghosts;

  template <class F>
  void each_array(const F& f) const {
    if (own.bytes.size() != 0) f(own);
    if (ghosts.bytes.size() != 0) f(ghosts);
  }
  template <class Change>
  gathered_argument with_arrays(const Change& change) const {
    return {own.bytes.size() != 0 ? change(own) : own, ghosts.bytes.size() != 0 ? change(ghosts) : ghosts};
  }
  template <class Move>
  static gathered_span<T, Rank> relocated(const Move& move, const gathered_span<T, Rank>& p) {
    return p.relocated(move);
  }
};

template <class T, std::size_t Rank>
inline constexpr bool is_array_argument<gathered_argument<T, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr bool is_struct_argument<gathered_argument<T, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr std::size_t most_arrays<gathered_argument<T, Rank>> = 2;
template <class T, std::size_t Rank>
inline constexpr bool only_reads<gathered_span<T, Rank>> = std::is_const_v<T>;

// Checks what a functor declares: no type, or a gathered_span of const elements.
template <class P, class T, std::size_t Rank>
struct declared_gathered {
  static constexpr call_fault fault = std::is_void_v<P> ? call_fault::none : call_fault::no_gathered_span;
};
template <class U, std::size_t Other, class T, std::size_t Rank>
struct declared_gathered<gathered_span<U, Other>, T, Rank> {
  static constexpr call_fault fault = Other != Rank                               ? call_fault::other_rank
                                      : !std::is_same_v<const U, T>               ? call_fault::other_elements
                                      : !std::is_const_v<U> && std::is_const_v<T> ? call_fault::read_only
                                                                                  : call_fault::none;
};
template <class P, class T, std::size_t Rank>
struct parameter<P, gathered_argument<T, Rank>> : declared_gathered<std::remove_cvref_t<P>, T, Rank> {
  using type = gathered_span<T, Rank>;
  static type make(const gathered_argument<T, Rank>& a) { return {a.own.span, a.ghosts.span}; }
};

template <class T, std::size_t Rank>
struct kernel_type<gathered_span<T, Rank>> {
  static std::string name(kernel_writer& w) {
    w.add_headers(shard_device_headers());
    return concat("ferry::gathered_span<", kernel_type_name<T>(w), ", ", Rank, ">");
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
