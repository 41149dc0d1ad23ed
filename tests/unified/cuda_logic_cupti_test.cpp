// The CUPTI interface, with stand-in functions that return synthetic records or errors.
#if defined(FERRY_HAS_CUPTI)
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cupti/cupti_library.hpp"

namespace cupti = ferry::detail::cupti;

namespace cupti_gate {
namespace {

#if CUPTI_API_VERSION >= 26
using counter = CUpti_ActivityUnifiedMemoryCounter3;
#else
using counter = CUpti_ActivityUnifiedMemoryCounter2;
#endif

// Calls that the stand-in recorded, and its configured results.
struct stand_in {
  CUptiResult subscribe = CUPTI_SUCCESS, configure_all = CUPTI_SUCCESS, enable = CUPTI_SUCCESS;
  bool subscribed = false, enabled = false;
  std::vector<std::uint32_t> kinds;
  CUpti_BuffersCallbackRequestFunc give = nullptr;
  CUpti_BuffersCallbackCompleteFunc take = nullptr;
  std::vector<counter> waiting;
  std::size_t dropped = 0;
};
stand_in it;

// Like CUPTI: requests a buffer, fills it, and returns it.
CUptiResult CUPTIAPI flush(std::uint32_t) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  it.give(&buffer, &size, &most);
  if (!buffer) return CUPTI_ERROR_UNKNOWN;
  const std::size_t bytes = std::min(size / sizeof(counter), it.waiting.size()) * sizeof(counter);
  if (bytes > 0) std::memcpy(buffer, it.waiting.data(), bytes);
  it.waiting.clear();
  it.take(nullptr, 0, buffer, size, bytes);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI next(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** r) {
  auto* at = *r ? reinterpret_cast<std::uint8_t*>(*r) + sizeof(counter) : buffer;
  if (at + sizeof(counter) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *r = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

const cupti::library& functions() {
  static const cupti::library* const made = [] {
    auto* l = new cupti::library;
    l->subscribe = [](CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
      it.subscribed = it.subscribe == CUPTI_SUCCESS;
      return it.subscribe;
    };
    l->unsubscribe = [](CUpti_SubscriberHandle) {
      it.subscribed = false;
      return CUPTI_SUCCESS;
    };
    l->register_callbacks = [](CUpti_BuffersCallbackRequestFunc g, CUpti_BuffersCallbackCompleteFunc t) {
      it.give = g, it.take = t;
      return CUPTI_SUCCESS;
    };
    l->configure = [](CUpti_ActivityUnifiedMemoryCounterConfig* c, std::uint32_t n) {
      if (n > 4 && it.configure_all != CUPTI_SUCCESS) return it.configure_all;
      it.kinds.clear();
      for (std::uint32_t i = 0; i < n; ++i)
        if (c[i].enable) it.kinds.push_back(static_cast<std::uint32_t>(c[i].kind));
      return CUPTI_SUCCESS;
    };
    l->enable = [](CUpti_ActivityKind k) {
      it.enabled = it.enable == CUPTI_SUCCESS && k == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
      return it.enable;
    };
    l->disable = [](CUpti_ActivityKind) {
      it.enabled = false;
      return CUPTI_SUCCESS;
    };
    l->flush_all = flush;
    l->next_record = next;
    l->dropped_records = [](CUcontext, std::uint32_t, std::size_t* n) {
      *n = std::exchange(it.dropped, 0);
      return CUPTI_SUCCESS;
    };
    l->timestamp = [](std::uint64_t* t) {
      *t = 42;
      return CUPTI_SUCCESS;
    };
    l->result_string = [](CUptiResult, const char** s) {
      *s = "IN_WORDS";
      return CUPTI_SUCCESS;
    };
    return l;
  }();
  return *made;
}

counter transfer(std::uint64_t address, std::uint64_t bytes) {
  counter c{};
  c.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  c.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  c.address = address, c.value = bytes, c.start = 7, c.end = 9;
  c.srcId = 0, c.dstId = 0xFFFFFFFF, c.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE;
  return c;
}

}  // namespace
}  // namespace cupti_gate

BOOST_AUTO_TEST_SUITE(cupti_gate)

BOOST_AUTO_TEST_CASE(records_become_events) {
  it = {};
  {
    const cupti::opened o = cupti::open(functions());
    BOOST_REQUIRE_MESSAGE(o.source, o.why_not);
    BOOST_TEST((it.subscribed && it.enabled && it.kinds == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
    BOOST_TEST(o.source->page_clock() == 42U);
    it.waiting = {transfer(1000, 5), transfer(2000, 6)};
    it.waiting.push_back(transfer(3000, 7));
    it.waiting.back().kind = CUPTI_ACTIVITY_KIND_MEMCPY;  // not a unified-memory record
    it.dropped = 3;
    std::vector<ferry::detail::page_event> events;
    o.source->take_page_events(events, false);
    BOOST_TEST(events.empty());
    o.source->take_page_events(events, true);
    BOOST_REQUIRE(events.size() == 2U);
    BOOST_TEST((events[1].kind == ferry::detail::page_event_kind::to_cpu && events[1].address == 2000));
    BOOST_TEST((events[1].bytes == 6 && events[1].cause == ferry::detail::page_event_cause::touched));
    BOOST_TEST((events[1].start == 7 && events[1].end == 9));
    BOOST_TEST(o.source->lost_page_events() == 3U);
    it.waiting = {transfer(1, 1)};
    BOOST_TEST(flush(0) == CUPTI_SUCCESS);  // a full buffer is returned without a flush
    BOOST_TEST(o.source->waiting_page_events() == 1U);
    BOOST_TEST(cupti::open(functions()).why_not.find("another runtime") != std::string::npos);
    BOOST_TEST(it.enabled);
  }
  BOOST_TEST((!it.subscribed && !it.enabled));
  const cupti::opened again = cupti::open(functions());
  BOOST_REQUIRE(again.source);
  BOOST_TEST(again.source->waiting_page_events() == 0U);
}

BOOST_AUTO_TEST_CASE(refusals_say_why) {
  it = {};
  it.subscribe = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  cupti::opened o = cupti::open(functions());
  BOOST_TEST(!o.source);
  BOOST_TEST(o.why_not.find("another profiler") != std::string::npos, o.why_not);
  it = {};
  it.enable = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  o = cupti::open(functions());
  BOOST_TEST((!o.source && !it.subscribed));
  BOOST_TEST(o.why_not.find("may not profile") != std::string::npos, o.why_not);
  it = {};
  it.enable = CUPTI_ERROR_NOT_SUPPORTED;
  o = cupti::open(functions());
  BOOST_TEST(o.why_not.find("cuptiActivityEnable: IN_WORDS") != std::string::npos, o.why_not);
  it = {};
  it.configure_all = CUPTI_ERROR_INVALID_PARAMETER;  // a device without the newer kinds
  o = cupti::open(functions());
  BOOST_TEST(o.source != nullptr, o.why_not);
  BOOST_TEST((it.kinds == std::vector<std::uint32_t>{1, 2, 3, 4}));
  o.source.reset();
  cupti::library missing;
  missing.why_not = "it is not here";
  BOOST_TEST(cupti::open(missing).why_not == "it is not here");
}

BOOST_AUTO_TEST_SUITE_END()
#endif
