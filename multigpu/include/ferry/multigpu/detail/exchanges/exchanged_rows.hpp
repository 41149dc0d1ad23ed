// What an exchange plan needs to know of an array, and its ghosts. No templates over elements.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/halos/halo_currency.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The first indices that each member owns, in order of the members; ends: one more.
struct dealt_rows {
  ferry::team team;
  std::vector<part> of_member;
  std::size_t count = 0;
  std::string text;  // of the distribution, for errors
  bool operator==(const dealt_rows& o) const { return team == o.team && count == o.count && of_member == o.of_member; }
};

// The rows of one array: its elements with one first index each.
struct exchanged_rows {
  using bytes_view = array_view<const std::byte, 1, memory_kind::device>;
  std::shared_ptr<const void> store;  // identifies the array
  std::size_t row_bytes = 0;
  std::shared_ptr<const halo_currency> currency;  // counts the changes of the array
  std::vector<bytes_view> of_member;              // for each local member, contiguous
  std::string name;
};

// The ghosts of one array.
struct ghost_rows {
  std::weak_ptr<const void> store;
  std::size_t row_bytes = 0;
  std::uint64_t changes = 0;  // of the array until its last exchange
  std::vector<basic_array<std::byte, 1, memory_kind::device>> of_member, leaving;  // for each local member
};

[[noreturn]] void throw_scattered_rows(const std::string& name, const std::string& layout);

}  // namespace ferry::inline FERRY_ABI::detail
