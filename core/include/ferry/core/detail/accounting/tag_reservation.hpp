// Reservations under limits of tags, for concurrent allocations.
#pragma once
#include <cstddef>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/memory_label.hpp"

namespace ferry::inline FERRY_ABI::detail {

class limit_enforcer;

// Reserves the bytes of an allocation under a tag with limits, so that concurrent allocations cannot together exceed
// the limit. Empty, and without cost, if no tag has limits.
class tag_reservation {
 public:
  tag_reservation() {}  // the other members are unused if empty
  // Calls enter(*this), which may reserve bytes by limit_enforcer::enter(). Throws as enter.
  template <class Enter>
  explicit tag_reservation(Enter enter) : tag_reservation() {
    enter(*this);
  }
  ~tag_reservation() {
    if (limits_) [[unlikely]]
      end();
  }
  tag_reservation(const tag_reservation&) = delete;
  tag_reservation& operator=(const tag_reservation&) = delete;

 private:
  friend class limit_enforcer;
  void end() noexcept;
  limit_enforcer* limits_ = nullptr;
  memory_label tag_;
  memory_kind kind_;
  int device_;
  std::size_t bytes_;
  tag_reservation *before_, *after_;  // links of the enforcer's list of reservations
};

}  // namespace ferry::inline FERRY_ABI::detail
