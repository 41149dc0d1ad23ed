// Where sorted shards are cut, so that each member receives exactly the elements of its place in the order of all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Elements of all members, of which each member has its part in order.
struct sorted_parts {
  scalar_type type = scalar_type::none;
  bool is_descending = false, is_merged = false;  // as of sort_key
  std::size_t count = 0;                          // of all members
  std::vector<program_operand> parts;             // dense, of each local member
};

// Histogram sort's splitting (Kale and Krishnan, A comparison based parallel sorting algorithm, ICPP 1993), refined
// until it is exact: in each round all members count their elements below 255 probes for each border, which fixes eight
// bits of the key there. Of elements that equal the key, those of the first members come first.
class key_splits {
 public:
  // Blocks until the members have counted. Processes add their counts by messages of the CPU.
  key_splits(const team& t, const sorted_parts& sorted);
  // The elements of member `from` that belong to the part of member `to`.
  part sent(std::size_t from, std::size_t to) const {
    const std::size_t* const row = &begin_[from * (team_.size() + 1) + to];
    return {row[0], row[1]};
  }

 private:
  using counts = std::vector<std::uint64_t>;
  std::size_t rank_of(std::size_t border) const { return team_.part_of(border, sorted_.count).begin; }
  counts of_members(const counts& keys) const;
  counts of_all(const counts& keys) const;
  void find_keys();
  void cut();

  const team& team_;
  const sorted_parts& sorted_;
  unsigned bits_;                     // of a key
  std::vector<std::size_t> borders_;  // between two members of the result: numbers of the second
  counts keys_;                       // of the element behind each border
  std::vector<std::size_t> begin_;    // of each member, for each member of the result and the end
};

}  // namespace ferry::inline FERRY_ABI::detail
