/// @file
/// Boundary conditions: values of ghost cells, as copies, mirrors and fills that need no kernels of the program.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "ferry/core/expression.hpp"
#include "ferry/core/fill.hpp"
#include "ferry/core/ghosts.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// Ghost cells have one value (Dirichlet).
template <class T>
struct fixed_value {
  T value;
};
template <class T>
fixed_value(T) -> fixed_value<T>;
/// Ghost cells are copies of the nearest cell inside (Neumann, outflow).
struct zero_gradient {};
/// What a mirrored cell is multiplied by: 1, or -1.
enum class parity : std::uint8_t { even, odd };
/// Ghost cells mirror the cells inside, at the face between the two: the first ghost cell equals the first cell inside.
/// parity::odd changes their signs, as for the component of a velocity that is normal to the wall.
struct reflecting {
  parity sign = parity::even;
};
/// Ghost cells are copies of the cells inside at the opposite side.
struct periodic {};

namespace detail {

template <class C>
inline constexpr bool is_fixed_value = false;
template <class T>
inline constexpr bool is_fixed_value<fixed_value<T>> = true;
template <class C>
inline constexpr bool is_boundary_condition = is_fixed_value<C> || std::is_same_v<C, zero_gradient> ||
                                              std::is_same_v<C, reflecting> || std::is_same_v<C, periodic>;

// False for a value that does not convert to an element.
template <class T, class C>
inline constexpr bool has_value_for = true;
template <class T, class V>
inline constexpr bool has_value_for<T, fixed_value<V>> = requires(const V& v) {
  static_cast<T>(v);
};
template <class T, class C>
inline constexpr bool can_fill = !std::is_const_v<T> && is_boundary_condition<C> && has_value_for<T, C>;

// Elements whose sign an expression can change.
template <class T>
inline constexpr bool has_sign = scalar_type_of<T>() != scalar_type::none && !std::is_unsigned_v<T>;

// The cells inside that ghost cells copy, along the axis of their side: the first index, and the distance between them.
struct ghost_source {
  std::ptrdiff_t first, step;
};
// width: of the layer. inside: cells along the axis between the two layers.
inline ghost_source source_of(zero_gradient, side_end end, std::ptrdiff_t width, std::ptrdiff_t inside) {
  return {end == side_end::low ? width : width + inside - 1, 0};
}
inline ghost_source source_of(reflecting, side_end end, std::ptrdiff_t width, std::ptrdiff_t inside) {
  return {end == side_end::low ? 2 * width - 1 : width + inside - 1, -1};
}
inline ghost_source source_of(periodic, side_end end, std::ptrdiff_t width, std::ptrdiff_t inside) {
  return {end == side_end::low ? inside : width, 1};
}

// Throws invalid_argument if fewer cells are inside than ghost cells mirror or repeat.
void need_cells_inside(const side& s, std::size_t width, std::size_t inside, const array_look& array);
[[noreturn]] void throw_no_sign(const array_look& array, const std::string& type);

// Returns a view of some cells of an array, and of each `step`-th along an axis.
template <class T, std::size_t Rank, memory_kind Kind>
array_view<T, Rank, Kind> cells_at(const array_view<T, Rank, Kind>& all, const std::array<std::ptrdiff_t, Rank>& first,
                                   const extents<Rank>& shape, std::size_t axis, std::ptrdiff_t step) {
  T* data = all.unsynchronized_data();
  for (std::size_t d = 0; d != Rank; ++d) data += first[d] * all.strides()[d];
  auto s = all.strides();
  s[axis] *= step;
  return {all.owner(), data, shape, s};
}
template <class T, std::size_t Rank, memory_kind Kind>
array_view<T, Rank, Kind> cells_of(const array_view<T, Rank, Kind>& all, const ghost_slab<Rank>& b) {
  return cells_at(all, b.first, b.shape, b.axis, 1);
}
// Returns the cells that the ghost cells of a side copy, in an array of the same layout.
template <class T, std::size_t Rank, memory_kind Kind>
array_view<T, Rank, Kind> source_of_cells(const array_view<T, Rank, Kind>& all, ghost_slab<Rank> b,
                                          const ghost_source& from) {
  b.first[b.axis] = from.first;
  return cells_at(all, b.first, b.shape, b.axis, from.step);
}

// Sets the ghost cells of one side from cells of the same memory, in one submission. Elements that expressions do not
// have are copied through scratch memory, where the two interleave.
template <class T, std::size_t Rank, memory_kind Kind, class C>
void set_ghosts(stream_ref s, const array_view<T, Rank, Kind>& all, const ghost_slab<Rank>& b, std::ptrdiff_t inside,
                const C& condition, source_line at) {
  array_view<T, Rank, Kind> to = cells_of(all, b);
  if (to.empty()) return;
  const ghost_source from = source_of(condition, b.end, static_cast<std::ptrdiff_t>(b.shape[b.axis]), inside);
  if constexpr (scalar_type_of<T>() == scalar_type::none) {
    copy(s, source_of_cells(all, b, from), to, at);
  } else {
    ghost_slab<Rank> read = b;
    if (from.step == 0) read.shape[b.axis] = 1;  // stretched by the expression
    const array_view<T, Rank, Kind> cells = source_of_cells(all, read, from);
    if constexpr (std::is_same_v<C, reflecting> && has_sign<T>)
      if (condition.sign == parity::odd) return assign({s, at}, to, -lazy(cells));
    assign({s, at}, to, lazy(cells));
  }
}
template <class T, std::size_t Rank, memory_kind Kind, class V>
void set_ghosts(stream_ref s, const array_view<T, Rank, Kind>& all, const ghost_slab<Rank>& b, std::ptrdiff_t,
                const fixed_value<V>& condition, source_line at) {
  if (b.shape.count() != 0) fill(s, cells_of(all, b), static_cast<T>(condition.value), at);
}

template <class T, class C>
constexpr void need_condition() {
  static_assert(!std::is_const_v<T>, "fill(ghosts(a, side), condition) writes to the array, and it is const");
  static_assert(is_boundary_condition<C>,
                "fill(ghosts(a, side), condition): the condition is fixed_value{x}, zero_gradient{}, reflecting{} or "
                "periodic{}; for others, loop over the ghost cells by parallel_for(ghosts(a, side), functor, ...)");
  static_assert(has_value_for<T, C>,
                "fill(ghosts(a, side), fixed_value{x}): x does not convert to an element of the array");
}
template <class T, class C>
void need_sign(const C& condition, const array_look& array) {
  if constexpr (std::is_same_v<C, reflecting> && !has_sign<T>)
    if (condition.sign == parity::odd) throw_no_sign(array, std::string(type_name<T>()));
}

}  // namespace detail

/// Sets ghost cells by a boundary condition: one submission for each side, axis by axis. A later axis copies ghost
/// cells of earlier axes, so that corners are right if all sides are set, in one call or in calls in the order of the
/// axes. Ordered on `s`. Does not block, except where fill() and copy() do.
/// @param s stream of the work
/// @param g the cells, see ghosts()
/// @param condition fixed_value{x}, zero_gradient{}, reflecting{} or periodic{}
/// @throws invalid_argument if reflecting or periodic cells are more than those inside, and for an odd parity of
///   elements without a sign
template <class T, std::size_t Rank, memory_kind Kind, class C>
void fill(stream_ref s, const ghost_cells<T, Rank, Kind>& g, const C& condition) {
  detail::need_condition<T, C>();
  if constexpr (detail::can_fill<T, C>) {
    const detail::array_look look = g.array().look();
    detail::need_sign<T>(condition, look);
    if constexpr (std::is_same_v<C, reflecting> || std::is_same_v<C, periodic>)
      for (const side& one : g.sides()) {
        const auto d = static_cast<std::size_t>(one.axis);
        detail::need_cells_inside(one, g.width(d), g.interior(d), look);
      }
    for (const side& one : g.sides())
      detail::set_ghosts(s, g.array(), g.slab(one),
                         static_cast<std::ptrdiff_t>(g.interior(static_cast<std::size_t>(one.axis))), condition,
                         g.at());
  }
}
/// As above, on the calling thread's stream of the device of the array.
template <class T, std::size_t Rank, memory_kind Kind, class C>
void fill(const ghost_cells<T, Rank, Kind>& g, const C& condition) {
  fill(default_stream(g.array().device()), g, condition);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
