// Calls of copy(): the checks of types and shapes, and their submission.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <type_traits>

#include "ferry/core/detail/copies/copy_side.hpp"
#include "ferry/core/detail/copies/cpu_elements.hpp"
#include "ferry/core/detail/support/cpu_buffer.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Name of one side of a copy for messages: an array, or elements in host memory.
template <class Side>
std::string side_text(const Side& side) {
  if constexpr (requires { side.look(); })
    return array_text(side.look());
  else if constexpr (requires { side.shape; })
    return Side::is_shaped ? "memory of the CPU of shape " + side.shape.text() : side.shape.text() + " elements";
  else
    return "shape " + side.text();
}
[[noreturn]] void throw_shapes_differ(const std::string& from, const std::string& to, source_line at);

// from, to: arrays, elements in host memory, or extents.
template <std::size_t Rank, class From, class To>
void need_same_shape(const extents<Rank>& from_shape, const extents<Rank>& to_shape, const From& from, const To& to,
                     source_line at) {
  if (!(from_shape == to_shape)) throw_shapes_differ(side_text(from), side_text(to), at);
}
template <std::size_t Rank>
void need_same_shape(const extents<Rank>& from, const extents<Rank>& to, source_line at = {}) {
  need_same_shape(from, to, from, to, at);
}
[[noreturn]] void throw_counts_differ(const std::string& from, const std::string& to, source_line at);

// Compile-time checks of the element types of a copy.
template <class From, class To>
constexpr void need_element_types() {
  using T = typename To::value_type;
  using U = typename From::value_type;
  static_assert(!std::is_const_v<typename To::element_type>, "copy(from, to): the destination is read-only");
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<U>,
                "copy(from, to): the elements are not trivially copyable");
  static_assert(
      std::is_same_v<T, U> || (number_type_of<T>() != number_type::none && number_type_of<U>() != number_type::none),
      "copy(from, to): the element types differ, and they are not both numbers");
}

// Checks that the destination outlives the copy: an lvalue, or a type that only refers to its elements (std::span,
// mdspan).
template <class To>
constexpr void need_lasting_destination() {
  static_assert(std::is_lvalue_reference_v<To> || is_mdspan<std::remove_cvref_t<To>> || std::ranges::borrowed_range<To>,
                "copy(from, to): the destination is a temporary that owns its elements, and destroys them. Pass a "
                "variable, or a std::span or mdspan of memory that outlives the copy");
}

// Copies elements of this shape, with the element types of From and To.
template <class To, class From, std::size_t Rank>
void copy_typed(const stream_ref* s, const copy_side& to, const copy_side& from, const extents<Rank>& e) {
  using T = typename To::value_type;
  using U = typename From::value_type;
  if (e.count() == 0) return;
  if constexpr (std::is_same_v<T, U>)
    copy_elements(s, to, from, shape_of<U>(e));
  else
    copy_elements(s, to, from, shape_of<U>(e), number_type_of<T>(), number_type_of<U>());
}

template <class To, class From>
void copy_views(const stream_ref* s, const From& from, To& to, source_line at) {
  need_element_types<From, To>();
  static_assert(To::rank == From::rank, "copy(from, to): the ranks differ");
  need_same_shape(from.extents(), to.extents(), from, to, at);
  copy_typed<To, From>(s, side_of(to, at), side_of(from, at), from.extents());
}

// Host memory as a side of a copy of this shape: its own strides if it has them, else row-major order.
template <class Side, std::size_t Rank>
copy_side in_shape(const Side& side, const extents<Rank>& e) {
  if constexpr (Side::is_shaped) {
    static_assert(Side::rank == Rank, "copy(from, to): the ranks differ");
    return pageable_side(side.data, e, side.steps);
  } else {
    return pageable_side(side.data, e);
  }
}

template <class From, class To>
void upload(const stream_ref* s, From&& memory, To& to, source_line at) {
  const auto from = cpu_side_of(memory);
  need_element_types<std::remove_const_t<decltype(from)>, To>();
  if constexpr (from.is_shaped)
    need_same_shape(from.shape, to.extents(), from, to, at);
  else if (from.shape[0] != to.size())
    throw_counts_differ(side_text(from), side_text(to), at);
  copy_typed<To, decltype(from)>(s, side_of(to, at), in_shape(from, to.extents()), to.extents());
}

template <class From, class To>
void download(const stream_ref* s, const From& from, To&& memory, source_line at) {
  need_lasting_destination<To>();
  const auto to = cpu_side_of(memory);
  need_element_types<From, std::remove_const_t<decltype(to)>>();
  if constexpr (to.is_shaped)
    need_same_shape(from.extents(), to.shape, from, to, at);
  else if (to.shape[0] != from.size())
    throw_counts_differ(side_text(from), side_text(to), at);
  copy_typed<decltype(to), From>(s, in_shape(to, from.extents()), side_of(from, at), from.extents());
}

template <vector_of_bool From, class To>
void upload(const stream_ref* s, From&& memory, To& to, source_line at) {
  upload(s, std::span<const bool>(cpu_buffer<bool>(memory).span()), to, at);
}
template <class From, vector_of_bool To>
void download(const stream_ref* s, const From& from, To&& memory, source_line at) {
  need_lasting_destination<To>();
  static_assert(!std::is_const_v<std::remove_reference_t<To>>, "copy(from, to): the destination is read-only");
  const cpu_buffer<bool> all(memory.size());
  download(s, from, all.span(), at);
  std::copy(all.data(), all.data() + all.size(), memory.begin());
}

template <class From, class To>
void copy_on_the_cpu(const stream_ref* s, From&& source, To&& target, source_line at) {
  need_lasting_destination<To>();
  const auto from = cpu_side_of(source);
  const auto to = cpu_side_of(target);
  using from_side = std::remove_const_t<decltype(from)>;
  using to_side = std::remove_const_t<decltype(to)>;
  need_element_types<from_side, to_side>();
  const auto enqueue = [&](const auto& e) { copy_typed<to_side, from_side>(s, in_shape(to, e), in_shape(from, e), e); };
  if constexpr (from_side::is_shaped && to_side::is_shaped) {
    static_assert(from_side::rank == to_side::rank, "copy(from, to): the ranks differ");
    need_same_shape(from.shape, to.shape, from, to, at);
  } else if (from.shape.count() != to.shape.count()) {
    throw_counts_differ(side_text(from), side_text(to), at);
  }
  if constexpr (from_side::is_shaped)
    enqueue(from.shape);
  else
    enqueue(to.shape);
}

}  // namespace ferry::inline FERRY_ABI::detail
