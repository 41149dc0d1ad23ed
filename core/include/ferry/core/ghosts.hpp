/// @file
/// Ghost cells: a layer of cells around the interior of an array, addressed by the sides of the array.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/support/listed_integer.hpp"
#include "ferry/core/parallel_for.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// The two ends of an axis.
enum class side_end : std::uint8_t { low, high };
/// One side of an array: an end of an axis.
struct side {
  std::ptrdiff_t axis;
  side_end end;
  /// Returns the side before the first cell along an axis.
  static constexpr side low(std::integral auto axis) { return {static_cast<std::ptrdiff_t>(axis), side_end::low}; }
  /// Returns the side after the last cell along an axis.
  static constexpr side high(std::integral auto axis) { return {static_cast<std::ptrdiff_t>(axis), side_end::high}; }
  bool operator==(const side&) const = default;
};
/// The type of all_sides.
struct every_side {};
/// All sides of an array that have ghost cells.
inline constexpr every_side all_sides{};

/// One side, several sides in braces, or all_sides.
struct side_list {
  std::vector<side> sides;
  bool all = false;
  side_list(side one) : sides{one} {}
  side_list(std::initializer_list<side> some) : sides(some) {}
  side_list(every_side) : all(true) {}
};
/// Widths of the layer of ghost cells: one number for all axes, or one for each axis in braces.
struct ghost_widths {
  std::vector<std::ptrdiff_t> widths;
  bool one = true;
  ghost_widths(std::integral auto width) : widths{static_cast<std::ptrdiff_t>(width)} {}
  ghost_widths(std::initializer_list<detail::listed_integer> each) : widths(each.begin(), each.end()), one(false) {}
};

namespace detail {

// Returns one width for each axis. `array` names the array in errors. Throws invalid_argument.
std::vector<std::size_t> checked_ghost_widths(const ghost_widths& w, std::size_t rank, const array_look& array);
// Returns the sides in the order of their axes, low before high, each once. all_sides are those of the axes with a
// width above 0. Throws invalid_argument for an axis that does not exist or has no ghost cells, and for all_sides if no
// axis has any.
std::vector<side> checked_sides(const side_list& sides, std::span<const std::size_t> widths, const array_look& array);
// Throws invalid_argument if no cell is left between the ghost cells at the two ends of an axis.
void need_interior(std::span<const std::size_t> widths, std::span<const std::size_t> extents, const array_look& array);
// "the ghost cells of array 'u' at the low side of axis 0".
std::string ghosts_text(const side& s, const array_look& array);

// The ghost cells of one side in the memory of an array: the first index along each axis, and the numbers of cells.
template <std::size_t Rank>
struct ghost_slab {
  std::size_t axis;
  side_end end;
  std::array<std::ptrdiff_t, Rank> first;
  extents<Rank> shape;

  box_space_1d space() const requires(Rank == 1) { return {shape[0], at(0)}; }
  box_space_2d space() const requires(Rank == 2) { return {shape[1], shape[0], at(1), at(0)}; }
  box_space_3d space() const requires(Rank == 3) { return {shape[2], shape[1], shape[0], at(2), at(1), at(0)}; }
  auto space() const requires(Rank > 3) {
    from_first<Rank> along;
    for (std::size_t d = 0; d != Rank; ++d) along.first[d] = at(d);
    return outer_joined(shape, along);
  }

 private:
  std::size_t at(std::size_t d) const { return static_cast<std::size_t>(first[d]); }
};

}  // namespace detail

/// The ghost cells of some sides of an array on one device; see ghosts().
template <class T, std::size_t Rank, memory_kind Kind>
class ghost_cells {
  static_assert(Rank > 0, "an array of rank 0 has no sides");

 public:
  /// Used by ghosts().
  ghost_cells(const array_view<T, Rank, Kind>& a, const side_list& sides, const ghost_widths& w, source_line at)
      : array_(a),
        at_(at) {
    const detail::array_look look = a.look();
    const std::vector<std::size_t> widths = detail::checked_ghost_widths(w, Rank, look);
    for (std::size_t d = 0; d != Rank; ++d) widths_[d] = widths[d];
    sides_ = detail::checked_sides(sides, {widths.data(), widths.size()}, look);
    detail::need_interior({widths.data(), widths.size()}, {a.extents().data(), Rank}, look);
  }

  /// Returns the array with its ghost cells.
  const array_view<T, Rank, Kind>& array() const { return array_; }
  /// Returns the sides in the order in which they are processed: axis by axis, low before high.
  const std::vector<side>& sides() const { return sides_; }
  /// Returns the width of the layer along axis d.
  std::size_t width(std::size_t d) const { return widths_[d]; }
  /// Returns the number of cells along axis d that are no ghost cells.
  std::size_t interior(std::size_t d) const { return array_.extent(d) - 2 * widths_[d]; }
  /// Returns the source line of the call of ghosts().
  source_line at() const { return at_; }

  // Returns the cells of a side: between the ghost cells of later axes, with those of earlier ones.
  detail::ghost_slab<Rank> slab(const side& s) const {
    detail::ghost_slab<Rank> b{static_cast<std::size_t>(s.axis), s.end, {}, array_.extents()};
    for (std::size_t d = b.axis + 1; d < Rank; ++d) {
      b.first[d] = static_cast<std::ptrdiff_t>(widths_[d]);
      b.shape[d] = interior(d);
    }
    b.shape[b.axis] = widths_[b.axis];
    if (s.end == side_end::high) b.first[b.axis] = static_cast<std::ptrdiff_t>(array_.extent(b.axis) - widths_[b.axis]);
    return b;
  }

 private:
  array_view<T, Rank, Kind> array_;
  std::array<std::size_t, Rank> widths_{};
  std::vector<side> sides_;
  source_line at_;
};

/// Returns the ghost cells of an array on one device: the `widths` outermost cells at some sides. Every ghost cell
/// belongs to one side. In corners this is the side of the last axis beyond whose ends the cell is. fill() sets them
/// by a boundary condition, parallel_for() by a functor. Refers to the memory of the array.
/// @param a array with n + 2 * width cells along each axis, n of them inside
/// @param sides side::low(axis), side::high(axis), several in braces, or all_sides
/// @param widths of the layer: one for all axes, or {one for each}
/// @param at source line of the call
/// @throws invalid_argument for an axis that does not exist or has no ghost cells, and if no cell remains inside along
///   an axis with ghost cells
template <class T, std::size_t Rank, memory_kind Kind>
ghost_cells<T, Rank, Kind> ghosts(array_view<T, Rank, Kind>& a, const side_list& sides, const ghost_widths& widths,
                                  source_line at = source_line::here()) {
  return {a, sides, widths, at};
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
ghost_cells<T, Rank, Kind> ghosts(array_view<T, Rank, Kind>&& a, const side_list& sides, const ghost_widths& widths,
                                  source_line at = source_line::here()) {
  return {a, sides, widths, at};
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
ghost_cells<const T, Rank, Kind> ghosts(const array_view<T, Rank, Kind>& a, const side_list& sides,
                                        const ghost_widths& widths, source_line at = source_line::here()) {
  return {array_view<const T, Rank, Kind>(a.owner(), a.unsynchronized_data(), a.extents(), a.strides()), sides, widths,
          at};
}

inline namespace FERRY_UNIT {

/// Calls f(index..., arguments...) for every ghost cell of some sides of an array. Indices are those of the array with
/// its ghost cells. One loop for each side, axis by axis: later sides see what earlier ones wrote. Ordered on `s`; see
/// parallel_for over an index space. Pass arrays that f writes as inout(a): it writes a part of them.
/// @param s stream of the loops
/// @param g the cells
/// @param f functor that can run on the device
/// @param arguments arrays and values for f
template <class T, std::size_t Rank, memory_kind Kind, class F, class... Arguments>
void parallel_for(located<stream_ref> s, const ghost_cells<T, Rank, Kind>& g, const F& f, Arguments&&... arguments) {
  using over = decltype(g.slab(side{}).space());
  for (const side& one : g.sides())
    detail::call_for_each(detail::checked<detail::loop_check<over, F, Arguments&...>>(), s, g.slab(one).space(), f,
                          arguments...);
}
/// As above, on the calling thread's stream of the device of the array.
template <class T, std::size_t Rank, memory_kind Kind, class F, class... Arguments>
void parallel_for(const ghost_cells<T, Rank, Kind>& g, const F& f, Arguments&&... arguments) {
  parallel_for(located<stream_ref>(default_stream(g.array().device()), g.at()), g, f,
               std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
