// Sources of ferry::batches: structs of arrays, cut along their first axes, and lists whose elements are pieces.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ferry/core/adapt.hpp"
#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"
#include "ferry/core/members.hpp"
#include "ferry/core/struct_argument.hpp"
#include "ferry/unified/detail/batches/batch_slot.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Throws invalid_argument if both are numbers and differ.
inline std::optional<std::size_t> joined_rows(std::optional<std::size_t> a, std::optional<std::size_t> b) {
  if (a && b && *a != *b)
    throw invalid_argument(concat("batches: one source has ", *a, " rows and another ", *b,
                                  ": sources that are walked together have equal lengths"));
  return b ? b : a;
}

// Elements that adapt() uploads, other than plain ones: those of a list are pieces.
template <class X>
concept is_adaptable = lists_members<X> || wrapper<X>::is || cpu_memory<X>::is || array_like<X>;
template <class X>
concept is_whole_piece = is_adaptable<X> && !std::is_trivially_copyable_v<X>;

// A source whose elements are pieces. next(i) returns what refers to element i, empty at the end.
template <class Next, class Element>
struct whole_source {
  using piece = decltype(adapt(std::declval<ferry::device>(), std::declval<const Element&>()));
  struct slot {
    mutable std::optional<piece> made;
    piece& view() const { return *made; }
  };
  static void need_size(std::size_t asked) {
    if (asked > 1)
      throw invalid_argument(
          concat("batches: a size of ", asked, ", and the elements of the list are the pieces: leave the size at 0"));
  }
  Next next;
  bool stores() const { return false; }
  std::optional<std::size_t> rows() const { return {}; }
  std::size_t row_bytes() const { return 0; }
  bool load(slot& to, const batch_rows& r, const batch_streams& s) {
    auto element = next(r.first);
    if (!element) return false;
    to.made.reset();  // first: there may be no room for both
    s.pipeline.give([&to, on = s.on, element = std::move(element)] { to.made.emplace(adapt(on, *element)); });
    return true;
  }
  void store(slot&, const batch_rows&, const batch_streams&) {}
};
template <class Element, class Next>
whole_source<Next, Element> make_whole_source(Next next) {
  return {std::move(next)};
}
template <std::ranges::random_access_range List>
auto source_of_list(const List& all) {
  using element = std::ranges::range_value_t<List>;
  return make_whole_source<element>([&all](std::size_t i) -> const element* {
    return i < std::ranges::size(all) ? &std::ranges::begin(all)[static_cast<std::ptrdiff_t>(i)] : nullptr;
  });
}
template <class Function>
auto source_of_pieces(Function make) {
  using made = std::invoke_result_t<Function&>;
  using element = typename made::value_type;
  return make_whole_source<element>([make = std::move(make)](std::size_t) mutable -> std::shared_ptr<const element> {
    const auto piece = std::make_shared<const made>(make());
    if (!*piece) return nullptr;
    return {piece, &**piece};
  });
}

// Of batch_source.hpp.
template <class View>
struct array_source;
template <class Element, class T, std::size_t Rank>
auto source_of_argument(const array_argument<T, Rank>& a);

// An array of a struct that is cut.
template <class T, std::size_t Rank>
using member_source = array_source<array_view<T, Rank, memory_kind::host>>;
// The array, and the memory of one of its pieces.
template <class T, std::size_t Rank>
struct member_piece {
  member_source<T, Rank> source;
  batch_slot<T, Rank> slot;
};
template <class T, std::size_t Rank>
using member_piece_ref = std::shared_ptr<member_piece<T, Rank>>;

template <>
inline constexpr bool holds_floats<member_source<float, 1>> = true;
template <>
inline constexpr bool holds_floats<member_piece_ref<float, 1>> = true;

template <class X>
inline constexpr bool is_member_source = false;
template <class T, std::size_t Rank>
inline constexpr bool is_member_source<member_source<T, Rank>> = true;
template <class X>
inline constexpr bool is_member_piece = false;
template <class T, std::size_t Rank>
inline constexpr bool is_member_piece<member_piece_ref<T, Rank>> = true;

// Maps for map_members: arguments to sources, those to pieces, those to views; and a call for each piece.
struct to_member_sources {
  template <class X>
  static constexpr bool is_leaf = is_array_argument<X>;
  template <class X>
  using rebound = typename rebound_by_use<X, false, member_source, member_source>::type;
  template <class T, std::size_t Rank>
  auto operator()(const array_argument<T, Rank>& a, const member_path&) const {
    if constexpr (Rank == 0)
      static_assert(Rank != 0, "batches of a struct: an array of rank 0 has no rows to cut");
    else
      return source_of_argument<std::remove_const_t<T>>(a);
  }
};
struct to_member_pieces {
  template <class X>
  static constexpr bool is_leaf = is_member_source<X>;
  template <class X>
  using rebound = typename rebound_by_use<X, false, member_piece_ref, member_piece_ref>::type;
  template <class T, std::size_t Rank>
  auto operator()(const member_source<T, Rank>& a, const member_path&) const {
    return std::make_shared<member_piece<T, Rank>>(member_piece<T, Rank>{a, {}});
  }
};
struct to_piece_views {
  template <class X>
  static constexpr bool is_leaf = is_member_piece<X>;
  template <class X>
  using rebound = typename rebound_by_use<X, false, device_view, device_view>::type;
  template <class T, std::size_t Rank>
  auto operator()(const std::shared_ptr<member_piece<T, Rank>>& p, const member_path&) const {
    return p->slot.view();
  }
};
template <class F>
struct each_source {
  const F& f;
  template <class X>
  static constexpr bool is_leaf = is_member_source<X> || is_member_piece<X>;
  template <class X>
  using rebound = X;
  template <class X>
  X operator()(X& x, const member_path&) const {
    f(x);
    return x;
  }
};
template <class S, class F>
void visit_sources(S& s, const F& f) {
  (void)map_members(s, each_source<F>{f}, member_path({}));
}

// A struct of arrays whose pieces are the struct with rows of each array.
template <class Members>
struct struct_source {
  using pieces = decltype(map_members(std::declval<const Members&>(), to_member_pieces(), member_path({})));
  struct slot {
    std::optional<pieces> parts;
    auto view() const { return map_members(*parts, to_piece_views(), member_path({})); }
  };
  Members members;
  bool stores() const {
    bool any = false;
    visit_sources(members, [&](const auto& a) { any = any || a.stores(); });
    return any;
  }
  std::optional<std::size_t> rows() const {
    std::optional<std::size_t> all;
    visit_sources(members, [&](const auto& a) { all = joined_rows(all, a.rows()); });
    return all;
  }
  std::size_t row_bytes() const {
    std::size_t n = 0;
    visit_sources(members, [&](const auto& a) { n += a.row_bytes(); });
    return n;
  }
  bool load(slot& to, const batch_rows& r, const batch_streams& s) {
    if (!to.parts) to.parts.emplace(map_members(std::as_const(members), to_member_pieces(), member_path({})));
    bool loaded = false;
    visit_sources(*to.parts, [&](const auto& p) { loaded = p->source.load(p->slot, r, s) || loaded; });
    return loaded;
  }
  void store(slot& from, const batch_rows& r, const batch_streams& s) {
    visit_sources(*from.parts, [&](const auto& p) {
      if (p->source.stores()) p->source.store(p->slot, r, s);
    });
  }
};
template <class A>
auto source_of_struct(const struct_argument<A>& a) {
  auto members = map_members(a.members, to_member_sources(), member_path({}));
  return struct_source<decltype(members)>{std::move(members)};
}

}  // namespace ferry::inline FERRY_ABI::detail
