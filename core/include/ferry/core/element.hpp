/// @file
/// Views of single elements, which work of devices writes in stream order.
#pragma once
#include "ferry/core/reduce.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// One element of an array, as an array of rank 0: what element() returns. It keeps the array's memory alive. Its
/// assignments write the element, ordered on the calling thread's stream of the array's device. They do not block.
/// @tparam T type of the element; const if it is read-only
/// @tparam Kind kind of memory
template <class T, memory_kind Kind>
class element_view : public array_view<T, 0, Kind> {
 public:
  /// Used by element().
  element_view(const array_view<T, 0, Kind>& element, source_line at) : array_view<T, 0, Kind>(element), at_(at) {}
  element_view(const element_view&) = default;
  /// Sets the element to the result of a reduction, to a scalar, an expression or an element, or to a number.
  /// @throws use_after_free if an array was freed
  template <class E>
  requires(detail::kind_of_operand<E>.is_operand()) element_view& operator=(E&& e) {
    if constexpr (detail::is_reduction<std::remove_cvref_t<E>>)
      detail::assign_reduction(nullptr, *this, e, at_);
    else
      detail::assign_one(nullptr, *this, std::forward<E>(e), at_);
    return *this;
  }
  /// Copies another element.
  element_view& operator=(const element_view& o) {
    detail::assign_one(nullptr, *this, o, at_);
    return *this;
  }
  /// Source line of the call of element().
  source_line line() const { return at_; }

 private:
  source_line at_;
};

namespace detail {

template <class Element, class View, class... Index>
auto element_at(const View& v, source_line at, Index... index) {
  std::ptrdiff_t offset = 0;
  std::size_t d = 0;
  const auto step = [&](std::size_t i) {
    if (i >= v.extent(d)) throw_out_of_range(i, v.extent(d), d, v.look(), at);
    offset += static_cast<std::ptrdiff_t>(i) * v.strides()[d++];
  };
  (step(index), ...);
  const array_view<Element, 0, View::kind> element(v.owner(), v.unsynchronized_data() + offset, {}, {});
  return element_view<Element, View::kind>(element, at);
}

}  // namespace detail

/// One element as an array of rank 0, without an access: `element(y, 3) = sum(x)`, `out(element(y, i, j))`.
/// @param v array or view
/// @param first first index, with the caller's source line
/// @param index further indices, one for each dimension
/// @throws invalid_argument if an index is out of range
template <class T, std::size_t Rank, memory_kind Kind, class... Index>
requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...))  //
    element_view<T, Kind> element(array_view<T, Rank, Kind>& v, detail::located_index first, Index... index) {
  return detail::element_at<T>(v, first.at, first.value, static_cast<std::size_t>(index)...);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind, class... Index>
requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...))  //
    element_view<T, Kind> element(array_view<T, Rank, Kind>&& v, detail::located_index first, Index... index) {
  return detail::element_at<T>(v, first.at, first.value, static_cast<std::size_t>(index)...);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind, class... Index>
requires(sizeof...(Index) + 1 == Rank && (std::is_convertible_v<Index, std::size_t> && ...))  //
    element_view<const T, Kind> element(const array_view<T, Rank, Kind>& v, detail::located_index first,
                                        Index... index) {
  return detail::element_at<const T>(v, first.at, first.value, static_cast<std::size_t>(index)...);
}
/// The value of an array of rank 0, such as a scalar's as_array().
template <class T, memory_kind Kind>
element_view<T, Kind> element(array_view<T, 0, Kind>& v, source_line at = source_line::here()) {
  return {v, at};
}

/// @}

}  // namespace ferry::inline FERRY_ABI
