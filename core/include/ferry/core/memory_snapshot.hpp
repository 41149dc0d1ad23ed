/// @file
/// Snapshots of memory: allocations and frees over time, and the blocks of all pools, as JSON. tools/memory_page.py
/// draws them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/memory_status.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup diagnostics
/// @{

/// One event of a recording.
struct memory_event {
  /// allocate, free: by arrays. reserve, give_back: by pools, from and to the backend.
  enum class action : std::uint8_t { allocate, free, reserve, give_back };
  double seconds = 0;  ///< seconds from the start of the recording
  action what = action::allocate;
  memory_kind kind = memory_kind::device;
  std::int16_t device = 0;
  detail::memory_label tag = 0, name = 0;  ///< the name of an array is known only when it is freed
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// The blocks of one pool.
struct pool_blocks {
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::vector<detail::block_info> blocks;
};

/// Pools and recorded history of a runtime.
struct memory_snapshot {
  memory_usage usage;
  std::vector<pool_blocks> pools;     ///< pools that hold bytes
  std::vector<memory_event> history;  ///< empty without a recording
  std::size_t forgotten_events = 0;   ///< older events that the recording dropped for lack of space
  /// Bytes that arrays and pools held when the history begins; index by kind, then by device.
  std::vector<std::size_t> allocated_before, reserved_before;

  /// One JSON object with usage, pools and history.
  std::string json() const;
};

/// State of the pools of the current runtime, without a history.
memory_snapshot take_memory_snapshot();
/// Writes json() to a file.
/// @throws error with the system's reason if the file cannot be written
void save_memory_snapshot(const memory_snapshot& s, const std::string& file);

/// Records the memory events of the current runtime during its lifetime. It stores the last `most_events` of them.
class memory_recording : private detail::allocation_observer {
 public:
  /// @param most_events number of events to store
  explicit memory_recording(std::size_t most_events = std::size_t{1} << 17);
  ~memory_recording() override;
  memory_recording(const memory_recording&) = delete;
  memory_recording& operator=(const memory_recording&) = delete;
  /// The pools now, with the recorded history.
  memory_snapshot snapshot() const;

 private:
  void on_allocate(detail::allocation& a) noexcept override;
  void on_free(detail::allocation& a) noexcept override;
  void on_reserve(memory_kind kind, int device, const void* begin, std::size_t bytes) noexcept override;
  void on_return(memory_kind kind, int device, const void* begin, std::size_t bytes) noexcept override;
  void add(memory_event e) noexcept;
  std::size_t cell(memory_kind kind, int device) const;

  const std::int64_t begin_;  // nanoseconds of the steady clock
  const std::size_t most_;
  std::uint64_t runtime_;
  std::size_t devices_;
  mutable detail::mutex mutex_;
  std::vector<memory_event> events_ FERRY_GUARDED_BY(mutex_);  // ring buffer when full
  std::size_t oldest_ FERRY_GUARDED_BY(mutex_) = 0, forgotten_ FERRY_GUARDED_BY(mutex_) = 0;
  // before the oldest event
  std::vector<std::size_t> allocated_before_ FERRY_GUARDED_BY(mutex_), reserved_before_ FERRY_GUARDED_BY(mutex_);
};

/// @}

}  // namespace ferry::inline FERRY_ABI
