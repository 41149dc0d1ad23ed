// Structs of sharded arrays as arguments of loops over shards, and their form in each member's kernel.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/core/struct_argument.hpp"
#include "ferry/multigpu/detail/loops/shard_argument_uses.hpp"
#include "ferry/multigpu/detail/loops/shard_arguments.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class T, std::size_t Rank>
using const_shard_argument = shard_argument<std::add_const_t<T>, Rank>;
template <memory_kind Kind>
struct sharded_arguments {
  template <class T, std::size_t Rank>
  using plain = sharded_argument<T, Rank, Kind>;
  template <class T, std::size_t Rank>
  using read = sharded_argument<std::add_const_t<T>, Rank, Kind>;
};

template <class T, memory_kind Kind>
inline constexpr bool holds_floats<sharded_argument<T, 1, Kind>> = std::is_same_v<std::remove_const_t<T>, float>;
template <class T>
inline constexpr bool holds_floats<shard_argument<T, 1>> = std::is_same_v<std::remove_const_t<T>, float>;
template <class T, memory_kind Kind>
inline constexpr bool holds_floats<sharded_array<T, 1, Kind>> = std::is_same_v<T, float>;

// True if the arguments in such a struct are only read.
template <class Array>
inline constexpr bool is_read_argument = false;
template <memory_kind Kind>
inline constexpr bool is_read_argument<sharded_argument<const float, 1, Kind>> = true;
template <>
inline constexpr bool is_read_argument<shard_argument<const float, 1>> = true;
template <class Arguments>
inline constexpr bool reads_all_shards = is_read_argument<typename array_of_struct<Arguments>::type>;

template <class Array>
inline constexpr bool is_shard_argument = false;
template <class T, std::size_t Rank>
inline constexpr bool is_shard_argument<shard_argument<T, Rank>> = true;
template <class Arguments>
inline constexpr bool holds_shards = is_shard_argument<typename array_of_struct<Arguments>::type>;
template <class Arguments>
inline constexpr bool is_struct_of_shards<struct_argument<Arguments>> = holds_shards<Arguments>;

// Calls f(array or argument, path) for each leaf of a struct. Returns a struct of empty objects.
struct visited_array {};
template <class, std::size_t>
using visited = visited_array;
template <template <class> class Is, class F>
struct each_leaf {
  const F& f;
  template <class X>
  static constexpr bool is_leaf = Is<X>::value;
  template <class X>
  using rebound = typename detail::rebound<X, visited>::type;
  template <class X>
  visited_array operator()(X& x, const member_path& path) const {
    f(x, path);
    return {};
  }
};
template <class X>
struct is_sharded_argument_type : std::bool_constant<is_sharded_argument<X>> {};
template <class X>
struct is_sharded_array_type : std::bool_constant<is_sharded(static_cast<const X*>(nullptr))> {};

// Calls f(array, path) for each array of a struct of sharded arrays, or for a sharded array alone.
template <class S, class F>
void each_array_of(S& s, const F& f) {
  if constexpr (is_sharded(static_cast<const S*>(nullptr)))
    f(s, member_path(type_name<S>()));
  else
    (void)map_members(s, each_leaf<is_sharded_array_type, F>{f}, member_path(type_name<std::remove_const_t<S>>()));
}

// Replaces sharded arrays by arguments of a loop.
template <memory_kind Kind, bool IsConst>
struct to_sharded_arguments {
  access_mode mode;
  template <class X>
  static constexpr bool is_leaf = is_sharded_array_type<X>::value;
  template <class X>
  using rebound = typename rebound_by_use<X, IsConst, sharded_arguments<Kind>::template plain,
                                          sharded_arguments<Kind>::template read>::type;
  template <class A>
  auto operator()(A& a, const member_path& path) const {
    using T = typename A::value_type;
    naming_member(path, [&] { (void)a.layout(); });
    return sharded_argument<std::conditional_t<IsConst, const T, T>, A::rank, A::kind>{&a, mode, {}};
  }
};

// Replaces arguments of a loop by those of one kernel.
template <bool IsConst, class MakeOne>
struct to_shard_arguments {
  const MakeOne& one;
  template <class X>
  static constexpr bool is_leaf = is_sharded_argument<X>;
  template <class X>
  using rebound = typename rebound_by_use<X, IsConst, shard_argument, const_shard_argument>::type;
  template <class A>
  auto operator()(const A& a, const member_path& path) const {
    return naming_member(path, [&] { return one(a, path); });
  }
};

// Replaces the arguments of one kernel by spans, for a functor that takes the struct as S<Span>.
template <template <class, std::size_t> class Span>
struct to_shard_spans {
  template <class X>
  static constexpr bool is_leaf = is_shard_argument<X>;
  template <class X>
  using rebound = typename detail::rebound<X, Span>::type;
  template <class T, std::size_t Rank>
  auto operator()(const shard_argument<T, Rank>& x, const member_path&) const {
    return std::conditional_t<only_reads<Span<float, 1>>, shard_span<const T, Rank>, shard_span<T, Rank>>(x.span);
  }
};

// Replaces out-of-date marks of arguments by those of now.
struct with_stale_arguments {
  template <class X>
  static constexpr bool is_leaf = is_sharded_argument<X>;
  template <class X>
  using rebound = X;
  template <class A>
  A operator()(const A& a, const member_path&) const {
    return with_stale_halos(a);
  }
};

// Checks what a functor declares for a struct of sharded arrays: no type, or the struct with shard_spans.
template <class P, class Arguments>
struct declared_shard_struct {
  static constexpr call_fault fault = call_fault::no_struct_of_shards;
  using type = void;
};
template <template <template <class, std::size_t> class, class...> class S, template <class, std::size_t> class Span,
          class... Rest, class Arguments>
requires(shard_span_traits<Span<float, 1>>::is&&
             std::is_same_v<typename rebound<Arguments, Span>::type, S<Span, Rest...>>)  //
    struct declared_shard_struct<S<Span, Rest...>, Arguments> {
  using type = S<Span, Rest...>;
  static constexpr call_fault fault =
      reads_all_shards<Arguments> && !only_reads<Span<float, 1>> ? call_fault::read_only : call_fault::none;
  static type make(const struct_argument<Arguments>& a) {
    return map_members(a.members, to_shard_spans<Span>(), member_path({}));
  }
};
template <class Arguments>
struct declared_shard_struct<void, Arguments>
    : declared_shard_struct<
          typename rebound_by_use<Arguments, reads_all_shards<Arguments>, shard_span, const_shard_span>::type,
          Arguments> {};
template <class P, class Arguments>
requires(holds_shards<Arguments>) struct parameter<P, struct_argument<Arguments>>
    : declared_shard_struct<std::remove_cvref_t<P>, Arguments> {
};

template <class Arguments>
requires(holds_shards<Arguments>) inline constexpr std::size_t most_kernel_uses<struct_argument<Arguments>> =
    5 * most_arrays<struct_argument<Arguments>>;
template <class Arguments>
requires(holds_shards<Arguments>) void add_kernel_use(kernel_use_collector& uses, const struct_argument<Arguments>& a) {
  a.each_array([&](const auto& x) { add_kernel_use(uses, x); });
}

}  // namespace ferry::inline FERRY_ABI::detail
