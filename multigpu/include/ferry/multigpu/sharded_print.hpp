/// @file
/// Cells of sharded arrays as text, in NumPy's layout.
#pragma once
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/explain.hpp"
#include "ferry/core/print.hpp"
#include "ferry/multigpu/detail/printing/sharded_text.hpp"
#include "ferry/multigpu/sharded_expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {

// Calls f(sharded_operand) for an array, or for a new one with the elements of an expression.
template <class A, class F>
auto with_cells_of(const A& a, F f) {
  constexpr operand_kind kind = kind_of_operand<A>;
  need_element_type<A>();
  if constexpr (kind.is_array()) {
    return f(*a.team_operand());
  } else {
    const auto elements = lazy(a);
    auto now = new_shards<scalar_of<kind.type>, kind.rank, memory_kind::device>(elements);
    now = elements;
    return f(*now.team_operand());
  }
}

}  // namespace detail

/// The cells of a sharded array as text: that of an array of one device with the same elements. Blocks until they are
/// copied to the CPU. Only cells that are shown are copied. All processes of the team must call it, with the same
/// options; each gets the text.
/// @param a sharded array, or expression of some, which is computed first
/// @param how width, precision, abbreviation
/// @throws process_error if another process fails
template <class A>
requires detail::sharded_elements<A> std::string to_text(const A& a, const print_options& how = {}) {
  return detail::with_cells_of(a,
                               [&](const detail::sharded_operand& cells) { return detail::text_of_cells(cells, how); });
}
/// Writes to_text() and a line feed to the standard output, in the process of member 0 only. Blocks as to_text().
template <class A>
requires detail::sharded_elements<A>
void print(const A& a, const print_options& how = {}) {
  detail::with_cells_of(a, [&](const detail::sharded_operand& cells) {
    detail::print_in_first_process(cells.team(), detail::text_of_cells(cells, how));
  });
}

/// Describes an array: its distribution, and explain() of each local shard. Never blocks.
template <class T, std::size_t Rank, memory_kind Kind>
std::string explain(const sharded_array<T, Rank, Kind>& a) {
  std::string text = detail::array_text(a.look()) + " along " + detail::text_of(a.layout().grid(), Rank);
  const std::size_t first = a.team().first_local();
  for (std::size_t m = first; m < first + a.team().local_size(); ++m)
    text += detail::concat("\nmember ", m, ": ", explain(a.shard_with_halo(m)));
  return text;
}

/// For streams: `std::cout << printed(u)`. Blocks as to_text(); each process that writes it writes all cells.
template <class A>
requires detail::sharded_elements<A> printed_elements printed(const A& a, const print_options& how = {}) {
  return printed_elements(to_text(a, how));
}

/// @}

}  // namespace ferry::inline FERRY_ABI
