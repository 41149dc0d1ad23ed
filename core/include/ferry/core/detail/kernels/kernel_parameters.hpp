// Conversion of arguments to the parameters that a functor declares: pointers or mdspans.
#pragma once
#include <tuple>
#include <type_traits>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The parameter types of a functor whose call operator is neither overloaded nor a template.
template <class F>
struct declared_parameters {
  static constexpr bool known = false;
};
template <class... P>
struct parameter_list {
  static constexpr bool known = true, is_const = true;  // the call operator
  template <std::size_t I>
  using type = std::tuple_element_t<I, std::tuple<P...>>;
  static constexpr std::size_t count = sizeof...(P);
};
template <class M>
struct of_member : parameter_list<> {
  static constexpr bool known = false;
};
template <class R, class C, class... P>
struct of_member<R (C::*)(P...)> : parameter_list<P...> {
  static constexpr bool is_const = false;
};
template <class R, class C, class... P>
struct of_member<R (C::*)(P...) const> : parameter_list<P...> {};
template <class R, class C, class... P>
struct of_member<R (C::*)(P...) noexcept> : parameter_list<P...> {
  static constexpr bool is_const = false;
};
template <class R, class C, class... P>
struct of_member<R (C::*)(P...) const noexcept> : parameter_list<P...> {};
template <class F>
requires requires { &F::operator(); }
struct declared_parameters<F> : of_member<decltype(&F::operator())> {};
template <class R, class... P>
struct declared_parameters<R (*)(P...)> : parameter_list<P...> {};
template <class R, class... P>
struct declared_parameters<R(P...)> : parameter_list<P...> {};

template <class X>
struct mdspan_traits {
  static constexpr bool is = false;
};
template <class T, std::size_t R>
struct mdspan_traits<mdspan<T, R>> {
  static constexpr bool is = true;
  static constexpr std::size_t rank = R;
  using element = T;
};

// Type that is passed for an argument A if the functor declares P (void: unknown, then arrays become mdspans).
template <class P, class A>
struct parameter {
  using type = std::decay_t<A>;
  static constexpr call_fault fault = call_fault::none;
};
template <class P, call_fault Why>
struct parameter<P, refused_argument<Why>> {
  using type = void;
  static constexpr call_fault fault = Why;
};
template <class T, std::size_t Rank>
struct parameter<void, array_argument<T, Rank>> {
  using type = mdspan<T, Rank>;
  static constexpr call_fault fault = call_fault::none;
};
template <class P, class T, std::size_t Rank>
struct parameter<P, array_argument<T, Rank>> {
  using declared = std::remove_cvref_t<P>;
  static constexpr bool by_pointer = std::is_pointer_v<declared>;
  using span = mdspan_traits<declared>;
  static constexpr bool writes = [] {
    if constexpr (by_pointer) return !std::is_const_v<std::remove_pointer_t<declared>>;
    if constexpr (span::is) return !std::is_const_v<typename span::element>;
    return false;
  }();
  static constexpr bool rank_agrees = [] {
    if constexpr (span::is) return span::rank == Rank;
    return true;
  }();
  static constexpr bool elements_agree = [] {
    using element = std::remove_const_t<T>;
    if constexpr (by_pointer) {
      using pointed = std::remove_const_t<std::remove_pointer_t<declared>>;
      return std::is_same_v<pointed, element> || std::is_void_v<pointed> || std::is_same_v<pointed, std::byte>;
    }
    if constexpr (span::is) return std::is_same_v<std::remove_const_t<typename span::element>, element>;
    return true;
  }();
  static constexpr bool is_number =
      Rank == 0 && (std::is_arithmetic_v<declared> || std::is_same_v<declared, std::remove_const_t<T>>);
  static constexpr call_fault fault = writes && std::is_const_v<T> ? call_fault::read_only
                                      : !rank_agrees               ? call_fault::other_rank
                                      : !elements_agree            ? call_fault::other_elements
                                      : is_number                  ? call_fault::number_of_a_scalar
                                                                   : call_fault::none;
  using type = std::conditional_t<by_pointer || span::is, declared, mdspan<T, Rank>>;
};

template <class F, std::size_t I>
struct declared_at {
  using type = void;
};
template <class F, std::size_t I>
requires(declared_parameters<F>::known&& I < declared_parameters<F>::count) struct declared_at<F, I> {
  using type = typename declared_parameters<F>::template type<I>;
};

[[noreturn]] void throw_strided_pointer(const array_look& view, source_line at);
// Name of an argument for messages.
template <class T, std::size_t Rank>
array_look look_of(const array_argument<T, Rank>& a) {
  array_look l{a.owner, a.owner->get(a.at).kind, type_name<std::remove_const_t<T>>(), Rank, {}};
  for (std::size_t d = 0; d != Rank; ++d) l.extent[d] = a.span.extent(d);
  return l;
}

// First: number of parameters before the arguments (the indices).
template <class F, std::size_t Position, class A>
auto to_parameter(const A& a) {
  using P = typename declared_at<F, Position>::type;
  using type = typename parameter<P, A>::type;
  if constexpr (!is_array_argument<A>) {
    return a;
  } else if constexpr (is_struct_argument<A>) {
    return parameter<P, A>::make(a);
  } else if constexpr (std::is_pointer_v<type>) {
    if (!a.contiguous) throw_strided_pointer(look_of(a), a.at);
    return type(a.span.data());
  } else {
    return type(a.span);
  }
}

template <class A, class P>
P relocated(const relocation& move, const P& p) {
  if constexpr (!is_array_argument<A>)
    return p;
  else if constexpr (is_struct_argument<A>)
    return A::relocated(move, p);
  else if constexpr (std::is_pointer_v<P>)
    return move(p);
  else if constexpr (requires { p.relocated(move); })
    return p.relocated(move);
  else
    return p;
}

// Calls use(parameters...) with the types that F declares after its first `First` parameters.
template <class F, std::size_t First, class Use, std::size_t... I, class... A>
decltype(auto) with_parameters(std::index_sequence<I...>, Use use, const A&... a) {
  return use(to_parameter<F, First + I>(a)...);
}

}  // namespace ferry::inline FERRY_ABI::detail
