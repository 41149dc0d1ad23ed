#if defined(FERRY_HAS_CUPTI)
#include "cupti_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace ferry::cupti {
namespace {

// Up to CUDA 12.9, the version number of the API does not contain that of the library.
std::string name_of_library() {
  return "libcupti.so." + std::to_string(CUPTI_API_VERSION >= 130000 ? CUPTI_API_VERSION / 10000 : 12);
}

library load() {
  library l;
  std::vector<std::string> names{name_of_library()};
#if defined(FERRY_CUPTI_LIBRARY)
  names.push_back(FERRY_CUPTI_LIBRARY);
#endif
  if (const char* given = std::getenv("FERRY_CUPTI_LIBRARY")) names = {given};
  void* handle = nullptr;
  std::string tried;
  for (const std::string& n : names) {
    if ((handle = dlopen(n.c_str(), RTLD_NOW | RTLD_LOCAL))) break;
    const char* why = dlerror();
    tried += (tried.empty() ? "" : "; ") + std::string(why ? why : n);
  }
  if (!handle) {
    l.why_not = "CUPTI cannot be loaded: " + tried +
                ". It comes with the CUDA toolkit (package cuda-cupti, folder extras/CUPTI/lib64); say where it is: "
                "FERRY_CUPTI_LIBRARY=/path/to/" +
                name_of_library();
    return l;
  }
  const auto find = [&](auto& function, const char* name) {
    void* const p = dlsym(handle, name);
    if (!p && l.why_not.empty()) l.why_not = "the CUPTI that was loaded lacks " + std::string(name);
    std::memcpy(&function, &p, sizeof p);
  };
  find(l.subscribe, "cuptiSubscribe");
  find(l.unsubscribe, "cuptiUnsubscribe");
  find(l.register_callbacks, "cuptiActivityRegisterCallbacks");
  find(l.configure, "cuptiActivityConfigureUnifiedMemoryCounter");
  find(l.enable, "cuptiActivityEnable");
  find(l.disable, "cuptiActivityDisable");
  find(l.flush_all, "cuptiActivityFlushAll");
  find(l.next_record, "cuptiActivityGetNextRecord");
  find(l.dropped_records, "cuptiActivityGetNumDroppedRecords");
  find(l.timestamp, "cuptiGetTimestamp");
  find(l.result_string, "cuptiGetResultString");
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
  return std::string(words) + " (" + std::to_string(static_cast<int>(r)) + ")";
}

}  // namespace ferry::cupti
#endif
