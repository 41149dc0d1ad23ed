// Hook through which a module above core observes accesses before they happen: for migration, residency and reports.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/source_line.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

struct allocation;

// out: every element is written and none is read.
enum class access_mode : std::uint8_t { in, out, inout };

// An index with the source line of its expression. The compiler removes the line from loops.
struct located_index {
  std::size_t value;
  source_line at;
  template <class Int>
  requires(std::is_convertible_v<Int, std::size_t>) constexpr located_index(Int i,
                                                                            source_line line = source_line::here())
      : value(static_cast<std::size_t>(i)),
        at(line) {}
};

// Extent of a host access: a walk over the range, or single elements at unknown positions.
enum class host_reach : std::uint8_t { range, elements };

// An access before it is ordered.
struct coming_access {
  allocation& what;
  byte_range where;
  memory_location place;  // device or CPU that accesses
  access_mode mode = access_mode::inout;
  timeline* stream = nullptr;  // null: the CPU
  host_reach reach = host_reach::range;
  const std::byte* first = nullptr;  // elements: address of the first one
  source_line at;
};

// Notified of each access before its guard exists, with no lock held. Not notified of captured accesses, but of those
// of graph launches. May submit work. An exception cancels the access. Thread-safe.
class access_policy {
 public:
  virtual ~access_policy() = default;
  virtual void before_access(const coming_access& a) = 0;
  // Notified of copies, which reach pages at any location, and of accesses to pinned memory. No migration is needed for
  // these.
  virtual void before_copy(const coming_access&) {}
  // True if the CPU, after a wait for a range, may access all of it until the next submission to the same bytes. If
  // false, each element access is notified.
  virtual bool permits_at_large() const { return true; }
  // Notified that a span or view gives the CPU access to a range, until let_go() with the returned number. through: the
  // name of the function that created it. Policies that check this refuse conflicting submissions meanwhile. 0: not
  // checked.
  virtual std::uint64_t hold(allocation&, byte_range, bool /*writes*/, source_line, const char* /*through*/) {
    return 0;
  }
  virtual void let_go(allocation&, std::uint64_t /*number*/) noexcept {}
  // Number of policies in the process that check spans. If it is 0, spans are not tracked.
  static inline std::atomic<int> checking{0};
  // Number of tracked guards and spans in the process whose memory is not unified. Submissions skip the search if it is
  // 0.
  static inline std::atomic<int> held_beside_unified{0};
  // Lines for explain(), each indented by two spaces.
  virtual std::string explain(allocation& a) = 0;

  // Sets the factory for the policies of runtimes created later; null: none. Returns the previous factory.
  using maker = std::unique_ptr<access_policy> (*)(runtime&);
  static maker exchange_maker(maker m);
};

}  // namespace ferry::inline FERRY_ABI::detail
