// Reads allocation logs, of ferry or of RMM's logging_resource_adaptor, and replays them on pools.
#pragma once
#include <cstddef>
#include <cstdint>
#include <ferry/core/memory_kind.hpp>
#include <ferry/core/pool.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tools {

// One row of a log.
struct logged_allocation {
  std::uint64_t thread = 0, pointer = 0, stream = 0;
  std::size_t bytes = 0;
  bool is_free = false;
};
// Parses the text of a log (columns Thread,Time,Action,Pointer,Size,Stream). Returns the allocations and frees in file
// order, without rows of failed allocations. Throws ferry::parse_error with line and column.
std::vector<logged_allocation> parse_allocation_log(std::string_view text);
// Parses a log file. Throws ferry::error with the system's reason if the file cannot be read.
std::vector<logged_allocation> load_allocation_log(const std::string& file);

// What a replay of a log did to a pool.
struct replay_result {
  std::size_t allocations = 0, frees = 0;
  std::size_t failures = 0;   // allocations that failed with out_of_memory; their frees are skipped
  std::size_t unmatched = 0;  // frees of pointers that the log did not allocate
  std::size_t left = 0;       // allocations that the log did not free; replay() frees them at the end
  std::size_t left_bytes = 0;
  double seconds = 0;
  std::size_t peak_bytes = 0, peak_reserved_bytes = 0;
  // Fraction of the reserved bytes that no allocation used: 1 - peak_bytes / peak_reserved_bytes, in [0, 1].
  double fragmentation() const {
    return peak_reserved_bytes ? 1 - static_cast<double>(peak_bytes) / static_cast<double>(peak_reserved_bytes) : 0;
  }
};
// Repeats the allocations and frees of a log on the pool of one kind of memory, on the calling thread. The pool should
// be empty, and no other pool of its kind and device should be used during the call.
replay_result replay(const std::vector<logged_allocation>& log, ferry::pool& pool, ferry::memory_kind kind);

}  // namespace tools
