// A message of a halo exchange, to or from a member of another process.
#pragma once
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct halo_message {
  collective_kind kind;  // send or receive
  std::size_t member, other;
  allocation_ref owner;
  std::byte* data;
  std::size_t bytes;

  // Returns the call of the transport. first_local: the first member of this process.
  collective_call call(std::size_t first_local) const {
    collective_call c{kind, element_type::bytes, reduction::sum, member - first_local, other, bytes, 1, {}, {}};
    (kind == collective_kind::send ? c.from : c.to) = collective_buffer{&owner.get(), data, bytes};
    return c;
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
