/// @file
/// Sources of ferry::batches.
#pragma once
#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/arguments.hpp"
#include "ferry/core/array.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"
#include "ferry/core/host.hpp"
#include "ferry/core/npy_map.hpp"
#include "ferry/unified/batch_results.hpp"
#include "ferry/unified/detail/batches/adapted_batches.hpp"
#include "ferry/unified/detail/batches/batch_slot.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// A source whose pieces a function makes, each of its own length. See generate().
template <class Function>
struct batch_generator {
  Function make;
};

/// Makes a source of ferry::batches from a function. Another thread than the loop's calls the function, one call after
/// the other, while the previous piece is uploaded. Pieces may differ in length, may be empty, and may differ in length
/// from those of other sources.
/// @param make returns the elements of the next piece as a std::optional<std::vector<T>>, empty at the end
/// @return the source
template <class Function>
auto generate(Function make) {
  return batch_generator<Function>{std::move(make)};
}

namespace detail {

// Contiguous elements in memory of the CPU.
template <class T, std::size_t Rank>
struct memory_batch {
  using slot = batch_slot<T, Rank>;
  const T* data;
  ferry::extents<Rank> extents;
  bool stores() const { return false; }
  std::optional<std::size_t> rows() const { return extents[0]; }
  std::size_t row_bytes() const { return row_size(extents) * sizeof(T); }
  bool load(slot& to, const batch_rows& r, const batch_streams& s) {
    if (r.first >= extents[0]) return false;
    const std::size_t row = row_size(extents);
    s.upload(std::span<const T>(data + r.first * row, r.count * row), to.make(rows_of(extents, r.count), s.on));
    return true;
  }
  void store(slot&, const batch_rows&, const batch_streams&) {}
};

// A mapped file. Pieces are read into pinned memory instead of copied from the mapped pages: an access to such pages
// ends the program if the file shrinks meanwhile.
template <class T, std::size_t Rank>
struct file_source {
  struct slot : batch_slot<T, Rank> {
    host_array<T, 1> read;
  };
  const npy_map<T, Rank>* map;
  bool stores() const { return false; }
  std::optional<std::size_t> rows() const { return map->extents()[0]; }
  std::size_t row_bytes() const { return row_size(map->extents()) * sizeof(T); }
  bool load(slot& to, const batch_rows& r, const batch_streams& s) {
    if (r.first >= map->extents()[0]) return false;
    const extents<Rank> e = rows_of(map->extents(), r.count);
    const std::size_t n = e.count();
    auto view = to.make(e, s.on);
    if (n == 0) return true;
    if (to.read.size() < n) {
      to.read = {};  // first: there may be no room for both
      to.read = host_array<T, 1>(extents<1>(n), s.on);
    }
    // Blocks until the upload of the previous piece in this buffer is complete.
    const host_elements<T> elements = host_span(to.read, source_line{});
    s.pipeline.read_in_parts(n, sizeof(T), [&](std::size_t first, std::size_t count) {
      map->read(r.first * row_size(e) + first, elements.subspan(first, count));
    });
    const array_view<const T, Rank, memory_kind::host> from(to.read.owner(), elements.data(), e, row_major(e));
    s.pipeline.give([on = s.up, from, view]() mutable { copy(on, from, view, source_line{}); });
    return true;
  }
  void store(slot&, const batch_rows&, const batch_streams&) {}
};

// Elements of the CPU that the loop writes.
template <class T, std::size_t Rank>
struct results_source {
  using slot = batch_slot<T, Rank>;
  batch_results<T, Rank> to;
  bool stores() const { return true; }
  std::optional<std::size_t> rows() const { return to.extents[0]; }
  std::size_t row_bytes() const { return row_size(to.extents) * sizeof(T); }
  std::span<T> part(const batch_rows& r) const {
    const std::size_t row = row_size(to.extents);
    return {to.data + r.first * row, r.count * row};
  }
  bool load(slot& in, const batch_rows& r, const batch_streams& s) {
    if (r.first >= to.extents[0]) return false;
    auto view = in.make(rows_of(to.extents, r.count), s.on);
    if (to.upload) s.upload(std::span<const T>(part(r)), view);
    return true;
  }
  void store(slot& from, const batch_rows& r, const batch_streams& s) {
    download(&s.down, from.view(), part(r), source_line{});
  }
};

// Arrays and views of ferry, of any kind.
template <class View>
struct array_source {
  using T = typename View::value_type;
  static constexpr std::size_t rank = View::rank;
  static_assert(rank > 0, "batches: an array of rank 0 has no pieces");
  using slot = batch_slot<T, rank>;
  View all;
  access_mode mode = access_mode::in;
  bool stores() const { return mode != access_mode::in; }
  std::optional<std::size_t> rows() const { return all.extent(0); }
  std::size_t row_bytes() const { return row_size(all.extents()) * sizeof(T); }
  auto part(const batch_rows& r) { return all.slice(slice{r.first, r.first + r.count}); }
  bool load(slot& to, const batch_rows& r, const batch_streams& s) {
    if (r.first >= all.extent(0)) return false;
    auto view = to.make(rows_of(all.extents(), r.count), s.on);
    if (mode == access_mode::out) return true;
    const auto from = std::as_const(all).slice(slice{r.first, r.first + r.count});
    s.pipeline.give([on = s.up, from, view]() mutable { copy(on, from, view, source_line{}); });
    return true;
  }
  void store(slot& from, const batch_rows& r, const batch_streams& s) {
    if constexpr (!std::is_const_v<typename View::element_type>) copy(s.down, from.view(), part(r), source_line{});
  }
};

template <class Function>
struct generator_source {
  using made = std::invoke_result_t<Function&>;
  static_assert(
      requires(made m) { m.has_value(), std::ranges::data(*m), std::ranges::size(*m); },
      "batches: a generator returns a std::optional<std::vector<T>>, empty at the end");
  using T = std::ranges::range_value_t<typename made::value_type>;
  using slot = batch_slot<T, 1>;
  Function make;
  bool stores() const { return false; }
  std::optional<std::size_t> rows() const { return {}; }
  std::size_t row_bytes() const { return sizeof(T); }
  bool load(slot& to, const batch_rows&, const batch_streams& s) {
    const auto piece = std::make_shared<const made>(make());
    if (!*piece) return false;
    auto view = to.make(extents<1>(std::ranges::size(**piece)), s.on);
    const std::span<const T> elements(std::ranges::data(**piece), std::ranges::size(**piece));
    // Only a vector certainly owns its elements. The next call may overwrite those of a span, so that they are read
    // first.
    if constexpr (std::is_same_v<typename made::value_type, std::vector<std::remove_const_t<T>>>)
      s.upload(elements, view, piece);
    else
      detail::upload(&s.up, elements, view, source_line{});
    return true;
  }
  void store(slot&, const batch_rows&, const batch_streams&) {}
};

// Several sources whose pieces are processed together.
template <class... Sources>
struct tuple_source {
  struct slot {
    std::tuple<typename Sources::slot...> each;
    auto view() const {
      return std::apply([](const auto&... s) { return std::tuple(s.view()...); }, each);
    }
  };
  std::tuple<Sources...> each;
  bool stores() const {
    return std::apply([](const auto&... s) { return (s.stores() || ...); }, each);
  }
  std::size_t row_bytes() const {
    return std::apply([](const auto&... s) { return (s.row_bytes() + ...); }, each);
  }
  // Throws invalid_argument if two sources have different numbers of rows.
  std::optional<std::size_t> rows() const {
    std::optional<std::size_t> all;
    std::apply([&](const auto&... s) { ((all = joined_rows(all, s.rows())), ...); }, each);
    return all;
  }
  bool load(slot& to, const batch_rows& r, const batch_streams& s) {
    std::size_t loaded = 0;
    for_each(to, [&](auto& source, auto& part) { loaded += source.load(part, r, s) ? 1U : 0U; });
    if (loaded != 0 && loaded != sizeof...(Sources))
      throw invalid_argument(
          concat("batches: of ", sizeof...(Sources), " sources ", sizeof...(Sources) - loaded,
                 " ended before the others: let generators give as many pieces as the other sources have"));
    return loaded != 0;
  }
  void store(slot& from, const batch_rows& r, const batch_streams& s) {
    for_each(from, [&](auto& source, auto& part) {
      if (source.stores()) source.store(part, r, s);
    });
  }

 private:
  template <class F>
  void for_each(slot& parts, F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::get<I>(each), std::get<I>(parts.each)), ...); }
    (std::index_sequence_for<Sources...>());
  }
};

template <class M>
auto source_of_eigen(const M& m) {
  const auto e = extents_of_eigen(m);
  return memory_batch<typename M::Scalar, std::remove_cvref_t<decltype(e)>::rank>{m.data(), e};
}

// ferry::out(array) and the like, with elements of type Element, T or its form without const. The kind of the view does
// not matter: copies take the memory kind of the allocation.
template <class Element, class T, std::size_t Rank>
auto source_of_argument(const array_argument<T, Rank>& a) {
  extents<Rank> e;
  strides<Rank> s{};
  for (std::size_t d = 0; d < Rank; ++d) e[d] = a.span.extent(d), s[d] = a.span.stride(d);
  using view = array_view<Element, Rank, memory_kind::host>;
  return array_source<view>{view(*a.owner, const_cast<Element*>(a.span.data()), e, s), a.mode};
}

template <class X>
concept plain_elements =
    std::ranges::contiguous_range<X> && std::is_trivially_copyable_v<std::ranges::range_value_t<X>>;

template <class Function>
auto source_of_generator(Function make) {
  using made = std::invoke_result_t<Function&>;
  if constexpr (requires(made m) {
                  requires is_whole_piece<typename made::value_type>;
                  requires !plain_elements<decltype(*m)>;
                })
    return source_of_pieces(std::move(make));
  else
    return generator_source<Function>{std::move(make)};
}

template <class X>
inline constexpr bool has_whole_pieces = false;
template <std::ranges::random_access_range X>
inline constexpr bool has_whole_pieces<X> = is_whole_piece<std::ranges::range_value_t<X>>;

// Returns the source for an argument of batches(). It refers to the elements and never copies them.
template <class A>
auto source_of(A&& a) {
  using X = std::remove_cvref_t<A>;
  constexpr bool lasting = std::is_lvalue_reference_v<A> || std::ranges::borrowed_range<X>;
  if constexpr (requires { typename X::slot; }) {
    return X(std::forward<A>(a));
  } else if constexpr (array_like<X>) {
    const typename X::const_view all(a.owner(), a.unsynchronized_data(), a.extents(), a.strides());
    return array_source<typename X::const_view>{all};
  } else if constexpr (is_struct_argument<X>) {
    return source_of_struct(a);
  } else if constexpr (lists_members<X>) {
    static_assert(std::is_lvalue_reference_v<A>, "batches: the struct ends before the loop does: give it a name first");
    return source_of_struct(in(a));
  } else if constexpr (is_array_argument<X>) {
    return source_of_argument<std::remove_pointer_t<decltype(a.span.data())>>(a);
  } else if constexpr (eigen_like<X>) {
    static_assert(std::is_lvalue_reference_v<A>, "batches: the matrix ends before the loop does: give it a name first");
    return source_of_eigen(a);
  } else if constexpr (requires { a.need_whole(), a.elements(); }) {
    static_assert(std::is_lvalue_reference_v<A>, "batches: the map ends before the loop does: give it a name first");
    using T = std::remove_const_t<typename decltype(a.elements())::element_type>;
    return file_source<T, std::remove_cvref_t<decltype(a.extents())>::rank>{&a};
  } else if constexpr (requires { a.make; }) {
    return source_of_generator(std::forward<A>(a).make);
  } else if constexpr (requires { a.upload, a.extents; }) {
    using T = std::remove_pointer_t<decltype(a.data)>;
    return results_source<T, std::remove_cvref_t<decltype(a.extents)>::rank>{a};
  } else if constexpr (requires { std::tuple_size<X>::value; } && !std::ranges::range<X>) {
    return std::apply(
        [](auto&&... parts) {
          return tuple_source<decltype(source_of(std::forward<decltype(parts)>(parts)))...>{
              {source_of(std::forward<decltype(parts)>(parts))...}};
        },
        std::forward<A>(a));
  } else if constexpr (has_whole_pieces<X>) {
    static_assert(lasting, "batches: the elements end before the loop does: give them a name first");
    return source_of_list(a);
  } else {
    static_assert(
        std::ranges::contiguous_range<X>,
        "batches: a source is a contiguous range (vector, span), an array of ferry, a struct of arrays that lists its "
        "members, an Eigen object, a ferry::npy_map, ferry::generate(function), ferry::out or inout of a range, a "
        "std::tuple of those, or a list of pieces that adapt() uploads");
    static_assert(lasting, "batches: the elements end before the loop does: give them a name first");
    using T = std::ranges::range_value_t<X>;
    static_assert(std::is_trivially_copyable_v<T>, "batches: elements must be trivially copyable");
    return memory_batch<T, 1>{std::ranges::data(a), extents<1>(std::ranges::size(a))};
  }
}

}  // namespace detail

/// @}

}  // namespace ferry::inline FERRY_ABI
