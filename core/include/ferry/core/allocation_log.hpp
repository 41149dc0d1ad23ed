/// @file
/// Allocation logs as CSV in RMM's format (Thread,Time,Action,Pointer,Size,Stream). tools/replay replays them on pools.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

class runtime;

/// Writes one row for each allocation and free of the current runtime, until it is destroyed. FERRY_MEMORY_LOG=file
/// does the same for a whole run. Size is the size of the block. Stream is the stream that the thread used last; for a
/// free, the stream that used the bytes last; 0x0 for none.
class allocation_log : private detail::allocation_observer {
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
  void on_allocate(detail::allocation& a) noexcept override;
  void on_free(detail::allocation& a) noexcept override;
  void write(const char* action, const detail::allocation& a, const void* stream) noexcept;
  void tell_if_failed() noexcept FERRY_LOCKED(mutex_);
  const std::string name_;
  detail::mutex mutex_;
  bool told_ FERRY_GUARDED_BY(mutex_) = false;
  detail::owning_ptr<std::ofstream> file_ FERRY_GUARDED_BY(mutex_);
  std::uint64_t runtime_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
