// The one place at which a module above core is told what is about to be touched: for migration, residency and reports.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/core/detail/support/source_line.hpp"

namespace ferry {

struct allocation;
class runtime;

// out: every element is written and none is read.
enum class access_mode : std::uint8_t { in, out, inout };

// An index that knows the line that it was written in; the compiler drops that from loops.
struct located_index {
  std::size_t value;
  source_line at;
  template <class Int>
  requires(std::is_convertible_v<Int, std::size_t>) constexpr located_index(Int i,
                                                                            source_line line = source_line::here())
      : value(static_cast<std::size_t>(i)),
        at(line) {}
};

// What the CPU is going to do with a range: walk over it, or look at single elements, nobody knows which.
enum class host_reach : std::uint8_t { range, elements };

// An access that has not been ordered yet.
struct coming_access {
  allocation& what;
  byte_range where;
  memory_location place;  // who touches it
  access_mode mode = access_mode::inout;
  timeline* stream = nullptr;  // null: the CPU
  host_reach reach = host_reach::range;
  const std::byte* first = nullptr;  // elements: the first of them
  source_line at;
};

// Told of each access before its guard, never inside it, with no lock held; not of what is captured, but of the launches
// of graphs. May submit work of its own. What it throws stops the access. Called by many threads at once.
class access_policy {
 public:
  virtual ~access_policy() = default;
  virtual void before_access(const coming_access& a) = 0;
  // The same of copies, which find pages wherever they are, and of pinned memory: nothing need be moved for them.
  virtual void before_copy(const coming_access&) {}
  // Whether the CPU, having asked for a range, may go on without asking until somebody submits to the same bytes: else it
  // asks for each element.
  virtual bool permits_at_large() const { return true; }
  // The CPU has a range through a span or a view, of that name, until it lets go by the number: who checks this refuses what
  // conflicts meanwhile. 0: nobody does.
  virtual std::uint64_t hold(allocation&, byte_range, bool /*writes*/, source_line, const char* /*through*/) {
    return 0;
  }
  virtual void let_go(allocation&, std::uint64_t /*number*/) noexcept {}
  // Policies of the process that check it: no span is followed where there are none.
  static inline std::atomic<int> checking{0};
  // Guards and spans of the process that are followed, of memory that is no unified memory: nobody asks for others.
  static inline std::atomic<int> held_beside_unified{0};
  // Lines for explain(), each indented by two spaces.
  virtual std::string explain(allocation& a) = 0;

  // Makes the policy of each machine created from now on; null: none. Returns the maker before.
  using maker = std::unique_ptr<access_policy> (*)(runtime&);
  static maker exchange_maker(maker m);
};

}  // namespace ferry
