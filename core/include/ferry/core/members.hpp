/// @file
/// Structs that list their members, so that ferry::adapt and kernels reach the arrays in them.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/member_path.hpp"
#include "ferry/core/error.hpp"
#include "ferry/version.hpp"

/// @addtogroup arrays
/// @{

/// Lists all members of a struct, in the order of their declaration. Write it into the struct:
/// `template <template <class, std::size_t> class A> struct model { A<float, 2> weights; int n; FERRY_MEMBERS(weights,
/// n) };` The struct stays an aggregate.
#define FERRY_MEMBERS(...)                                                   \
  static constexpr const char* ferry_member_names() { return #__VA_ARGS__; } \
  template <class FerryUse>                                                  \
  constexpr decltype(auto) ferry_with_members(FerryUse&& ferry_use) {        \
    return ferry_use(__VA_ARGS__);                                           \
  }                                                                          \
  template <class FerryUse>                                                  \
  constexpr decltype(auto) ferry_with_members(FerryUse&& ferry_use) const {  \
    return ferry_use(__VA_ARGS__);                                           \
  }                                                                          \
  static_assert(true, "")

/// @}

namespace ferry::inline FERRY_ABI {

/// @addtogroup copies
/// @{

namespace detail {

template <class T>
using narrowed_element = std::conditional_t<std::is_same_v<T, double>, float, T>;

}  // namespace detail

/// Arrays of float in the place of arrays of double: `narrowed<device_array>::array<double, 2>` is a
/// `device_array<float, 2>`.
template <template <class, std::size_t> class Array>
struct narrowed {
  template <class T, std::size_t Rank>
  using array = Array<detail::narrowed_element<T>, Rank>;
};
/// @}

namespace detail {

template <class X>
concept lists_members = requires {
  std::remove_cvref_t<X>::ferry_member_names();
};

// A struct template over the template of its arrays: the type with other arrays. Other types stay as they are.
template <class X, template <class, std::size_t> class To>
struct rebound {
  static constexpr bool follows = false;
  using type = X;
};
template <template <template <class, std::size_t> class, class...> class S, template <class, std::size_t> class A,
          class... Rest, template <class, std::size_t> class To>
struct rebound<S<A, Rest...>, To> {
  static constexpr bool follows = true;
  using type = S<To, Rest...>;
};
// The array of floats of such a struct's template; void for other types.
template <class X>
struct array_of_struct {
  using type = void;
};
template <template <template <class, std::size_t> class, class...> class S, template <class, std::size_t> class A,
          class... Rest>
struct array_of_struct<S<A, Rest...>> {
  using type = A<float, 1>;
};

template <class X>
inline constexpr bool is_borrowed_memory = std::is_pointer_v<X> || requires(const X& x) {
  typename X::element_type;
  x.data();
  x.size();
};

// Members of an aggregate are initialized from it, to count them.
struct any_member {
  template <class T>
  operator T() const;
};
template <class X, class... M>
concept is_made_of = requires {
  X{std::declval<M>()...};
};
template <class X, std::size_t... I>
consteval bool takes_members(std::index_sequence<I...>) {
  return requires { X{(void(I), any_member())...}; };
}

// Calls a function for one member of a struct. An error text then begins with `before` and the member:
// "state.layers[1].weights: ".
template <class Call>
decltype(auto) naming_member(const member_path& path, const Call& call, const char* before = "") {
  try {
    return call();
  } catch (const use_after_free& e) {
    throw use_after_free(before + path.text() + ": " + plain_what(e));
  } catch (const invalid_argument& e) {
    throw invalid_argument(before + path.text() + ": " + plain_what(e));
  }
}

// The one way through wrappers and structs. Returns a copy of x with map(array, path) in the place of each array:
// elements of std::tuple, std::pair, std::array, std::optional, std::vector of these, and listed members of structs.
// Numbers and other trivially copyable values are copied.
//
// Map: `is_leaf<X>`, true for the types that it replaces; `rebound<X>`, the type of a struct with the new arrays.
template <class X, class Map>
auto map_members(X& x, const Map& map, const member_path& path);

template <class R, class X, class Map, std::size_t... I>
R map_listed(X& x, const Map& map, const member_path& path, std::index_sequence<I...>) {
  return x.ferry_with_members([&](auto&... m) -> R {
    static_assert(sizeof...(m) == sizeof...(I));
    static_assert(!takes_members<R>(std::make_index_sequence<sizeof...(I) + 1>()),
                  "list every member of the struct in FERRY_MEMBERS: it has more members than the list names");
    constexpr bool fits = is_made_of<R, decltype(map_members(m, map, path))...>;
    static_assert(fits,
                  "declare each array of the struct by its template parameter, as A<float, 2>, and list all members by "
                  "FERRY_MEMBERS in the order of their declaration: the new arrays do not fit the struct's members");
    if constexpr (fits) return R{map_members(m, map, path.member(X::ferry_member_names(), I))...};
  });
}

// Types of the standard library whose elements are mapped: a static function map(x, map, path).
template <class X>
struct wrapper {
  static constexpr bool is = false;
};
template <class... X>
struct wrapper<std::tuple<X...>> {
  static constexpr bool is = true;
  template <class Map>
  static auto map(auto& x, const Map& map, const member_path& path) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<decltype(map_members(std::get<I>(x), map, path))...>{
          map_members(std::get<I>(x), map, path.element(I))...};
    }
    (std::index_sequence_for<X...>());
  }
};
template <class A, class B>
struct wrapper<std::pair<A, B>> {
  static constexpr bool is = true;
  template <class Map>
  static auto map(auto& x, const Map& map, const member_path& path) {
    return std::pair<decltype(map_members(x.first, map, path)), decltype(map_members(x.second, map, path))>{
        map_members(x.first, map, path.element(0)), map_members(x.second, map, path.element(1))};
  }
};
template <class T, std::size_t N>
struct wrapper<std::array<T, N>> {
  static constexpr bool is = N != 0 && !std::is_arithmetic_v<T>;
  template <class Map>
  static auto map(auto& x, const Map& map, const member_path& path) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<decltype(map_members(x[0], map, path)), N>{map_members(x[I], map, path.element(I))...};
    }
    (std::make_index_sequence<N>());
  }
};
template <class T>
struct wrapper<std::optional<T>> {
  static constexpr bool is = true;
  template <class Map>
  static auto map(auto& x, const Map& map, const member_path& path) {
    std::optional<decltype(map_members(*x, map, path))> made;
    if (x) made.emplace(map_members(*x, map, path));
    return made;
  }
};
template <class T, class Allocator>
struct wrapper<std::vector<T, Allocator>> {
  static constexpr bool is = !std::is_arithmetic_v<T>;
  template <class Map>
  static auto map(auto& x, const Map& map, const member_path& path) {
    std::vector<decltype(map_members(x.front(), map, path))> made;
    made.reserve(x.size());
    for (std::size_t i = 0; i != x.size(); ++i) made.push_back(map_members(x[i], map, path.element(i)));
    return made;
  }
};

struct number_members {
  template <class... M>
  constexpr std::index_sequence_for<M...> operator()(M&...) const {
    return {};
  }
};

template <class X, class Map>
auto map_members(X& x, const Map& map, const member_path& path) {
  using V = std::remove_const_t<X>;
  if constexpr (Map::template is_leaf<V>) {
    return map(x, path);
  } else if constexpr (lists_members<V>) {
    using names = std::remove_cvref_t<decltype(x.ferry_with_members(number_members()))>;
    return map_listed<typename Map::template rebound<V>>(x, map, path, names());
  } else if constexpr (wrapper<V>::is) {
    return wrapper<V>::map(x, map, path);
  } else {
    static_assert(!is_borrowed_memory<V>,
                  "pass the array itself, or a std::vector: a pointer, std::span or mdspan refers to elements without "
                  "owning them, and stays where it is");
    static_assert(std::is_trivially_copyable_v<V>,
                  "list the members of the struct by FERRY_MEMBERS(a, b, ...) in it: ferry finds arrays in listed "
                  "members, std::tuple, std::pair, std::array, std::optional and std::vector, and copies trivially "
                  "copyable values");
    return V(x);
  }
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
