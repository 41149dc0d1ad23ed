// The functions of libcupti that ferry calls, loaded on first use: programs start without the library.
#pragma once
#include <cupti.h>

#include <string>

#include "cupti_counters.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cupti {

struct library {
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityConfigureUnifiedMemoryCounter) configure = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;

  std::string why_not;  // empty: all functions are loaded

  // Loads the library at the first call: FERRY_CUPTI_LIBRARY, else the one that the system finds, else that of the
  // toolkit that ferry was built with. Never throws.
  static const library& get();
  std::string text(CUptiResult r) const;
};

// As open(), with other functions. They must live as long as the process.
opened open(const library& l);

}  // namespace ferry::inline FERRY_ABI::detail::cupti
