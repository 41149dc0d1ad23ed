/// @file
/// Structs of sharded arrays: arguments of loops over shards, halo exchange of all arrays at once, fills, and copies
/// from and to records on the CPU.
#pragma once
#include <cstring>
#include <vector>

#include "ferry/core/soa_array.hpp"
#include "ferry/multigpu/detail/loops/shard_struct_arguments.hpp"
#include "ferry/multigpu/halo_exchange.hpp"
#include "ferry/multigpu/shard_copy.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// `sharded_array<T, Rank>` in device memory as a template of arrays, for structs that list members by FERRY_MEMBERS.
template <class T, std::size_t Rank = 1>
using device_sharded_array = sharded_array<T, Rank, memory_kind::device>;

/// One element in the place of each array: `S<record>` is one record of a struct S of arrays.
template <class T, std::size_t Rank>
using record = T;

/// A struct template over the template of its sharded arrays, as `S<device_sharded_array>`, which lists its members by
/// FERRY_MEMBERS.
template <class S>
concept sharded_struct = detail::lists_members<S> && detail::is_sharded_struct<S>;

/// A struct of sharded arrays as an argument of a loop: the struct with a sharded_argument in the place of each array.
/// Refers to the arrays: for use within the call.
template <class Arguments>
struct sharded_struct_argument {
  Arguments members;

  /// Calls f for the argument of each array.
  template <class F>
  void each_sharded(const F& f) const {
    const auto named = [&](const auto& a, const detail::member_path& path) {
      detail::naming_member(path, [&] { f(a); });
    };
    (void)detail::map_members(members, detail::each_leaf<detail::is_sharded_argument_type, decltype(named)>{named},
                              path());
  }
  /// Returns the argument with the halos that are out of date now.
  sharded_struct_argument with_stale_sides() const {
    return {detail::map_members(members, detail::with_stale_arguments(), path())};
  }
  /// Returns the part that a kernel over these cells of a region on `member` may access.
  template <std::size_t Rank>
  auto of_part(std::size_t member, const shard_layout<Rank>& region, const detail::shard_part<Rank>& part) const {
    const auto one = [&](const auto& a, const detail::member_path& of) {
      const std::string& name = a.what->name();
      return detail::argument_of(member, region, part, a,
                                 name.empty() ? of.label() : detail::array_label(name.c_str()));
    };
    const detail::to_shard_arguments<detail::reads_all_shards<Arguments>, decltype(one)> map{one};
    return struct_argument<decltype(detail::map_members(members, map, path()))>{
        detail::map_members(members, map, path())};
  }

 private:
  static detail::member_path path() { return detail::member_path(detail::type_name<Arguments>()); }
};

namespace detail {

template <class Arguments>
inline constexpr bool is_sharded_argument<sharded_struct_argument<Arguments>> = true;
template <class Arguments>
struct member_argument<sharded_struct_argument<Arguments>> {
  using type = struct_argument<
      typename rebound_by_use<Arguments, reads_all_shards<Arguments>, shard_argument, const_shard_argument>::type>;
};

template <bool IsConst, class S>
auto make_sharded_struct_argument(S& s, access_mode mode) {
  using V = std::remove_const_t<S>;
  constexpr memory_kind kind = array_of_struct<V>::type::kind;
  if constexpr (!std::is_trivially_copyable_v<typename rebound<V, shard_span>::type>) {
    return refused_argument<call_fault::fixed_struct>();
  } else {
    auto members = map_members(s, to_sharded_arguments<kind, IsConst>{mode}, member_path(type_name<V>()));
    return sharded_struct_argument<decltype(members)>{std::move(members)};
  }
}

}  // namespace detail

/// Marks all arrays of a struct as read, as for sharded arrays. The functor takes the struct as `S<const_shard_span>`.
/// @param s the struct
/// @throws invalid_argument naming the member, if an array is default-constructed
template <sharded_struct Shards>
auto in(const Shards& s, source_line = source_line::here()) {
  return detail::make_sharded_struct_argument<true>(s, detail::access_mode::in);
}
/// Marks all arrays of a struct as read and written, as for sharded arrays. The functor takes the struct as
/// `S<shard_span>`.
template <sharded_struct Shards>
auto inout(Shards& s, source_line = source_line::here()) {
  static_assert(!std::is_const_v<Shards>, "inout(s): the struct is const: pass in(s)");
  return detail::make_sharded_struct_argument<false>(s, detail::access_mode::inout);
}
/// Marks all arrays of a struct as written, as for sharded arrays: every cell of the region is written, none is read.
template <sharded_struct Shards>
auto out(Shards& s, source_line = source_line::here()) {
  static_assert(!std::is_const_v<Shards>, "out(s): the struct is const: pass in(s)");
  auto argument = detail::make_sharded_struct_argument<false>(s, detail::access_mode::out);
  if constexpr (detail::is_sharded_argument<decltype(argument)>)
    return out_argument<decltype(argument)>{std::move(argument)};
  else
    return argument;
}

/// Fills the halos of all arrays of structs, and of sharded arrays, in one exchange; see exchange_halos of arrays.
/// @param first a struct or an array
/// @param more further ones, of the same team
/// @throws invalid_argument naming the member, for arrays of different teams and default-constructed ones
template <class First, class... More>
requires(sharded_struct<First> || (sharded_struct<More> || ...)) void exchange_halos(First& first, More&... more) {
  static_assert(!std::is_const_v<First> && (!std::is_const_v<More> && ...),
                "exchange_halos writes halos, and an argument is const");
  std::vector<detail::halo_plan*> plans;
  const team* of = nullptr;
  const auto add = [&](auto& a, const detail::member_path& path) {
    detail::naming_member(path, [&] {
      if (!of) of = &a.team();
      detail::need_same_team(*of, a.team());
      plans.push_back(&detail::halo_plan_of(a));
    });
  };
  detail::each_array_of(first, add), (detail::each_array_of(more, add), ...);
  if (!of) return;  // no arrays
  detail::exchange(*of, {plans.data(), plans.size()});
  const auto note = [](auto& a, const detail::member_path&) { detail::halos_are_filled(a); };
  detail::each_array_of(first, note), (detail::each_array_of(more, note), ...);
}

namespace detail {

// Calls f(array, its element in a record, path) for each sharded array of a struct.
template <class X, class R, class F>
void each_element_of(X& x, R& r, const member_path& path, const F& f) {
  using V = std::remove_const_t<X>;
  if constexpr (is_sharded_array_type<V>::value) {
    naming_member(path, [&] { f(x, r); });
  } else if constexpr (lists_members<V>) {
    x.ferry_with_members([&](auto&... m) {
      r.ferry_with_members([&](auto&... e) {
        std::size_t i = 0;
        (each_element_of(m, e, path.member(V::ferry_member_names(), i++), f), ...);
      });
    });
  } else if constexpr (wrapper<V>::is) {
    static_assert(
        requires { std::tuple_size<V>::value; },
        "records hold arrays in listed members and std::array: copy the arrays of this struct one by one");
    std::size_t i = 0;
    std::apply(
        [&](auto&... m) { std::apply([&](auto&... e) { (each_element_of(m, e, path.element(i++), f), ...); }, r); }, x);
  }
}

// Replaces sharded arrays by elements of value zero.
struct to_record {
  template <class X>
  static constexpr bool is_leaf = is_sharded_array_type<X>::value;
  template <class X>
  using rebound = typename detail::rebound<X, record>::type;
  template <class A>
  typename A::value_type operator()(const A&, const member_path&) const {
    return {};
  }
};
template <class S>
using record_of = typename rebound<std::remove_cvref_t<S>, record>::type;

}  // namespace detail

/// Fills every cell of all arrays, including halos, with the elements of a record. On the streams of the team; does not
/// block.
/// @param s the struct
/// @param value its `S<record>`
/// @param line the caller's source line, for error texts
template <sharded_struct S>
void fill(S& s, const detail::record_of<S>& value, source_line line = source_line::here()) {
  detail::each_element_of(s, value, detail::member_path(detail::type_name<S>()),
                          [&](auto& a, const auto& e) { fill(a, e, line); });
}

/// Copies records from memory of the CPU to the arrays of a struct, as copies to sharded arrays. Members that are no
/// arrays do not change. Blocks until the records have been read.
/// @param from one record for each cell, in row-major order
/// @param to the struct; all its arrays have that many cells
/// @param line the caller's source line, for error texts
/// @throws invalid_argument naming the member, for another number of cells
template <sharded_struct S>
void copy(std::span<const detail::record_of<S>> from, S& to, source_line line = source_line::here()) {
  using R = detail::record_of<S>;
  static_assert(std::is_trivially_copyable_v<R>);
  const R one = detail::map_members(to, detail::to_record(), detail::member_path(detail::type_name<S>()));
  detail::each_element_of(
      to, one, detail::member_path(detail::type_name<S>()), [&]<class A, class E>(A& a, const E& e) {
        static_assert(std::is_same_v<E, typename A::value_type>);
        const auto offset = reinterpret_cast<const std::byte*>(&e) - reinterpret_cast<const std::byte*>(&one);
        const detail::cpu_buffer<E> all(from.size());
        for (std::size_t i = 0; i < from.size(); ++i)
          std::memcpy(all.data() + i, reinterpret_cast<const std::byte*>(&from[i]) + offset, sizeof(E));
        copy(std::span<const E>(all.span()), a, line);
      });
}
/// @overload
template <sharded_struct S>
void copy(const std::vector<detail::record_of<S>>& from, S& to, source_line line = source_line::here()) {
  copy(std::span<const detail::record_of<S>>(from), to, line);
}

/// Returns one record for each cell, in row-major order. Members that are no arrays are the same in each record. Blocks
/// as to_vector of each array does, and for a team that spans processes all of them must call it.
/// @param s the struct; all its arrays have the same number of cells
/// @param line the caller's source line, for error texts
/// @throws invalid_argument naming the member, for arrays of different numbers of cells
template <sharded_struct S>
std::vector<detail::record_of<S>> to_vector(const S& s, source_line line = source_line::here()) {
  using R = detail::record_of<S>;
  const detail::member_path path(detail::type_name<S>());
  const R one = detail::map_members(s, detail::to_record(), path);
  std::vector<R> all;
  bool is_first = true;
  detail::each_element_of(s, one, path, [&]<class A, class E>(const A& a, const E& e) {
    if (is_first) all.assign(a.size(), one);
    is_first = false;
    if (a.size() != all.size()) detail::throw_other_count(all.size(), a.look(), line);
    const auto offset = reinterpret_cast<const std::byte*>(&e) - reinterpret_cast<const std::byte*>(&one);
    const std::vector<E> some = to_vector(a, line);
    for (std::size_t i = 0; i < all.size(); ++i)
      std::memcpy(reinterpret_cast<std::byte*>(&all[i]) + offset, some.data() + i, sizeof(E));
  });
  return all;
}

namespace detail {

// Calls f(integral_constant<I>, array) for each array of a struct that lists only sharded arrays.
template <std::size_t Members, class S, class F>
void each_listed_array(S& s, const F& f) {
  s.ferry_with_members([&](auto&... a) {
    constexpr bool fits =
        sizeof...(a) == Members && (is_sharded_array_type<std::remove_cvref_t<decltype(a)>>::value && ...);
    static_assert(fits,
                  "a structure of arrays is copied from and to a struct that lists one sharded array for each of "
                  "its members, and nothing else");
    if constexpr (fits) [&]<std::size_t... I>(std::index_sequence<I...>) {
        (f(std::integral_constant<std::size_t, I>(), a), ...);
      }
    (std::make_index_sequence<Members>());
  });
}

}  // namespace detail

/// Copies the members of a structure of arrays to the arrays of a struct, in the order of FERRY_MEMBERS; see copy of
/// arrays.
template <memory_kind Kind, class... M, sharded_struct S>
void copy(const basic_soa<Kind, M...>& from, S& to, source_line line = source_line::here()) {
  detail::each_listed_array<sizeof...(M)>(to, [&](auto i, auto& a) { copy(from.template member<i()>(), a, line); });
}
/// Copies the arrays of a struct to the members of a structure of arrays, in the order of FERRY_MEMBERS.
template <sharded_struct S, memory_kind Kind, class... M>
void copy(const S& from, basic_soa<Kind, M...>& to, source_line line = source_line::here()) {
  detail::each_listed_array<sizeof...(M)>(from, [&](auto i, const auto& a) {
    auto member = to.template member<i()>();
    copy(a, member, line);
  });
}

/// @}

}  // namespace ferry::inline FERRY_ABI
