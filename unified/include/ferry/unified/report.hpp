/// @file
/// The migration report: which pages moved, and why.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// One line of the program in which the CPU accessed an array. `checks` counts the host access checks that examined the
/// access history. A loop over a raw pointer makes one check. Elements make one until a device uses the array; with
/// trace_elements, each access makes one.
struct cpu_touch {
  source_line at;
  bool writes = false, elements = false;
  std::uint64_t checks = 0;
};

/// Bytes that moved in one direction. by_fault is an estimate by the library, from the last user of each range.
struct moved_bytes {
  std::uint64_t by_prefetch = 0, by_fault = 0;
};

/// Counts of the driver; see set_migration_counters. by_prefetch: requested by the program or ahead of an access.
/// by_fault: all other moves, including pages that the driver added.
struct counted_moves {
  moved_bytes to_devices, to_cpu, between_devices;
  std::uint64_t evicted = 0;  ///< bytes that moved to the CPU to make room for others
  std::uint64_t remote = 0;   ///< bytes mapped for a remote user instead of moved
  std::uint64_t cpu_faults = 0, device_faults = 0;
  std::uint64_t thrashing = 0, throttled = 0;  ///< how often processors competed for pages, and had to wait for that
  double busy_milliseconds = 0;                ///< time in which device faults were served or bytes moved by faults
};

/// One array in one phase of the program.
struct migration_entry {
  std::string array, phase;
  std::size_t bytes = 0;  ///< size of the array
  moved_bytes to_devices, to_cpu, between_devices;
  std::uint64_t dropped = 0;        ///< bytes that moved without their contents, for out()
  std::uint64_t remote = 0;         ///< bytes that a device used in place, on another device
  std::uint64_t prefetches = 0;     ///< number of calls
  std::uint64_t bounces = 0;        ///< moves of a range back to the device that it came from
  bool migration_disabled = false;  ///< ping-pong limit reached: ferry does not move it any more
  bool stays = false;               ///< adopted memory (as_unified), which ferry neither moves nor advises about
  /// Estimated time that faults cost more than prefetches, and between devices more than mapped pages. From the figures
  /// for an H200 in docs/unified.md.
  double lost_milliseconds = 0;
  std::vector<cpu_touch> touches;  ///< all lines of the CPU; the table shows the first 32 and the number of the others
  source_line device_use;          ///< last device work, if known, for which pages moved or were mapped
  std::optional<counted_moves> counted;  ///< if the driver's counts were read
  std::string suggestion;                ///< what to change in the program, and in which line; empty if nothing
};

/// The report of one runtime.
struct migration_report {
  std::vector<migration_entry> entries;
  bool is_counted = false;        ///< the driver's counts were read
  std::string not_counted;        ///< why requested counts cannot be read
  std::uint64_t lost_counts = 0;  ///< events for which there was no room
  /// Why automatic migration has ended: the error of the last of eight failed moves. Empty if it has not ended.
  std::string migration_ended;
  /// Returns the report as a table for people.
  std::string table() const;
  /// Returns the report as JSON.
  std::string json() const;
};
/// Writes the table.
std::ostream& operator<<(std::ostream& out, const migration_report& r);

/// Returns the report since the runtime was made or the report was reset. Arrays of equal names share an entry, as do
/// unnamed arrays of equal size. With counters, blocks until the driver has delivered its counts. It does not wait for
/// devices: call synchronize() first to include all work.
/// @return the report of the current runtime
migration_report report_migration();
/// Starts the report of the current runtime again from zero. Blocks as report_migration() does.
void reset_migration_report();

/// Whether each access of the CPU to an element, u[i] or u(i, j), makes a host access check. Then explain and reports
/// show each of their lines and the number of accesses. Without traces, one check is made until a device uses the array
/// again, and the lines of the accesses between are not recorded.
enum class element_traces { off, on };
/// Turns element traces on or off, for unified arrays of the current runtime, from now on. Never blocks, never throws.
/// FERRY_TRACE_ELEMENTS sets them for a program; the default is off. With traces, an access costs a few hundred
/// nanoseconds instead of as much as through a raw pointer.
void trace_elements(element_traces how);

/// Whether reports include the counts of the driver. CUPTI counts on CUDA devices: the process can then have no other
/// profiler, and faults cost somewhat more. If nothing can be counted, the report states why. A count belongs to the
/// array at that address, and to the phase in which that array was last accessed.
enum class migration_counters { off, on };
/// Turns counters on or off for the current runtime. Turning them off drops their counts. FERRY_MIGRATION_COUNTERS sets
/// them for a program; the default is off.
void set_migration_counters(migration_counters how);

/// Names the phase of the program that the calling thread is in, for reports, for a scope.
class migration_phase {
 public:
  /// Begins a phase.
  explicit migration_phase(std::string name);
  /// Restores the previous phase.
  ~migration_phase();
  migration_phase(const migration_phase&) = delete;
  migration_phase& operator=(const migration_phase&) = delete;

 private:
  std::string before_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
