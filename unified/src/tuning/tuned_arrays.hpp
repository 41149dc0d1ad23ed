// The initial state of a tuner's arrays: elements, locations of pages, and page records.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/unified/tuner.hpp"
#include "migration/migration_policy.hpp"

namespace ferry::inline FERRY_ABI::detail {

class tuned_arrays {
 public:
  // Blocks until all work is complete, and saves the state.
  explicit tuned_arrays(const std::vector<tuned_array>& arrays);
  // Restores the state, as far as possible.
  ~tuned_arrays();
  tuned_arrays(const tuned_arrays&) = delete;
  tuned_arrays& operator=(const tuned_arrays&) = delete;

  // Blocks until no device and no thread of ferry has work.
  void wait();
  // Restores the initial state of all arrays, and sets these policies, one for each array.
  void begin(const std::vector<array_policy>& policies);
  // Returns hashes of the elements, one for each part of each array. Throws invalid_argument if the step has replaced
  // an array.
  using prints = std::vector<std::vector<std::uint64_t>>;
  prints result();
  // Describes where two results differ; empty if they are equal.
  std::string difference(const prints& a, const prints& b) const;
  // Restores the state before the tuner. Throws if that fails.
  void put_back();

 private:
  struct state {
    std::vector<std::byte> elements;
    page_map pages;
    std::optional<array_policy> policy;  // by set_policy
  };
  // Sets the policy that moves nothing.
  void hold_still();
  void send(std::size_t i, byte_range pages, memory_location to);
  void put_back_quietly() noexcept;
  void bring_to_cpu();
  void fill_and_place();
  // Undoes swaps of arrays with each other. Returns the index of the first array that was replaced, or the number of
  // arrays.
  std::size_t put_handles_back();
  // Calls f(index, allocation) for each array that the step has not freed.
  template <class F>
  void each(F f) {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (!arrays_[i].owner.is_freed()) f(i, arrays_[i].owner.get());
  }

  const std::vector<tuned_array>& arrays_;
  runtime& runtime_;
  migration_policy& known_;
  std::vector<state> before_;
  bool is_back_ = false;
};

}  // namespace ferry::inline FERRY_ABI::detail
