// Policies of arrays: by name, or by set_policy().
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/unified/policy_file.hpp"
#include "migration/advice_table.hpp"
#include "migration/array_records.hpp"

namespace ferry::inline FERRY_ABI::detail {

class policy_table {
 public:
  // Reads the file that FERRY_TUNE names. Throws as load() and use() do.
  policy_table(runtime& m, array_records& records, advice_table& advice);
  // Sets the policies by name. from: their origin, for error texts.
  void use(const array_policies& p, const std::string& from);
  // True if use() was called: arrays may have policies by name.
  bool has_any() const { return times_given_.load(std::memory_order_relaxed) != 0; }
  // Returns the names that have a policy, but that no used array has had.
  std::vector<std::string> unmet();
  // Sets the array's policy to that of its name, unless it has its own.
  void take(allocation& a);

  // Sets the array's own policy. Without one, the array has that of its name, if any.
  void set(allocation& a, std::optional<array_policy> p);
  std::optional<array_policy> of(allocation& a);
  std::optional<array_policy> own(allocation& a) const;  // set by set() only

 private:
  // Advises the driver for a policy that the array has received. If the driver refuses, restores the previous policy
  // and throws.
  void tell_driver_or_restore(allocation& a, std::optional<array_policy> before, bool was_own);

  runtime& runtime_;
  array_records& records_;
  advice_table& advice_;
  mutex mutex_;  // guards by_name_ and met_
  array_policies by_name_ FERRY_GUARDED_BY(mutex_);
  std::set<std::string> met_ FERRY_GUARDED_BY(mutex_);  // names that arrays have had
  std::atomic<std::uint64_t> times_given_{0};           // number of calls of use(); 0: no policies
};

}  // namespace ferry::inline FERRY_ABI::detail
