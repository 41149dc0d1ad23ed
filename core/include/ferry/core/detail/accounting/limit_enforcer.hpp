// Hard limits: checked before bytes are allocated.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/array_accounts.hpp"
#include "ferry/core/detail/accounting/limit_table.hpp"
#include "ferry/core/detail/accounting/pool_registry.hpp"
#include "ferry/core/detail/accounting/tag_reservation.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI {
struct memory_demand;
struct memory_pressure;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

// Bytes are reserved first and checked by one thread at a time, so two concurrent allocations cannot together exceed a
// limit. Limits without a tag apply to all bytes that pools reserve, limits of a tag to arrays. Thread-safe; throws
// out_of_memory, and reserves nothing then.
class limit_enforcer {
 public:
  limit_enforcer(array_accounts& arrays, pool_registry& pools) : arrays_(arrays), pools_(pools) {}

  bool any() const { return table_.any(); }
  std::shared_ptr<const limit_table::rules> all() const { return table_.all(); }
  // Bytes that count against a limit of this scope.
  std::size_t used_bytes(const memory_scope& scope) const;
  // Crossed soft limits.
  std::vector<memory_pressure> crossed() const;

  // Reserves bytes of the backend for a pool, and cancels that.
  void reserve(const memory_source& asker, std::size_t bytes);
  void unreserve(const memory_source& asker, std::size_t bytes) noexcept {
    pools_.remove_reserved(asker.kind(), asker.device(), bytes);
  }
  // Reserves host memory that ferry::pin pins. It also counts against the system's RAM.
  void reserve_pinned(std::size_t bytes);

  // True if the calling thread's tag has a hard limit.
  bool limits_tag() const;
  // Reserves bytes for an array under the calling thread's tag.
  void enter(tag_reservation& b, const memory_demand& d);
  void leave(tag_reservation& b) noexcept;
  // Adds the array to the account of its tag, and ends its reservation, if any, in one step for other reservations.
  void convert(tag_reservation& b, const allocation& a) noexcept;

  // Applies limits, all at once. Resolves percentages (see set_memory_limit). trim(rule) releases cached bytes where
  // more than a hard limit is in use. If it throws, no limit changes.
  void set(std::span<const scoped_memory_limit> all, const std::function<void(const limit_rule&)>& trim);

 private:
  limit_rule rule_of(const scoped_memory_limit& l) const;
  void keep_within(std::span<const limit_rule> rules, const std::function<void(const limit_rule&)>& trim);
  std::string exceeded_text(const limit_rule& r, std::size_t used) const;
  std::size_t coming_bytes(const limit_rule& r) const FERRY_LOCKED(admitting_);
  void refuse_above_limits(const memory_demand& d) const;
  void refuse_above_tag_limits(const memory_demand& d) const FERRY_LOCKED(admitting_);
  void leave_list(tag_reservation& b) noexcept FERRY_LOCKED(admitting_);

  array_accounts& arrays_;
  pool_registry& pools_;
  limit_table table_;
  std::mutex setting_;  // serializes threads that set limits; acquired before admitting_
  // Serializes requests for bytes under limits. Only rules and labels are accessed under it.
  mutex admitting_;
  tag_reservation* coming_ FERRY_GUARDED_BY(admitting_) = nullptr;
};

}  // namespace ferry::inline FERRY_ABI::detail
