/// @file
/// Uploads what wrappers and structs hold, and keeps their type.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/core/members.hpp"
#include "ferry/core/soa.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup copies
/// @{

/// An option of adapt(): arrays of double become arrays of float.
struct narrowing {};
/// The option. Numbers that are not in arrays keep their type.
inline constexpr narrowing narrow{};

namespace detail {
template <class T, std::size_t Rank>
struct cpu_vector_of {
  static_assert(
      Rank == 1,
      "a std::vector has one dimension: adapt<ferry::host_array>(x) copies arrays of more dimensions to memory "
      "of the CPU");
  using type = std::vector<T>;
};
}  // namespace detail

/// `std::vector<T>` as a template of arrays: adapt<cpu_vector>(x) copies arrays of one dimension to vectors.
template <class T, std::size_t Rank>
using cpu_vector = typename detail::cpu_vector_of<T, Rank>::type;

namespace detail {

template <class X>
inline constexpr bool is_soa = false;
template <memory_kind Kind, class... M>
inline constexpr bool is_soa<basic_soa<Kind, M...>> = true;

// Memory of the CPU that adapt() uploads. A specialization has value_type, rank, and a static function shape(x); one
// for a type that adapt() makes, static make(array, at). Copies from and to it are by copy(). One for a wrapper of such
// memory has only static adapted(x, adapter), which returns what x becomes.
template <class X>
struct cpu_memory {
  static constexpr bool is = false;
};
template <class T>
requires(std::is_trivially_copyable_v<T> && !lists_members<T> && !array_like<T>) struct cpu_memory<std::vector<T>> {
  static constexpr bool is = true;
  using value_type = T;
  static constexpr std::size_t rank = 1;
  static extents<1> shape(const std::vector<T>& v) { return extents<1>(v.size()); }
  template <class Array>
  static std::vector<T> make(const Array& a, source_line at) {
    return written_vector<T>(a.size(), [&](std::span<T> all) { copy(a, all, at); });
  }
};

// Copies to an array that has the strides of the view: a transpose stays a transpose of contiguous elements.
template <memory_kind To, class U, class T, std::size_t Rank, memory_kind Kind>
array_view<U, Rank, To> view_of_copy(const array_view<T, Rank, Kind>& v, device d, source_line at) {
  std::array<std::size_t, Rank == 0 ? 1 : Rank> order{};
  for (std::size_t i = 0; i != Rank; ++i) order[i] = i;
  const auto distance = [&](std::size_t i) { return v.strides()[i] < 0 ? -v.strides()[i] : v.strides()[i]; };
  for (std::size_t i = 1; i < Rank; ++i)  // std::stable_sort allocates
    for (std::size_t j = i; j != 0 && distance(order[j - 1]) < distance(order[j]); --j)
      std::swap(order[j - 1], order[j]);
  extents<Rank> e;
  for (std::size_t i = 0; i != Rank; ++i) e[i] = v.extent(order[i]);
  basic_array<std::remove_const_t<U>, Rank, To> all(e, d);
  strides<Rank> s{};
  for (std::size_t i = 0; i != Rank; ++i) s[order[i]] = all.strides()[i];
  array_view<std::remove_const_t<U>, Rank, To> made(all.owner(), all.unsynchronized_data(), v.extents(), s);
  copy(v, made, at);
  if (v.owner() && all.owner()) all.name(v.name());
  return array_view<U, Rank, To>(made.owner(), made.unsynchronized_data(), v.extents(), s);
}

// Replaces arrays, and memory of the CPU, by copies. Target: the types of the copies.
template <class Target>
struct adapter {
  std::optional<device> where;  // none: the device of each array
  source_line at;

  template <class X>
  static constexpr bool is_leaf = array_like<X> || is_soa<X> || cpu_memory<X>::is;
  template <class X>
  using rebound = typename Target::template rebound<X>;

  template <class X>
  auto operator()(const X& x, const member_path& path) const {
    return naming_member(
        path, [&] { return copied(x); }, "adapt of ");
  }

  // Returns an array of the elements of x.
  template <class X>
  auto uploaded(const X& x) const {
    using made = typename Target::template cpu_leaf<typename cpu_memory<X>::value_type, cpu_memory<X>::rank>;
    static_assert(array_like<made>, "adapt to memory of the CPU copies arrays of ferry: these elements are there");
    made a(cpu_memory<X>::shape(x), where.value_or(default_device()));
    copy(x, a, at);
    return a;
  }

 private:
  template <class T, std::size_t Rank, memory_kind Kind>
  auto copied(const array_view<T, Rank, Kind>& v) const {
    using whole = typename Target::template leaf<std::remove_const_t<T>, Rank, Kind>;
    if constexpr (array_like<whole>) {
      using U = typename whole::value_type;
      if (v.owner()) (void)v.need_alive(at);
      return view_of_copy<whole::kind, std::conditional_t<std::is_const_v<T>, const U, U>>(
          v, where.value_or(v.device()), at);
    } else {
      return cpu_memory<whole>::make(v, at);
    }
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  auto copied(const basic_array<T, Rank, Kind>& a) const {
    using made = typename Target::template leaf<T, Rank, Kind>;
    if constexpr (array_like<made>) {
      if (a.owner()) (void)a.need_alive(at);
      made b(a.extents(), where.value_or(a.device()));
      copy(a, b, at);
      if (a.owner() && b.owner()) b.name(a.name());
      return b;
    } else {
      return cpu_memory<made>::make(a, at);
    }
  }
  template <memory_kind Kind, class... M>
  auto copied(const basic_soa<Kind, M...>& s) const {
    return to_kind<Target::template leaf<std::byte, 1, Kind>::kind>(s, where.value_or(s.device()));
  }
  template <class X>
  requires(cpu_memory<X>::is) auto copied(const X& x) const {
    if constexpr (requires { cpu_memory<X>::adapted(x, *this); })
      return cpu_memory<X>::adapted(x, *this);
    else
      return uploaded(x);
  }
};

// Every array becomes a To<T, Rank>.
template <template <class, std::size_t> class To>
struct all_become {
  template <class T, std::size_t Rank, memory_kind>
  using leaf = To<T, Rank>;
  template <class T, std::size_t Rank>
  using cpu_leaf = To<T, Rank>;
  template <class X>
  using rebound = typename detail::rebound<X, To>::type;
};

// Arrays keep their kind, and memory of the CPU becomes arrays of device memory. Narrows: double becomes float.
template <bool Narrows, template <class, std::size_t> class A>
struct maybe_narrowed {
  template <class T, std::size_t Rank>
  using array = A<std::conditional_t<Narrows, narrowed_element<T>, T>, Rank>;
};
template <class X, bool Narrows>
struct rebound_of_same_kind {
  using type = X;
};
template <template <template <class, std::size_t> class, class...> class S, template <class, std::size_t> class A,
          class... Rest, bool Narrows>
struct rebound_of_same_kind<S<A, Rest...>, Narrows> {
  static constexpr bool has_arrays = array_like<A<float, 1>>;
  static auto find() {
    if constexpr (has_arrays && Narrows)
      return std::type_identity<S<narrowed<A>::template array, Rest...>>();
    else if constexpr (has_arrays)
      return std::type_identity<S<A, Rest...>>();
    else if constexpr (Narrows)
      return std::type_identity<S<narrowed<device_array>::template array, Rest...>>();
    else
      return std::type_identity<S<device_array, Rest...>>();
  }
  using type = typename decltype(find())::type;
};
template <bool Narrows>
struct same_kinds {
  template <class T>
  using element = std::conditional_t<Narrows, narrowed_element<T>, T>;
  template <class T, std::size_t Rank, memory_kind Kind>
  using leaf = basic_array<element<T>, Rank, Kind>;
  template <class T, std::size_t Rank>
  using cpu_leaf = device_array<element<T>, Rank>;
  template <class X>
  using rebound = typename rebound_of_same_kind<X, Narrows>::type;
};

template <class Target, class X>
auto adapted(std::optional<device> d, const X& x, source_line at) {
  return map_members(x, adapter<Target>{d, at}, member_path(type_name<X>()));
}

}  // namespace detail

/// Returns a copy of x on a device. Its type is that of x: each array is copied to an array of the same kind of memory,
/// a view to a view with its order of dimensions, in new memory. Elements of std::vector, and those of Eigen's objects
/// with <ferry/eigen.hpp>, become device arrays. Looks for arrays in std::tuple, std::pair, std::array, std::optional,
/// std::vector of arrays, and in members of structs that FERRY_MEMBERS lists. Other values are copied; those that are
/// not trivially copyable are refused at compile time, and so are pointers and spans.
///
/// Each copy is ordered on the calling thread's stream of the device. Blocks as copy() does: until elements of vectors
/// have been read, else never.
/// @param d device of the copies
/// @param x a wrapper, struct, array or view
/// @param at the caller's source line, for messages
/// @throws use_after_free naming the member, if an array was freed
/// @throws out_of_memory if the pool cannot allocate the bytes
template <class X>
auto adapt(device d, const X& x, source_line at = source_line::here()) {
  return detail::adapted<detail::same_kinds<false>>(d, x, at);
}
/// Same, and arrays of double become arrays of float.
template <class X>
auto adapt(device d, const X& x, narrowing, source_line at = source_line::here()) {
  return detail::adapted<detail::same_kinds<true>>(d, x, at);
}
/// Returns a copy of x with arrays To in the place of its arrays, as `adapt<device_array>(x)`. Struct templates over
/// the template of their arrays become structs of To; other structs must hold arrays of To. Each copy is on the device
/// of its array, copies of vectors on the default device. See the overload with a device.
///
/// `adapt<host_array>(x)` and `adapt<cpu_vector>(x)` copy back to memory of the CPU; the latter blocks until it has the
/// elements.
template <template <class, std::size_t> class To, class X>
auto adapt(const X& x, source_line at = source_line::here()) {
  return detail::adapted<detail::all_become<To>>({}, x, at);
}
/// @overload
template <template <class, std::size_t> class To, class X>
auto adapt(device d, const X& x, source_line at = source_line::here()) {
  return detail::adapted<detail::all_become<To>>(d, x, at);
}
/// Same, and arrays of double become arrays of float: To is `narrowed<To>::array` in the type of the result.
template <template <class, std::size_t> class To, class X>
auto adapt(const X& x, narrowing, source_line at = source_line::here()) {
  return detail::adapted<detail::all_become<narrowed<To>::template array>>({}, x, at);
}
/// @overload
template <template <class, std::size_t> class To, class X>
auto adapt(device d, const X& x, narrowing, source_line at = source_line::here()) {
  return detail::adapted<detail::all_become<narrowed<To>::template array>>(d, x, at);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
