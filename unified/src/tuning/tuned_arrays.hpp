// The arrays of a tuner as they were before it: their elements, where their pages are, what is known of them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/unified/tuner.hpp"
#include "migration/migration_policy.hpp"

namespace ferry {

class tuned_arrays {
 public:
  // Waits for all work, and remembers.
  explicit tuned_arrays(const std::vector<detail::tuned_array>& arrays);
  // Puts all back, as far as that is possible.
  ~tuned_arrays();
  tuned_arrays(const tuned_arrays&) = delete;
  tuned_arrays& operator=(const tuned_arrays&) = delete;

  // Blocks until no device and no thread of ferry works.
  void wait();
  // All arrays as they were at first, with these policies, one for each.
  void begin(const std::vector<array_policy>& policies);
  // The elements as numbers that differ where these do, for each part of each array. Throws invalid_argument if the step has
  // replaced an array.
  using prints = std::vector<std::vector<std::uint64_t>>;
  prints result();
  // Where two results differ, in words; empty if nowhere.
  std::string difference(const prints& a, const prints& b) const;
  // Everything as it was before the tuner; throws what stands in the way.
  void put_back();

 private:
  struct state {
    std::vector<std::byte> elements;
    page_map pages;
    std::optional<array_policy> policy;  // by set_policy
  };
  // With the policy that moves nothing.
  void hold_still();
  void send(std::size_t i, byte_range pages, memory_location to);
  void put_back_quietly() noexcept;
  void bring_to_cpu();
  void fill_and_place();
  // Undoes exchanges of arrays with each other; returns the index of the first that was replaced, or the number of arrays.
  std::size_t put_handles_back();
  // Calls f(index, allocation) for those that the step has not freed.
  template <class F>
  void each(F f) {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (!arrays_[i].owner.is_freed()) f(i, arrays_[i].owner.get());
  }

  const std::vector<detail::tuned_array>& arrays_;
  runtime& runtime_;
  migration_policy& known_;
  std::vector<state> before_;
  bool is_back_ = false;
};

}  // namespace ferry
