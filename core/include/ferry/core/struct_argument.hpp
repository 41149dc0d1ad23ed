/// @file
/// Structs of arrays as functor arguments.
#pragma once
#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/core/members.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// `mdspan<const T, Rank>` as a template of arrays: a functor that only reads a struct S takes it as `S<const_mdspan>`,
/// one that writes as `S<mdspan>`.
template <class T, std::size_t Rank>
using const_mdspan = mdspan<std::add_const_t<T>, Rank>;  // nvcc takes an alias with const T for mdspan itself

namespace detail {

template <class T, std::size_t Rank>
using const_array_argument = array_argument<std::add_const_t<T>, Rank>;  // see const_mdspan

// Calls f for each array argument of a struct, and returns the struct with the results.
template <class F>
struct with_each_argument {
  const F& f;
  template <class X>
  static constexpr bool is_leaf = is_array_argument<X>;
  template <class X>
  using rebound = X;
  template <class X>
  X operator()(const X& x, const member_path&) const {
    return f(x);
  }
};
template <class Move>
struct relocated_spans {
  const Move& move;
  template <class X>
  static constexpr bool is_leaf = requires(const X& x, const Move& m) {
    x.relocated(m);
  };
  template <class X>
  using rebound = X;
  template <class X>
  X operator()(const X& x, const member_path&) const {
    return x.relocated(move);
  }
};

}  // namespace detail

/// A struct of arrays in a call: the struct with an array_argument in the place of each array. Refers to the arrays, so
/// use it within the call only.
template <class Arguments>
struct struct_argument {
  Arguments members;

  /// Calls f for the argument of each array.
  template <class F>
  void each_array(const F& f) const {
    (void)with_arrays([&](const auto& x) {
      f(x);
      return x;
    });
  }
  /// The struct with change(argument) in the place of each argument.
  template <class Change>
  struct_argument with_arrays(const Change& change) const {
    return {detail::map_members(members, detail::with_each_argument<Change>{change}, detail::member_path({}))};
  }
  /// The struct p of spans at other addresses. For the simulator, which runs kernels on copies.
  template <class Move, class P>
  static P relocated(const Move& move, const P& p) {
    return detail::map_members(p, detail::relocated_spans<Move>{move}, detail::member_path({}));
  }
};

namespace detail {

template <class A>
inline constexpr bool is_array_argument<struct_argument<A>> = true;
template <class A>
inline constexpr bool is_struct_argument<struct_argument<A>> = true;

// The greatest number of arrays in a struct of arguments.
template <class X>
struct arrays_in;
struct count_arrays {
  template <class... M>
  constexpr std::integral_constant<std::size_t, (arrays_in<std::remove_cvref_t<M>>::count + ... + 0)> operator()(
      M&...) const {
    return {};
  }
};
template <class X>
struct arrays_in {
  static constexpr std::size_t count = [] {
    if constexpr (lists_members<X>)
      return decltype(std::declval<const X&>().ferry_with_members(count_arrays()))::value;
    else
      return is_array_argument<X> ? 1 : 0;
  }();
};
template <class T, std::size_t N>
struct arrays_in<std::array<T, N>> {
  static constexpr std::size_t count = N * arrays_in<T>::count;
};
template <class T>
struct arrays_in<std::optional<T>> : arrays_in<T> {};
template <class A>
inline constexpr std::size_t most_arrays<struct_argument<A>> = arrays_in<A>::count;

// True for a struct of narrowed<...>::array, whose arrays of double have elements of float.
template <class A>
inline constexpr bool holds_floats =
    std::is_same_v<A, array_argument<float, 1>> || std::is_same_v<A, array_argument<const float, 1>>;
template <array_like A>
inline constexpr bool holds_floats<A> = std::is_same_v<typename A::value_type, float>;
template <class X>
inline constexpr bool has_narrow_arrays = false;
template <template <template <class, std::size_t> class, class...> class S, template <class, std::size_t> class A,
          class... Rest>
inline constexpr bool has_narrow_arrays<S<A, Rest...>> = holds_floats<A<double, 1>>;

// The struct X with arrays `Plain`, or `Const` if they are only read.
template <class X, bool IsConst, template <class, std::size_t> class Plain, template <class, std::size_t> class Const>
struct rebound_by_use : rebound<X, Plain> {};
template <class X, template <class, std::size_t> class Plain, template <class, std::size_t> class Const>
requires(!has_narrow_arrays<X>) struct rebound_by_use<X, true, Plain, Const> : rebound<X, Const> {
};
template <class X, template <class, std::size_t> class Plain, template <class, std::size_t> class Const>
requires(has_narrow_arrays<X>) struct rebound_by_use<X, false, Plain, Const>
    : rebound<X, narrowed<Plain>::template array> {
};
template <class X, template <class, std::size_t> class Plain, template <class, std::size_t> class Const>
requires(has_narrow_arrays<X>) struct rebound_by_use<X, true, Plain, Const>
    : rebound<X, narrowed<Const>::template array> {
};
template <class X, bool IsConst>
using rebound_to_arguments = rebound_by_use<X, IsConst, array_argument, const_array_argument>;

// Replaces arrays by their arguments. Unnamed arrays are called after their member in messages of kernels.
template <bool IsConst>
struct to_arguments {
  access_mode mode;
  source_line at;

  template <class X>
  static constexpr bool is_leaf = array_like<X>;
  template <class X>
  using rebound = typename rebound_to_arguments<X, IsConst>::type;
  template <class A>
  auto operator()(A& a, const member_path& path) const {
    using T = typename std::remove_const_t<A>::element_type;
    auto x = naming_member(path, [&] { return make_argument<std::conditional_t<IsConst, const T, T>>(a, mode, at); });
    if (!x.span.label().is_named()) x.span = decltype(x.span)(x.span.data(), a.extents(), a.strides(), path.label());
    return x;
  }
};

// Replaces arguments by spans, for a functor that takes the struct as S<Span>.
template <template <class, std::size_t> class Span>
struct to_spans {
  template <class X>
  static constexpr bool is_leaf = is_array_argument<X>;
  template <class X>
  using rebound = typename detail::rebound<X, Span>::type;
  template <class T, std::size_t Rank>
  auto operator()(const array_argument<T, Rank>& x, const member_path&) const {
    return std::conditional_t<only_reads<Span<float, 1>>, mdspan<const T, Rank>, mdspan<T, Rank>>(x.span);
  }
};

// Checks what a functor declares for a struct: no type, or the struct with spans.
template <class P, class Arguments>
struct declared_struct {
  static constexpr call_fault fault = call_fault::no_struct_span;
  using type = void;
};
template <class Arguments, template <class, std::size_t> class Span>
struct struct_of_spans {
  static constexpr call_fault fault = call_fault::none;
  using type = typename rebound<Arguments, Span>::type;
  static type make(const struct_argument<Arguments>& a) {
    return map_members(a.members, to_spans<Span>(), member_path({}));
  }
};
template <class Arguments>
inline constexpr bool reads_all_arrays =
    std::is_same_v<typename array_of_struct<Arguments>::type, array_argument<const float, 1>>;
template <template <template <class, std::size_t> class, class...> class S, template <class, std::size_t> class Span,
          class... Rest, class Arguments>
requires(
    mdspan_traits<Span<float, 1>>::is&& std::is_same_v<typename rebound<Arguments, Span>::type, S<Span, Rest...>>)  //
    struct declared_struct<S<Span, Rest...>, Arguments> : struct_of_spans<Arguments, Span> {
  static constexpr call_fault fault =
      reads_all_arrays<Arguments> && !only_reads<Span<float, 1>> ? call_fault::read_only : call_fault::none;
};
template <class Arguments>
struct declared_struct<void, Arguments>
    : declared_struct<typename rebound_by_use<Arguments, reads_all_arrays<Arguments>, mdspan, const_mdspan>::type,
                      Arguments> {};
template <class P, class Arguments>
struct parameter<P, struct_argument<Arguments>> : declared_struct<std::remove_cvref_t<P>, Arguments> {};

template <template <template <class, std::size_t> class, class...> class S, template <class, std::size_t> class Span,
          class... Rest>
inline constexpr bool only_reads<S<Span, Rest...>> = only_reads<typename array_of_struct<S<Span, Rest...>>::type>;

template <bool IsConst, class S>
auto make_struct_argument(S& s, access_mode mode, source_line at) {
  using V = std::remove_const_t<S>;
  if constexpr (!rebound<V, mdspan>::follows) {
    return refused_argument<call_fault::fixed_struct>();
  } else if constexpr (!std::is_trivially_copyable_v<typename rebound<V, mdspan>::type>) {
    return refused_argument<call_fault::fixed_struct>();
  } else {
    auto members = map_members(s, to_arguments<IsConst>{mode, at}, member_path(type_name<V>()));
    return struct_argument<decltype(members)>{members};
  }
}

}  // namespace detail

/// Marks all arrays of a struct as read only, as for arrays. The functor takes the struct as `S<const_mdspan>`.
/// @param s a struct template over the template of its arrays, with its members listed by FERRY_MEMBERS
/// @param at the caller's source line, for messages
/// @throws use_after_free naming the member, if one of its arrays was freed
template <detail::lists_members S>
auto in(const S& s, source_line at = source_line::here()) {
  return detail::make_struct_argument<true>(s, detail::access_mode::in, at);
}
/// Marks all arrays of a struct as read and written, as for arrays. The functor takes the struct as `S<mdspan>`.
template <detail::lists_members S>
auto inout(S& s, source_line at = source_line::here()) {
  static_assert(!std::is_const_v<S>, "inout(s): the struct is const: pass in(s)");
  return detail::make_struct_argument<false>(s, detail::access_mode::inout, at);
}
/// Marks all arrays of a struct as written, as for arrays: every element is written and none is read.
template <detail::lists_members S>
auto out(S& s, source_line at = source_line::here()) {
  static_assert(!std::is_const_v<S>, "out(s): the struct is const: pass in(s)");
  auto argument = detail::make_struct_argument<false>(s, detail::access_mode::out, at);
  if constexpr (detail::is_struct_argument<decltype(argument)>)
    return out_argument<decltype(argument)>{argument};
  else
    return argument;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
