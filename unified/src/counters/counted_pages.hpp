// Whose pages the driver's counts are: which array's, and of which phase of the program. Knows neither driver nor clock.
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

namespace ferry {

// An event counts for the array that had its bytes at the time, and there for the phase in which that array was last asked
// for before. What covers several arrays is split between them by bytes. One thread at a time.
class counted_pages {
 public:
  using row_name = std::pair<std::string, std::string>;  // array and phase
  // Bytes that no array was seen to have.
  static constexpr const char* other_memory = "(other memory)";

  // From then on the bytes are those of an array of that name, asked for in that phase. Times of calls do not go back.
  void used(byte_range where, const std::string& name, const std::string& phase, std::uint64_t now);
  void enter(std::vector<page_event> events);
  std::map<row_name, counted_moves> rows() const;
  // Rows begin again from zero; who has which bytes stays known.
  void clear_rows() { rows_.clear(); }

 private:
  struct asked {
    std::uint64_t since;
    std::string phase;
  };
  struct owner {
    std::uint64_t begin, end, since, until;
    std::string name;
    std::deque<asked> phases;  // by time; the oldest ones may be gone
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
  std::map<std::uint64_t, owner> now_;  // by where they begin: they do not overlap
  std::deque<owner> past_;              // whose bytes others have by now, by the time of that
  std::map<row_name, row> rows_;
};

}  // namespace ferry
