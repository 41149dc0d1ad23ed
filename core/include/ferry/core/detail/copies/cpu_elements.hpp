// Elements in host memory that ferry does not own, as one side of a copy. Accepts anything that converts to std::span,
// in row-major order, and mdspans, which may be strided.
#pragma once
#include <span>
#include <type_traits>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/support/cpu_buffer.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"
#include "ferry/core/mdspan.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class T, std::size_t Rank, memory_kind Kind>
void take_array(const array_view<T, Rank, Kind>&);
template <class A>
concept any_array = requires(const std::remove_cvref_t<A>& a) {
  take_array(a);
};

template <class M>
inline constexpr bool is_mdspan = false;
template <class T, std::size_t Rank>
inline constexpr bool is_mdspan<mdspan<T, Rank>> = true;

template <class R>
concept contiguous_elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

// Vectors, spans, C arrays and mdspans. Excludes ferry's arrays, and std::vector<bool>, which has no addressable
// elements.
template <class R>
concept cpu_elements =
    !detail::any_array<R> && (detail::is_mdspan<std::remove_cvref_t<R>> || detail::contiguous_elements<R>);
// Also std::vector<bool>; copies pack and unpack its elements.
template <class R>
concept cpu_values = cpu_elements<R> || vector_of_bool<R>;

// Such elements: address, and whether they have a shape of their own. Without one, the rank is 1.
template <class T, std::size_t Rank, bool Shaped>
struct cpu_side {
  static constexpr bool is_shaped = Shaped;
  static constexpr std::size_t rank = Rank;
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  T* data = nullptr;
  extents<Rank> shape;
  strides<Rank> steps;
};

template <class T, std::size_t Rank>
cpu_side<T, Rank, true> cpu_side_of(const mdspan<T, Rank>& m) {
  cpu_side<T, Rank, true> side;
  side.data = m.data();
  for (std::size_t d = 0; d != Rank; ++d) side.shape[d] = m.extent(d), side.steps[d] = m.stride(d);
  return side;
}
template <contiguous_elements R>
auto cpu_side_of(R&& r) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<R>>;
  return cpu_side<T, 1, false>{std::ranges::data(r), extents<1>(std::ranges::size(r)), {1}};
}

}  // namespace ferry::inline FERRY_ABI::detail
