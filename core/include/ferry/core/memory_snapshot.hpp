// Pictures of memory: what was allocated and freed over time, and the blocks of all pools, as JSON and as a page.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/memory_status.hpp"

namespace ferry {

struct memory_event {
  enum class action : std::uint8_t { allocate, free, reserve, give_back };
  double seconds = 0;  // since the recording began
  action what = action::allocate;
  memory_kind kind = memory_kind::device;
  std::int16_t device = 0;
  memory_label tag = 0, name = 0;  // arrays get their names late: known when they are freed
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

struct pool_blocks {
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::vector<block_info> blocks;
};

struct memory_snapshot {
  memory_usage usage;
  std::vector<pool_blocks> pools;     // those that hold anything
  std::vector<memory_event> history;  // empty if nothing was recorded
  std::size_t forgotten_events = 0;   // that were recorded before, and had no room
  // What arrays and pools of each kind and device held when the history begins; by kind, then by device.
  std::vector<std::size_t> allocated_before, reserved_before;

  std::string json() const;
  // One page for a browser, with the data and the program that draws it; it loads nothing.
  std::string html() const;
};

// The pools of the current machine as they are now, without a history.
memory_snapshot take_memory_snapshot();
// Writes json(), or html() if the file's name ends so. Throws error with the system's reason.
void save_memory_snapshot(const memory_snapshot& s, const std::string& file);

// Records what happens to the current machine's memory from its construction on, the last `most_events` of it.
class memory_recording : private allocation_observer {
 public:
  explicit memory_recording(std::size_t most_events = std::size_t{1} << 17);
  ~memory_recording() override;
  memory_recording(const memory_recording&) = delete;
  memory_recording& operator=(const memory_recording&) = delete;
  memory_snapshot snapshot() const;

 private:
  void on_allocate(allocation& a) noexcept override;
  void on_free(allocation& a) noexcept override;
  void on_reserve(memory_kind kind, int device, const void* begin, std::size_t bytes) noexcept override;
  void on_return(memory_kind kind, int device, const void* begin, std::size_t bytes) noexcept override;
  void add(memory_event e) noexcept;
  std::size_t cell(memory_kind kind, int device) const;

  const std::int64_t begin_;  // nanoseconds of the steady clock
  const std::size_t most_;
  std::uint64_t runtime_;
  std::size_t devices_;
  mutable std::mutex mutex_;
  std::vector<memory_event> events_;  // a ring when it is full
  std::size_t oldest_ = 0, forgotten_ = 0;
  std::vector<std::size_t> allocated_before_, reserved_before_;  // before the oldest event
};

}  // namespace ferry
