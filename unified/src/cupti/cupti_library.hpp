// The functions of libcupti that ferry calls, found when they are first needed: programs start without it.
#pragma once
#include <cupti.h>

#include <string>

#include "cupti_counters.hpp"

namespace ferry::cupti {

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

  std::string why_not;  // empty: all is there

  // Loads it at the first call: FERRY_CUPTI_LIBRARY, else what the system finds, else that of the toolkit that ferry was
  // built with. Never throws.
  static const library& get();
  std::string text(CUptiResult r) const;
};

// open() with functions of somebody's own, which live as long as the process.
opened open(const library& l);

}  // namespace ferry::cupti
