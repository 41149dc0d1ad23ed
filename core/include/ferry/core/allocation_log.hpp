// A log of allocations as CSV, in the form that RMM writes: Thread,Time,Action,Pointer,Size,Stream. And what such a log
// does to a pool.
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

class runtime;

// Writes a row for each allocation and free of the current machine until it is destroyed; FERRY_MEMORY_LOG=file does so for
// a whole run. Sizes are those of blocks. Stream stands for the one that the thread used last, or that used the bytes last
// when they are freed; 0x0 for none.
class allocation_log : private allocation_observer {
 public:
  // Throws error with the system's reason when the file cannot be written. Rows that cannot be written later, as on a full
  // disk, are told on stderr, once.
  explicit allocation_log(const std::string& file);
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

struct logged_allocation {
  std::uint64_t thread = 0, pointer = 0, stream = 0;
  std::size_t bytes = 0;
  bool is_free = false;
};
// The allocations and frees of a log, in their order; rows of failed allocations are left out. Throws parse_error that
// names line and column.
std::vector<logged_allocation> parse_allocation_log(std::string_view text);
// The same of a file; throws error with the system's reason, too.
std::vector<logged_allocation> load_allocation_log(const std::string& file);

struct replay_result {
  std::size_t allocations = 0, frees = 0;
  std::size_t failures = 0;   // the pool had no memory; their frees are left out
  std::size_t unmatched = 0;  // frees of what the log did not allocate
  std::size_t left = 0;       // what the log did not free; it is freed at the end
  std::size_t left_bytes = 0;
  double seconds = 0;
  std::size_t peak_bytes = 0, peak_reserved_bytes = 0;
  // The share of the reserved bytes that nobody used, at their peaks.
  double fragmentation() const {
    return peak_reserved_bytes ? 1 - static_cast<double>(peak_bytes) / static_cast<double>(peak_reserved_bytes) : 0;
  }
};
// Does to the pool what the log says, on the calling thread. The pool should be empty, and the only one of its kind and
// device that is used meanwhile.
replay_result replay(const std::vector<logged_allocation>& log, memory_pool& pool);

}  // namespace ferry
