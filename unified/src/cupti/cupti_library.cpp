#if defined(FERRY_HAS_CUPTI)
#include "cupti_library.hpp"

#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/dynamic_library.hpp"

namespace ferry::inline FERRY_ABI::detail::cupti {
namespace {

// Up to CUDA 12.9, the version number of the API does not contain that of the library.
std::string name_of_library() {
  return concat("libcupti.so.", CUPTI_API_VERSION >= 130000 ? CUPTI_API_VERSION / 10000 : 12);
}

library load() {
  library l;
  std::vector<std::string> names{name_of_library()};
#if defined(FERRY_CUPTI_LIBRARY)
  names.push_back(FERRY_CUPTI_LIBRARY);
#endif
  detail::dynamic_library so("FERRY_CUPTI_LIBRARY", names);
  if (!so.is_loaded()) {
    l.why_not = "CUPTI cannot be loaded: " + so.why_not() +
                ". It comes with the CUDA toolkit (package cuda-cupti, folder extras/CUPTI/lib64); say where it is: "
                "FERRY_CUPTI_LIBRARY=/path/to/" +
                name_of_library();
    return l;
  }
  so.need(l.subscribe, "cuptiSubscribe");
  so.need(l.unsubscribe, "cuptiUnsubscribe");
  so.need(l.register_callbacks, "cuptiActivityRegisterCallbacks");
  so.need(l.configure, "cuptiActivityConfigureUnifiedMemoryCounter");
  so.need(l.enable, "cuptiActivityEnable");
  so.need(l.disable, "cuptiActivityDisable");
  so.need(l.flush_all, "cuptiActivityFlushAll");
  so.need(l.next_record, "cuptiActivityGetNextRecord");
  so.need(l.dropped_records, "cuptiActivityGetNumDroppedRecords");
  so.need(l.timestamp, "cuptiGetTimestamp");
  so.need(l.result_string, "cuptiGetResultString");
  if (!so.missing().empty()) l.why_not = "the CUPTI that was loaded lacks " + so.missing();
  return l;
}

}  // namespace

const library& library::get() {
  static const auto* l = new library(load());  // never destroyed: CUPTI's own thread uses it until the process ends
  return *l;
}

std::string library::text(CUptiResult r) const {
  const char* words = nullptr;
  if (result_string(r, &words) != CUPTI_SUCCESS || !words) words = "an error without a name";
  return concat(words, " (", static_cast<int>(r), ")");
}

}  // namespace ferry::inline FERRY_ABI::detail::cupti
#endif
