/// @file
/// Uploads what wrappers and structs hold to sharded arrays, and back.
#pragma once
#include <vector>

#include "ferry/core/adapt.hpp"
#include "ferry/multigpu/reshard.hpp"
#include "ferry/multigpu/sharded_struct.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {

// Replaces arrays, and memory of the CPU, by sharded arrays with the same elements.
template <class Target>
struct shard_adapter {
  const team& to;
  const shard_options& options;
  source_line at;

  template <class X>
  static constexpr bool is_leaf = array_like<X> || cpu_memory<X>::is;
  template <class X>
  using rebound = typename Target::template rebound<X>;

  template <class X>
  auto operator()(const X& x, const member_path& path) const {
    return naming_member(path, [&] { return copied(x); });
  }
  // Returns a sharded array of the elements of x.
  template <class X>
  auto uploaded(const X& x) const {
    typename Target::template cpu_leaf<typename cpu_memory<X>::value_type, cpu_memory<X>::rank> a(
        to, cpu_memory<X>::shape(x), options);
    if constexpr (requires { copy(x, a, at); })
      copy(x, a, at);
    else if constexpr (requires { copy(x, a); })
      copy(x, a);
    else
      static_assert(!cpu_memory<X>::is,
                    "include <ferry/multigpu/sharded_eigen.hpp>, which copies Eigen's objects to shards");
    return filled(a);
  }

 private:
  template <class A>
  static A filled(A& a) {
    if (a.layout().has_halo()) exchange_halos(a);
    return std::move(a);
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  auto copied(const array_view<T, Rank, Kind>& v) const {
    using made = typename Target::template cpu_leaf<std::remove_const_t<T>, Rank>;
    if (v.owner()) (void)v.need_alive(at);
    made a(to, v.extents(), options);
    copy(v, a, at);
    if (v.owner()) a.name(v.name());
    return filled(a);
  }
  template <class T, std::size_t Rank, memory_kind Kind>
  auto copied(const sharded_array<T, Rank, Kind>& s) const {
    using made = typename Target::template cpu_leaf<T, Rank>;
    static_assert(std::is_same_v<typename made::value_type, T>,
                  "sharded arrays are not narrowed: adapt<ferry::host_array>(x, ferry::narrow) first");
    made a(to, s.extents(), options);
    reshard(s, a);
    a.name(s.name());
    return filled(a);
  }
  template <class X>
  requires(cpu_memory<X>::is) auto copied(const X& x) const {
    if constexpr (requires { cpu_memory<X>::adapted(x, *this); })
      return cpu_memory<X>::adapted(x, *this);
    else
      return uploaded(x);
  }
};

// Sharded arrays as memory that adapt() collects: each becomes one array with all elements.
template <class T, std::size_t Rank, memory_kind Kind>
struct cpu_memory<sharded_array<T, Rank, Kind>> {
  static constexpr bool is = true;
  template <class A>
  static sharded_array<T, Rank, Kind> make(const A&, source_line) {
    static_assert(!array_like<A>, "pass the team and the distribution: adapt<ferry::sharded_array>(team, options, x)");
    return {};
  }
  template <class Target>
  static auto adapted(const sharded_array<T, Rank, Kind>& a, const adapter<Target>& to) {
    using made = typename Target::template cpu_leaf<T, Rank>;
    const team& t = a.team();
    if constexpr (!array_like<made>) {
      return collected<made>(a, to.at);
    } else {
      made all(a.extents(), to.where ? *to.where : t.device(t.first_local()));
      if (spans_processes(t)) {
        using U = typename made::value_type;
        const auto elements = collected<std::vector<U>>(a, to.at);
        copy(std::span<const U>(elements), all, to.at);
      } else {
        copy(a, static_cast<array_view<typename made::value_type, Rank, made::kind>&>(all), to.at);
      }
      if (all.owner() && !a.name().empty()) all.name(a.name());
      return all;
    }
  }

 private:
  template <class Made>
  static Made collected(const sharded_array<T, Rank, Kind>& a, source_line at) {
    if constexpr (std::is_same_v<Made, std::vector<T>>) {
      return to_vector(a, at);
    } else if constexpr (requires { typename Made::allocator_type; }) {
      const std::vector<T> all = to_vector(a, at);
      Made some(all.size());
      std::transform(all.begin(), all.end(), some.begin(),
                     [](const T& e) { return static_cast<typename Made::value_type>(e); });
      return some;
    } else {
      return Made(to_eigen(a).template cast<typename Made::Scalar>());  // in sharded_eigen.hpp
    }
  }
};

// Adds an implicit conversion, so that an overload with `const team&` is preferred.
struct team_of_adapt {
  const team& t;
  team_of_adapt(const team& of) : t(of) {}  // NOLINT
};
template <template <class, std::size_t> class To>
concept makes_shards = is_sharded_array_type<To<float, 1>>::value;
template <class Target, class X>
auto adapted_to_shards(const team& t, const shard_options& o, const X& x, source_line at) {
  return map_members(x, shard_adapter<Target>{t, o, at}, member_path(type_name<X>()));
}

}  // namespace detail

/// Returns a copy of x with sharded arrays in the place of its arrays, all cut by the same options, as
/// `adapt<sharded_array>(t, {.axis = 1, .halo = 1}, x)`. A struct `S<A>` becomes an `S<device_sharded_array>`. Arrays
/// of one device, views, std::vector, Eigen's objects with <ferry/eigen.hpp> and
/// <ferry/multigpu/sharded_eigen.hpp>, and sharded arrays of any team are copied. Halos of the copies are up to date.
/// Finds arrays as adapt over one device does.
///
/// `adapt<host_array>(s)`, `adapt<cpu_vector>(s)` and `adapt<device_array>(device, s)` collect the elements of sharded
/// arrays in one array each; on a team that spans processes, all of them must call it.
///
/// Ordered on the streams of the team. Blocks as copies to sharded arrays do.
/// @param t the team
/// @param o the distribution of each array
/// @param x a wrapper, struct, array or view
/// @param at the caller's source line, for messages
/// @throws invalid_argument naming the member, if the distribution does not fit an array
/// @throws use_after_free naming the member, if an array was freed
/// @throws out_of_memory if the shards do not fit
template <template <class, std::size_t, memory_kind> class To, class X>
auto adapt(const team& t, const shard_options& o, const X& x, source_line at = source_line::here()) {
  static_assert(detail::is_sharded_array_type<To<float, 1, memory_kind::device>>::value,
                "adapt to a team makes sharded arrays: adapt<ferry::sharded_array>(team, options, x)");
  return detail::adapted_to_shards<detail::all_become<device_sharded_array>>(t, o, x, at);
}
/// Same, with a template of sharded arrays, as `adapt<unified_sharded_array>(t, {}, x)`.
template <template <class, std::size_t> class To, class X>
requires(detail::makes_shards<To>) auto adapt(const detail::team_of_adapt& t, const shard_options& o, const X& x,
                                              source_line at = source_line::here()) {
  return detail::adapted_to_shards<detail::all_become<To>>(t.t, o, x, at);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
