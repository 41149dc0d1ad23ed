#include "ferry/core/detail/ordering/use_list.hpp"

#include <algorithm>

namespace ferry::inline FERRY_ABI::detail {

void use_list::reserve(std::size_t count) {
  if (count <= room_) return;
  access_record* const more = std::allocator<access_record>().allocate(count);
  std::uninitialized_copy(begin(), end(), more);
  release();
  first_ = more;
  room_ = static_cast<std::uint32_t>(count);
}

void use_list::release() noexcept {
  if (first_) std::allocator<access_record>().deallocate(first_, room_);
}

}  // namespace ferry::inline FERRY_ABI::detail
