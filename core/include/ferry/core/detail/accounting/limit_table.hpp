// Memory limits in bytes, and the table of those of one runtime.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/memory_label.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/memory_limits.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The limits of one scope.
struct limit_rule {
  static constexpr std::size_t none = SIZE_MAX;
  memory_scope scope;
  memory_label tag = 0;
  std::size_t soft = none, hard = none;
  std::string text() const;  // such as "device 0: soft 4.800 GiB (60%), hard 8.000 GiB"
  std::string soft_as, hard_as;
  std::string left_text(std::size_t used) const;  // such as "the hard limit of 8.000 GiB on ... leaves 512.000 MiB"
};

// Thread-safe.
class limit_table {
 public:
  using rules = std::vector<limit_rule>;
  // Replaces the rules of the same scopes. all() returns either none or all of the changes.
  void set(rules changed);
  // Restores an earlier result of all().
  void restore(std::shared_ptr<const rules> before);
  // True if any limit is set.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // True if any limit of a tag is set.
  bool any_on_tags() const { return any_on_tags_.load(std::memory_order_relaxed); }
  std::shared_ptr<const rules> all() const;

 private:
  void hold(std::shared_ptr<const rules> all) FERRY_LOCKED(mutex_);
  std::atomic<bool> any_{false}, any_on_tags_{false};
  mutable mutex mutex_;
  std::shared_ptr<const rules> rules_ FERRY_GUARDED_BY(mutex_) = std::make_shared<rules>();
};

}  // namespace ferry::inline FERRY_ABI::detail
