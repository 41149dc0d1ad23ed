#include "decode.hpp"

#include <algorithm>

namespace ferry::inline FERRY_ABI::detail::cupti {
namespace {

page_event_cause cause_of(std::uint32_t flags) {
  switch (flags) {
    case 1: return page_event_cause::asked;
    case 2: return page_event_cause::touched;
    case 3: return page_event_cause::speculated;
    case 4: return page_event_cause::evicted;
    case 5: return page_event_cause::counted;
    default: return page_event_cause::unknown;
  }
}

}  // namespace

// For the meaning of the fields by kind, and for fields to ignore, see the comments of cupti_activity.h at
// CUpti_ActivityUnifiedMemoryCounter3, CUDA 13.0.
std::optional<page_event> decode(const raw_counter& r) {
  page_event e;
  e.address = r.address;
  e.start = r.start;
  const auto move = [&](page_event_kind kind) {
    e.kind = kind, e.cause = cause_of(r.flags), e.bytes = r.value, e.end = r.end;
    return e;
  };
  switch (r.kind) {
    case 1: return move(page_event_kind::to_device);
    case 2: return move(page_event_kind::to_cpu);
    case 8: return move(page_event_kind::between_devices);
    case 3: e.kind = page_event_kind::cpu_fault; return e;  // the value is the instruction's address
    case 4:
      e.kind = page_event_kind::device_fault, e.end = r.end;
      e.times = std::max<std::uint64_t>(r.value, 1);
      return e;
    case 5: e.kind = page_event_kind::thrashing, e.bytes = r.value; return e;
    case 6: e.kind = page_event_kind::throttling, e.end = r.end; return e;
    case 7: e.kind = page_event_kind::remote_map, e.bytes = r.value; return e;
    default: return {};
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::cupti
