#include "ferry/core/detail/accounting/tag_reservation.hpp"

#include "ferry/core/detail/accounting/limit_enforcer.hpp"

namespace ferry::inline FERRY_ABI::detail {

void tag_reservation::end() noexcept { limits_->leave(*this); }

}  // namespace ferry::inline FERRY_ABI::detail
