#include "ferry/core/detail/accounting/tag_reservation.hpp"

#include "ferry/core/detail/accounting/memory_accounting.hpp"

namespace ferry::inline FERRY_ABI::detail {

tag_reservation::tag_reservation(memory_accounting& accounting, const memory_demand& d) : tag_reservation() {
  accounting.reserve_under_tag(*this, d);
}

void tag_reservation::end() noexcept { limits_->leave(*this); }

}  // namespace ferry::inline FERRY_ABI::detail
