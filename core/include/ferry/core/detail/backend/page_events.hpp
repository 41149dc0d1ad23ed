// What drivers do with pages of managed memory, event by event, where something counts them: for reports.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ferry {

enum class page_event_kind : std::uint8_t {
  to_device,        // bytes that moved
  to_cpu,           //
  between_devices,  //
  cpu_fault,
  device_fault,
  thrashing,   // several places fight for the bytes
  throttling,  // so one of them was made to wait
  remote_map   // the bytes were mapped to who needs them, and stayed where they were
};

// Why bytes moved. touched: by a fault; speculated: the driver sent them along with what faulted; evicted: others came for
// whom the device had no room; counted: by the driver's access counters.
enum class page_event_cause : std::uint8_t { unknown, asked, touched, speculated, evicted, counted };

struct page_event {
  page_event_kind kind = page_event_kind::to_device;
  page_event_cause cause = page_event_cause::unknown;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;           // from the address on; 0: a point
  std::uint64_t times = 1;           // faults: so many at once
  std::uint64_t start = 0, end = 0;  // nanoseconds on the source's clock; end 0: not known
};

// Whoever counts: a backend that also is one (dynamic_cast), or a library beside it. For any thread.
class page_event_source {
 public:
  virtual ~page_event_source() = default;
  virtual void count_page_events(bool on) = 0;
  // Nanoseconds, on the clock of the events.
  virtual std::uint64_t page_clock() const = 0;
  // Events that take_page_events would give without asking the driver; a hint.
  virtual std::size_t waiting_page_events() const = 0;
  // Adds the events since the last call, in no order. flush: also those that the driver still has; this blocks the CPU
  // until the driver has given them, but does not wait for devices.
  virtual void take_page_events(std::vector<page_event>& to, bool flush) = 0;
  // Events so far for which there was no room.
  virtual std::uint64_t lost_page_events() const = 0;
};

}  // namespace ferry
