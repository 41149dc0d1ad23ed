// What moved, and why: the migration report.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "ferry/core/detail/ordering/access_policy.hpp"

namespace ferry {

// Where the CPU asked for an array, how often (asks that had to look at the log; raw loops ask once, and elements once
// until a device has used the array; each time under trace_elements), and for what.
struct cpu_touch {
  source_line at;
  bool writes = false, elements = false;
  std::uint64_t asks = 0;
};

// Bytes that went one way. By faults: as the library reckons it, from who used what last.
struct moved_bytes {
  std::uint64_t by_prefetch = 0, by_fault = 0;
};

// What the driver counted, see set_migration_counters. By prefetch: asked for, by the program or ahead of an access; by fault:
// all else that moved, also what the driver sent along.
struct counted_moves {
  moved_bytes to_devices, to_cpu, between_devices;
  std::uint64_t evicted = 0;  // bytes to the CPU that made room for others
  std::uint64_t remote = 0;   // bytes mapped to who needed them, and not moved
  std::uint64_t cpu_faults = 0, device_faults = 0;
  std::uint64_t thrashing = 0, throttled = 0;  // how often several places fought for pages, and had to wait for that
  double busy_milliseconds = 0;                // in which faults of devices were served and bytes moved by faults
};

// One array in one phase of the program.
struct migration_entry {
  std::string array, phase;
  std::size_t bytes = 0;  // of the array
  moved_bytes to_devices, to_cpu, between_devices;
  std::uint64_t dropped = 0;        // bytes that went without their contents, for out()
  std::uint64_t remote = 0;         // bytes that a device used where they were, on another
  std::uint64_t prefetches = 0;     // calls
  std::uint64_t bounces = 0;        // moves back to the device that a range had come from
  bool migration_disabled = false;  // it bounced so often that it is no longer moved
  bool stays = false;               // memory of the program (as_unified), which nobody moves or advises about
  // By faults, compared with prefetches, and with mapped pages between devices: reckoned, from the figures for an H200 in
  // docs/unified.md.
  double lost_milliseconds = 0;
  std::vector<cpu_touch> touches;  // all lines of the CPU; the table shows the first 32, and how many more there are
  source_line device_use;          // of the last work of a device that had pages moved or mapped, where it is known
  std::optional<counted_moves> counted;  // where the report is counted
  std::string suggestion;                // what the program could do about it, and in which line; or nothing
};

struct migration_report {
  std::vector<migration_entry> entries;
  bool is_counted = false;        // the driver's counts were read
  std::string not_counted;        // they were asked for and cannot be read: why
  std::uint64_t lost_counts = 0;  // events for which there was no room
  // Why automatic migration has ended: the last of eight moves that failed. Nothing if it has not.
  std::string migration_ended;
  std::string table() const;
  std::string json() const;
};
std::ostream& operator<<(std::ostream& out, const migration_report& r);

// Since the machine was made or the report was reset. Arrays of equal names share an entry; so do unnamed ones of one size.
// With counters, both block until the driver has handed over what it counted, and do not wait for devices: synchronize()
// first to have all of it.
migration_report report_migration();
void reset_migration_report();

// Whether the CPU's accesses to elements, u[i] and u(i, j), ask each time, so that explain and reports have each of their
// lines, and the number of accesses. Else an element is asked for once until a device uses the array again, and the lines
// of the accesses between are not known. For unified arrays of the current machine, from then on; FERRY_TRACE_ELEMENTS says
// it for a program, off if not set: an access then costs a few hundred nanoseconds instead of that of a raw pointer. Never
// blocks. Throws nothing.
enum class element_traces { off, on };
void trace_elements(element_traces how);

// Whether reports also have what the driver counted in the current machine: FERRY_MIGRATION_COUNTERS, off if not set. On CUDA
// devices CUPTI counts: the process can have no other profiler meanwhile, and faults cost somewhat more. Never fails: where
// nothing can be counted the report says why. A count belongs to the array that has the address, and to the phase in which
// that was last asked for; turning counters off drops what they counted.
enum class migration_counters { off, on };
void set_migration_counters(migration_counters how);

// Names the part of the program that this thread is in, for reports.
class migration_phase {
 public:
  explicit migration_phase(std::string name);
  ~migration_phase();
  migration_phase(const migration_phase&) = delete;
  migration_phase& operator=(const migration_phase&) = delete;

 private:
  std::string before_;
};

}  // namespace ferry
