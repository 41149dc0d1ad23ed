// For builds without CUDA, or without CUPTI's headers.
#if !defined(FERRY_HAS_CUPTI)
#include "cupti_counters.hpp"

namespace ferry::inline FERRY_ABI::detail::cupti {

opened open() {
  return {nullptr,
          "ferry was built without CUPTI's header cupti.h: install cuda-cupti-dev (or configure with "
          "-DFERRY_CUPTI_INCLUDE_DIR=...), and build ferry again"};
}

}  // namespace ferry::inline FERRY_ABI::detail::cupti
#endif
