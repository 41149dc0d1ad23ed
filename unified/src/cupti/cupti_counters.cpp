#if defined(FERRY_HAS_CUPTI)
#include "cupti_counters.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "cupti_library.hpp"
#include "decode.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail::cupti {
namespace {

// Both types begin with the same fields, and only those are read. So the version of the library does not matter.
#if CUPTI_API_VERSION >= 26  // CUDA 12.8
using record = CUpti_ActivityUnifiedMemoryCounter3;
#else
using record = CUpti_ActivityUnifiedMemoryCounter2;
#endif
static_assert(offsetof(record, value) == 8 && offsetof(record, address) == 32 && offsetof(record, flags) == 56);

// The numbers that decode() expects.
#define FERRY_IS(name, number) static_assert(CUPTI_ACTIVITY_UNIFIED_MEMORY_##name == number)
FERRY_IS(COUNTER_KIND_BYTES_TRANSFER_HTOD, 1);
FERRY_IS(COUNTER_KIND_BYTES_TRANSFER_DTOH, 2);
FERRY_IS(COUNTER_KIND_CPU_PAGE_FAULT_COUNT, 3);
FERRY_IS(COUNTER_KIND_GPU_PAGE_FAULT, 4);
FERRY_IS(COUNTER_KIND_THRASHING, 5);
FERRY_IS(COUNTER_KIND_THROTTLING, 6);
FERRY_IS(COUNTER_KIND_REMOTE_MAP, 7);
FERRY_IS(COUNTER_KIND_BYTES_TRANSFER_DTOD, 8);
FERRY_IS(MIGRATION_CAUSE_USER, 1);
FERRY_IS(MIGRATION_CAUSE_COHERENCE, 2);
FERRY_IS(MIGRATION_CAUSE_PREFETCH, 3);
FERRY_IS(MIGRATION_CAUSE_EVICTION, 4);
FERRY_IS(MIGRATION_CAUSE_ACCESS_COUNTERS, 5);
#undef FERRY_IS
constexpr std::uint32_t kinds = 8, first_kinds = 4;  // the first four are as old as page faults of GPUs

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;
constexpr std::size_t most_events = std::size_t{1} << 20;

// CUPTI's callbacks identify no object. A thread of CUPTI calls them, also while the process ends.
struct inbox {
  std::atomic<bool> taken{false};
  std::atomic<const library*> from{nullptr};
  detail::mutex mutex;
  std::vector<page_event> events FERRY_GUARDED_BY(mutex);
  std::uint64_t lost FERRY_GUARDED_BY(mutex) = 0;
};
inbox& the_inbox() {
  static auto* i = new inbox;
  return *i;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::malloc(buffer_bytes));  // if null, CUPTI drops and counts records
  *size = *buffer ? buffer_bytes : 0;
  *records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  inbox& in = the_inbox();
  const library& l = *in.from.load();
  lock_guard lock(in.mutex);
  CUpti_Activity* next = nullptr;
  while (valid > 0 && l.next_record(buffer, valid, &next) == CUPTI_SUCCESS) {
    if (next->kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) continue;
    const auto& r = *reinterpret_cast<const record*>(next);
    const auto e = decode({static_cast<std::uint32_t>(r.counterKind), r.value, r.start, r.end, r.address, r.flags});
    if (!e) continue;
    try {
      if (in.events.size() < most_events)
        in.events.push_back(*e);
      else
        ++in.lost;
    } catch (const std::bad_alloc&) {
      ++in.lost;
    }
  }
  std::size_t dropped = 0;
  if (l.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) in.lost += dropped;
  std::free(buffer);
}

void CUPTIAPI hear_nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

std::string refusal(const library& l, const char* call, CUptiResult r) {
  if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return "another profiler or sanitizer has this process (Nsight, compute-sanitizer, PyTorch's profiler), and CUPTI "
           "serves one at a time: run without it";
  if (r == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES || r == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
    return concat("this user may not profile: the driver's administrator can permit it (", call, ": ", l.text(r),
                  ", see NVIDIA's page on ERR_NVGPUCTRPERM)");
  return concat("CUPTI refuses ", call, ": ", l.text(r));
}

class counters final : public page_event_source {
 public:
  counters(const library& l, CUpti_SubscriberHandle s) : l_(l), subscriber_(s) {}
  ~counters() override {
    count_page_events(false);
    (void)l_.unsubscribe(subscriber_);
    the_inbox().taken.store(false);
  }

  std::string start() {
    if (const CUptiResult r = l_.register_callbacks(give_buffer, take_buffer); r != CUPTI_SUCCESS)
      return refusal(l_, "cuptiActivityRegisterCallbacks", r);
    CUptiResult r = configure(kinds);
    if (r != CUPTI_SUCCESS) r = configure(first_kinds);
    if (r != CUPTI_SUCCESS) return refusal(l_, "cuptiActivityConfigureUnifiedMemoryCounter", r);
    r = l_.enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    if (r != CUPTI_SUCCESS) return refusal(l_, "cuptiActivityEnable", r);
    enabled_ = true;
    return {};
  }

  void count_page_events(bool on) override {
    if (on || !enabled_) return;  // start() has enabled counting
    enabled_ = false;
    (void)l_.disable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    (void)l_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);  // records that stay in its buffers would be counted later
    lock_guard lock(the_inbox().mutex);
    the_inbox().events.clear();
  }
  std::uint64_t page_clock() const override {
    std::uint64_t now = 0;
    (void)l_.timestamp(&now);
    return now;
  }
  std::size_t waiting_page_events() const override {
    lock_guard lock(the_inbox().mutex);
    return the_inbox().events.size();
  }
  void take_page_events(std::vector<page_event>& to, bool flush) override {
    if (flush) (void)l_.flush_all(0);
    std::vector<page_event> events;
    {
      lock_guard lock(the_inbox().mutex);
      events.swap(the_inbox().events);
    }
    to.insert(to.end(), events.begin(), events.end());
  }
  std::uint64_t lost_page_events() const override {
    lock_guard lock(the_inbox().mutex);
    return the_inbox().lost;
  }

 private:
  CUptiResult configure(std::uint32_t count) const {
    CUpti_ActivityUnifiedMemoryCounterConfig each[kinds] = {};
    for (std::uint32_t k = 0; k < count; ++k) {
      each[k].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
      each[k].kind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(k + 1);
      each[k].enable = 1;
    }
    return l_.configure(each, count);
  }

  const library& l_;
  CUpti_SubscriberHandle subscriber_;
  bool enabled_ = false;
};

}  // namespace

// The subscription receives no callbacks. It excludes other subscribers, whose buffers would otherwise arrive here. It
// fails if another subscriber exists.
opened open(const library& l) {
  if (!l.why_not.empty()) return {nullptr, l.why_not};
  if (the_inbox().taken.exchange(true)) return {nullptr, "they are read for another runtime of this process already"};
  the_inbox().from.store(&l);
  CUpti_SubscriberHandle subscriber{};
  if (const CUptiResult r = l.subscribe(&subscriber, hear_nothing, nullptr); r != CUPTI_SUCCESS) {
    the_inbox().taken.store(false);
    return {nullptr, refusal(l, "cuptiSubscribe", r)};
  }
  auto made = std::make_unique<counters>(l, subscriber);
  if (std::string why = made->start(); !why.empty()) return {nullptr, std::move(why)};
  return {std::move(made), {}};
}

opened open() { return open(library::get()); }

}  // namespace ferry::inline FERRY_ABI::detail::cupti
#endif
