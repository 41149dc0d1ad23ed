// Page events of managed memory as the driver reports them: migrations, faults and mappings, for reports.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class page_event_kind : std::uint8_t {
  to_device,        // bytes that moved
  to_cpu,           //
  between_devices,  //
  cpu_fault,
  device_fault,
  thrashing,   // several locations compete for the bytes
  throttling,  // the driver delayed one of them
  remote_map   // the bytes were mapped for remote access and did not move
};

// Why bytes moved. touched: by a fault. speculated: the driver moved them along with faulting bytes. evicted: the
// device needed their memory for other bytes. counted: by the driver's access counters.
enum class page_event_cause : std::uint8_t { unknown, asked, touched, speculated, evicted, counted };

struct page_event {
  page_event_kind kind = page_event_kind::to_device;
  page_event_cause cause = page_event_cause::unknown;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;           // from the address; 0: no range
  std::uint64_t times = 1;           // faults: number of simultaneous ones
  std::uint64_t start = 0, end = 0;  // nanoseconds on the source's clock; end 0: unknown
};

// Source of page events: a backend that also implements this interface (dynamic_cast), or a separate library.
// Thread-safe.
class page_event_source {
 public:
  virtual ~page_event_source() = default;
  virtual void count_page_events(bool on) = 0;
  // Current time in nanoseconds, on the clock of the events.
  virtual std::uint64_t page_clock() const = 0;
  // Number of events that take_page_events() would return without calling the driver; a hint.
  virtual std::size_t waiting_page_events() const = 0;
  // Appends the events since the last call, in no order. flush: includes events that the driver still buffers. Blocks
  // until the driver has delivered them, but not for devices.
  virtual void take_page_events(std::vector<page_event>& to, bool flush) = 0;
  // Number of events so far that were dropped for lack of space.
  virtual std::uint64_t lost_page_events() const = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
