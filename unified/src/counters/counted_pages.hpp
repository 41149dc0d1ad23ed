// Attributes the driver's page events to arrays and phases of the program. Independent of driver and clock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/backend/page_events.hpp"
#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/unified/report.hpp"

namespace ferry::inline FERRY_ABI::detail {

// An event counts for the array that had its bytes at that time, and for the phase of that array's last use before. An
// event that covers several arrays is split by bytes. Not thread-safe.
class counted_pages {
 public:
  using row_name = std::pair<std::string, std::string>;  // array and phase
  // Name of the row for bytes that belong to no known array.
  static constexpr const char* other_memory = "(other memory)";

  // From `now` on, the bytes belong to an array of this name, which is used in this phase. `now` must not decrease from
  // call to call.
  void used(byte_range where, const std::string& name, const std::string& phase, std::uint64_t now);
  void enter(std::vector<page_event> events);
  std::map<row_name, counted_moves> rows() const;
  // Resets the rows to zero. The owners of bytes are retained.
  void clear_rows() { rows_.clear(); }

 private:
  struct asked {
    std::uint64_t since;
    std::string phase;
  };
  struct owner {
    std::uint64_t begin, end, since, until;
    std::string name;
    std::deque<asked> phases;  // by time; the oldest ones may be dropped
    const std::string& phase_at(std::uint64_t time) const;
  };
  struct row {
    counted_moves counts;
    std::uint64_t busy_until = 0, busy = 0;  // nanoseconds
  };
  struct part {
    const owner* of;
    std::uint64_t bytes;
  };
  void end_of(std::map<std::uint64_t, owner>::iterator o, std::uint64_t now);
  std::vector<part> parts_of(const page_event& e) const;
  const owner* owner_of_fault(const page_event& e) const;
  row& row_of(const owner* o, std::uint64_t time);
  static void add(row& r, const page_event& e, std::uint64_t bytes);

  static constexpr std::size_t most_phases = 256, most_past = 1024;
  std::map<std::uint64_t, owner> now_;  // by their first byte; they do not overlap
  std::deque<owner> past_;              // former owners of bytes, ordered by the time at which others followed
  std::map<row_name, row> rows_;
};

}  // namespace ferry::inline FERRY_ABI::detail
