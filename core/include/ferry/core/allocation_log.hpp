/// @file
/// Allocation logs as CSV in RMM's format (Thread,Time,Action,Pointer,Size,Stream), and replay of such a log on a pool.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"

namespace ferry {

/// @addtogroup memory
/// @{

class runtime;

/// Writes one row for each allocation and free of the current runtime, until it is destroyed. FERRY_MEMORY_LOG=file
/// does the same for a whole run. Size is the size of the block. Stream is the stream that the thread used last; for a
/// free, the stream that used the bytes last; 0x0 for none.
class allocation_log : private allocation_observer {
 public:
  /// Opens the file for the current runtime.
  /// @param file path of the log
  /// @throws error with the system's reason if the file cannot be written
  /// @note If a later write fails, such as on a full disk, stderr says so, once.
  explicit allocation_log(const std::string& file);
  /// As above, for runtime m.
  allocation_log(const std::string& file, runtime& m);
  ~allocation_log() override;
  allocation_log(const allocation_log&) = delete;
  allocation_log& operator=(const allocation_log&) = delete;

 private:
  void on_allocate(allocation& a) noexcept override;
  void on_free(allocation& a) noexcept override;
  void write(const char* action, const allocation& a, const void* stream) noexcept;
  void tell_if_failed() noexcept;
  const std::string name_;
  bool told_ = false;
  std::mutex mutex_;
  std::unique_ptr<std::ofstream> file_;
  std::uint64_t runtime_;
};

/// One row of a log.
struct logged_allocation {
  std::uint64_t thread = 0, pointer = 0, stream = 0;
  std::size_t bytes = 0;
  bool is_free = false;
};
/// Parses the text of a log.
/// @return the allocations and frees in file order, without rows of failed allocations
/// @throws parse_error with line and column
std::vector<logged_allocation> parse_allocation_log(std::string_view text);
/// Parses a log file.
/// @throws error with the system's reason if the file cannot be read
/// @throws parse_error as parse_allocation_log
std::vector<logged_allocation> load_allocation_log(const std::string& file);

/// What a replay of a log did to a pool.
struct replay_result {
  std::size_t allocations = 0, frees = 0;
  std::size_t failures = 0;   ///< allocations that failed with out_of_memory; their frees are skipped
  std::size_t unmatched = 0;  ///< frees of pointers that the log did not allocate
  std::size_t left = 0;       ///< allocations that the log did not free; replay() frees them at the end
  std::size_t left_bytes = 0;
  double seconds = 0;
  std::size_t peak_bytes = 0, peak_reserved_bytes = 0;
  /// Fraction of the reserved bytes that no allocation used: 1 - peak_bytes / peak_reserved_bytes, in [0, 1].
  double fragmentation() const {
    return peak_reserved_bytes ? 1 - static_cast<double>(peak_bytes) / static_cast<double>(peak_reserved_bytes) : 0;
  }
};
/// Repeats the allocations and frees of a log on a pool, on the calling thread.
/// @param log rows, as parse_allocation_log returns them
/// @param pool should be empty, and no other pool of its kind and device should be used during the call
replay_result replay(const std::vector<logged_allocation>& log, memory_pool& pool);

/// @}

}  // namespace ferry
