// Sorting and its relatives over dense memory: what backends get.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class sorting_kind : std::uint8_t {
  sort,       // values = the elements of each row in order; `values` may be `from`
  partition,  // as sort, but only the element at `kept` must be in its place, with those before it before it
  order,      // positions = where the first `kept` elements of each row come from, equal ones in the order of their
              // positions; `values`, unless null, are these elements
  unique,     // values = the different elements of one row in order, with -0 as 0 and one NaN; `found` is their number;
              // `counts` and `inverse` unless null
  search,     // positions = where each of `other` belongs in one row that is in order
  rank,   // positions = number of elements of one row, which is in order, with keys (sort_key) below each of `other`,
          // unsigned integers with the size of the elements
  select  // positions = where the row `from`, of bool, is true; `found` is their number; `values`, unless null, are
          // the elements of `other` there, of type `type`
};

// Rows of `length` elements, one after the other in memory. All memory is dense. No row is empty, and there is at least
// one.
struct sorting_task {
  sorting_kind kind = sorting_kind::sort;
  scalar_type type = scalar_type::none;  // has an order; of select: any
  bool is_descending = false;            // of sort, partition, order and rank; NaN is last in both directions
  bool is_after_equal = false;           // of search: behind equal elements, else before them
  bool is_merged = false;                // of rank: the keys are those of `order`, else those of `sort`
  std::size_t rows = 1, length = 0;
  // order: number of results of each row. unique and select: results beyond this number are not written. partition: an
  // index.
  std::size_t kept = 0;
  std::size_t other_count = 0;       // of search and rank: number of elements of `other`
  const std::byte* from = nullptr;   // the elements
  const std::byte* other = nullptr;  // of search, rank and select
  std::byte* values = nullptr;       // of type `type`
  std::byte* positions = nullptr;    // int64
  std::byte* counts = nullptr;       // int64: how often each of `values` occurs
  std::byte* inverse = nullptr;      // int64: position in `values` of each element
  std::byte* found = nullptr;        // uint64
  std::byte* scratch = nullptr;      // memory of the device, of backend::sorting_scratch()

  std::size_t count() const { return rows * length; }
  // A copy with other addresses: move(p) for the address p.
  template <class Move>
  sorting_task moved(const Move& move) const {
    sorting_task there = *this;
    const auto change = [&](auto*& p) {
      if (p) p = move(p);
    };
    change(there.from), change(there.other), change(there.values), change(there.positions), change(there.counts);
    change(there.inverse), change(there.found), change(there.scratch);
    return there;
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
